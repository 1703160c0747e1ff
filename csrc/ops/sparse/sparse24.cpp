// 2:4 sparsity of dense arrays.
#include "core/op_call.hpp"
#include "libs/sparse.hpp"
#include "ops/axes.hpp"
#include "params/sparse.hpp"

#include <stator/creation.hpp>
#include <stator/matmul.hpp>
#include <stator/sparse.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <string>

namespace stator::sparse {
namespace {

int checked_axis(const OpCall& call, const Array& x, int64_t axis) {
  const std::string op(call.name());
  if (!in(x.dtype(), dtypes::floats))
    throw DTypeError(op, "got dtype " + std::string(name(x.dtype())), "the dtype must be real and floating");
  if (x.ndim() == 0) throw AxisError(op, "got a 0-d array", "pass an array of at least one axis");
  return normalize_axis(op, axis, x.ndim());
}

// The pruned array, or its compressed form.
TwoToFour reduce(const Array& given, int64_t along, bool prune, const Stream& stream) {
  OpCall call(Op::prune_2to4, {&given}, stream);
  const int axis = checked_axis(call, given, along);
  Array x = given;
  params::Sparse24Prune p{};
  p.dtype = x.dtype();
  if (!group_axes(x, axis, p)) {
    x = copy(x, stream);
    group_axes(x, axis, p);
  }
  TwoToFour out;
  out.length = p.n;
  out.axis = axis;
  Dims shape = x.shape();
  if (!prune) shape[axis] = (p.n + 3) / 4 * 2;
  out.values = call.empty(shape, x.dtype());
  if (!prune) {
    shape[axis] /= 2;
    out.positions = call.empty(shape, DType::uint8);
    p.positions = static_cast<uint8_t*>(out.positions.data_ptr());
    call.writes(out.positions);
  }
  if (x.size() == 0) return out;
  call.reads(x);
  call.writes(out.values);
  p.x = x.data_ptr();
  (prune ? p.out : p.values) = out.values.data_ptr();
  kernels::sparse::sparse24_prune(call.queue(), p);
  return out;
}

}  // namespace

Array prune_2to4(const Array& x, int64_t axis, const Stream& stream) { return reduce(x, axis, true, stream).values; }
TwoToFour compress_2to4(const Array& x, int64_t axis, const Stream& stream) { return reduce(x, axis, false, stream); }

Array to_dense(const TwoToFour& a, const Stream& stream) {
  OpCall call(Op::prune_2to4, {&a.values, &a.positions}, stream);
  Dims shape = a.values.shape();
  params::Sparse24Expand p{};
  p.outer = p.inner = 1;
  for (int d = 0; d < shape.size(); ++d)
    if (d != a.axis) (d < a.axis ? p.outer : p.inner) *= shape[d];
  shape[a.axis] = p.n = a.length;
  const Array out = call.empty(shape, a.values.dtype());
  if (out.size() == 0) return out;
  call.reads(a.values);
  call.reads(a.positions);
  call.writes(out);
  p.values = a.values.data_ptr();
  p.positions = static_cast<const uint8_t*>(a.positions.data_ptr());
  p.itemsize = itemsize(out.dtype());
  p.out = out.data_ptr();
  kernels::sparse::sparse24_expand(call.queue(), p);
  return out;
}

namespace {

// Checks that an operand is packed along the axis that it is multiplied along.
void check_packed(const std::string& op, const TwoToFour& packed, const Array& dense, bool left) {
  const int ndim = packed.values.ndim(), axis = ndim - (left ? 1 : 2);
  if (ndim < 2 || packed.axis != axis)
    throw ShapeError(
        op,
        "got an operand of shape " + str(packed.values.shape()) + " packed along axis " + std::to_string(packed.axis),
        left ? "a left operand must be packed along its last axis"
             : "a right operand must be packed along its last but one");
  if (dense.ndim() < 1) throw ShapeError(op, "got a 0-d operand", "both must have at least one axis");
  if (!in(dense.dtype(), dtypes::floats))
    throw DTypeError(op, "got dtype " + std::string(name(dense.dtype())), "the dtype must be real and floating");
  const int64_t inner = dense.shape()[left ? std::max(0, dense.ndim() - 2) : dense.ndim() - 1];
  if (inner != packed.length)
    throw ShapeError(
        op, "got " + std::to_string(packed.length) + " packed elements and an axis of " + std::to_string(inner),
        "the inner axes must have the same length");
}

Dims batch_of(const Array& x) { return Dims(std::span<const int64_t>(x.shape().data(), std::max(0, x.ndim() - 2))); }

// Strides along `batch`, 0 where x is broadcast.
void batch_strides(const Array& x, const Dims& batch, int64_t* to) {
  for (int d = 0; d < batch.size(); ++d) {
    const int own = d - (batch.size() - (x.ndim() - 2));
    to[d] = own < 0 || x.shape()[own] == 1 ? 0 : x.strides()[own];
  }
}

// a @ b by cuSPARSELt, where one of the operands is 2:4; none if it is not installed or cannot describe the operands.
std::optional<Array> structured_product(OpCall& call, const Array& a, const Array& b, bool left) {
  const DType dtype = a.dtype();
  const bool half = in(dtype, dtype_bit(DType::float16) | dtype_bit(DType::bfloat16)) && b.dtype() == dtype;
  if (call.context().runtime().is_host() || !half || a.ndim() != 2 || b.ndim() != 2 ||
      call.context().options().deterministic)
    return {};
  for (const Array* x : {&a, &b})
    for (const int64_t extent : {x->shape()[0], x->shape()[1]})
      if (extent == 0 || extent % 16 != 0) return {};
  const auto described = [](const Array& x) -> std::optional<libs::DenseMatrix> {
    const int64_t row = x.strides()[0], col = x.strides()[1], rows = x.shape()[0], cols = x.shape()[1];
    if (reinterpret_cast<uintptr_t>(x.data_ptr()) % 16 != 0) return {};
    if (col == 1 && row >= cols && row % 16 == 0) return libs::DenseMatrix{x.data_ptr(), rows, cols, row, true};
    if (row == 1 && col >= rows && col % 16 == 0) return libs::DenseMatrix{x.data_ptr(), rows, cols, col, false};
    return {};
  };
  const auto from_a = described(a), from_b = described(b);
  if (!from_a || !from_b || !libs::cuda_sparse_lt_available()) return {};
  const Array out = call.empty(Dims{a.shape()[0], b.shape()[1]}, dtype);
  call.reads(a);
  call.reads(b);
  call.writes(out);
  libs::cuda_structured_product(call, *from_a, *from_b, *described(out), left, dtype);
  return out;
}

// packed @ dense, or dense @ packed as the transpose of packed^T @ dense^T: what the kernel calls rows of the packed
// matrix are the rows or columns that it is packed along.
Array product(const TwoToFour& given, const Array& given_dense, bool left, const Stream& stream) {
  OpCall call(Op::matmul_2to4, {&given.values, &given.positions, &given_dense}, stream);
  const std::string op(call.name());
  check_packed(op, given, given_dense, left);
  if (!call.context().runtime().is_host()) {
    const Array unpacked = to_dense(given, stream);
    if (auto out = structured_product(call, left ? unpacked : given_dense, left ? given_dense : unpacked, left))
      return *out;
    return left ? matmul(unpacked, given_dense, {}, stream) : matmul(given_dense, unpacked, {}, stream);
  }
  const DType dtype = promote(given.values.dtype(), given_dense.dtype());
  const Array values = astype(given.values, dtype, false, stream);
  Array dense = astype(given_dense, dtype, false, stream);
  const bool vector = dense.ndim() == 1;
  if (vector) {
    const Dims shape = left ? Dims{dense.shape()[0], 1} : Dims{1, dense.shape()[0]};
    const Dims strides = left ? Dims{dense.strides()[0], 0} : Dims{0, dense.strides()[0]};
    dense = Array(dense.buffer(), dtype, shape, strides, dense.offset());
  }
  const int nd = dense.ndim(), nv = values.ndim();
  const Dims batch = broadcast_shapes(op, batch_of(values), batch_of(dense));
  params::Sparse24Matmul p{};
  p.rows = values.shape()[left ? nv - 2 : nv - 1];
  p.depth = given.length;
  p.cols = dense.shape()[left ? nd - 1 : nd - 2];
  Dims shape = batch;
  shape.push_back(left ? p.rows : p.cols);
  shape.push_back(left ? p.cols : p.rows);
  checked_size(op, shape, itemsize(dtype));
  const Array out = call.empty(shape, dtype);
  if (out.size() > 0 && p.depth == 0) {
    assign(out, zeros(out.backend(), Dims{}, dtype, stream), stream);
  } else if (out.size() > 0) {
    call.reads(values);
    call.reads(given.positions);
    call.reads(dense);
    call.writes(out);
    p.values = values.data_ptr();
    p.positions = static_cast<const uint8_t*>(given.positions.data_ptr());
    p.x = dense.data_ptr();
    p.out = out.data_ptr();
    p.dtype = dtype;
    p.ndim = batch.size();
    p.batch = 1;
    for (int d = 0; d < p.ndim; ++d) p.batch *= p.shape[d] = batch[d];
    batch_strides(values, batch, p.value_strides);
    batch_strides(given.positions, batch, p.position_strides);
    batch_strides(dense, batch, p.x_strides);
    batch_strides(out, batch, p.out_strides);
    // (row, step) of a left operand; of a right one, those of its transpose.
    const auto steps = [left](const Array& x, int64_t& row, int64_t& step) {
      row = x.strides()[x.ndim() - 2];
      step = x.strides()[x.ndim() - 1];
      if (!left) std::swap(row, step);
    };
    steps(values, p.value_row, p.value_step);
    steps(given.positions, p.position_row, p.position_step);
    steps(dense, p.x_row, p.x_col);
    steps(out, p.out_row, p.out_col);
    kernels::sparse::sparse24_matmul(call.queue(), p);
  }
  if (!vector) return out;
  Dims kept = batch;
  kept.push_back(p.rows);
  return Array(out.buffer(), dtype, kept, contiguous_strides(kept), out.offset());
}

}  // namespace

Array matmul_2to4(const Array& a, const TwoToFour& b, const Stream& stream) { return product(b, a, false, stream); }
Array matmul_2to4(const TwoToFour& a, const Array& b, const Stream& stream) { return product(a, b, true, stream); }

Array matmul_2to4(const Array& a, const Array& b, const Stream& stream) {
  OpCall call(Op::matmul_2to4, {&a, &b}, stream);
  const std::string op(call.name());
  if (b.ndim() < 2)
    throw ShapeError(op, "got a right operand of shape " + str(b.shape()), "it must have at least two axes");
  if (!in(a.dtype(), dtypes::floats))
    throw DTypeError(op, "got dtype " + std::string(name(a.dtype())), "the dtype must be real and floating");
  checked_axis(call, b, -2);
  // Packing for a single product does not pay off on the host: dense BLAS is faster.
  const Array pruned = prune_2to4(b, -2, stream);
  if (auto out = structured_product(call, a, pruned, false)) return *out;
  return matmul(a, pruned, {}, stream);
}

}  // namespace stator::sparse
