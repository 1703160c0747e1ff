#include "ops/sparse/vendor.hpp"

#include "libs/sparse.hpp"
#include "params/sparse.hpp"

#include <initializer_list>

namespace stator::sparse {
namespace {

constexpr DTypeSet full = dtypes::full_floats | dtypes::complexes;

// The library reads 16 bytes at once.
bool aligned(const Array& x) { return reinterpret_cast<uintptr_t>(x.data_ptr()) % 16 == 0; }

bool serves(const OpCall& call, std::initializer_list<const Csr*> matrices) {
  const Context& context = call.context();
  if (context.runtime().is_host() || context.options().deterministic) return false;
  for (const Csr* a : matrices)
    if (!a->valid || a->nnz() == 0 || !aligned(a->values) || !aligned(a->indices) || !aligned(a->indptr)) return false;
  return libs::cuda_sparse_available(call);
}

libs::SparseMatrix matrix_of(const Csr& a) {
  return {.indptr = a.indptr.data_ptr(),
          .indices = a.indices.data_ptr(),
          .values = a.values.data_ptr(),
          .rows = a.rows,
          .cols = a.cols,
          .nnz = a.nnz(),
          .index = a.indices.dtype(),
          .dtype = a.values.dtype()};
}

// A vector is a column.
std::optional<libs::DenseMatrix> dense_of(const Array& x) {
  if (x.size() == 0 || !aligned(x)) return {};
  const int64_t rows = x.shape()[0], cols = x.ndim() == 1 ? 1 : x.shape()[1];
  const int64_t row = x.strides()[0], col = x.ndim() == 1 ? 1 : x.strides()[1];
  if (cols == 1)
    return row == 1 || rows == 1 ? std::optional(libs::DenseMatrix{x.data_ptr(), rows, 1, rows, false}) : std::nullopt;
  if (col == 1 && row >= cols) return libs::DenseMatrix{x.data_ptr(), rows, cols, row, true};
  if (row == 1 && col >= rows) return libs::DenseMatrix{x.data_ptr(), rows, cols, col, false};
  return {};
}

}  // namespace

bool product_by_vendor(OpCall& call, const Csr& a, const Array& x, const Array& out) {
  if (!serves(call, {&a})) return false;
  const auto from = dense_of(x), to = dense_of(out);
  if (!from || !to || from->by_rows != to->by_rows) return false;
  libs::cuda_sparse_product(call, matrix_of(a), *from, *to);
  return true;
}

bool sampled_by_vendor(OpCall& call, const Csr& pattern, const Array& x, const Array& y, const Array& out,
                       libs::SparseFactors factors, const Stream& stream) {
  if (!in(out.dtype(), full) || !serves(call, {&pattern})) return false;
  const auto left = dense_of(x), right = dense_of(y);
  if (!left || !right || !aligned(out)) return false;
  // The library may multiply what it finds by beta even where that is 0.
  assign(out, factors.beta == complex128(0) ? Operand(0) : Operand(pattern.values), stream);
  libs::SparseMatrix to = matrix_of(pattern);
  to.values = out.data_ptr();
  libs::cuda_sparse_sampled(call, to, *left, *right, factors);
  return true;
}

bool solve_by_vendor(OpCall& call, const Csr& a, const Array& b, const params::SparseSolve& p,
                     const TriangularSolution& result, const Stream& stream) {
  if (!in(b.dtype(), full) || !a.sorted || !a.unique || !serves(call, {&a})) return false;
  const auto from = dense_of(b), to = dense_of(result.x);
  if (!from || !to || from->by_rows != to->by_rows) return false;
  call.reads(b);
  if (!p.unit) {  // the library does not report a zero on the diagonal
    assign(result.info, zeros(b.backend(), Dims{}, DType::int64, stream), stream);
    kernels::sparse::find_singular(call.queue(), p);
  }
  libs::cuda_sparse_solve(call, matrix_of(a), p.lower, p.unit, *from, *to);
  return true;
}

std::optional<Csr> times_by_vendor(OpCall& call, const Csr& a, const Csr& b, const Stream& stream) {
  const DType dtype = a.values.dtype();
  if (a.indices.dtype() != DType::int32 || !in(dtype, full) || !serves(call, {&a, &b})) return {};
  // The library tells the host how many entries there are.
  call.context().require_host_copies(uint16_t(call.op()), sizeof(int64_t));
  Csr out{.indptr = call.empty(Dims{a.rows + 1}, DType::int32),
          .indices = {},
          .values = {},
          .rows = a.rows,
          .cols = b.cols,
          .sorted = false,
          .unique = true,
          .valid = true};
  reads(call, a);
  reads(call, b);
  call.writes(out.indptr);
  const bool done = libs::cuda_sparse_times(call, matrix_of(a), matrix_of(b), out.indptr.data_ptr(), [&](int64_t nnz) {
    if (nnz > most_int32)
      throw ValueError(std::string(call.name()), "got " + std::to_string(nnz) + " entries with int32 indices",
                       "use int64 indices");
    out.indices = call.empty(Dims{nnz}, DType::int32);
    out.values = call.empty(Dims{nnz}, dtype);
    call.writes(out.indices);
    call.writes(out.values);
    if (nnz == 0) return libs::SparseRoom{out.indptr.data_ptr(), out.indptr.data_ptr()};  // must not be null
    return libs::SparseRoom{out.indices.data_ptr(), out.values.data_ptr()};
  });
  if (!done) return {};
  return sort_indices(out, stream);
}

}  // namespace stator::sparse
