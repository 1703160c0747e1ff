// Parameters of the neural-network launchers: softmax family, cross entropy.
#pragma once

#include "params/launcher.hpp"
#include "params/random.hpp"

namespace stator::params {

// Rows of n elements along one axis; the other axes, collapsed, index the rows. Strides and steps are in elements.
struct Softmax {
  const void* x;      // forward: the input. backward: the gradient
  const void* saved;  // backward: the forward result
  void* y;
  void* partials;      // scratch, as softmax_needs says
  uint32_t* counters;  // zeroed scratch
  DType dtype, out_dtype;
  bool log;
  double factor = 1;  // of x, the input or the gradient
  int32_t ndim;       // of the axes that index the rows; innermost last
  int64_t n, rows;
  int64_t x_step, saved_step, y_step;  // along the axis
  int64_t shape[max_dims], x_strides[max_dims], saved_strides[max_dims], y_strides[max_dims];
};

// Softmax of factor * (x + noise) over the elements that a mask and `causal` leave, its logarithm, or 1 at the largest
// of them. The other elements are 0, or -inf of the logarithm. Backward: the gradient of the logarithm, 0 for the other
// elements, whose own do not count.
struct MaskedSoftmax {
  Softmax of;  // without scratch
  const bool* mask;
  int64_t mask_step, mask_strides[max_dims];
  bool causal;          // element i of a line takes part if it is not after the line's coordinate on `of`'s last axis
  bool noisy, hardest;  // Gumbel noise: element i of x, in row-major order, has word i % 4 of Philox block i / 4, or of
  Draws draws;          // float64 words 2 (i % 2) and 2 (i % 2) + 1 of block i / 2
  int64_t index_step, index_strides[max_dims];  // row-major positions in x
};

struct SoftmaxNeeds {
  int64_t partial_bytes, counter_bytes;  // 0 where lines are not divided among blocks
};

// Mean or sum over rows, or no reduction, of -log_softmax(logits)[target]; rows whose target is ignore_index are
// ignored. Row i is position i % inner of sample i / inner. Strides are in elements.
enum class LossReduction : int32_t { none, mean, sum };
struct CrossEntropy {
  const void* logits;  // [samples, classes, inner]
  const void* target;  // [samples, inner] of integers, or of the logits' dtype with a probability for each class
  const void* weight;  // [classes] of the logits' dtype, or null
  const void* grad;    // backward: 0-d or [samples, inner] (none)
  void* out;           // forward: 0-d or [samples, inner]; backward: [samples, classes, inner]; contiguous
  void* partials;      // sums of blocks: forward, mean and sum; backward, mean of many rows
  double* total;       // backward, mean of many rows: the weights of all targets; else null
  uint32_t* counters;  // with partials
  DType dtype, target_dtype;
  int64_t n, classes;  // rows
  int64_t inner = 1;
  int64_t logit_strides[2], target_stride, grad_stride;  // of samples, and of classes
  int64_t logit_inner, target_inner, grad_inner;         // of the positions of a sample
  int64_t target_class;                                  // probabilities: of classes
  int64_t ignore_index;
  double label_smoothing;
  LossReduction reduction;
};

}  // namespace stator::params

namespace stator::kernels::nn {

extern Launcher<params::SoftmaxNeeds(const DeviceLimits&, const params::Softmax&)> softmax_needs;
extern Launcher<void(const Queue&, const params::Softmax&)> softmax;
extern Launcher<void(const Queue&, const params::Softmax&)> softmax_backward;
extern Launcher<void(const Queue&, const params::MaskedSoftmax&)> masked_softmax;
extern Launcher<void(const Queue&, const params::MaskedSoftmax&)> masked_log_softmax_backward;
extern Launcher<int64_t(const DeviceLimits&, const params::CrossEntropy&)> cross_entropy_scratch;  // bytes of partials
extern Launcher<int64_t(const DeviceLimits&, const params::CrossEntropy&)> cross_entropy_backward_scratch;  // or 0
extern Launcher<void(const Queue&, const params::CrossEntropy&)> cross_entropy;
extern Launcher<void(const Queue&, const params::CrossEntropy&)> cross_entropy_backward;
// The same for targets that are probabilities.
extern Launcher<int64_t(const DeviceLimits&, const params::CrossEntropy&)> soft_cross_entropy_scratch;
extern Launcher<void(const Queue&, const params::CrossEntropy&)> soft_cross_entropy;
extern Launcher<void(const Queue&, const params::CrossEntropy&)> soft_cross_entropy_backward;

}  // namespace stator::kernels::nn
