#include <stator/reduce.hpp>

#include "core/op_call.hpp"
#include "ops/axes.hpp"
#include "ops/collapse.hpp"
#include "ops/scalar.hpp"
#include "params/creation.hpp"
#include "params/elementwise.hpp"
#include "params/reduce.hpp"

#include <stator/creation.hpp>

#include <cstdlib>
#include <numeric>
#include <string>

#include <array>

namespace stator::nn {
namespace {

std::vector<bool> reduced_axes(const OpCall& call, int ndim, const ReductionGradientOptions& o) {
  return o.axes ? named_axes(call.name(), *o.axes, ndim) : std::vector<bool>(size_t(ndim), true);
}

// grad as a view of the shape that was reduced, with stride 0 along the reduced axes.
Array spread(const OpCall& call, const Array& grad, const Dims& shape, const std::vector<bool>& reduced,
             bool keepdims) {
  Dims expected, strides(shape.size());
  int at = 0;
  for (int d = 0; d < shape.size(); ++d) {
    if (reduced[size_t(d)] && keepdims) expected.push_back(1);
    if (!reduced[size_t(d)]) expected.push_back(shape[d]);
  }
  if (!(grad.shape() == expected))
    throw ShapeError(std::string(call.name()),
                     "got grad " + str(grad.shape()) + " for a result of shape " + str(expected),
                     "pass the gradient of the reduction's result, with the same axis and keepdims");
  for (int d = 0; d < shape.size(); ++d) {
    strides[d] = reduced[size_t(d)] ? 0 : grad.strides()[at];
    at += !reduced[size_t(d)] || keepdims;
  }
  return Array(grad.buffer(), grad.dtype(), shape, strides, grad.offset());
}

void require_dtype(const OpCall& call, DType dtype) {
  if (!in(dtype, op_info(call.op()).dtypes))
    throw DTypeError(std::string(call.name()), "got an array of dtype " + std::string(name(dtype)),
                     "the array must be floating. Convert it with astype");
}

// Appends an axis, or widens the last one where all strides step together; returns the new number of axes.
template <size_t N>
int append(int count, int64_t extent, int64_t* shape, int64_t (*const (&strides)[N])[params::max_dims],
           const int64_t (&step)[N]) {
  if (extent == 1) return count;
  bool together = count > 0;
  for (size_t k = 0; k < N; ++k) together = together && (*strides[k])[count - 1] == extent * step[k];
  const int at = together ? count - 1 : count;
  shape[at] = together ? shape[at] * extent : extent;
  for (size_t k = 0; k < N; ++k) (*strides[k])[at] = step[k];
  return at + 1;
}

}  // namespace

Array sum_backward(const Array& grad, const Dims& shape, const ReductionGradientOptions& options,
                   const Stream& stream) {
  OpCall call(Op::sum_backward, {&grad}, stream);
  checked_size(call.name(), shape, itemsize(grad.dtype()));
  const std::vector<bool> reduced = reduced_axes(call, shape.size(), options);
  const Array view = spread(call, grad, shape, reduced, options.keepdims);
  Array result = call.empty(shape, grad.dtype());
  if (result.size() == 0) return result;
  call.reads(view);
  call.writes(result);
  params::Elementwise e = collapse(result, std::array{&view});
  e.compute = grad.dtype();
  kernels::creation::copy(call.queue(), e);
  return result;
}

Array mean_backward(const Array& grad, const Dims& shape, const ReductionGradientOptions& options,
                    const Stream& stream) {
  OpCall call(Op::mean_backward, {&grad}, stream);
  require_dtype(call, grad.dtype());
  checked_size(call.name(), shape, itemsize(grad.dtype()));
  const std::vector<bool> reduced = reduced_axes(call, shape.size(), options);
  spread(call, grad, shape, reduced, options.keepdims);  // checks the shape
  Array result = call.empty(shape, grad.dtype());
  if (result.size() == 0) return result;
  int64_t count = 1;
  for (int d = 0; d < shape.size(); ++d) count *= reduced[size_t(d)] ? shape[d] : 1;
  // The kernels hold a number in the dtype of the operand: a half type that cannot represent the count is widened
  // first.
  const bool exact = count <= (grad.dtype() == DType::float16    ? 2048
                               : grad.dtype() == DType::bfloat16 ? 256
                                                                 : INT64_MAX);
  const DType computed = compute_dtype(grad.dtype());
  const Array wide = exact ? grad : astype(grad, computed, true, stream);
  const Array view = spread(call, wide, shape, reduced, options.keepdims);
  call.reads(view);
  call.writes(result);
  params::Elementwise e = collapse(result, std::array<const Array*, 2>{&view, nullptr});
  e.compute = e.in[1].dtype = computed;
  encode(call.name(), Scalar(double(count)), computed, e.in[1].value);
  kernels::elementwise::run(call.queue(), Op::divide, e);
  return result;
}

Array prod_backward(const Array& grad, const Array& x, const ReductionGradientOptions& options, const Stream& stream) {
  OpCall call(Op::prod_backward, {&grad, &x}, stream);
  require_dtype(call, grad.dtype());
  if (grad.dtype() != x.dtype())
    throw DTypeError(std::string(call.name()),
                     "got grad of " + std::string(name(grad.dtype())) + " for x of " + std::string(name(x.dtype())),
                     "both must have one dtype. Convert one with astype");
  const std::vector<bool> reduced = reduced_axes(call, x.ndim(), options);
  const Array view = spread(call, grad, x.shape(), reduced, options.keepdims);
  Array result = empty_like(call, x.shape(), x.dtype(), std::array{&x});
  if (result.size() == 0) return result;
  call.reads(view);
  call.reads(x);
  call.writes(result);
  params::ProductBackward p{};
  p.grad = view.data_ptr();
  p.x = x.data_ptr();
  p.out = result.data_ptr();
  p.dtype = x.dtype();
  p.kept_size = p.reduced_size = 1;
  // Axes in the order of x's memory, so that neighbours merge; the order of factors does not matter.
  std::vector<int> axes(size_t(x.ndim()));
  std::iota(axes.begin(), axes.end(), 0);
  sort_axes(std::span(axes), [&](int a, int b) { return std::abs(x.strides()[a]) > std::abs(x.strides()[b]); });
  for (const int d : axes) {
    const int64_t extent = x.shape()[d], g = view.strides()[d], from = x.strides()[d], to = result.strides()[d];
    if (reduced[size_t(d)]) {
      p.reduced_size *= extent;
      p.reduced_ndim = append<2>(p.reduced_ndim, extent, p.reduced_shape, {&p.reduced_x, &p.reduced_out}, {from, to});
    } else {
      p.kept_size *= extent;
      p.kept_ndim = append<3>(p.kept_ndim, extent, p.kept_shape, {&p.kept_grad, &p.kept_x, &p.kept_out}, {g, from, to});
    }
  }
  const int64_t bytes = kernels::reduce::product_scratch(call.limits(), p);
  void* const partials = bytes > 0 ? call.scratch(size_t(bytes)) : nullptr;
  kernels::reduce::product_backward(call.queue(), p, partials);
  return result;
}

}  // namespace stator::nn
