// From a linear index to coordinates and offsets. The launcher prepares the divisors, which are kernel parameters.
#pragma once

#include "target.cuh"

#include <stator/device/params.hpp>

namespace stator::STATOR_TARGET {

STATOR_HD int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

template <class Int>
struct PlainDivmod {
  Int divisor = 1;

  PlainDivmod() = default;
  STATOR_HD explicit PlainDivmod(Int d) : divisor(d) {}

  STATOR_FN Int divide(Int n) const { return n / divisor; }
  STATOR_FN Int divmod(Int n, Int& remainder) const {
    const Int quotient = n / divisor;
    remainder = n - quotient * divisor;
    return quotient;
  }
};

// The same for n >= 0 and divisor >= 1, by a multiplication and a shift (Granlund and Montgomery, PLDI 1994).
template <class Int>
struct MultipliedDivmod {
  using Unsigned = std::make_unsigned_t<Int>;
  using Wide = std::conditional_t<sizeof(Int) == 4, uint64_t, unsigned __int128>;
  static constexpr int bits = 8 * sizeof(Int);

  Unsigned divisor = 1, multiplier = 0;
  uint32_t shift = 0;

  MultipliedDivmod() = default;
  STATOR_HD explicit MultipliedDivmod(Int d) : divisor(Unsigned(d)) {
    while ((Unsigned(1) << shift) < divisor) ++shift;
    multiplier = Unsigned(((Wide(1) << bits) * ((Wide(1) << shift) - divisor)) / divisor + 1);
  }

  STATOR_FN static Unsigned high_product(Unsigned a, Unsigned b) {
#if defined(STATOR_HOST)
    return Unsigned(Wide(a) * b >> bits);
#else
    if constexpr (sizeof(Unsigned) == 4)
      return __umulhi(a, b);
    else
      return __umul64hi(a, b);
#endif
  }
  STATOR_FN Int divide(Int n) const { return Int((high_product(Unsigned(n), multiplier) + Unsigned(n)) >> shift); }
  STATOR_FN Int divmod(Int n, Int& remainder) const {
    const Int quotient = divide(n);
    remainder = n - quotient * Int(divisor);
    return quotient;
  }
};

// Division by a constant of the launch. 64 bits cost a few times as much as 32 on cuda; the fast host divides in
// hardware.
template <class Int>
using LaunchDivmod = std::conditional_t<fast_host, PlainDivmod<Int>, MultipliedDivmod<Int>>;
using FastDivmod = LaunchDivmod<int32_t>;
using FastDivmod64 = LaunchDivmod<int64_t>;

// Offset of the element at `linear` in row-major order of `shape`, in elements.
STATOR_FN int64_t offset_of(int64_t linear, int ndim, const int64_t* shape, const int64_t* strides) {
  int64_t offset = 0;
  for (int d = ndim - 1; d > 0; --d) {
    const int64_t rest = linear / shape[d];
    offset += (linear - rest * shape[d]) * strides[d];
    linear = rest;
  }
  return ndim > 0 ? offset + linear * strides[0] : offset;
}

// The extents of a shape as divisors, for kernels that divide for each element.
struct ShapeDivisors {
  FastDivmod64 extent[params::max_dims];

  STATOR_HD ShapeDivisors(int ndim, const int64_t* shape) {
    for (int d = 1; d < ndim; ++d) extent[d] = FastDivmod64(shape[d] > 1 ? shape[d] : 1);
  }
  STATOR_FN int64_t operator()(int d, int64_t n, int64_t& rest) const { return extent[d].divmod(n, rest); }

  // As the function offset_of. The loop is not unrolled, because it would be most of a kernel's code.
  STATOR_FN int64_t offset_of(int64_t linear, int ndim, const int64_t* strides) const {
    int64_t offset = 0;
    STATOR_UNROLL(1)
    for (int d = ndim - 1; d >= 0; --d) {
      int64_t coordinate = linear;
      if (d > 0) linear = extent[d].divmod(linear, coordinate);
      offset += coordinate * strides[d];
    }
    return offset;
  }
};

// Whether an array is contiguous in row-major order.
STATOR_FN bool is_row_major(int ndim, const int64_t* shape, const int64_t* strides) {
  int64_t expected = 1;
  for (int d = ndim - 1; d >= 0; --d) {
    if (shape[d] != 1 && strides[d] != expected) return false;
    expected *= shape[d];
  }
  return true;
}

}  // namespace stator::STATOR_TARGET
