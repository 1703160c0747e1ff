// Whether lines of the softmax family can be accessed in vectors.
#pragma once

#include "device/target.cuh"
#include "device/vector.cuh"
#include "params/nn.hpp"

namespace stator::STATOR_TARGET::nn {

// Whether all lines of an operand can be accessed in vectors of `width` elements.
inline bool in_vectors(const params::Softmax& p, const void* base, DType dtype, const int64_t* strides, int64_t step,
                       bool rows, int width) {
  if (base == nullptr) return true;
  if (!is_aligned(base, width * itemsize(dtype))) return false;
  const int innermost = p.ndim - 1;
  if (rows ? step != 1 : step % width != 0) return false;
  for (int d = 0; d < p.ndim; ++d)
    if (!rows && d == innermost ? strides[d] != 1 : strides[d] % width != 0) return false;
  return true;
}
inline bool in_vectors(const params::Softmax& p, bool rows, int width) {
  const int64_t together = rows ? p.n : p.ndim > 0 ? p.shape[p.ndim - 1] : 1;
  return together % width == 0 && in_vectors(p, p.x, p.dtype, p.x_strides, p.x_step, rows, width) &&
         in_vectors(p, p.saved, p.dtype, p.saved_strides, p.saved_step, rows, width) &&
         in_vectors(p, p.y, p.out_dtype, p.y_strides, p.y_step, rows, width);
}

}  // namespace stator::STATOR_TARGET::nn
