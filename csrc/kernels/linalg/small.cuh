// What the kernels of small matrices share. A block has its matrix in dynamic shared memory, in row-major order.
#pragma once

#include "device/convert.cuh"
#include "device/group.cuh"
#include "device/math/complex_math.cuh"
#include "host/launch.hpp"
#include "params/linalg.hpp"

namespace stator::STATOR_TARGET::linalg {

struct SmallTuning {
  static constexpr int block = 32;                          // threads per matrix: one column per lane
  static constexpr int matrices = by_target<1, 16>::value;  // matrices per block, one after the other
  static constexpr int columns = 32;                        // right-hand sides in memory at once
};

template <class T>
STATOR_FN T conjugate(T x) {
  if constexpr (is_complex<T>)
    return {x.re, -x.im};
  else
    return x;
}
template <class T>
STATOR_FN real_t<T> real_of(T x) {
  if constexpr (is_complex<T>)
    return x.re;
  else
    return x;
}
// re| + |im|, by which LAPACK chooses pivots.
template <class T>
STATOR_FN real_t<T> size_of(T x) {
  if constexpr (is_complex<T>)
    return abs(x.re) + abs(x.im);
  else
    return abs(x);
}
template <class T>
STATOR_FN real_t<T> square_of(T x) {
  if constexpr (is_complex<T>)
    return x.re * x.re + x.im * x.im;
  else
    return x * x;
}
// x * s for a real s.
template <class T>
STATOR_FN T scaled_by(T x, real_t<T> s) {
  if constexpr (is_complex<T>)
    return {x.re * s, x.im * s};
  else
    return x * s;
}

// The distance of rows for which neighbours in a column lie in different banks of shared memory.
STATOR_FN constexpr int row_step(int n) { return fast_host ? n : n | 1; }
inline constexpr int64_t small_bytes(int rows, int cols, int itemsize) {
  return int64_t(rows) * (fast_host ? cols : cols | 1) * itemsize;
}

// Right-hand sides that a block has in memory at once.
STATOR_FN constexpr int shared_columns(int64_t columns) {
  return columns < SmallTuning::columns ? int(columns) : SmallTuning::columns;
}

// f(i, j) for every pair, independent of each other; threads of adjacent rank take adjacent j.
template <class G, class F>
STATOR_FN void for_each_pair(const G& group, int rows, int cols, F f) {
  if constexpr (fast_host) {
    for (int i = 0; i < rows; ++i) group.for_each(cols, [=](int64_t j) { f(i, int(j)); });
  } else {
    group.for_each(int64_t(rows) * cols, [=](int64_t at) {
      const int i = int(at) / cols;
      f(i, int(at) - i * cols);
    });
  }
}

// to[i, j] -= factors[i] * row[j]. On the fast host each row has its own loop with one factor, which the compiler would
// otherwise load in every iteration.
template <class T, class G>
STATOR_FN void subtract_product(const G& group, T* to, int to_step, const T* factors, int factor_step, const T* row,
                                int rows, int cols) {
  if constexpr (fast_host) {
    if (cols == 1) {
      const T single = row[0];
      for (int i = 0; i < rows; ++i) to[i * to_step] = to[i * to_step] - factors[i * factor_step] * single;
      return;
    }
    for (int i = 0; i < rows; ++i) {
      const T factor = factors[i * factor_step];
      T* target = to + i * to_step;
      group.for_each(cols, [=](int64_t j) { target[j] = target[j] - factor * row[j]; });
    }
  } else {
    for_each_pair(group, rows, cols,
                  [=](int i, int j) { to[i * to_step + j] = to[i * to_step + j] - factors[i * factor_step] * row[j]; });
  }
}

template <class T>
STATOR_FN T& element(const params::Matrices& m, int64_t matrix, int64_t i, int64_t j) {
  return static_cast<T*>(m.data)[matrix * m.batch + i * m.row + j * m.col];
}

template <class T, class G>
STATOR_FN void load_matrix(const G& group, const params::Matrices& m, int64_t matrix, int rows, int cols, T* to,
                           int step) {
  const T* base = static_cast<const T*>(m.data) + matrix * m.batch;
  const int64_t row = m.row, col = m.col;
  if (fast_host && col == 1)
    for_each_pair(group, rows, cols, [=](int i, int j) { to[i * step + j] = base[i * row + j]; });
  else
    for_each_pair(group, rows, cols, [=](int i, int j) { to[i * step + j] = base[i * row + j * col]; });
}

template <class T, class G>
STATOR_FN void store_matrix(const G& group, const T* from, int step, int rows, int cols, const params::Matrices& m,
                            int64_t matrix) {
  T* base = static_cast<T*>(m.data) + matrix * m.batch;
  const int64_t row = m.row, col = m.col;
  if (fast_host && col == 1)
    for_each_pair(group, rows, cols, [=](int i, int j) { base[i * row + j] = from[i * step + j]; });
  else
    for_each_pair(group, rows, cols, [=](int i, int j) { base[i * row + j * col] = from[i * step + j]; });
}

// b becomes the solution of T x = b for a triangle T of a, for all columns of b at once. Ends synchronised.
template <class T, class G>
STATOR_FN void substitute(const G& group, const T* a, int step, int n, bool upper, bool unit, T* b, int b_step,
                          int cols) {
  for (int turn = 0; turn < n; ++turn) {
    const int k = upper ? n - 1 - turn : turn;
    T* row = b + k * b_step;
    if (!unit) {
      const T pivot = a[k * step + k];
      group.for_each(cols, [=](int64_t j) { row[j] = row[j] / pivot; });
      group.sync();
    }
    const int first = upper ? 0 : k + 1;
    subtract_product(group, b + first * b_step, b_step, a + first * step + k, step, row, n - 1 - turn, cols);
    group.sync();
  }
}

inline int64_t small_blocks(int64_t count) { return ceil_div(count, SmallTuning::matrices); }

}  // namespace stator::STATOR_TARGET::linalg
