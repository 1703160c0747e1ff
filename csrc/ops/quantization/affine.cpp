// Quantisation by scales and zero points of a tensor, a channel or a block, dequantising, and gradients.
#include "ops/quantization/operands.hpp"

#include <stator/creation.hpp>

#include <cmath>

namespace stator::nn {
namespace {

constexpr int64_t widest = int64_t(1) << 22;

DType computed_in(DType dtype) { return dtype == DType::float64 ? DType::float64 : DType::float32; }

// The shape that scales have.
Dims number_shape(const OpCall& call, const Array& x, const QuantizationOptions& o) {
  const std::string op(call.name());
  if (!o.axis) {
    if (o.block_size) throw ValueError(op, "got a block size without an axis", "pass the axis that has the blocks");
    return {};
  }
  const int axis = normalize_axis(op, *o.axis, x.ndim());
  if (!o.block_size) return Dims{x.shape()[axis]};
  if (*o.block_size < 1)
    throw ValueError(op, "block_size=" + std::to_string(*o.block_size), "pass a number of at least 1");
  Dims shape = x.shape();
  shape[axis] = (shape[axis] + *o.block_size - 1) / *o.block_size;
  return shape;
}

void check_shape(const OpCall& call, const QuantizationNumber& n, const char* what, const Array& x, const Dims& wanted,
                 const QuantizationOptions& o) {
  if (n.array == nullptr || n.array->shape() == wanted) return;
  if (!o.axis && n.array->size() == 1) return;
  const std::string each = !o.axis ? "of one element" : o.block_size ? "with a number per block" : "with one per index";
  throw ShapeError(
      std::string(call.name()),
      "got " + std::string(what) + " of shape " + str(n.array->shape()) + " for x of shape " + str(x.shape()),
      "pass an array of shape " + str(wanted) + ", " + each);
}

// Both extents are positive.
params::ScaleLines lines_of(const Array& x, const QuantizationOptions& o) {
  params::ScaleLines l{};
  l.size = l.pitch = l.length = x.size();
  l.per = l.group = 1;
  if (!o.axis) return l;
  const int axis = int(*o.axis < 0 ? *o.axis + x.ndim() : *o.axis);
  const int64_t extent = x.shape()[axis];
  int64_t inner = 1;
  for (int d = axis + 1; d < x.ndim(); ++d) inner *= x.shape()[d];
  l.pitch = extent * inner;
  if (!o.block_size) {
    l.varying = inner == 1;
    l.length = l.varying ? extent : inner;
    l.per = l.varying ? 1 : extent;
    l.step = l.varying ? 0 : 1;
    return l;
  }
  const int64_t block = std::min(*o.block_size, extent), blocks = (extent + block - 1) / block;
  l.outer_step = blocks * inner;
  l.step = inner;
  if (inner == 1) {
    l.per = blocks;
    l.length = block;
  } else {
    l.varying = true;
    l.per = extent;
    l.length = inner;
    l.group = block;
  }
  return l;
}

params::ScaleNumbers numbers_of(OpCall& call, const QuantizationNumber& n, DType computation, bool varying,
                                std::vector<Array>& operands) {
  if (n.array == nullptr) return {nullptr, computation, n.number};
  const bool convert = varying && n.array->dtype() != computation;
  const Array source = convert ? astype(*n.array, computation, true, call.on()) : *n.array;
  const void* data = dense(call, source, operands);
  return {data, operands.back().dtype(), 0};
}

struct AffineNumbers {
  const QuantizationNumber &scale, &zero;
  const QuantizationOptions& options;
};

// Fills in all but out. False if x has no elements.
bool set_affine(OpCall& call, params::Affine& p, const Array& x, DType floating, const AffineNumbers& numbers,
                std::vector<Array>& operands) {
  const auto& [scale, zero, o] = numbers;
  const Dims shape = number_shape(call, x, o);
  check_shape(call, scale, "a scale", x, shape, o);
  check_shape(call, zero, "a zero point", x, shape, o);
  if (x.size() == 0) return false;
  p.dtype = floating;
  p.lines = lines_of(x, o);
  p.scale = numbers_of(call, scale, computed_in(floating), p.lines.varying, operands);
  p.zero = numbers_of(call, zero, computed_in(floating), p.lines.varying, operands);
  p.x = dense(call, x, operands);
  return true;
}

Limits wide_limits(const OpCall& call, const QuantizationOptions& o) {
  const std::string op(call.name());
  const int64_t low = o.quant_min.value_or(0), high = o.quant_max.value_or(0);
  if (!o.quant_min || !o.quant_max || low < -widest || high > widest || low > high)
    throw ValueError(op, "quant_min=" + std::to_string(low) + " and quant_max=" + std::to_string(high),
                     "pass two numbers in order, from " + std::to_string(-widest) + " to " + std::to_string(widest));
  return {low, high};
}

}  // namespace

Array quantize(const Array& x, const QuantizationNumber& scale, const QuantizationNumber& zero, DType dtype,
               const QuantizationOptions& o, const Stream& stream) {
  OpCall call(Op::quantize, {&x, scale.array, zero.array}, stream);
  const Limits limits = byte_limits(call, dtype, o.quant_min, o.quant_max);
  check_floating(call, x, "x");
  check_scale(call, scale, "scale");
  check_zero(call, zero, "zero_point", limits);
  std::vector<Array> operands;
  params::Affine p{};
  p.low = double(limits.low);
  p.high = double(limits.high);
  const bool any = set_affine(call, p, x, x.dtype(), {scale, zero, o}, operands);
  const Array out = call.empty(x.shape(), dtype);
  if (!any) return out;
  call.writes(out);
  p.out = out.data_ptr();
  kernels::quantization::affine(call.queue(), p);
  return out;
}

Array dequantize(const Array& q, const QuantizationNumber& scale, const QuantizationNumber& zero, DType dtype,
                 const QuantizationOptions& o, const Stream& stream) {
  OpCall call(Op::dequantize, {&q, scale.array, zero.array}, stream);
  check_byte(call, q, "q");
  if (!in(dtype, dtypes::floats))
    throw DTypeError(std::string(call.name()), "dtype=" + std::string(name(dtype)),
                     "pass float16, bfloat16, float32 or float64");
  const Limits limits = byte_limits(call, q.dtype(), {}, {});
  check_scale(call, scale, "scale");
  check_zero(call, zero, "zero_point", limits);
  std::vector<Array> operands;
  params::Affine p{};
  p.conversion = params::Conversion::dequantize;
  p.is_signed = q.dtype() == DType::int8;
  p.low = double(limits.low);
  p.high = double(limits.high);
  const bool any = set_affine(call, p, q, dtype, {scale, zero, o}, operands);
  const Array out = call.empty(q.shape(), dtype);
  if (!any) return out;
  call.writes(out);
  p.out = out.data_ptr();
  kernels::quantization::affine(call.queue(), p);
  return out;
}

Array fake_quantize(const Array& x, const QuantizationNumber& scale, const QuantizationNumber& zero,
                    const QuantizationOptions& o, const Stream& stream) {
  OpCall call(Op::fake_quantize, {&x, scale.array, zero.array}, stream);
  const Limits limits = wide_limits(call, o);
  check_floating(call, x, "x");
  check_scale(call, scale, "scale");
  check_zero(call, zero, "zero_point", limits, true);
  std::vector<Array> operands;
  params::Affine p{};
  p.conversion = params::Conversion::fake;
  p.low = double(limits.low);
  p.high = double(limits.high);
  const bool any = set_affine(call, p, x, x.dtype(), {scale, zero, o}, operands);
  const Array out = call.empty(x.shape(), x.dtype());
  if (!any) return out;
  call.writes(out);
  p.out = out.data_ptr();
  kernels::quantization::affine(call.queue(), p);
  return out;
}

FakeQuantizeGradients fake_quantize_backward(const Array& grad, const Array& x, const QuantizationNumber& scale,
                                             const QuantizationNumber& zero, const FakeQuantizeGradientOptions& o,
                                             const Stream& stream) {
  OpCall call(Op::fake_quantize_backward, {&grad, &x, scale.array, zero.array}, stream);
  const std::string op(call.name());
  const Limits limits = wide_limits(call, o);
  check_floating(call, x, "x");
  check_scale(call, scale, "scale");
  check_zero(call, zero, "zero_point", limits, true);
  if (!(grad.shape() == x.shape()))
    throw ShapeError(op, "got grad " + str(grad.shape()) + " for x " + str(x.shape()),
                     "pass the gradient of the result");
  if (grad.dtype() != x.dtype())
    throw DTypeError(op, "grad is " + std::string(name(grad.dtype())) + ", x is " + std::string(name(x.dtype())),
                     "convert grad with astype");
  if (!std::isfinite(o.grad_factor))
    throw ValueError(op, "grad_factor=" + number_text(o.grad_factor), "pass a finite number");
  std::vector<Array> operands;
  params::AffineGradient p{};
  p.of.low = double(limits.low);
  p.of.high = double(limits.high);
  p.factor = o.grad_factor;
  const Dims shape = number_shape(call, x, o);
  const bool any = set_affine(call, p.of, x, x.dtype(), {scale, zero, o}, operands);
  FakeQuantizeGradients out{call.empty(x.shape(), x.dtype()), {}, {}};
  const DType computation = computed_in(x.dtype());
  if (o.learned) {
    const Dims given = scale.array ? scale.array->shape() : shape;
    out.scale = call.empty(given, computation);
    out.zero_point = call.empty(given, computation);
    if (!any && out.scale.size() > 0) {
      assign(out.scale, Operand(0.0), call.on());
      assign(out.zero_point, Operand(0.0), call.on());
    }
  }
  if (!any) return out;
  p.grad = dense(call, grad, operands);
  p = kernels::quantization::plan_gradient(call.limits(), p);
  call.writes(out.x);
  p.of.out = out.x.data_ptr();
  if (o.learned) {
    call.writes(out.scale);
    call.writes(out.zero_point);
    p.numbers = out.scale.size();
    p.partials = call.scratch(size_t(2 * p.partial_count * itemsize(computation)));
    p.scale_grad = out.scale.data_ptr();
    p.zero_grad = out.zero_point.data_ptr();
  }
  kernels::quantization::gradient(call.queue(), p);
  return out;
}

}  // namespace stator::nn
