#include "kernels/reduce/plan.cuh"
#include "kernels/reduce/shards.cuh"

#include <utility>

namespace stator::STATOR_COLUMN {
namespace {

// For whichever kernel the launcher takes.
kernels::ReductionNeeds needs(const abi::DeviceLimits& limits, const abi::Reduction& r) {
  kernels::ReductionNeeds needs{};
  for (const bool typed : {false, true}) {
    const ReductionPlan p = plan_reduction(limits, r, typed);
    needs.partial_bytes = std::max(needs.partial_bytes, p.partials() * most_accumulator_bytes);
    needs.counter_bytes = std::max<int64_t>(needs.counter_bytes, p.split() ? p.groups * int64_t(sizeof(uint32_t)) : 0);
  }
  return needs;
}

template <int... Shard>
void fill_shards(kernels::ReductionTable& table, std::integer_sequence<int, Shard...>) {
  (fill_reduction_shard<Shard>(table), ...);
}

}  // namespace

void fill(kernels::ReductionTable& table) {
  table.needs = needs;
  fill_shards(table, std::make_integer_sequence<int, STATOR_SHARDS>());
}

}  // namespace stator::STATOR_COLUMN
