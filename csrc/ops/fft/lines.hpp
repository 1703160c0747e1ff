// Transforms by stator's own kernels.
#pragma once

#include "libs/fft.hpp"

namespace stator::fft {

// What a transform of this dtype is computed in: halves in float32, integers and bool in float64, others as they are.
inline DType computed(DType d) {
  return in(d, dtypes::full_floats | dtypes::complexes) ? d
         : d == DType::float16 || d == DType::bfloat16  ? DType::float32
                                                        : DType::float64;
}

// The call has declared its operands. One launch for lengths that a block can do; two for lines that blocks share, and
// for lengths with a prime factor above 61 (Bluestein); one more for real lines of either kind.
void transform_lines(OpCall& call, const libs::Fft& fft);

}  // namespace stator::fft
