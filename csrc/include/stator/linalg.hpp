// Linear algebra on the last two axes of arrays (..., m, n), batched over the others. float32, float64, complex64,
// complex128; integers and bool become float64. DTypeError for others, ShapeError for what is not a matrix.
//
// Where a result has an info, check = true waits for the device and throws LinAlgError for the first matrix that
// failed; check = false waits for nothing, and info [...], int32, is 0 for the matrices that worked. NaN and infinity:
// direct solvers carry them into the result; eigenvalues and singular values of such a matrix are NaN and its info is
// -1. Results may be strided views.
#pragma once

#include <stator/array.hpp>

#include <optional>

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

// A = L L^H, or U^H U when upper, of the triangle of that name. info: the order of the first minor not positive.
STATOR_API Factor cholesky(const Array& a, bool upper = false, const Options& = {}, const Stream& = {});
// A x = b by a factor of cholesky. b (..., n) for one vector when it has one axis, (..., n, k) otherwise.
STATOR_API Array cho_solve(const Array& factor, bool lower, const Array& b, const Stream& = {});
struct TriangularOptions {
  bool lower = false, unit_diagonal = false;
  Transpose how = Transpose::none;
  bool check = true;
};
// op(A) x = b. info: the first zero on the diagonal, counted from 1.
STATOR_API Solution solve_triangular(const Array& a, const Array& b, const TriangularOptions& = {}, const Stream& = {});

// P A = L U with partial pivoting. info: the first zero pivot, counted from 1.
STATOR_API LuFactor lu_factor(const Array& a, const Options& = {}, const Stream& = {});
STATOR_API Array lu_solve(const Array& lu, const Array& pivots, const Array& b, Transpose how = Transpose::none,
                          const Stream& = {});
STATOR_API PLU lu(const Array& a, const Stream& = {});  // A = P L U
STATOR_API Solution solve(const Array& a, const Array& b, const Options& = {}, const Stream& = {});
STATOR_API Solution inv(const Array& a, const Options& = {}, const Stream& = {});
STATOR_API Array det(const Array& a, const Stream& = {});
STATOR_API SignLog slogdet(const Array& a, const Stream& = {});

// Q (m, k) and R (k, n) with k = min(m, n), or complete: (m, m) and (m, n).
STATOR_API Qr qr(const Array& a, bool complete = false, const Stream& = {});
// U (m, k), S (k) descending, V^H (k, n), or full: (m, m) and (n, n).
STATOR_API Svd svd(const Array& a, bool full_matrices = true, const Options& = {}, const Stream& = {});
STATOR_API Svd svdvals(const Array& a, const Options& = {}, const Stream& = {});  // s and info alone
// Of the Hermitian matrix whose triangle is named: real values, ascending; vectors in columns.
STATOR_API Eigen eigh(const Array& a, bool upper = false, const Options& = {}, const Stream& = {});
STATOR_API Eigen eigvalsh(const Array& a, bool upper = false, const Options& = {}, const Stream& = {});
// Values and vectors are complex, whatever a is.
STATOR_API Eigen eig(const Array& a, const Options& = {}, const Stream& = {});
STATOR_API Eigen eigvals(const Array& a, const Options& = {}, const Stream& = {});

// Singular values up to `rtol` times the largest count as 0; by default max(m, n) eps.
struct Tolerance {
  std::optional<double> rtol = {};
  const Array* each = nullptr;  // one a matrix: real, broadcasts to the batch; instead of rtol

  Tolerance() = default;
  Tolerance(double value) : rtol(value) {}
  Tolerance(const Array& values) : each(&values) {}  // which outlives it
};

// By singular values. They wait for the device, as svd checks.
STATOR_API LeastSquares lstsq(const Array& a, const Array& b, const Tolerance& = {}, const Stream& = {});
STATOR_API Array pinv(const Array& a, const Tolerance& = {}, const Stream& = {});
STATOR_API Array matrix_rank(const Array& a, const Tolerance& = {}, const Stream& = {});

enum class MatrixNorm : uint8_t { frobenius, nuclear, rows, columns, spectral };  // rows: inf, columns: 1
struct NormOrder {
  MatrixNorm norm = MatrixNorm::frobenius;
  bool smallest = false;  // -inf, -1, -2
};
STATOR_API Array matrix_norm(const Array& a, NormOrder order = {}, bool keepdims = false, const Stream& = {});
STATOR_API Array cond(const Array& a, NormOrder order = {MatrixNorm::spectral, false}, const Stream& = {});
STATOR_API Array matrix_power(const Array& a, int64_t n, const Stream& = {});  // n < 0 inverts first
// The exponential, by scaling and squaring; matrices with NaN or infinity become NaN. Waits for the device, to know how
// often to square.
STATOR_API Array expm(const Array& a, const Stream& = {});
STATOR_API Array trace(const Array& a, int64_t offset = 0, std::optional<DType> dtype = {}, const Stream& = {});
STATOR_API Array cross(const Array& a, const Array& b, int64_t axis = -1, const Stream& = {});

}  // namespace stator::linalg
