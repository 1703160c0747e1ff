// Sparse matrices as plain structs of arrays. Values are float16 to complex128; index arrays are int32 or int64, the
// two of a matrix alike. Nothing here makes a dense array but to_dense. Asynchronous unless said: what has to know a
// number of entries reads it back once (not capturable), or takes it as `nnz`, which is then exact: another number
// raises IndexError at the next synchronising call.
#pragma once

#include <stator/array.hpp>

#include <optional>

namespace stator::sparse {

// Row r has entries indptr[r] to indptr[r + 1] of indices and values. `sorted`: indices ascend within rows; `unique`:
// no position is stored twice; `valid`: pointers ascend from 0 to nnz, and indices are inside. They are promises: false
// where it is not known. What libraries are given is valid, since they read whatever an index says.
struct STATOR_API Csr {
  Array indptr, indices, values;
  int64_t rows = 0, cols = 0;
  bool sorted = false, unique = false, valid = false;
  int64_t nnz() const { return values.size(); }
};
// The same by targets.
struct STATOR_API Csc {
  Array indptr, indices, values;
  int64_t rows = 0, cols = 0;
  bool sorted = false, unique = false, valid = false;
  int64_t nnz() const { return values.size(); }
};
// `sorted`: by rows, and by targets within a row.
struct STATOR_API Coo {
  Array row, col, values;
  int64_t rows = 0, cols = 0;
  bool sorted = false, unique = false, valid = false;
  int64_t nnz() const { return values.size(); }
};

// From arrays, which are shared where they are dense and their index dtypes agree. ShapeError where lengths do not fit
// the shape, DTypeError, ValueError where the shape or the number of entries does not fit the index dtype. What the
// arrays hold is not looked at: see check.
STATOR_API Csr csr(const Array& values, const Array& indices, const Array& indptr, int64_t rows, int64_t cols,
                   const Stream& = {});
STATOR_API Coo coo(const Array& values, const Array& row, const Array& col, int64_t rows, int64_t cols,
                   const Stream& = {});

// The same structure with other values, one for each entry, of any inexact dtype: shared where they are dense.
STATOR_API Csr with_values(const Csr&, const Array& values, const Stream& = {});
STATOR_API Coo with_values(const Coo&, const Array& values, const Stream& = {});

// The matrix with what its arrays hold made known in `sorted`, `unique` and `valid`. ValueError for pointers that
// descend or do not end at nnz, IndexError for indices outside. Synchronises.
STATOR_API Csr check(const Csr&, const Stream& = {});
STATOR_API Coo check(const Coo&, const Stream& = {});

// Views.
STATOR_API Csc transpose(const Csr&);
STATOR_API Csr transpose(const Csc&);
STATOR_API Coo transpose(const Coo&);

// Conversions. Entries keep their order where the format leaves it open. An index outside goes to the error slot, its
// entry is dropped. What is before the first pointer or beyond the last is of no row: to_coo gives it the row `rows`.
STATOR_API Csc to_csc(const Csr&, const Stream& = {});
STATOR_API Csr to_csr(const Csc&, const Stream& = {});
STATOR_API Csr to_csr(const Coo&, const Stream& = {});
STATOR_API Coo to_coo(const Csr&, const Stream& = {});
STATOR_API Array to_dense(const Csr&, const Stream& = {});  // repeated entries add up
STATOR_API Array to_dense(const Csc&, const Stream& = {});

struct FromDense {
  std::optional<DType> index_dtype = {};  // int32 where the sizes fit
  std::optional<int64_t> nnz = {};
};
// The entries of a matrix that are not 0 (NaN is one, -0 is not), sorted. Synchronises unless nnz is given.
STATOR_API Csr csr_from_dense(const Array& x, const FromDense& = {}, const Stream& = {});

// Indices of each row in ascending order; equal ones keep theirs.
STATOR_API Csr sort_indices(const Csr&, const Stream& = {});
// Sorted, repeated entries added up. Synchronises unless nnz is given, or nothing is to do.
STATOR_API Csr coalesce(const Csr&, std::optional<int64_t> nnz = {}, const Stream& = {});

// a @ x for x of one or two axes, any strides, without a copy; the result dtype is the promotion of both. Run to run
// equal bits. An index outside reads nothing and goes to the error slot. On cuda cuSPARSE multiplies where a is valid,
// x and the result are dense alike, and the backend is not deterministic; kernels of ours elsewhere. So for the other
// products and systems.
STATOR_API Array matmul(const Csr& a, const Array& x, const Array* out = nullptr, const Stream& = {});
// a @ b, sorted and unique. Synchronises: once, and once more where b is not known to be unique.
STATOR_API Csr matmul(const Csr& a, const Csr& b, const Stream& = {});
// alpha * a + beta * b, sorted and unique. Synchronises unless nnz is given.
STATOR_API Csr add(const Csr& a, const Csr& b, double alpha = 1, double beta = 1, std::optional<int64_t> nnz = {},
                   const Stream& = {});
// Sums of the rows, (rows,).
STATOR_API Array row_sums(const Csr&, const Stream& = {});
// alpha * (x @ y) at the entries of the matrix + beta * their values: x is (rows, k), y is (k, cols).
STATOR_API Csr sddmm(const Csr& pattern, const Array& x, const Array& y, double alpha = 1, double beta = 0,
                     const Stream& = {});
struct TriangularOptions {
  bool lower = true;
  bool unit = false;  // the diagonal counts as ones
  bool check = true;
};
struct STATOR_API TriangularSolution {
  Array x, info;  // info: int64, 0-d: the first row whose diagonal is 0 or missing, counted from 1; 0 for none
};
// x with a @ x = b, of the lower (or upper) triangle of a; entries beyond it are not read. b has one or two axes.
// LinAlgError that names the row where the triangle is singular: the look at info synchronises, unless `check` is
// false; then x has infinities and NaN. With unit diagonals nothing is looked at, and info is undefined.
STATOR_API TriangularSolution solve_triangular(const Csr& a, const Array& b, const TriangularOptions& = {},
                                               const Stream& = {});

// 2:4 sparsity: of each four neighbours along the axis the two largest magnitudes stay (of equal ones the first; NaN is
// the largest), the others become 0. float16 to float64.
STATOR_API Array prune_2to4(const Array& x, int64_t axis = -1, const Stream& = {});
// What stays: `values` has two entries and `positions` (uint8) one for each four along the axis, bits 0-1 the place of
// the first, bits 2-3 of the second.
struct STATOR_API TwoToFour {
  Array values, positions;
  int64_t length = 0;  // of the axis
  int axis = 0;
};
STATOR_API TwoToFour compress_2to4(const Array& x, int64_t axis = -1, const Stream& = {});
STATOR_API Array to_dense(const TwoToFour&, const Stream& = {});
// Products with a matrix (or a stack) that is packed along the inner axis, the last of a left operand, the last but one
// of a right one; batch axes broadcast. Half the multiplications, summed in at least float32. On cuda cuSPARSELt
// multiplies where it is installed and knows the layout; elsewhere the packed operand is unpacked for cuBLAS, which is
// faster there than the portable kernel. ShapeError, DTypeError.
STATOR_API Array matmul_2to4(const Array& a, const TwoToFour& b, const Stream& = {});
STATOR_API Array matmul_2to4(const TwoToFour& a, const Array& b, const Stream& = {});
// matmul(a, prune_2to4(b, axis -2)): for a b that is 2:4 along the inner axis, its product.
STATOR_API Array matmul_2to4(const Array& a, const Array& b, const Stream& = {});

}  // namespace stator::sparse
