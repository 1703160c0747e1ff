// Random numbers in the unit interval and of angles, from random 32-bit words.
#pragma once

#include "device/math/math.cuh"
#include "device/philox.cuh"
#include "device/target.cuh"
#include "params/random.hpp"

namespace stator::STATOR_TARGET::random {

// The initial Philox state of a launch.
struct Start {
  uint64_t seed, offset;
};
STATOR_FN Start start_of(const params::Draws& from) {
  Start start{from.seed, from.offset};
  if (from.state) start = {from.state[0], start.offset + from.state[1]};
  return start;
}

// The high 53 of 64 random bits, as an integer.
STATOR_FN double from_53_bits(uint32_t high, uint32_t low) {
  return double(int32_t(high >> 5)) * 67108864.0 + double(int32_t(low >> 6));
}

STATOR_FN double from_32_bits(uint32_t x) { return double(int32_t(x ^ 0x80000000u)) + 2147483648.0; }
// Uniform in (0, 1] and in [0, 1).
STATOR_FN double open_unit(uint32_t high, uint32_t low) { return (from_53_bits(high, low) + 1.0) * 0x1p-53; }
STATOR_FN double unit(uint32_t high, uint32_t low) { return from_53_bits(high, low) * 0x1p-53; }

STATOR_FN constexpr double horner(double, double c) { return c; }
template <class... C>
STATOR_FN constexpr double horner(double z, double c, C... higher) {
  return c + z * horner(z, higher...);
}

// Sine and cosine of 2 pi t for t in [0, 1): exact reduction to an eighth of a turn, then their series. In double, so
// that results in float are rounded once.
STATOR_FN void sincos_turn(double t, double& sine, double& cosine) {
  const double quarter = floor(t * 4.0 + 0.5);
  const double y = (t - quarter * 0.25) * 6.283185307179586476925287;
  const double z = y * y;
  const double s = y + y * (z * horner(z, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800,
                                       1.0 / 6227020800.0, -1.0 / 1307674368000.0, 1.0 / 355687428096000.0));
  const double c = 1.0 + z * horner(z, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600.0,
                                    -1.0 / 87178291200.0, 1.0 / 20922789888000.0);
  const bool swap = quarter == 1.0 || quarter == 3.0;
  const double a = swap ? s : c, b = swap ? c : s;
  cosine = quarter == 1.0 || quarter == 2.0 ? -a : a;
  sine = quarter == 2.0 || quarter == 3.0 ? -b : b;
}

}  // namespace stator::STATOR_TARGET::random
