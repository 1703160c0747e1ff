// Arithmetic functors, named after their entries of ops.def. The kernel converts operands to C before the call and the
// result back after it.
#pragma once

#include "../convert.cuh"
#include "../math/math.cuh"

namespace stator::STATOR_TARGET::elementwise::functors {

// Inside `struct abs` the name abs means the struct, so functions are called as math::abs.
namespace math = stator::STATOR_TARGET;

// Integers must wrap: their arithmetic uses an unsigned type that is not promoted to a signed one. Other types are used
// as they are.
template <class C>
using wrapping_t = std::conditional_t<!std::is_integral_v<C> || std::is_same_v<C, bool>, C,
                                      std::conditional_t<(sizeof(C) > 4), uint64_t, uint32_t>>;

// `modular`: the bits of the result do not depend on the signedness of integers, so one instance serves both.
struct add {
  static constexpr bool modular = true, light = true;
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    if constexpr (std::is_same_v<C, bool>)
      return a | b;
    else
      return C(wrapping_t<C>(a) + wrapping_t<C>(b));
  }
};

struct subtract {
  static constexpr bool modular = true, light = true;
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    return C(wrapping_t<C>(a) - wrapping_t<C>(b));
  }
};

struct multiply {
  static constexpr bool modular = true, light = true;
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    if constexpr (std::is_same_v<C, bool>)
      return a & b;
    else
      return C(wrapping_t<C>(a) * wrapping_t<C>(b));
  }
};

struct divide {
  static constexpr bool light = true;
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    return a / b;
  }
};

// x + alpha * y, each rounded.
struct add_scaled {
  static constexpr bool modular = true;
  template <class C>
  STATOR_FN C operator()(C x, C y, C alpha) const {
    return add{}(x, multiply{}(y, alpha));
  }
};

struct negative {
  static constexpr bool modular = true, light = true;
  template <class C>
  STATOR_FN C operator()(C a) const {
    if constexpr (std::is_integral_v<C>)
      return C(wrapping_t<C>(0) - wrapping_t<C>(a));
    else
      return -a;
  }
};

struct positive {
  static constexpr bool modular = true;
  template <class C>
  STATOR_FN C operator()(C a) const {
    return a;
  }
};

// NaN propagates.
struct maximum {
  static constexpr bool light = true;
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    return ((a > b) | (a != a)) ? a : b;
  }
};

struct minimum {
  static constexpr bool light = true;
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    return ((a < b) | (a != a)) ? a : b;
  }
};

// If one operand is NaN, the result is the other one.
struct fmax {
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    return ((a >= b) | (b != b)) ? a : b;
  }
};

struct fmin {
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    return ((a <= b) | (b != b)) ? a : b;
  }
};

// min(max(x, low), high), so low > high gives `high`, and NaN in any operand gives NaN.
struct clip {
  template <class C>
  STATOR_FN C operator()(C x, C low, C high) const {
    const C raised = x < low ? low : x, inside = raised > high ? high : raised;
    const C checked = low != low ? low : inside;  // g++ would make branches of || in the conditions above
    return high != high ? high : checked;
  }
};

// The absolute value of the lowest integer is itself.
struct abs {
  static constexpr bool light = true;
  template <class C>
  STATOR_FN auto operator()(C x) const {
    return math::abs(x);
  }
};

struct conj {
  static constexpr bool modular = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    return x;
  }
  template <class T>
  STATOR_FN complex<T> operator()(complex<T> z) const {
    return {z.re, -z.im};
  }
};

struct real {
  static constexpr bool modular = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    return x;
  }
  template <class T>
  STATOR_FN T operator()(complex<T> z) const {
    return z.re;
  }
};

struct imag {
  static constexpr bool modular = true;
  template <class C>
  STATOR_FN C operator()(C) const {
    return C(0);
  }
  template <class T>
  STATOR_FN T operator()(complex<T> z) const {
    return z.im;
  }
};

// Zero of either sign gives 0, NaN gives NaN. A complex number gives z / |z|, and NumPy's result if a part is infinite.
struct sign {
  template <class C>
  STATOR_FN C operator()(C x) const {
    if constexpr (std::is_integral_v<C>)
      return C(int(x > C(0)) - int(x < C(0)));
    else
      return x > C(0) ? C(1) : x < C(0) ? C(-1) : x == C(0) ? C(0) : x;
  }
  template <class T>
  STATOR_FN complex<T> operator()(complex<T> z) const {
    if (z.re == T(0) && z.im == T(0)) return {T(0), T(0)};
    const T x = math::abs(z.re), y = math::abs(z.im), large = x > y ? x : y;
    if (math::isinf(x) != math::isinf(y))
      return {math::isinf(x) ? math::copysign(T(1), z.re) : T(0), math::isinf(y) ? math::copysign(T(1), z.im) : T(0)};
    const T re = z.re / large, im = z.im / large, length = math::sqrt(re * re + im * im);
    return {re / length, im / length};
  }
};

struct copysign {
  template <class C>
  STATOR_FN C operator()(C magnitude, C sign) const {
    return math::copysign(magnitude, sign);
  }
};

// The next value of type C from a towards b. C is float, double or a half type.
struct nextafter {
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    using B = std::conditional_t<sizeof(C) == 2, uint16_t, std::conditional_t<sizeof(C) == 4, uint32_t, uint64_t>>;
    using X = math::opmath_t<C>;
    constexpr B sign_bit = B(B(1) << (8 * sizeof(C) - 1));
    const X x = X(a), y = X(b);
    const B from = bit_cast<B>(a), to = bit_cast<B>(b);
    const bool away = (x < y) == (x > X(0));
    const B step = x == X(0) ? B((to & sign_bit) | 1) : B(from + (away ? B(1) : B(~B(0))));
    return bit_cast<C>(x != x ? from : ((x == y) | (y != y)) ? to : step);
  }
  // For half types, whose operands are converted to float before the call.
  template <class Half>
  struct Of {
    STATOR_FN float operator()(float a, float b) const {
      return convert<float>(nextafter{}(convert<Half>(a), convert<Half>(b)));
    }
  };
};

// NaN in the first operand propagates.
struct heaviside {
  template <class C>
  STATOR_FN C operator()(C x, C at_zero) const {
    return x == C(0) ? at_zero : x > C(0) ? C(1) : x < C(0) ? C(0) : x;
  }
};

// a + t (b - a), computed from the nearer end, so that t = 1 gives b.
struct lerp {
  template <class C>
  STATOR_FN C operator()(C a, C b, C t) const {
    return math::abs(t) < C(0.5) ? a + t * (b - a) : b - (b - a) * (C(1) - t);
  }
  template <class T>
  STATOR_FN complex<T> operator()(complex<T> a, complex<T> b, complex<T> t) const {
    return t.re * t.re + t.im * t.im < T(0.25) ? a + t * (b - a) : b - (b - a) * (complex<T>(T(1)) - t);
  }
};

// Complex numbers are replaced part by part, with the real parts of the replacements.
struct nan_to_num {
  template <class C>
  STATOR_FN C operator()(C x, C nan, C posinf, C neginf) const {
    if constexpr (std::is_integral_v<C>)
      return x;
    else
      return x != x ? nan : x == limits<C>::infinity() ? posinf : x == -limits<C>::infinity() ? neginf : x;
  }
  template <class T>
  STATOR_FN complex<T> operator()(complex<T> z, complex<T> nan, complex<T> posinf, complex<T> neginf) const {
    return {(*this)(z.re, nan.re, posinf.re, neginf.re), (*this)(z.im, nan.re, posinf.re, neginf.re)};
  }
};

}  // namespace stator::STATOR_TARGET::elementwise::functors

#include "division.cuh"
