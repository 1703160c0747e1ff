// Powers and roots.
#pragma once

#include "../math/complex_special.cuh"
#include "../math/math.cuh"
#include "arithmetic.cuh"
#include "math_function.cuh"

#include <stator/device/params.hpp>

namespace stator::STATOR_TARGET::elementwise::functors {

STATOR_MATH_FUNCTION(sqrt)
STATOR_MATH_FUNCTION(rsqrt)
STATOR_MATH_FUNCTION(cbrt)

struct square {
  static constexpr bool modular = true, light = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    return C(wrapping_t<C>(x) * wrapping_t<C>(x));
  }
  // As a product the real part neither cancels nor is the difference of two infinities.
  template <class T>
  STATOR_FN complex<T> operator()(complex<T> z) const {
    return {T(2) * ((z.re - z.im) * (T(0.5) * z.re + T(0.5) * z.im)), T(2) * (z.re * z.im)};
  }
};

struct reciprocal {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return C(1) / x;
  }
  // Smith's method (Algorithm 116, CACM 1962), with signs of zero parts that a division of 1 + 0i would not have.
  template <class T>
  STATOR_FN complex<T> operator()(complex<T> z) const {
    if (math::abs(z.im) <= math::abs(z.re)) {
      const T ratio = z.im / z.re, scale = z.re + z.im * ratio;
      return {T(1) / scale, -ratio / scale};
    }
    const T ratio = z.re / z.im, scale = z.re * ratio + z.im;
    return {ratio / scale, T(-1) / scale};
  }
};

struct hypot {
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    return math::hypot(a, b);
  }
};

// Integers by repeated squaring: they wrap, and a negative exponent gives 0 and a fault.
struct pow {
  static constexpr params::Fault fault = params::Fault::negative_exponent;
  template <class C>
  STATOR_FN static bool faults(C, C b) {
    return std::is_signed_v<C> && b < C(0);
  }
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    if constexpr (std::is_same_v<C, bool>) {
      return a | !b;
    } else if constexpr (std::is_integral_v<C>) {
      using W = wrapping_t<C>;
      if constexpr (std::is_signed_v<C>)
        if (b < C(0)) return C(0);
      W result = 1, factor = W(a);
      for (W n = W(b); n != 0; n >>= 1) {
        if (n & 1) result *= factor;
        factor *= factor;
      }
      return C(result);
    } else {
      return math::pow(a, b);
    }
  }
};

// pow for the exponents 2, 3 and -1, with pow's special cases. Complex numbers take the same steps as there, float in
// double, but by selections instead of branches.
template <int N>
struct whole_power {
  static constexpr bool modular = true, light = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    static_assert(N == 3);
    const auto w = wrapping_t<C>(x);
    return C(w * w * w);
  }
  template <class T>
  STATOR_FN complex<T> operator()(complex<T> z) const {
    const complex<double> w = power(complex<double>(z.re, z.im));
    return {T(w.re), T(w.im)};
  }

 private:
  STATOR_FN static complex<double> power(complex<double> z) {
    if constexpr (N == -1) {  // Smith's method, as the division of complex numbers
      const bool turned = !(math::abs(z.re) >= math::abs(z.im));
      const double large = turned ? z.im : z.re, small = turned ? -z.re : z.im, ratio = small / large;
      const double scale = 1 / (large + small * ratio), re = turned ? 0 : 1, im = turned ? -1 : 0;
      return {(re + im * ratio) * scale, (im + (-re) * ratio) * scale};
    } else {
      const complex<double> square = z * z, w = N == 2 ? square : z * square;
      const bool zero = (z.re == 0) & (z.im == 0);
      return {zero ? 0 : w.re, zero ? 0 : w.im};
    }
  }
};

// x^(1/2), which differs from sqrt(x) at -0 and at minus infinity.
struct half_power {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return x == -math::limits<C>::infinity() ? -x : math::sqrt(x + C(0));
  }
  template <class T>
  STATOR_FN complex<T> operator()(complex<T> z) const {
    const bool usual = math::isfinite(z.re) && math::isfinite(z.im) && z.im != T(0);
    return usual ? math::sqrt(z) : math::pow(z, complex<T>(T(0.5), T(0)));
  }
};

}  // namespace stator::STATOR_TARGET::elementwise::functors
