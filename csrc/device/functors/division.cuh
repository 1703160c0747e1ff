// Division to whole numbers, remainders and common divisors. For integers a zero divisor gives 0 and a fault, and the
// lowest number divided by -1 wraps.
#pragma once

#include "arithmetic.cuh"

#include <stator/device/params.hpp>

namespace stator::STATOR_TARGET::elementwise::functors {

namespace division {

// All ones if x < 0, else 0. Not a branch, because signs may be random and a misprediction costs more than the
// division.
template <class C, class U = wrapping_t<C>>
STATOR_FN U sign_mask(C x) {
  if constexpr (std::is_signed_v<C>)
    return U(0) - U(x < C(0));
  else
    return U(0);
}

// -x if the mask is set, else x.
template <class U>
STATOR_FN U negate_where(U mask, U x) {
  return (x ^ mask) - mask;
}

// Quotient and remainder of unsigned magnitudes, which do not overflow. A zero divisor counts as 1, so that the
// remainder is 0.
template <class U>
struct Divided {
  U quotient, remainder;
};

template <class C, class U = wrapping_t<C>>
STATOR_FN Divided<U> divide_magnitudes(C a, C b) {
  const U x = negate_where(sign_mask(a), U(a)), y = negate_where(sign_mask(b), U(b)) + U(b == C(0));
  // 64-bit division takes twice as long on a CPU, and far longer on a GPU.
  if (sizeof(U) == 8 && ((x | y) >> (4 * sizeof(U))) == 0)
    return {uint32_t(x) / uint32_t(y), uint32_t(x) % uint32_t(y)};
  return {x / y, x % y};
}

// a - b * trunc(a / b), exact. On the fast host by one fma if the quotient is small: it is then at most one too large,
// and both remainders are exact, because they are multiples of b's unit in the last place and no larger than b.
template <class T>
STATOR_FN T truncated_remainder(T a, T b) {
  if constexpr (fast_host) {
    const T quotient = sizeof(T) == 4 ? T(__builtin_truncf(a / b)) : T(__builtin_trunc(a / b));
    if (math::abs(quotient) < T(1 << 20)) {
      T rest = quotient == T(0) ? a : math::fma(-quotient, b, a);
      if ((rest < T(0)) != (a < T(0))) rest += rest == T(0) ? T(0) : math::copysign(b, a);
      return math::copysign(rest, a);
    }
  }
  if constexpr (sizeof(T) == 4)
    return __builtin_fmodf(a, b);
  else
    return __builtin_fmod(a, b);
}

// x if the signs of a and b differ, else 0; without a branch, as sign_mask.
template <class T>
STATOR_FN T where_apart(T a, T b, T x) {
  using B = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const B mask = B(0) - ((bit_cast<B>(a) ^ bit_cast<B>(b)) >> (8 * sizeof(T) - 1));
  return bit_cast<T>(B(bit_cast<B>(x) & mask));
}

template <class C>
STATOR_FN bool is_zero_divisor(C b) {
  return std::is_integral_v<C> && b == C(0);
}

// By Euclid's algorithm. The magnitude of the lowest integer is a number of the unsigned type.
template <class C, class U = wrapping_t<C>>
STATOR_FN U common_divisor(C a, C b) {
  U x = negate_where(sign_mask(a), U(a)), y = negate_where(sign_mask(b), U(b));
  STATOR_UNROLL(1)
  while (y != 0) {
    const U rest = divide_magnitudes<U>(x, y).remainder;
    x = y;
    y = rest;
  }
  return x;
}

}  // namespace division

// Rounds towards minus infinity; floats as numpy.floor_divide, which matches numpy.remainder.
struct floor_divide {
  static constexpr params::Fault fault = params::Fault::division_by_zero;
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
      const C whole = math::floor(quotient);
      return math::copysign(quotient - whole > C(0.5) ? whole + C(1) : whole, ratio);
    }
  }
};

// The result has the sign of the divisor, even if it is zero.
struct remainder {
  static constexpr params::Fault fault = params::Fault::division_by_zero;
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
      const C rest = division::truncated_remainder(a, b) * math::copysign(C(1), b);  // negative if the signs differ
      const C moved = division::where_apart(a, b, math::abs(b)) + rest;
      return math::copysign(rest == C(0) ? rest : moved, b);
    }
  }
};

// The result has the sign of the dividend.
struct fmod {
  static constexpr params::Fault fault = params::Fault::division_by_zero;
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

// Results that the dtype does not represent wrap: gcd of the lowest integer and 0 or itself, and a large lcm.
struct gcd {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    return C(division::common_divisor(a, b));
  }
};

struct lcm {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    using U = wrapping_t<C>;
    const U x = division::negate_where(division::sign_mask(a), U(a));
    const U y = division::negate_where(division::sign_mask(b), U(b)), divisor = division::common_divisor(a, b);
    return C(division::divide_magnitudes<U>(x, divisor).quotient * y);
  }
};

}  // namespace stator::STATOR_TARGET::elementwise::functors
