#include <stator/nn/convolution.hpp>

#include "ops/convolution/geometry.hpp"
#include "params/convolution.hpp"

#include <stator/creation.hpp>
#include <stator/reduce.hpp>

#include <algorithm>

namespace stator::nn {
namespace {

template <class P>
void set_geometry(P& p, const Geometry& g, DType dtype) {
  p.dtype = dtype;
  p.samples = g.samples;
  p.groups = g.groups;
  std::copy_n(g.stride, Geometry::most, p.stride);
  std::copy_n(g.padding, Geometry::most, p.padding);
  std::copy_n(g.dilation, Geometry::most, p.dilation);
}

// Of a convolution and of both of its gradients: each element of the narrow operand meets all taps of its group.
int64_t multiply_adds(const Geometry& g, const Array& narrow) {
  return narrow.size() * g.wide_channels * g.taps[0] * g.taps[1] * g.taps[2];
}

// The narrow result of a wide source, or with `transposed` the wide result of a narrow one.
void convolve(OpCall& call, const Geometry& g, const Array& source, const Array& weight, const Array* bias,
              const Array& result, bool transposed) {
  if (result.size() == 0) return;
  params::Convolution p{};
  set_geometry(p, g, source.dtype());
  p.transposed = transposed;
  p.rows = transposed ? g.wide_channels : g.narrow_channels;
  p.channels = transposed ? g.narrow_channels : g.wide_channels;
  p.source = image_of(g, source, p.channels);
  p.result = image_of(g, result, p.rows);
  p.weight = weights_of(g, weight, transposed);
  p.bias = bias ? bias->data_ptr() : nullptr;
  call.expect_multiply_adds(multiply_adds(g, transposed ? source : result));
  p.packed = call.scratch(size_t(kernels::convolution::convolution_scratch(call.limits(), p)));
  kernels::convolution::convolve(call.queue(), p);
}

void weight_gradient(OpCall& call, const Geometry& g, const Array& wide, const Array& narrow, const Array& dweight) {
  params::WeightGradient p{};
  set_geometry(p, g, wide.dtype());
  p.rows = g.narrow_channels;
  p.channels = g.wide_channels;
  p.source = image_of(g, wide, p.channels);
  p.grad = image_of(g, narrow, p.rows);
  p.dweight = weights_of(g, dweight, false);
  call.expect_multiply_adds(multiply_adds(g, narrow));
  p.partials = call.scratch(size_t(kernels::convolution::weight_gradient_scratch(call.limits(), p)));
  kernels::convolution::weight_gradient(call.queue(), p);
}

// Sums over all axes but that of channels.
Array bias_gradient(const OpCall& call, const Geometry& g, const Array& grad) {
  ReduceOptions o;
  o.axes.emplace();
  const int channels = g.channels_last ? grad.ndim() - 1 : grad.ndim() - g.axes - 1;
  for (int d = 0; d < grad.ndim(); ++d)
    if (d != channels) o.axes->push_back(d);
  return sum(grad, o, call.on());
}

struct Variant {
  int axes;
  bool transposed;
};

Array forward(Op op, const Array& x, const Array& weight, Variant variant, const ConvolutionOptions& o,
              const Stream& stream) {
  OpCall call(op, {&x, &weight, o.bias}, stream);
  const Geometry g = geometry_of(call, x, weight, variant.axes, variant.transposed, o);
  const Array bias = !o.bias ? Array() : o.bias->is_contiguous() ? *o.bias : copy(*o.bias, call.on());
  const Array out = call.empty(g.result, x.dtype());
  call.reads(x);
  call.reads(weight);
  if (bias) call.reads(bias);
  call.writes(out);
  convolve(call, g, x, weight, bias ? &bias : nullptr, out, variant.transposed);
  return out;
}

ConvolutionGradients backward(Op op, const Array& grad, const Array& x, const Array& weight, Variant variant,
                              const ConvolutionOptions& o, const Stream& stream) {
  OpCall call(op, {&grad, &x, &weight}, stream);
  ConvolutionOptions options = o;
  options.bias = nullptr;
  const Geometry g = geometry_of(call, x, weight, variant.axes, variant.transposed, options);
  check_operand(call, grad, "grad", g.result, x);
  ConvolutionGradients out{call.empty(x.shape(), x.dtype()), call.empty(weight.shape(), x.dtype()),
                           bias_gradient(call, g, grad)};
  {
    // A call of its own, so that its scratch memory is free when that of the weight's gradient is taken.
    OpCall of_x(op, {&grad, &weight}, call.on());
    of_x.reads(grad);
    of_x.reads(weight);
    of_x.writes(out.x);
    convolve(of_x, g, grad, weight, nullptr, out.x, !variant.transposed);
  }
  call.reads(grad);
  call.reads(x);
  call.writes(out.weight);
  if (variant.transposed)
    weight_gradient(call, g, grad, x, out.weight);
  else
    weight_gradient(call, g, x, grad, out.weight);
  return out;
}

}  // namespace

#define STATOR_CONVOLUTION(name, axes, transposed)                                                     \
  Array name(const Array& x, const Array& weight, const ConvolutionOptions& o, const Stream& stream) { \
    return forward(Op::name, x, weight, {axes, transposed}, o, stream);                                \
  }                                                                                                    \
  ConvolutionGradients name##_backward(const Array& grad, const Array& x, const Array& weight,         \
                                       const ConvolutionOptions& o, const Stream& stream) {            \
    return backward(Op::name##_backward, grad, x, weight, {axes, transposed}, o, stream);              \
  }
STATOR_CONVOLUTION(conv1d, 1, false)
STATOR_CONVOLUTION(conv2d, 2, false)
STATOR_CONVOLUTION(conv3d, 3, false)
STATOR_CONVOLUTION(conv_transpose1d, 1, true)
STATOR_CONVOLUTION(conv_transpose2d, 2, true)
STATOR_CONVOLUTION(conv_transpose3d, 3, true)
#undef STATOR_CONVOLUTION

}  // namespace stator::nn
