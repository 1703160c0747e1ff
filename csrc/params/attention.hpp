// Parameters of the launcher of attention.
#pragma once

#include "params/launcher.hpp"

namespace stator::params {

// For each of `batches` heads softmax(scale q k^T + mask) v, where q is (queries, size), k (keys, size), v (keys,
// value_size) and the mask (queries, keys). The innermost batch axis counts the heads of q, and `group` of them
// share a head of k and v, whose strides there are of a step of `group`. Strides are in elements, innermost axis last.
struct Attention {
  static constexpr int q = 0, k = 1, v = 2, mask = 3, operands = 4;
  static constexpr int largest_size = 256;  // of size and value_size
  const void* data[operands];               // mask: bool, of the dtype, or null
  void* out;                                // (batches, queries, value_size), contiguous
  void* lse;                                // (batches, queries) of float, or of double for float64; or null
  DType dtype;
  bool mask_is_bool;
  bool causal;  // query i takes part up to key i
  double scale;
  int64_t queries, keys, batches, group;
  int32_t size, value_size;
  int64_t row[operands], column[operands];
  int32_t ndim;  // of the batch axes
  int64_t shape[max_dims], strides[operands][max_dims];
};

}  // namespace stator::params

namespace stator::kernels::attention {

extern Launcher<void(const Queue&, const params::Attention&)> attention;

}  // namespace stator::kernels::attention
