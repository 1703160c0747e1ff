// Parameters of the launchers of what is made of decompositions: cross products, what singular values say, the matrix
// exponential. Included by params/linalg.hpp, whose Matrices they use.
#pragma once

#include "params/elementwise.hpp"

namespace stator::abi {

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
  // not count; or by_column its columns. Both matrices become their conjugates besides.
  bool by_column;
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

}  // namespace stator::abi
