// Allocation. find() looks for a cached block, first in the list of the stream, then in those of the others; settle()
// orders the stream after what still uses the block; obtain() asks the runtime, and empties the cache where that fails;
// take() repeats all of it while the memory hook wants.
#include "core/capture.hpp"
#include "core/context.hpp"
#include "core/text.hpp"
#include "memory/pool/pool_impl.hpp"

namespace stator {

using runtime::status::success;

Pool::Pool(Context& context)
    : Box(BoxKind::pool, &context, context.tracker(), no_op, Hold::part_of),
      context_(context),
      impl_(std::make_unique<Impl>()) {
  impl_->limit = context.options().memory_limit;
  impl_->pinned_limit = context.options().pinned_memory_limit;
  set_native(this);
}

Pool::~Pool() { dispose(); }

std::unique_ptr<Buffer> Pool::make(Buffer::Source source, size_t bytes, int home, uint16_t op) {
  if (impl_->has_owners.load(std::memory_order_relaxed)) poll_foreign();
  std::unique_ptr<Buffer> buffer(new Buffer(context_, source, bytes, op));
  const bool shared = source == Buffer::Source::pool;
  const std::shared_ptr<GraphCapture> capture = shared ? context_.opened_stream(home).capture() : nullptr;
  const size_t size = capture ? block_size(bytes) : rounded(bytes, home);
  if (!capture && source != Buffer::Source::workspace) buffer->charge_ = charge(buffer->scope(), size, op);
  const Block block = capture ? capture->arena->take(size, home, op, &buffer->allocation_) : take(size, home, op);
  if (impl_->in_region(home)) buffer->region_ = impl_->region;
  if (capture)
    buffer->arena_ = capture->arena;
  else
    lend(block, bytes, op);
  buffer->block_bytes_ = block.bytes;
  buffer->home_stream_ = uint8_t(home);
  buffer->set_last_stream(home >= pinned_home ? 0 : home);
  buffer->set_native(block.memory);
  if (MemoryRecord& record = context_.memory_record(); record.on()) [[unlikely]]
    buffer->recorded_ = record.took(bytes, op);
  return buffer;
}

Ref<Buffer> Pool::allocate(size_t bytes, StreamBox& stream, uint16_t op) {
  return Ref<Buffer>(make(Buffer::Source::pool, bytes, stream.index(), op).release());
}

std::unique_ptr<Buffer> Pool::allocate_workspace(size_t bytes, StreamBox& stream, uint16_t op) {
  return make(Buffer::Source::workspace, bytes, stream.index(), op);
}

Ref<Buffer> Pool::allocate_pinned(size_t bytes, uint16_t op) {
  return Ref<Buffer>(make(Buffer::Source::pinned, bytes, pinned_home, op).release());
}

Ref<Buffer> Pool::allocate_managed(size_t bytes, uint16_t op) {
  return Ref<Buffer>(make(Buffer::Source::managed, bytes, managed_home, op).release());
}

Block Pool::take(size_t bytes, int home, uint16_t op) {
  Block block;
  try {
    for (int round = 0;; ++round) {
      block = find(bytes, home, op, round > 0);
      if (block.memory) [[likely]]
        return block;
      if (!impl_->hooks.ask(context_, bytes, round)) break;
    }
  } catch (...) {
    impl_->failed(bytes);
    throw;
  }
  impl_->failed(bytes);
  throw out_of_memory(bytes, op);
}

Block Pool::find(size_t bytes, int home, uint16_t op, bool again) {
  if (impl_->in_region(home)) [[unlikely]]
    return find_in_region(bytes, home, op, again);
  Block block;
  const bool captured = home < pinned_home && context_.is_captured(home);  // so that it cannot wait
  {
    const std::lock_guard lock(impl_->mutex);
    if (!again) {
      ++impl_->allocations;
      impl_->allocated_bytes += bytes;
    }
    bool found = impl_->lists[home].pop(bytes, captured, &block);
    for (int other = 0; !found && !captured && home < pinned_home && other < pinned_home; ++other) {
      found = other != home && impl_->lists[other].pop(bytes, false, &block);
    }
    if (found)
      impl_->from_cache(block.bytes, home);
    else if (home < pinned_home)
      impl_->sizes.asked(bytes, impl_->allocations);
  }
  if (!block.memory) return obtain(bytes, home, op);
  if (block.home == home && block.ready()) [[likely]]
    return block;
  const auto put_back = [&] {
    {
      const std::lock_guard lock(impl_->mutex);
      impl_->take_live(block.bytes, home);
      --impl_->reuses;
    }
    keep(std::move(block));
  };
  try {
    if (settle(block, home, op)) return block;
  } catch (...) {
    put_back();
    throw;
  }
  put_back();
  return obtain(bytes, home, op);
}

void Pool::lend(const Block& block, size_t bytes, uint16_t op) {
  if (block.home < pinned_home && !impl_->region && context_.memory().lends()) [[unlikely]]
    context_.runtime().lend(block.memory, bytes, context_.allocation_stream(block.home, op));
}

// Orders the stream `home` after all work that uses the block. On failure the block still lists what was not ordered.
bool Pool::settle(Block& block, int home, uint16_t op) {
  if (home >= pinned_home) return passed(block);
  runtime::Runtime& runtime = context_.runtime();
  if (block.home != home) block.unmarked |= uint32_t(1) << block.home;
  block.home = int8_t(home);
  block.unmarked = context_.open_streams(block.unmarked);
  block.events.reserve(block.events.size() + Backend::stream_limit);
  for (int i = 0; i < Backend::stream_limit; ++i) {
    const uint32_t bit = uint32_t(1) << i;
    if (!(block.unmarked & bit)) continue;
    if (i != home && context_.is_captured_itself(i)) return false;
    if (i != home) {
      const runtime::EventHandle event = take_event();
      block.events.push_back(event);  // should recording fail, `unmarked` still has the stream
      runtime.event_record(event, context_.native_stream(i));
    }
    block.unmarked &= ~bit;
  }
  const runtime::StreamHandle stream = context_.opened_stream(home).handle(op);
  while (!block.events.empty()) {
    runtime.stream_wait(stream, block.events.back());
    keep_event(block.events.back());
    block.events.pop_back();
  }
  return true;
}

// True when the device has finished all work that uses the block.
bool Pool::passed(Block& block) noexcept {
  runtime::Runtime& runtime = context_.runtime();
  try {
    while (!block.events.empty()) {
      if (!runtime.event_query(block.events.back(), false)) return false;
      keep_event(block.events.back());
      block.events.pop_back();
    }
    block.unmarked = context_.open_streams(block.unmarked);
    for (int i = 0; i < Backend::stream_limit; ++i) {
      const uint32_t bit = uint32_t(1) << i;
      if (!(block.unmarked & bit)) continue;
      if (context_.is_captured_itself(i) || !runtime.stream_query(context_.native_stream(i))) return false;
      block.unmarked &= ~bit;
    }
    return true;
  } catch (const std::exception&) {
    return false;  // the device failed: the memory stays until close
  }
}

bool Pool::reserve(size_t bytes, int home) noexcept {
  const bool pinned = home == pinned_home;
  const auto beyond = [bytes](size_t limit, size_t live, size_t cached) {
    const size_t total = live + cached + bytes;
    return limit && total > limit ? total - limit : 0;
  };
  const auto try_once = [&] {
    size_t excess, pinned_excess = 0;
    {
      const std::lock_guard lock(impl_->mutex);
      excess = beyond(impl_->limit, impl_->live, impl_->cached);
      if (pinned) pinned_excess = beyond(impl_->pinned_limit, impl_->pinned_live, impl_->pinned_cached);
      if (!excess && !pinned_excess) {
        impl_->add_live(bytes, home);
        return true;
      }
    }
    if (pinned_excess) trim(pinned_excess, true);
    if (excess) trim(excess);
    return false;
  };
  if (try_once() || try_once()) return true;
  ReleaseQueue::drain();  // unreferenced memory is live until then
  return try_once() || try_once();
}

Block Pool::obtain(size_t bytes, int home, uint16_t op) {
  if (!reserve(bytes, home)) return {};
  if (home < pinned_home) impl_->give_back_unasked(*this);
  Block block{nullptr, bytes, 0, int8_t(home), {}};
  const auto unreserve = [&] {
    const std::lock_guard lock(impl_->mutex);
    impl_->take_live(bytes, home);
  };
  runtime::Status status;
  try {
    status = obtain_once(bytes, home, op, &block.memory);
    if (status != success) {
      ReleaseQueue::drain();
      empty_cache();
      context_.synchronize_noexcept();  // frees happen in stream order
      if (context_.options().pool_policy == PoolPolicy::driver) trim_to(0, false);
      status = obtain_once(bytes, home, op, &block.memory);
    }
  } catch (...) {
    unreserve();
    throw;
  }
  if (status != success) {
    unreserve();
    return {};
  }
  const std::lock_guard lock(impl_->mutex);
  impl_->note_peak();
  return block;
}

runtime::Status Pool::obtain_once(size_t bytes, int home, uint16_t op, void** memory) {
  runtime::Runtime& runtime = context_.runtime();
  if (home == pinned_home) return runtime.allocate_pinned(bytes, memory, op);
  if (home == managed_home) return runtime.allocate_managed(bytes, memory, op);
  return context_.memory().allocate(bytes, context_.allocation_stream(home, op), memory, op);
}

}  // namespace stator
