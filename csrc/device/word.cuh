// Words that items of one size move in: what does not look at values is compiled for five sizes, not for every dtype.
#pragma once

#include "device/target.cuh"

#include <stator/export.hpp>

#include <cstdint>

namespace stator::STATOR_TARGET {

struct alignas(16) Word16 {
  uint64_t a, b;
};

// f(a word of `itemsize` bytes): 1, 2, 4, 8 or 16. In launchers, and in kernels where one for each size is not worth
// it.
#if !defined(STATOR_HOST)
STATOR_PRAGMA(nv_exec_check_disable)  // f is of the caller's side
#endif
template <class F>
STATOR_HD auto with_word(int itemsize, const F& f) {
  switch (itemsize) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    case 8: return f(uint64_t{});
    default: return f(Word16{});
  }
}

}  // namespace stator::STATOR_TARGET
