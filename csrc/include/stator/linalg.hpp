// Linear algebra on the last two axes of arrays (..., m, n), batched over the others. float32, float64, complex64 and
// complex128; integers and bool become float64. DTypeError for other dtypes, ShapeError for arrays that are not
// matrices.
//
// Functions whose result has an info: with check = true they wait for the device and throw LinAlgError for the first
// matrix that failed; with check = false they are asynchronous, and info (...), int32, is 0 for each matrix that
// succeeded. All others are asynchronous unless they say otherwise. NaN and infinity: direct solvers carry them into
// the result; eigenvalues and singular values of such a matrix are NaN and its info is -1. Results may be strided
// views.
#pragma once

#include <stator/array.hpp>

#include <optional>

#include <stator/macros/aside.inc>

namespace stator::linalg {

struct Options {
  bool check = true;
};

struct Factor {
  Array factor, info;
};
struct Solution {
  Array x, info;
};
struct LuFactor {
  Array lu, pivots, info;  // L below the diagonal, U in and above; pivots int32, 0-based
};
struct PLU {
  Array p, l, u;
};
struct SignLog {
  Array sign, logabsdet;
};
struct Qr {
  Array q, r;
};
struct Svd {
  Array u, s, vh, info;
};
struct Eigen {
  Array values, vectors, info;
};
struct LeastSquares {
  Array x, residuals, rank, singular_values;
};
enum class Transpose : uint8_t { none, transpose, adjoint };

// A = L L^H, or U^H U when upper; reads only that triangle of A. info: the order of the first leading minor that is not
// positive.
STATOR_API Factor cholesky(const Array& a, bool upper = false, const Options& = {}, const Stream& = {});
// Solves A x = b with a factor that cholesky returned. b is (n,), or (..., n, k) with k right-hand sides.
STATOR_API Array cho_solve(const Array& factor, bool lower, const Array& b, const Stream& = {});
struct TriangularOptions {
  bool lower = false, unit_diagonal = false;
  Transpose how = Transpose::none;
  bool check = true;
};
// Solves op(A) x = b for the triangle of A. info: the first zero on the diagonal, counted from 1.
STATOR_API Solution solve_triangular(const Array& a, const Array& b, const TriangularOptions& = {}, const Stream& = {});

// P A = L U with partial pivoting: row i was exchanged with row pivots[i], in the order of i. info: the first zero
// pivot, counted from 1.
STATOR_API LuFactor lu_factor(const Array& a, const Options& = {}, const Stream& = {});
STATOR_API Array lu_solve(const Array& lu, const Array& pivots, const Array& b, Transpose how = Transpose::none,
                          const Stream& = {});
STATOR_API PLU lu(const Array& a, const Stream& = {});  // A = P L U
// Square a; b as in cho_solve. info as of lu_factor.
STATOR_API Solution solve(const Array& a, const Array& b, const Options& = {}, const Stream& = {});
STATOR_API Solution inv(const Array& a, const Options& = {}, const Stream& = {});
// Square matrices; singular ones have the determinant 0, the sign 0 and the logarithm -infinity. logabsdet is real.
STATOR_API Array det(const Array& a, const Stream& = {});
STATOR_API SignLog slogdet(const Array& a, const Stream& = {});

// Q (m, k) and R (k, n) with k = min(m, n), or complete: (m, m) and (m, n).
STATOR_API Qr qr(const Array& a, bool complete = false, const Stream& = {});
// U (m, k), S (k) descending, V^H (k, n), or full: (m, m) and (n, n).
STATOR_API Svd svd(const Array& a, bool full_matrices = true, const Options& = {}, const Stream& = {});
STATOR_API Svd svdvals(const Array& a, const Options& = {}, const Stream& = {});  // only s and info
// Real eigenvalues (n), ascending, and eigenvectors in the columns of (n, n), of Hermitian matrices. Only the lower
// triangle of a is read, or with `upper` only the upper one. eigvalsh: no vectors.
STATOR_API Eigen eigh(const Array& a, bool upper = false, const Options& = {}, const Stream& = {});
STATOR_API Eigen eigvalsh(const Array& a, bool upper = false, const Options& = {}, const Stream& = {});
// Eigenvalues, in no order, and eigenvectors in columns, of square matrices: always complex. eigvals: no vectors.
STATOR_API Eigen eig(const Array& a, const Options& = {}, const Stream& = {});
STATOR_API Eigen eigvals(const Array& a, const Options& = {}, const Stream& = {});

// Singular values up to `rtol` times the largest count as 0; the default is max(m, n) eps of the dtype.
struct Tolerance {
  std::optional<double> rtol = {};
  const Array* each = nullptr;  // instead of rtol, one value per matrix: real, broadcasts to the batch

  Tolerance() = default;
  Tolerance(double value) : rtol(value) {}
  Tolerance(const Array& values) : each(&values) {}  // `values` must outlive this object
};

// Computed from singular values. They wait for the device, since the svd is checked.
STATOR_API LeastSquares lstsq(const Array& a, const Array& b, const Tolerance& = {}, const Stream& = {});
STATOR_API Array pinv(const Array& a, const Tolerance& = {}, const Stream& = {});
STATOR_API Array matrix_rank(const Array& a, const Tolerance& = {}, const Stream& = {});

enum class MatrixNorm : uint8_t { frobenius, nuclear, rows, columns, spectral };  // rows: inf, columns: 1
struct NormOrder {
  MatrixNorm norm = MatrixNorm::frobenius;
  bool smallest = false;  // -inf, -1, -2
};
// Norms (...), real. The nuclear and spectral norms, and condition numbers in them, wait for the device as svd does.
// cond is infinite for a singular matrix; ShapeError for empty matrices, and unless square for norms other than the
// spectral one.
STATOR_API Array matrix_norm(const Array& a, NormOrder order = {}, bool keepdims = false, const Stream& = {});
STATOR_API Array cond(const Array& a, NormOrder order = {MatrixNorm::spectral, false}, const Stream& = {});
// Of square matrices. n < 0 is a power of the inverse, which waits for the device; LinAlgError for a singular matrix.
STATOR_API Array matrix_power(const Array& a, int64_t n, const Stream& = {});
// The matrix exponential, by scaling and squaring; matrices with NaN or infinity become NaN. Waits for the device, to
// know how often to square.
STATOR_API Array expm(const Array& a, const Stream& = {});
// The sum of diagonal `offset`, as sum() of any dtype.
STATOR_API Array trace(const Array& a, int64_t offset = 0, std::optional<DType> dtype = {}, const Stream& = {});
// Along an axis of the broadcast shape, which has 3 elements in both operands (ShapeError); every numeric dtype.
STATOR_API Array cross(const Array& a, const Array& b, int64_t axis = -1, const Stream& = {});

}  // namespace stator::linalg

#include <stator/macros/back.inc>
