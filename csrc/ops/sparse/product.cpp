// Products with sparse matrices, sums of rows, triangular systems.
#include "memory/overlap.hpp"
#include "ops/scalar.hpp"
#include "ops/sparse/parts.hpp"
#include "ops/sparse/vendor.hpp"
#include "params/sparse.hpp"

namespace stator::sparse {
namespace {

DType common(const std::string& op, DType a, DType b) {
  const DType dtype = promote(a, b);
  if (in(dtype, dtypes::inexact)) return dtype;
  throw DTypeError(op, "got dtypes " + std::string(name(a)) + " and " + std::string(name(b)), "use floating dtypes");
}

}  // namespace

Array matmul(const Csr& given, const Array& given_x, const Array* out, const Stream& stream) {
  OpCall call(Op::csr_matmul, {&given.values, &given.indices, &given.indptr, &given_x}, stream);
  const std::string op(call.name());
  if (given_x.ndim() < 1 || given_x.ndim() > 2 || given_x.shape()[0] != given.cols)
    throw ShapeError(
        op, "got a matrix of shape " + shape_text(given.rows, given.cols) + " times shape " + str(given_x.shape()),
        "the right operand must have one or two axes, the first as long as the matrix has columns");
  const DType dtype = common(op, given.values.dtype(), given_x.dtype());
  const bool vector = given_x.ndim() == 1;
  const Dims shape = vector ? Dims{given.rows} : Dims{given.rows, given_x.shape()[1]};
  Array result = call.output(shape, dtype, out);
  if (result.size() == 0) return result;
  const Csr a = with_dtype(given, dtype, stream);
  const Array x = astype(given_x, dtype, false, stream);
  const bool direct = result.dtype() == dtype && !may_overlap(result, x) && !may_overlap(result, a.values);
  Array target = direct ? result : call.empty(shape, dtype);
  reads(call, a);
  call.reads(x);
  call.writes(target);
  if (product_by_vendor(call, a, x, target)) {
    if (!direct) assign(result, target, stream);
    return result;
  }
  params::SparseProduct p{};
  p.a = rows_of(a);
  p.values = a.values.data_ptr();
  p.x = x.size() > 0 ? x.data_ptr() : p.a.indptr;  // not null, which would mean sums of rows
  p.out = target.data_ptr();
  p.dtype = dtype;
  p.n = vector ? 1 : shape[1];
  p.x_row = x.strides()[0];
  p.x_col = vector ? 1 : x.strides()[1];
  p.out_row = target.strides()[0];
  p.out_col = vector ? 1 : target.strides()[1];
  kernels::sparse::product(call.queue(), p);
  if (!direct) assign(result, target, stream);
  call.finish_indices();
  return result;
}

Array row_sums(const Csr& a, const Stream& stream) {
  OpCall call(Op::csr_matmul, {&a.values, &a.indices, &a.indptr}, stream);
  Array out = call.empty(Dims{a.rows}, a.values.dtype());
  if (a.rows == 0) return out;
  reads(call, a);
  call.writes(out);
  params::SparseProduct p{};
  p.a = rows_of(a);
  p.values = a.values.data_ptr();
  p.out = out.data_ptr();
  p.dtype = out.dtype();
  p.valid = a.valid;
  p.n = p.out_row = p.out_col = p.x_col = 1;
  kernels::sparse::product(call.queue(), p);
  call.finish_indices();
  return out;
}

Csr sddmm(const Csr& pattern, const Array& given_x, const Array& given_y, const Scalar& of_product,
          const Scalar& of_pattern, const Stream& stream) {
  OpCall call(Op::sddmm, {&pattern.values, &pattern.indices, &pattern.indptr, &given_x, &given_y}, stream);
  const std::string op(call.name());
  const bool fits = given_x.ndim() == 2 && given_y.ndim() == 2 && given_x.shape()[0] == pattern.rows &&
                    given_y.shape()[1] == pattern.cols && given_x.shape()[1] == given_y.shape()[0];
  if (!fits)
    throw ShapeError(op,
                     "got operands of shapes " + str(given_x.shape()) + " and " + str(given_y.shape()) +
                         " for a matrix of shape " + shape_text(pattern.rows, pattern.cols),
                     "they must be (rows, k) and (k, columns)");
  const DType dtype = common(op, pattern.values.dtype(), common(op, given_x.dtype(), given_y.dtype()));
  const complex128 alpha = factor_of(op, "alpha", of_product, dtype), beta = factor_of(op, "beta", of_pattern, dtype);
  const Csr a = with_dtype(pattern, dtype, stream);
  const Array x = astype(given_x, dtype, false, stream), y = astype(given_y, dtype, false, stream);
  Csr out = a;
  out.values = call.empty(Dims{a.nnz()}, dtype);
  if (a.nnz() == 0) return out;
  reads(call, a);
  call.reads(x);
  call.reads(y);
  call.writes(out.values);
  if (sampled_by_vendor(call, a, x, y, out.values, {alpha, beta}, stream)) return out;
  kernels::sparse::sampled(call.queue(), {.a = rows_of(a),
                                          .values = a.values.data_ptr(),
                                          .x = x.data_ptr(),
                                          .y = y.data_ptr(),
                                          .out = out.values.data_ptr(),
                                          .dtype = dtype,
                                          .inner = x.shape()[1],
                                          .x_row = x.strides()[0],
                                          .x_col = x.strides()[1],
                                          .y_row = y.strides()[0],
                                          .y_col = y.strides()[1],
                                          .alpha = alpha,
                                          .beta = beta});
  call.finish_indices();
  return out;
}

TriangularSolution solve_triangular(const Csr& given, const Array& b, const TriangularOptions& options,
                                    const Stream& stream) {
  OpCall call(Op::spsolve_triangular, {&given.values, &given.indices, &given.indptr, &b}, stream);
  const std::string op(call.name());
  if (given.rows != given.cols)
    throw ShapeError(op, "got a matrix of shape " + shape_text(given.rows, given.cols), "pass a square matrix");
  if (b.ndim() < 1 || b.ndim() > 2 || b.shape()[0] != given.rows)
    throw ShapeError(
        op, "got a right-hand side of shape " + str(b.shape()) + " for " + std::to_string(given.rows) + " rows",
        "it must have one or two axes, the first as long as the matrix");
  const DType dtype = common(op, given.values.dtype(), b.dtype());
  const Csr a = with_dtype(given, dtype, stream);
  const bool trivial = b.size() == 0;
  TriangularSolution found{call.empty(b.shape(), dtype), trivial ? zeros(b.backend(), Dims{}, DType::int64, stream)
                                                                 : call.empty(Dims{}, DType::int64)};
  if (trivial) return found;
  const int64_t n = b.ndim() == 1 ? 1 : b.shape()[1];
  const params::SparseSolve p{.a = rows_of(a),
                              .values = a.values.data_ptr(),
                              .out = found.x.data_ptr(),
                              .dtype = dtype,
                              .lower = options.lower,
                              .unit = options.unit,
                              .n = n,
                              .out_row = n,
                              .out_col = 1,
                              .singular = static_cast<int64_t*>(found.info.data_ptr())};
  reads(call, a);
  call.writes(found.x);
  call.writes(found.info);
  if (!solve_by_vendor(call, a, astype(b, dtype, false, stream), p, found, stream)) {
    assign(found.x, b, stream);
    kernels::sparse::solve(call.queue(), p);
    call.finish_indices();
  }
  if (!options.check || options.unit) return found;
  if (const int64_t row = found.info.item(stream, call.op()).i)
    throw LinAlgError(op, 0, "the diagonal of row " + std::to_string(row - 1) + " is zero or missing",
                      "the triangle is singular: pass check=False for infinities and NaN, or unit_diagonal=True");
  return found;
}

}  // namespace stator::sparse
