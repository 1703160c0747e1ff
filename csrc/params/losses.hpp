// Parameters of the launchers of losses.
#pragma once

#include "params/launcher.hpp"

namespace stator::params {

enum class LossKind : int32_t { squared, absolute, huber, smooth, logits, divergence, log_divergence };

// The loss of each element, its mean or its sum; or the gradient of the input. Operands have one dtype and share an
// iteration space, in which those that are repeated have strides of 0; strides are in elements, innermost last.
struct ElementLoss {
  static constexpr int input = 0, target = 1, weight = 2, pos_weight = 3, grad = 4, out = 5, operands = 6;
  void* data[operands];  // null: a weight that is not given; grad, except backward
  void* partials;        // forward, not each: scratch of a double for each of element_loss_blocks
  uint32_t* counters;    // with partials, zeroed
  DType dtype;
  LossKind kind;
  bool each;         // forward: no reduction
  double parameter;  // delta or beta
  double divisor;    // of the sum, or backward of the gradient
  int64_t size;
  int32_t ndim;
  int64_t shape[max_dims], strides[operands][max_dims];
};

// Rows, each of which has a class: -weight[target] * input[row, target]. Backward writes (samples, classes, inner),
// contiguous, where row i is position i % inner of sample i / inner.
struct NllLoss {
  static constexpr int input = 0, target = 1, grad = 2, operands = 3;
  const void* data[operands];
  const void* weights;  // of the classes, or null
  void* out;
  void* partials;      // with a reduction: scratch of two doubles for each of nll_loss_blocks
  double* total;       // backward, mean of many rows: the weights of all targets; else null
  uint32_t* counters;  // with partials, zeroed
  DType dtype, target_dtype;
  bool each, mean;
  int64_t rows, classes, inner;
  int64_t class_stride, weight_stride, ignore_index;
  int32_t ndim;  // of the axes of rows
  int64_t shape[max_dims], strides[operands][max_dims];
};

}  // namespace stator::params

namespace stator::kernels::losses {

extern Launcher<int64_t(const DeviceLimits&, const params::ElementLoss&)> element_loss_blocks;
extern Launcher<void(const Queue&, const params::ElementLoss&)> element_loss;
extern Launcher<void(const Queue&, const params::ElementLoss&)> element_loss_backward;
extern Launcher<int64_t(const DeviceLimits&, const params::NllLoss&)> nll_loss_blocks;
// Whether the weights of all targets are summed by a launch of their own before the gradient.
extern Launcher<bool(const DeviceLimits&, const params::NllLoss&)> nll_loss_totals;
extern Launcher<void(const Queue&, const params::NllLoss&)> nll_loss;
extern Launcher<void(const Queue&, const params::NllLoss&)> nll_loss_backward;

}  // namespace stator::kernels::losses
