// Where the result of an approximate instruction may lie by the documentation of PTX, and the choice of a value there:
// with Settings::perturb, so that code which relies on more is found.
#pragma once

#include "emulator/machine/level/lanes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace stator::emulator::machine {

enum class Fn : uint8_t { rcp, rsqrt, sqrt, sin, cos, lg2, ex2, tanh, div };

// The largest distance from the exact value, as a part of it, as a number, or in units of the last place of the result.
// Units count from the exact value rounded to nearest if `from_rounded`.
struct Bound {
  double relative = 0, absolute = 0, ulps = 0;
  bool from_rounded = false;
};

// A number in [-1, 1] that depends on the function, the operands and the seed only, as an instruction of a device
// does. It is often at an end, where errors of several instructions add up to the most.
inline double noise(uint64_t seed, Fn function, uint64_t bits) {
  uint64_t v = (seed + 1) * 0x9e3779b97f4a7c15 ^ (uint64_t(function) + 1) * 0xbf58476d1ce4e5b9;
  for (const uint64_t word : {bits, v}) {
    v = (v ^ word) * 0x94d049bb133111eb;
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9;
    v ^= v >> 31;
  }
  return std::clamp(double(int64_t(v)) * (1.5 / 9223372036854775808.0), -1.0, 1.0);
}

// The unit of the last place of a number with `bits` bits after the leading one.
inline double unit_of(double v, int bits, int least_exponent) {
  return std::ldexp(1.0, std::max(v == 0 ? least_exponent : std::ilogb(v), least_exponent) - bits);
}

// A number of the format within the bound, chosen by `n` of [-1, 1]: the exact value rounded to nearest where the
// format has no other.
template <class Round>
double placed(double exact, double distance, double n, Round round) {
  for (int attempt = 0; attempt < 8; ++attempt, n /= 2) {
    const double chosen = round(exact + n * distance);
    if (std::abs(chosen - exact) <= distance) return chosen;
  }
  return round(exact);
}

inline bool perturbs(const Warp& w) { return w.block->launch->settings.perturb; }
inline uint64_t seed_of(const Warp& w) { return w.block->launch->settings.seed; }

}  // namespace stator::emulator::machine
