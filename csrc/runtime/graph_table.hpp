// Graphs: work of streams that is recorded instead of done, and launched as often as wanted. Two tables implement them,
// cuda/graph.cpp and host/graph.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace stator::runtime {

using GraphHandle = void*;

// One call that was captured. Calls are numbered from 0 in the order in which they were made.
struct GraphCall {
  enum class Kind : uint8_t { kernel, copy, fill, library, graph, loop, branch, end };
  Kind kind = Kind::kernel;
  uint16_t op = 0;   // stator::Op, 0xffff for none
  std::string name;  // of the kernel or of the library's function
  struct Use {
    const void* buffer;
    bool write;
  };
  std::vector<Use> uses;  // the memory that was declared
};

// The arguments of a captured call, as bytes: a kernel's parameters, or the addresses of a copy or a fill. None where
// only a library knows them.
struct GraphArguments {
  const std::byte* data = nullptr;
  size_t bytes = 0;
};

// As in Table, no member throws, and a code is one of the CUDA runtime.
struct GraphTable {
  // From here on nothing that is enqueued in the stream runs. Streams that wait for its events are captured too.
  int (*begin)(void* context, void* stream);
  // Ends the capture; the other streams were joined by events. Without `out` the recording is dropped.
  int (*end)(void* context, void* stream, GraphHandle* out);
  // What tells captures from each other; 0 where the stream is not captured.
  int (*id)(void* context, void* stream, uint64_t* out);
  // How many nodes the graph has that the stream is captured into now: of a part under a condition those of the part.
  // Nodes of other libraries count too.
  int (*size)(void* context, void* stream, size_t* nodes);
  // A number that the kernel of params::Condition passes on; only within the capture.
  int (*condition)(void* context, void* stream, uint64_t* handle);
  // What is captured from here on, up to `leave`, runs only if the kernel sets it, and if it `repeats` as long as it
  // says so again. `more`: where the kernel writes it. Streams that were forked are joined before each.
  int (*enter)(void* context, void* stream, uint64_t handle, const uint32_t* more, bool repeats);
  int (*leave)(void* context, void* stream);
  // Makes the graph ready for launches. `previous`, which may be null, was instantiated: where only its arguments
  // differ, its executable is taken over and changed, and it cannot be launched any more.
  int (*instantiate)(void* context, GraphHandle graph, GraphHandle previous);
  int (*launch)(void* context, GraphHandle graph, bool synchronous, void* stream);
  int (*destroy)(void* context, GraphHandle graph);
  GraphArguments (*arguments)(GraphHandle graph, size_t call);
  // Changes eight bytes of a call's arguments for the launches from now on.
  int (*write)(GraphHandle graph, size_t call, size_t offset, uint64_t value);
};

}  // namespace stator::runtime
