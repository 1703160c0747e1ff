// log, log2, log10, log1p, asinh, acosh, atanh for the host targets: x = 2^k (1 + f) with 1 + f in [sqrt(1/2),
// sqrt(2)). log(1 + f) is f, which is exact, plus a rest: for double, s (f^2/2 + R(s^2)) - f^2/2 with s = f / (2 + f)
// (form and coefficients of FreeBSD's msun); for float, a polynomial without a division (tools/fit_elementary.py).
#pragma once

#include "elementary_core.cuh"

namespace stator::STATOR_TARGET::libm {

template <class T>
struct LogFormat;
template <>
struct LogFormat<float> {
  static constexpr float large = 0x1p13f;  // 1 / large^2 is below an ULP
  static constexpr float log10_e = 0x1.bcb7b2p-2f, log10_2 = 0x1.344136p-2f;
  // log(1 + f) - f
  STATOR_FN static float rest(float f) {
    return f * f *
           estrin(f, -0.5f, 0.333339095f, -0.250013381f, 0.199630648f, -0.16577585f, 0.149147674f, -0.142674759f,
                  0.0870041698f);
  }
};
template <>
struct LogFormat<double> {
  static constexpr double large = 0x1p28;
  static constexpr double log10_e = 0x1.bcb7b1526e50ep-2, log10_2 = 0x1.34413509f79ffp-2;
  STATOR_FN static double rest(double f) {
    const double s = f / (2.0 + f), z = s * s, half_square = 0.5 * f * f;
    const double tail =
        estrin(z, 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
               2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01);
    return multiply_add(s, multiply_add(z, tail, half_square), -half_square);
  }
};

// x = 2^k (1 + f) for a normal positive x; `exponent` has k in the exponent field, and other bits below it.
template <class T>
struct LogParts {
  T k, f;
  BitsOf<T> exponent;
};
template <class T>
STATOR_FN LogParts<T> log_parts(T x) {
  using F = Format<T>;
  using B = BitsOf<T>;
  constexpr B mantissa_mask = (B(1) << F::mantissa) - 1;
  if constexpr (sizeof(T) == 4) {
    const B field = bits(x) - F::sqrt_half;
    return {T(int32_t(field) >> F::mantissa), from_bits<T>((field & mantissa_mask) + F::sqrt_half) - T(1), field};
  } else {
    // Before AVX-512, vectors of 64-bit integers have neither an arithmetic shift nor a conversion, so k + 1024 becomes
    // the lower bits of a floating-point number.
    const B field = bits(x) - (F::sqrt_half - (B(1024) << F::mantissa));
    const T k = from_bits<T>((field >> F::mantissa) | bits(0x1p52)) - (0x1p52 + 1024);
    return {k, from_bits<T>((field & mantissa_mask) + F::sqrt_half) - T(1), field - (B(1024) << F::mantissa)};
  }
}
// The same for subnormal numbers too, and for zero with k = -infinity; meaningless for negative and special values.
template <class T>
STATOR_FN LogParts<T> log_parts_of_any(T x) {
  using F = Format<T>;
  const bool subnormal = x < limits<T>::least_normal();
  LogParts<T> parts = log_parts(x * select(subnormal, T(BitsOf<T>(1) << F::mantissa), T(1)));
  parts.k = parts.k + select(subnormal, select(x > T(0), -T(F::mantissa), -infinite<T>), T(0));
  return parts;
}

// log(1 + f) + k ln(2).
template <class T>
STATOR_FN T log_sum(T f, T k) {
  using F = Format<T>;
  return multiply_add(k, F::ln2_hi, f + multiply_add(k, F::ln2_lo, LogFormat<T>::rest(f)));
}

// `value`, the logarithm of x, but a quiet NaN for x < 0 and NaN, and infinity for infinity.
template <class T>
STATOR_FN T log_at_ends(T x, T value) {
  return select(x < infinite<T>, nan_if(x < T(0), value), x + x);
}

// Which logarithm: the natural one, or that to base 2 or 10.
enum class LogBase { e, two, ten };
template <LogBase Base, class T>
STATOR_FN T log_of_parts(const LogParts<T>& p) {
  if constexpr (Base == LogBase::e) return log_sum(p.f, p.k);
  const T log = p.f + LogFormat<T>::rest(p.f);
  if constexpr (Base == LogBase::two) return multiply_add(log, T(log2_e), p.k);
  return multiply_add(p.k, LogFormat<T>::log10_2, log * LogFormat<T>::log10_e);
}
template <LogBase Base, class T>
STATOR_FN T log_of_any(T x) {
  return log_at_ends(x, log_of_parts<Base>(log_parts_of_any(x)));
}
// The same at half the cost for numbers whose rank is at most `last`: positive, normal and finite ones.
template <LogBase Base, class T>
struct UsualLog {
  static constexpr BitsOf<T> first = bit_cast<BitsOf<T>>(limits<T>::least_normal());
  static constexpr BitsOf<T> last = bit_cast<BitsOf<T>>(limits<T>::max()) - first;
  STATOR_FN static BitsOf<T> rank(T x) { return bits(x) - first; }
  STATOR_FN T operator()(T x) const { return log_of_parts<Base>(log_parts(x)); }
};

template <class T>
STATOR_FN T own_log(T x) {
  return log_of_any<LogBase::e>(x);
}
template <class T>
STATOR_FN T own_log2(T x) {
  return log_of_any<LogBase::two>(x);
}
template <class T>
STATOR_FN T own_log10(T x) {
  return log_of_any<LogBase::ten>(x);
}

// log(1 + t), or log(2 (1 + t)) if `twice`. The rounding error of 1 + t is added back to f, so that f = t for small t.
template <class T>
STATOR_FN T log_of_1p(T t, bool twice) {
  using F = Format<T>;
  const T u = T(1) + t;
  const LogParts<T> p = log_parts(u);
  const T lost = t - (u - T(1));
  const BitsOf<T> exponent = p.exponent & ~((BitsOf<T>(1) << F::mantissa) - 1);
  // 2^-k without the upper bit of the exponent, which wraps for the largest numbers: the scale must be finite.
  const T scale = from_bits<T>((bits(T(1)) - exponent) & ~(sign_bit<T> | sign_bit<T> >> 1));
  const T f = multiply_add(lost, scale, p.f);
  return log_at_ends(u, log_sum(f, select(u > T(0), p.k + zero_if(!twice, T(1)), -infinite<T>)));
}

template <class T>
STATOR_FN T own_log1p(T x) {
  return with_sign_of(log_of_1p(x, false), x);
}

// log(a + sqrt(a^2 + 1)) as log_of_1p of the argument minus 1, which is free of cancellation; log(2a) for large a.
template <class T>
STATOR_FN T own_asinh(T x) {
  const T a = magnitude(x), square = a * a;
  const bool large = a > LogFormat<T>::large;
  const T t = a + square / (T(1) + square_root(T(1) + square));
  return with_sign_of(log_of_1p(select(large, a - T(1), t), large), x);
}

template <class T>
STATOR_FN T own_acosh(T x) {
  const T t = x - T(1);
  const bool large = x > LogFormat<T>::large;
  const T root = zero_if(large, square_root(t * (t + T(2))));
  return nan_if(!(x >= T(1)), log_of_1p(t + root, large));
}

template <class T>
STATOR_FN T own_atanh(T x) {
  const T a = magnitude(x);
  return with_sign_of(T(0.5) * log_of_1p((a + a) / (T(1) - a), false), x);
}

}  // namespace stator::STATOR_TARGET::libm
