// pow for the host targets: 2^(y log2(x)), where the logarithm and the product have more precision than the result; and
// cbrt: a polynomial for the reciprocal root, and steps that correct it. Polynomials: tools/fit_elementary.py.
#pragma once

#include "elementary_exp.cuh"
#include "elementary_log.cuh"

namespace stator::STATOR_TARGET::libm {

STATOR_FN float truncated(float x) { return __builtin_truncf(x); }
STATOR_FN double truncated(double x) { return __builtin_trunc(x); }

// log2 of x >= 0 with enough precision for the product log2(x) y.
template <class T>
struct Log2;

// In double, because the exponent (up to 128) takes 7 bits of the product, which float does not have.
template <>
struct Log2<float> {
  double whole;
  STATOR_FN explicit Log2(float x) {
    const LogParts<float> p = log_parts_of_any(x);
    // f / (2 + f) to 46 bits, by a division in float and a Newton step in double.
    const double f = double(p.f), inverse = double(1.0f / (2.0f + p.f)), first = f * inverse;
    const double s = multiply_add(multiply_add(-first, 2.0 + f, f), inverse, first), z = s * s;
    const double tail =
        polynomial(z, 0x1.ec709d5cbb763p-1, 0x1.277756d21b82dp-1, 0x1.a59d3ff349e24p-2, 0x1.5bef78bb5127cp-2);
    const double k = double(select(x == 0.0f, -infinite<float>, select(x < infinite<float>, p.k, x)));
    whole = multiply_add(s, multiply_add(z, tail, 2.0 * log2_e), k);
  }
  // 2^(y log2(x)).
  STATOR_FN float power(float y) const {
    using E = ExpFormat<float>;
    const double product = whole * double(y);
    const float rounded = float(product), shifted = rounded + E::less_one;
    const ExpParts<float> e = exp2_parts(float(product - double(shifted - E::less_one)), shifted);
    const float value = exp_scaled(e, rounded < -124.0f);
    return select(rounded <= 128.25f, zero_if(rounded < -151.0f, value), rounded + infinite<float>);
  }
};

// In two doubles: log2(1 + f) = s (c + z (c/3 + z tail)) for c = 2 log2(e); only the tail is a single double.
template <>
struct Log2<double> {
  double high, low;
  STATOR_FN explicit Log2(double x) {
    constexpr double c = 0x1.71547652b82fep+1, c_low = 0x1.777d0ffda0d24p-55;
    constexpr double third = 0x1.ec709dc3a03fdp-1, third_low = 0x1.d27f05548af0cp-55;
    const LogParts<double> p = log_parts_of_any(x);
    const double f = p.f, d = 2.0 + f, d_low = f - (d - 2.0), inverse = 1.0 / d;
    const double s = f * inverse, sd = s * d;
    const double s_low = multiply_add(-s, d_low, (f - sd) - product_error(s, d, sd)) * inverse;
    const double z = s * s, z_low = multiply_add(s + s, s_low, product_error(s, s, z));
    const double tail =
        z * polynomial(z, 0x1.2776c50ef9c02p-1, 0x1.a61762a7a828dp-2, 0x1.484b13e3f2dc3p-2, 0x1.0c9a7aef12417p-2,
                       0x1.c6969e5f92971p-3, 0x1.888ca378aac5ep-3, 0x1.7d94f8eafeb10p-3);
    const double t = third + tail, t_low = ((third - t) + tail) + third_low;
    const double b = t * z, b_low = multiply_add(t_low, z, multiply_add(t, z_low, product_error(t, z, b)));
    const double a = c + b, a_low = ((c - a) + b) + (c_low + b_low);
    const double l = s * a, l_low = multiply_add(s, a_low, multiply_add(s_low, a, product_error(s, a, l)));
    const double k = select(x == 0.0, -infinite<double>, select(x < infinite<double>, p.k, x));
    high = k + l;
    low = ((k - high) + l) + l_low;
  }
  STATOR_FN double power(double y) const {
    const double product = high * y, product_low = multiply_add(low, y, product_error(high, y, product));
    const double shifted = product + ExpFormat<double>::less_one;
    const double r = (product - (shifted - ExpFormat<double>::less_one)) + product_low;
    const double value = exp_scaled(exp2_parts(r, shifted), product < -1020.0);
    return select(product <= 1024.25, zero_if(product < -1076.0, value), product + infinite<double>);
  }
};

template <class T>
STATOR_FN T own_pow(T x, T y) {
  const T a = magnitude(x), half = T(0.5) * y, whole_y = truncated(y);
  const bool integer = whole_y == y, odd = integer & (truncated(half) != half);
  const T size = select((a == T(1)) | (y == T(0)), T(1), Log2<T>(a).power(y));
  const T checked = nan_if((x < T(0)) & !integer & (a < infinite<T>), size);
  return from_bits<T>(bits(checked) ^ (bits(x) & sign_bit<T> & mask<T>(odd)));
}

// cbrt(m) = m z^2 (1 - e)^(-2/3) for an estimate z of 1 / cbrt(m) and e = 1 - m z^3. The bits of a number are
// nearly linear in its logarithm, so those of z are a constant minus a third of those of m; |e| is below 0.11.
STATOR_FN float own_cbrt(float x) {
  const float a = magnitude(x);
  const bool subnormal = a < limits<float>::least_normal();
  const float m = a * select(subnormal, 0x1p24f, 1.0f);
  const float z = from_bits<float>(uint32_t(int32_t(multiply_add(float(int32_t(bits(m))), -1.0f / 3, 1419902976.0f))));
  const float root = m * (z * z), e = multiply_add(-root, z, 1.0f);
  const float tail = polynomial(e, 0.666666687f, 0.555536568f, 0.493796051f, 0.458532155f, 0.428798229f);
  const float y = multiply_add(root * e, tail, root) * select(subnormal, 0x1p-8f, 1.0f);
  return with_sign_of(select(a < infinite<float>, y, a + a), x);
}

// The upper half of the bits is converted by arithmetic, because before AVX-512 there is no conversion for vectors of
// 64-bit integers. A step z (1 - e)^(-1/3) improves the estimate.
STATOR_FN double own_cbrt(double x) {
  const double a = magnitude(x);
  const bool subnormal = a < limits<double>::least_normal();
  const double m = a * select(subnormal, 0x1p54, 1.0);
  const double upper = from_bits<double>((bits(m) >> 32) | bits(0x1p52)) - 0x1p52;
  const double guess = from_bits<double>(bits(multiply_add(upper, -1.0 / 3, 1430183936.0 + 0x1p52)) << 32);
  const double lack = multiply_add(-(m * guess), guess * guess, 1.0);
  const double step =
      polynomial(lack, 0.33332961996327354, 0.2221980673927115, 0.17438878968117277, 0.14845498858854805);
  const double z = multiply_add(guess * lack, step, guess);
  const double root = m * (z * z), e = multiply_add(-root, z, 1.0);
  const double tail = polynomial(e, 0.66666666666666663, 0.55555555555555558);
  const double y = multiply_add(root * e, tail, root) * select(subnormal, 0x1p-18, 1.0);
  return with_sign_of(select(a < infinite<double>, y, a + a), x);
}

}  // namespace stator::STATOR_TARGET::libm
