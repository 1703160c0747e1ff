// Division to whole numbers and what it leaves. Integers: a zero divisor gives 0 and faults; the lowest by -1 wraps.
#pragma once

#include "kernels/functors/arithmetic.cuh"

namespace stator::STATOR_COLUMN::functors {

namespace division {

// Magnitudes, as those of two's complement do not overflow. A zero divisor divides as 1 does: it leaves nothing.
template <class U>
struct Divided {
  U quotient, remainder;
  bool apart;  // the signs differ
};

template <class C>
STATOR_FN bool below_zero(C x) {
  if constexpr (std::is_signed_v<C>)
    return x < C(0);
  else
    return false;
}

template <class C, class U = wrapping_t<C>>
STATOR_FN Divided<U> divide_magnitudes(C a, C b) {
  const U x = below_zero(a) ? U(0) - U(a) : U(a);
  const U y = b == C(0) ? U(1) : below_zero(b) ? U(0) - U(b) : U(b);
  const bool apart = below_zero(a) != below_zero(b);
  // 64-bit division takes a CPU twice the time, a GPU far more.
  if (sizeof(U) == 8 && ((x | y) >> (4 * sizeof(U))) == 0)
    return {uint32_t(x) / uint32_t(y), uint32_t(x) % uint32_t(y), apart};
  return {x / y, x % y, apart};
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
      const U quotient = d.apart ? U(0) - (d.quotient + U(d.remainder != 0)) : d.quotient;
      return b == C(0) ? C(0) : C(quotient);
    } else {
      const C ratio = a / b;
      if (b == C(0)) return ratio;
      const C rest = division::truncated_remainder(a, b);
      const bool apart = rest != C(0) && (rest < C(0)) != (b < C(0));
      const C quotient = (a - rest) / b - (apart ? C(1) : C(0));
      const C whole = words::floor(quotient);
      return quotient == C(0) ? words::copysign(C(0), ratio) : quotient - whole > C(0.5) ? whole + C(1) : whole;
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
      const auto d = division::divide_magnitudes(a, b);
      const U rest = division::below_zero(a) ? U(0) - d.remainder : d.remainder;
      return C(rest + (d.apart && d.remainder != 0 ? U(b) : U(0)));
    } else {
      const C rest = division::truncated_remainder(a, b);
      if (rest == C(0)) return words::copysign(rest, b);
      return (rest < C(0)) != (b < C(0)) ? rest + b : rest;
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
      using U = wrapping_t<C>;
      const U rest = division::divide_magnitudes(a, b).remainder;
      return C(division::below_zero(a) ? U(0) - rest : rest);
    } else {
      return division::truncated_remainder(a, b);
    }
  }
};

}  // namespace stator::STATOR_COLUMN::functors
