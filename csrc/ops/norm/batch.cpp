#include <stator/creation.hpp>
#include <stator/nn/norm.hpp>

#include "memory/overlap.hpp"
#include "ops/checks.hpp"
#include "ops/norm/operands.hpp"
#include "params/norm.hpp"

#include <cmath>
#include <string>

namespace stator::nn {
namespace {

DType statistics_dtype(DType d) { return d == DType::float64 ? DType::float64 : DType::float32; }

// A mean or variance of each channel.
void check_statistic(const OpCall& call, const Array* a, const char* what, const Array& x) {
  const std::string op(call.name());
  const Dims shape{x.shape()[1]};
  if (a == nullptr)
    throw ValueError(op, std::string(what) + " is missing", "pass the mean and var of each channel, or training=True");
  if (!(a->shape() == shape))
    throw ShapeError(op, "got " + std::string(what) + " " + str(a->shape()) + " for x " + str(x.shape()),
                     "pass an array of shape " + str(shape));
  const DType wanted = statistics_dtype(x.dtype());
  if (a->dtype() != wanted)
    throw DTypeError(
        op, std::string(what) + " is " + std::string(name(a->dtype())) + " for x of " + std::string(name(x.dtype())),
        "pass " + std::string(name(wanted)));
}

void check_operands(const OpCall& call, const Array& x, const BatchNormOptions& o) {
  check_input(call, x, o.eps);
  check_channels(call, x);
  check_weight(call, o.weight, "weight", Dims{x.shape()[1]}, x);
  check_weight(call, o.bias, "bias", Dims{x.shape()[1]}, x);
  if (o.residual) check_like(call, *o.residual, "residual", x);
}

// What PyTorch refuses too: a mean of one element is the element, so that the result says nothing of it.
void check_batch(const OpCall& call, const Array& x) {
  if (x.shape()[1] > 0 && x.size() == x.shape()[1])
    throw ShapeError(std::string(call.name()), "x " + str(x.shape()) + " has one element of each channel in training",
                     "pass two at least");
}

params::ChannelNorm channel_parameters(const OpCall& call, const Array& x, const BatchNormOptions& o) {
  params::ChannelNorm p{};
  p.dtype = x.dtype();
  p.training = o.training;
  p.activation = activation_of(call, o.activation);
  p.eps = o.eps;
  p.samples = x.shape()[0];
  p.channels = x.shape()[1];
  p.inner = 1;
  for (int d = 2; d < x.ndim(); ++d) p.inner *= x.shape()[d];
  return p;
}

void give_scratch(OpCall& call, params::ChannelNorm& p) {
  const params::ChannelNormNeeds needs = kernels::norm::channel_norm_needs(call.limits(), p);
  if (needs.scale_bytes > 0) p.scales = call.scratch(size_t(needs.scale_bytes));
  if (needs.partial_bytes == 0) return;
  p.partials = call.scratch(size_t(needs.partial_bytes));
  p.counters = static_cast<uint32_t*>(call.zeroed_scratch(size_t(needs.counter_bytes)));
}

}  // namespace

BatchNormResult batch_norm(const Array& x, const BatchNormOptions& o, const Stream& stream) {
  const Array *given_mean = o.training ? nullptr : o.mean, *given_var = o.training ? nullptr : o.var;
  OpCall call(Op::batch_norm, {&x, o.weight, o.bias, o.residual, given_mean, given_var}, stream);
  check_operands(call, x, o);
  params::ChannelNorm p = channel_parameters(call, x, o);
  std::optional<Array> mean, var;
  if (o.training) {
    check_batch(call, x);
  } else {
    check_statistic(call, o.mean, "mean", x);
    check_statistic(call, o.var, "var", x);
    mean = dense_operand(call, o.mean);
    var = dense_operand(call, o.var);
  }
  const auto input = dense_operand(call, &x), added = dense_operand(call, o.residual);
  const auto weight = dense_operand(call, o.weight), bias = dense_operand(call, o.bias);
  BatchNormResult out{
      call.empty(x.shape(), x.dtype()), o.training ? Array{} : *o.mean, o.training ? Array{} : *o.var, {}};
  if (o.residual) out.sum = call.empty(x.shape(), x.dtype());
  if (o.training) {
    mean = out.mean = call.empty(Dims{p.channels}, statistics_dtype(x.dtype()));
    var = out.var = call.empty(Dims{p.channels}, statistics_dtype(x.dtype()));
    call.writes(out.mean);
    call.writes(out.var);
  }
  if (p.channels == 0 || (x.size() == 0 && !o.training)) return out;
  call.writes(out.y);
  if (out.sum) call.writes(*out.sum);
  p.x = address(input);
  p.residual = address(added);
  p.weight = address(weight);
  p.bias = address(bias);
  p.mean = mean->data_ptr();
  p.var = var->data_ptr();
  p.y = out.y.data_ptr();
  p.sum = out.sum ? out.sum->data_ptr() : nullptr;
  if (o.training) give_scratch(call, p);
  kernels::norm::channel_norm(call.queue(), p);
  return out;
}

NormGradients batch_norm_backward(const Array& grad, const Array& x, const BatchNormOptions& o, const Stream& stream) {
  OpCall call(Op::batch_norm_backward, {&grad, &x, o.weight, o.bias, o.mean, o.var}, stream);
  check_operands(call, x, o);
  check_like(call, grad, "grad", x);
  check_statistic(call, o.mean, "mean", x);
  check_statistic(call, o.var, "var", x);
  params::ChannelNorm p = channel_parameters(call, x, o);
  const auto slope = dense_operand(call, &grad), input = dense_operand(call, &x);
  const auto weight = dense_operand(call, o.weight), bias = dense_operand(call, needed_bias(o));
  const auto mean = dense_operand(call, o.mean), var = dense_operand(call, o.var);
  const Dims channels{p.channels};
  NormGradients out{call.empty(x.shape(), x.dtype()), call.empty(channels, x.dtype()), call.empty(channels, x.dtype())};
  if (p.channels == 0) return out;
  call.writes(out.x);
  call.writes(out.weight);
  call.writes(*out.bias);
  p.x = address(input);
  p.grad = address(slope);
  p.weight = address(weight);
  p.bias = address(bias);
  p.mean = mean->data_ptr();
  p.var = var->data_ptr();
  p.y = out.x.data_ptr();
  p.dweight = out.weight.data_ptr();
  p.dbias = out.bias->data_ptr();
  p.sums = call.scratch(size_t(2 * p.channels * itemsize(statistics_dtype(x.dtype()))));
  give_scratch(call, p);
  kernels::norm::channel_norm_backward(call.queue(), p);
  return out;
}

void update_running_stats(const Array& running_mean, const Array& running_var, const Array& mean, const Array& var,
                          int64_t count, double momentum, const Stream& stream) {
  OpCall call(Op::update_running_stats, {&running_mean, &running_var, &mean, &var}, stream);
  const std::string op(call.name());
  check_input(call, running_mean, 0);
  for (const Array* a : {&running_var, &mean, &var}) {
    if (running_mean.ndim() != 1 || !(a->shape() == running_mean.shape()))
      throw ShapeError(op, "got statistics of shapes " + str(running_mean.shape()) + " and " + str(a->shape()),
                       "pass four arrays of shape (channels,)");
    if (a->dtype() != running_mean.dtype())
      throw DTypeError(
          op, "got statistics of " + std::string(name(running_mean.dtype())) + " and " + std::string(name(a->dtype())),
          "pass four arrays of one dtype");
  }
  if (!in(running_mean.dtype(), dtypes::full_floats))
    throw DTypeError(op, "got statistics of " + std::string(name(running_mean.dtype())), "pass float32 or float64");
  if (count < 0 || count == 1)
    throw ValueError(op, "count=" + std::to_string(count),
                     "pass the number of elements of a channel: none, or two at least");
  if (!(momentum >= 0 && momentum <= 1))
    throw ValueError(op, "momentum=" + number_text(momentum), "pass a number from 0 to 1");
  for (const Array* a : {&running_mean, &running_var})
    require_writable(op, *a, a == &running_mean ? "running_mean" : "running_var");
  const auto batch_mean = dense_operand(call, &mean), batch_var = dense_operand(call, &var);
  if (running_mean.size() == 0 || count == 0) return;
  const auto old_mean = dense_operand(call, &running_mean), old_var = dense_operand(call, &running_var);
  call.writes(*old_mean);
  call.writes(*old_var);
  kernels::norm::running_stats(
      call.queue(), {old_mean->data_ptr(), old_var->data_ptr(), batch_mean->data_ptr(), batch_var->data_ptr(),
                     running_mean.dtype(), momentum, double(count) / double(count - 1), running_mean.size()});
  if (!running_mean.is_contiguous()) assign(running_mean, *old_mean, call.on());
  if (!running_var.is_contiguous()) assign(running_var, *old_var, call.on());
}

}  // namespace stator::nn
