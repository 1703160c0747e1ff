// Parameters of the linear-algebra launchers: decompositions of small matrices, a group a matrix, what libraries do not
// do for batches, and the small steps around a library's decompositions.
#pragma once

#include "params/elementwise.hpp"
#include "params/launcher.hpp"

namespace stator::params {

// A batch of matrices in any layout; strides in elements. Null data: there is none.
struct Matrices {
  void* data;
  int64_t batch, row, col;
};

// out = a x b for vectors of three elements: `first` is the iteration over their first elements, in = {a, b}; compute:
// int64 for integers, float32 for halves too, float64, complex64, complex128. Steps in elements, along the axis of
// three.
struct Cross {
  Elementwise first;
  int64_t a_step, b_step, out_step;
};

// What singular values [count, k], descending, say of their matrices. A value counts when it is larger than rtol times
// the largest.
enum class SpectralNorm : int32_t { none, largest, smallest, sum, condition, inverse_condition };
struct Spectrum {
  DType dtype;  // of the matrices: values are of its real part
  int64_t count, k;
  const void* values;
  double rtol;
  const void* rtols;  // [count], real: instead of rtol; null for none
  int64_t* rank;      // [count]: how many count; may be null
  SpectralNorm norm;
  void* norms;  // [count], real; null for none
  // Row i of `scaled` (scaled_rows, scaled_cols) is divided by value i, or made zero where that does
  // not count; or by_target its columns. Both matrices become their conjugates besides.
  bool by_target;
  int64_t scaled_rows, scaled_cols;
  Matrices scaled;
  int64_t other_rows, other_cols;
  Matrices other;
};

// info[i]: the first zero on the diagonal of matrix i (n, n), counted from 1; 0 where there is none, or for `unit`.
struct DiagonalZero {
  DType dtype;
  bool unit;
  int64_t count, n;
  Matrices a;
  int32_t* info;
};

// Addresses of matrices for a library's batched routines: out[i] = base + i * step, in bytes; and a second list.
struct Addresses {
  int64_t count;
  char *base, *second_base;
  int64_t step, second_step;
  void **out, **second;  // second: null for none
};

// The matrix exponential of dense n x n matrices by scaling and squaring. `expm_scale`: b = 2^-exponent a, its 1-norm
// at most 1; NaN throughout where a holds NaN or infinity.
struct ExpmScale {
  DType dtype;
  int64_t count, n;
  Matrices a;
  void* b;
  int32_t* exponent;  // [count]
};
// squarings[i] for b and its fourth and sixth power; `vectors`: scratch of 2 n reals a matrix.
struct ExpmChoose {
  DType dtype;
  int64_t count, n;
  const void *b, *b4, *b6;
  const int32_t* exponent;
  int32_t* squarings;
  void* vectors;
};
// With f = 2^(exponent - squarings): x = f b, and x6 = f^6 b6 over b6; sums of the powers and the identity, side by
// side in (n, 2 n): `outer` of degree up to 6 (odd powers divided by x left, even ones right), `inner` what x^6
// multiplies.
struct ExpmTerms {
  DType dtype;
  int64_t count, n;
  void *b, *b2, *b4, *b6;
  const int32_t *exponent, *squarings;
  void *outer, *inner;  // inner: null for degree 7
};
// p = v + u and q = v - u; u and q in one place is allowed. v: the right halves of (n, 2 n).
struct ExpmFraction {
  DType dtype;
  int64_t count, n;
  const void *u, *sums;
  void *p, *q;
};
// Matrices with squarings[i] <= step keep what they were: squared = kept.
struct ExpmKeep {
  int32_t itemsize;
  int64_t count, size, step;
  const int32_t* squarings;
  const void* kept;
  void* squared;
};

// The largest matrix that the launchers named small_ take, in rows and columns.
inline constexpr int small_matrix = 32;

// P A = L U with partial pivoting, and solutions with it. dtype: float32, float64, complex64, complex128.
struct SmallLu {
  DType dtype;
  bool factored;  // a holds the factors already, pivots are read
  bool identity;  // the right-hand sides are the columns of the identity
  int32_t n;
  int64_t count, columns;  // matrices; right-hand sides of each
  Matrices a, lu, b, x;    // lu and x are written where they have data
  int32_t* pivots;         // [count, n], 0-based: row k was exchanged with row pivots[k]; may be null unless factored
  int32_t* info;           // [count]: 0, or the first zero pivot counted from 1; may be null
};

// A = L L^H or U^H U of the triangle named; the other triangle of the result is zero.
struct SmallCholesky {
  DType dtype;
  bool upper;
  int32_t n;
  int64_t count;
  Matrices a, out;
  int32_t* info;  // [count]: 0, or the order of the first leading minor that is not positive
};

// Triangular systems in one or two steps: step k solves with op(a).
struct SmallTriangular {
  DType dtype;
  bool upper, unit;  // of a as it is stored
  int32_t steps;
  bool transpose[2], conjugate[2];
  int32_t n;
  int64_t count, columns;
  Matrices a, b, x;
  int32_t* info;  // as of SmallLu: the first zero on the diagonal; may be null
};

// A = Q R by Householder reflections; q is (m, q_columns), r is (r_rows, n).
struct SmallQr {
  DType dtype;
  int32_t m, n, q_columns, r_rows;
  int64_t count;
  Matrices a, q, r;
};

// Q from its reflectors, as LAPACK stores them: `reflectors` columns of factors, in columns (row 1), beside tau.
// Columns of Q are independent, so q is not where the factors are.
inline constexpr int64_t formed_rows = 4096;
struct FormQ {
  DType dtype;
  bool started;    // q holds a matrix C in its first `reflectors` rows and columns: it becomes Q diag(C, I)
  bool conjugate;  // q becomes conj(Q): with its strides exchanged, Q^H
  int64_t count, m, columns, reflectors;  // m <= formed_rows
  Matrices factors;
  const void* tau;  // [count, reflectors]
  Matrices q;       // (m, columns)
};

// Singular values, descending, and vectors of matrices (m, n) in columns (row 1), m >= n, by rotations of columns.
inline constexpr int64_t rotated_columns = 512;
struct BatchedSvd {
  DType dtype;
  int64_t count, m, n, u_columns;  // m <= formed_rows, n <= rotated_columns; u_columns: n or m
  Matrices a;                      // destroyed
  void* values;                    // [count, n] of the real dtype
  Matrices u, vh;                  // (m, u_columns) and (n, n), in columns; no vectors where there is no data
  void* work;                      // count * n * (n + 2) elements
  int32_t* info;                   // [count]: 0, or 1 without convergence
};

// Eigenvalues, in no order, and vectors of length 1 of complex matrices in columns (row 1), by Schur's form.
inline constexpr int64_t schur_columns = 256;
struct BatchedEig {
  DType dtype;       // complex64 or complex128
  int64_t count, n;  // n <= schur_columns
  Matrices a;        // destroyed
  void* values;      // [count, n]
  Matrices vectors;  // (n, n), in columns; none where there is no data
  int32_t* info;     // [count]: 0, or without convergence how many of the first values are not known
};

// Eigenvalues, ascending, of the Hermitian matrix whose triangle is named, by Jacobi rotations.
struct SmallEigh {
  DType dtype;
  bool upper;
  int32_t n;
  int64_t count;
  Matrices a, vectors;  // no vectors where there is no data
  void* values;         // [count, n] of the real dtype
  int32_t* info;        // [count]: 0, 1 without convergence, -1 for NaN or infinity in the matrix
};

// out = the triangle of a, zero elsewhere; unit: ones on the diagonal.
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
  void *det, *sign, *log;  // null where not asked for
};

// The permutation matrix p [count, n, n] of pivots: A = p L U. order: scratch of [count, n].
struct RowExchanges {
  DType dtype;
  int64_t count, n, steps;  // steps pivots a matrix
  const int32_t* pivots;
  int32_t* order;
  void* p;
};

// Pivots of a library, counted from 1, to ours and back; `each` of them a matrix. To a library a pivot outside 0..rows
// goes as no exchange: it would be an address out of range.
struct Pivots {
  int64_t count, each, rows;  // count: of all matrices
  int64_t* theirs;            // one of the two
  int32_t* theirs_narrow;
  int32_t* ours;  // may be theirs_narrow
  bool to_ours;
};

enum class Part : int32_t { whole, lower, upper };

// bad[i] = 1 and matrix i zero where dense matrix i, of `size` elements, holds NaN or infinity: what iterates must not
// see those. Afterwards `poison` makes the results of those matrices NaN and their info -1.
struct Guard {
  DType dtype;
  Part part;  // that is looked at; a triangle only of matrices in columns of `rows`
  int64_t count, rows, size;
  void* a;
  int32_t* bad;
};
struct Poison {
  int64_t count;
  const int32_t* bad;
  int32_t* info;
  int32_t results;
  DType dtype[3];
  int64_t size[3];  // elements a matrix
  void* data[3];
};

}  // namespace stator::params

namespace stator::kernels::linalg {

extern Launcher<void(const Queue&, const params::SmallLu&)> small_lu;
extern Launcher<void(const Queue&, const params::SmallCholesky&)> small_cholesky;
extern Launcher<void(const Queue&, const params::SmallTriangular&)> small_triangular;
extern Launcher<void(const Queue&, const params::SmallQr&)> small_qr;
// Null on the fast host, where LAPACK serves: these would be compiled for nobody.
extern Launcher<void(const Queue&, const params::FormQ&)> form_q;
extern Launcher<void(const Queue&, const params::BatchedSvd&)> batched_svd;
extern Launcher<void(const Queue&, const params::BatchedEig&)> batched_eig;
extern Launcher<void(const Queue&, const params::SmallEigh&)> small_eigh;
extern Launcher<void(const Queue&, const params::Triangle&)> triangle;
extern Launcher<void(const Queue&, const params::Determinant&)> determinant;
extern Launcher<void(const Queue&, const params::RowExchanges&)> permutation;
extern Launcher<void(const Queue&, const params::Pivots&)> pivots;
extern Launcher<void(const Queue&, const params::Guard&)> guard;
extern Launcher<void(const Queue&, const params::Poison&)> poison;
extern Launcher<void(const Queue&, const params::Addresses&)> addresses;
extern Launcher<void(const Queue&, const params::DiagonalZero&)> diagonal_zero;
extern Launcher<void(const Queue&, const params::Spectrum&)> spectrum;
extern Launcher<void(const Queue&, const params::Cross&)> cross;
extern Launcher<void(const Queue&, const params::ExpmScale&)> expm_scale;
extern Launcher<void(const Queue&, const params::ExpmChoose&)> expm_choose;
extern Launcher<void(const Queue&, const params::ExpmTerms&)> expm_terms;
extern Launcher<void(const Queue&, const params::ExpmFraction&)> expm_fraction;
extern Launcher<void(const Queue&, const params::ExpmKeep&)> expm_keep;

}  // namespace stator::kernels::linalg
