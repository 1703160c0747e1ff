// Sparse matrices as plain structs of arrays, and 2:4 sparsity. Values are floating or complex; the index arrays of a
// matrix are both int32 or both int64. Only to_dense makes a dense array of a matrix. Asynchronous unless stated
// otherwise: functions that need a number of entries read it back once (not capturable), or take it as `nnz`, which
// must be exact: for another number the next synchronising call throws IndexError.
#pragma once

#include <stator/array.hpp>

#include <optional>

namespace stator::sparse {

// Compressed rows: row r has the entries indptr[r] to indptr[r + 1] of indices and values. `sorted`: indices ascend
// within each row; `unique`: no position is stored twice; `valid`: pointers ascend from 0 to nnz and indices are in
// range. The flags are promises, false where it is not known. Only valid matrices are passed to vendor libraries, which
// do not check indices.
struct STATOR_API Csr {
  Array indptr, indices, values;
  int64_t rows = 0, cols = 0;
  bool sorted = false, unique = false, valid = false;
  int64_t nnz() const { return values.size(); }
};
// Compressed columns: the same with rows and columns exchanged.
struct STATOR_API Csc {
  Array indptr, indices, values;
  int64_t rows = 0, cols = 0;
  bool sorted = false, unique = false, valid = false;
  int64_t nnz() const { return values.size(); }
};
// Coordinates of each entry. `sorted`: by rows, and by columns within a row.
struct STATOR_API Coo {
  Array row, col, values;
  int64_t rows = 0, cols = 0;
  bool sorted = false, unique = false, valid = false;
  int64_t nnz() const { return values.size(); }
};

// A matrix from arrays, which it shares where they are contiguous and the index dtypes agree. ShapeError where lengths
// do not fit the shape, DTypeError, ValueError where the shape or the number of entries does not fit the index dtype.
// The contents of the arrays are not read, see check.
STATOR_API Csr csr(const Array& values, const Array& indices, const Array& indptr, int64_t rows, int64_t cols,
                   const Stream& = {});
STATOR_API Coo coo(const Array& values, const Array& row, const Array& col, int64_t rows, int64_t cols,
                   const Stream& = {});

// The same structure with other values, one per entry, of any inexact dtype; contiguous ones are shared.
STATOR_API Csr with_values(const Csr&, const Array& values, const Stream& = {});
STATOR_API Coo with_values(const Coo&, const Array& values, const Stream& = {});

// The matrix with `sorted`, `unique` and `valid` determined from the contents of its arrays. ValueError for pointers
// that descend or do not end at nnz, IndexError for indices out of range. Synchronises.
STATOR_API Csr check(const Csr&, const Stream& = {});
STATOR_API Coo check(const Coo&, const Stream& = {});

// Views.
STATOR_API Csc transpose(const Csr&);
STATOR_API Csr transpose(const Csc&);
STATOR_API Coo transpose(const Coo&);

// Conversions. Entries keep their order where the format leaves it open. For an index out of range the entry is dropped
// and the next synchronising call throws IndexError. Entries before the first pointer or beyond the last belong to no
// row: to_coo gives them the row index `rows`.
STATOR_API Csc to_csc(const Csr&, const Stream& = {});
STATOR_API Csr to_csr(const Csc&, const Stream& = {});
STATOR_API Csr to_csr(const Coo&, const Stream& = {});
STATOR_API Coo to_coo(const Csr&, const Stream& = {});
STATOR_API Array to_dense(const Csr&, const Stream& = {});  // repeated entries add up
STATOR_API Array to_dense(const Csc&, const Stream& = {});

struct FromDense {
  std::optional<DType> index_dtype = {};  // default: int32 where the sizes fit
  std::optional<int64_t> nnz = {};
};
// The entries of a matrix that are not 0 (NaN is one, -0 is not), sorted. Synchronises unless nnz is given.
STATOR_API Csr csr_from_dense(const Array& x, const FromDense& = {}, const Stream& = {});

// The entries of each row in ascending order of their indices; entries of equal indices keep their order.
STATOR_API Csr sort_indices(const Csr&, const Stream& = {});
// Sorted, with repeated entries added up. Synchronises unless nnz is given or there is nothing to do.
STATOR_API Csr coalesce(const Csr&, std::optional<int64_t> nnz = {}, const Stream& = {});

// a @ x for x of one or two axes and any strides, without a copy; the result has the promoted dtype. Equal bits from
// run to run. An index out of range reads nothing, and the next synchronising call throws IndexError. On cuda cuSPARSE
// is used where a is valid, x and the result are dense and of one layout, and the backend is not deterministic;
// stator's own kernels elsewhere. The same holds for the other products and for triangular systems.
STATOR_API Array matmul(const Csr& a, const Array& x, const Array* out = nullptr, const Stream& = {});
// a @ b, sorted and unique. Synchronises once, and a second time where b is not known to be unique.
STATOR_API Csr matmul(const Csr& a, const Csr& b, const Stream& = {});
// alpha * a + beta * b, sorted and unique. Synchronises unless nnz is given. DTypeError for a complex factor of real
// matrices, here and in sddmm.
STATOR_API Csr add(const Csr& a, const Csr& b, const Scalar& alpha = 1, const Scalar& beta = 1,
                   std::optional<int64_t> nnz = {}, const Stream& = {});
// The sum of each row, (rows,).
STATOR_API Array row_sums(const Csr&, const Stream& = {});
// alpha * (x @ y) at the entries of the matrix + beta * their values: x is (rows, k), y is (k, cols).
STATOR_API Csr sddmm(const Csr& pattern, const Array& x, const Array& y, const Scalar& alpha = 1,
                     const Scalar& beta = 0, const Stream& = {});
struct TriangularOptions {
  bool lower = true;
  bool unit = false;  // the diagonal counts as ones
  bool check = true;
};
struct STATOR_API TriangularSolution {
  Array x, info;  // info: int64, 0-d: the first row whose diagonal is 0 or missing, counted from 1, else 0
};
// Solves a @ x = b for the lower (or upper) triangle of a; entries beyond it are not read. b has one or two axes. With
// `check` the call synchronises and throws LinAlgError, which names the row, where the triangle is singular; without it
// x then has infinities and NaN. With a unit diagonal nothing is checked, and info is undefined.
STATOR_API TriangularSolution solve_triangular(const Csr& a, const Array& b, const TriangularOptions& = {},
                                               const Stream& = {});

// 2:4 sparsity: of each four neighbours along the axis the two of largest magnitude stay (of equal ones the first; NaN
// counts as the largest), the others become 0. float16 to float64.
STATOR_API Array prune_2to4(const Array& x, int64_t axis = -1, const Stream& = {});
// The compressed form: for each four neighbours along the axis, `values` has the two that stay, and `positions` (uint8)
// one byte with the index of the first in bits 0-1 and of the second in bits 2-3.
struct STATOR_API TwoToFour {
  Array values, positions;
  int64_t length = 0;  // of the axis
  int axis = 0;
};
STATOR_API TwoToFour compress_2to4(const Array& x, int64_t axis = -1, const Stream& = {});
STATOR_API Array to_dense(const TwoToFour&, const Stream& = {});
// Products with a matrix, or a stack of them, that is compressed along the inner axis: the last axis of a left operand,
// the last but one of a right operand. Batch axes broadcast. Half the multiplications, summed in float32 at least. On
// cuda cuSPARSELt is used where it is installed and supports the layout; elsewhere the operand is expanded for cuBLAS,
// which is faster there than the portable kernel. ShapeError, DTypeError.
STATOR_API Array matmul_2to4(const Array& a, const TwoToFour& b, const Stream& = {});
STATOR_API Array matmul_2to4(const TwoToFour& a, const Array& b, const Stream& = {});
// matmul(a, prune_2to4(b, -2)), which is a @ b where b is already 2:4 along the inner axis.
STATOR_API Array matmul_2to4(const Array& a, const Array& b, const Stream& = {});

}  // namespace stator::sparse
