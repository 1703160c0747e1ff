// Fast host: a chunk of an operand of any dtype and layout, to or from a dense buffer of the compute type. One switch a
// chunk. Compiled once (elementwise_runs.cu) for all kernels.
#pragma once

#include "kernels/elementwise_layout.cuh"

namespace stator::STATOR_COLUMN {

template <class C>
void load_runs(C* out, const void* base, DType dtype, Walk walk);
// `count` elements from `offset` on, `step` apart.
template <class C>
void load_line(C* out, const void* base, DType dtype, int64_t offset, int64_t step, int64_t count);
template <class C>
void store_runs(const C* values, void* base, DType dtype, Walk walk);

}  // namespace stator::STATOR_COLUMN
