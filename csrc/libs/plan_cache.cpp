#include "libs/plan_cache.hpp"

#include <stator/fft.hpp>

#include <atomic>
#include <cstring>
#include <vector>

namespace stator::libs {

// All caches of the process, for the figures. Never destroyed: a backend may outlive static objects.
struct PlanCaches {
  std::mutex mutex;
  std::vector<PlanCache*> all;
  std::atomic<uint64_t> hits{0}, misses{0}, evictions{0};
  std::atomic<size_t> limit{fft::default_cache_limit};

  static PlanCaches& instance() {
    static PlanCaches* const caches = new PlanCaches;
    return *caches;
  }
  fft::CacheInfo info() {
    fft::CacheInfo info{hits, misses, evictions, 0, 0, limit};
    const std::lock_guard lock(mutex);
    for (PlanCache* cache : all) {
      const std::lock_guard inner(cache->mutex_);
      info.plans += cache->items_.size();
      info.bytes += cache->bytes_;
    }
    return info;
  }
  void trim(size_t bytes) {
    const std::lock_guard lock(mutex);
    for (PlanCache* cache : all) cache->trim(bytes);
  }
};

PlanCache::PlanCache() : generation_(process_generation()) {
  PlanCaches& caches = PlanCaches::instance();
  const std::lock_guard lock(caches.mutex);
  caches.all.push_back(this);
}

PlanCache::~PlanCache() {
  PlanCaches& caches = PlanCaches::instance();
  const std::lock_guard lock(caches.mutex);
  std::erase(caches.all, this);
}

void PlanCache::trim(size_t limit) noexcept {
  if (generation_ != process_generation()) return;
  std::list<Item> dropped;
  const std::lock_guard lock(mutex_);
  while (!items_.empty() && bytes_ > limit) {
    places_.erase(items_.back().key);
    bytes_ -= items_.back().entry.bytes;
    dropped.splice(dropped.begin(), items_, std::prev(items_.end()));
    PlanCaches::instance().evictions.fetch_add(1, std::memory_order_relaxed);
  }
}

std::shared_ptr<const void> PlanCache::find(std::string_view key, const std::function<Entry()>& make) {
  PlanCaches& caches = PlanCaches::instance();
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = places_.find(key); found != places_.end()) {
      items_.splice(items_.begin(), items_, found->second);
      caches.hits.fetch_add(1, std::memory_order_relaxed);
      return found->second->entry.plan;
    }
  }
  caches.misses.fetch_add(1, std::memory_order_relaxed);
  const Entry made = make();
  {
    const std::lock_guard lock(mutex_);
    items_.push_front({std::string(key), made});
    places_.emplace(items_.front().key, items_.begin());
    bytes_ += made.bytes;
  }
  trim(caches.limit);
  return made.plan;
}

std::shared_ptr<PlanCache> lease_plans(Context& context, StreamBox& stream) {
  return std::static_pointer_cast<PlanCache>(
      context.lease("fft plans", stream,
                    [](Context&, StreamBox&) -> std::shared_ptr<void> { return std::make_shared<PlanCache>(); }));
}

DeviceTable::DeviceTable(Context& context, StreamBox& stream, const void* data, size_t bytes, uint16_t op)
    : context_(context), stream_(stream), bytes_(bytes) {
  runtime::Runtime& runtime = context.runtime();
  const runtime::StreamHandle native = stream.handle(op);
  if (runtime.allocate(bytes, native, &memory_) != runtime::status::success) {
    context.synchronize_noexcept();
    context.pool().empty_cache();
    if (runtime.allocate(bytes, native, &memory_) != runtime::status::success)
      throw context.pool().out_of_memory(bytes, op);
  }
  if (runtime.is_host()) {  // fresh memory that nothing queued knows: no need to wait for the stream
    std::memcpy(memory_, data, bytes);
    return;
  }
  try {
    runtime.copy(memory_, data, bytes, runtime::CopyKind::host_to_device, native, {.op = op});
  } catch (...) {
    runtime.free_noexcept(memory_, bytes, native);
    throw;
  }
}

DeviceTable::~DeviceTable() {
  context_.report("free", context_.runtime().free_noexcept(memory_, bytes_, stream_.native()));
}

}  // namespace stator::libs

namespace stator::fft {

CacheInfo cache_info() { return libs::PlanCaches::instance().info(); }
void clear_cache() { libs::PlanCaches::instance().trim(0); }
void set_cache_limit(size_t bytes) {
  libs::PlanCaches::instance().limit = bytes;
  libs::PlanCaches::instance().trim(bytes);
}

}  // namespace stator::fft
