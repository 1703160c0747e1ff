// gammaln and digamma, the same code on every target. Coefficients: tools/fit_gamma.py, which also says what each
// polynomial approximates. From 8 on Stirling's series (DLMF 5.11); below 8 a rational function up to 3 and the
// recurrence (DLMF 5.5). The factors that vanish at the zeros 1, 2 and 1.4616 are exact, so that results keep their
// relative precision there; near zeros on the negative axis errors are relative to the terms that cancel there: 1 +
// |gammaln(-x)|, 2 + |digamma(-x)|. Float computes in double below -1/2 (digamma: below 0), and keeps its precision.
#pragma once

#include "math.cuh"
#include "polynomial.cuh"

namespace stator::STATOR_TARGET {

namespace special {

// root + root_rest = 0.4616321449683623412626595423257213, which is the zero of digamma minus 1.
template <class T>
struct GammaFormat;
template <>
struct GammaFormat<float> {
  static constexpr float root = 0.461632133f, root_rest = 1.24381499e-08f;
  STATOR_FN static float gammaln_middle(float y) {
    return libm::polynomial(y, 0.0772156641f, -0.0945458338f, -0.228482425f, -0.0916230157f, -0.00757114077f) /
           libm::polynomial(y, 1.0f, 1.95174801f, 1.22711134f, 0.273338884f, 0.015894372f);
  }
  STATOR_FN static float digamma_middle(float y) {
    return libm::polynomial(y, 0.250380129f, -0.446246445f, -0.463766724f, -0.0748828575f, -0.000104198334f) /
           libm::polynomial(y, 1.0f, 1.63130677f, 0.711054027f, 0.0793713406f);
  }
  STATOR_FN static float gammaln_tail(float s) { return libm::polynomial(s, 0.083333306f, -0.00276550977f); }
  STATOR_FN static float digamma_tail(float s) { return libm::polynomial(s, 0.0833332166f, -0.00827224739f); }
};
template <>
struct GammaFormat<double> {
  static constexpr double root = 0.46163214496836236, root_rest = -1.5522348162858677e-17;
  STATOR_FN static double gammaln_middle(double y) {
    return libm::polynomial(y, 0.077215664901532879, 0.024721865841275746, -0.32639513601784831, -0.49964518732952429,
                            -0.29618096769693564, -0.08006303393743501, -0.0092211094944731186, -0.00033174122541561459,
                            -9.6765576667455456e-08) /
           libm::polynomial(y, 1.0, 3.4963531649715311, 4.8650231419333565, 3.4345602233341119, 1.2991184763183712,
                            0.25523081405831805, 0.023049591264165909, 0.0006875682986979114);
  }
  STATOR_FN static double digamma_middle(double y) {
    return libm::polynomial(y, 0.25038013750340538, -0.30172824609430893, -0.70241051152335832, -0.37534155073749054,
                            -0.080321866810192821, -0.0069594960620754228, -0.00018578307686993009,
                            -1.7445610538966546e-08) /
           libm::polynomial(y, 1.0, 2.2085023197974611, 1.7282260889622016, 0.61696028070415865, 0.10486455873389412,
                            0.0078165132888549718, 0.00018846946659082246);
  }
  STATOR_FN static double gammaln_tail(double s) {
    return libm::polynomial(s, 0.083333333333333301, -0.0027777777776080924, 0.00079365066589031318,
                            -0.00059520276328643631, 0.00083729571385648472, -0.0016529137137255403);
  }
  STATOR_FN static double digamma_tail(double s) {
    return libm::polynomial(s, 0.083333333333332871, -0.0083333333311944452, 0.0039682523560183513,
                            -0.004166220002175685, 0.0075192596922051382, -0.017715539294237789);
  }
  STATOR_FN static double sine(double z) {
    return libm::polynomial(z, 3.1415926535897931, -5.1677127800499694, 2.550164039877294, -0.59926452931873686,
                            0.082145886569870735, -0.0073704304785784224, 0.00046629968791488791,
                            -2.1903183335281079e-05, 7.6947067256791232e-07);
  }
  STATOR_FN static double cotangent(double z) {
    return libm::polynomial(z, 3.2898681336964528, -2.3953382121412692, 0.42707278276001476, -0.020968120775453056,
                            0.00014714138269566999) /
           libm::polynomial(z, 1.0, -1.3860691353729142, 0.42334107620121586, -0.038083885611348831,
                            0.00081194501541120021);
  }
};

// x - k for the integer k nearest to x >= 0. The difference is exact.
template <class T>
STATOR_FN T to_nearest(T x) {
  const T fraction = x - floor(x);
  return fraction > T(0.5) ? fraction - T(1) : fraction;
}

// gammaln for x >= -1/2.
template <class T>
STATOR_FN T gammaln_right(T x) {
  // gammaln(y + 1) is y (y - 1) times a smooth function. The recurrence from x to y adds the logarithm of `product`.
  const bool far = x >= T(8), up = x < T(0.75);
  T y = x - T(1), y_less_one = x - T(2), product = far ? x : T(1);
  if (x < T(0)) {
    y = x + T(1), y_less_one = x, product = -x * y;
  } else if (up) {
    y_less_one = y, y = product = x;
  }
  for (; y > T(2) && !far; y_less_one -= T(1), y -= T(1)) product *= y;
  const T logarithm = log(product), inverse = T(1) / x;
  if (far) {
    const T tail = inverse * GammaFormat<T>::gammaln_tail(inverse * inverse);
    return (x - T(0.5)) * (logarithm - T(1)) + (T(0.41893853320467274178) + tail);
  }
  const T middle = y * y_less_one * (T(0.5) + GammaFormat<T>::gammaln_middle(y));
  return up ? middle - logarithm : middle + logarithm;
}

// digamma(x) for x >= 1, digamma(x + 1) for 0 < x < 1.
template <class T>
STATOR_FN T digamma_right(T x) {
  if (x >= T(8)) {
    const T inverse = T(1) / x;
    return log(x) - inverse * (T(0.5) + inverse * GammaFormat<T>::digamma_tail(inverse * inverse));
  }
  T y = x < T(1) ? x : x - T(1), sum = T(0);
  for (; y > T(2); y -= T(1)) sum += T(1) / y;
  const T from_root = (y - GammaFormat<T>::root) - GammaFormat<T>::root_rest;
  return from_root * (T(1) + GammaFormat<T>::digamma_middle(y)) + sum;
}

}  // namespace special

// log|gamma(x)|; infinity at the poles. For x < -1/2 by gamma(x) gamma(-x) = -pi / (x sin(pi x)).
template <class T>
STATOR_FN T gammaln(T x) {
  const bool left = x < T(-0.5);
  if constexpr (sizeof(T) == 4) {
    if (left) return T(gammaln(double(x)));
  }
  const T right = special::gammaln_right(left ? -x : x);
  if (!left) return right;
  if (isinf(x)) return x;  // as in SciPy
  const T r = special::to_nearest(-x), sine = abs(r) * T(special::GammaFormat<double>::sine(r * r));
  return sine == T(0) ? limits<T>::infinity() : log(T(3.14159265358979323846) / (-x * sine)) - right;
}

// -infinity at 0, infinity at -0, NaN at the other poles. For x < 0 by digamma(x) = digamma(1 - x) - pi cot(pi x).
template <class T>
STATOR_FN T digamma(T x) {
  if (x == T(0)) return copysign(limits<T>::infinity(), -x);
  const bool left = x < T(0);
  if constexpr (sizeof(T) == 4) {
    if (left) return T(digamma(double(x)));
  }
  const T a = abs(x), inverse = T(1) / a, right = special::digamma_right(a);
  if (!left) return a < T(1) ? right - inverse : right;
  const T r = special::to_nearest(a);
  const T cotangent = T(1) / r - r * T(special::GammaFormat<double>::cotangent(r * r));
  return r == T(0) ? limits<T>::nan() : (a < T(1) ? right : right + inverse) + cotangent;
}

}  // namespace stator::STATOR_TARGET
