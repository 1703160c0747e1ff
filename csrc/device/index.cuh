// From a linear index to coordinates and offsets. Divisors are made by the launcher and travel in the parameters.
#pragma once

#include "device/target.cuh"

#include <cstdint>
#include <type_traits>

namespace stator::STATOR_TARGET {

template <class Int>
struct PlainDivmod {
  Int divisor = 1;

  PlainDivmod() = default;
  explicit PlainDivmod(Int d) : divisor(d) {}

  STATOR_FN Int divide(Int n) const { return n / divisor; }
  STATOR_FN Int divmod(Int n, Int& remainder) const {
    const Int quotient = n / divisor;
    remainder = n - quotient * divisor;
    return quotient;
  }
};

// The same for 0 <= n and 1 <= divisor by a multiplication and a shift (Granlund and Montgomery, PLDI 1994).
template <class Int>
struct MultipliedDivmod {
  using Word = std::make_unsigned_t<Int>;
  using Wide = std::conditional_t<sizeof(Int) == 4, uint64_t, unsigned __int128>;
  static constexpr int bits = 8 * sizeof(Int);

  Word divisor = 1, multiplier = 0;
  uint32_t shift = 0;

  MultipliedDivmod() = default;
  explicit MultipliedDivmod(Int d) : divisor(Word(d)) {
    while ((Word(1) << shift) < divisor) ++shift;
    multiplier = Word(((Wide(1) << bits) * ((Wide(1) << shift) - divisor)) / divisor + 1);
  }

  STATOR_FN static Word high_product(Word a, Word b) {
#if defined(STATOR_HOST)
    return Word(Wide(a) * b >> bits);
#else
    if constexpr (sizeof(Word) == 4)
      return __umulhi(a, b);
    else
      return __umul64hi(a, b);
#endif
  }
  STATOR_FN Int divide(Int n) const { return Int((high_product(Word(n), multiplier) + Word(n)) >> shift); }
  STATOR_FN Int divmod(Int n, Int& remainder) const {
    const Int quotient = divide(n);
    remainder = n - quotient * Int(divisor);
    return quotient;
  }
};

// By a constant of the launch. 64 bits cost a few times as much on cuda; on the fast host the hardware divides.
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

}  // namespace stator::STATOR_TARGET
