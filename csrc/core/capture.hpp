// GraphCapture: what a stream has while its work is captured into a graph.
#pragma once

#include "memory/arena.hpp"
#include "memory/buffer.hpp"
#include "params/random.hpp"

#include <stator/op_table.hpp>

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace stator {

class Context;

class GraphCapture {
 public:
  GraphCapture(Context& context, int stream, std::set<int> fresh)
      : arena(std::make_shared<Arena>(context, stream, std::move(fresh))),
        stream_(stream),
        streams_(uint32_t(1) << stream) {}
  const std::shared_ptr<Arena> arena;

  // CaptureError, naming the op and the reason, where its work cannot be captured.
  void admit(Op op, int stream) const;
  void admit_draws(uint16_t op) const;
  // CaptureError for a thread that did not begin the capture: what it does there is not meant for the graph.
  void require_thread(uint16_t op, int stream) const;
  // Work from here on may run any number of times in one launch.
  void begin_part();
  void end_part();
  // The graph will use memory that is not its own.
  void hold(Buffer& buffer, bool write);
  void keep(Box& graph);
  // Memory was allocated in the order of another stream, since the captured ones cannot.
  void note_allocation(int stream) { allocated_on_.fetch_or(uint32_t(1) << stream); }
  uint32_t allocated_on() const { return allocated_on_.load(); }
  void add_stream(int stream) { streams_.fetch_or(uint32_t(1) << stream); }
  uint32_t streams() const { return streams_.load(); }
  // A graph becomes a part, with what its own streams have for this order of work.
  void add_orders(uint32_t streams) { nested_.fetch_or(streams); }
  uint32_t orders() const { return streams() | nested_.load(); }
  int stream() const { return stream_; }  // the one that the capture began with

  // A state that no other draws have stands for those of launches, which are in memory of the graph: a seed and a
  // counter, each of 64 bits.
  struct State {
    uint64_t seed, counter;
    uint64_t* memory;
  };
  void add_state(uint64_t seed, uint64_t counter, uint16_t op);
  std::vector<State> states() const;
  params::Draws draws(uint64_t seed, uint64_t counter) const;  // as the work is to be given them

  struct CapturedBuffer {
    Ref<Buffer> buffer;
    bool written = false;
  };
  std::vector<CapturedBuffer> take_buffers();
  // Objects that the captured work needs, such as plans of transforms, and other graphs.
  void keep(std::shared_ptr<const void> object);
  struct Kept {
    std::vector<std::shared_ptr<const void>> objects;
    std::vector<Ref<Box>> graphs;
  };
  Kept take_kept();

 private:
  const int stream_;
  const uint64_t thread_ = thread_number();
  std::atomic<int> parts_{0};
  std::atomic<uint32_t> streams_, nested_{0}, allocated_on_{0};
  mutable std::mutex mutex_;
  std::unordered_map<const Buffer*, size_t> index_;
  std::vector<CapturedBuffer> buffers_;
  Kept kept_;
  std::vector<State> states_;
};

}  // namespace stator
