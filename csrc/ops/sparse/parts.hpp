// What the sparse ops share.
#pragma once

#include "core/op_call.hpp"
#include "params/sparse.hpp"

#include <stator/creation.hpp>
#include <stator/sparse.hpp>

#include <limits>
#include <string>

namespace stator::sparse {

inline constexpr int64_t most_int32 = std::numeric_limits<int32_t>::max();

inline bool is_wide(const Array& indices) { return indices.dtype() == DType::int64; }
inline params::SparseRows rows_of(const Csr& a) {
  return {.indptr = a.indptr.data_ptr(),
          .indices = a.indices.data_ptr(),
          .rows = a.rows,
          .cols = a.cols,
          .nnz = a.nnz(),
          .wide = is_wide(a.indices)};
}
inline void reads(OpCall& call, const Csr& a) {
  call.reads(a.indptr);
  call.reads(a.indices);
  call.reads(a.values);
}
inline std::string shape_text(int64_t rows, int64_t cols) { return str(Dims{rows, cols}); }

// The same matrix with values of a dtype, or with indices of a dtype.
inline Csr with_dtype(const Csr& a, DType dtype, const Stream& stream) {
  Csr out = a;
  out.values = astype(a.values, dtype, false, stream);
  return out;
}
inline Csr with_indices(const Csr& a, DType dtype, const Stream& stream) {
  Csr out = a;
  out.indptr = astype(a.indptr, dtype, false, stream);
  out.indices = astype(a.indices, dtype, false, stream);
  return out;
}

// out[i] = the sum of the first i of `counts`; out is one longer.
void exclusive_sum(OpCall& call, const Array& counts, const Array& out);
// The last element of pointers, read on behalf of the op `reader`. Synchronises.
int64_t last_of(const Array& indptr, const Stream& stream, Op reader);

struct Entries {
  Array keys, other, values;
};
// Compresses by `keys` in [0, bound): entries of equal keys keep their order. Keys outside come last and are reported
// to the error slot.
struct Grouped {
  Array indptr, other, values;
};
Grouped group_entries(OpCall& call, const Entries& entries, int64_t bound, const Stream& stream);
// The pointers of rows from ascending keys.
Array pointers(OpCall& call, const Array& keys, int64_t rows);

}  // namespace stator::sparse
