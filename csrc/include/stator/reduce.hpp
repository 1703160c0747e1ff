// Reductions over any set of axes. Asynchronous; 0-d results are arrays.
#pragma once

#include <stator/array.hpp>
#include <stator/op_table.hpp>

#include <optional>
#include <vector>

namespace stator {

struct ReduceOptions {
  std::optional<std::vector<int64_t>> axes = {};  // none: all axes
  bool keepdims = false;
  std::optional<DType> dtype = {};  // of the accumulation and the result (sums, products, means, variances, norms)
  const Array* out = nullptr;
  const Array* where = nullptr;  // bool, broadcasts to x: which elements count; over none, the identity
  double parameter = 0;          // var, std: the correction taken from n; vector_norm: the order
};

// By table row. AxisError for axes out of range or repeated; ValueError for an empty reduction without identity;
// argmax takes one axis or none (flat).
STATOR_API Array reduce(Op op, const Array& x, const ReduceOptions& = {}, const Stream& = {});

#define REDUCE(name, ...)                                                                \
  inline Array name(const Array& x, const ReduceOptions& o = {}, const Stream& s = {}) { \
    return reduce(Op::name, x, o, s);                                                    \
  }
#include <stator/ops.def>

}  // namespace stator

// Gradients of reductions. Asynchronous; new row-major arrays.
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
