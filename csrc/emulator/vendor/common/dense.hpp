// Dense matrices of one of the four types between the device's memory and LAPACK, which works on copies without gaps.
#pragma once

#include "emulator/vendor/common/device.hpp"
#include "emulator/vendor/common/lapack.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace stator::emulator::vendor {

template <class T>
std::vector<T> copy_in(const T* a, int64_t rows, int64_t columns, int64_t ld) {
  std::vector<T> copy(size_t(rows * columns) + 1);
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i) copy[size_t(j * rows + i)] = a[j * ld + i];
  return copy;
}

template <class T>
void copy_out(const std::vector<T>& copy, T* a, int64_t rows, int64_t columns, int64_t ld) {
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i) a[j * ld + i] = copy[size_t(j * rows + i)];
  wrote(matrix_at(a, sizeof(T), rows, columns, ld));
}

template <class T>
void put_value(T* to, T value) {
  *to = value;
  wrote(bytes_at(to, sizeof(T)));
}

template <class T>
bool is_finite(T value) {
  if constexpr (lapack::complex_type<T>)
    return std::isfinite(value.real()) && std::isfinite(value.imag());
  else
    return std::isfinite(value);
}
template <class T>
bool all_finite(const std::vector<T>& values) {
  for (const T value : values)
    if (!is_finite(value)) return false;
  return true;
}
template <class T>
T not_a_number() {
  return T(std::numeric_limits<lapack::Real<T>>::quiet_NaN());
}

// LAPACK's info of a Cholesky factor: a pivot that is not a number is not a positive one, which OpenBLAS does not
// notice.
template <class T>
int cholesky_info(int found, const std::vector<T>& factor, int64_t n) {
  for (int64_t i = 0; i < n && (found == 0 || i + 1 < found); ++i)
    if (std::isnan(std::real(factor[size_t(i * n + i)]))) return int(i + 1);
  return found;
}

// Solves with a triangle in place: op(a) x = b, or x op(a) = b from the right.
template <class T>
void solve_triangle(bool left, bool upper, int trans, bool unit, int64_t m, int64_t n, T alpha, const T* a, int64_t lda,
                    T* b, int64_t ldb) {
  const auto at = [&](int64_t i, int64_t j) {  // of op(a)
    const T value = trans ? a[i * lda + j] : a[j * lda + i];
    if constexpr (lapack::complex_type<T>)
      return trans == 2 ? std::conj(value) : value;
    else
      return value;
  };
  const bool forward = upper == (trans != 0);  // op(a) is a lower triangle
  const int64_t order = left ? m : n, count = left ? n : m;
  const int64_t step = left ? 1 : ldb, across = left ? ldb : 1;
  // From the right the unknowns are coupled by columns of op(a): the other direction.
  const bool ascending = left ? forward : !forward;
  for (int64_t vector = 0; vector < count; ++vector) {
    T* const x = b + vector * across;
    for (int64_t s = 0; s < order; ++s) x[s * step] *= alpha;
    for (int64_t s = 0; s < order; ++s) {
      const int64_t i = ascending ? s : order - 1 - s;
      T sum = x[i * step];
      for (int64_t t = 0; t < s; ++t) {
        const int64_t j = ascending ? t : order - 1 - t;
        sum -= (left ? at(i, j) : at(j, i)) * x[j * step];
      }
      x[i * step] = unit ? sum : sum / at(i, i);
    }
  }
}

// Gives a vector and its partner another sign, as two libraries may differ: with the seed only.
template <class T>
void turn(T* vector, int64_t n, int64_t step) {
  for (int64_t i = 0; i < n; ++i) vector[i * step] = -vector[i * step];
}

}  // namespace stator::emulator::vendor
