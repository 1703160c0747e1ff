// Weights of four bits, and linear maps by them.
#include "ops/quantization/operands.hpp"

#include <stator/creation.hpp>
#include <stator/matmul.hpp>

namespace stator::nn {
namespace {

constexpr int64_t least_group = 32, few_rows = 16;

void check_narrow(const OpCall& call, const Array& x, const char* what) {
  if (!in(x.dtype(), dtypes::floats) || x.dtype() == DType::float64)
    throw DTypeError(std::string(call.name()), "got " + std::string(what) + " of " + std::string(name(x.dtype())),
                     "pass float16, bfloat16 or float32");
}

// x, or a copy of it that kernels may read 16 bytes of at once.
Array aligned(OpCall& call, const Array& x) {
  return reinterpret_cast<uintptr_t>(x.data_ptr()) % 16 == 0 ? x : copy(x, call.on());
}

}  // namespace

Int4Weights quantize_int4(const Array& weight, int64_t group_size, const Stream& stream) {
  OpCall call(Op::quantize_int4, {&weight}, stream);
  const std::string op(call.name());
  check_narrow(call, weight, "weight");
  if (weight.ndim() != 2) throw ShapeError(op, "got weight of shape " + str(weight.shape()), "pass a matrix (out, in)");
  const int64_t rows = weight.shape()[0], columns = weight.shape()[1];
  if (group_size < least_group || group_size % least_group != 0 || columns % group_size != 0)
    throw ValueError(op, "group_size=" + std::to_string(group_size) + " for weight " + str(weight.shape()),
                     "pass a multiple of 32 that divides " + std::to_string(columns));
  const Dims groups{rows, columns / group_size};
  Int4Weights out{call.empty(Dims{rows, columns / 2}, DType::uint8), call.empty(groups, weight.dtype()),
                  call.empty(groups, DType::uint8)};
  if (weight.size() == 0) return out;
  std::vector<Array> operands;
  params::Int4Groups p{};
  p.dtype = weight.dtype();
  p.rows = rows;
  p.columns = columns;
  p.group = group_size;
  p.weight = const_cast<void*>(dense(call, aligned(call, weight), operands));
  for (const Array* one : {&out.packed, &out.scale, &out.zero_point}) call.writes(*one);
  p.packed = static_cast<uint8_t*>(out.packed.data_ptr());
  p.scale = out.scale.data_ptr();
  p.zero = static_cast<uint8_t*>(out.zero_point.data_ptr());
  kernels::quantization::int4_quantize(call.queue(), p);
  return out;
}

Array int4_linear(const Array& x, const Array& packed, const Array& scale, const Array& zero_point, const Array* bias,
                  const Stream& stream) {
  OpCall call(Op::int4_linear, {&x, &packed, &scale, &zero_point, bias}, stream);
  const std::string op(call.name());
  check_narrow(call, x, "x");
  check_narrow(call, scale, "scale");
  if (packed.dtype() != DType::uint8 || zero_point.dtype() != DType::uint8)
    throw DTypeError(
        op,
        "packed is " + std::string(name(packed.dtype())) + ", zero_point is " + std::string(name(zero_point.dtype())),
        "both must be uint8, as quantize_int4 returns them");
  if (packed.ndim() != 2 || x.ndim() < 1 || x.shape()[x.ndim() - 1] != 2 * packed.shape()[1])
    throw ShapeError(op, "got x " + str(x.shape()) + " and packed " + str(packed.shape()),
                     "pass x (..., in) and packed (out, in / 2)");
  const int64_t outputs = packed.shape()[0], columns = 2 * packed.shape()[1];
  if (scale.ndim() != 2 || scale.shape()[0] != outputs || !(zero_point.shape() == scale.shape()))
    throw ShapeError(op, "got scale " + str(scale.shape()) + " and zero_point " + str(zero_point.shape()),
                     "pass two arrays of shape (" + std::to_string(outputs) + ", groups)");
  const int64_t groups = scale.shape()[1];
  const bool fits = groups > 0 ? columns % groups == 0 && columns / groups % least_group == 0 : columns == 0;
  if (!fits)
    throw ShapeError(op, "got " + std::to_string(groups) + " groups of " + std::to_string(columns) + " weights",
                     "pass groups of a multiple of 32 weights");
  if (bias && !in(bias->dtype(), dtypes::floats))
    throw DTypeError(op, "got a bias of " + std::string(name(bias->dtype())), "pass a floating dtype");
  if (bias && !(bias->shape() == Dims{outputs}))
    throw ShapeError(op, "got a bias of shape " + str(bias->shape()),
                     "pass an array of shape (" + std::to_string(outputs) + ",)");
  Dims shape = x.shape();
  shape[x.ndim() - 1] = outputs;
  const int64_t rows = columns > 0 ? x.size() / columns : 0;
  std::vector<Array> operands;
  if (rows > few_rows && outputs > 0) {
    params::Int4Groups p{};
    p.dtype = x.dtype();
    p.rows = outputs;
    p.columns = columns;
    p.group = columns / groups;
    const Array weight = call.empty(Dims{outputs, columns}, x.dtype());
    p.packed = static_cast<uint8_t*>(const_cast<void*>(dense(call, aligned(call, packed), operands)));
    p.scale = const_cast<void*>(
        dense(call, scale.dtype() == x.dtype() ? scale : astype(scale, x.dtype(), true, call.on()), operands));
    p.zero = static_cast<uint8_t*>(const_cast<void*>(dense(call, zero_point, operands)));
    call.writes(weight);
    p.weight = weight.data_ptr();
    kernels::quantization::int4_decode(call.queue(), p);
    const Array result = linear(x, weight, bias, {}, call.on());
    return result.dtype() == x.dtype() ? result : astype(result, x.dtype(), true, call.on());
  }
  const Array out = call.empty(shape, x.dtype());
  if (out.size() == 0) return out;
  if (columns == 0) {
    assign(out, bias ? Operand(*bias) : Operand(0.0), call.on());
    return out;
  }
  params::Int4Product p{};
  p.x = static_cast<const float*>(dense(
      call, x.dtype() == DType::float32 ? aligned(call, x) : astype(x, DType::float32, true, call.on()), operands));
  p.packed = static_cast<const uint8_t*>(dense(call, aligned(call, packed), operands));
  p.scale = dense(call, scale, operands);
  p.zero = static_cast<const uint8_t*>(dense(call, zero_point, operands));
  p.scale_dtype = scale.dtype();
  if (bias) {
    p.bias = dense(call, *bias, operands);
    p.bias_dtype = bias->dtype();
  }
  p.dtype = x.dtype();
  p.rows = rows;
  p.columns = columns;
  p.outputs = outputs;
  p.group = columns / groups;
  call.writes(out);
  p.out = out.data_ptr();
  call.expect_multiply_adds(out.size() * columns);
  kernels::quantization::int4_product(call.queue(), p);
  return out;
}

}  // namespace stator::nn
