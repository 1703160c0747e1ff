// Parameters of the launcher of pairwise distances.
#pragma once

#include "params/launch.hpp"

namespace stator::abi {

// out[b, i, j] = the p-norm of a[b, i, :] - b[b, j, :], out contiguous. Strides of batch, row, feature in elements.
struct Distance {
  const void *a, *b;
  void* out;
  DType dtype;  // float32 or float64
  double p;     // 0 counts what differs, infinity is the largest
  int64_t batch, rows, cols, features;
  int64_t a_strides[3], b_strides[3];
};

}  // namespace stator::abi

namespace stator::kernels {

struct DistanceTable {
  void (*cdist)(const abi::Queue&, const abi::Distance&);
};

}  // namespace stator::kernels
