// Parameters of the optimiser launchers, which work on lists of tensors, many to a launch.
#pragma once

#include "params/launcher.hpp"

namespace stator::params {

// A number that the host knows, or one of int32, int64, float32 or float64 that a kernel reads.
struct DeviceNumber {
  const void* at;  // or null, for `value`
  DType dtype;
  double value;
};

// Contiguous arrays of `size` elements. A rule knows its states by their index; those that it does without are null.
struct OptimTensor {
  void* param;
  const void* grad;
  void* states[3];
  void* master;  // the parameter in the states' dtype, or null
  int64_t size;  // not 0
  int64_t end;   // the launcher's: the first chunk of the next tensor of the launch
};

// What rules read; each reads only what it knows. Gradients are divided by the scale, then multiplied by the factor.
struct OptimNumbers {
  DeviceNumber lr, step, grad_scale, grad_factor;
  const bool* found_inf;  // nothing is done where it is true; or null
  double weight_decay, beta1, beta2, eps;
  double momentum, dampening, lr_decay;
  bool maximize, decoupled, nesterov, centered;
};

struct OptimStep {
  const OptimTensor* tensors;  // in host memory, copied into the launch
  int32_t tensor_count;
  DType dtype, state_dtype;  // of param and grad, and of states and master
  OptimNumbers numbers;
  double* partials;    // lamb: scratch of two numbers a chunk, then one a tensor
  uint32_t* counters;  // lamb: zeroed scratch, one a tensor
};

struct GradTensor {
  const void* grad;
  DType dtype;   // floating
  int64_t size;  // not 0
  int64_t end;   // as above
};
struct GradList {
  const GradTensor* tensors;
  int32_t tensor_count;
  double* partials;    // scratch, one number a chunk
  uint32_t* counters;  // zeroed scratch of one
  bool* found;         // has_inf_nan: the result
  DType norm_dtype;    // grad_norm: float32 or float64
  void *norm, *factor;
  DeviceNumber grad_scale;
  double max_norm;
};

}  // namespace stator::params

namespace stator::kernels::optim {

extern Launcher<void(const Queue&, const params::OptimStep&)> sgd;  // states: momentum, or none
extern Launcher<void(const Queue&, const params::OptimStep&)>
    rmsprop;  // squares, momentum, means; the latter two or none
extern Launcher<void(const Queue&, const params::OptimStep&)> adagrad;  // sums of squares
extern Launcher<void(const Queue&, const params::OptimStep&)> adam;     // both moments
extern Launcher<void(const Queue&, const params::OptimStep&)> lamb;     // both moments
extern Launcher<void(const Queue&, const params::OptimStep&)> lion;     // the mean
// How many chunks a list of tensors has.
extern Launcher<int64_t(const DeviceLimits&, const params::OptimStep&)> lamb_chunks;
extern Launcher<int64_t(const DeviceLimits&, const params::GradList&)> grad_chunks;
// Lists without tensors have results, too.
extern Launcher<void(const Queue&, const params::GradList&)> grad_norm;
extern Launcher<void(const Queue&, const params::GradList&)> has_inf_nan;

}  // namespace stator::kernels::optim
