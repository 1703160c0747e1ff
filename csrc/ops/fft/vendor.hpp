// Transforms by cuFFT.
#pragma once

#include "libs/fft.hpp"

#include <stator/array.hpp>

#include <vector>

namespace stator::fft {

// Transforms along `axes`, whose last one is the halved axis of a real kind. `lengths` are those of the transforms,
// `result` is contiguous and has the final shape. False, with the source unchanged, on the host, where cuFFT is not
// installed, and for rare layouts of reals that it refuses. A layout that cuFFT cannot describe, or a length to pad to,
// costs a copy; a conjugate or a scale costs one more pass.
bool transform_by_vendor(OpCall& call, libs::FftKind kind, bool inverse, const Array& source, const Array& result,
                         const std::vector<int>& axes, const std::vector<int64_t>& lengths, double scale);

}  // namespace stator::fft
