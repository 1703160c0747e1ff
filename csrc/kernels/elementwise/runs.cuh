// Fast host: a chunk of an operand of any dtype and layout, to or from a dense buffer of the compute type. One switch a
// chunk. Compiled once (elementwise_runs.cu) for all kernels.
#pragma once

#include "kernels/elementwise/layout.cuh"

namespace stator::STATOR_TARGET::elementwise {

// `count` elements from `offset` on, `step` apart. C: int64, uint64, float, double or complex.
template <class C>
void load_line(C* out, const void* base, DType dtype, int64_t offset, int64_t step, int64_t count);
// compute: the dtype of such a C.
void load_runs(void* out, DType compute, const void* base, DType dtype, const Walk& walk);
// result: the dtype of such a C, or bool.
void store_runs(const void* values, DType result, void* base, DType dtype, const Walk& walk);

}  // namespace stator::STATOR_TARGET::elementwise
