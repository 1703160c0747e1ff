// Types that move the bits of items: kernels that do not interpret values are compiled for five item sizes instead of
// for every dtype.
#pragma once

#include "target.cuh"

#include <stator/export.hpp>

namespace stator::STATOR_TARGET {

// The number of set bits.
STATOR_FN int count_bits(uint32_t v) {
#if !defined(STATOR_HOST)
  return __popc(v);
#else
  return __builtin_popcount(v);
#endif
}

struct alignas(16) Bits128 {
  uint64_t a, b;
};

template <int Size, int... Sizes>
inline constexpr bool is_one_of = sizeof...(Sizes) == 0 || ((Size == Sizes) || ...);

// Calls f with a zero of the type that has `itemsize` bytes, which must be one of Sizes; without Sizes 1, 2, 4, 8
// or 16. On the host any other size aborts. For launchers, and for kernels where an instance per size is not worth it.
#if !defined(STATOR_HOST)
STATOR_PRAGMA(nv_exec_check_disable)  // f is host or device code as its caller is
#endif
template <int... Sizes, class F>
STATOR_HD auto with_bits(int itemsize, const F& f) {
  switch (itemsize) {
#define STATOR_CASE(size, Bits)                                \
  case size:                                                   \
    if constexpr (is_one_of<size, Sizes...>) return f(Bits{}); \
    break;
    STATOR_CASE(1, uint8_t)
    STATOR_CASE(2, uint16_t)
    STATOR_CASE(4, uint32_t)
    STATOR_CASE(8, uint64_t)
    STATOR_CASE(16, Bits128)
#undef STATOR_CASE
  }
  outside_set();
}

}  // namespace stator::STATOR_TARGET
