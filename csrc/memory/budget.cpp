#include "memory/budget.hpp"

namespace stator {

Charge::Charge(std::shared_ptr<Budget> budget, size_t bytes) : budget_(std::move(budget)), bytes_(bytes) {
  for (Budget* b = budget_.get(); b; b = b->around.get()) b->used.fetch_add(bytes_, std::memory_order_relaxed);
}

void Charge::end() noexcept {
  for (Budget* b = budget_.get(); b; b = b->around.get()) b->used.fetch_sub(bytes_, std::memory_order_relaxed);
  budget_.reset();
}

void Budgets::open(uint32_t scope, uint32_t around, std::string name, size_t limit) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Budget> outer = find(around);
  if (!limit && !outer) return;
  open_[scope] = std::shared_ptr<Budget>(new Budget{std::move(name), limit, std::move(outer)});
  any_.store(true, std::memory_order_relaxed);
}

void Budgets::close(uint32_t scope) noexcept {
  const std::lock_guard lock(mutex_);
  open_.erase(scope);
  any_.store(!open_.empty(), std::memory_order_relaxed);
}

std::shared_ptr<Budget> Budgets::find(uint32_t scope) const {
  const auto found = open_.find(scope);
  return found == open_.end() ? nullptr : found->second;
}

// Only charges of the same mutex add, so that two of them cannot pass a limit together.
Charge Budgets::charge(uint32_t scope, size_t bytes, std::shared_ptr<Budget>* full) {
  full->reset();
  if (!any()) [[likely]]
    return {};
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Budget> budget = find(scope);
  for (std::shared_ptr<Budget> b = budget; b; b = b->around) {
    const size_t used = b->used.load(std::memory_order_relaxed);
    if (!b->limit || (used <= b->limit && bytes <= b->limit - used)) continue;
    *full = std::move(b);
    return {};
  }
  return Charge(std::move(budget), bytes);
}

void Budgets::move(Charge& charge, uint32_t to) {
  const std::lock_guard lock(mutex_);
  if (charge) charge = Charge(find(to), charge.bytes_);
}

std::vector<uint32_t> Budgets::scopes_in(const Budget& budget) const {
  const std::lock_guard lock(mutex_);
  std::vector<uint32_t> scopes;
  for (const auto& [scope, inner] : open_) {
    const Budget* at = inner.get();
    while (at && at != &budget) at = at->around.get();
    if (at) scopes.push_back(scope);
  }
  return scopes;
}

}  // namespace stator
