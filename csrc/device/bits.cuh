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

// Calls f with a zero of the type that has `itemsize` bytes: 1, 2, 4, 8 or 16. For launchers, and for kernels for which
// an instance per size is not worth its code.
#if !defined(STATOR_HOST)
STATOR_PRAGMA(nv_exec_check_disable)  // f is host or device code as its caller is
#endif
template <class F>
STATOR_HD auto with_bits(int itemsize, const F& f) {
  switch (itemsize) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    case 8: return f(uint64_t{});
    default: return f(Bits128{});
  }
}

}  // namespace stator::STATOR_TARGET
