// Allocation. take() looks for a cached block, first in the list of the stream, then in those of the others; settle()
// orders the stream after what still uses the block; obtain() asks the runtime, and empties the cache where that fails.
#include "core/capture.hpp"
#include "core/context.hpp"
#include "core/memory/pool_impl.hpp"
#include "core/text.hpp"

namespace stator {

using runtime::status::success;

Pool::Pool(Context& context)
    : Box(BoxKind::pool, &context, context.tracker(), no_op, Hold::part_of),
      context_(context),
      impl_(std::make_unique<Impl>()) {
  impl_->limit = context.options().memory_limit;
  set_native(this);
}

Pool::~Pool() { dispose(); }

std::unique_ptr<Buffer> Pool::make(Buffer::Source source, size_t bytes, int home, uint16_t op) {
  if (impl_->has_owners.load(std::memory_order_relaxed)) poll_foreign();
  std::unique_ptr<Buffer> buffer(new Buffer(context_, source, bytes, op));
  const bool shared = source == Buffer::Source::pool;
  const std::shared_ptr<GraphCapture> capture = shared ? context_.opened_stream(home).capture() : nullptr;
  const Block block = capture ? capture->arena->take(block_size(bytes), home, op, &buffer->allocation_)
                              : take(block_size(bytes), home, op);
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
  const bool captured = home < pinned_home && context_.is_captured(home);  // so that it cannot wait
  {
    const std::lock_guard lock(impl_->mutex);
    ++impl_->allocations;
    impl_->allocated_bytes += bytes;
    bool found = impl_->lists[home].pop(bytes, captured, &block);
    for (int other = 0; !found && !captured && home < pinned_home && other < pinned_home; ++other) {
      found = other != home && impl_->lists[other].pop(bytes, false, &block);
    }
    if (found) {
      impl_->cached -= block.bytes;
      impl_->to_live(block.bytes);
      ++impl_->reuses;
    }
  }
  if (!block.memory) return obtain(bytes, home, op);
  if (block.home == home && block.ready()) [[likely]]
    return block;
  const auto put_back = [&] {
    {
      const std::lock_guard lock(impl_->mutex);
      impl_->live -= block.bytes;
      --impl_->reuses;
    }
    keep(std::move(block));
  };
  try {
    if (settle(block, home, op)) return block;
  } catch (...) {
    put_back();
    const std::lock_guard lock(impl_->mutex);
    impl_->failed(bytes);
    throw;
  }
  put_back();
  return obtain(bytes, home, op);
}

void Pool::lend(const Block& block, size_t bytes, uint16_t op) {
  if (block.home < pinned_home && context_.memory().lends()) [[unlikely]]
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

Block Pool::obtain(size_t bytes, int home, uint16_t op) {
  const auto reserve = [&]() -> size_t {  // 0, or the bytes beyond the limit
    const std::lock_guard lock(impl_->mutex);
    const size_t total = impl_->live + impl_->cached + bytes;
    if (impl_->limit && total > impl_->limit) return total - impl_->limit;
    impl_->live += bytes;
    return 0;
  };
  const auto failed = [&](bool reserved) {
    const std::lock_guard lock(impl_->mutex);
    if (reserved) impl_->live -= bytes;
    impl_->failed(bytes);
  };
  if (const size_t excess = reserve()) {
    trim(excess);
    if (reserve()) {
      failed(false);
      throw out_of_memory(bytes, op);
    }
  }
  Block block{nullptr, bytes, 0, int8_t(home), {}};
  runtime::Status status;
  try {
    status = obtain_once(bytes, home, op, &block.memory);
    if (status != success) {
      ReleaseQueue::drain();
      empty_cache();
      context_.synchronize_noexcept();  // frees happen in stream order
      status = obtain_once(bytes, home, op, &block.memory);
    }
  } catch (...) {
    failed(true);
    throw;
  }
  if (status != success) {
    failed(true);
    throw out_of_memory(bytes, op);
  }
  const std::lock_guard lock(impl_->mutex);
  impl_->peak = std::max(impl_->peak, impl_->live);
  return block;
}

runtime::Status Pool::obtain_once(size_t bytes, int home, uint16_t op, void** memory) {
  runtime::Runtime& runtime = context_.runtime();
  if (home == pinned_home) return runtime.allocate_pinned(bytes, memory, op);
  if (home == managed_home) return runtime.allocate_managed(bytes, memory, op);
  return context_.memory().allocate(bytes, context_.allocation_stream(home, op), memory, op);
}

OutOfMemoryError Pool::out_of_memory(size_t requested, uint16_t op) const {
  const MemoryStats now = stats();
  size_t free = 0, total = 0;
  try {
    context_.runtime().memory_info(&free, &total);
  } catch (const Error&) {
    free = 0;  // the figure only makes the message better
  }
  if (now.limit) free = std::min(free, now.limit - std::min(now.limit, now.live_bytes + now.cached_bytes));
  return OutOfMemoryError(op_text(op),
                          {requested, free, now.cached_bytes, now.limit, context_.tracker().largest_owner()});
}

MemoryStats Pool::stats() const {
  const std::lock_guard lock(impl_->mutex);
  return {.live_bytes = impl_->live,
          .cached_bytes = impl_->cached,
          .peak_bytes = impl_->peak,
          .limit = impl_->limit,
          .exported_bytes = impl_->exported.load(),
          .allocations = impl_->allocations,
          .reuses = impl_->reuses,
          .deallocations = impl_->deallocations,
          .failures = impl_->failures,
          .allocated_bytes = impl_->allocated_bytes};
}

void Pool::set_limit(size_t bytes, uint16_t op) {
  size_t excess = 0;
  {
    const std::lock_guard lock(impl_->mutex);
    if (bytes && bytes < impl_->live)
      throw ValueError(
          op_text(op),
          "a memory limit of " + std::to_string(bytes) + " bytes, where " + std::to_string(impl_->live) + " are in use",
          "Release arrays first, or set a higher limit");
    impl_->limit = bytes;
    const size_t total = impl_->live + impl_->cached;
    if (bytes && total > bytes) excess = total - bytes;
  }
  trim(excess);
}

}  // namespace stator
