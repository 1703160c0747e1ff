// Numbers for tests of the doubles, and the plain formulas that results are compared with.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

namespace stator::test {

template <class T>
constexpr bool is_complex = !std::is_floating_point_v<T> && !std::is_integral_v<T>;

// Numbers from -1 to 1.
template <class T>
std::vector<T> numbers(size_t count, uint32_t seed = 1) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> draw(-1, 1);
  std::vector<T> values(count);
  for (T& value : values) {
    if constexpr (is_complex<T>) {
      const double real = draw(generator);
      value = T(typename T::value_type(real), typename T::value_type(draw(generator)));
    } else {
      value = T(draw(generator));
    }
  }
  return values;
}

template <class T>
std::complex<double> wide(T value) {
  return std::complex<double>(value);
}

// The largest difference.
template <class A, class B>
double distance(const std::vector<A>& a, const std::vector<B>& b) {
  double largest = a.size() == b.size() ? 0 : INFINITY;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const double apart = std::abs(wide(a[i]) - wide(b[i]));
    largest = apart <= largest ? largest : apart;  // NaN stays
  }
  return largest;
}

// A column-major matrix of doubles, for formulas.
struct Dense {
  int64_t rows = 0, columns = 0;
  std::vector<std::complex<double>> values;
  Dense(int64_t m, int64_t n) : rows(m), columns(n), values(static_cast<size_t>(m * n)) {}
  template <class T>
  Dense(int64_t m, int64_t n, const T* from, int64_t ld) : Dense(m, n) {
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < m; ++i) at(i, j) = wide(from[j * ld + i]);
  }
  std::complex<double>& at(int64_t i, int64_t j) { return values[static_cast<size_t>(j * rows + i)]; }
  std::complex<double> at(int64_t i, int64_t j) const { return values[static_cast<size_t>(j * rows + i)]; }

  Dense transposed(bool conjugated = false) const {
    Dense result(columns, rows);
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = 0; i < rows; ++i) result.at(j, i) = conjugated ? std::conj(at(i, j)) : at(i, j);
    return result;
  }
  Dense op(int operation) const { return operation == 0 ? *this : transposed(operation == 2); }
  // One triangle; the other is zero.
  Dense triangle(bool upper, bool unit = false) const {
    Dense result(rows, columns);
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = 0; i < rows; ++i)
        if (upper ? i <= j : i >= j) result.at(i, j) = unit && i == j ? 1.0 : at(i, j);
    return result;
  }
};

inline Dense operator*(const Dense& a, const Dense& b) {
  Dense result(a.rows, b.columns);
  for (int64_t j = 0; j < b.columns; ++j)
    for (int64_t l = 0; l < a.columns; ++l)
      for (int64_t i = 0; i < a.rows; ++i) result.at(i, j) += a.at(i, l) * b.at(l, j);
  return result;
}
inline double distance(const Dense& a, const Dense& b) { return distance(a.values, b.values); }

template <class T>
constexpr double loose = sizeof(T) / (is_complex<T> ? 2 : 1) == 4 ? 2e-4 : 1e-11;

}  // namespace stator::test
