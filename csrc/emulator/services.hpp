// What the doubles of the vendor libraries need from the emulated device: order in streams, checked memory, reports.
// The emulator's shared library implements it; the doubles ask for it once, by name.
#pragma once

#include <cstdint>

namespace stator::emulator {

// A range of memory that may have gaps: `rows` pieces of `width` bytes, whose starts are `pitch` bytes apart.
struct Range {
  const void* start = nullptr;
  uint64_t width = 0, rows = 1, pitch = 0;
};

enum class PointerType : uint8_t {
  host,
  device,
  pinned,
  managed
};  // host: ordinary memory, which the device does not reach

// Functions that may be called from any thread, and from within work. Streams are cudaStream_t as the caller of a
// library gave them: null is the legacy default stream, 1 and 2 are CUDA's names of the default streams.
struct Services {
  uint32_t bytes = 0;  // of this structure, as its owner was compiled

  // Takes work for a stream: it runs once, after what the stream holds and before what comes later, at the latest when
  // something waits for the stream. `destroy` is called once when the work will not run any more, also when the
  // stream's context is lost. While the stream is captured the work becomes a node of the graph, and runs once for each
  // launch of the graph. Work reports its faults by `report`. Returns 0, or the cudaError_t that refused it; then
  // `destroy` has been called.
  int (*enqueue)(void* stream, const char* what, void (*run)(void*), void (*destroy)(void*), void* argument) = nullptr;
  bool (*is_capturing)(void* stream) = nullptr;
  // Whether the handle names a stream that exists on the current device.
  bool (*is_stream)(void* stream) = nullptr;
  // Waits for the stream as cudaStreamSynchronize does, for the calls of libraries that are documented to wait. Returns
  // a cudaError_t.
  int (*synchronize)(void* stream) = nullptr;

  // The device that is current on the calling thread, from 0.
  int (*current_device)() = nullptr;
  // Compute capability of a device, as 10 * major + minor.
  int (*compute_capability)(int device) = nullptr;

  // To be called by work when it runs. True if the device may access all bytes, and for a read if all were written
  // before; else the fault is reported, as one of `what`, and the context has a sticky error.
  bool (*check_read)(const Range& range, const char* what) = nullptr;
  bool (*check_write)(const Range& range, const char* what) = nullptr;
  // Bytes are initialised, or count as never written again although something lies there.
  void (*mark_written)(const Range& range) = nullptr;
  void (*mark_garbage)(const Range& range) = nullptr;
  // Where the pointer leads, by live allocations. Reports nothing.
  PointerType (*pointer_type)(const void* pointer) = nullptr;
  // Memory of the device that a library takes for itself outside of any pool. Null when there is none.
  void* (*allocate)(uint64_t bytes, const char* label) = nullptr;
  void (*release)(void* pointer) = nullptr;

  // A violation of a contract that is not a bad access. The context's error becomes sticky if `sticky`, else it is only
  // reported.
  void (*report)(const char* what, const char* sentence, bool sticky) = nullptr;
  // Chooses what the libraries leave open, such as the contents of workspaces. 0 is the tamest behaviour.
  uint64_t (*seed)() = nullptr;

  // Called by a library of doubles when it is loaded, and when one of its symbols is called for the first time: the
  // given function lists its symbols with the numbers of their calls so far.
  void (*count_calls)(void (*list)(void (*visit)(void* self, const char* name, uint64_t count), void* self)) = nullptr;
};

}  // namespace stator::emulator

// Not null, and the same at every call.
extern "C" const stator::emulator::Services* stator_emulator_services();
