#include <stator/nn/norm.hpp>

#include "ops/norm/operands.hpp"
#include "params/norm.hpp"

#include <string>

namespace stator::nn {
namespace {

// The extents of the last axes, over which a row reaches.
Dims normalized_shape(const OpCall& call, const Array& x, const LayerNormOptions& o) {
  const std::string op(call.name());
  if (x.ndim() == 0) throw ShapeError(op, "x has no axes", "pass an array of at least one axis");
  const Dims shape = o.shape ? *o.shape : o.weight ? o.weight->shape() : Dims{x.shape()[x.ndim() - 1]};
  const int over = shape.size(), first = x.ndim() - over;
  bool fits = over > 0 && first >= 0;
  for (int d = 0; fits && d < over; ++d) fits = shape[d] == x.shape()[first + d];
  if (!fits)
    throw ShapeError(op, "got a normalized shape " + str(shape) + " for x " + str(x.shape()),
                     "it must be the extents of the last axes of x, one at least");
  return shape;
}

int64_t product(const Dims& shape) {
  int64_t n = 1;
  for (int d = 0; d < shape.size(); ++d) n *= shape[d];
  return n;
}

params::RowNorm layer_parameters(const Array& x, const Dims& shape) {
  params::RowNorm p{};
  p.dtype = x.dtype();
  p.n = p.channels = product(shape);
  p.rows = x.size() / std::max<int64_t>(p.n, 1);
  p.groups = p.inner = 1;
  return p;
}

params::RowNorm group_parameters(const OpCall& call, const Array& x, int64_t groups) {
  const std::string op(call.name());
  check_channels(call, x);
  const int64_t samples = x.shape()[0], channels = x.shape()[1];
  if (groups < 1 || channels % groups != 0)
    throw ValueError(op, "got " + std::to_string(channels) + " channels in " + std::to_string(groups) + " groups",
                     "the number of groups must divide that of channels");
  params::RowNorm p{};
  p.dtype = x.dtype();
  p.groups = groups;
  p.channels = channels / groups;
  p.inner = 1;
  for (int d = 2; d < x.ndim(); ++d) p.inner *= x.shape()[d];
  p.n = p.channels * p.inner;
  p.rows = samples * groups;
  p.centered = true;
  return p;
}

Normalized forward(OpCall& call, params::RowNorm p, const Array& x, const NormOptions& o, const Array* residual) {
  p.eps = o.eps;
  const auto input = dense_operand(call, &x), added = dense_operand(call, residual);
  const auto weight = dense_operand(call, o.weight), bias = dense_operand(call, o.bias);
  Normalized out{call.empty(x.shape(), x.dtype()), {}};
  if (residual) out.sum = call.empty(x.shape(), x.dtype());
  if (x.size() == 0) return out;
  call.writes(out.y);
  if (out.sum) call.writes(*out.sum);
  p.x = address(input);
  p.residual = address(added);
  p.weight = address(weight);
  p.bias = address(bias);
  p.y = out.y.data_ptr();
  p.sum = out.sum ? out.sum->data_ptr() : nullptr;
  kernels::norm::row_norm(call.queue(), p);
  return out;
}

NormGradients backward(OpCall& call, params::RowNorm p, const Array& grad, const Array& x, const FusedNormOptions& o,
                       const Dims& weight_shape, bool with_bias) {
  p.eps = o.eps;
  p.activation = activation_of(call, o.activation);
  const auto slope = dense_operand(call, &grad), input = dense_operand(call, &x);
  const auto weight = dense_operand(call, o.weight), bias = dense_operand(call, needed_bias(o));
  NormGradients out{call.empty(x.shape(), x.dtype()), call.empty(weight_shape, x.dtype()), {}};
  if (with_bias) out.bias = call.empty(weight_shape, x.dtype());
  if (out.weight.size() == 0) return out;
  if (x.size() == 0) p.rows = 0;  // the sums of no elements
  call.writes(out.x);
  call.writes(out.weight);
  if (out.bias) call.writes(*out.bias);
  p.x = address(input);
  p.grad = address(slope);
  p.weight = address(weight);
  p.bias = address(bias);
  p.y = out.x.data_ptr();
  p.dweight = out.weight.data_ptr();
  p.dbias = out.bias ? out.bias->data_ptr() : nullptr;
  p.partials = call.scratch(size_t(std::max<int64_t>(kernels::norm::row_norm_scratch(call.limits(), p), 1)));
  kernels::norm::row_norm_backward(call.queue(), p);
  return out;
}

Normalized layer_like(Op op, const Array& x, const LayerNormOptions& o, bool centered, const Stream& stream) {
  OpCall call(op, {&x, o.weight, o.bias, o.residual}, stream);
  check_input(call, x, o.eps);
  const Dims shape = normalized_shape(call, x, o);
  check_weight(call, o.weight, "weight", shape, x);
  check_weight(call, o.bias, "bias", shape, x);
  if (o.residual) check_like(call, *o.residual, "residual", x);
  params::RowNorm p = layer_parameters(x, shape);
  p.centered = centered;
  p.activation = activation_of(call, o.activation);
  return forward(call, p, x, o, o.residual);
}

NormGradients layer_like_backward(Op op, const Array& grad, const Array& x, const LayerNormOptions& o, bool centered,
                                  const Stream& stream) {
  OpCall call(op, {&grad, &x, o.weight, o.bias}, stream);
  check_input(call, x, o.eps);
  check_like(call, grad, "grad", x);
  const Dims shape = normalized_shape(call, x, o);
  check_weight(call, o.weight, "weight", shape, x);
  check_weight(call, o.bias, "bias", shape, x);
  params::RowNorm p = layer_parameters(x, shape);
  p.centered = centered;
  return backward(call, p, grad, x, o, shape, centered);
}

// What PyTorch refuses too: a mean of one element is the element, so that the result says nothing of it.
void check_groups(const OpCall& call, const Array& x, const params::RowNorm& p, bool instances) {
  if (instances ? p.inner == 1 : p.rows / p.groups * p.n == 1)
    throw ShapeError(
        std::string(call.name()),
        "x " + str(x.shape()) +
            (instances ? " has one element of each channel of a sample" : " has one element of each group"),
        "pass two at least");
}

Normalized group_like(Op op, const Array& x, std::optional<int64_t> groups, const FusedNormOptions& o,
                      const Stream& stream) {
  OpCall call(op, {&x, o.weight, o.bias, o.residual}, stream);
  check_input(call, x, o.eps);
  check_channels(call, x);
  const Dims shape{x.shape()[1]};
  params::RowNorm p = group_parameters(call, x, groups.value_or(std::max<int64_t>(shape[0], 1)));
  check_groups(call, x, p, !groups);
  check_weight(call, o.weight, "weight", shape, x);
  check_weight(call, o.bias, "bias", shape, x);
  if (o.residual) check_like(call, *o.residual, "residual", x);
  p.activation = activation_of(call, o.activation);
  return forward(call, p, x, o, o.residual);
}

NormGradients group_like_backward(Op op, const Array& grad, const Array& x, std::optional<int64_t> groups,
                                  const FusedNormOptions& o, const Stream& stream) {
  OpCall call(op, {&grad, &x, o.weight, o.bias}, stream);
  check_input(call, x, o.eps);
  check_like(call, grad, "grad", x);
  check_channels(call, x);
  const Dims shape{x.shape()[1]};
  const params::RowNorm p = group_parameters(call, x, groups.value_or(std::max<int64_t>(shape[0], 1)));
  check_groups(call, x, p, !groups);
  check_weight(call, o.weight, "weight", shape, x);
  check_weight(call, o.bias, "bias", shape, x);
  return backward(call, p, grad, x, o, shape, true);
}

}  // namespace

Normalized layer_norm(const Array& x, const LayerNormOptions& o, const Stream& stream) {
  return layer_like(Op::layer_norm, x, o, true, stream);
}
Normalized rms_norm(const Array& x, const LayerNormOptions& o, const Stream& stream) {
  return layer_like(Op::rms_norm, x, o, false, stream);
}
Normalized group_norm(const Array& x, int64_t groups, const FusedNormOptions& o, const Stream& stream) {
  return group_like(Op::group_norm, x, groups, o, stream);
}
Normalized instance_norm(const Array& x, const FusedNormOptions& o, const Stream& stream) {
  return group_like(Op::instance_norm, x, {}, o, stream);
}

NormGradients layer_norm_backward(const Array& grad, const Array& x, const LayerNormOptions& o, const Stream& stream) {
  return layer_like_backward(Op::layer_norm_backward, grad, x, o, true, stream);
}
NormGradients rms_norm_backward(const Array& grad, const Array& x, const LayerNormOptions& o, const Stream& stream) {
  return layer_like_backward(Op::rms_norm_backward, grad, x, o, false, stream);
}
NormGradients group_norm_backward(const Array& grad, const Array& x, int64_t groups, const FusedNormOptions& o,
                                  const Stream& stream) {
  return group_like_backward(Op::group_norm_backward, grad, x, groups, o, stream);
}
NormGradients instance_norm_backward(const Array& grad, const Array& x, const FusedNormOptions& o,
                                     const Stream& stream) {
  return group_like_backward(Op::instance_norm_backward, grad, x, {}, o, stream);
}

}  // namespace stator::nn
