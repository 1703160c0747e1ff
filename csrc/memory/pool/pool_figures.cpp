// What a pool says of itself, and the limits that can change.
#include "core/context.hpp"
#include "core/text.hpp"
#include "memory/pool/pool_impl.hpp"

#include <algorithm>

namespace stator {

size_t Pool::driver_cached() const noexcept {
  return context_.options().pool_policy == PoolPolicy::driver ? context_.runtime().pool_free_bytes() : 0;
}

MemoryStats Pool::stats() const {
  const bool by_driver = context_.options().pool_policy == PoolPolicy::driver && !context_.runtime().is_host();
  const size_t driver = driver_cached();
  const std::lock_guard lock(impl_->mutex);
  size_t largest = impl_->region ? impl_->region->largest() : 0;
  for (int home = 0; home < pinned_home; ++home) largest = std::max(largest, impl_->lists[home].largest());
  return {.live_bytes = impl_->live,
          .cached_bytes = impl_->cached + driver,
          .peak_bytes = impl_->peak,
          .limit = impl_->limit,
          .exported_bytes = impl_->exported.load(),
          .allocations = impl_->allocations,
          .reuses = impl_->reuses,
          .deallocations = impl_->deallocations,
          .failures = impl_->failures,
          .allocated_bytes = impl_->allocated_bytes,
          .pinned_live_bytes = impl_->pinned_live,
          .pinned_cached_bytes = impl_->pinned_cached,
          .pinned_limit = impl_->pinned_limit,
          .largest_cached_bytes = by_driver ? -1 : int64_t(largest)};
}

void Pool::reset_peak() {
  const std::lock_guard lock(impl_->mutex);
  impl_->peak = impl_->live;
}

// The reservation of the arena is not freed, and the driver's pool keeps its own.
size_t Pool::trim_to(size_t keep, bool pinned) noexcept {
  size_t cached;
  {
    const std::lock_guard lock(impl_->mutex);
    cached = pinned || impl_->region ? impl_->pinned_cached : impl_->cached;
  }
  const size_t driver = pinned ? 0 : driver_cached();
  const size_t freed = cached + driver > keep ? trim(cached + driver - keep, pinned) : 0;
  const size_t left = cached - std::min(cached, freed);
  if (driver + left <= keep) return freed;
  const size_t kept = keep - std::min(keep, left);
  context_.report("pool_trim", context_.runtime().pool_trim_noexcept(context_.options().memory_pool_size, kept));
  return freed + driver - std::min(driver, driver_cached());
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
  if (context_.options().pool_policy == PoolPolicy::driver) context_.runtime().pool_keep(bytes ? bytes : SIZE_MAX, op);
}

}  // namespace stator
