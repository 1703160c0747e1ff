// The policies driver and arena: what is done when the backend opens, and how the arena's memory is given and taken
// back.
#include "core/context.hpp"
#include "core/text.hpp"
#include "memory/pool/pool_impl.hpp"

#include <utility>

namespace stator {

using runtime::status::success;

void Pool::open_policy() {
  const BackendOptions& options = context_.options();
  if (options.pool_policy == PoolPolicy::driver)
    context_.runtime().pool_keep(options.memory_limit ? options.memory_limit : SIZE_MAX, call::open);
  if (options.pool_policy != PoolPolicy::arena) return;
  const size_t bytes = options.memory_pool_size / Region::step * Region::step;
  void* memory = nullptr;
  if (context_.memory().allocate(bytes, context_.opened_stream(0).own_handle(call::open), &memory, call::open) !=
      success)
    throw out_of_memory(bytes, call::open);
  try {
    impl_->region = std::make_shared<Region>(context_, memory, bytes);
  } catch (...) {
    if (!impl_->region) context_.report("free", context_.memory().free_noexcept(memory, bytes, nullptr));
    throw;
  }
  impl_->cached = bytes;
}

size_t Pool::rounded(size_t bytes, int home) const {
  return impl_->in_region(home) ? Region::rounded(bytes) : block_size(bytes);
}

// A captured stream cannot wait for the others: the host does. Where one of those is being captured too, there is no
// memory.
Block Pool::find_in_region(size_t bytes, int home, uint16_t op, bool again) {
  Block block;
  const auto take = [&] {
    const std::lock_guard lock(impl_->mutex);
    if (!again) {
      ++impl_->allocations;
      impl_->allocated_bytes += bytes;
    }
    again = true;
    if (impl_->region->take(bytes, &block)) impl_->from_cache(bytes, home);
  };
  take();
  if (!block.memory) {
    ReleaseQueue::drain();  // unreferenced memory is in use until then
    take();
  }
  if (!block.memory) return {};
  const auto put_back = [&] {
    {
      const std::lock_guard lock(impl_->mutex);
      impl_->take_live(bytes, home);
      --impl_->reuses;
    }
    give_to_region(std::move(block));
  };
  try {
    if (!context_.is_captured(home)) {
      if (settle(block, home, op)) return block;
    } else {
      const uint32_t users = context_.open_streams(block.unmarked | uint32_t(1) << block.home) & ~(uint32_t(1) << home);
      bool free = true;
      for (int i = 0; i < Backend::stream_limit; ++i)
        free = free && !(users >> i & 1 && context_.is_captured_itself(i));
      if (free) {
        context_.synchronize_noexcept(users);
        return {block.memory, bytes, 0, int8_t(home), {}};
      }
    }
  } catch (...) {
    put_back();
    throw;
  }
  put_back();
  return {};
}

// Blocks of the region have no events: its home stream waits for them, else the host does.
void Pool::give_to_region(Block&& block) noexcept {
  const runtime::StreamHandle stream = context_.native_stream(block.home);
  while (!block.events.empty() && stream && !context_.is_captured_itself(block.home) &&
         context_.runtime().stream_wait_noexcept(stream, block.events.back()) == success) {
    keep_event(block.events.back());
    block.events.pop_back();
  }
  if (!block.events.empty()) finish(block);
  const std::lock_guard lock(impl_->mutex);
  impl_->to_region(block);
}

void Pool::take_back(void* memory, size_t bytes) noexcept {
  context_.report("device_synchronize", context_.runtime().device_synchronize_noexcept());
  const std::lock_guard lock(impl_->mutex);
  if (impl_->region) impl_->to_region({memory, bytes, 0, 0, {}});
}

}  // namespace stator
