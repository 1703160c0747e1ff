// Parameters of the reduction launchers.
#pragma once

#include "params/launcher.hpp"

#include <cstdint>

namespace stator::params {

// What becomes of the accumulator of n elements.
enum class Finish : int32_t { value, mean, any, none, variance, deviation };

// How a reducer goes about it: one compiled kernel serves several ops.
struct ReductionMode {
  Finish finish = Finish::value;
  bool smallest = false;   // extreme, position
  bool skip_nan = false;   // sum, moments, extreme: NaN does not count
  bool zeros = false;      // count: the zeros instead of the others
  bool nonfinite = false;  // count: NaN and infinities
  int32_t bits = 64;       // extreme: of an element, whose least value is that of none; the plan sets it
  double parameter = 0;    // norm: the order; moments: what is taken from n
};

// Every axis is either kept or reduced; both groups are collapsed on their own. The output is contiguous over the kept
// axes in the order given (row-major). reduced_size may be 0 only where the op has an identity.
struct Reduction {
  const void* in;
  const bool* mask;  // null, or which elements count; its strides are the mask_ ones
  void* out;
  DType in_dtype, compute, out_dtype;  // compute: the dtype that elements are converted to before accumulation
  ReductionMode mode;
  int32_t kept_ndim, reduced_ndim;
  int64_t kept_shape[max_dims], kept_strides[max_dims], kept_mask_strides[max_dims];  // elements
  // Row-major order of the original axes: positions count so.
  int64_t reduced_shape[max_dims], reduced_strides[max_dims], reduced_mask_strides[max_dims];
  int64_t kept_size, reduced_size;
};

// out[k, r] = grad[k] * the product of x[k, s] over s other than r; axes are kept or reduced, each group collapsed on
// its own.
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

// What is accumulated; each op is one of them in some mode (ops/reduce/rules.cpp).
enum class Reducer : int32_t { sum, product, extreme, position, count, moments, norm, logsumexp, euclidean };
inline constexpr int reducer_count = int(Reducer::euclidean) + 1;

// Scratch that a reduction needs when it splits the reduced axis over blocks. A launcher asks for it in two steps:
// needs(limits, r) says how much; counters are zeroed device memory that the kernel leaves zero.
struct Scratch {
  void* partials;
  uint32_t* counters;
};
struct Needs {
  int64_t partial_bytes, counter_bytes;
};
extern Launcher<Needs(const DeviceLimits&, const params::Reduction&)> needs;
extern Launcher<void(const Queue&, Reducer, const params::Reduction&, const Scratch&)> run;

// Bytes of partials that the gradient of a product asks for (0: one launch), and the gradient.
extern Launcher<int64_t(const DeviceLimits&, const params::ProductBackward&)> product_scratch;
extern Launcher<void(const Queue&, const params::ProductBackward&, void* partials)> product_backward;

}  // namespace stator::kernels::reduce
