// Transforms by stator's own kernels.
#pragma once

#include "libs/fft.hpp"

namespace stator::fft {

// The dtype that a transform is computed in: float32 for halves, float64 for integers and bool, others as they are.
inline DType computed(DType d) {
  return in(d, dtypes::blas) ? d : d == DType::float16 || d == DType::bfloat16 ? DType::float32 : DType::float64;
}

// The call has declared its operands. One launch for lengths that one block can handle; two for signals that blocks
// share, and for lengths with a prime factor above 61 (Bluestein); for real signals of either kind one more.
void transform_signals(OpCall& call, const libs::Fft& fft);

}  // namespace stator::fft
