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

// Samples, each with `input length` steps of log-probabilities of classes and `target length` labels. The scores of the
// 2 length + 1 states of an alignment, blanks and labels in turn, are rows of scratch: two of them, or for the gradient
// one for each step and three more.
struct CtcLoss {
  const void* log_probs;             // [steps, samples, classes]
  const void *targets, *lengths[2];  // of the inputs and of the targets
  const void* grad;                  // backward: 0-d or [samples] (each)
  void* out;           // forward: 0-d or [samples] (each); backward: [steps, samples, classes], contiguous
  void* states;        // rows * (2 labels + samples) numbers: float, or double for float64
  int32_t* chain;      // backward: two for each label
  double* losses;      // forward with a reduction: of the samples
  uint32_t* counters;  // with losses, zeroed
  DType dtype, target_dtype, length_dtypes[2];
  bool each, mean, zero_infinity;
  bool joined;  // the labels of all samples follow each other, else each sample has labels / samples slots
  int64_t steps, samples, classes, labels, blank, rows;
  int64_t strides[3], target_strides[2], length_strides[2], grad_stride;  // target_strides: of samples, of labels
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
extern Launcher<void(const Queue&, const params::CtcLoss&)> ctc_loss;
extern Launcher<void(const Queue&, const params::CtcLoss&)> ctc_loss_backward;

}  // namespace stator::kernels::losses
