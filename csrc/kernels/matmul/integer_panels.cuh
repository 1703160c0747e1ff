// Integer products on the fast host: packed panels multiplied with vectors of accumulators that stay in registers (Goto
// and van de Geijn, ACM TOMS 34, 2008).
#pragma once

#include "kernels/matmul/integer_product.cuh"

namespace stator::STATOR_TARGET::matmul {

// to[i * leading + j] = from[i * row + j * col] for i < rows, j < cols, and zero up to padded_rows and padded_cols.
template <class W, class T>
STATOR_CALL void pack(const W* from, int64_t row, int64_t col, int64_t rows, int64_t cols, T* to, int64_t leading,
                      int64_t padded_rows, int64_t padded_cols) {
  for (int64_t i = 0; i < padded_rows; ++i) {
    T* STATOR_RESTRICT target = to + i * leading;
    if (i >= rows || cols < padded_cols) std::memset(target, 0, size_t(padded_cols) * sizeof(T));
    if (i >= rows) continue;
    const W* STATOR_RESTRICT source = from + i * row;
    if (col == 1) {
      for (int64_t j = 0; j < cols; ++j) target[j] = T(source[j]);
    } else if (row != 1) {
      for (int64_t j = 0; j < cols; ++j) target[j] = T(source[j * col]);
    }
  }
  if (col == 1 || row != 1) return;
  for (int64_t j = 0; j < cols; ++j)  // read along what is dense
    for (int64_t i = 0; i < rows; ++i) to[i * leading + j] = T(from[i + j * col]);
}

template <class T>
struct Panels {
  using A = sum_of<T>;
  using V = typename LaneVector<T>::type;
  static constexpr int lanes = LaneVector<T>::count, wide = sizeof(V) == 64 ? 4 : 2;
  static constexpr int rows = IntegerTuning::rows, cols = IntegerTuning::cols, depth = IntegerTuning::panel_depth;
  static constexpr int step = IntegerTuning::micro_rows;
  T a[rows * depth];  // [row][k]
  T b[cols * depth];  // [panel][k][columns of a panel]
  A sums[rows * cols];

  // sums[step rows][Vectors * lanes] (+)= a b.
  template <int Vectors>
  STATOR_CALL static void multiply(const T* a, const T* b, int64_t k, A* sums, bool first) {
    V c[step][Vectors];
    STATOR_UNROLL_LANES
    for (int r = 0; r < step; ++r) {
      STATOR_UNROLL_LANES
      for (int v = 0; v < Vectors; ++v) c[r][v] = V{};
    }
    for (int64_t i = 0; i < k; ++i) {
      V row[Vectors];
      STATOR_UNROLL_LANES
      for (int v = 0; v < Vectors; ++v) row[v] = load_lanes(b + (i * Vectors + v) * lanes);
      STATOR_UNROLL_LANES
      for (int r = 0; r < step; ++r) {
        const V x = V{} + a[r * depth + i];
        STATOR_UNROLL_LANES
        for (int v = 0; v < Vectors; ++v) c[r][v] = multiply_add_lanes<T>(x, row[v], c[r][v]);
      }
    }
    using S = typename LaneVector<A>::type;
    STATOR_UNROLL_LANES
    for (int r = 0; r < step; ++r) {
      STATOR_UNROLL_LANES
      for (int v = 0; v < Vectors; ++v) {
        A* to = sums + r * cols + v * lanes;
        S sum;
        if constexpr (std::is_same_v<T, float>) {
          sum = integer_lanes(c[r][v]);
        } else {
          sum = c[r][v];
        }
        store_lanes(to, first ? sum : load_lanes(to) + sum);
      }
    }
  }

  // A narrow tile has panels of one vector, not of all.
  STATOR_FN void tile(const params::StridedProduct& p, const MatrixOf& m, int64_t row, int64_t col, int64_t height,
                      int64_t width) {
    const bool narrow = width <= lanes;
    const int64_t panel = narrow ? lanes : wide * lanes;
    const int64_t padded = (height + step - 1) / step * step, panels = (width + panel - 1) / panel;
    for (int64_t k = 0; k < p.k; k += depth) {
      const int64_t deep = p.k - k < depth ? p.k - k : depth;
      with_operand<T>(p.operands, [&](auto word) {
        using W = decltype(word);
        pack(reinterpret_cast<const W*>(m.a) + row * p.a.row + k * p.a.col, p.a.row, p.a.col, height, deep, a, depth,
             padded, deep);
        const W* from = reinterpret_cast<const W*>(m.b) + k * p.b.row + col * p.b.col;
        for (int64_t j = 0; j < panels; ++j)
          pack(from + j * panel * p.b.col, p.b.row, p.b.col, deep,
               width - j * panel < panel ? width - j * panel : panel, b + j * panel * depth, panel, deep, panel);
      });
      const auto product = narrow ? multiply<1> : multiply<wide>;
      for (int64_t j = 0; j < panels; ++j)
        for (int64_t i = 0; i < padded; i += step)
          product(a + i * depth, b + j * panel * depth, deep, sums + i * cols + j * panel, k == 0);
    }
    for (int64_t i = 0; i < height; ++i)
      store_sums(m.out + ((row + i) * p.out.row + col * p.out.col) * itemsize(p.result), p.result, p.out.col,
                 sums + i * cols, width);
  }
};

// A whole product too small to be packed.
template <class W, class A>
STATOR_CALL void small_product(const params::StridedProduct& p, const MatrixOf& m) {
  const W* a = reinterpret_cast<const W*>(m.a);
  const W* b = reinterpret_cast<const W*>(m.b);
  for (int64_t i = 0; i < p.m; ++i) {
    A sums[IntegerTuning::small_cols] = {};
    for (int64_t k = 0; k < p.k; ++k) {
      const A x = A(a[i * p.a.row + k * p.a.col]);
      const W* row = b + k * p.b.row;
      for (int64_t j = 0; j < p.n; ++j) sums[j] += x * A(row[j * p.b.col]);
    }
    store_sums(m.out + i * p.out.row * itemsize(p.result), p.result, p.out.col, sums, p.n);
  }
}

// Of dynamic memory, for packed_tile.
template <class T>
constexpr int packed_bytes() {
  if constexpr (fast_host)
    return int(sizeof(Panels<T>));
  else
    return 0;
}

// The tile of the result that begins at (row, col).
template <class T>
STATOR_FN void packed_tile(unsigned char* memory, const params::StridedProduct& p, const MatrixOf& m, int64_t row,
                           int64_t col) {
  if (p.n <= IntegerTuning::small_cols && p.m * p.n * p.k <= IntegerTuning::small_work)
    return with_operand<T>(p.operands, [&](auto word) { small_product<decltype(word), sum_of<T>>(p, m); });
  using P = Panels<T>;
  P& panels = *reinterpret_cast<P*>(memory);
  const int64_t height = p.m - row < P::rows ? p.m - row : P::rows, width = p.n - col < P::cols ? p.n - col : P::cols;
  panels.tile(p, m, row, col, height, width);
}

}  // namespace stator::STATOR_TARGET::matmul
