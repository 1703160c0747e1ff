// The oscillations of Bessel and Airy functions for float: the sine is in double, so that errors near a zero are
// relative to the value, and the amplitude, which has no zeros, in float.
#pragma once

#include "special_gamma.cuh"

namespace stator::STATOR_TARGET::bessel {

// Above this angle the steps below are not exact.
inline constexpr double wave_limit = 0x1p19;

// size * sin(angle + more) for 0 <= angle <= wave_limit and a small `more`.
STATOR_FN float wave(float size, double angle, double more) {
  constexpr double pi_high = 0x1.921fb544p+1, pi_low = 0x1.0b4611a626331p-33, inverse_pi = 0.31830988618379067;
  const double turns = floor((angle + more) * inverse_pi + 0.5);
  const double rest = ((angle - turns * pi_high) - turns * pi_low) + more;  // the first product is exact
  const double r = rest * inverse_pi, value = size * (r * special::GammaFormat<double>::sine(r * r));
  return float(turns * 0.5 == floor(turns * 0.5) ? value : -value);
}

}  // namespace stator::STATOR_TARGET::bessel
