// Products of quantised operands: exact products of int8, and what follows them in one launch.
#include "ops/quantization/product.hpp"

#include <stator/creation.hpp>
#include <stator/elementwise.hpp>
#include <stator/matmul.hpp>
#include <stator/movement.hpp>
#include <stator/reduce.hpp>

#include <algorithm>

namespace stator::nn {
namespace {

using params::ProductNumbers;
using params::QuantizedEpilogue;

constexpr int32_t shift_of(DType dtype) { return dtype == DType::uint8 ? 128 : 0; }

// One number or an array of them as dense float32 or int32; `step` is 0 for one.
template <class T>
const T* numbers(OpCall& call, const Array& x, DType dtype, const char* what, int64_t count, int64_t* step,
                 std::vector<Array>& operands) {
  const bool one = x.size() == 1, line = x.size() == count && (x.ndim() == 1 || x.ndim() == 2);
  bool along = line;
  for (int d = 0, longer = 0; along && d < x.ndim(); ++d) along = x.shape()[d] == 1 || ++longer == 1;
  if (!one && !along)
    throw ShapeError(std::string(call.name()), "got " + std::string(what) + " of shape " + str(x.shape()),
                     "pass one number, or an array of shape (" + std::to_string(count) + ",)");
  *step = one ? 0 : 1;
  return static_cast<const T*>(dense(call, x.dtype() == dtype ? x : astype(x, dtype, true, call.on()), operands));
}

}  // namespace

Array as_int8(const Array& x, const Stream& on) {
  return x.dtype() == DType::int8 ? x : view(bitwise_xor(x, 128, {}, on), DType::int8);
}

ProductNumbers product_numbers(OpCall& call, const QuantizationNumber& scale, const QuantizationNumber& zero,
                               NumberNames names, DType operand, int64_t count, std::vector<Array>& operands) {
  check_scale(call, scale, names.scale);
  check_zero(call, zero, names.zero, byte_limits(call, operand, {}, {}));
  ProductNumbers n{};
  n.shift = shift_of(operand);
  n.zero_number = int32_t(zero.number);
  n.scale_number = float(scale.number);
  if (zero.array) n.zero = numbers<int32_t>(call, *zero.array, DType::int32, names.zero, count, &n.zero_step, operands);
  if (scale.array)
    n.scale = numbers<float>(call, *scale.array, DType::float32, names.scale, count, &n.scale_step, operands);
  return n;
}
bool is_shifted(const ProductNumbers& n) { return n.zero != nullptr || n.zero_number != n.shift; }

void check_bytes(const OpCall& call, const Array& a, const char* a_name, const Array& b, const char* b_name) {
  check_byte(call, a, a_name);
  check_byte(call, b, b_name);
}

void set_result(OpCall& call, QuantizedEpilogue& p, const QuantizedProductOptions& o, int64_t count,
                std::vector<Array>& operands) {
  const std::string op(call.name());
  p.out_dtype = o.dtype;
  p.relu = o.relu;
  if (in(o.dtype, dtypes::floats) && o.dtype != DType::float64) {
    if (o.scale_out.array || o.scale_out.number != 0 || o.zero_point_out.array || o.zero_point_out.number != 0)
      throw ValueError(op, "got scale_out or zero_point_out with dtype=" + std::string(name(o.dtype)),
                       "pass dtype int8 or uint8, or no such numbers");
  } else if (o.dtype == DType::int8 || o.dtype == DType::uint8) {
    p.result =
        product_numbers(call, o.scale_out, o.zero_point_out, {"scale_out", "zero_point_out"}, o.dtype, 1, operands);
    p.result.shift = 0;
  } else {
    throw DTypeError(op, "dtype=" + std::string(name(o.dtype)), "pass int8, uint8, float16, bfloat16 or float32");
  }
  if (o.bias == nullptr) return;
  if (!in(o.bias->dtype(), dtypes::floats) && o.bias->dtype() != DType::int32)
    throw DTypeError(op, "got a bias of " + std::string(name(o.bias->dtype())), "pass a floating dtype, or int32");
  if (!(o.bias->shape() == Dims{count}))
    throw ShapeError(op, "got a bias of shape " + str(o.bias->shape()),
                     "pass an array of shape (" + std::to_string(count) + ",)");
  p.bias = dense(call, *o.bias, operands);
  p.bias_dtype = o.bias->dtype();
}

const int64_t* sums_of(OpCall& call, const Array& x, int64_t axis, const Dims& whole, std::vector<Array>& operands) {
  ReduceOptions options;
  options.axes = std::vector<int64_t>{axis};
  options.dtype = DType::int64;
  Array found = sum(x, options, call.on());
  if (found.ndim() > 1 && !(found.shape() == whole)) found = broadcast_to(found, whole);
  return static_cast<const int64_t*>(dense(call, found, operands));
}

void launch_product(OpCall& call, QuantizedEpilogue& p, const Array& left, const Array& right, const Array& out,
                    std::vector<Array>& operands) {
  MatmulOptions options;
  options.dtype = DType::int32;
  p.x = static_cast<const int32_t*>(dense(call, matmul(left, right, options, call.on()), operands));
  call.writes(out);
  p.out = out.data_ptr();
  kernels::quantization::epilogue(call.queue(), p);
}

namespace {

// a (..., m, k) and b (..., k, n), which fit.
Array product_of(OpCall& call, const Array& a, const Array& b, const Dims& batch, const Dims& result,
                 const QuantizedProductOptions& o) {
  const int64_t m = a.shape()[a.ndim() - 2], k = a.shape()[a.ndim() - 1], n = b.shape()[b.ndim() - 1];
  std::vector<Array> operands;
  QuantizedEpilogue p{};
  const bool layer = call.op() == Op::quantized_linear;
  const NumberNames of_a = layer ? NumberNames{"scale_x", "zero_point_x"} : NumberNames{"scale_a", "zero_point_a"};
  const NumberNames of_b =
      layer ? NumberNames{"scale_weight", "zero_point_weight"} : NumberNames{"scale_b", "zero_point_b"};
  p.of_rows = product_numbers(call, o.scale_a, o.zero_point_a, of_a, a.dtype(), m, operands);
  p.of_cols = product_numbers(call, o.scale_b, o.zero_point_b, of_b, b.dtype(), n, operands);
  set_result(call, p, o, n, operands);
  const Array out = call.empty(result, o.dtype);
  if (out.size() == 0) return out;
  const Stream on = call.on();
  const Array left = as_int8(a, on), right = as_int8(b, on);
  p.rows = out.size() / n;
  p.cols = n;
  p.period = p.matrix_rows = m;
  p.terms = k;
  Dims rows = batch, cols = batch;
  rows.push_back(m);
  cols.push_back(n);
  p.row_sum_period = a.ndim() == 2 ? m : p.rows;
  p.col_sum_pitch = b.ndim() == 2 ? 0 : n;
  if (is_shifted(p.of_cols)) p.row_sums = sums_of(call, left, -1, rows, operands);
  if (is_shifted(p.of_rows)) p.col_sums = sums_of(call, right, -2, cols, operands);
  launch_product(call, p, left, right, out, operands);
  return out;
}

}  // namespace

Array quantized_matmul(const Array& a, const Array& b, const QuantizedProductOptions& o, const Stream& stream) {
  OpCall call(Op::quantized_matmul,
              {&a, &b, o.scale_a.array, o.scale_b.array, o.zero_point_a.array, o.zero_point_b.array, o.bias,
               o.scale_out.array, o.zero_point_out.array},
              stream);
  const std::string op(call.name());
  check_bytes(call, a, "a", b, "b");
  if (a.ndim() < 2 || b.ndim() < 2 || a.shape()[a.ndim() - 1] != b.shape()[b.ndim() - 2])
    throw ShapeError(op, "got operands of shapes " + str(a.shape()) + " and " + str(b.shape()),
                     "pass matrices (..., m, k) and (..., k, n)");
  Dims of_a, of_b;
  for (int d = 0; d < a.ndim() - 2; ++d) of_a.push_back(a.shape()[d]);
  for (int d = 0; d < b.ndim() - 2; ++d) of_b.push_back(b.shape()[d]);
  const Dims batch = broadcast_shapes(op, of_a, of_b);
  Dims result = batch;
  result.push_back(a.shape()[a.ndim() - 2]);
  result.push_back(b.shape()[b.ndim() - 1]);
  return product_of(call, a, b, batch, result, o);
}

Array quantized_linear(const Array& x, const Array& weight, const QuantizedProductOptions& o, const Stream& stream) {
  OpCall call(Op::quantized_linear,
              {&x, &weight, o.scale_a.array, o.scale_b.array, o.zero_point_a.array, o.zero_point_b.array, o.bias,
               o.scale_out.array, o.zero_point_out.array},
              stream);
  check_bytes(call, x, "x", weight, "weight");
  if (x.ndim() < 1 || weight.ndim() != 2 || x.shape()[x.ndim() - 1] != weight.shape()[1])
    throw ShapeError(std::string(call.name()), "got x " + str(x.shape()) + " and weight " + str(weight.shape()),
                     "pass x (..., in) and weight (out, in)");
  Dims result = x.shape();
  result[x.ndim() - 1] = weight.shape()[0];
  int64_t rows = 1;
  for (int d = 0; d < x.ndim() - 1; ++d) rows *= x.shape()[d];
  const int64_t flat[] = {rows, weight.shape()[1]};
  const Array lines = x.ndim() == 2 ? x : reshape(x, flat, {}, call.on());
  return product_of(call, lines, matrix_transpose(weight), {}, result, o);
}

}  // namespace stator::nn
