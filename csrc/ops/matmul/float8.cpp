// Eight-bit floats: scaled quantisation, and products by the library or of decoded operands.
#include "core/op_call.hpp"
#include "ops/axes.hpp"
#include "ops/matmul/matmul.hpp"
#include "params/matmul.hpp"

#include <stator/creation.hpp>
#include <stator/matmul.hpp>

#include <array>
#include <string>

namespace stator::nn {
namespace {

params::Float8 format_of(const std::string& op, std::string_view name) {
  if (name == "e4m3") return params::Float8::e4m3;
  if (name == "e5m2") return params::Float8::e5m2;
  throw ValueError(op, "the format '" + std::string(name) + "'", "pass 'e4m3' or 'e5m2'");
}

// A scale is one number, or an array along the axis that the other operand does not share.
const float* check_scale(OpCall& call, const Array& scale, const char* which, const Dims& each, int64_t* step) {
  const std::string op(call.name());
  if (scale.dtype() != DType::float32)
    throw DTypeError(op, "got the argument " + std::string(which) + " of " + std::string(name(scale.dtype())),
                     "scales must be float32");
  if (scale.size() != 1 && !(scale.shape() == each))
    throw ShapeError(op, "got the argument " + std::string(which) + " of shape " + str(scale.shape()),
                     "pass one number, or an array of shape " + str(each));
  *step = 0;
  if (scale.size() != 1)
    for (int d = 0; d < scale.ndim(); ++d)
      if (scale.shape()[d] != 1) *step = scale.strides()[d];
  call.reads(scale);
  return static_cast<const float*>(scale.data_ptr());
}

using Formats = std::array<params::Float8, 2>;

void check_operands(const std::string& op, const Array& a, const Array& b, const ScaledMatmulOptions& options) {
  if (a.dtype() != DType::uint8 || b.dtype() != DType::uint8)
    throw DTypeError(op, "got operands of " + std::string(name(a.dtype())) + " and " + std::string(name(b.dtype())),
                     "operands must be uint8. Make them with quantize_fp8(), or view others with .view('uint8')");
  if (a.ndim() != 2 || b.ndim() != 2 || a.shape()[1] != b.shape()[0])
    throw ShapeError(op, "got operands of shapes " + str(a.shape()) + " and " + str(b.shape()),
                     "both must be matrices, (m, k) and (k, n)");
  if (!in(options.dtype, dtypes::floats) || options.dtype == DType::float64)
    throw DTypeError(op, "dtype=" + std::string(name(options.dtype)),
                     "the result must be float16, bfloat16 or float32");
}

void set_bias(OpCall& call, const Array& bias, int64_t n, params::ProductEpilogue& after) {
  const std::string op(call.name());
  if (!(bias.shape() == Dims{n}))
    throw ShapeError(op, "got a bias of shape " + str(bias.shape()), "the bias must be (" + std::to_string(n) + ",)");
  if (!in(bias.dtype(), dtypes::floats))
    throw DTypeError(op, "got a bias of " + std::string(name(bias.dtype())), "the bias must be floating");
  call.reads(bias);
  after.bias = bias.data_ptr();
  after.bias_dtype = bias.dtype();
  after.bias_stride = bias.strides()[0];
}

libs::Gemm gemm_of(const Array& a, const Array& b) {
  libs::Gemm gemm;
  gemm.m = a.shape()[0];
  gemm.n = gemm.ldc = b.shape()[1];
  gemm.k = a.shape()[1];
  return gemm;
}

// The library's own product of operands with one scale each; false without one. It has none for two operands of e5m2,
// and its bias has the half dtype of the result.
bool multiply_by_library(OpCall& call, const Array& a, const Array& b, const Array& out, const Formats& formats,
                         const params::ProductEpilogue& after) {
  const runtime::Runtime& runtime = call.context().runtime();
  const runtime::Properties& device = runtime.properties();
  const int64_t k = a.shape()[1], n = b.shape()[1];
  const bool has =
      !runtime.is_host() && (device.compute_major > 8 || (device.compute_major == 8 && device.compute_minor >= 9));
  const bool by_rows = a.strides()[1] == 1 && b.strides()[0] == 1 && a.strides()[0] >= k && b.strides()[1] >= k;
  const bool e5m2_twice = formats[0] == params::Float8::e5m2 && formats[1] == params::Float8::e5m2;
  const bool bias_fits = !after.bias || (out.dtype() != DType::float32 && after.bias_dtype == out.dtype() &&
                                         (after.bias_stride == 1 || n == 1));
  if (!has || !by_rows || e5m2_twice || !bias_fits || k == 0) return false;
  libs::Gemm gemm = gemm_of(a, b);
  gemm.a = a.data_ptr();
  gemm.b = b.data_ptr();
  gemm.c = out.data_ptr();
  gemm.lda = a.strides()[0];
  gemm.ldb = b.strides()[1];
  gemm.transpose_b = true;
  gemm.result = out.dtype();
  libs::GemmExtra extra;
  extra.bias = after.bias;
  extra.float8 = true;
  extra.format_a = formats[0];
  extra.format_b = formats[1];
  extra.scale_a = after.scale_a;
  extra.scale_b = after.scale_b;
  return libs::blas(call.context()).gemm_with(call, gemm, extra);
}

// Both formats are exact in float16, which tensor cores multiply; products on the host are of float32.
void multiply_decoded(OpCall& call, const Array& a, const Array& b, const Array& product, const Formats& formats) {
  libs::Gemm gemm = gemm_of(a, b);
  params::DecodeFloat8 decode{};
  decode.dtype = call.context().runtime().is_host() ? DType::float32 : DType::float16;
  const Array x = call.empty(a.shape(), decode.dtype), y = call.empty(b.shape(), decode.dtype);
  call.writes(x);
  call.writes(y);
  // b is decoded in the order that it has in memory: the library handles a transpose.
  const bool b_by_columns = b.strides()[0] == 1;
  const int b_row = b_by_columns ? 1 : 0, b_col = b_by_columns ? 0 : 1;
  decode.format[0] = formats[0];
  decode.format[1] = formats[1];
  decode.rows[0] = a.shape()[0];
  decode.cols[0] = a.shape()[1];
  decode.row_stride[0] = a.strides()[0];
  decode.col_stride[0] = a.strides()[1];
  decode.rows[1] = b.shape()[b_row];
  decode.cols[1] = b.shape()[b_col];
  decode.row_stride[1] = b.strides()[b_row];
  decode.col_stride[1] = b.strides()[b_col];
  decode.q[0] = static_cast<const uint8_t*>(a.data_ptr());
  decode.q[1] = static_cast<const uint8_t*>(b.data_ptr());
  decode.out[0] = x.data_ptr();
  decode.out[1] = y.data_ptr();
  kernels::matmul::decode(call.queue(), decode);
  gemm.a = x.data_ptr();
  gemm.b = y.data_ptr();
  gemm.c = product.data_ptr();
  gemm.lda = gemm.k;
  gemm.ldb = decode.cols[1];
  gemm.transpose_b = b_by_columns;
  gemm.operands = decode.dtype;
  gemm.result = DType::float32;
  libs::blas(call.context()).gemm(call, gemm);
}

}  // namespace

Quantized quantize_fp8(const Array& given, std::string_view format, std::optional<int64_t> axis, const Stream& stream) {
  OpCall call(Op::quantize_fp8, {&given}, stream);
  const std::string op(call.name());
  params::QuantizeFloat8 p{};
  p.format = format_of(op, format);
  if (!in(given.dtype(), dtypes::floats))
    throw DTypeError(op, "got an array of " + std::string(name(given.dtype())), "convert it to a floating dtype first");
  const Array x = given.is_contiguous() ? given : copy(given, call.on());
  Dims scales;
  p.outer = p.inner = 1;
  p.count = x.size();
  if (axis) {
    const int along = normalize_axis(op, *axis, x.ndim());
    scales = x.shape();
    scales[along] = 1;
    p.count = x.shape()[along];
    for (int d = 0; d < along; ++d) p.outer *= x.shape()[d];
    for (int d = along + 1; d < x.ndim(); ++d) p.inner *= x.shape()[d];
  }
  Quantized out{call.empty(x.shape(), DType::uint8), call.empty(scales, DType::float32)};
  if (x.size() == 0) {
    assign(out.scale, Operand(1.0), call.on());
    return out;
  }
  p.split_size = params::float8_split_size(p.count);
  p.splits = (p.count + p.split_size - 1) / p.split_size;
  p.partials = static_cast<float*>(call.scratch(size_t(p.outer * p.inner * p.splits) * sizeof(float)));
  call.reads(x);
  call.writes(out.values);
  call.writes(out.scale);
  p.dtype = x.dtype();
  p.x = x.data_ptr();
  p.q = static_cast<uint8_t*>(out.values.data_ptr());
  p.scale = static_cast<float*>(out.scale.data_ptr());
  kernels::matmul::quantize(call.queue(), p);
  return out;
}

Array scaled_matmul(const Array& a, const Array& b, const Array& scale_a, const Array& scale_b,
                    const ScaledMatmulOptions& options, const Stream& stream) {
  OpCall call(Op::scaled_matmul, {&a, &b, &scale_a, &scale_b, options.bias}, stream);
  const std::string op(call.name());
  const Formats formats = {format_of(op, options.a_format), format_of(op, options.b_format)};
  check_operands(op, a, b, options);
  const int64_t m = a.shape()[0], n = b.shape()[1];
  params::ProductEpilogue after{};
  after.scale_a = check_scale(call, scale_a, "scale_a", Dims{m, 1}, &after.scale_a_stride);
  after.scale_b = check_scale(call, scale_b, "scale_b", Dims{1, n}, &after.scale_b_stride);
  if (options.bias) set_bias(call, *options.bias, n, after);
  const Array out = call.empty(Dims{m, n}, options.dtype);
  if (out.size() == 0) return out;
  call.reads(a);
  call.reads(b);
  call.writes(out);
  const bool single = scale_a.size() == 1 && scale_b.size() == 1;
  if (single && multiply_by_library(call, a, b, out, formats, after)) return out;

  const Array product = options.dtype == DType::float32 ? out : call.empty(Dims{m, n}, DType::float32);
  if (options.dtype != DType::float32) call.writes(product);
  if (a.shape()[1] == 0)
    assign(product, Operand(0.0), call.on());
  else
    multiply_decoded(call, a, b, product, formats);
  after.x_dtype = DType::float32;
  after.out_dtype = options.dtype;
  after.rows = m;
  after.cols = n;
  after.out_row = n;
  after.out_col = 1;
  after.x = product.data_ptr();
  after.out = out.data_ptr();
  kernels::matmul::epilogue(call.queue(), after);
  return out;
}

}  // namespace stator::nn
