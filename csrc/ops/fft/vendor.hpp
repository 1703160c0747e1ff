// Transforms by cuFFT.
#pragma once

#include "libs/fft.hpp"

#include <stator/array.hpp>

#include <vector>

namespace stator::fft {

// What one call transforms: the axes, in the order given, of which the last one is the halved axis of a real kind, and
// the lengths of the transforms. For complex_to_real the last length is that of the result.
struct Request {
  libs::FftKind kind;
  bool inverse;
  std::vector<int> axes = {};
  std::vector<int64_t> lengths = {};
  double scale = 1;
};

// `result` is contiguous and has the final shape. False, with the source unchanged, on the host, where cuFFT is not
// installed, and for rare layouts of reals that it refuses. A layout that cuFFT cannot describe, or a length to pad to,
// costs a copy; a conjugate or a scale costs one more pass.
bool transform_by_vendor(OpCall& call, const Array& source, const Array& result, const Request&);

}  // namespace stator::fft
