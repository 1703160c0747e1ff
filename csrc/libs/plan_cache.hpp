// The plans and tables of one stream, evicted in the order of their last use. Thread-safe, since other threads clear
// it. All caches of one kind share a limit and statistics.
#pragma once

#include "core/context.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace stator::libs {

class PlanCache;

// All caches of one kind in the process.
class PlanCaches {
 public:
  struct Info {
    uint64_t hits, misses, evictions;  // since the start of the process
    size_t plans, bytes, limit;        // the limit is for each cache
  };
  static PlanCaches& fft();
  static PlanCaches& matmul();  // the limit counts plans, not bytes

  explicit PlanCaches(size_t limit) : limit_(limit) {}
  Info info();
  void trim(size_t limit);
  void set_limit(size_t limit);

 private:
  friend class PlanCache;
  std::mutex mutex_;
  std::vector<PlanCache*> all_;
  std::atomic<uint64_t> hits_{0}, misses_{0}, evictions_{0};
  std::atomic<size_t> limit_;
};

class PlanCache {
 public:
  struct Entry {
    std::shared_ptr<const void> plan;
    size_t bytes = 0;  // of device memory, approximately; 1 if plans are counted
  };

  explicit PlanCache(PlanCaches& kind);
  ~PlanCache();
  PlanCache(const PlanCache&) = delete;

  // The plan for `key`, a plain value without padding; created at first use. Holders keep it alive after its eviction.
  template <class Plan, class Key>
  std::shared_ptr<const Plan> get(const Key& key, const std::function<Entry()>& make) {
    return std::static_pointer_cast<const Plan>(find({reinterpret_cast<const char*>(&key), sizeof key}, make));
  }
  void trim(size_t limit) noexcept;

 private:
  friend class PlanCaches;
  struct Item {
    std::string key;
    Entry entry;
  };
  std::shared_ptr<const void> find(std::string_view key, const std::function<Entry()>& make);

  PlanCaches& kind_;
  const uint32_t generation_;  // of the process: a child process does not use the plans of its parent
  std::mutex mutex_;
  std::list<Item> items_;  // newest first
  std::map<std::string_view, std::list<Item>::iterator> index_;
  size_t bytes_ = 0;
};

// The cache of transforms of the stream, leased for one enqueue.
std::shared_ptr<PlanCache> lease_plans(Context& context, StreamBox& stream);

// Device memory of a table, filled once and freed in the order of its stream.
class DeviceTable {
 public:
  DeviceTable(Context& context, StreamBox& stream, const void* data, size_t bytes, uint16_t op);
  ~DeviceTable();
  DeviceTable(const DeviceTable&) = delete;
  const char* data() const { return static_cast<const char*>(memory_); }
  size_t bytes() const { return bytes_; }

 private:
  Context& context_;
  StreamBox& stream_;
  void* memory_ = nullptr;
  size_t bytes_;
};

}  // namespace stator::libs
