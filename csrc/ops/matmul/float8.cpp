// Eight-bit floats: scaled quantisation, and products by the library or of decoded operands.
#include "core/op_call.hpp"
#include "ops/axes.hpp"
#include "ops/matmul/matmul.hpp"
#include "params/matmul.hpp"

#include <stator/creation.hpp>
#include <stator/matmul.hpp>

#include <algorithm>
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
    throw DTypeError(op, "the argument " + std::string(which) + " of " + std::string(name(scale.dtype())),
                     "scales are float32");
  if (scale.size() != 1 && !(scale.shape() == each))
    throw ShapeError(op, "the argument " + std::string(which) + " of shape " + str(scale.shape()),
                     "pass one number, or an array of shape " + str(each));
  *step = 0;
  if (scale.size() != 1)
    for (int d = 0; d < scale.ndim(); ++d)
      if (scale.shape()[d] != 1) *step = scale.strides()[d];
  call.reads(scale);
  return static_cast<const float*>(scale.data_ptr());
}

}  // namespace

Quantized quantize_fp8(const Array& given, std::string_view format, std::optional<int64_t> axis, const Stream& stream) {
  OpCall call(Op::quantize_fp8, {&given}, stream);
  const std::string op(call.name());
  params::QuantizeFloat8 p{};
  p.format = format_of(op, format);
  if (!in(given.dtype(), dtypes::floats))
    throw DTypeError(op, "an array of " + std::string(name(given.dtype())), "convert it to a floating dtype first");
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
  const params::Float8 formats[] = {format_of(op, options.a_format), format_of(op, options.b_format)};
  if (a.dtype() != DType::uint8 || b.dtype() != DType::uint8)
    throw DTypeError(op, "operands of " + std::string(name(a.dtype())) + " and " + std::string(name(b.dtype())),
                     "eight-bit floats are stored as uint8: quantize_fp8() makes them, .view('uint8') of others");
  if (a.ndim() != 2 || b.ndim() != 2 || a.shape()[1] != b.shape()[0])
    throw ShapeError(op, "operands of shapes " + str(a.shape()) + " and " + str(b.shape()),
                     "both are matrices, (m, k) and (k, n)");
  if (!in(options.dtype, dtypes::floats) || options.dtype == DType::float64)
    throw DTypeError(op, "dtype=" + std::string(name(options.dtype)), "the result is float16, bfloat16 or float32");
  const int64_t m = a.shape()[0], k = a.shape()[1], n = b.shape()[1];
  params::ProductEpilogue after{};
  after.scale_a = check_scale(call, scale_a, "scale_a", Dims{m, 1}, &after.scale_a_stride);
  after.scale_b = check_scale(call, scale_b, "scale_b", Dims{1, n}, &after.scale_b_stride);
  if (options.bias) {
    if (!(options.bias->shape() == Dims{n}))
      throw ShapeError(op, "a bias of shape " + str(options.bias->shape()), "the bias is (" + std::to_string(n) + ",)");
    if (!in(options.bias->dtype(), dtypes::floats))
      throw DTypeError(op, "a bias of " + std::string(name(options.bias->dtype())), "the bias is floating");
    call.reads(*options.bias);
    after.bias = options.bias->data_ptr();
    after.bias_dtype = options.bias->dtype();
    after.bias_stride = options.bias->strides()[0];
  }
  const Array out = call.empty(Dims{m, n}, options.dtype);
  if (out.size() == 0) return out;
  call.reads(a);
  call.reads(b);
  call.writes(out);

  // The library's own product. It has none for two operands of e5m2, and its bias has the half dtype of the result.
  const runtime::Properties& device = call.context().runtime().properties();
  const bool host = call.context().runtime().is_host();
  const bool has = !host && (device.compute_major > 8 || (device.compute_major == 8 && device.compute_minor >= 9));
  const bool by_rows = a.strides()[1] == 1 && b.strides()[0] == 1 && a.strides()[0] >= k && b.strides()[1] >= k;
  const bool single = scale_a.size() == 1 && scale_b.size() == 1;
  const bool e5m2_twice = formats[0] == params::Float8::e5m2 && formats[1] == params::Float8::e5m2;
  const bool bias_fits = !options.bias || (options.dtype != DType::float32 && after.bias_dtype == options.dtype &&
                                           (after.bias_stride == 1 || n == 1));
  libs::Gemm gemm;
  gemm.m = m;
  gemm.n = n;
  gemm.k = k;
  gemm.transpose_b = true;
  gemm.lda = a.strides()[0];
  gemm.ldb = b.strides()[1];
  gemm.ldc = n;
  if (has && by_rows && single && !e5m2_twice && bias_fits && k > 0) {
    gemm.a = a.data_ptr();
    gemm.b = b.data_ptr();
    gemm.c = out.data_ptr();
    gemm.result = options.dtype;
    libs::GemmExtra extra;
    extra.bias = after.bias;
    extra.float8 = true;
    extra.format_a = formats[0];
    extra.format_b = formats[1];
    extra.scale_a = after.scale_a;
    extra.scale_b = after.scale_b;
    if (libs::blas(call.context()).gemm_with(call, gemm, extra)) return out;
  }

  // Otherwise decode: both formats are exact in float16, which tensor cores multiply; products on the host are of
  // float32.
  const Array product = options.dtype == DType::float32 ? out : call.empty(Dims{m, n}, DType::float32);
  if (options.dtype != DType::float32) call.writes(product);
  if (k == 0) {
    assign(product, Operand(0.0), call.on());
  } else {
    params::DecodeFloat8 decode{};
    decode.dtype = host ? DType::float32 : DType::float16;
    const Array x = call.empty(Dims{m, k}, decode.dtype), y = call.empty(Dims{k, n}, decode.dtype);
    call.writes(x);
    call.writes(y);
    // b is decoded in the order that it has in memory: the library handles a transpose.
    const bool b_by_columns = b.strides()[0] == 1;
    decode.format[0] = formats[0];
    decode.format[1] = formats[1];
    decode.rows[0] = m;
    decode.cols[0] = k;
    decode.row_stride[0] = a.strides()[0];
    decode.col_stride[0] = a.strides()[1];
    decode.rows[1] = b_by_columns ? n : k;
    decode.cols[1] = b_by_columns ? k : n;
    decode.row_stride[1] = b.strides()[b_by_columns ? 1 : 0];
    decode.col_stride[1] = b.strides()[b_by_columns ? 0 : 1];
    decode.q[0] = static_cast<const uint8_t*>(a.data_ptr());
    decode.q[1] = static_cast<const uint8_t*>(b.data_ptr());
    decode.out[0] = x.data_ptr();
    decode.out[1] = y.data_ptr();
    kernels::matmul::decode(call.queue(), decode);
    gemm.a = x.data_ptr();
    gemm.b = y.data_ptr();
    gemm.c = product.data_ptr();
    gemm.lda = k;
    gemm.ldb = b_by_columns ? k : n;
    gemm.transpose_b = b_by_columns;
    gemm.operands = decode.dtype;
    gemm.result = DType::float32;
    libs::blas(call.context()).gemm(call, gemm);
  }
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
