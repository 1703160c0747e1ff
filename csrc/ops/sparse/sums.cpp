// Sparse results whose number of entries depends on the data: sums and products of sparse matrices.
#include "ops/scalar.hpp"
#include "ops/sparse/parts.hpp"
#include "ops/sparse/vendor.hpp"
#include "params/sparse.hpp"

#include <algorithm>

namespace stator::sparse {
namespace {

constexpr int64_t times_scratch = int64_t(256) << 20;

Csr merge(Op op, const Csr& a, const Csr* b, complex128 alpha, complex128 beta, std::optional<int64_t> nnz,
          const Stream& stream) {
  OpCall call(op, {&a.values, &a.indices, &a.indptr}, stream);
  if (nnz && *nnz < 0) throw ValueError(std::string(call.name()), "nnz=" + std::to_string(*nnz), "count them");
  const DType index = a.indices.dtype(), dtype = a.values.dtype();
  const Array counts = call.empty(Dims{a.rows}, index), indptr = call.empty(Dims{a.rows + 1}, index);
  params::SparseMerge p{};
  p.a = rows_of(a);
  p.a_values = a.values.data_ptr();
  p.dtype = dtype;
  p.unique = a.unique && (!b || b->unique);
  p.alpha = alpha;
  p.beta = beta;
  p.counts = counts.data_ptr();
  p.indptr = indptr.data_ptr();
  reads(call, a);
  if (b) {
    p.b = rows_of(*b);
    p.b_values = b->values.data_ptr();
    reads(call, *b);
  }
  call.writes(counts);
  if (a.rows > 0) kernels::sparse::merge_count(call.queue(), p);
  exclusive_sum(call, counts, indptr);
  p.capacity = nnz ? *nnz : last_of(indptr, stream, call.op());
  const bool valid = a.valid && (!b || b->valid) && !nnz;  // a wrong nnz leaves pointers beyond it
  Csr out{.indptr = indptr,
          .indices = call.empty(Dims{p.capacity}, index),
          .values = call.empty(Dims{p.capacity}, dtype),
          .rows = a.rows,
          .cols = a.cols,
          .sorted = true,
          .unique = true,
          .valid = valid};
  p.indices = out.indices.data_ptr();
  p.values = out.values.data_ptr();
  call.writes(out.indices);
  call.writes(out.values);
  if (a.rows > 0 || p.capacity > 0) kernels::sparse::merge_fill(call.queue(), p);
  call.finish_indices();
  return out;
}

}  // namespace

Csr coalesce(const Csr& a, std::optional<int64_t> nnz, const Stream& stream) {
  const Csr sorted = sort_indices(a, stream);
  return sorted.unique ? sorted : merge(Op::sparse_add, sorted, nullptr, 1.0, 0.0, nnz, stream);
}

Csr add(const Csr& given_a, const Csr& given_b, const Scalar& alpha, const Scalar& beta, std::optional<int64_t> nnz,
        const Stream& stream) {
  OpCall call(Op::sparse_add, {&given_a.values, &given_b.values}, stream);  // checks that both have one backend
  if (given_a.rows != given_b.rows || given_a.cols != given_b.cols)
    throw ShapeError(std::string(call.name()),
                     "got matrices of shapes " + shape_text(given_a.rows, given_a.cols) + " and " +
                         shape_text(given_b.rows, given_b.cols),
                     "sparse matrices must have equal shapes");
  const DType dtype = promote(given_a.values.dtype(), given_b.values.dtype());
  DType index = promote(given_a.indices.dtype(), given_b.indices.dtype());
  if (given_a.nnz() + given_b.nnz() > most_int32) index = DType::int64;
  const Csr a = sort_indices(with_indices(with_dtype(given_a, dtype, stream), index, stream), stream);
  const Csr b = sort_indices(with_indices(with_dtype(given_b, dtype, stream), index, stream), stream);
  const std::string op(call.name());
  return merge(Op::sparse_add, a, &b, factor_of(op, "alpha", alpha, dtype), factor_of(op, "beta", beta, dtype), nnz,
               stream);
}

Csr matmul(const Csr& given_a, const Csr& given_b, const Stream& stream) {
  OpCall call(Op::spgemm, {&given_a.values, &given_a.indices, &given_a.indptr, &given_b.values}, stream);
  const std::string op(call.name());
  if (given_a.cols != given_b.rows)
    throw ShapeError(op,
                     "got matrices of shapes " + shape_text(given_a.rows, given_a.cols) + " and " +
                         shape_text(given_b.rows, given_b.cols),
                     "the columns of the left one must equal the rows of the right one");
  const DType dtype = promote(given_a.values.dtype(), given_b.values.dtype());
  const DType index = promote(given_a.indices.dtype(), given_b.indices.dtype());
  const Csr a = with_indices(with_dtype(given_a, dtype, stream), index, stream);
  Csr b = with_indices(with_dtype(given_b, dtype, stream), index, stream);
  if (!b.unique) b = coalesce(b, {}, stream);
  if (auto product = times_by_vendor(call, a, b, stream)) return *product;
  const Array counts = call.empty(Dims{a.rows}, index), offsets = call.empty(Dims{a.rows + 1}, DType::int64);
  params::SparseTimesSparse p{};
  p.a = rows_of(a);
  p.b = rows_of(b);
  p.a_values = a.values.data_ptr();
  p.b_values = b.values.data_ptr();
  p.dtype = dtype;
  p.counts = counts.data_ptr();
  reads(call, a);
  reads(call, b);
  call.writes(counts);
  p.blocks = kernels::sparse::times_blocks(call.limits(), p, times_scratch);
  const int64_t cells = p.blocks * std::max<int64_t>(b.cols, 1);
  const Array marks = zeros(a.values.backend(), Dims{cells}, DType::int64, stream);
  const Array sums = call.empty(Dims{cells}, real_part(dtype) == DType::float64 ? dtype
                                             : in(dtype, dtypes::complexes)     ? DType::complex64
                                                                                : DType::float32);
  p.marks = static_cast<int64_t*>(marks.data_ptr());
  p.sums = sums.data_ptr();
  call.writes(marks);
  call.writes(sums);
  if (a.rows > 0) kernels::sparse::times_count(call.queue(), p);
  exclusive_sum(call, counts, offsets);
  p.capacity = last_of(offsets, stream, call.op());
  if (index == DType::int32 && p.capacity > most_int32)
    throw ValueError(op, "got " + std::to_string(p.capacity) + " entries with int32 indices", "use int64 indices");
  Csr out{.indptr = astype(offsets, index, false, stream),
          .indices = call.empty(Dims{p.capacity}, index),
          .values = call.empty(Dims{p.capacity}, dtype),
          .rows = a.rows,
          .cols = b.cols,
          .sorted = false,
          .unique = true,
          .valid = a.valid && b.valid};
  p.indptr = out.indptr.data_ptr();
  p.indices = out.indices.data_ptr();
  p.values = out.values.data_ptr();
  for (const Array* x : {&out.indptr, &out.indices, &out.values}) call.writes(*x);
  if (a.rows > 0) kernels::sparse::times_fill(call.queue(), p);
  call.finish_indices();
  out.sorted = kernels::sparse::times_sorts(call.limits());
  return sort_indices(out, stream);
}

}  // namespace stator::sparse
