// Conversions between sparse formats, and between these and dense matrices.
#include "ops/sparse/parts.hpp"
#include "params/sparse.hpp"

namespace stator::sparse {
namespace {

Array expand(OpCall& call, const Csr& a) {
  const Array row = call.empty(Dims{a.nnz()}, a.indices.dtype());
  call.reads(a.indptr);
  call.writes(row);
  if (a.nnz() > 0) kernels::sparse::expand(call.queue(), {rows_of(a), row.data_ptr()});
  return row;
}

Csc to_csc(Op op, const Csr& a, const Stream& stream) {
  OpCall call(op, {&a.values, &a.indices, &a.indptr}, stream);
  const Grouped sorted = group_entries(call, {a.indices, expand(call, a), a.values}, a.cols, stream);
  const Csc out{.indptr = sorted.indptr,
                .indices = sorted.other,
                .values = sorted.values,
                .rows = a.rows,
                .cols = a.cols,
                .sorted = true,
                .unique = a.unique,
                .valid = a.valid};
  call.finish_indices();
  return out;
}

// The dense matrix with the entries of a; with by_columns, its transpose.
Array scatter(Op op, const Csr& given, bool by_columns, const Stream& stream) {
  const Csr a = given.sorted || given.unique ? given : sort_indices(given, stream);
  OpCall call(op, {&a.values, &a.indices, &a.indptr}, stream);
  const Dims shape = by_columns ? Dims{a.cols, a.rows} : Dims{a.rows, a.cols};
  checked_size(call.name(), shape, itemsize(a.values.dtype()));
  const Array out = zeros(a.values.backend(), shape, a.values.dtype(), stream);
  if (out.size() == 0 && a.nnz() == 0) return out;
  reads(call, a);
  call.writes(out);
  params::SparseScatter p{.a = rows_of(a),
                          .values = a.values.data_ptr(),
                          .out = out.data_ptr(),
                          .dtype = a.values.dtype(),
                          .out_row = shape[1],
                          .out_col = 1};
  if (by_columns) std::swap(p.out_row, p.out_col);
  kernels::sparse::scatter(call.queue(), p);
  call.finish_indices();
  return out;
}

}  // namespace

Csc to_csc(const Csr& a, const Stream& stream) { return to_csc(Op::csr_to_csc, a, stream); }
Csr to_csr(const Csc& a, const Stream& stream) { return transpose(to_csc(Op::csr_to_csc, transpose(a), stream)); }

Csr to_csr(const Coo& a, const Stream& stream) {
  OpCall call(Op::coo_to_csr, {&a.values, &a.row, &a.col}, stream);
  Csr out{.indptr = {},
          .indices = a.col,
          .values = a.values,
          .rows = a.rows,
          .cols = a.cols,
          .sorted = a.sorted,
          .unique = a.unique,
          .valid = a.valid};
  if (a.sorted) {
    out.indptr = pointers(call, a.row, a.rows);
  } else {
    const Grouped grouped = group_entries(call, {a.row, a.col, a.values}, a.rows, stream);
    out.indptr = grouped.indptr;
    out.indices = grouped.other;
    out.values = grouped.values;
  }
  call.finish_indices();
  return out;
}

Coo to_coo(const Csr& a, const Stream& stream) {
  OpCall call(Op::csr_to_coo, {&a.values, &a.indices, &a.indptr}, stream);
  return {.row = expand(call, a),
          .col = a.indices,
          .values = a.values,
          .rows = a.rows,
          .cols = a.cols,
          .sorted = a.sorted,
          .unique = a.unique,
          .valid = a.valid};
}

Array to_dense(const Csr& a, const Stream& stream) { return scatter(Op::csr_to_dense, a, false, stream); }
Array to_dense(const Csc& a, const Stream& stream) { return scatter(Op::csc_to_dense, transpose(a), true, stream); }

Csr csr_from_dense(const Array& x, const FromDense& options, const Stream& stream) {
  OpCall call(Op::csr_from_dense, {&x}, stream);
  const std::string op(call.name());
  if (x.ndim() != 2) throw ShapeError(op, "got an array of shape " + str(x.shape()), "pass a matrix");
  if (!in(x.dtype(), dtypes::inexact))
    throw DTypeError(op, "got dtype " + std::string(name(x.dtype())), "convert it to a floating dtype");
  const int64_t rows = x.shape()[0], cols = x.shape()[1];
  const bool fits = rows <= most_int32 && cols <= most_int32 && (options.nnz.value_or(x.size()) <= most_int32);
  const DType index = options.index_dtype.value_or(fits ? DType::int32 : DType::int64);
  if (index != DType::int32 && index != DType::int64)
    throw DTypeError(op, "index_dtype=" + std::string(name(index)), "indices must be int32 or int64");
  if (index == DType::int32 && !fits)
    throw ValueError(op, "got indices of dtype int32 for shape " + str(x.shape()), "ask for index_dtype int64");
  if (options.nnz && *options.nnz < 0) throw ValueError(op, "nnz=" + std::to_string(*options.nnz), "count them");
  const Array counts = call.empty(Dims{rows}, index), indptr = call.empty(Dims{rows + 1}, index);
  params::SparseGather p{.x = x.data_ptr(),
                         .dtype = x.dtype(),
                         .rows = rows,
                         .cols = cols,
                         .x_row = x.strides()[0],
                         .x_col = x.strides()[1],
                         .wide = index == DType::int64,
                         .counts = counts.data_ptr(),
                         .indptr = indptr.data_ptr(),
                         .indices = nullptr,
                         .values = nullptr,
                         .capacity = 0};
  call.reads(x);
  call.writes(counts);
  if (rows > 0) kernels::sparse::gather_count(call.queue(), p);
  exclusive_sum(call, counts, indptr);
  p.capacity = options.nnz ? *options.nnz : last_of(indptr, stream, call.op());
  Csr out{.indptr = indptr,
          .indices = call.empty(Dims{p.capacity}, index),
          .values = call.empty(Dims{p.capacity}, x.dtype()),
          .rows = rows,
          .cols = cols,
          .sorted = true,
          .unique = true,
          .valid = !options.nnz};
  p.indices = out.indices.data_ptr();
  p.values = out.values.data_ptr();
  call.writes(out.indices);
  call.writes(out.values);
  if (rows > 0 || p.capacity > 0) kernels::sparse::gather_fill(call.queue(), p);
  if (options.nnz) call.finish_indices();
  return out;
}

Csr sort_indices(const Csr& a, const Stream& stream) {
  if (a.sorted) return a;
  // Sorts by columns, then by rows, with a stable sort each.
  return transpose(to_csc(transpose(to_csc(a, stream)), stream));
}

}  // namespace stator::sparse
