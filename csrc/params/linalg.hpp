// Parameters of the linear-algebra launchers: decompositions of small matrices (one block per matrix), decompositions
// of batches that no library offers, and the small steps around a library's decompositions.
#pragma once

#include "params/elementwise.hpp"
#include "params/launcher.hpp"

namespace stator::params {

// A batch of matrices in any layout, with strides in elements. Null data stands for no matrices.
struct Matrices {
  void* data;
  int64_t batch, row, col;
};

// out = a x b for vectors of three elements: `first` iterates over their first elements, with in = {a, b}. compute:
// int64 for integers, float32 for halves too, float64, complex64, complex128. Steps are in elements, along the axis of
// three.
struct Cross {
  Elementwise first;
  int64_t a_step, b_step, out_step;
};

// What is computed from the singular values [count, k], descending, of matrices. A value counts when it is larger than
// rtol times the largest.
enum class SpectralNorm : int32_t { none, largest, smallest, sum, condition, inverse_condition };
struct Spectrum {
  DType dtype;  // of the matrices; values have its real part
  int64_t count, k;
  const void* values;
  double rtol;
  const void* rtols;  // [count], real: used instead of rtol; or null
  int64_t* rank;      // [count]: how many values count; or null
  SpectralNorm norm;
  void* norms;  // [count], real; or null
  // Row i (or with by_column, column i) of `scaled` (scaled_rows, scaled_cols) is divided by value i, or becomes zero
  // where that value does not count. `scaled` and `other` are conjugated as well.
  bool by_column;
  int64_t scaled_rows, scaled_cols;
  Matrices scaled;
  int64_t other_rows, other_cols;
  Matrices other;
};

// info[i]: the index, counted from 1, of the first zero on the diagonal of matrix i (n, n); 0 where there is none, or
// when the diagonal is taken as ones (`unit`).
struct DiagonalZero {
  DType dtype;
  bool unit;
  int64_t count, n;
  Matrices a;
  int32_t* info;
};

// info[i], where it is 0, becomes the index, counted from 1, of the first NaN on the diagonal of matrix i (n, n).
struct DiagonalNan {
  DType dtype;
  int64_t count, n;
  Matrices a;
  int32_t* info;
};

// Addresses of matrices for a library's batched routines: out[i] = base + i * step, in bytes; and a second list alike.
struct Addresses {
  int64_t count;
  char *base, *second_base;
  int64_t step, second_step;
  void **out, **second;  // second: may be null
};

// The matrix exponential of dense n x n matrices by scaling and squaring. `expm_scale` computes b = 2^-exponent a,
// whose 1-norm is at most 1; b is NaN throughout where a holds NaN or infinity.
struct ExpmScale {
  DType dtype;
  int64_t count, n;
  Matrices a;
  void* b;
  int32_t* exponent;  // [count]
};
// squarings[i] from b and its fourth and sixth power. vectors: scratch of 2 n reals per matrix.
struct ExpmChoose {
  DType dtype;
  int64_t count, n;
  const void *b, *b4, *b6;
  const int32_t* exponent;
  int32_t* squarings;
  void* vectors;
};
// With f = 2^(exponent - squarings): writes x = f b over b, x6 = f^6 b6 over b6, and sums of the powers and the
// identity, side by side in (n, 2 n): `outer` of degree up to 6 (odd powers divided by x on the left, even powers on
// the right), `inner` the factor of x^6.
struct ExpmTerms {
  DType dtype;
  int64_t count, n;
  void *b, *b2, *b4, *b6;
  const int32_t *exponent, *squarings;
  void *outer, *inner;  // inner: null for degree 7
};
// p = v + u and q = v - u, where u and q may be the same memory. v: the right halves of `sums` (n, 2 n).
struct ExpmFraction {
  DType dtype;
  int64_t count, n;
  const void *u, *sums;
  void *p, *q;
};
// Matrices with squarings[i] <= step are not squared again: squared = kept.
struct ExpmKeep {
  int32_t itemsize;
  int64_t count, size, step;
  const int32_t* squarings;
  const void* kept;
  void* squared;
};

// The largest number of rows and of columns that the launchers named small_ accept.
inline constexpr int small_matrix = 32;

// P A = L U with partial pivoting, and solutions by it. dtype: float32, float64, complex64, complex128.
struct SmallLu {
  DType dtype;
  bool factored;  // a already holds the factors; pivots are read
  bool identity;  // the right-hand sides are the columns of the identity
  int32_t n;
  int64_t count, columns;  // number of matrices; right-hand sides per matrix
  Matrices a, lu, b, x;    // lu and x are written if they have data
  int32_t* pivots;         // [count, n], 0-based: row k was exchanged with row pivots[k]; may be null unless factored
  int32_t* info;           // [count]: 0, or the first zero pivot, counted from 1; may be null
};

// A = L L^H or U^H U, of which only the triangle named is read; the other triangle of the result is zero.
struct SmallCholesky {
  DType dtype;
  bool upper;
  int32_t n;
  int64_t count;
  Matrices a, out;
  int32_t* info;  // [count]: 0, or the order of the first leading minor that is not positive
};

// Triangular systems, solved in one or two steps; step k solves with op(a).
struct SmallTriangular {
  DType dtype;
  bool upper, unit;  // of a as it is stored
  int32_t steps;
  bool transpose[2], conjugate[2];
  int32_t n;
  int64_t count, columns;
  Matrices a, b, x;
  int32_t* info;  // as in SmallLu, for the first zero on the diagonal; may be null
};

// A = Q R by Householder reflections; q is (m, q_columns), r is (r_rows, n).
struct SmallQr {
  DType dtype;
  int32_t m, n, q_columns, r_rows;
  int64_t count;
  Matrices a, q, r;
};

// Column-major matrices (m, n) become R and the reflectors below it, as LAPACK's geqrf leaves them, with the reflectors
// scaled so that dependent columns, of which rounding leaves almost nothing, keep an orthogonal Q.
struct BatchedQr {
  DType dtype;
  int64_t count, m, n;
  Matrices a;
  void* tau;  // [count, min(m, n)]
};

// Q from its reflectors, as LAPACK stores them: `reflectors` columns of `factors`, in column-major order (row == 1),
// beside tau. Columns of Q are computed independently, so q must not share memory with the factors.
inline constexpr int64_t formed_rows = 4096;
struct FormQ {
  DType dtype;
  bool started;    // q holds a matrix C in its first `reflectors` rows and columns; the result is Q diag(C, I)
  bool conjugate;  // the result is conj(Q): with exchanged strides, Q^H
  int64_t count, m, columns, reflectors;  // m <= formed_rows
  Matrices factors;
  const void* tau;  // [count, reflectors]
  Matrices q;       // (m, columns)
};

// Singular values, descending, and singular vectors of column-major matrices (m, n), m >= n, by rotations of columns.
inline constexpr int64_t rotated_columns = 512;
struct BatchedSvd {
  DType dtype;
  int64_t count, m, n, u_columns;  // m <= formed_rows, n <= rotated_columns; u_columns: n or m
  Matrices a;                      // destroyed
  void* values;                    // [count, n] of the real dtype
  Matrices u, vh;                  // (m, u_columns) and (n, n), column-major; no vectors without data
  void* work;                      // count * n * (n + 2) elements
  int32_t* info;                   // [count]: 0, or 1 without convergence
};

// Eigenvalues, in no particular order, and eigenvectors of length 1 of complex column-major matrices, by the Schur
// form.
inline constexpr int64_t schur_columns = 256;
struct BatchedEig {
  DType dtype;       // complex64 or complex128
  int64_t count, n;  // n <= schur_columns
  Matrices a;        // destroyed
  void* values;      // [count, n]
  Matrices vectors;  // (n, n), column-major; no vectors without data
  int32_t* info;     // [count]: 0, or without convergence how many of the first values are unknown
};

// Eigenvalues, ascending, of Hermitian matrices of which only the triangle named is read, by Jacobi rotations.
struct SmallEigh {
  DType dtype;
  bool upper;
  int32_t n;
  int64_t count;
  Matrices a, vectors;  // no vectors without data
  void* values;         // [count, n] of the real dtype
  int32_t* info;        // [count]: 0, 1 without convergence, -1 if the matrix holds NaN or infinity
};

// out = the triangle of a, zero elsewhere; with `unit`, ones on the diagonal.
struct Triangle {
  int32_t itemsize;
  DType dtype;
  bool upper, unit;
  int64_t count, rows, cols;
  Matrices a, out;
};

// The determinant from LU factors: det, or its sign and the logarithm of its absolute value.
struct Determinant {
  DType dtype;
  int64_t count, n;
  Matrices lu;
  const int32_t* pivots;
  void *det, *sign, *log;  // null if not wanted
};

// The permutation matrix p [count, n, n] of pivots: A = p L U. order: scratch of [count, n].
struct RowExchanges {
  DType dtype;
  int64_t count, n, steps;  // `steps` pivots per matrix
  const int32_t* pivots;
  int32_t* order;
  void* p;
};

// Converts the pivots of a library, which count from 1, to ours or back; there are `each` per matrix. When converted
// for a library, a pivot outside 0..rows becomes "no exchange", since the library would use it as an index out of
// range.
struct Pivots {
  int64_t count, each, rows;  // count: of all matrices together
  int64_t* theirs;            // this or theirs_narrow
  int32_t* theirs_narrow;
  int32_t* ours;  // may be theirs_narrow
  bool to_ours;
};

enum class Part : int32_t { whole, lower, upper };

// Sets bad[i] = 1 and matrix i to zero where dense matrix i, of `size` elements, holds NaN or infinity, because
// iterative algorithms may not terminate on these. Afterwards RestoreNan sets the results of those matrices to NaN and
// info to -1.
struct MaskNonfinite {
  DType dtype;
  Part part;  // the part that is read; a triangle requires column-major matrices of `rows` rows
  int64_t count, rows, size;
  void* a;
  int32_t* bad;
};
struct RestoreNan {
  int64_t count;
  const int32_t* bad;
  int32_t* info;
  int32_t results;
  DType dtype[3];
  int64_t size[3];  // elements per matrix
  void* data[3];
};

}  // namespace stator::params

namespace stator::kernels::linalg {

extern Launcher<void(const Queue&, const params::SmallLu&)> small_lu;
extern Launcher<void(const Queue&, const params::SmallCholesky&)> small_cholesky;
extern Launcher<void(const Queue&, const params::SmallTriangular&)> small_triangular;
extern Launcher<void(const Queue&, const params::SmallQr&)> small_qr;
// These four are null on the fast host, which uses LAPACK, so they are not compiled there.
extern Launcher<void(const Queue&, const params::BatchedQr&)> batched_qr;
extern Launcher<void(const Queue&, const params::FormQ&)> form_q;
extern Launcher<void(const Queue&, const params::BatchedSvd&)> batched_svd;
extern Launcher<void(const Queue&, const params::BatchedEig&)> batched_eig;
extern Launcher<void(const Queue&, const params::SmallEigh&)> small_eigh;
extern Launcher<void(const Queue&, const params::Triangle&)> triangle;
extern Launcher<void(const Queue&, const params::Determinant&)> determinant;
extern Launcher<void(const Queue&, const params::RowExchanges&)> permutation;
extern Launcher<void(const Queue&, const params::Pivots&)> pivots;
extern Launcher<void(const Queue&, const params::MaskNonfinite&)> mask_nonfinite;
extern Launcher<void(const Queue&, const params::RestoreNan&)> restore_nan;
extern Launcher<void(const Queue&, const params::Addresses&)> addresses;
extern Launcher<void(const Queue&, const params::DiagonalZero&)> diagonal_zero;
extern Launcher<void(const Queue&, const params::DiagonalNan&)> diagonal_nan;
extern Launcher<void(const Queue&, const params::Spectrum&)> spectrum;
extern Launcher<void(const Queue&, const params::Cross&)> cross;
extern Launcher<void(const Queue&, const params::ExpmScale&)> expm_scale;
extern Launcher<void(const Queue&, const params::ExpmChoose&)> expm_choose;
extern Launcher<void(const Queue&, const params::ExpmTerms&)> expm_terms;
extern Launcher<void(const Queue&, const params::ExpmFraction&)> expm_fraction;
extern Launcher<void(const Queue&, const params::ExpmKeep&)> expm_keep;

}  // namespace stator::kernels::linalg
