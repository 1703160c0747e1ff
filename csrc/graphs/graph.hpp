// GraphBox: a captured graph as a tracked object, with the arguments that its launches may change.
#pragma once

#include "core/capture.hpp"
#include "core/context.hpp"

#include <stator/graphs/graph.hpp>

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace stator {

// Where the address of an argument stands in the arguments of a captured call.
struct GraphPatch {
  size_t call, offset;
  int64_t distance;  // from the array's first element, in bytes
};

// What a graph needs of an argument beside its address.
struct GraphArgument {
  DType dtype;
  Dims shape, strides;
};

// Arguments that shared memory in the capture, and how far the second one begins after the first, in bytes.
struct GraphOverlap {
  size_t first, second;
  int64_t distance;
};

struct GraphSlot {
  const char* captured;  // the first element, as the capture saw it
  int64_t begin, end;    // the bytes around it that the work may use
  const char* now;       // the first element, as the next launch would see it
  bool written = false;
  std::vector<GraphPatch> patches;
};

// What is captured last: each state advances by what was drawn from it.
void advance_states(const GraphCapture& capture, StreamBox& stream, std::span<const uint64_t> drawn);

class GraphBox final : public Box {
 public:
  // drawn: by how much a launch advances each state that was added to the capture.
  GraphBox(Context& context, GraphCapture& capture, runtime::Runtime::Captured captured,
           std::span<const uint64_t> drawn);
  ~GraphBox() override { dispose(); }

  Context& context() const { return context_; }
  const std::vector<runtime::GraphCall>& calls() const { return calls_; }
  size_t arena_bytes() const { return arena_ ? arena_->bytes() : 0; }
  const Arena& arena() const { return *arena_; }
  bool bind(std::span<const Array* const> arguments, std::span<const Array* const> results);
  bool settle(const GraphBox& earlier);
  void replace(GraphBox& previous);
  void launch(StreamBox& on, std::span<const random::State> states);
  std::vector<Array> launch(StreamBox& on, std::span<const Array* const> arguments, std::span<const Array* const> outs,
                            std::span<const random::State> states);

 private:
  std::vector<Array> launch_once(StreamBox& on, std::span<const Array* const> arguments,
                                 std::span<const Array* const> outs, std::span<const random::State> states);
  void release_native(void* handle) noexcept override;
  struct Uses {
    std::vector<size_t> calls;
    bool written = false;
  };
  using Users = std::unordered_map<const void*, Uses>;  // by the memory that was declared
  Users users() const;
  bool add_slot(const Users& users, const char* captured, int64_t begin, int64_t end, const void* buffer);
  bool find_patches(GraphSlot& slot, std::span<const size_t> calls) const;
  bool is_address(uint64_t word) const;
  void check_out(size_t result, const Array& out) const;
  bool takes(size_t result, const Array& out, std::span<const Array* const> arguments) const;
  void note_arguments(std::span<const Array* const> arguments);
  void check_arguments(std::span<const Array* const> arguments) const;
  void check_argument(const Array& array, size_t index) const;
  void check_overlaps(std::span<const Array* const> arguments) const;
  void set_address(GraphSlot& slot, const void* address);
  void run(StreamBox& on, std::span<Buffer* const> changed, std::span<const random::State> states);
  void require_states(std::span<const random::State> states) const;
  void write_states(StreamBox& on, std::span<const random::State> states);
  void keep_states();
  void follow(StreamBox& first, StreamBox& then, runtime::EventHandle& event);
  template <class F>
  void for_each_order(const StreamBox& on, const GraphCapture* outer, F f) const;

  Context& context_;
  const int stream_;       // that it was captured from
  const uint32_t orders_;  // bits of the streams whose workspaces its work uses, that one among them
  const std::vector<runtime::GraphCall> calls_;
  std::shared_ptr<Arena> arena_;
  std::mutex mutex_;  // guards what follows
  std::vector<GraphCapture::CapturedBuffer> buffers_;
  GraphCapture::Kept kept_;
  std::vector<GraphSlot> slots_;  // of the arguments, then of the memory of the results
  struct Result {
    size_t memory;  // which of the results' blocks
    DType dtype;
    Dims shape, strides;
    int64_t offset;
  };
  std::vector<Result> results_;
  std::vector<size_t> result_bytes_;  // of each block
  std::vector<GraphArgument> arguments_;
  std::vector<GraphOverlap> overlaps_;
  struct DrawState {
    uint64_t* memory;   // a seed and a counter
    uint64_t drawn;     // by each launch
    random::State now;  // what the last launch leaves there
    bool known = false, is_part = false;
  };
  std::vector<DrawState> states_;
  runtime::EventHandle before_ = nullptr, after_ = nullptr;  // order launches in other streams
  uint32_t used_ = 0;                                        // the streams of the launches, one bit each
  bool instantiated_ = false, replaced_ = false;
};

}  // namespace stator
