// tan of numbers near zero for the host targets: x = n pi/2 + r with pi/2 in three parts, of which the first two times
// n are exact (Cody and Waite), and the quotient of the polynomials of sin(r) and cos(r), |r| <= pi/4. Numbers farther
// from zero would need more digits of pi. Polynomials: tools/fit_elementary.py.
#pragma once

#include "elementary_core.cuh"

namespace stator::STATOR_TARGET::libm {

template <class T>
struct TanFormat;
template <>
struct TanFormat<float> {
  static constexpr float near = 200.0f;  // n has 7 bits
  static constexpr float first = 0x1.921fp+0f, second = 0x1.6a88p-17f, third = 0x1.0b461p-34f;
  STATOR_FN static float sine_tail(float z) { return polynomial(z, -0.166666552f, 0.008332178f, -0.000195172644f); }
  STATOR_FN static float cosine_tail(float z) {
    return polynomial(z, -0.5f, 0.0416666456f, -0.00138873677f, 2.4438481e-05f);
  }
};
template <>
struct TanFormat<double> {
  static constexpr double near = 200000.0;  // n has 17 bits
  static constexpr double first = 0x1.921fb5444p+0, second = 0x1.68c234c4cp-39, third = 0x1.98a2e03707344p-77;
  STATOR_FN static double sine_tail(double z) {
    return polynomial(z, -0.16666666666666632, 0.008333333333322427, -0.00019841269829816834, 2.7557313694596982e-06,
                      -2.5050758484874266e-08, 1.5896814923090861e-10);
  }
  STATOR_FN static double cosine_tail(double z) {
    return polynomial(z, -0.5, 0.041666666666602618, -0.0013888888878310127, 2.4801580984265646e-05,
                      -2.7555569007593232e-07, 2.0647838652620882e-09);
  }
};

template <class T>
STATOR_FN T near_tan(T x) {
  using F = TanFormat<T>;
  const T a = magnitude(x);
  const T shifted = multiply_add(a, T(0.63661977236758134), Format<T>::round), n = shifted - Format<T>::round;
  const T r = multiply_add(n, -F::third, multiply_add(n, -F::second, multiply_add(n, -F::first, a))), z = r * r;
  const T sine = multiply_add(r * z, F::sine_tail(z), r);
  const T cosine = multiply_add(z, F::cosine_tail(z), T(1));
  // For odd n, the negative cotangent.
  const bool odd = (bits(shifted) & 1) != 0;
  const T y = select(odd, -cosine, sine) / select(odd, sine, cosine);
  return from_bits<T>(bits(y) ^ (bits(x) & sign_bit<T>));
}

// tan of numbers whose rank is at most `last`: those near zero.
template <class T>
struct UsualTan {
  static constexpr BitsOf<T> last = bit_cast<BitsOf<T>>(TanFormat<T>::near);
  STATOR_FN static BitsOf<T> rank(T x) { return bits(magnitude(x)); }
  STATOR_FN T operator()(T x) const { return near_tan(x); }
};

}  // namespace stator::STATOR_TARGET::libm
