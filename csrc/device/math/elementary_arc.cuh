// asin, acos, atan, atan2 for the host targets: arguments are reduced to a range in which the odd polynomial
// t + t^3 tail(t^2) is short, by asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)) and atan(t) = pi/4 + atan((t - 1) / (t +
// 1)). Polynomials: tools/fit_elementary.py.
#pragma once

#include "elementary_core.cuh"

namespace stator::STATOR_TARGET::libm {

template <class T>
struct ArcFormat;
template <>
struct ArcFormat<float> {
  static constexpr float quarter_hi = 0x1.921fbp-1f, quarter_lo = 0x1.5110b4p-23f;  // pi / 4; 3 hi is exact
  STATOR_FN static float asin_tail(float z) {
    return polynomial(z, 0.166667536f, 0.0749525204f, 0.0454760157f, 0.0241522994f, 0.0422113799f);
  }
  STATOR_FN static float atan_tail(float z) {
    return polynomial(z, -0.333331525f, 0.199937731f, -0.142110527f, 0.106659964f, -0.0755219907f, 0.0432117134f,
                      -0.0163678527f, 0.00292067742f);
  }
};
template <>
struct ArcFormat<double> {
  static constexpr double quarter_hi = 0x1.921fb54442d18p-1, quarter_lo = 0x1.1a62633145c07p-55;
  STATOR_FN static double asin_tail(double z) {
    return estrin(z, 0.16666666666665411, 0.075000000003380224, 0.044642856826835803, 0.030381959214125273,
                  0.022371755974366015, 0.017359738166411412, 0.013884892934026132, 0.012171508712544968,
                  0.0065179328126590283, 0.019555856028278151, -0.016267514579785442, 0.031941802573875251);
  }
  STATOR_FN static double atan_tail(double z) {
    return estrin(z, -0.33333333333330289, 0.19999999999117368, -0.14285714197390612, 0.11111106733675366,
                  -0.090907841395550026, 0.076900909844605222, -0.066413057590261379, 0.056934473577413727,
                  -0.043615724585455748, 0.021288576687699283);
  }
};

template <class T>
STATOR_FN T negated_if(bool condition, T x) {
  return from_bits<T>(bits(x) ^ (sign_bit<T> & mask<T>(condition)));
}

// quarters * pi / 4 + rest, rounded once.
template <class T>
STATOR_FN T add_quarters(T quarters, T rest) {
  using A = ArcFormat<T>;
  return multiply_add(quarters, A::quarter_hi, multiply_add(quarters, A::quarter_lo, rest));
}

// t + t^3 tail(t^2), or its negative.
template <class T>
STATOR_FN T small_angle(T t, bool negative) {
  const T z = t * t;
  return negated_if(negative, multiply_add(t * z, ArcFormat<T>::atan_tail(z), t));
}

// The angle of the point (across, up), both at least 0, or of (-across, up) if `left`. If both may be zero or infinite,
// Ends is needed.
template <bool Ends>
STATOR_FN float angle(float up, float across, bool left) {
  const bool steep = up > across;
  const float low = select(steep, across, up), high = select(steep, up, across);
  const float ends = zero_if(high == 0.0f, 1.0f), quarters = select(steep, 2.0f, 0.0f);
  const float t = select(Ends & (low == high), ends, low / high);
  return add_quarters(select(left, 4.0f - quarters, quarters), small_angle(t, steep != left));
}

// A polynomial for t up to 1 would need twice as many terms, so angles from pi/8 to 3 pi/8 are relative to pi/4.
template <bool Ends>
STATOR_FN double angle(double up, double across, bool left) {
  if constexpr (Ends) {  // the sum must not overflow
    const double scale = select((up > 0x1p1000) | (across > 0x1p1000), 0.25, 1.0);
    up *= scale;
    across *= scale;
  }
  const bool steep = up > across;
  const double low = select(steep, across, up), high = select(steep, up, across);
  const bool middle = (low > 0.41421356237309503 * high) | (Ends & (low == infinite<double>));
  const double quotient = select(middle, low - high, low) / select(middle, low + high, high);
  const double t = zero_if(Ends & (low == high), quotient);
  const double quarters = select(middle, 1.0, select(steep, 2.0, 0.0));
  return add_quarters(select(left, 4.0 - quarters, quarters), small_angle(t, steep != left));
}

template <class T>
STATOR_FN T own_atan(T x) {
  return with_sign_of(angle<false>(magnitude(x), T(1), false), x);
}

template <class T>
STATOR_FN T own_atan2(T y, T x) {
  return with_sign_of(angle<true>(magnitude(y), magnitude(x), (bits(x) & sign_bit<T>) != 0), y);
}

// atan2 of numbers whose rank is at most `last`: the magnitudes of both are between `least` and 1 / least, so that
// their quotient and their sum are finite and defined.
template <class T>
struct UsualAtan2 {
  static constexpr T least = sizeof(T) == 4 ? T(0x1p-100) : T(0x1p-1000);
  static constexpr BitsOf<T> first = bit_cast<BitsOf<T>>(least);
  static constexpr BitsOf<T> last = bit_cast<BitsOf<T>>(T(1) / least) - first;
  STATOR_FN static BitsOf<T> rank(T y, T x) {
    const BitsOf<T> up = bits(magnitude(y)) - first, across = bits(magnitude(x)) - first;
    return up > across ? up : across;
  }
  STATOR_FN T operator()(T y, T x) const {
    return with_sign_of(angle<false>(magnitude(y), magnitude(x), (bits(x) & sign_bit<T>) != 0), y);
  }
};

// asin of the magnitude a of x: `rest` if a <= 1/2, else pi/2 - rest.
template <class T>
struct ArcSine {
  T rest;
  bool large;
  STATOR_FN explicit ArcSine(T a) : large(a > T(0.5)) {
    const T z = select(large, (T(1) - a) * T(0.5), a * a), s = select(large, square_root(z), a);
    const T r = multiply_add(s * z, ArcFormat<T>::asin_tail(z), s);
    rest = select(large, r + r, r);
  }
};

template <class T>
STATOR_FN T own_asin(T x) {
  const ArcSine<T> a(magnitude(x));
  return with_sign_of(add_quarters(select(a.large, T(2), T(0)), negated_if(a.large, a.rest)), x);
}

template <class T>
STATOR_FN T own_acos(T x) {
  const ArcSine<T> a(magnitude(x));
  const bool negative = x < T(0);
  const T quarters = select(a.large, select(negative, T(4), T(0)), T(2));
  return add_quarters(quarters, negated_if(a.large == negative, a.rest));
}

}  // namespace stator::STATOR_TARGET::libm
