// The error function, the normal distribution and the logistic function, the same code on every target; erf, erfc, ndtr
// and expit are branch-free, so that loops over them vectorise on the host.
// Coefficients: tools/fit_error.py, which also says what each polynomial approximates.
// Method: erfcx(a) = exp(a^2) erfc(a) is smooth up to infinity in t = (a - pole) / (a + pole); Shepherd and
// Laframboise, Chebyshev approximation of (1 + 2x) exp(x^2) erfc(x) (1981).
#pragma once

#include "elementary_exp.cuh"
#include "math.cuh"

namespace stator::STATOR_TARGET {

namespace special {

template <class T>
struct ErrorFormat;
template <>
struct ErrorFormat<float> {
  static constexpr float pole = 2.0f, erfc_end = 11.0f, ndtr_end = 15.0f;  // where the tails round to zero
  static constexpr float erfcx_end = 9.4f, erfcx_flat = 1e6f;  // beyond -end infinite, beyond flat 1 / (x sqrt(pi))
  STATOR_FN static float erf_excess(float z) {
    return libm::polynomial(z, 0.128379166f, -0.376126349f, 0.11283692f, -0.0268551949f, 0.00516894879f,
                            -0.000725697435f);
  }
  STATOR_FN static float erfcx(float t) {
    return libm::polynomial(t, 0.638489187f, -0.0463819019f, -0.0830150619f, 0.0820252001f, -0.027112525f,
                            -0.00401159702f, 0.00437721564f, 0.000605454145f, -0.000766763987f, -0.000150006934f,
                            0.000130382876f);
  }
  STATOR_FN static float ndtri_centre(float u) {
    return libm::polynomial(u, 0.50656122f, -0.273002625f, -104.483696f, -369.651794f, -40.214962f) /
           libm::polynomial(u, 1.0f, 23.3090668f, 144.203918f, 207.716248f);
  }
  STATOR_FN static float ndtri_tail(float r) {
    return libm::polynomial(r, 2.84210563f, 4.57311487f, 0.766691625f, 0.00513835577f, -4.61729178e-05f) /
           libm::polynomial(r, 1.0f, 3.60565639f, 2.1528554f, 0.196335673f);
  }
};
template <>
struct ErrorFormat<double> {
  static constexpr double pole = 3.5, erfc_end = 27.4, ndtr_end = 38.7;
  static constexpr double erfcx_end = 26.63, erfcx_flat = 1e10;
  STATOR_FN static double erf_excess(double z) {
    return libm::polynomial(z, 0.12837916709551256, -0.37612638903183654, 0.11283791670946562, -0.026866170642317951,
                            0.0052239775784706285, -0.00085483225139493604, 0.00012055068947737447,
                            -1.4916052132348701e-05, 1.6249924600479059e-06, -1.3727687360467454e-07);
  }
  STATOR_FN static double erfcx(double t) {
    const double t2 = t * t, t4 = t2 * t2;
    return libm::multiply_add(
        t4 * t4,
        libm::estrin(t, -0.0021075098504483155, -0.00015113369238935179, 0.00028219143503672653, -6.075727481455247e-05,
                     -2.1387540031009592e-05, 1.2132923081223887e-05, 1.1538317636670376e-06, -1.9093025382263994e-06,
                     -4.003330860890061e-09, 2.9752318025279399e-07, -2.1625421772379604e-08, -3.9570485154898849e-08,
                     7.6161483685558254e-09, 9.4860202213031238e-10),
        libm::estrin(t, 0.6211746224355772, -0.070004590068809144, -0.005277798166114644, 0.048759547576563936,
                     -0.057544799079763002, 0.04399157691459115, -0.024411662922066122, 0.0095496654394239058));
  }
  STATOR_FN static double ndtri_centre(double u) {
    return libm::polynomial(u, 0.50656124423439142, 14.187931792255041, 6.2613319351833399, -3141.9683407806697,
                            -35078.43477170774, -144550.2960383071, -228399.66775997399, -103567.60439671212,
                            -1409.3917409557193) /
           libm::polynomial(u, 1.0, 51.856455968819525, 1043.5991200139918, 10321.358053181379, 52497.003653336207,
                            131436.2705325695, 140717.74882641001, 44861.299885548164);
  }
  STATOR_FN static double ndtri_tail(double r) {
    return libm::polynomial(r, 3.5447530241843896, 31.554371748891644, 57.373003817739118, 37.084024341493858,
                            12.652153788044123, 2.2805952894580743, 0.19182449283911512, 0.0067911132616916108,
                            8.7887683589344426e-05, 2.9858286837580977e-07, 3.7960878679834969e-11) /
           libm::polynomial(r, 1.0, 14.050273552510175, 40.301870230612757, 41.149091979772109, 20.048439648911362,
                            5.4884052680989415, 0.7926191345302962, 0.054052549263683178, 0.0015707416006010147,
                            1.6620801296178011e-05, 4.394173732868947e-08);
  }
};

inline constexpr double start = 0.625;  // below it erf has a series, above it erfc is an exponential times erfcx
inline constexpr double sqrt_half = 0.70710678118654752440;

// value * exp(low), which is a little more precise than value.
template <class T>
struct Product {
  T value, low;
};

// exp(a^2) erfc(a) for a >= start. `low` corrects the rounding error of the divisor; the dividend is 0.5 to 0.65.
template <class T>
STATOR_FN Product<T> erfcx(T a) {
  constexpr T pole = ErrorFormat<T>::pole;
  const T divisor = a + T(0.5);
  const T value = ErrorFormat<T>::erfcx((a - pole) / (a + pole)) / divisor;
  return {value, ((divisor - T(0.5)) - a) * (value * T(1.75))};
}

// exp(-c x^2) * factor, where c is a power of two. The square has two parts, because its rounding error would be
// multiplied by x^2. A subnormal exponential is computed times 2^64, so that only the result is rounded.
template <class T>
STATOR_FN T gauss(T x, T c, Product<T> factor) {
  using F = libm::Format<T>;
  using B = libm::BitsOf<T>;
  const T head = libm::from_bits<T>(libm::bits(x) & (~B(0) << (F::mantissa / 2 + 1)));
  const T high = -c * head * head, low = -c * (x - head) * (x + head);
  const T shifted = libm::multiply_add(high + low, T(libm::log2_e), F::round);
  const T n = shifted - F::round;
  const T r = libm::multiply_add(n, -F::ln2_lo, libm::multiply_add(n, -F::ln2_hi, high) + (low + factor.low));
  const T e = libm::multiply_add(r * r, libm::ExpFormat<T>::tail(r), r);
  const B lift = libm::mask<T>(high < libm::ExpFormat<T>::subnormal_below) & (B(64) << F::mantissa);
  const T power = libm::from_bits<T>(((libm::bits(shifted) + B(F::bias)) << F::mantissa) + lift);
  return libm::multiply_add(factor.value, e, factor.value) * power * libm::from_bits<T>(libm::bits(T(1)) - lift);
}

// NaN stays NaN.
template <class T>
STATOR_FN T at_most(T x, T end) {
  return libm::select(x > end, end, x);
}

// erf(x) for |x| < start.
template <class T>
STATOR_FN T erf_small(T x) {
  return libm::multiply_add(x, ErrorFormat<T>::erf_excess(x * x), x);
}

// erfc(a) for a >= start.
template <class T>
STATOR_FN T erfc_large(T a) {
  a = at_most(a, ErrorFormat<T>::erfc_end);
  return gauss(a, T(1), erfcx(a));
}

// ndtri(1/2 + q) / q for |q| <= 7/16 as a function of q^2: the constant 3 and a rational function for the rest.
template <class T>
STATOR_FN T ndtri_centre(T square) {
  return T(3) + ErrorFormat<T>::ndtri_centre(T(0.19140625) - square);
}

// -ndtri(p) * scale for p <= 1/16: nearly linear in r = sqrt(-log2(p)), and r itself is added last.
template <class T>
STATOR_FN T ndtri_tail(T p, double scale) {
  constexpr double slope = 1.1774100225154746910;
  const T r = sqrt(-log2(p));
  const T rest = libm::multiply_add(T(slope * scale - 1), r, -T(scale) * ErrorFormat<T>::ndtri_tail(r));
  return p == T(0) ? limits<T>::infinity() : r + rest;
}

}  // namespace special

template <class T>
STATOR_FN T erf(T x) {
  const T a = libm::magnitude(x);
  return libm::select(a < T(special::start), special::erf_small(x),
                      libm::with_sign_of(T(1) - special::erfc_large(a), x));
}

template <class T>
STATOR_FN T erfc(T x) {
  const T a = libm::magnitude(x), large = special::erfc_large(a);
  return libm::select(a < T(special::start), T(1) - special::erf_small(x), libm::select(x < T(0), T(2) - large, large));
}

// exp(x^2) erfc(x). For x < 0 it is 2 exp(x^2) - erfcx(-x), which overflows before exp(x^2) does. For large x it is
// 1 / (x sqrt(pi)) to more digits than T has.
template <class T>
STATOR_FN T erfcx(T x) {
  using Format = special::ErrorFormat<T>;
  const T a = special::at_most(libm::magnitude(x), Format::erfcx_flat);
  const special::Product<T> large = special::erfcx(a);
  const T right = libm::multiply_add(large.value, large.low, large.value);
  const T power = special::gauss(special::at_most(a, Format::erfcx_end), T(-1), special::Product<T>{T(1), T(0)});
  const T small = power - power * special::erf_small(x);
  const T left = libm::select(x < -Format::erfcx_end, limits<T>::infinity(), T(2) * power - right);
  const T far = libm::select(x > Format::erfcx_flat, T(0.56418958354775628695) / x, right);
  return libm::select(libm::magnitude(x) < T(special::start), small, libm::select(x < T(0), left, far));
}

// The normal distribution function: erfc(-x / sqrt(2)) / 2, without the rounding of x / sqrt(2) in the exponent.
template <class T>
STATOR_FN T ndtr(T x) {
  const T a = special::at_most(libm::magnitude(x), special::ErrorFormat<T>::ndtr_end);
  const T large = T(0.5) * special::gauss(a, T(0.5), special::erfcx(a * T(special::sqrt_half)));
  const T small = special::erf_small(x * T(special::sqrt_half));
  return libm::select(a < T(special::start / special::sqrt_half), T(0.5) + T(0.5) * small,
                      libm::select(x < T(0), large, T(1) - large));
}

// log1p(-ndtr(-x)), by its series if ndtr(-x) is tiny; for x <= -0.88 the logarithm of ndtr without its underflow.
template <class T>
STATOR_FN T log_ndtr(T x) {
  if (x > T(-0.88)) {
    const T tail = ndtr(-x);
    return x > T(5) ? -tail * (T(1) + tail * (T(0.5) + tail * T(1.0 / 3))) : log1p(-tail);
  }
  const T a = special::at_most(-x * T(special::sqrt_half), T(1e18));
  const special::Product<T> twice = special::erfcx(a);
  return log(T(0.5) * twice.value) + (twice.low - T(0.5) * x * x);
}

template <class T>
STATOR_FN T ndtri(T p) {
  if (!(p >= T(0) && p <= T(1))) return limits<T>::nan();
  const T q = p - T(0.5);
  if (abs(q) <= T(0.4375)) return q * special::ndtri_centre(q * q);
  return copysign(special::ndtri_tail(q < T(0) ? p : T(1) - p, 1), q);
}

template <class T>
STATOR_FN T erfinv(T y) {
  const T a = abs(y), q = T(0.5) * y;
  if (!(a <= T(1))) return limits<T>::nan();
  if (a <= T(0.875)) return y * (special::ndtri_centre(q * q) * T(0.5 * special::sqrt_half));
  return copysign(special::ndtri_tail(T(0.5) * (T(1) - a), special::sqrt_half), y);
}

// 1 / (1 + exp(-x)) from exp(-|x|), which neither overflows nor cancels.
template <class T>
STATOR_FN T expit(T x) {
  const T e = libm::polynomial_exp(-libm::magnitude(x));
  return libm::select(x < T(0), e, T(1)) / (T(1) + e);
}

// log(p / (1 - p)); in the middle from 2p - 1, which is exact there, so that it is precise near the zero at 1/2.
template <class T>
STATOR_FN T logit(T p) {
  if (p >= T(0.25) && p <= T(0.75)) {
    const T twice = p + p - T(1);
    return copysign(log1p(abs(twice) / (p < T(0.5) ? p : T(1) - p)), twice);
  }
  return log(p / (T(1) - p));
}

// -x log(x): 0 for x = 0, and -infinity for x < 0.
template <class T>
STATOR_FN T entr(T x) {
  if (x == T(0)) return T(0);
  return x < T(0) ? -limits<T>::infinity() : -x * log(x);
}

}  // namespace stator::STATOR_TARGET
