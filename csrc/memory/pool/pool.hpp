// Pool: a stream-ordered caching allocator on top of the runtime layer's. Divided by direction: pool.cpp allocates,
// pool_free.cpp takes memory back (into the cache, to the runtime, or to the owners of foreign memory);
// pool_figures.cpp has figures and limits, pool_pressure.cpp what is done where memory is short, pool_region.cpp the
// policy arena.
#pragma once

#include "memory/budget.hpp"
#include "memory/buffer.hpp"
#include "memory/hook.hpp"

#include <memory>

namespace stator {

struct Block;

// Size classes (512 bytes to 1 MiB in powers of two and their halves, above that multiples of 2 MiB with at most 1/8
// slack), one free list per stream and class. A block that only its home stream used is reused there without an event;
// otherwise its release records one event per other stream and reuse waits for them, as it does for events on the
// streams of consumers of exported memory. Out of memory: release what is queued for it, free every cached block,
// wait for pending work, and try again; then the same for as long as the memory hook wants; then throw OutOfMemoryError
// with the figures.
class Pool final : public Box {
 public:
  static constexpr int pinned_home = Backend::stream_limit;  // of page-locked blocks, which no stream owns
  static constexpr int managed_home = pinned_home + 1;       // of managed ones, likewise
  explicit Pool(Context& context);
  ~Pool() override;
  Ref<Buffer> allocate(size_t bytes, StreamBox& stream, uint16_t op);
  // For a library's handle, which the context owns: a library in the tracker, and no reference to the context.
  std::unique_ptr<Buffer> allocate_workspace(size_t bytes, StreamBox& stream, uint16_t op);
  Ref<Buffer> allocate_pinned(size_t bytes, uint16_t op);   // page-locked host memory; BoxKind::pinned, host accessible
  Ref<Buffer> allocate_managed(size_t bytes, uint16_t op);  // BoxKind::managed, see stator/memory/managed.hpp
  void empty_cache() noexcept;
  // Hands on the deleters whose memory is no longer used; waits for all of them if this is the last time.
  void poll_foreign(bool last = false) noexcept;
  MemoryStats stats() const;
  void set_limit(size_t bytes, uint16_t op);          // as Backend::set_memory_limit
  void open_policy();                                 // takes what the policy takes at once; OutOfMemoryError
  size_t trim_to(size_t keep, bool pinned) noexcept;  // as trim_memory and trim_pinned_memory
  void reset_peak();
  OutOfMemoryError out_of_memory(size_t requested, uint16_t op) const;
  MemoryHooks& hooks() const;
  Budgets& budgets() const;
  // What counts towards the budget of a scope. OutOfMemoryError, after the hook was asked, where it does not fit.
  Charge charge(uint32_t scope, size_t bytes, uint16_t op);
  // Of an arena: blocks of its streams, without waiting for any other; freed, after the work that the streams
  // hold.
  Block take(size_t bytes, int home, uint16_t op);  // from the cache, else obtain
  void take_over(Block&& block, uint32_t users) noexcept;
  // Tells emulated devices how many bytes of a block are in use, so that they find accesses past those.
  void lend(const Block& block, size_t bytes, uint16_t op);

 private:
  friend class Buffer;
  struct Impl;
  std::unique_ptr<Buffer> make(Buffer::Source source, size_t bytes, int home, uint16_t op);
  // These two have no memory where there is none left: from the cache, else from the runtime, within the memory limit.
  Block find(size_t bytes, int home, uint16_t op, bool again);
  Block obtain(size_t bytes, int home, uint16_t op);
  Block find_in_region(size_t bytes, int home, uint16_t op, bool again);
  bool reserve(size_t bytes, int home) noexcept;
  size_t rounded(size_t bytes, int home) const;
  runtime::Status obtain_once(size_t bytes, int home, uint16_t op, void** memory);
  bool settle(Block& block, int home, uint16_t op);  // false: memory of the host that is still in use
  void mark(Block& block, uint32_t streams) noexcept;
  bool passed(Block& block) noexcept;
  void finish(Block& block) noexcept;
  void free_block(Block& block) noexcept;
  bool frees_at_once(int home) const;  // the policies none and driver, where the stream may free
  void give_to_region(Block&& block) noexcept;
  void take_back(void* memory, size_t bytes) noexcept;  // of the arena, from the last consumer of exported memory
  size_t driver_cached() const noexcept;                // what the driver's pool keeps, with the policy driver
  void keep(Block&& block) noexcept;                    // into its free list
  // Frees cached blocks until this many bytes, or the whole cache, are freed; of all kinds, or of page-locked memory.
  size_t trim(size_t bytes, bool pinned = false) noexcept;
  runtime::EventHandle take_event();
  void keep_event(runtime::EventHandle event) noexcept;
  void destroy_event(runtime::EventHandle event) noexcept;

  void mark_consumer(Buffer& buffer, runtime::StreamHandle stream) noexcept;
  void take_consumers(Buffer& buffer, Block& block) noexcept;  // their events become the block's
  void give_back(Buffer& buffer, void* memory) noexcept;
  void detach(Buffer& buffer) noexcept;           // leaves the pool's figures
  void release_foreign(Buffer& buffer) noexcept;  // its deleter, once the work that uses the memory is done
  void note_exported(size_t bytes, int sign) noexcept;
  void release_native(void* handle) noexcept override;
  Context& context_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stator
