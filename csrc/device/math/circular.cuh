// sin, cos and tan over the whole range, and complex functions that use them: exp, expm1, sinh, cosh, tanh, sin, cos
// and tan. glibc's reduction of doubles far from zero keeps too few digits near multiples of pi/2, so the host targets
// have their own; CUDA's is exact.
#pragma once

#include "complex_exponential.cuh"
#include "complex_hyperbolic.cuh"
#include "elementary_tan.cuh"
#include "math.cuh"

namespace stator::STATOR_TARGET::libm {

// sin and cos of numbers whose rank is at most `last`: they are reduced accurately by pi/2 in three parts.
struct UsualCircular {
  static constexpr bool replaced = true;  // other elements are computed one by one
  static constexpr uint64_t last = bit_cast<uint64_t>(0x1p26);
  STATOR_FN static uint64_t rank(double x) { return bits(magnitude(x)); }
};
struct UsualSin : UsualCircular {
  STATOR_FN double operator()(double x) const { return sin(x); }
};
struct UsualCos : UsualCircular {
  STATOR_FN double operator()(double x) const { return cos(x); }
};

#if defined(STATOR_HOST)

// An angle as n pi/2 + high + low, |high| <= pi/4.
struct Turned {
  double high, low;
  uint64_t n;  // modulo 4
};

// x modulo 2 pi for finite |x| >= 2^16 by the method of Payne and Hanek (SIGNUM Newsletter 18, 1983): for x = m 2^e,
// bits of 2/pi whose products with m are multiples of 4 are skipped, and the next 192 bits are used. No double is
// within 2^-62 pi/2 of a multiple of pi/2, so at least 75 bits are correct.
STATOR_CALL Turned turned(double x) {
  using Wide = unsigned __int128;
  static constexpr uint64_t two_over_pi[] = {
      0x0000000000000000u, 0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u, 0xfe5163abdebbc561u,
      0xb7246e3a424dd2e0u, 0x06492eea09d1921cu, 0xfe1deb1cb129a73eu, 0xe88235f52ebb4484u, 0xe99c7026b45f7e41u,
      0x3991d639835339f4u, 0x9c845f8bbdf9283bu, 0x1ff897ffde05980fu, 0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u,
      0x4f463f669e5fea2du, 0x7527bac7ebe5f17bu, 0x3d0739f78a5292eau, 0x6bfb5fb11f8d5d08u, 0x56033046fc7b6babu};
  const uint64_t all = bits(magnitude(x)), m = (all & 0xfffffffffffffu) | 0x10000000000000u;
  const int first_bit = int(all >> 52) - 1023 - 52 + 62, shift = first_bit & 63;  // of the first bit used
  const uint64_t* word = two_over_pi + (first_bit >> 6);
  const auto part = [&](int k) { return uint64_t(((Wide(word[k]) << 64 | word[k + 1]) << shift) >> 64); };
  const Wide low_product = Wide(m) * part(2), middle = Wide(m) * part(1) + uint64_t(low_product >> 64);
  uint64_t high = m * part(0) + uint64_t(middle >> 64);  // 2 bits before the point
  Wide rest = Wide(uint64_t(middle)) << 64 | uint64_t(low_product);
  const uint64_t n = (high + 0x2000000000000000u) >> 62;
  high -= n << 62;
  const bool negative = high >> 63;
  if (negative) {
    rest = -rest;
    high = ~high + (rest == 0);
  }
  // The bits after the leading zeros, as two doubles.
  const int zeros = high ? __builtin_clzll(high) : 64 + (rest >> 64 ? __builtin_clzll(uint64_t(rest >> 64)) : 64);
  const Wide top = Wide(high) << 64 | uint64_t(rest >> 64), low_word = uint64_t(rest);
  const Wide lined = zeros == 0 ? top : zeros < 64 ? top << zeros | low_word >> (64 - zeros) : rest << (zeros - 64);
  const uint64_t leading = uint64_t(lined >> 75), trailing = uint64_t(lined >> 11 & 0xffffffffffffffffu);
  const double unit = from_bits<double>(uint64_t(1023 - 51 - zeros) << 52);  // of the last bit of `leading`
  const double quarter = double(leading) * unit, quarter_low = double(trailing) * unit * 0x1p-64;
  constexpr double half_pi = 1.5707963267948966, half_pi_low = 6.123233995736766e-17;
  const double angle = quarter * half_pi;
  const double angle_low = product_error(quarter, half_pi, angle) + (quarter * half_pi_low + quarter_low * half_pi);
  const double sum = angle + angle_low, lost = angle_low - (sum - angle);
  const bool turn_back = negative != (x < 0);
  return {turn_back ? -sum : sum, turn_back ? -lost : lost, x < 0 ? (0 - n) & 3 : n & 3};
}

STATOR_FN double sine_of(const Turned& t) {
  const double z = t.high * t.high;
  return multiply_add(t.high * z, TanFormat<double>::sine_tail(z), t.low) + t.high;
}
STATOR_FN double cosine_of(const Turned& t) {
  const double z = t.high * t.high;
  return multiply_add(z, TanFormat<double>::cosine_tail(z), 1.0 - t.high * t.low);
}

STATOR_FN double far_sin(double x) {
  if (!(magnitude(x) < infinite<double>)) return x - x;
  const Turned t = turned(x);
  const double y = t.n & 1 ? cosine_of(t) : sine_of(t);
  return t.n & 2 ? -y : y;
}
STATOR_FN double far_cos(double x) {
  if (!(magnitude(x) < infinite<double>)) return x - x;
  const Turned t = turned(x);
  const double y = t.n & 1 ? sine_of(t) : cosine_of(t);
  return (t.n + 1) & 2 ? -y : y;
}
STATOR_FN double far_tan(double x) {
  if (!(magnitude(x) < infinite<double>)) return x - x;
  const Turned t = turned(x);
  return t.n & 1 ? -cosine_of(t) / sine_of(t) : sine_of(t) / cosine_of(t);
}

STATOR_FN double full_sin(double x) { return UsualSin::rank(x) <= UsualSin::last ? UsualSin{}(x) : far_sin(x); }
STATOR_FN double full_cos(double x) { return UsualCos::rank(x) <= UsualCos::last ? UsualCos{}(x) : far_cos(x); }
STATOR_FN double full_tan(double x) {
  return UsualTan<double>::rank(x) <= UsualTan<double>::last ? near_tan(x) : far_tan(x);
}

STATOR_FN void full_sincos(double x, double& sine, double& cosine) {
  if (UsualCircular::rank(x) <= UsualCircular::last || !(magnitude(x) < infinite<double>))
    return sincos(x, sine, cosine);
  const Turned t = turned(x);
  const double s = sine_of(t), c = cosine_of(t), to_sine = t.n & 1 ? c : s, to_cosine = t.n & 1 ? s : c;
  sine = t.n & 2 ? -to_sine : to_sine;
  cosine = (t.n + 1) & 2 ? -to_cosine : to_cosine;
}

// i^n z, for exp, sinh and cosh of w + i n pi/2: sinh of it is i^n sinh(w), or i^n cosh(w) for odd n.
STATOR_FN complex128 quarter_turns(complex128 z, uint64_t n) {
  const complex128 half = n & 2 ? complex128(-z.re, -z.im) : z;
  return n & 1 ? complex128(-half.im, half.re) : half;
}
STATOR_FN bool is_far(double y) {
  return UsualCircular::rank(y) > UsualCircular::last && magnitude(y) < infinite<double>;
}

STATOR_FN complex128 full_exp(complex128 z) {
  if (!is_far(z.im)) return STATOR_TARGET::exp(z);
  const Turned t = turned(z.im);
  return quarter_turns(STATOR_TARGET::exp(complex128(z.re, t.high)), t.n);
}
// expm1 of any complex number, as expm1() computes it.
STATOR_FN complex128 full_expm1(complex128 z) {
  if (!is_far(z.im)) return STATOR_TARGET::expm1(z);
  const complex128 e = full_exp(z);
  if (!(magnitude(z.re) < 40.0)) return {e.re - 1.0, e.im};
  const double half_sine = far_sin(0.5 * z.im);
  return {expm1(z.re) * far_cos(z.im) - 2.0 * half_sine * half_sine, e.im};
}
STATOR_FN complex128 full_sinh(complex128 z) {
  if (!is_far(z.im)) return STATOR_TARGET::sinh(z);
  const Turned t = turned(z.im);
  const complex128 w(z.re, t.high);
  return quarter_turns(t.n & 1 ? STATOR_TARGET::cosh(w) : STATOR_TARGET::sinh(w), t.n);
}
STATOR_FN complex128 full_cosh(complex128 z) {
  if (!is_far(z.im)) return STATOR_TARGET::cosh(z);
  const Turned t = turned(z.im);
  const complex128 w(z.re, t.high);
  return quarter_turns(t.n & 1 ? STATOR_TARGET::sinh(w) : STATOR_TARGET::cosh(w), t.n);
}
STATOR_FN complex128 full_tanh(complex128 z) {
  if (!is_far(z.im)) return STATOR_TARGET::tanh(z);
  const Turned t = turned(z.im);
  const complex128 w = STATOR_TARGET::tanh(complex128(z.re, t.high));
  return t.n & 1 ? complex128(1.0, 0.0) / w : w;
}

#else

STATOR_FN complex128 full_exp(complex128 z) { return STATOR_TARGET::exp(z); }
STATOR_FN complex128 full_expm1(complex128 z) { return STATOR_TARGET::expm1(z); }
STATOR_FN complex128 full_sinh(complex128 z) { return STATOR_TARGET::sinh(z); }
STATOR_FN complex128 full_cosh(complex128 z) { return STATOR_TARGET::cosh(z); }
STATOR_FN complex128 full_tanh(complex128 z) { return STATOR_TARGET::tanh(z); }
STATOR_FN double full_sin(double x) { return sin(x); }
STATOR_FN double full_cos(double x) { return cos(x); }
STATOR_FN double full_tan(double x) { return tan(x); }
STATOR_FN void full_sincos(double x, double& sine, double& cosine) { sincos(x, sine, cosine); }

#endif

STATOR_FN complex128 full_sin(complex128 z) {
  return STATOR_TARGET::detail::over_i(full_sinh(STATOR_TARGET::detail::times_i(z)));
}
STATOR_FN complex128 full_cos(complex128 z) { return full_cosh(STATOR_TARGET::detail::times_i(z)); }
STATOR_FN complex128 full_tan(complex128 z) {
  return STATOR_TARGET::detail::over_i(full_tanh(STATOR_TARGET::detail::times_i(z)));
}

}  // namespace stator::STATOR_TARGET::libm
