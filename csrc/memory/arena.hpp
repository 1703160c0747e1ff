// Arena: the memory that work captured into a graph uses for its results and in between. It belongs to the graph for as
// long as that may be launched, so that it is not allocated again.
#pragma once

#include "memory/budget.hpp"
#include "memory/pool/pool_lists.hpp"

#include <stator/backend.hpp>

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <vector>

namespace stator {

class Context;

// Shared by the graph and by the buffers that lie in it. While the work is captured, what one of them frees is
// given to the next in stream order; afterwards addresses do not change any more.
class Arena {
 public:
  // home: the stream whose work is captured. fresh: numbers of allocations that get memory which nothing used before.
  Arena(Context& context, int home, std::set<int> fresh) : context_(context), home_(home), fresh_(std::move(fresh)) {}
  ~Arena();  // gives all to the pool, in the order of the streams that used it
  Arena(const Arena&) = delete;

  // The block's home is `stream`. number: of the allocation, from 0; null for memory that no other allocation gets,
  // before or afterwards, and that is never freed: a launch may write there before its work begins.
  Block take(size_t bytes, int stream, uint16_t op, int* number);
  void give_back(void* memory, int stream, uint32_t users) noexcept;
  // Between these the captured work may be repeated: existing memory keeps its contents for every round.
  void begin_part();
  void end_part();
  void seal();  // the capture has ended
  // The graph was launched: what lies here was used by that stream last.
  void note_launch(int stream) {
    last_stream_.store(stream, std::memory_order_relaxed);
    launches_.fetch_add(1, std::memory_order_relaxed);
  }
  uint64_t launches() const { return launches_.load(std::memory_order_relaxed); }
  int last_stream() const { return last_stream_.load(std::memory_order_relaxed); }
  void note_users(uint32_t streams) { users_.fetch_or(streams, std::memory_order_relaxed); }

  // Whether the allocation's memory was used by no other.
  bool is_exclusive(int number) const;
  // The graph needs the memory no more: it belongs to its buffer from now on, which gets what it counts in budgets.
  Charge disown(void* memory);
  size_t bytes() const;
  // The number of the allocation that the address lies in, the last of several, and the distance from its start; -1.
  int find(const void* address, size_t* distance) const;

 private:
  struct Piece {
    size_t bytes;
    std::vector<int> allocations;  // that were given it
    Charge charge;
  };
  Context& context_;
  const int home_;
  const std::set<int> fresh_;
  std::atomic<uint32_t> users_{0};
  std::atomic<uint64_t> launches_{0};
  std::atomic<int> last_stream_{0};
  mutable std::mutex mutex_;
  bool sealed_ = false;
  std::vector<int> parts_;  // the number of the first allocation of each
  struct Late {
    Block block;
    size_t part;
  };
  std::vector<Late> late_;  // freed in a part, to be used again after it
  std::array<FreeList, Backend::stream_limit> lists_;
  std::map<void*, Piece> pieces_;  // by address
  std::vector<void*> memory_of_;   // each allocation, by number
};

}  // namespace stator
