// Buffer: the storage of arrays, as a tracked object: a block of the pool (pool.hpp), page-locked or managed memory
// of the pool, or foreign memory; or the workspace of a library's handle. ForeignReleases: the queue of deleters of
// foreign memory.
#pragma once

#include "memory/arena.hpp"
#include "memory/budget.hpp"
#include "memory/managed.hpp"
#include "memory/pool/pool_lists.hpp"
#include "ownership/box.hpp"
#include "runtime/runtime.hpp"
#include "streams/stream.hpp"

#include <stator/backend.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

namespace stator {

class Array;
class Region;

// The owner of foreign memory, made with the Buffer, so that releasing it needs no memory.
struct ForeignOwner {
  explicit ForeignOwner(std::function<void()> release);
  std::function<void()> deleter;
  const uint32_t generation;     // of the process that made it
  Block block;                   // only the events and unmarked streams of the work that still uses the memory
  ForeignOwner* next = nullptr;  // in the list that owns it
};

class Buffer final : public Box {
 public:
  // Memory of another owner (a NumPy array on cpu, a DLPack producer). `deleter` runs once, when the last user is gone,
  // through ForeignReleases. Every use of the memory is synchronous when `host_shared`.
  static Ref<Buffer> foreign(Context& context, void* memory, size_t bytes, bool host_shared, bool read_only,
                             std::function<void()> deleter, uint16_t op);
  // Memory of the host that stays its owner's, and is page-locked until the buffer closes, which waits for the streams.
  // `deleter` runs afterwards, as that of foreign memory. BoxKind::pinned.
  static Ref<Buffer> registered(Context& context, void* memory, size_t bytes, std::function<void()> deleter,
                                uint16_t op);
  ~Buffer() override;
  Context& context() const { return context_; }
  void* memory(uint16_t op) const { return get(op); }
  bool host_shared() const { return host_shared_.load(std::memory_order_relaxed); }
  bool read_only() const { return read_only_; }
  // Whether its bools may have bytes other than 0 and 1: memory of others, memory that write_ranges has written, and
  // what is read as bool and as another dtype.
  bool has_any_bytes() const { return any_bytes_.load(std::memory_order_acquire); }
  void note_any_bytes() { any_bytes_.store(true, std::memory_order_release); }
  Managed* managed() const { return managed_.get(); }  // null for other memory
  // Of memory that belongs to a graph: what it lies in, and the number of the allocation there.
  Arena* arena() const { return arena_.get(); }
  int allocation() const { return allocation_; }
  // The graph needs it no more. The caller has made sure that nothing else uses the block.
  void leave_arena();

  // Exports keep the storage past close: a closed buffer with exports is detached, and the last unexport frees its
  // memory. export_memory marks a cpu buffer host_shared (its uses are synchronous from then on). The exporter holds a
  // reference until it calls unexport, with the stream on which its consumer used the memory, null if there is none:
  // the memory is reused after what that stream holds then, and never where that is being captured into a graph.
  void* export_memory(uint16_t op);
  void unexport(runtime::StreamHandle consumer = nullptr) noexcept;

  // Streams that used the memory, one bit per index of a stream; recorded at every enqueue, waited for at reuse.
  void note_use(int stream_index) {
    const uint32_t bit = uint32_t(1) << stream_index;
    if (!(used_.load(std::memory_order_relaxed) & bit)) used_.fetch_or(bit, std::memory_order_relaxed);
  }
  // Includes the home stream of the block: work of the block's previous owner may be pending there.
  uint32_t users() const {
    const uint32_t home = source_ == Source::pool ? uint32_t(1) << home_stream_ : 0;
    return used_.load(std::memory_order_acquire) | home;
  }
  int last_stream() const;
  void set_last_stream(int index);

  // As of Box; its bytes count towards the other scope's budget then.
  void change_scope(uint32_t from, uint32_t to);

 private:
  friend class Pool;
  enum class Source : uint8_t { pool, workspace, pinned, managed, foreign, registered };
  Buffer(Context& context, Source source, size_t bytes, uint16_t op);
  void release_native(void* handle) noexcept override;
  void free_detached() noexcept;

  Context& context_;
  const Source source_;
  bool read_only_ = false;
  uint8_t home_stream_ = 0;
  std::atomic<bool> host_shared_{false}, any_bytes_{false};
  std::atomic<uint32_t> used_{0};
  std::atomic<int> last_stream_{0};
  std::atomic<uint64_t> launch_{0};  // of the graph whose memory this is: the last one before last_stream_ was set
  // The streams of consumers that gave an export back, each with an event on it. Guarded by the pool's mutex.
  struct Consumer {
    runtime::StreamHandle stream;
    runtime::EventHandle event;
  };
  std::vector<Consumer> consumers_;
  std::shared_ptr<Region> region_;  // that its block lies in, with the policy arena
  Charge charge_;                   // what it counts towards the budget of its scope
  size_t block_bytes_ = 0;          // what the pool holds for it; 0 for foreign memory
  void* detached_ = nullptr;
  std::unique_ptr<ForeignOwner> owner_;
  std::unique_ptr<Managed> managed_;
  std::shared_ptr<Arena> arena_;
  int allocation_ = -1;
  uint32_t recorded_ = 0;  // the MemoryRecord's number of the recording that has seen it; 0 for none
};

inline void Buffer::set_last_stream(int index) {
  last_stream_.store(index, std::memory_order_relaxed);
  if (arena_) [[unlikely]]
    launch_.store(arena_->launches(), std::memory_order_relaxed);
}

inline int Buffer::last_stream() const {
  if (arena_ && arena_->launches() != launch_.load(std::memory_order_relaxed)) [[unlikely]]
    return arena_->last_stream();
  return last_stream_.load(std::memory_order_relaxed);
}

// The buffer of an array; ValueError, naming the call, for an array without memory.
Buffer& buffer_of(const Array& array, std::string_view call);

// Owners of foreign memory, whose deleters may need the GIL and therefore wait for a thread that holds it. drain() runs
// them; the Python layer calls it.
class STATOR_API ForeignReleases {
 public:
  static void push(std::unique_ptr<ForeignOwner> owner) noexcept;
  static void drain();
  static bool pending() noexcept;
};

}  // namespace stator
