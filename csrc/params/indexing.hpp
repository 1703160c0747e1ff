// Parameters of the indexing launchers.
#pragma once

#include "params/launch.hpp"

namespace stator::abi {

// out[o, k, i] = x[o, indices[k], i]: x is [outer, n, inner] with element strides, out is contiguous [outer, count,
// inner]. An index outside -n..n-1 reads 0 and goes to the error slot. Moves bytes, so only the item size matters.
struct Take {
  const void* x;
  const void* indices;
  void* out;
  int32_t itemsize;
  DType index_dtype;  // any integer dtype
  int64_t outer, n, inner, count;
  int64_t x_strides[3], index_stride;
};

}  // namespace stator::abi

namespace stator::kernels {

struct IndexingTable {
  void (*take)(const abi::Queue&, const abi::Take&);
};

}  // namespace stator::kernels
