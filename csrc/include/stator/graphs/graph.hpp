// Graphs: work that is captured from a stream once, and launched any number of times, by one call each. On cpu a graph
// is a list of the captured calls.
#pragma once

#include <stator/array.hpp>
#include <stator/backend.hpp>
#include <stator/random.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace stator {

class GraphBox;

// One captured call: a kernel, a copy, a fill, a call of a library, or another graph.
struct GraphNode {
  std::string kind, name, op;                // "kernel", the kernel's name, the op that launched it or ""
  std::vector<const void*> reads, writes{};  // the memory that was declared
};

// Nothing that is enqueued in the stream runs until the capture ends, nor in streams that wait for its events. Arrays
// made meanwhile get their values when the graph is launched. Ops that wait for the device, and calls that read values
// on the host, throw CaptureError. `fresh` is for functions that are captured again: see Graph::shared_outputs.
// CaptureError where the stream is being captured.
STATOR_API void begin_capture(const Stream& stream, std::span<const int> fresh = {});
// From here on, draws of the captured work with the state's seed are made with a state that each launch is given: the
// counter says how many blocks after this one's. The seed is one that no other draws have, such as a random number.
STATOR_API void add_state(const Stream& stream, const random::State& state);
// Ends a capture without a graph; does nothing if there is none.
STATOR_API void drop_capture(const Stream& stream) noexcept;
STATOR_API bool is_capturing(const Stream& stream) noexcept;
// What the stream's capture has by now. nodes: of the part that is captured now, those of other libraries too. calls:
// as many of Graph::nodes(), which are stator's own.
struct CapturedWork {
  size_t nodes = 0, calls = 0;
};
STATOR_API CapturedWork captured_work(const Stream& stream);
// A part of captured work that runs under a condition, which one element of dtype bool says.
struct GraphPart {
  Array more, rounds;  // memory of the graph: whether it runs, how often a loop did
  uint64_t handle = 0;
  int64_t limit = 0;
  bool repeats = false;
};
// What is captured from here on, up to end_part(), runs once where the condition is true, or as long as it is true. A
// loop that would go on after `limit` rounds ends, and the next call that synchronises throws LoopLimitError. Streams
// that wait for captured events are joined before.
STATOR_API GraphPart begin_branch(const Array& condition, const Stream& stream);
STATOR_API GraphPart begin_loop(const Array& condition, int64_t limit, const Stream& stream);
// `condition`: of a loop, computed by the captured work, whether there is another round.
STATOR_API void end_part(const GraphPart& part, const Array& condition, const Stream& stream);

// Appends what a graph of a function depends on beside its code: dtype, shape, strides and alignment of each argument,
// and which of them share memory. For equal numbers of arguments, equal texts mean that a graph captured for the one
// serves the other.
STATOR_API void add_graph_signature(std::span<const Array* const> arguments, std::string& to);

// Copies share it. It owns the memory that its work uses in between, and keeps alive what else the work uses.
class STATOR_API Graph {
 public:
  Graph() = default;
  // Ends the capture that began on the stream. CaptureError where it has become invalid, or where a stream that waited
  // for its events was not joined with it again. drawn: by how many blocks the work advances each state that was added.
  static Graph end(const Stream& stream, std::span<const uint64_t> drawn = {});

  // Asynchronous: runs in the order of the stream, and in that of the stream it was captured from, whose scratch memory
  // it uses. Its arguments are those of the last launch, or of the capture. states: for each that was added to the
  // capture. It costs a call where it is another one than the launch before has left.
  void launch(const Stream& stream = {}, std::span<const random::State> states = {}) const;

  // Makes arrays that the captured work used its arguments, which every launch passes again, and lets every launch make
  // new results. False where the address of one is known only to a library, so that only another capture can
  // change it. `results` were made by the capture.
  bool bind(std::span<const Array* const> arguments, std::span<const Array* const> results) const;
  // Numbers of those allocations of the capture that results lie in and that had been used for something else before,
  // so that results cannot be bound; another capture takes them as `fresh`.
  std::vector<int> shared_outputs(std::span<const Array* const> results) const;
  // Launches with other arguments, of the same shapes, dtypes, strides and distance from a multiple of 64 bytes, in the
  // order of bind(), and gives new results. Strides of axes of extent 1 may differ. Arguments that shared memory in the
  // capture share it at the same distance; others share none, where the work writes to one of them. Before anything is
  // enqueued: ShapeError, DTypeError, BackendMismatchError; ValueError for the rest, for another number of arguments,
  // and where the work writes to an argument that is read-only.
  // outs: none, or for each result an array of its shape and dtype that gets it, which is written by the graph itself
  // where it is contiguous, aligned to 64 bytes and apart from the arguments, and else by a copy.
  std::vector<Array> launch(std::span<const Array* const> arguments, std::span<const Array* const> outs,
                            const Stream& stream, std::span<const random::State> states = {}) const;
  // Compares with an earlier capture of the same work, of other arguments: addresses that differ as the arguments do
  // are those of arguments. False where the two differ in more, so that launches cannot change this one's arguments.
  bool settle(const Graph& earlier) const;
  // Takes over the executable of a graph that differs only in arguments; that one cannot be launched any more.
  void replace(const Graph& previous) const;

  bool owns(const Array& array) const;   // whether its work made the array, in memory of the graph
  size_t size() const;                   // number of captured calls
  size_t bytes() const;                  // of its own memory
  std::vector<GraphNode> nodes() const;  // in the order of the calls
  Backend backend() const;
  explicit operator bool() const { return bool(box_); }
  Ref<GraphBox> take_box() { return std::move(box_); }  // the handle is empty afterwards

 private:
  explicit Graph(Ref<GraphBox> box) : box_(std::move(box)) {}
  Ref<GraphBox> box_;
};

namespace interop {
STATOR_API void release_later(Graph&) noexcept;  // as those of interop.hpp
}

}  // namespace stator
