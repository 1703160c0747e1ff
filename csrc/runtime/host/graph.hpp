// Graphs of the host target: the work of captured streams, in the order of its calls, which is one that its events
// allow.
#pragma once

#include "runtime/graph_table.hpp"
#include "runtime/host/stream.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace stator::runtime::host {

// Arguments of all nodes, in one block that launches share until it is changed.
class ArgumentBlock {
 public:
  size_t add(const void* from, size_t bytes);  // the offset, aligned for any argument
  std::byte* at(size_t offset) { return reinterpret_cast<std::byte*>(lines_.data()) + offset; }
  const std::byte* at(size_t offset) const { return reinterpret_cast<const std::byte*>(lines_.data()) + offset; }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> lines_;
};

struct Node {
  // Runs the blocks [first, last) with the arguments. Returns null, or the message of a fault.
  using Run = const char* (*)(const Node&, Context&, const std::byte* arguments, int64_t first, int64_t last);
  Run run = nullptr;
  size_t offset = 0, argument_bytes = 0;  // in the block
  int64_t blocks = 1, chunk = 1;
  int64_t bytes = 0;        // that it reads and writes
  params::Launch launch{};  // of a kernel
  HostWork work{};          // of a library
};

struct Graph;

// One captured call: a node, another graph, or the begin or end of a part that runs under a condition.
struct GraphStep {
  enum class Kind : uint8_t { node, graph, enter, leave };
  Kind kind = Kind::node;
  Node node;
  std::shared_ptr<const Graph> graph;
  const uint32_t* more = nullptr;  // whether the part runs (again)
  bool repeats = false;
  size_t other = 0;  // the call at the other end of the part
};

struct Graph {
  explicit Graph(Context& of) : context(of), arguments(std::make_shared<ArgumentBlock>()) {}
  Context& context;
  std::vector<GraphStep> calls;
  std::shared_ptr<ArgumentBlock> arguments;
  bool synchronous = false;  // works on memory that is shared with NumPy
  bool brief = true;         // each node is small enough to be run by the caller
  bool repeats = false;      // has a loop

  void add(Node node, const void* from, size_t bytes);
};

// What a point in a captured stream comes after: of each stream, how many of its nodes.
using Progress = std::map<const Stream*, int64_t>;

class Recording {
 public:
  Recording(Context& context, Stream& origin);
  const uint64_t id;

  void add(Stream& stream, Node node, const void* arguments, size_t bytes, bool synchronous);
  void add_graph(Stream& stream, std::shared_ptr<const Graph> graph);
  Status enter(Stream& stream, const uint32_t* more, bool repeats);
  Status leave(Stream& stream);
  Progress progress(Stream& stream);
  size_t size();
  Status join(Stream& stream, const Progress& progress);  // refused once the capture has ended
  // Ends the capture of all its streams. An error of CUDA where a stream was not joined.
  Status end(std::shared_ptr<Graph>* out);
  bool begun_by(const Stream& stream) const { return &origin_ == &stream; }

 private:
  std::mutex mutex_;
  Stream& origin_;
  std::shared_ptr<Graph> graph_;  // null once the capture has ended
  bool joined();                  // whether every other stream is joined with the first
  std::map<Stream*, Progress> streams_;
  std::vector<size_t> entered_;
};

// The capture that the stream belongs to, or null.
std::shared_ptr<Recording> recording_of(Stream& stream);

// work.cpp: whether work of `bytes` is rather done by the caller, and how many blocks a worker takes at
// once.
bool is_brief(int64_t bytes);
int64_t chunk_of(int64_t blocks, int64_t bytes);
const char* take_injected_fault(Context& context);

extern const GraphTable graph_calls;

}  // namespace stator::runtime::host
