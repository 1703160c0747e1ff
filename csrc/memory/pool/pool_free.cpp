// Deallocation: blocks go into the free lists, cached blocks to the runtime, foreign owners to their queue. Nothing
// here throws but take_event, and no figure is lost when a call of the runtime fails.
#include "core/capture.hpp"
#include "core/context.hpp"
#include "memory/pool/pool_impl.hpp"

#include <algorithm>
#include <utility>

namespace stator {

using runtime::status::success;

runtime::EventHandle Pool::take_event() {
  {
    const std::lock_guard lock(impl_->mutex);
    if (!impl_->events.empty()) {
      const runtime::EventHandle event = impl_->events.back();
      impl_->events.pop_back();
      return event;
    }
  }
  return context_.runtime().event_create();
}

void Pool::keep_event(runtime::EventHandle event) noexcept {
  try {
    const std::lock_guard lock(impl_->mutex);
    impl_->events.push_back(event);
  } catch (const std::bad_alloc&) {
    destroy_event(event);
  }
}

void Pool::destroy_event(runtime::EventHandle event) noexcept {
  context_.report("event_destroy", context_.runtime().event_destroy_noexcept(event));
}

// Waits for all work that uses the block.
void Pool::finish(Block& block) noexcept {
  runtime::Runtime& runtime = context_.runtime();
  for (const runtime::EventHandle event : block.events) {
    try {
      runtime.event_synchronize(event);
    } catch (const std::exception&) {
      // The device failed, so that nothing on it uses the memory any more.
    }
    destroy_event(event);
  }
  block.events.clear();
  block.unmarked = context_.open_streams(block.unmarked);
  for (int i = 0; block.unmarked && !context_.quiet() && i < Backend::stream_limit; ++i) {
    if (context_.is_captured_itself(i)) continue;
    if (block.unmarked >> i & 1) runtime.stream_synchronize_noexcept(context_.native_stream(i));
  }
}

void Pool::mark(Block& block, uint32_t streams) noexcept {
  streams = context_.open_streams(streams);
  for (int i = 0; i < Backend::stream_limit; ++i) {
    const uint32_t bit = uint32_t(1) << i;
    if (!(streams & bit)) continue;
    runtime::EventHandle event = nullptr;
    if (context_.is_captured_itself(i)) {  // an event of a capture says nothing of the work before it
      block.unmarked |= bit;
      continue;
    }
    try {
      block.events.reserve(block.events.size() + 1);
      event = take_event();
      if (context_.runtime().event_record_noexcept(event, context_.native_stream(i)) == success) {
        block.events.push_back(event);
        continue;
      }
    } catch (const std::exception&) {
      // No event could be had: the stream goes into `unmarked`, and the next allocation of the block tries again.
    }
    if (event) keep_event(event);
    block.unmarked |= bit;
  }
}

// The work of a stream that its consumer has destroyed is awaited with all that the device has.
void Pool::mark_consumer(Buffer& buffer, runtime::StreamHandle stream) noexcept {
  runtime::EventHandle unused = nullptr, event = nullptr;
  try {
    unused = take_event();
    const std::lock_guard lock(impl_->mutex);
    const auto same = [stream](const Buffer::Consumer& consumer) { return consumer.stream == stream; };
    const auto found = std::find_if(buffer.consumers_.begin(), buffer.consumers_.end(), same);
    if (found == buffer.consumers_.end()) {
      buffer.consumers_.push_back({stream, unused});
      event = std::exchange(unused, nullptr);
    } else {
      event = found->event;
    }
  } catch (const std::exception&) {
    // No event could be had, or there was no room for it.
  }
  if (unused) keep_event(unused);
  if (!event || context_.runtime().event_record_noexcept(event, stream) != success)
    context_.report("device_synchronize", context_.runtime().device_synchronize_noexcept());
}

// No other thread refers to the buffer, so that its list needs no lock.
void Pool::take_consumers(Buffer& buffer, Block& block) noexcept {
  if (buffer.consumers_.empty()) [[likely]]
    return;
  bool room = true;
  try {
    block.events.reserve(block.events.size() + buffer.consumers_.size());
  } catch (const std::bad_alloc&) {
    room = false;
    context_.report("device_synchronize", context_.runtime().device_synchronize_noexcept());
  }
  for (const Buffer::Consumer& consumer : buffer.consumers_) {
    if (room)
      block.events.push_back(consumer.event);
    else
      keep_event(consumer.event);
  }
  buffer.consumers_.clear();
}

// A captured stream cannot free, and keeps the memory as a caching pool does.
bool Pool::frees_at_once(int home) const {
  const PoolPolicy policy = context_.options().pool_policy;
  if ((policy != PoolPolicy::none && policy != PoolPolicy::driver) || home == pinned_home) return false;
  return home == managed_home || !context_.is_captured_itself(home);
}

void Pool::keep(Block&& block) noexcept {
  const size_t bytes = block.bytes;
  const int home = block.home;
  try {
    const std::lock_guard lock(impl_->mutex);
    impl_->lists[home].push(std::move(block));
    impl_->add_cached(bytes, home);
  } catch (const std::bad_alloc&) {
    free_block(block);
  }
}

void Pool::take_over(Block&& block, uint32_t users) noexcept {
  if (closed()) {
    if (context_.options().pool_policy != PoolPolicy::arena)
      context_.report("free", context_.memory().free_noexcept(block.memory, block.bytes, nullptr));
    return;
  }
  if (impl_->region) {
    block.unmarked |= users & ~(uint32_t(1) << block.home);
    const std::lock_guard lock(impl_->mutex);
    impl_->from_live(block.bytes, block.home);
    impl_->to_region(block);
    return;
  }
  if (users & ~(uint32_t(1) << block.home) && !context_.quiet()) mark(block, users & ~(uint32_t(1) << block.home));
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->from_live(block.bytes, block.home);
  }
  if (frees_at_once(block.home))
    free_block(block);
  else
    keep(std::move(block));
}

void Pool::give_back(Buffer& buffer, void* memory) noexcept {
  const int home = buffer.home_stream_;
  if (buffer.arena_) {
    buffer.arena_->give_back(memory, home, buffer.used_.load(std::memory_order_acquire));
    buffer.arena_.reset();
    return;
  }
  Block block{memory, buffer.block_bytes_, 0, int8_t(home), {}};
  const uint32_t own = home < pinned_home ? uint32_t(1) << home : 0;
  const uint32_t others = buffer.used_.load(std::memory_order_acquire) & ~own;
  if (impl_->in_region(home)) [[unlikely]] {
    block.unmarked = others;
    take_consumers(buffer, block);
    {
      const std::lock_guard lock(impl_->mutex);
      impl_->from_live(block.bytes, home);
    }
    give_to_region(std::move(block));
    return;
  }
  if (others && !context_.quiet()) [[unlikely]]
    mark(block, others);
  take_consumers(buffer, block);
  if (frees_at_once(home) || (buffer.managed() && buffer.managed()->advised())) [[unlikely]] {
    {
      const std::lock_guard lock(impl_->mutex);
      impl_->from_live(block.bytes, home);
    }
    free_block(block);
    return;
  }
  if (context_.memory().lends() && home < pinned_home && block.ready() && !context_.is_captured(home)) [[unlikely]] {
    if (const runtime::StreamHandle stream = context_.native_stream(home)) context_.runtime().lend(memory, 0, stream);
  }
  try {
    const std::lock_guard lock(impl_->mutex);
    impl_->from_live(block.bytes, home);
    impl_->lists[home].push(std::move(block));
    impl_->add_cached(buffer.block_bytes_, home);
  } catch (const std::bad_alloc&) {
    free_block(block);
  }
}

void Pool::detach(Buffer& buffer) noexcept {
  for (const Buffer::Consumer& consumer : buffer.consumers_) keep_event(consumer.event);
  buffer.consumers_.clear();  // the last unexport waits for the device
  const std::lock_guard lock(impl_->mutex);
  if (buffer.block_bytes_) impl_->from_live(buffer.block_bytes_, buffer.home_stream_);
}

void Pool::note_exported(size_t bytes, int sign) noexcept {
  if (sign > 0)
    impl_->exported.fetch_add(bytes);
  else
    impl_->exported.fetch_sub(bytes);
}

void Pool::free_block(Block& block) noexcept {
  runtime::Runtime& runtime = context_.runtime();
  const runtime::StreamHandle stream = block.home < pinned_home ? context_.native_stream(block.home) : nullptr;
  while (stream && !block.events.empty() && runtime.stream_wait_noexcept(stream, block.events.back()) == success) {
    destroy_event(block.events.back());
    block.events.pop_back();
  }
  finish(block);
  if (block.home == managed_home)
    context_.report("free_managed", runtime.free_managed_noexcept(block.memory, block.bytes));
  else if (block.home == pinned_home)
    context_.report("free_pinned", runtime.free_pinned_noexcept(block.memory));
  else
    context_.report("free", context_.memory().free_noexcept(block.memory, block.bytes, stream));
  runtime.forget_buffer(block.memory);
}

size_t Pool::trim(size_t bytes, bool pinned) noexcept {
  size_t released = 0;
  while (released < bytes) {
    Block block;
    {
      const std::lock_guard lock(impl_->mutex);
      bool found = false;
      for (int home = pinned ? pinned_home : 0; !found && home <= (pinned ? pinned_home : managed_home); ++home)
        found = (home >= pinned_home || !context_.is_captured_itself(home)) && impl_->lists[home].pop_any(&block);
      if (!found) break;
      impl_->take_cached(block.bytes, block.home);
    }
    released += block.bytes;
    free_block(block);
  }
  return released;
}

void Pool::Impl::give_back_unasked(Pool& pool) noexcept {
  if (region) return;
  for (;;) {
    Block block;
    {
      const std::lock_guard lock(mutex);
      const size_t most = std::max(most_live, live);
      const size_t size = live + cached > std::max(most / 8 * limit_eighths, least_limit) ? sizes.stalest() : 0;
      bool found = false;
      for (int home = 0; size && !found && home < pinned_home; ++home)
        found = !pool.context_.is_captured_itself(home) &&
                (size == CachedSizes::beyond ? lists[home].pop_any(&block) : lists[home].pop(size, false, &block));
      if (!found) return;
      take_cached(block.bytes, block.home);
    }
    pool.free_block(block);
  }
}

void Pool::empty_cache() noexcept {
  poll_foreign();
  trim(SIZE_MAX);
  if (driver_cached()) trim_to(0, false);
  std::vector<runtime::EventHandle> events;
  {
    const std::lock_guard lock(impl_->mutex);
    events.swap(impl_->events);
  }
  for (const runtime::EventHandle event : events) destroy_event(event);
}

void Pool::release_foreign(Buffer& buffer) noexcept {
  context_.runtime().forget_buffer(buffer.detached_);
  if (!buffer.owner_) {
    for (const Buffer::Consumer& consumer : buffer.consumers_) keep_event(consumer.event);
    return;
  }
  const uint32_t used = buffer.host_shared() || context_.quiet() ? 0 : buffer.used_.load(std::memory_order_acquire);
  if (used) mark(buffer.owner_->block, used);
  take_consumers(buffer, buffer.owner_->block);
  if (buffer.owner_->block.ready() || passed(buffer.owner_->block))
    ForeignReleases::push(std::move(buffer.owner_));
  else
    impl_->add_owner(std::move(buffer.owner_));
}

void Pool::poll_foreign(bool last) noexcept {
  ForeignOwner* rest = nullptr;
  {
    const std::lock_guard lock(impl_->mutex);
    std::swap(rest, impl_->owners);
    impl_->has_owners.store(false, std::memory_order_relaxed);
  }
  while (rest) {
    std::unique_ptr<ForeignOwner> owner(std::exchange(rest, rest->next));
    if (last) finish(owner->block);
    if (last || passed(owner->block))
      ForeignReleases::push(std::move(owner));
    else
      impl_->add_owner(std::move(owner));
  }
}

void Pool::release_native(void*) noexcept {
  impl_->hooks.set({});
  poll_foreign(true);
  empty_cache();
  std::shared_ptr<Region> region;
  const std::lock_guard lock(impl_->mutex);
  region.swap(impl_->region);
}

}  // namespace stator
