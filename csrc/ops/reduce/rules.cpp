#include "ops/reduce/rules.hpp"

#include "params/reduce.hpp"

#include <stator/error.hpp>

#include <string>

namespace stator {
namespace {

constexpr ReductionRule find_rule(Op op, DType in, double parameter, bool masked) {
  using enum kernels::reduce::Reducer;
  using params::Finish;
  switch (op) {
    case Op::sum: return {in == DType::bool_ ? count : sum, {}};
    case Op::nansum: return {sum, {.skip_nan = true}};
    // The number of elements that a mean divides by is known beforehand only if there is no mask.
    case Op::mean: return {masked ? moments : sum, {.finish = Finish::mean}};
    case Op::nanmean: return {moments, {.finish = Finish::mean, .skip_nan = true}};
    case Op::prod: return {product, {}};
    case Op::var: return {moments, {.finish = Finish::variance, .parameter = parameter}};
    case Op::std: return {moments, {.finish = Finish::deviation, .parameter = parameter}};
    case Op::max: return {extreme, {}, masked};
    case Op::min: return {extreme, {.smallest = true}, masked};
    case Op::nanmax: return {extreme, {.skip_nan = true}, false};
    case Op::nanmin: return {extreme, {.smallest = true, .skip_nan = true}, false};
    case Op::argmax: return {position, {}, false};
    case Op::argmin: return {position, {.smallest = true}, false};
    case Op::count_nonzero: return {count, {}};
    case Op::any: return {count, {.finish = Finish::any}};
    case Op::all: return {count, {.finish = Finish::none, .zeros = true}};
    case Op::has_inf_nan: return {count, {.finish = Finish::any, .nonfinite = true}};
    case Op::vector_norm:
      return {parameter == 2 ? euclidean : norm, {.parameter = parameter}, parameter >= 0 && parameter < 1e308};
    case Op::logsumexp: return {logsumexp, {}};
    default:
      throw ValueError(std::string(op_info(op).call), "got an op that is not a reduction",
                       "call one of the reductions");
  }
}

// Every REDUCE entry of the op table has a rule: here the throw of the default would be a compile-time error.
#define STATOR_REDUCE(name, ...) static_assert((find_rule(Op::name, DType::float32, 0, false), true));
#include <stator/ops.def>

}  // namespace

ReductionRule reduction_rule(Op op, DType in, double parameter, bool masked) {
  return find_rule(op, in, parameter, masked);
}

}  // namespace stator
