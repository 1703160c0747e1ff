// From a linear index to coordinates and offsets. Divisors are made by the launcher and travel in the parameters.
#pragma once

#include "device/column.cuh"

namespace stator::STATOR_COLUMN {

// Division by a constant of the launch, exact for 0 <= n < 2^31 and 1 <= divisor < 2^31: a multiplication and a shift
// (Granlund and Montgomery, PLDI 1994). On host the hardware divides.
struct FastDivmod {
  uint32_t divisor = 1, multiplier = 0, shift = 0;

  FastDivmod() = default;
  explicit FastDivmod(int32_t d) : divisor(uint32_t(d)) {
    while ((uint64_t(1) << shift) < divisor) ++shift;
    multiplier = uint32_t(((uint64_t(1) << 32) * ((uint64_t(1) << shift) - divisor)) / divisor + 1);
  }

  STATOR_FN int32_t divide(int32_t n) const {
#if defined(STATOR_HOST)
    return int32_t(uint32_t(n) / divisor);
#else
    return int32_t((__umulhi(uint32_t(n), multiplier) + uint32_t(n)) >> shift);
#endif
  }
  STATOR_FN int32_t divmod(int32_t n, int32_t& remainder) const {
    const int32_t quotient = divide(n);
    remainder = n - quotient * int32_t(divisor);
    return quotient;
  }
};

// The same for 0 <= n < 2^63 and 1 <= divisor < 2^63, at a few times the cost on cuda.
struct FastDivmod64 {
  uint64_t divisor = 1, multiplier = 0;
  uint32_t shift = 0;

  FastDivmod64() = default;
  explicit FastDivmod64(int64_t d) : divisor(uint64_t(d)) {
    using Wide = unsigned __int128;
    while ((uint64_t(1) << shift) < divisor) ++shift;
    multiplier = uint64_t(((Wide(1) << 64) * ((Wide(1) << shift) - divisor)) / divisor + 1);
  }

  STATOR_FN int64_t divmod(int64_t n, int64_t& remainder) const {
#if defined(STATOR_HOST)
    const uint64_t high = uint64_t((unsigned __int128)(n)*multiplier >> 64);
#else
    const uint64_t high = __umul64hi(uint64_t(n), multiplier);
#endif
    const int64_t quotient = int64_t((high + uint64_t(n)) >> shift);
    remainder = n - quotient * int64_t(divisor);
    return quotient;
  }
};

struct PlainDivmod {
  int64_t divisor = 1;

  PlainDivmod() = default;
  explicit PlainDivmod(int64_t d) : divisor(d) {}

  STATOR_FN int64_t divide(int64_t n) const { return n / divisor; }
  STATOR_FN int64_t divmod(int64_t n, int64_t& remainder) const {
    const int64_t quotient = n / divisor;
    remainder = n - quotient * divisor;
    return quotient;
  }
};

// IndexMath<int32_t> only where the launcher proved that every index and offset fits.
template <class I>
struct IndexMath;
template <>
struct IndexMath<int32_t> {
  using Divisor = FastDivmod;
};
template <>
struct IndexMath<int64_t> {
  using Divisor = PlainDivmod;
};
template <class I>
using Divisor = typename IndexMath<I>::Divisor;

// Offset of the element at `linear` in row-major order of `shape`, in elements.
template <class I>
STATOR_FN I offset_of(I linear, int ndim, const Divisor<I>* shape, const I* strides) {
  I offset = 0;
  for (int d = ndim - 1; d > 0; --d) {
    I coordinate;
    linear = shape[d].divmod(linear, coordinate);
    offset += coordinate * strides[d];
  }
  return ndim > 0 ? offset + linear * strides[0] : offset;
}

STATOR_FN int64_t offset_of(int64_t linear, int ndim, const int64_t* shape, const int64_t* strides) {
  int64_t offset = 0;
  for (int d = ndim - 1; d > 0; --d) {
    const int64_t rest = linear / shape[d];
    offset += (linear - rest * shape[d]) * strides[d];
    linear = rest;
  }
  return ndim > 0 ? offset + linear * strides[0] : offset;
}

}  // namespace stator::STATOR_COLUMN
