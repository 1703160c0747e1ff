// What a pool does beside allocating where memory is short: whom it asks, what counts towards budgets, and the error.
#include "core/context.hpp"
#include "core/text.hpp"
#include "memory/pool/pool_impl.hpp"

#include <algorithm>

namespace stator {
namespace {

constexpr size_t named_owners = 3;

}  // namespace

MemoryHooks& Pool::hooks() const { return impl_->hooks; }
Budgets& Pool::budgets() const { return impl_->budgets; }

Charge Pool::charge(uint32_t scope, size_t bytes, uint16_t op) {
  std::shared_ptr<Budget> full;
  Charge charge = impl_->budgets.charge(scope, bytes, &full);
  if (!full) [[likely]]
    return charge;
  ReleaseQueue::drain();  // unreferenced memory counts until then
  for (int round = 0;; ++round) {
    charge = impl_->budgets.charge(scope, bytes, &full);
    if (!full) return charge;
    if (!impl_->hooks.ask(context_, bytes, round)) break;
    ReleaseQueue::drain();
  }
  {
    const std::lock_guard lock(impl_->mutex);
    ++impl_->allocations;
    ++impl_->failures;
  }
  const MemoryStats now = stats();
  const size_t used = full->used.load(std::memory_order_relaxed);
  const std::vector<uint32_t> scopes = impl_->budgets.scopes_in(*full);
  const std::vector<MemoryOwner> owners = context_.tracker().owners(named_owners, &scopes);
  throw OutOfMemoryError(op_text(op), {.requested = bytes,
                                       .free = full->limit - std::min(full->limit, used),
                                       .cached = now.cached_bytes,
                                       .limit = now.limit,
                                       .largest_owner = context_.tracker().largest_owner(),
                                       .owners = owners,
                                       .scope = full->name,
                                       .budget = full->limit,
                                       .in_budget = used});
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
  return OutOfMemoryError(op_text(op), {.requested = requested,
                                        .free = free,
                                        .cached = now.cached_bytes,
                                        .limit = now.limit,
                                        .largest_owner = context_.tracker().largest_owner(),
                                        .owners = context_.tracker().owners(named_owners)});
}

}  // namespace stator
