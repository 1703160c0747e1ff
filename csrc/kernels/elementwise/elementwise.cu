// The elementwise entries of ops.def. This file is compiled STATOR_SHARDS times, each time with every STATOR_SHARDS-th
// entry, which bounds the size of a translation unit. An op is a functor and an entry; this file does not name any.
#include "device/functors/activation.cuh"
#include "device/functors/activation_backward.cuh"
#include "device/functors/arithmetic.cuh"
#include "device/functors/bitwise.cuh"
#include "device/functors/comparison.cuh"
#include "device/functors/division.cuh"
#include "device/functors/hyperbolic.cuh"
#include "device/functors/logic.cuh"
#include "device/functors/math.cuh"
#include "device/functors/polynomials.cuh"
#include "device/functors/powers.cuh"
#include "device/functors/rounding.cuh"
#include "device/functors/selection.cuh"
#include "device/functors/special_bessel.cuh"
#include "device/functors/special_error.cuh"
#include "device/functors/special_gamma.cuh"
#include "device/functors/trigonometry.cuh"
#include "host/launcher.hpp"
#include "kernels/elementwise/elementwise.cuh"
#if STATOR_SHARD == 0
#include "kernels/elementwise/fixed_powers.cuh"
#endif

namespace stator::STATOR_TARGET::elementwise {
namespace {

using namespace stator::dtypes;

template <int Shard>
bool set_entries() {
#define STATOR_ENTRY(name, dts, result, inputs)                      \
  if constexpr (static_cast<int>(Op::name) % STATOR_SHARDS == Shard) \
    by_op[static_cast<int>(Op::name)] = elementwise<functors::name, (dts), ResultRule::result, inputs>;
#define STATOR_UNARY(name, dts, result, ...) STATOR_ENTRY(name, dts, result, 1)
#define STATOR_BINARY(name, dts, result, ...) STATOR_ENTRY(name, dts, result, 2)
#define STATOR_TERNARY(name, dts, result, ...) STATOR_ENTRY(name, dts, result, 3)
#define STATOR_QUATERNARY(name, dts, result, ...) STATOR_ENTRY(name, dts, result, 4)
#define STATOR_SELECT(name, dts, result, ...) STATOR_ENTRY(name, dts, result, 3)
#include <stator/ops.def>
#undef STATOR_ENTRY
  return true;
}
[[maybe_unused]] const bool are_set = set_entries<STATOR_SHARD>();

}  // namespace

#if STATOR_SHARD == 0
constinit ElementwiseFunction by_op[op_count] = {};

void run(const params::Queue& q, Op op, const params::Elementwise& e) {
  if (op == Op::pow && e.in[1].immediate && run_fixed_power(q, e)) return;
  by_op[static_cast<int>(op)](q, e);
}
#endif

}  // namespace stator::STATOR_TARGET::elementwise

#if STATOR_SHARD == 0
STATOR_LAUNCHER(elementwise, run)
#endif
