// What cuBLAS and cuBLASLt share: which products exist, and their arithmetic.
#pragma once

#include "emulator/vendor/blas/handle.hpp"
#include "emulator/vendor/common/product.hpp"

#include <complex>
#include <cstdint>

namespace stator::emulator::vendor::blas {

// The type of alpha and beta, or of the arithmetic, where the compute type and the matrices decide it.
enum class Arithmetic { none, f16, f32, tf32, c32, f64, c64, i32 };

struct Combination {
  Compute compute;
  Type a, b, c;
};
// Of cublasGemmEx's table. `none` if the combination is not in it.
Arithmetic arithmetic_of(const Combination& types);
Type scale_type_of(Arithmetic arithmetic);
bool is_known(Compute compute);

// d = alpha op(a) op(b) + beta c before any epilogue, a column at a time: `take(j, i, value)` gets every element in the
// arithmetic's type as a complex double. Reads what it must, unless alpha is zero; `c` is not read if beta is zero.
struct Operands {
  Arithmetic arithmetic;
  Op op_a, op_b;
  int64_t m, n, k;
  std::complex<double> alpha, beta;
  const void *a, *b, *c;
  Type type_a, type_b, type_c;
  int64_t lda, ldb, ldc;
  bool row_a = false, row_b = false, row_c = false;
  double scale_ab = 1, scale_c = 1;
};
// m x n values without gaps.
std::vector<std::complex<double>> multiply(const Operands& operands);

}  // namespace stator::emulator::vendor::blas
