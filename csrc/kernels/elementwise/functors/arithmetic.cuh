// Arithmetic functors, named as their rows of ops.def. Storage is converted to C before and back after the call.
#pragma once

#include "device/convert.cuh"
#include "device/math/math.cuh"

#include <bit>
#include <type_traits>

namespace stator::STATOR_TARGET::elementwise::functors {

// Inside `struct abs` the name abs is the struct.
namespace words = stator::STATOR_TARGET;

// Integers wrap: go through an unsigned type that is not promoted to a signed one. Everything else stays as it is.
template <class C>
struct wrapping {
  using type = C;
};
template <class C>
  requires(std::is_integral_v<C> && !std::is_same_v<C, bool>)
struct wrapping<C> {
  using type = std::conditional_t<(sizeof(C) > 4), uint64_t, uint32_t>;
};
template <class C>
using wrapping_t = typename wrapping<C>::type;

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

// A number beats NaN.
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

// min(max(x, low), high), so crossed bounds give `high`, and NaN in any operand gives NaN.
struct clip {
  template <class C>
  STATOR_FN C operator()(C x, C low, C high) const {
    const C raised = x < low ? low : x, inside = raised > high ? high : raised;
    const C checked = low != low ? low : inside;  // of `or` in the conditions above g++ would make paths
    return high != high ? high : checked;
  }
};

// The lowest integer is its own.
struct abs {
  static constexpr bool light = true;
  template <class C>
  STATOR_FN auto operator()(C x) const {
    return words::abs(x);
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

// Zero of either sign gives 0, NaN gives NaN. Of a complex number z / |z|; NumPy's answers where a part is infinite.
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
    const T x = words::abs(z.re), y = words::abs(z.im), large = x > y ? x : y;
    if (words::isinf(x) != words::isinf(y))
      return {words::isinf(x) ? words::copysign(T(1), z.re) : T(0),
              words::isinf(y) ? words::copysign(T(1), z.im) : T(0)};
    const T re = z.re / large, im = z.im / large, length = words::sqrt(re * re + im * im);
    return {re / length, im / length};
  }
};

struct copysign {
  template <class C>
  STATOR_FN C operator()(C magnitude, C sign) const {
    return words::copysign(magnitude, sign);
  }
};

// The next value of C from a towards b: a step of float or double, or of a half type when called with that; a half that
// was converted to float steps as a float does.
struct nextafter {
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    using B = std::conditional_t<sizeof(C) == 2, uint16_t, std::conditional_t<sizeof(C) == 4, uint32_t, uint64_t>>;
    using X = words::opmath_t<C>;
    constexpr B sign_bit = B(B(1) << (8 * sizeof(C) - 1));
    const X x = X(a), y = X(b);
    const B from = std::bit_cast<B>(a), to = std::bit_cast<B>(b);
    const bool away = (x < y) == (x > X(0));
    const B step = x == X(0) ? B((to & sign_bit) | 1) : B(from + (away ? B(1) : B(~B(0))));
    return std::bit_cast<C>(x != x ? from : ((x == y) | (y != y)) ? to : step);
  }
};

// a + t (b - a), counted from the nearer end, so that t = 1 gives b.
struct lerp {
  template <class C>
  STATOR_FN C operator()(C a, C b, C t) const {
    return words::abs(t) < C(0.5) ? a + t * (b - a) : b - (b - a) * (C(1) - t);
  }
  template <class T>
  STATOR_FN complex<T> operator()(complex<T> a, complex<T> b, complex<T> t) const {
    return t.re * t.re + t.im * t.im < T(0.25) ? a + t * (b - a) : b - (b - a) * (complex<T>(T(1)) - t);
  }
};

// Part by part of complex numbers, which take the real parts of the replacements.
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

#include "kernels/elementwise/functors/division.cuh"
