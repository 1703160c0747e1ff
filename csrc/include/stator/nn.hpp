// Neural-network ops. Backward functions take the gradient first, then what the forward saved. Asynchronous.
#pragma once

#include <stator/array.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace stator::nn {

// Along one axis; the row maximum is subtracted first. Result dtype: the input's, or `dtype`.
STATOR_API Array softmax(const Array& x, int64_t axis = -1, std::optional<DType> dtype = {}, const Stream& = {});
STATOR_API Array log_softmax(const Array& x, int64_t axis = -1, std::optional<DType> dtype = {}, const Stream& = {});
STATOR_API Array softmax_backward(const Array& grad, const Array& y, int64_t axis = -1, const Stream& = {});
STATOR_API Array log_softmax_backward(const Array& grad, const Array& y, int64_t axis = -1, const Stream& = {});

struct CrossEntropyOptions {
  const Array* weight = nullptr;  // (classes,)
  int64_t ignore_index = -100;
  double label_smoothing = 0;           // in [0, 1]
  std::string_view reduction = "mean";  // "mean" (weighted, as PyTorch), "sum", "none"
};
// logits (n, classes), target (n,) integers; 0-d result, or (n,) for "none". A target out of range goes to the error
// slot.
STATOR_API Array cross_entropy(const Array& logits, const Array& target, const CrossEntropyOptions& = {},
                               const Stream& = {});
// The gradient of the logits; grad has the shape of the forward's result.
STATOR_API Array cross_entropy_backward(const Array& grad, const Array& logits, const Array& target,
                                        const CrossEntropyOptions& = {}, const Stream& = {});

struct AdamOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
  bool decoupled = false;  // AdamW
  bool maximize = false;
};
// Updates params and both moments in place, all tensors in one launch. step counts from 1. Contiguous arrays of equal
// shapes; the moments have the params' dtype or float32.
STATOR_API void adam_step(const std::vector<Array>& params, const std::vector<Array>& grads,
                          const std::vector<Array>& exp_avgs, const std::vector<Array>& exp_avg_sqs, int64_t step,
                          const AdamOptions& = {}, const Stream& = {});

}  // namespace stator::nn
