// The elementwise rows of ops.def: this file is compiled STATOR_SHARDS times, each time with every STATOR_SHARDS-th
// row, so that no unit grows without bound. An op is a functor and a row; nothing here names one.
#include "kernels/elementwise/elementwise.cuh"
#include "kernels/elementwise/functors/activation.cuh"
#include "kernels/elementwise/functors/activation_backward.cuh"
#include "kernels/elementwise/functors/arithmetic.cuh"
#include "kernels/elementwise/functors/bitwise.cuh"
#include "kernels/elementwise/functors/comparison.cuh"
#include "kernels/elementwise/functors/division.cuh"
#include "kernels/elementwise/functors/hyperbolic.cuh"
#include "kernels/elementwise/functors/logic.cuh"
#include "kernels/elementwise/functors/math.cuh"
#include "kernels/elementwise/functors/polynomials.cuh"
#include "kernels/elementwise/functors/powers.cuh"
#include "kernels/elementwise/functors/rounding.cuh"
#include "kernels/elementwise/functors/selection.cuh"
#include "kernels/elementwise/functors/special_bessel.cuh"
#include "kernels/elementwise/functors/special_error.cuh"
#include "kernels/elementwise/functors/special_gamma.cuh"
#include "kernels/elementwise/functors/trigonometry.cuh"

namespace stator::STATOR_COLUMN {
namespace {

using namespace stator::dtypes;

template <int Shard>
void fill_rows(kernels::ElementwiseTable& table) {
#define STATOR_FILL(name, dts, result, inputs)                       \
  if constexpr (static_cast<int>(Op::name) % STATOR_SHARDS == Shard) \
    table.op[static_cast<int>(Op::name)] = elementwise<functors::name, (dts), ResultRule::result, inputs>;
#define STATOR_FILL_unary(name, dts, result) STATOR_FILL(name, dts, result, 1)
#define STATOR_FILL_binary(name, dts, result) STATOR_FILL(name, dts, result, 2)
#define STATOR_FILL_ternary(name, dts, result) STATOR_FILL(name, dts, result, 3)
#define STATOR_FILL_quaternary(name, dts, result) STATOR_FILL(name, dts, result, 4)
#define STATOR_FILL_select STATOR_FILL_ternary
#define STATOR_FILL_creation(...)
#define STATOR_FILL_reduce(...)
#define STATOR_FILL_view(...)
#define STATOR_FILL_other(...)
#define STATOR_FILL_method(...)
#define OP(name, call, shape_class, dts, result, ...) STATOR_FILL_##shape_class(name, dts, result)
#include <stator/ops.def>
}

}  // namespace

// Each shard calls the next, so that only the build knows how many there are.
void fill_elementwise_shard(std::integral_constant<int, STATOR_SHARD + 1>, kernels::ElementwiseTable&);

void fill_elementwise_shard(std::integral_constant<int, STATOR_SHARD>, kernels::ElementwiseTable& table) {
  fill_rows<STATOR_SHARD>(table);
  if constexpr (STATOR_SHARD + 1 < STATOR_SHARDS)
    fill_elementwise_shard(std::integral_constant<int, STATOR_SHARD + 1>{}, table);
}

}  // namespace stator::STATOR_COLUMN
