// What arithmetic of floating point shares: PTX's NaN, flushing of subnormal values, and directed rounding.
#pragma once

#include "emulator/machine/level/lanes.hpp"

#include <immintrin.h>

#include <bit>
#include <limits>

namespace stator::emulator::machine {

// Operations in single precision give one NaN; those in double precision keep their operand's.
inline float canonical(float v) { return v != v ? std::bit_cast<float>(uint32_t(0x7fffffff)) : v; }
inline double canonical(double v) { return v; }

// Subnormal values as zeros of the same sign.
inline float flush(float v) {
  const auto bits = std::bit_cast<uint32_t>(v);
  return (bits & 0x7f800000) ? v : std::bit_cast<float>(bits & 0x80000000);
}
inline double flush(double v) { return v; }

template <class T>
inline T saturate(T v) {  // into [0, 1]; NaN becomes 0
  return v > T(0) ? (v < T(1) ? v : T(1)) : T(0);
}

template <bool Ftz, class T>
inline T in(T v) {
  return Ftz ? flush(v) : v;
}
template <bool Ftz, bool Sat, class T>
inline T result(T v) {
  v = canonical(v);
  if (Ftz) v = flush(v);
  return Sat ? saturate(v) : v;
}

// The rounding direction of the CPU while it lives. What it encloses reads and writes memory, over which the barriers
// keep the compiler from moving it.
class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding) : saved_(_mm_getcsr()) {
    const unsigned bits = rounding == Rounding::rz   ? _MM_ROUND_TOWARD_ZERO
                          : rounding == Rounding::rm ? _MM_ROUND_DOWN
                          : rounding == Rounding::rp ? _MM_ROUND_UP
                                                     : _MM_ROUND_NEAREST;
    _mm_setcsr((saved_ & ~unsigned(_MM_ROUND_MASK)) | bits);
    asm volatile("" ::: "memory");
  }
  ~RoundingScope() {
    asm volatile("" ::: "memory");
    _mm_setcsr(saved_);
  }
  RoundingScope(const RoundingScope&) = delete;

 private:
  unsigned saved_;
};

}  // namespace stator::emulator::machine
