#include "ops/linalg/operands.hpp"

#include "params/linalg.hpp"

#include <stator/creation.hpp>
#include <stator/movement.hpp>

#include <vector>

namespace stator::linalg::detail {

Array operand(const OpCall& call, const Array& x) {
  const std::string op(call.name());
  if (x.ndim() < 2)
    throw ShapeError(op, "got an array of shape " + str(x.shape()),
                     "matrices must have at least two axes: (..., m, n)");
  if (in(x.dtype(), dtypes::blas)) return x;
  if (in(x.dtype(), dtypes::integers | dtypes::boolean)) return astype(x, DType::float64, true, call.on());
  throw DTypeError(op, "got an array of " + std::string(name(x.dtype())),
                   "convert it with astype: float32, float64, complex64 and complex128 are decomposed");
}

void require_square(const OpCall& call, const Array& x) {
  if (rows(x) == cols(x)) return;
  throw ShapeError(std::string(call.name()), "got matrices of shape " + str(x.shape()),
                   "the last two axes must be equal");
}

Dims batch_of(const Array& x) { return Dims(std::span<const int64_t>(x.shape().data(), size_t(x.ndim() - 2))); }

Dims matrix_shape(const Dims& batch, int64_t m, int64_t n) {
  Dims shape = batch;
  shape.push_back(m);
  shape.push_back(n);
  return shape;
}

Dims vector_shape(const Dims& batch, int64_t n) {
  Dims shape = batch;
  shape.push_back(n);
  return shape;
}

Array with_batch(const Array& x, const Dims& batch) { return broadcast_to(x, matrix_shape(batch, rows(x), cols(x))); }

int64_t product(const Dims& dims) {
  int64_t n = 1;
  for (const int64_t extent : dims) n *= extent;
  return n;
}

Rhs right_hand_side(const OpCall& call, const Array& a, const Array& b) {
  const std::string op(call.name());
  if (b.ndim() == 0) throw ShapeError(op, "got a right-hand side without axes", "pass (n,) or (..., n, k)");
  const bool vector = b.ndim() == 1;
  const int64_t last[] = {1};
  const Array matrix = operand(call, vector ? expand_dims(b, last) : b);
  if (rows(matrix) != rows(a)) {
    throw ShapeError(op, "got matrices of shape " + str(a.shape()) + " and right-hand sides of shape " + str(b.shape()),
                     "both must have equal numbers of rows");
  }
  return {matrix, vector};
}

Array as_given(const Array& x, bool vector) {
  return vector ? squeeze(x, std::vector<int64_t>{int64_t(x.ndim()) - 1}) : x;
}

namespace {

// The single stride of all batch axes; false if they do not have one.
bool batch_stride(const Array& x, int64_t* stride) {
  int64_t extent = 1;
  *stride = 0;
  for (int d = x.ndim() - 3; d >= 0; --d) {
    if (x.shape()[d] == 1) continue;
    if (extent == 1)
      *stride = x.strides()[d];
    else if (x.strides()[d] != extent * *stride)
      return false;
    extent *= x.shape()[d];
  }
  return true;
}

}  // namespace

Array stepping(const Array& x, const Stream& stream) {
  int64_t stride;
  return batch_stride(x, &stride) ? x : copy(x, stream);
}

params::Matrices matrices(const Array& x) {
  params::Matrices m{x.data_ptr(), 0, x.strides()[x.ndim() - 2], x.strides()[x.ndim() - 1]};
  batch_stride(x, &m.batch);
  return m;
}

Array empty_by_columns(OpCall& call, const Dims& batch, int64_t m, int64_t n, DType dtype) {
  return matrix_transpose(call.empty(matrix_shape(batch, n, m), dtype));
}

Array copy_by_columns(OpCall& call, const Array& x) {
  const Array out = empty_by_columns(call, batch_of(x), rows(x), cols(x), x.dtype());
  assign(out, Operand(x), call.on());
  return out;
}

libs::Batch column_major(const Array& x) {
  const params::Matrices m = matrices(x);
  const int64_t leading = cols(x) == 1 ? std::max<int64_t>(rows(x), 1) : m.col;
  return {m.data, leading, m.batch};
}

Array by_columns(OpCall& call, const Array& x) {
  const int64_t row = x.strides()[x.ndim() - 2], col = x.strides()[x.ndim() - 1];
  int64_t stride;
  const bool so_already = (row == 1 || rows(x) == 1) && (col >= std::max<int64_t>(rows(x), 1) || cols(x) == 1);
  return so_already && batch_stride(x, &stride) ? x : copy_by_columns(call, x);
}

libs::Batch transposed(const Array& x) { return {x.data_ptr(), cols(x), rows(x) * cols(x)}; }

libs::Decomposition decomposition(const Array& a, const libs::Batch& stored, const Array* info) {
  libs::Decomposition d;
  d.dtype = a.dtype();
  d.count = product(batch_of(a));
  d.m = rows(a);
  d.n = cols(a);
  d.a = stored;
  if (info) d.info = integers(*info);
  return d;
}

Array no_info(OpCall& call, const Dims& batch) {
  const Array info = call.empty(batch, DType::int32);
  if (info.size() > 0) assign(info, Operand(0), call.on());
  return info;
}

void verify(const OpCall& call, const Array& info, const char* what, const char* remedy) {
  if (info.size() == 0) return;
  std::vector<int32_t> values(size_t(info.size()));
  info.to_host(values.data(), call.on(), call.op());
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    const std::string which = values.size() == 1 ? "the matrix" : "matrix " + std::to_string(i) + " of the batch";
    const bool bad = values[i] < 0;
    throw LinAlgError(std::string(call.name()), int64_t(i),
                      which + (bad ? std::string(" holds NaN or infinity")
                                   : std::string(" ") + what + " (info " + std::to_string(values[i]) + ")"),
                      bad ? "pass finite matrices, or check=False, with which their results are NaN" : remedy);
  }
}

void fill_identity(const Array& x, const Stream& stream) {
  if (x.size() == 0) return;
  assign(x, Operand(0), stream);
  assign(diagonal(x), Operand(1), stream);
}

NonfiniteMask::NonfiniteMask(OpCall& call, const Array& dense, params::Part part)
    : count_(product(batch_of(dense))), bad_(static_cast<int32_t*>(call.scratch(sizeof(int32_t) * size_t(count_)))) {
  const params::MaskNonfinite p{.dtype = dense.dtype(),
                                .part = part,
                                .count = count_,
                                .rows = rows(dense),
                                .size = rows(dense) * cols(dense),
                                .a = dense.data_ptr(),
                                .bad = bad_};
  kernels::linalg::mask_nonfinite(call.queue(), p);
}

void NonfiniteMask::restore(OpCall& call, const Array& info, std::initializer_list<const Array*> results) const {
  params::RestoreNan p{};
  p.count = count_;
  p.bad = bad_;
  p.info = static_cast<int32_t*>(info.data_ptr());
  for (const Array* result : results) {
    if (!*result || result->size() == 0) continue;
    p.dtype[p.results] = result->dtype();
    p.size[p.results] = result->size() / count_;
    p.data[p.results++] = result->data_ptr();
  }
  kernels::linalg::restore_nan(call.queue(), p);
}

}  // namespace stator::linalg::detail
