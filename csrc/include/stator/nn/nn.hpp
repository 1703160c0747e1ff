// Softmax and cross entropy. Backward functions take the gradient first, then what the forward function saved.
// Asynchronous.
#pragma once

#include <stator/array.hpp>
#include <stator/random.hpp>

#include <optional>
#include <string_view>

namespace stator::nn {

// Along one axis of floating arrays; the maximum along it is subtracted first. The result has x's dtype, or `dtype`,
// which must be floating (DTypeError). AxisError.
STATOR_API Array softmax(const Array& x, int64_t axis = -1, std::optional<DType> dtype = {}, const Stream& = {});
STATOR_API Array log_softmax(const Array& x, int64_t axis = -1, std::optional<DType> dtype = {}, const Stream& = {});
// Over the unmasked elements; masked ones become 0, or -infinity in log_softmax, and so does a segment without unmasked
// ones. ValueError for causal along another axis than the last.
struct SoftmaxMask {
  const Array* mask = nullptr;  // bool, broadcast to x's shape: true for elements that count
  bool causal = false;          // x is (..., L, S), and row i keeps columns 0 to i; only along the last axis

  bool applies() const { return mask != nullptr || causal; }
};
STATOR_API Array softmax(const Array& x, int64_t axis, std::optional<DType> dtype, const SoftmaxMask&,
                         const Stream& = {});
STATOR_API Array log_softmax(const Array& x, int64_t axis, std::optional<DType> dtype, const SoftmaxMask&,
                             const Stream& = {});
// softmax(-x)
STATOR_API Array softmin(const Array& x, int64_t axis = -1, std::optional<DType> dtype = {}, const SoftmaxMask& = {},
                         const Stream& = {});
struct GumbelOptions {
  double tau = 1;
  bool hard = false;
  int64_t axis = -1;
  SoftmaxMask masking = {};
};
// softmax((x + g) / tau) with Gumbel noise g, or `hard` 1 at the largest along the axis and 0 elsewhere. Element i, in
// row-major order, takes 32-bit word i % 4 of block counter + i / 4, or of float64 a half of block counter + i / 2,
// masked or not; `next` gets the state after them. ValueError unless tau is positive and finite.
STATOR_API Array gumbel_softmax(const Array& x, const random::State& state, random::State* next = nullptr,
                                const GumbelOptions& = {}, const Stream& = {});
// y is the forward result. Masked elements are 0 in y, and so is their gradient.
STATOR_API Array softmax_backward(const Array& grad, const Array& y, int64_t axis = -1, const Stream& = {});
STATOR_API Array log_softmax_backward(const Array& grad, const Array& y, int64_t axis = -1, const Stream& = {});
// Masked elements have the gradient 0, and their elements of grad do not count.
STATOR_API Array log_softmax_backward(const Array& grad, const Array& y, int64_t axis, const SoftmaxMask&,
                                      const Stream& = {});
STATOR_API Array softmin_backward(const Array& grad, const Array& y, int64_t axis = -1, const Stream& = {});
// y is the result that is not hard.
STATOR_API Array gumbel_softmax_backward(const Array& grad, const Array& y, double tau = 1, int64_t axis = -1,
                                         const Stream& = {});

struct CrossEntropyOptions {
  const Array* weight = nullptr;  // (classes,)
  int64_t ignore_index = -100;
  double label_smoothing = 0;           // in [0, 1]
  std::string_view reduction = "mean";  // "mean" (weighted, as PyTorch), "sum", "none"
  std::optional<int64_t> axis;          // of the classes; empty: 1, or 0 of one axis
};
// logits (n, classes, ...) or (classes,), or with the classes along `axis`. target: integers, without the axis of
// classes, or probabilities of the logits' shape and dtype, for which "mean" divides by the number of rows. The result
// is 0-d, or has the logits' shape without classes for "none". For a target out of range the next synchronising call
// throws IndexError.
STATOR_API Array cross_entropy(const Array& logits, const Array& target, const CrossEntropyOptions& = {},
                               const Stream& = {});
// The gradient of the logits; grad has the shape of the forward function's result.
STATOR_API Array cross_entropy_backward(const Array& grad, const Array& logits, const Array& target,
                                        const CrossEntropyOptions& = {}, const Stream& = {});

}  // namespace stator::nn
