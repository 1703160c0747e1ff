// Pool: a stream-ordered caching allocator over the runtime's. Buffer: one block of it, or foreign memory.
#pragma once

#include "core/box.hpp"
#include "core/stream.hpp"
#include "runtime/runtime.hpp"

#include <stator/backend.hpp>

#include <atomic>
#include <functional>
#include <memory>

namespace stator {

struct Block;

class Buffer final : public Box {
 public:
  // Memory of someone else (a NumPy array on cpu, a DLPack producer). `deleter` runs once when the last user is gone,
  // through the foreign-release queue that holders of the GIL drain. Every use of it is synchronous when `host_shared`.
  static Ref<Buffer> foreign(Context& context, void* memory, size_t bytes, bool host_shared, bool read_only,
                             std::function<void()> deleter, uint16_t op);
  ~Buffer() override;
  Context& context() const { return context_; }
  void* memory(uint16_t op) const { return get(op); }
  bool host_shared() const { return host_shared_.load(std::memory_order_relaxed); }
  bool read_only() const { return read_only_; }

  // Exports keep the storage past close: a closed buffer with exports is detached, its memory freed by the last
  // unexport. export_memory marks a cpu buffer host_shared (its uses become synchronous from then on). The exporter
  // holds a reference until it calls unexport.
  void* export_memory(uint16_t op);
  void unexport() noexcept;

  // Streams that used the memory, a bit each by pool index; recorded at every enqueue, waited for at reuse.
  void note_use(int stream_index) {
    const uint32_t bit = uint32_t(1) << stream_index;
    if (!(used_.load(std::memory_order_relaxed) & bit)) used_.fetch_or(bit, std::memory_order_relaxed);
  }
  // With the stream that the block came from: work of its last owner may be pending there.
  uint32_t users() const {
    const uint32_t home = source_ == Source::pool ? uint32_t(1) << home_stream_ : 0;
    return used_.load(std::memory_order_acquire) | home;
  }
  int last_stream() const { return last_stream_.load(std::memory_order_relaxed); }
  void set_last_stream(int index) { last_stream_.store(index, std::memory_order_relaxed); }

 private:
  friend class Pool;
  enum class Source : uint8_t { pool, pinned, foreign };
  Buffer(Context& context, Source source, size_t bytes, uint16_t op);
  void release_native(void* handle) noexcept override;
  void free_detached() noexcept;

  Context& context_;
  const Source source_;
  bool read_only_ = false;
  uint8_t home_stream_ = 0;
  std::atomic<bool> host_shared_{false};
  std::atomic<uint32_t> used_{0};
  std::atomic<int> last_stream_{0};
  size_t block_bytes_ = 0;  // what the pool holds for it; 0 for foreign memory
  void* detached_ = nullptr;
  std::function<void()> deleter_;
};

// Size classes (512 bytes to 1 MiB in powers of two and their halves, above that multiples of 2 MiB with at most 1/8
// slack), one free list per stream and class. A block freed after use on its home stream alone is reused there without
// an event; otherwise its release records one event per other stream and reuse waits for them. Out of memory: finish
// what is pending, give back every cached block, retry once, then OutOfMemoryError with figures.
class Pool final : public Box {
 public:
  static constexpr int pinned_home = Backend::stream_count;  // of page-locked blocks, which no stream owns
  explicit Pool(Context& context);
  ~Pool() override;
  Ref<Buffer> allocate(size_t bytes, StreamBox& stream, uint16_t op);
  Ref<Buffer> allocate_pinned(size_t bytes, uint16_t op);  // page-locked host memory; BoxKind::pinned, host accessible
  void empty_cache() noexcept;
  void poll_foreign() noexcept;  // hands on the deleters whose memory is no longer used
  MemoryStats stats() const;
  OutOfMemoryError out_of_memory(size_t requested, uint16_t op) const;

 private:
  friend class Buffer;
  struct Impl;
  Ref<Buffer> make(Buffer::Source source, size_t bytes, int home, uint16_t op);
  Block take(size_t bytes, int home, uint16_t op);
  Block obtain(size_t bytes, int home, uint16_t op);
  runtime::Status obtain_once(size_t bytes, int home, uint16_t op, void** memory);
  bool settle(Block& block, int home, uint16_t op);  // false: page-locked memory that is still in use
  void mark(Block& block, uint32_t streams) noexcept;
  bool passed(Block& block) noexcept;
  void free_block(Block& block) noexcept;
  void keep(Block&& block) noexcept;   // into its free list
  size_t trim(size_t bytes) noexcept;  // gives back at least so much of the cache, if there is so much
  runtime::EventHandle take_event();
  void keep_event(runtime::EventHandle event) noexcept;
  void destroy_event(runtime::EventHandle event) noexcept;

  void give_back(Buffer& buffer, void* memory) noexcept;
  void detach(Buffer& buffer) noexcept;           // leaves the pool's figures
  void release_foreign(Buffer& buffer) noexcept;  // its deleter, once the work that uses the memory is done
  void note_exported(size_t bytes, int sign) noexcept;
  void release_native(void* handle) noexcept override;
  Context& context_;
  std::unique_ptr<Impl> impl_;
};

// Deleters of foreign memory that wait for a thread that holds the GIL. drain() runs them; python calls it.
class STATOR_API ForeignReleases {
 public:
  static void push(std::function<void()> deleter) noexcept;
  static void drain();
  static bool pending() noexcept;
};

}  // namespace stator
