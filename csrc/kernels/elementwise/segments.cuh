// Fast host: moves a chunk of an operand of any dtype and layout to or from a dense buffer of the compute type, segment
// by segment, with one dtype switch per segment. Compiled once (segments.cu) for all kernels: these are never inlined,
// since a kernel that shares a unit with them would have a copy of all their loops at each call.
#pragma once

#include "kernels/elementwise/layout.cuh"

namespace stator::STATOR_TARGET::elementwise {

// Loads `count` elements from `offset` on, `step` apart. C is int64, uint64, float, double or complex.
template <class C>
STATOR_COMMON void load_strided(C* out, const void* base, DType dtype, int64_t offset, int64_t step, int64_t count);
// The same the other way. C is such a type, or bool.
template <class C>
STATOR_COMMON void store_strided(const C* values, void* base, DType dtype, int64_t offset, int64_t step, int64_t count);
// `compute` is the dtype of such a C.
STATOR_COMMON void load_segments(void* out, DType compute, const void* base, DType dtype, const Walk& walk);
// `result` is the dtype of such a C, or bool.
STATOR_COMMON void store_segments(const void* values, DType result, void* base, DType dtype, const Walk& walk);

}  // namespace stator::STATOR_TARGET::elementwise
