// Losses, of namespace nn. Backward functions take the gradient of the loss first, then the arguments of the forward
// function, and give the gradient of the input. Asynchronous; equal bits from run to run.
#pragma once

#include <stator/array.hpp>

#include <string_view>

namespace stator::nn {

// Of each element. input and target have one shape (ShapeError) and one floating dtype (DTypeError). reduction: "mean",
// "sum" (0-d results) or "none"; ValueError for others. The mean of no elements is NaN.
STATOR_API Array mse_loss(const Array& input, const Array& target, std::string_view reduction = "mean",
                          const Stream& = {});
STATOR_API Array l1_loss(const Array& input, const Array& target, std::string_view reduction = "mean",
                         const Stream& = {});
// d^2 / 2 up to |d| = delta, which is positive, and delta (|d| - delta / 2) beyond.
STATOR_API Array huber_loss(const Array& input, const Array& target, double delta = 1,
                            std::string_view reduction = "mean", const Stream& = {});
// d^2 / (2 beta) up to |d| = beta, and |d| - beta / 2 beyond; for beta = 0 l1_loss.
STATOR_API Array smooth_l1_loss(const Array& input, const Array& target, double beta = 1,
                                std::string_view reduction = "mean", const Stream& = {});
// Weights are broadcast to the input's shape; pos_weight is a factor of the part of positive targets.
struct LogitLossOptions {
  const Array* weight = nullptr;
  const Array* pos_weight = nullptr;
  std::string_view reduction = "mean";
};
STATOR_API Array binary_cross_entropy_with_logits(const Array& input, const Array& target, const LogitLossOptions& = {},
                                                  const Stream& = {});
// target (log target - input), where the input is a logarithm, and with log_target the target too. "batchmean" divides
// the sum by the extent of the first axis.
STATOR_API Array kl_div(const Array& input, const Array& target, bool log_target = false,
                        std::string_view reduction = "mean", const Stream& = {});

STATOR_API Array mse_loss_backward(const Array& grad, const Array& input, const Array& target,
                                   std::string_view reduction = "mean", const Stream& = {});
STATOR_API Array l1_loss_backward(const Array& grad, const Array& input, const Array& target,
                                  std::string_view reduction = "mean", const Stream& = {});
STATOR_API Array huber_loss_backward(const Array& grad, const Array& input, const Array& target, double delta = 1,
                                     std::string_view reduction = "mean", const Stream& = {});
STATOR_API Array smooth_l1_loss_backward(const Array& grad, const Array& input, const Array& target, double beta = 1,
                                         std::string_view reduction = "mean", const Stream& = {});
STATOR_API Array binary_cross_entropy_with_logits_backward(const Array& grad, const Array& input, const Array& target,
                                                           const LogitLossOptions& = {}, const Stream& = {});
STATOR_API Array kl_div_backward(const Array& grad, const Array& input, const Array& target, bool log_target = false,
                                 std::string_view reduction = "mean", const Stream& = {});

struct NllLossOptions {
  const Array* weight = nullptr;  // (classes,)
  int64_t ignore_index = -100;
  std::string_view reduction = "mean";  // "mean" (weighted, as PyTorch), "sum", "none"
};
// log_probs (n, classes, ...) or (classes,), target without the axis of classes, of integers. For a target out of range
// the next synchronising call throws IndexError.
STATOR_API Array nll_loss(const Array& log_probs, const Array& target, const NllLossOptions& = {}, const Stream& = {});
STATOR_API Array nll_loss_backward(const Array& grad, const Array& log_probs, const Array& target,
                                   const NllLossOptions& = {}, const Stream& = {});

struct CtcLossOptions {
  int64_t blank = 0;
  std::string_view reduction = "mean";  // "mean" of the losses divided by their target's length, "sum", "none"
  bool zero_infinity = false;           // losses without an alignment, and their gradients, are 0
};
// Connectionist temporal classification (Graves et al., ICML 2006) of log_probs (T, N, C) and targets (N, S), or all
// labels joined in one axis; lengths (N,) of integers. The gradient is that of the logits whose log_softmax log_probs
// are, as PyTorch's. For a length or label out of range the next synchronising call throws IndexError.
STATOR_API Array ctc_loss(const Array& log_probs, const Array& targets, const Array& input_lengths,
                          const Array& target_lengths, const CtcLossOptions& = {}, const Stream& = {});
STATOR_API Array ctc_loss_backward(const Array& grad, const Array& log_probs, const Array& targets,
                                   const Array& input_lengths, const Array& target_lengths, const CtcLossOptions& = {},
                                   const Stream& = {});

}  // namespace stator::nn
