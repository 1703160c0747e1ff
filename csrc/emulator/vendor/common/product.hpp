// Products of dense matrices by plain loops. Everything is column-major.
#pragma once

#include "emulator/vendor/common/types.hpp"

#include <cstdint>
#include <vector>

namespace stator::emulator::vendor {

enum class Op : int { none = 0, transpose = 1, adjoint = 2 };  // cublasOperation_t, cusparseOperation_t

// op(matrix) in the arithmetic of T, without gaps. `rows` and `columns` are those of the result; `row_major` says how
// the matrix itself lies.
template <class T>
std::vector<T> gather(Type type, const void* start, Op op, int64_t rows, int64_t columns, int64_t ld,
                      bool row_major = false) {
  std::vector<T> values(size_t(rows) * size_t(columns));
  const bool swapped = (op != Op::none) != row_major;
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i) {
      const T value = load_as<T>(type, start, swapped ? i * ld + j : j * ld + i);
      values[size_t(j * rows + i)] = op == Op::adjoint ? conjugate(value) : value;
    }
  return values;
}

// One column of a product: sums[i] = sum over l of a[i, l] b[l], accumulated in T.
template <class T>
void multiply_column(int64_t m, int64_t k, const T* __restrict a, const T* __restrict b, T* __restrict sums) {
  for (int64_t i = 0; i < m; ++i) sums[i] = T(0);
  for (int64_t l = 0; l < k; ++l) {
    const T factor = b[l];
    const T* const column = a + l * m;
    for (int64_t i = 0; i < m; ++i) sums[i] += times(column[i], factor);
  }
}

}  // namespace stator::emulator::vendor
