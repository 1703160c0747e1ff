// Division to whole numbers and what it leaves. Integers: a zero divisor gives 0 and faults; the lowest by -1 wraps.
#pragma once

#include "kernels/elementwise/functors/arithmetic.cuh"

namespace stator::STATOR_TARGET::elementwise::functors {

namespace division {

// All ones where x < 0, else 0: signs are as good as random, and a branch on them costs more than the division.
template <class C, class U = wrapping_t<C>>
STATOR_FN U sign_mask(C x) {
  if constexpr (std::is_signed_v<C>)
    return U(0) - U(x < C(0));
  else
    return U(0);
}

// -x where the mask is set.
template <class U>
STATOR_FN U negate_where(U mask, U x) {
  return (x ^ mask) - mask;
}

// Magnitudes, as those of two's complement do not overflow. A zero divisor divides as 1 does: it leaves nothing.
template <class U>
struct Divided {
  U quotient, remainder;
};

template <class C, class U = wrapping_t<C>>
STATOR_FN Divided<U> divide_magnitudes(C a, C b) {
  const U x = negate_where(sign_mask(a), U(a)), y = negate_where(sign_mask(b), U(b)) + U(b == C(0));
  // 64-bit division takes a CPU twice the time, a GPU far more.
  if (sizeof(U) == 8 && ((x | y) >> (4 * sizeof(U))) == 0)
    return {uint32_t(x) / uint32_t(y), uint32_t(x) % uint32_t(y)};
  return {x / y, x % y};
}

// a - b * trunc(a / b), exact. On the fast host in one step while the quotient is far from rounding: it is at most one
// too large then, and the remainder of either quotient is a multiple of b's last place no larger than b.
template <class T>
STATOR_FN T truncated_remainder(T a, T b) {
  if constexpr (fast_host) {
    const T quotient = sizeof(T) == 4 ? T(__builtin_truncf(a / b)) : T(__builtin_trunc(a / b));
    if (words::abs(quotient) < T(1 << 20)) {
      T rest = quotient == T(0) ? a : words::fma(-quotient, b, a);
      if ((rest < T(0)) != (a < T(0))) rest += rest == T(0) ? T(0) : words::copysign(b, a);
      return words::copysign(rest, a);
    }
  }
  if constexpr (sizeof(T) == 4)
    return __builtin_fmodf(a, b);
  else
    return __builtin_fmod(a, b);
}

// x where the signs of a and b differ, else 0; by bits, for the reason above.
template <class T>
STATOR_FN T where_apart(T a, T b, T x) {
  using B = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const B mask = B(0) - ((std::bit_cast<B>(a) ^ std::bit_cast<B>(b)) >> (8 * sizeof(T) - 1));
  return std::bit_cast<T>(B(std::bit_cast<B>(x) & mask));
}

template <class C>
STATOR_FN bool is_zero_divisor(C b) {
  return std::is_integral_v<C> && b == C(0);
}

}  // namespace division

// Rounded to minus infinity; floats as numpy.floor_divide: the quotient that goes with numpy.remainder.
struct floor_divide {
  template <class C>
  STATOR_FN static bool faults(C, C b) {
    return division::is_zero_divisor(b);
  }
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      using U = wrapping_t<C>;
      const auto d = division::divide_magnitudes(a, b);
      const U apart = division::sign_mask(a) ^ division::sign_mask(b);
      const U quotient = division::negate_where(apart, d.quotient + (apart & U(d.remainder != 0)));
      return b == C(0) ? C(0) : C(quotient);
    } else {
      const C ratio = a / b;
      if (b == C(0)) return ratio;
      const C rest = division::truncated_remainder(a, b);
      const C quotient = (a - rest) / b - (rest == C(0) ? C(0) : division::where_apart(a, b, C(1)));
      const C whole = words::floor(quotient);
      return words::copysign(quotient - whole > C(0.5) ? whole + C(1) : whole, ratio);
    }
  }
};

// Has the sign of the divisor, a zero too.
struct remainder {
  template <class C>
  STATOR_FN static bool faults(C, C b) {
    return division::is_zero_divisor(b);
  }
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      using U = wrapping_t<C>;
      const U rest = division::divide_magnitudes(a, b).remainder;
      const U apart = division::sign_mask(a) ^ division::sign_mask(b);
      const U lift = apart & (U(0) - U(rest != 0)) & U(b);
      return C(division::negate_where(division::sign_mask(a), rest) + lift);
    } else {
      const C rest = division::truncated_remainder(a, b) * words::copysign(C(1), b);  // negative where they are apart
      const C moved = division::where_apart(a, b, words::abs(b)) + rest;
      return words::copysign(rest == C(0) ? rest : moved, b);
    }
  }
};

// Has the sign of the dividend.
struct fmod {
  template <class C>
  STATOR_FN static bool faults(C, C b) {
    return division::is_zero_divisor(b);
  }
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      return C(division::negate_where(division::sign_mask(a), division::divide_magnitudes(a, b).remainder));
    } else {
      return division::truncated_remainder(a, b);
    }
  }
};

}  // namespace stator::STATOR_TARGET::elementwise::functors
