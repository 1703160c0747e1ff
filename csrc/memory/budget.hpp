// Budgets of scopes: how many bytes what a scope makes may have at once. What counts is a Charge, held by whatever has
// the memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace stator {

struct Budget {
  const std::string name;  // of the scope, for errors
  const size_t limit;      // 0: none of its own, as of a scope inside of one that has a budget
  const std::shared_ptr<Budget> around;
  std::atomic<size_t> used{0};
};

// Bytes that count towards a budget and those around it, for as long as it lives.
class Charge {
 public:
  Charge() = default;
  Charge(Charge&& other) noexcept : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, 0)) {}
  Charge& operator=(Charge&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Charge() { end(); }
  void end() noexcept;
  explicit operator bool() const { return budget_ != nullptr; }

 private:
  friend class Budgets;
  Charge(std::shared_ptr<Budget> budget, size_t bytes);
  std::shared_ptr<Budget> budget_;
  size_t bytes_ = 0;
};

// The budgets of a context's scopes. Thread-safe; where there are none it costs a load.
class Budgets {
 public:
  // Nothing for a scope without a limit whose scope around has no budget either.
  void open(uint32_t scope, uint32_t around, std::string name, size_t limit);
  void close(uint32_t scope) noexcept;
  bool any() const { return any_.load(std::memory_order_relaxed); }

  // An empty Charge for a scope without a budget; with `full` set, where the bytes do not fit into that one.
  Charge charge(uint32_t scope, size_t bytes, std::shared_ptr<Budget>* full);
  // To what another scope may use, even beyond its limit.
  void move(Charge& charge, uint32_t to);
  std::vector<uint32_t> scopes_in(const Budget& budget) const;  // that count towards it

 private:
  std::shared_ptr<Budget> find(uint32_t scope) const;
  mutable std::mutex mutex_;
  std::atomic<bool> any_{false};
  std::map<uint32_t, std::shared_ptr<Budget>> open_;
};

}  // namespace stator
