// Gradients of reductions. Asynchronous; new row-major arrays.
#pragma once

#include <stator/array.hpp>

#include <optional>
#include <vector>

namespace stator::nn {

struct ReductionGradientOptions {
  std::optional<std::vector<int64_t>> axes = {};  // as the forward's; none: all axes
  bool keepdims = false;                          // as the forward's
};

// grad, the gradient of the reduction's result, repeated to the shape that was reduced; for the mean over the number of
// elements behind each result. One launch. ShapeError when grad is not of the forward's result shape.
STATOR_API Array sum_backward(const Array& grad, const Dims& shape, const ReductionGradientOptions& = {},
                              const Stream& = {});
STATOR_API Array mean_backward(const Array& grad, const Dims& shape, const ReductionGradientOptions& = {},
                               const Stream& = {});

// grad times the product of the other elements: right for any number of zeros, infinities and NaN, and where the
// product itself would leave the dtype's range. grad and x have one floating dtype. Two launches where blocks share a
// product, else one.
STATOR_API Array prod_backward(const Array& grad, const Array& x, const ReductionGradientOptions& = {},
                               const Stream& = {});

}  // namespace stator::nn
