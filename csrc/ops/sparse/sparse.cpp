// Sparse matrices: construction, checks, views.
#include "params/sparse.hpp"
#include "ops/sparse/parts.hpp"

#include <stator/elementwise.hpp>
#include <stator/movement.hpp>
#include <stator/reduce.hpp>

namespace stator::sparse {
namespace {

void check_values(const std::string& op, const Array& values) {
  if (!in(values.dtype(), dtypes::inexact))
    throw DTypeError(op, "got values of dtype " + std::string(name(values.dtype())),
                     "convert them to a floating dtype");
}

struct Parts {
  const Array &values, &indices, &pointers;
  int64_t rows, cols;
};

void check_parts(OpCall& call, const std::string& op, const Parts& parts, int64_t pointer_count,
                 const char* pointer_name) {
  const auto& [values, indices, pointers, rows, cols] = parts;
  if (rows < 0 || cols < 0) throw ShapeError(op, "got shape " + shape_text(rows, cols), "extents must be at least 0");
  check_values(op, values);
  for (const Array* index : {&indices, &pointers})
    if (index->dtype() != DType::int32 && index->dtype() != DType::int64)
      throw DTypeError(op, "got indices of dtype " + std::string(name(index->dtype())),
                       "indices must be int32 or int64");
  for (const Array* part : {&values, &indices, &pointers})
    if (part->ndim() != 1)
      throw ShapeError(op, "got an array of shape " + str(part->shape()), "values and index arrays must have one axis");
  if (indices.size() != values.size())
    throw ShapeError(
        op, "got " + std::to_string(values.size()) + " values and " + std::to_string(indices.size()) + " indices",
        "pass an index for each value");
  if (pointers.size() != pointer_count)
    throw ShapeError(op,
                     std::string(pointer_name) + " has " + std::to_string(pointers.size()) + " elements for shape " +
                         shape_text(rows, cols),
                     "it must have " + std::to_string(pointer_count));
  const bool narrow = indices.dtype() == DType::int32 && pointers.dtype() == DType::int32;
  if (narrow && std::max({rows, cols, values.size()}) > most_int32)
    throw ValueError(op,
                     "got indices of dtype int32 for shape " + shape_text(rows, cols) + " with " +
                         std::to_string(values.size()) + " entries",
                     "pass int64 index arrays");
  checked_size(call.name(), Dims{std::max<int64_t>(rows, 1)}, 16);
}

Array dense(const Array& x, DType dtype, const Stream& stream) {
  const Array converted = astype(x, dtype, false, stream);
  return converted.is_contiguous() ? converted : copy(converted, stream);
}

bool ascends(const Array& keys, const Stream& stream) {
  const Dims pairs{keys.size() - 1};
  if (keys.size() < 2) return true;
  const Array before = as_strided(keys, pairs, Dims{1}, keys.offset());
  const Array after = as_strided(keys, pairs, Dims{1}, keys.offset() + 1);
  return all(less_equal(before, after, {}, stream), {}, stream).item(stream, Op::coo_to_csr).i != 0;
}

template <class M>
M replaced(const std::string& op, const M& a, const Array& values, const Stream& stream) {
  check_values(op, values);
  if (values.shape() != a.values.shape())
    throw ShapeError(op, "got values of shape " + str(values.shape()) + " for " + std::to_string(a.nnz()) + " entries",
                     "give one for each entry");
  M out = a;
  out.values = dense(values, values.dtype(), stream);
  return out;
}

}  // namespace

Csr csr(const Array& values, const Array& indices, const Array& indptr, int64_t rows, int64_t cols,
        const Stream& stream) {
  OpCall call(Op::csr_to_dense, {&values, &indices, &indptr}, stream);
  check_parts(call, "sparse.CSR", {values, indices, indptr, rows, cols}, rows + 1, "indptr");
  const DType index = promote(indices.dtype(), indptr.dtype());
  return {dense(indptr, index, stream), dense(indices, index, stream), dense(values, values.dtype(), stream), rows,
          cols};
}

Coo coo(const Array& values, const Array& row, const Array& col, int64_t rows, int64_t cols, const Stream& stream) {
  OpCall call(Op::coo_to_csr, {&values, &row, &col}, stream);
  check_parts(call, "sparse.COO", {values, col, row, rows, cols}, values.size(), "row");
  const DType index = promote(row.dtype(), col.dtype());
  return {dense(row, index, stream), dense(col, index, stream), dense(values, values.dtype(), stream), rows, cols};
}

Csr with_values(const Csr& a, const Array& values, const Stream& stream) {
  OpCall call(Op::csr_to_dense, {&a.values, &values}, stream);
  return replaced("sparse.CSR.with_data", a, values, stream);
}
Coo with_values(const Coo& a, const Array& values, const Stream& stream) {
  OpCall call(Op::coo_to_csr, {&a.values, &values}, stream);
  return replaced("sparse.COO.with_data", a, values, stream);
}

Csr check(const Csr& a, const Stream& stream) {
  OpCall call(Op::csr_to_dense, {&a.values, &a.indices, &a.indptr}, stream);
  const Array result = zeros(a.values.backend(), Dims{5}, DType::int64, stream);
  reads(call, a);
  call.writes(result);
  kernels::sparse::check(call.queue(), {rows_of(a), static_cast<int64_t*>(result.data_ptr())});
  int64_t seen[5];
  result.to_host(seen, stream, call.op());
  const std::string op = "sparse.check";
  const int64_t last = a.rows == 0 ? last_of(a.indptr, stream, call.op()) : a.nnz();
  if (seen[0] > 0 || (a.rows == 0 && (last != 0 || a.nnz() != 0)))
    throw ValueError(op, "got " + std::to_string(std::max<int64_t>(seen[0], 1)) + " pointers out of order or range",
                     "indptr must begin with 0, never descend and end with the number of entries");
  if (seen[1] > 0)
    throw IndexError(
        op, "got " + std::to_string(seen[1]) + " indices outside a matrix of shape " + shape_text(a.rows, a.cols),
        "indices must be at least 0 and less than the extent");
  Csr out = a;
  out.sorted = seen[2] == 0;
  out.valid = true;
  out.unique = seen[3] == 0;  // only neighbours are compared, which is enough in sorted rows
  if (!out.sorted && out.unique) out.unique = check(sort_indices(out, stream), stream).unique;
  return out;
}

Coo check(const Coo& a, const Stream& stream) {
  Csr rows = to_csr(Coo{a.row, a.col, a.values, a.rows, a.cols}, stream);
  last_of(rows.indptr, stream, Op::coo_to_csr);  // throws if the error slot has a row out of range
  rows = check(rows, stream);
  Coo out = a;
  out.sorted = ascends(a.row, stream) && rows.sorted;
  out.unique = rows.unique;
  out.valid = true;
  return out;
}

namespace {

// The same arrays as a matrix of the other format.
template <class To, class From>
To exchanged(const From& a) {
  return {.indptr = a.indptr,
          .indices = a.indices,
          .values = a.values,
          .rows = a.cols,
          .cols = a.rows,
          .sorted = a.sorted,
          .unique = a.unique,
          .valid = a.valid};
}

}  // namespace

Csc transpose(const Csr& a) { return exchanged<Csc>(a); }
Csr transpose(const Csc& a) { return exchanged<Csr>(a); }
Coo transpose(const Coo& a) {
  return {.row = a.col,
          .col = a.row,
          .values = a.values,
          .rows = a.cols,
          .cols = a.rows,
          .sorted = false,
          .unique = a.unique,
          .valid = a.valid};
}

}  // namespace stator::sparse
