// Reductions over any set of axes, and their gradients. Asynchronous; 0-d results are arrays.
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
  const Array* where = nullptr;  // bool, broadcasts to x: which elements count; the identity if none do
  double parameter = 0;          // var, std: the correction subtracted from n; vector_norm: the order
};

// The reduction of a table entry. AxisError for axes that are out of range or repeated; ValueError for an empty
// reduction without an identity. argmax and argmin take one axis, or none for the flattened array.
STATOR_API Array reduce(Op op, const Array& x, const ReduceOptions& = {}, const Stream& = {});

#define STATOR_REDUCE(name, ...)                                                         \
  inline Array name(const Array& x, const ReduceOptions& o = {}, const Stream& s = {}) { \
    return reduce(Op::name, x, o, s);                                                    \
  }
#include <stator/ops.def>

}  // namespace stator

// Gradients of reductions, as new arrays. Asynchronous.
namespace stator::nn {

struct ReductionGradientOptions {
  std::optional<std::vector<int64_t>> axes = {};  // those of the forward function; none: all axes
  bool keepdims = false;                          // that of the forward function
};

// grad, the gradient of the reduction's result, repeated to the shape that was reduced; for the mean divided by the
// number of elements per result. One launch. ShapeError if grad has another shape than the forward function's result.
STATOR_API Array sum_backward(const Array& grad, const Dims& shape, const ReductionGradientOptions& = {},
                              const Stream& = {});
STATOR_API Array mean_backward(const Array& grad, const Dims& shape, const ReductionGradientOptions& = {},
                               const Stream& = {});

// grad times the product of the other elements: correct for any number of zeros, infinities and NaN, and even if the
// product itself would leave the range of the dtype. grad and x must have the same floating dtype. Two launches if
// several blocks compute one product, else one.
STATOR_API Array prod_backward(const Array& grad, const Array& x, const ReductionGradientOptions& = {},
                               const Stream& = {});

}  // namespace stator::nn
