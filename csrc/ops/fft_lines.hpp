// Transforms by stator's own kernels.
#pragma once

#include "libs/fft.hpp"

namespace stator::fft {

// The call has declared its operands. One launch for lengths that a block can do; two for lines that blocks share, and
// for lengths with a prime factor above 61 (Bluestein); one more for real lines of either kind.
void transform_lines(OpCall& call, const libs::Fft& fft);

}  // namespace stator::fft
