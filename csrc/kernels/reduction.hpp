// Parameters of the reduction launchers.
#pragma once

#include "device/abi.hpp"

#include <stator/op_table.hpp>

namespace stator::abi {

// Every axis is either kept or reduced; both groups are collapsed on their own. The output is contiguous over the kept
// axes in the order given (row-major). reduced_size may be 0 only where the op has an identity.
struct Reduction {
  const void* in;
  void* out;
  DType in_dtype, compute, out_dtype;  // compute: the dtype that elements are converted to before accumulation
  int32_t kept_ndim, reduced_ndim;
  int64_t kept_shape[max_dims], kept_strides[max_dims];        // elements
  int64_t reduced_shape[max_dims], reduced_strides[max_dims];  // row-major order of the original axes: argmax counts so
  int64_t kept_size, reduced_size;
};

}  // namespace stator::abi

namespace stator::kernels {

// Scratch that a reduction needs when it splits the reduced axis over blocks. A launcher asks for it in two steps:
// scratch_bytes(limits, r) says how much; counters are zeroed device memory that the kernel leaves zero.
struct ReductionScratch {
  void* partials;
  uint32_t* counters;
};
struct ReductionNeeds {
  int64_t partial_bytes, counter_bytes;
};

struct ReductionTable {
  ReductionNeeds (*needs)(const abi::DeviceLimits&, Op, const abi::Reduction&);
  void (*op[op_count])(const abi::Queue&, const abi::Reduction&, const ReductionScratch&);
};

}  // namespace stator::kernels
