// Steps of optimisers on lists of parameters, in place and in one launch, and checks and norms of all gradients, of
// namespace nn. Asynchronous. ShapeError for lists or arrays that differ, DTypeError, ValueError for arrays that share
// memory or are read-only and numbers out of range.
#pragma once

#include <stator/array.hpp>

#include <vector>

namespace stator::nn {

// Learning rate, step, scale and factor are numbers or 0-d arrays, which are read when the step runs: rates, scales and
// factors of float32 or float64, the step also of int32 or int64. A captured step is replayed with what they are then.
struct StepOptions {
  Operand lr = 1e-3;
  double weight_decay = 0;
  bool maximize = false;
  const std::vector<Array>* masters =
      nullptr;                       // float32, of float16 or bfloat16 params, which are then their roundings
  Operand grad_scale = 1.0;          // gradients are divided by it,
  Operand grad_factor = 1.0;         // and multiplied by it
  const Array* found_inf = nullptr;  // a 0-d bool: nothing is changed where it is true
};

// A parameter, its gradient and its states have equal shapes; params and grads have one floating dtype, and states that
// dtype or float32. Dense arrays in row-major order are updated where they are, others through copies. Steps count
// from 1.
struct SgdOptions : StepOptions {
  double momentum = 0, dampening = 0;
  bool nesterov = false;
  Operand step = 0;  // at step 1 momentum begins with the gradient itself
};
// momentum_buffers: null without momentum.
STATOR_API void sgd_step(const std::vector<Array>& params, const std::vector<Array>& grads,
                         const std::vector<Array>* momentum_buffers, const SgdOptions& = {}, const Stream& = {});

struct RmspropOptions : StepOptions {
  double alpha = 0.99, eps = 1e-8, momentum = 0;
};
// grad_avgs: null where the second moments are not centred.
STATOR_API void rmsprop_step(const std::vector<Array>& params, const std::vector<Array>& grads,
                             const std::vector<Array>& square_avgs, const std::vector<Array>* momentum_buffers,
                             const std::vector<Array>* grad_avgs, const RmspropOptions& = {}, const Stream& = {});

struct AdagradOptions : StepOptions {
  double lr_decay = 0, eps = 1e-10;
};
STATOR_API void adagrad_step(const std::vector<Array>& params, const std::vector<Array>& grads,
                             const std::vector<Array>& state_sums, const Operand& step, const AdagradOptions& = {},
                             const Stream& = {});

struct AdamOptions : StepOptions {
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  bool decoupled = false;  // AdamW
};
STATOR_API void adam_step(const std::vector<Array>& params, const std::vector<Array>& grads,
                          const std::vector<Array>& exp_avgs, const std::vector<Array>& exp_avg_sqs,
                          const Operand& step, const AdamOptions& = {}, const Stream& = {});
// Two launches: the step of each tensor is as long as the tensor. Weight decay is part of the step.
STATOR_API void lamb_step(const std::vector<Array>& params, const std::vector<Array>& grads,
                          const std::vector<Array>& exp_avgs, const std::vector<Array>& exp_avg_sqs,
                          const Operand& step, const AdamOptions& = {}, const Stream& = {});

struct LionOptions : StepOptions {
  double beta1 = 0.9, beta2 = 0.99;
};
STATOR_API void lion_step(const std::vector<Array>& params, const std::vector<Array>& grads,
                          const std::vector<Array>& exp_avgs, const LionOptions& = {}, const Stream& = {});

// A 0-d bool: whether an element of an array is infinite or NaN. ValueError for an empty list.
STATOR_API Array has_inf_nan(const std::vector<Array>& arrays, const Stream& = {});
// 0-d, float32 or with a gradient of float64 float64: the length of all gradients together, divided by grad_scale, and
// the factor for a step that makes it at most max_norm. Squares are summed in float32, of float64 in float64.
// ValueError for an empty list.
struct GradNorm {
  Array norm, factor;
};
STATOR_API GradNorm clip_grad_norm(const std::vector<Array>& grads, double max_norm, const Operand& grad_scale = 1.0,
                                   const Stream& = {});

}  // namespace stator::nn
