// Products of integers: exact, wrapping around, for any strides. The fast host multiplies packed panels (Goto and van
// de Geijn, ACM TOMS 34, 2008), with operands of one byte as float32, whose fused sums of 128 products are exact. Where
// blocks have threads, they have tiles in shared memory.
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/matmul/integer_product.cuh"
#include "params/matmul.hpp"

#include <type_traits>

namespace stator::STATOR_TARGET::matmul {

// to[i * leading + j] = from[i * row + j * col] for i < rows and j < cols, and zero up to padded_rows and padded_cols.
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
  for (int64_t j = 0; j < cols; ++j)  // reads along the dense dimension
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

  // sums[step rows][Vectors * lanes] = a b, or += a b unless `first`. The accumulators stay in registers.
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
        const V x = all_lanes<V>(a[r * depth + i]);
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

  // A narrow tile has panels of one vector, others of `wide` vectors.
  STATOR_FN void tile(const params::StridedProduct& p, const MatrixOf& m, int64_t row, int64_t col, int64_t height,
                      int64_t width) {
    const bool narrow = width <= lanes;
    const int64_t panel = narrow ? lanes : wide * lanes;
    const int64_t padded = (height + step - 1) / step * step, panels = (width + panel - 1) / panel;
    for (int64_t k = 0; k < p.k; k += depth) {
      const int64_t deep = p.k - k < depth ? p.k - k : depth;
      // Pack a panel of each operand.
      with_operand<T>(p.operands, [&](auto type) {
        using W = decltype(type);
        pack(reinterpret_cast<const W*>(m.a) + row * p.a.row + k * p.a.col, p.a.row, p.a.col, height, deep, a, depth,
             padded, deep);
        const W* from = reinterpret_cast<const W*>(m.b) + k * p.b.row + col * p.b.col;
        for (int64_t j = 0; j < panels; ++j)
          pack(from + j * panel * p.b.col, p.b.row, p.b.col, deep,
               width - j * panel < panel ? width - j * panel : panel, b + j * panel * depth, panel, deep, panel);
      });
      // Multiply the panels.
      const auto product = narrow ? multiply<1> : multiply<wide>;
      for (int64_t j = 0; j < panels; ++j)
        for (int64_t i = 0; i < padded; i += step)
          product(a + i * depth, b + j * panel * depth, deep, sums + i * cols + j * panel, k == 0);
    }
    // Store the sums.
    for (int64_t i = 0; i < height; ++i)
      store_sums(m.out + ((row + i) * p.out.row + col * p.out.col) * itemsize(p.result), p.result, p.out.col,
                 sums + i * cols, width);
  }
};

// A whole product that is too small to be packed.
template <class W, class A>
STATOR_CALL void unpacked_product(const params::StridedProduct& p, const MatrixOf& m) {
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

// Bytes of dynamic memory for packed_tile.
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
    return with_operand<T>(p.operands, [&](auto type) { unpacked_product<decltype(type), sum_of<T>>(p, m); });
  using P = Panels<T>;
  P& panels = *reinterpret_cast<P*>(memory);
  const int64_t height = p.m - row < P::rows ? p.m - row : P::rows, width = p.n - col < P::cols ? p.n - col : P::cols;
  panels.tile(p, m, row, col, height, width);
}

namespace {

// For a result of one row or one column: every element is an inner product.
template <int Size, class T>
STATOR_KERNEL(Size) void integer_dot_kernel(params::StridedProduct p, int64_t batches) {
  using A = sum_of<T>;
  const Group<Size> group;
  const int64_t each = p.m * p.n, all = batches * each;
  for (int64_t first = group.block() * IntegerTuning::dots; first < all;
       first += group.blocks() * IntegerTuning::dots) {
    const int64_t last = first + IntegerTuning::dots < all ? first + IntegerTuning::dots : all;
    for (int64_t i = first; i < last; ++i) {
      const MatrixOf m = matrix_of(p, i / each);
      const int64_t row = i % each / p.n, col = i % p.n;
      A sum = 0;
      with_operand<T>(p.operands, [&](auto type) {
        using W = decltype(type);
        const W* a = reinterpret_cast<const W*>(m.a) + row * p.a.row;
        const W* b = reinterpret_cast<const W*>(m.b) + col * p.b.col;
        const int64_t a_step = p.a.col, b_step = p.b.row;
        if (a_step == 1 && b_step == 1)
          sum = group.template map_reduce<A>(p.k, Sum{}, [=](int64_t k) { return A(A(a[k]) * A(b[k])); });
        else
          sum = group.template map_reduce<A>(p.k, Sum{},
                                             [=](int64_t k) { return A(A(a[k * a_step]) * A(b[k * b_step])); });
      });
      if (group.rank() == 0) store_sum(m.out + (row * p.out.row + col * p.out.col) * itemsize(p.result), p.result, sum);
    }
  }
}

template <class A>
struct IntegerTiles {
  A a[IntegerTuning::depth][IntegerTuning::tile + 1], b[IntegerTuning::depth][IntegerTuning::tile];
};

// A tile of the result, from tiles of the operands in shared memory. Each thread has `each` x `each` sums, in steps of
// 16.
template <int Size, class A>
STATOR_FN void shared_tile(const Group<Size>& group, const params::StridedProduct& p, const MatrixOf& m, int64_t row,
                           int64_t col) {
  constexpr int tile = IntegerTuning::tile, depth = IntegerTuning::depth, each = IntegerTuning::each;
  constexpr int side = tile / each;
  static_assert(Size == side * side);
  IntegerTiles<A>& t = group.template shared<IntegerTiles<A>>();
  const int x = group.rank() % side, y = group.rank() / side;
  A sums[each][each] = {};
  for (int64_t k = 0; k < p.k; k += depth) {
    // Load a tile of each operand.
    with_operand<A>(p.operands, [&](auto type) {
      using W = decltype(type);
      const W* a = reinterpret_cast<const W*>(m.a);
      const W* b = reinterpret_cast<const W*>(m.b);
      group.for_each(tile * depth, [&](int64_t i) {
        const int64_t d = i % depth, r = i / depth;
        const bool inside = row + r < p.m && k + d < p.k;
        t.a[d][r] = inside ? A(a[(row + r) * p.a.row + (k + d) * p.a.col]) : A(0);
      });
      group.for_each(tile * depth, [&](int64_t i) {
        const int64_t d = i / tile, c = i % tile;
        const bool inside = col + c < p.n && k + d < p.k;
        t.b[d][c] = inside ? A(b[(k + d) * p.b.row + (col + c) * p.b.col]) : A(0);
      });
    });
    group.sync();
    // Multiply.
    STATOR_UNROLL()
    for (int d = 0; d < depth; ++d) {
      STATOR_UNROLL()
      for (int r = 0; r < each; ++r) {
        const A left = t.a[d][y + r * side];
        STATOR_UNROLL()
        for (int c = 0; c < each; ++c) sums[r][c] += left * t.b[d][x + c * side];
      }
    }
    group.sync();
  }
  // Store.
  STATOR_UNROLL()
  for (int r = 0; r < each; ++r) STATOR_UNROLL()
  for (int c = 0; c < each; ++c) {
    const int64_t i = row + y + r * side, j = col + x + c * side;
    if (i < p.m && j < p.n)
      store_sum(m.out + (i * p.out.row + j * p.out.col) * itemsize(p.result), p.result, sums[r][c]);
  }
}

template <int Size, class T>
STATOR_KERNEL(Size) void integer_product_kernel(params::StridedProduct p, int64_t row_tiles, int64_t col_tiles,
                                                int64_t tiles, int64_t each) {
  constexpr int rows = by_target<IntegerTuning::tile, IntegerTuning::rows>::value;
  constexpr int cols = by_target<IntegerTuning::tile, IntegerTuning::cols>::value;
  const Group<Size> group;
  const int64_t first = group.block() * each, last = first + each < tiles ? first + each : tiles;
  for (int64_t i = first; i < last; ++i) {
    const int64_t tile = i % (row_tiles * col_tiles);
    const MatrixOf m = matrix_of(p, i / (row_tiles * col_tiles));
    const int64_t row = tile / col_tiles * rows, col = tile % col_tiles * cols;
    if constexpr (fast_host) {
      packed_tile<T>(group.template dynamic<unsigned char>(0), p, m, row, col);
    } else {
      shared_tile<Size, T>(group, p, m, row, col);
    }
  }
}

template <class T>
void start_integer(const params::Queue& q, const params::StridedProduct& p, int64_t batches) {
  constexpr int block = IntegerTuning::block;
  constexpr int64_t most = 1 << 30;
  if (p.m == 1 || p.n == 1) {
    const bool along = p.a.col == 1 && p.b.row == 1;
    if (along || !fast_host) {
      const int64_t blocks = ceil_div(batches * p.m * p.n, IntegerTuning::dots);
      return launch(q, "integer_dot", integer_dot_kernel<block, T>, {blocks < most ? blocks : most, block}, p, batches);
    }
  }
  const int64_t row_tiles = ceil_div(p.m, by_target<IntegerTuning::tile, IntegerTuning::rows>::value);
  const int64_t col_tiles = ceil_div(p.n, by_target<IntegerTuning::tile, IntegerTuning::cols>::value);
  const int64_t tiles = batches * row_tiles * col_tiles;
  const int64_t each = std::max({int64_t(1), IntegerTuning::least_work / (p.m * p.n * p.k + 1), ceil_div(tiles, most)});
  launch(q, "integer_product", integer_product_kernel<block, T>, {ceil_div(tiles, each), block, packed_bytes<T>()}, p,
         row_tiles, col_tiles, tiles, each);
}

void integer_product(const params::Queue& q, const params::StridedProduct& given) {
  params::StridedProduct p = given;
  // One column is one row of the transposed product, in which vectors run along the rows of the former left operand.
  if (fast_host && p.n == 1 && p.m > 1 && !(p.a.col == 1 && p.b.row == 1)) {
    const auto transposed = [](params::Matrices x) { return params::Matrices{x.data, x.batch, x.col, x.row}; };
    p.m = 1;
    p.n = given.m;
    p.a = transposed(given.b);
    p.b = transposed(given.a);
    p.out = transposed(given.out);
    std::swap(p.a_batch, p.b_batch);
  }
  const int64_t batches = batches_of(p);
  if (itemsize(p.result) == 8) return start_integer<uint64_t>(q, p, batches);
  if constexpr (fast_host) {
    if (itemsize(p.operands) == 1) return start_integer<float>(q, p, batches);
  }
  start_integer<uint32_t>(q, p, batches);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::matmul

STATOR_LAUNCHER(matmul, integer_product)
