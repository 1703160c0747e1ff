// log and exp for random numbers: only additions, multiplications, divisions and operations on bits, no function of the
// target and no fused multiplication, so that what they accept or reject has the same bits on every target. Reduction
// and coefficients are those of FreeBSD's msun (log, below 1 ULP) and of Cody and Waite (exp, below 2 ULP).
// Branch-free.
#pragma once

#include "device/target.cuh"

#include <bit>

namespace stator::STATOR_TARGET::random {

inline constexpr double ln2_hi = 0x1.62e42feep-1, ln2_lo = 0x1.a39ef35793c76p-33;

// log(x) for positive normal x.
STATOR_FN double portable_log(double x) {
  constexpr uint64_t root_half = 0x3fe6a09e667f3bcdu, mantissa = (uint64_t(1) << 52) - 1;
  // The exponent becomes the low bits of a number: vectors of 64-bit integers convert only with AVX-512.
  const uint64_t field = std::bit_cast<uint64_t>(x) - (root_half - (uint64_t(1024) << 52));
  const double k = std::bit_cast<double>((field >> 52) | std::bit_cast<uint64_t>(0x1p52)) - (0x1p52 + 1024);
  const double f = std::bit_cast<double>((field & mantissa) + root_half) - 1.0;
  const double s = f / (2.0 + f), z = s * s, w = z * z;
  const double odd = 6.666666666666735130e-01 +
                     w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01));
  const double even = 3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01);
  const double square = 0.5 * f * f, tail = s * (square + z * (odd + z * even));
  return k * ln2_hi + (f - (square - (k * ln2_lo + tail)));
}

// exp(x) for x up to 700; 0 far below the least number.
STATOR_FN double portable_exp(double x) {
  x = x < -1400.0 ? -1400.0 : x;
  const double shifted = x * 1.4426950408889634074 + 0x1.8p52, n = shifted - 0x1.8p52;
  const double r = (x - n * ln2_hi) - n * ln2_lo, z = r * r;
  const double even =
      0.5 + z * (0.041666666666620638584 +
                 z * (0.0013888888918939167785 + z * (0.000024801518641395993583 + z * 2.76213386691429238e-7)));
  const double odd =
      0.16666666666666667534 +
      z * (0.0083333333333297934996 +
           z * (0.00019841269864380513295 + z * (2.7557266418612303703e-6 + z * 2.5101346928350340198e-8)));
  const double p = 1.0 + (r + z * (even + r * odd));
  // Two halves of 2^n, each a normal number.
  const double half = (n * 0.5 + 0x1.8p52) - 0x1.8p52;
  const auto power = [](double m) {
    return std::bit_cast<double>((std::bit_cast<uint64_t>(m + 0x1.8p52) + 1023) << 52);
  };
  return p * power(half) * power(n - half);
}

// log(k!) for integers k >= 0 by Stirling's series, which small k use at k + 8.
STATOR_FN double log_factorial(double k) {
  const double x = k + 1;
  const bool small = x < 10;
  const double rising = x * (x + 1) * (x + 2) * (x + 3) * (x + 4) * (x + 5) * (x + 6) * (x + 7);
  const double y = small ? x + 8 : x, over = 1 / y, z = over * over;
  const double series = (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680)))) * over;
  return (y - 0.5) * portable_log(y) - y + 0.91893853320467274178 + series - portable_log(small ? rising : 1.0);
}

}  // namespace stator::STATOR_TARGET::random
