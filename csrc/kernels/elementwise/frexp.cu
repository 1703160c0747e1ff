// Mantissas and exponents of two of floating-point numbers, by their bits.
#include "device/convert.cuh"
#include "device/group.cuh"
#include "device/math/elementary_core.cuh"
#include "device/math/math.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/elementwise/layout.cuh"

namespace stator::STATOR_TARGET::elementwise {
namespace {

struct FrexpTuning {
  static constexpr int block = 256;
  static constexpr int tile = by_target<1024, 16384>::value;  // elements per block
};

template <class T>
struct Fraction {
  T mantissa;
  int32_t exponent;
};

// Subnormal numbers are made normal first.
template <class T>
STATOR_FN Fraction<T> fraction_of(T x) {
  using F = libm::Format<T>;
  using B = libm::BitsOf<T>;
  constexpr B ones = 2 * F::bias + 1, field = ones << F::mantissa;
  constexpr int lift = F::mantissa + 2;
  const bool tiny = abs(x) < limits<T>::least_normal();
  const B bits = libm::bits(x * (tiny ? T(B(1) << lift) : T(1)));
  const T mantissa = libm::from_bits<T>((bits & ~field) | B(F::bias - 1) << F::mantissa);
  const int exponent = int(bits >> F::mantissa & ones) - (F::bias - 1) - (tiny ? lift : 0);
  const bool special = x == T(0) || !isfinite(x);
  return {special ? x : mantissa, special ? 0 : exponent};
}

// Fast host: neighbouring elements, in a loop that becomes vector instructions.
template <class T>
STATOR_FN void split_neighbours(const T* STATOR_RESTRICT x, T* STATOR_RESTRICT mantissas,
                                int32_t* STATOR_RESTRICT exponents, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const auto found = fraction_of(convert<opmath_t<T>>(x[i]));
    mantissas[i] = convert<T>(found.mantissa);
    exponents[i] = found.exponent;
  }
}

template <class T, int Size>
STATOR_KERNEL(Size) void frexp_kernel(Layout<2> layout, const T* x, T* mantissas, int32_t* exponents) {
  const Group<Size> group;
  const int64_t first = group.block() * FrexpTuning::tile, left = layout.size - first;
  const int64_t count = left < FrexpTuning::tile ? left : FrexpTuning::tile;
  const bool dense = is_row_major(layout, 1);
  if constexpr (fast_host)
    if (dense) return split_neighbours(x + first, mantissas + first, exponents + first, count);
  group.for_each(count, [&](int64_t i) {
    const int32_t linear[1] = {int32_t(first + i)};
    Items<int64_t, 1> at[2];
    at[1][0] = linear[0];
    if (!dense) layout.offsets(linear, at);
    const auto found = fraction_of(convert<opmath_t<T>>(x[at[1][0]]));
    mantissas[linear[0]] = convert<T>(found.mantissa);
    exponents[linear[0]] = found.exponent;
  });
}

void frexp(const params::Queue& q, const params::Elementwise& e, int32_t* exponents) {
  constexpr int block = FrexpTuning::block;
  visit(e.out.dtype, [&]<class T>(type_tag<T>) {
    if constexpr (in(dtype_of_v<T>, dtypes::floats))
      for_each_small_subspace(e, 0, [&](const params::Elementwise& part, int64_t position) {
        launch(q, "frexp", frexp_kernel<T, block>, {ceil_div(part.size, FrexpTuning::tile), block},
               make_layout<2>(part), static_cast<const T*>(part.in[0].data), static_cast<T*>(e.out.data) + position,
               exponents + position);
      });
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::elementwise

STATOR_LAUNCHER(elementwise, frexp)
