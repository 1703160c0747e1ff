#include "libs/plan_cache.hpp"

#include <stator/fft.hpp>
#include <stator/matmul.hpp>

#include <cstring>

namespace stator::libs {

// Never destroyed, because a backend may outlive static objects.
PlanCaches& PlanCaches::fft() {
  static PlanCaches* const caches = new PlanCaches(fft::default_cache_limit);
  return *caches;
}
PlanCaches& PlanCaches::matmul() {
  static PlanCaches* const caches = new PlanCaches(linalg::default_matmul_cache_limit);
  return *caches;
}

PlanCaches::Info PlanCaches::info() {
  Info info{.hits = hits_, .misses = misses_, .evictions = evictions_, .plans = 0, .bytes = 0, .limit = limit_};
  const std::lock_guard lock(mutex_);
  for (PlanCache* cache : all_) {
    const std::lock_guard inner(cache->mutex_);
    info.plans += cache->items_.size();
    info.bytes += cache->bytes_;
  }
  return info;
}
void PlanCaches::trim(size_t limit) {
  const std::lock_guard lock(mutex_);
  for (PlanCache* cache : all_) cache->trim(limit);
}
void PlanCaches::set_limit(size_t limit) {
  limit_ = limit;
  trim(limit);
}

PlanCache::PlanCache(PlanCaches& kind) : kind_(kind), generation_(process_generation()) {
  const std::lock_guard lock(kind_.mutex_);
  kind_.all_.push_back(this);
}

PlanCache::~PlanCache() {
  const std::lock_guard lock(kind_.mutex_);
  std::erase(kind_.all_, this);
}

void PlanCache::trim(size_t limit) noexcept {
  if (generation_ != process_generation()) return;
  std::list<Item> dropped;
  const std::lock_guard lock(mutex_);
  while (!items_.empty() && bytes_ > limit) {
    index_.erase(items_.back().key);
    bytes_ -= items_.back().entry.bytes;
    dropped.splice(dropped.begin(), items_, std::prev(items_.end()));
    kind_.evictions_.fetch_add(1, std::memory_order_relaxed);
  }
}

std::shared_ptr<const void> PlanCache::find(std::string_view key, const std::function<Entry()>& make) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = index_.find(key); found != index_.end()) {
      items_.splice(items_.begin(), items_, found->second);
      kind_.hits_.fetch_add(1, std::memory_order_relaxed);
      return found->second->entry.plan;
    }
  }
  kind_.misses_.fetch_add(1, std::memory_order_relaxed);
  const Entry made = make();
  {
    const std::lock_guard lock(mutex_);
    std::list<Item> fresh;  // in neither container unless it is in both
    fresh.push_front({std::string(key), made});
    index_.emplace(fresh.front().key, fresh.begin());
    items_.splice(items_.begin(), fresh);
    bytes_ += made.bytes;
  }
  trim(kind_.limit_);
  return made.plan;
}

std::shared_ptr<PlanCache> lease_plans(Context& context, StreamBox& stream) {
  return std::static_pointer_cast<PlanCache>(context.lease(
      "fft plans", stream,
      [](Context&, StreamBox&) -> std::shared_ptr<void> { return std::make_shared<PlanCache>(PlanCaches::fft()); }));
}

DeviceTable::DeviceTable(Context& context, StreamBox& stream, const void* data, size_t bytes, uint16_t op)
    : context_(context), stream_(stream), bytes_(bytes) {
  runtime::Runtime& runtime = context.runtime();
  const runtime::StreamHandle native = context.allocation_stream(stream.index(), op);
  if (context.memory().allocate(bytes, native, &memory_, op) != runtime::status::success) {
    context.synchronize_noexcept();
    context.pool().empty_cache();
    if (context.memory().allocate(bytes, native, &memory_, op) != runtime::status::success)
      throw context.pool().out_of_memory(bytes, op);
  }
  if (runtime.is_host()) {  // nothing in the queue uses fresh memory: no need to wait for the stream
    std::memcpy(memory_, data, bytes);
    return;
  }
  try {
    runtime.copy(memory_, data, bytes, runtime::CopyKind::host_to_device, native, {.op = op});
  } catch (...) {
    context.memory().free_noexcept(memory_, bytes, native);
    throw;
  }
}

DeviceTable::~DeviceTable() {
  context_.report("free", context_.memory().free_noexcept(memory_, bytes_, stream_.native()));
}

}  // namespace stator::libs

namespace stator::fft {

CacheInfo cache_info() {
  const libs::PlanCaches::Info i = libs::PlanCaches::fft().info();
  return {.hits = i.hits,
          .misses = i.misses,
          .evictions = i.evictions,
          .plans = i.plans,
          .bytes = i.bytes,
          .limit = i.limit};
}
void clear_cache() { libs::PlanCaches::fft().trim(0); }
void set_cache_limit(size_t bytes) { libs::PlanCaches::fft().set_limit(bytes); }

}  // namespace stator::fft

namespace stator::linalg {

MatmulCacheInfo matmul_cache_info() {
  const libs::PlanCaches::Info i = libs::PlanCaches::matmul().info();
  return {i.hits, i.misses, i.evictions, i.plans, i.limit};
}
void clear_matmul_cache() { libs::PlanCaches::matmul().trim(0); }
void set_matmul_cache_limit(size_t plans) { libs::PlanCaches::matmul().set_limit(plans); }

}  // namespace stator::linalg
