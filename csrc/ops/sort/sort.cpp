#include "params/sort.hpp"
#include "core/op_call.hpp"
#include "ops/sort/keys.hpp"

#include <stator/creation.hpp>
#include <stator/movement.hpp>
#include <stator/sort.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace stator {
namespace {

[[noreturn]] void refuse_rank(const OpCall& call, const char* name, int64_t value, int64_t least, int64_t most) {
  throw ValueError(std::string(call.name()), std::string(name) + "=" + std::to_string(value),
                   std::string(name) + " must be from " + std::to_string(least) + " to " + std::to_string(most));
}

}  // namespace

Array sort(const Array& x, const SortOptions& options, const Stream& stream) {
  OpCall call(Op::sort, {&x}, stream);
  check_order_dtype(call, x);
  const int axis = order_axis(call, x, options.axis);
  const Array result = call.empty(x.shape(), x.dtype());
  launch_sort(call, x, axis, options.descending, {0, x.shape()[axis]}, &result, nullptr);
  return result;
}

Array argsort(const Array& x, const SortOptions& options, const Stream& stream) {
  OpCall call(Op::argsort, {&x}, stream);
  check_order_dtype(call, x);
  const int axis = order_axis(call, x, options.axis);
  const Array result = call.empty(x.shape(), DType::int64);
  launch_sort(call, x, axis, options.descending, {0, x.shape()[axis]}, nullptr, &result);
  return result;
}

Ranked topk(const Array& x, int64_t k, int64_t axis, bool largest, const Stream& stream) {
  OpCall call(Op::topk, {&x}, stream);
  check_order_dtype(call, x);
  const int at = order_axis(call, x, axis);
  if (k < 0 || k > x.shape()[at]) refuse_rank(call, "k", k, 0, x.shape()[at]);
  const Dims shape = with_extent(x, at, k);
  const Ranked result{call.empty(shape, x.dtype()), call.empty(shape, DType::int64)};
  launch_sort(call, x, at, largest, {0, k}, &result.values, &result.indices);
  return result;
}

Ranked kthvalue(const Array& x, int64_t k, int64_t axis, bool keepdims, const Stream& stream) {
  OpCall call(Op::kthvalue, {&x}, stream);
  check_order_dtype(call, x);
  const int at = order_axis(call, x, axis);
  if (k < 1 || k > x.shape()[at]) refuse_rank(call, "k", k, 1, x.shape()[at]);
  const Dims shape = with_extent(x, at, 1);
  const Ranked kept{call.empty(shape, x.dtype()), call.empty(shape, DType::int64)};
  launch_sort(call, x, at, false, {k - 1, 1}, &kept.values, &kept.indices);
  if (keepdims) return kept;
  const std::vector<int64_t> dropped{at};
  return {squeeze(kept.values, dropped), squeeze(kept.indices, dropped)};
}

Array partition(const Array& x, std::span<const int64_t> kth, int64_t axis, const Stream& stream) {
  OpCall call(Op::partition, {&x}, stream);
  check_order_dtype(call, x);
  const int at = order_axis(call, x, axis);
  const int64_t n = x.shape()[at];
  std::vector<int64_t> ranks;
  for (int64_t k : kth) {
    if (k < -n || k >= n) refuse_rank(call, "kth", k, -n, n - 1);
    ranks.push_back(k < 0 ? k + n : k);
  }
  std::ranges::sort(ranks);
  ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
  if (ranks.size() > params::Sort::most_ranks) ranks.clear();  // then everything is sorted
  const Array result = call.empty(x.shape(), x.dtype());
  launch_sort(call, x, at, false, {0, n, ranks, true}, &result, nullptr);
  return result;
}

}  // namespace stator
