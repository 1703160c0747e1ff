// Parameters of the reduction launchers.
#pragma once

#include "params/launcher.hpp"

#include <cstdint>

namespace stator::params {

// How the accumulator of n elements becomes the result.
enum class Finish : int32_t { value, mean, any, none, variance, deviation };

// The mode of a reducer, with which one compiled kernel serves several ops.
struct ReductionMode {
  Finish finish = Finish::value;
  bool smallest = false;   // extreme, position
  bool skip_nan = false;   // sum, moments, extreme: ignore NaN
  bool zeros = false;      // count: zeros instead of nonzero elements
  bool nonfinite = false;  // count: NaN and infinities
  int32_t bits = 64;       // extreme: of an element, whose least value is the result of no elements; the plan sets it
  double parameter = 0;    // norm: the order; moments: the correction, which is subtracted from n
};

// Every axis is either kept or reduced; both groups are collapsed separately. The output is contiguous over the kept
// axes in the given order (row-major). reduced_size may be 0 only if the op has an identity.
struct Reduction {
  const void* in;
  const bool* mask;  // null, or which elements are reduced; its strides are kept_mask_strides and reduced_mask_strides
  void* out;
  DType in_dtype, compute, out_dtype;  // compute: the dtype that elements are converted to before accumulation
  ReductionMode mode;
  int32_t kept_ndim, reduced_ndim;
  int64_t kept_shape[max_dims], kept_strides[max_dims], kept_mask_strides[max_dims];  // elements
  // In the order of the original axes, because positions are row-major indices into them.
  int64_t reduced_shape[max_dims], reduced_strides[max_dims], reduced_mask_strides[max_dims];
  int64_t kept_size, reduced_size;
};

// out[k, r] = grad[k] * the product of x[k, s] over all s but r; axes are kept or reduced, and each group is collapsed
// separately.
struct ProductBackward {
  const void *grad, *x;
  void* out;
  DType dtype;
  int32_t kept_ndim, reduced_ndim;
  int64_t kept_size, reduced_size;
  int64_t kept_shape[max_dims], kept_grad[max_dims], kept_x[max_dims], kept_out[max_dims];
  int64_t reduced_shape[max_dims], reduced_x[max_dims], reduced_out[max_dims];
};

}  // namespace stator::params

namespace stator::kernels::reduce {

// What is accumulated; each op is one of these in some mode (ops/reduce/rules.cpp).
enum class Reducer : int32_t { sum, product, extreme, position, count, moments, norm, logsumexp, euclidean };
inline constexpr int reducer_count = int(Reducer::euclidean) + 1;

// Scratch memory of a reduction that splits the reduced axes over blocks; needs(limits, r) says how much. `counters` is
// zeroed device memory that the kernel leaves zero.
struct Scratch {
  void* partials;
  uint32_t* counters;
};
struct Needs {
  int64_t partial_bytes, counter_bytes;
};
extern Launcher<Needs(const DeviceLimits&, const params::Reduction&)> needs;
extern Launcher<void(const Queue&, Reducer, const params::Reduction&, const Scratch&)> run;

// The gradient of a product, and the bytes of `partials` that it needs (0 means one launch).
extern Launcher<int64_t(const DeviceLimits&, const params::ProductBackward&)> product_scratch;
extern Launcher<void(const Queue&, const params::ProductBackward&, void* partials)> product_backward;

}  // namespace stator::kernels::reduce
