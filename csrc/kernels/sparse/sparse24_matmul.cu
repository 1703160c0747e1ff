// Products of matrices compressed to 2:4 along their rows with dense ones: half the multiplications of the dense
// product. A block computes a tile of the result, panel by panel along the depth. It first copies the rows of x that
// the panel may need, and the tile's kept values with their positions, to nearby memory in the compute type.
#include "host/lanes/lane_vector.hpp"
#include "host/launcher.hpp"
#include "kernels/sparse/rows.cuh"
#include "params/sparse.hpp"

namespace stator::STATOR_TARGET::sparse {
namespace {

struct Sparse24Tuning {
  static constexpr int block = 256;
  static constexpr int rows = by_target<32, 128>::value;  // rows of the tile
  static constexpr int wide = by_target<64, 256>::value;  // columns of the tile
  static constexpr int cols = 64;                         // columns that are multiplied at once
  static constexpr int depth = by_target<32, 64>::value;  // depth of a panel
  static constexpr int kept = depth / 2;
};

// Where the matrices of a tile start, and its extents.
template <class T>
struct Sparse24Tile {
  const T *values, *x;
  const uint8_t* positions;
  T* out;
  int rows, cols;

  STATOR_FN Sparse24Tile(const params::Sparse24Matmul& p, int64_t block, int64_t row_tiles, int64_t col_tiles) {
    int64_t batch = block / (row_tiles * col_tiles);
    const int64_t tile = block - batch * row_tiles * col_tiles;
    const int64_t row = tile / col_tiles * Sparse24Tuning::rows, col = tile % col_tiles * Sparse24Tuning::wide;
    rows = int(p.rows - row < Sparse24Tuning::rows ? p.rows - row : Sparse24Tuning::rows);
    cols = int(p.cols - col < Sparse24Tuning::wide ? p.cols - col : Sparse24Tuning::wide);
    int64_t value = row * p.value_row, position = row * p.position_row, in = col * p.x_col;
    int64_t to = row * p.out_row + col * p.out_col;
    for (int d = p.ndim - 1; d >= 0; --d) {
      const int64_t at = batch % p.shape[d];
      batch /= p.shape[d];
      value += at * p.value_strides[d];
      position += at * p.position_strides[d];
      in += at * p.x_strides[d];
      to += at * p.out_strides[d];
    }
    values = static_cast<const T*>(p.values) + value;
    positions = p.positions + position;
    x = static_cast<const T*>(p.x) + in;
    out = static_cast<T*>(p.out) + to;
  }
};

// The position of kept value k of a row within its group of four.
STATOR_FN int position_of(uint8_t packed, int64_t k) { return packed >> (k & 1 ? 2 : 0) & 3; }

// Fast host: a panel in the compute type. Kept value k of row r is at r * row_step + k * kept_step, in the order of the
// packed matrix, so that copying vectorises.
template <class A>
struct HostPanel {
  alignas(64) A x[Sparse24Tuning::depth * Sparse24Tuning::cols];
  alignas(64) A sums[Sparse24Tuning::rows * Sparse24Tuning::wide];
  alignas(64) A value[Sparse24Tuning::rows * Sparse24Tuning::kept];
  alignas(64) uint16_t x_offset[Sparse24Tuning::rows * Sparse24Tuning::kept];  // row of x, times cols
  int row_step, kept_step;
};

template <class A>
STATOR_FN typename LaneVector<A>::type fma_lanes(A a, typename LaneVector<A>::type x, typename LaneVector<A>::type y) {
  typename LaneVector<A>::type out;
  for (int l = 0; l < LaneVector<A>::count; ++l) out[l] = fma(a, x[l], y[l]);
  return out;
}

// sums of the rows += the products of the panel. Four vectors of a row stay in registers.
template <class A>
STATOR_CALL void multiply_panel(const HostPanel<A>& panel, int rows, int kept, A* sums) {
  using V = typename LaneVector<A>::type;
  constexpr int lanes = LaneVector<A>::count, at_once = 4 * lanes;
  static_assert(Sparse24Tuning::cols % at_once == 0);
  const int step = panel.kept_step;
  for (int r = 0; r < rows; ++r) {
    const A* const value = panel.value + r * panel.row_step;
    const uint16_t* const x_offset = panel.x_offset + r * panel.row_step;
    for (int c = 0; c < Sparse24Tuning::cols; c += at_once) {
      A* const at = sums + r * Sparse24Tuning::wide + c;
      V s0 = load_lanes(at), s1 = load_lanes(at + lanes), s2 = load_lanes(at + 2 * lanes),
        s3 = load_lanes(at + 3 * lanes);
      const A* const x = panel.x + c;
      for (int k = 0; k < kept; ++k) {
        const A* const row = x + x_offset[k * step];
        const A v = value[k * step];
        s0 = fma_lanes(v, load_lanes(row), s0);
        s1 = fma_lanes(v, load_lanes(row + lanes), s1);
        s2 = fma_lanes(v, load_lanes(row + 2 * lanes), s2);
        s3 = fma_lanes(v, load_lanes(row + 3 * lanes), s3);
      }
      store_lanes(at, s0);
      store_lanes(at + lanes, s1);
      store_lanes(at + 2 * lanes, s2);
      store_lanes(at + 3 * lanes, s3);
    }
  }
}

// Copies the kept values of a tile and their positions.
template <class T, class A>
STATOR_CALL void copy_kept(const params::Sparse24Matmul& p, const T* values, const uint8_t* positions, int rows,
                           int kept, HostPanel<A>& panel) {
  const bool by_rows = p.value_step == 1 || p.value_row != 1;
  panel.row_step = by_rows ? Sparse24Tuning::kept : 1;
  panel.kept_step = by_rows ? 1 : Sparse24Tuning::rows;
  // Values in row-major order.
  if (by_rows) {
    for (int r = 0; r < rows; ++r) {
      const T* STATOR_RESTRICT from = values + r * p.value_row;
      const uint8_t* STATOR_RESTRICT packed = positions + r * p.position_row;
      A* STATOR_RESTRICT value = panel.value + r * Sparse24Tuning::kept;
      uint16_t* STATOR_RESTRICT x_offset = panel.x_offset + r * Sparse24Tuning::kept;
      const int64_t step = p.value_step, position_step = p.position_step;
      if (step == 1)
        for (int k = 0; k < kept; ++k) value[k] = A(from[k]);
      else
        for (int k = 0; k < kept; ++k) value[k] = A(from[k * step]);
      for (int g = 0; g < kept / 2; ++g) {
        const unsigned both = packed[g * position_step];
        x_offset[2 * g] = uint16_t((4 * unsigned(g) + (both & 3)) * Sparse24Tuning::cols);
        x_offset[2 * g + 1] = uint16_t((4 * unsigned(g) + (both >> 2 & 3)) * Sparse24Tuning::cols);
      }
    }
  } else {
    // Values in column-major order.
    for (int k = 0; k < kept; ++k) {
      const T* STATOR_RESTRICT from = values + k * p.value_step;
      A* STATOR_RESTRICT value = panel.value + k * Sparse24Tuning::rows;
      for (int r = 0; r < rows; ++r) value[r] = A(from[r]);
    }
    for (int g = 0; g < kept / 2; ++g) {
      const uint8_t* STATOR_RESTRICT packed = positions + g * p.position_step;
      uint16_t* STATOR_RESTRICT first = panel.x_offset + 2 * g * Sparse24Tuning::rows;
      uint16_t* STATOR_RESTRICT second = first + Sparse24Tuning::rows;
      const int64_t step = p.position_row;
      const unsigned base = 4 * unsigned(g);
      for (int r = 0; r < rows; ++r) {
        const unsigned both = packed[r * step];
        first[r] = uint16_t((base + (both & 3)) * Sparse24Tuning::cols);
        second[r] = uint16_t((base + (both >> 2 & 3)) * Sparse24Tuning::cols);
      }
    }
  }
}

// Copies rows [0, depth) of x from `from` on, with zeros beyond its extents.
template <class T, class A>
STATOR_CALL void copy_x(const T* from, int64_t row, int64_t col, int depth, int cols, A* to) {
  constexpr int lanes = LaneVector<A>::count;
  if (col == 1 && cols == Sparse24Tuning::cols) {
    for (int k = 0; k < depth; ++k)
      for (int c = 0; c < Sparse24Tuning::cols; ++c) to[k * Sparse24Tuning::cols + c] = A(from[k * row + c]);
  } else {
    for (int k = 0; k < depth * Sparse24Tuning::cols; ++k) to[k] = A(0);
    int done = 0;
    if constexpr (std::is_same_v<T, A>) {
      if (row == 1) {
        for (; done + lanes <= depth; done += lanes)
          for (int c = 0; c + lanes <= cols; c += lanes) {
            typename LaneVector<A>::type square[lanes];
            for (int l = 0; l < lanes; ++l) square[l] = load_lanes(from + (c + l) * col + done);
            transpose_lanes(square);
            for (int l = 0; l < lanes; ++l) store_lanes(to + (done + l) * Sparse24Tuning::cols + c, square[l]);
          }
        for (int c = cols / lanes * lanes; c < cols; ++c)
          for (int k = 0; k < done; ++k) to[k * Sparse24Tuning::cols + c] = from[k + c * col];
      }
    }
    for (int c = 0; c < cols; ++c)
      for (int k = done; k < depth; ++k) to[k * Sparse24Tuning::cols + c] = A(from[k * row + c * col]);
  }
  for (int k = depth * Sparse24Tuning::cols; k < Sparse24Tuning::depth * Sparse24Tuning::cols; ++k) to[k] = A(0);
}

template <class T>
STATOR_FN void host_tile(const params::Sparse24Matmul& p, const Sparse24Tile<T>& tile) {
  using A = opmath_t<T>;
  HostPanel<A> panel;
  for (int i = 0; i < tile.rows * Sparse24Tuning::wide; ++i) panel.sums[i] = A(0);
  for (int64_t first = 0; first < p.depth; first += Sparse24Tuning::depth) {
    const int depth = int(p.depth - first < Sparse24Tuning::depth ? p.depth - first : Sparse24Tuning::depth);
    const int kept = (depth + 3) / 4 * 2;
    copy_kept<T>(p, tile.values + first / 2 * p.value_step, tile.positions + first / 4 * p.position_step, tile.rows,
                 kept, panel);
    for (int c = 0; c < tile.cols; c += Sparse24Tuning::cols) {
      const int cols = tile.cols - c < Sparse24Tuning::cols ? tile.cols - c : Sparse24Tuning::cols;
      copy_x<T>(tile.x + first * p.x_row + c * p.x_col, p.x_row, p.x_col, depth, cols, panel.x);
      multiply_panel<A>(panel, tile.rows, kept, panel.sums + c);
    }
  }
  const bool by_columns = p.out_row == 1;
  const int outer = by_columns ? tile.cols : tile.rows, inner = by_columns ? tile.rows : tile.cols;
  const int64_t outer_step = by_columns ? p.out_col : p.out_row, step = by_columns ? p.out_row : p.out_col;
  const int from_outer = by_columns ? 1 : Sparse24Tuning::wide, from_step = by_columns ? Sparse24Tuning::wide : 1;
  for (int i = 0; i < outer; ++i)
    for (int j = 0; j < inner; ++j) tile.out[i * outer_step + j * step] = T(panel.sums[i * from_outer + j * from_step]);
}

template <class A>
struct SharedPanel {
  A x[Sparse24Tuning::depth * Sparse24Tuning::cols];
  A value[Sparse24Tuning::rows * Sparse24Tuning::kept];
  uint8_t x_row[Sparse24Tuning::rows * Sparse24Tuning::kept];
};

template <class T, int Size>
STATOR_KERNEL(Size) void sparse24_matmul_kernel(params::Sparse24Matmul p, int64_t row_tiles, int64_t col_tiles) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const Sparse24Tile<T> tile(p, group.block(), row_tiles, col_tiles);
  if constexpr (fast_host) {
    host_tile(p, tile);
  } else {
    constexpr int each = Sparse24Tuning::rows * Sparse24Tuning::cols / Size;  // rows per thread, of one column
    static_assert(each * Size == Sparse24Tuning::rows * Sparse24Tuning::cols && Size % Sparse24Tuning::cols == 0);
    SharedPanel<A>& panel = group.template shared<SharedPanel<A>>();
    const int column = group.rank() % Sparse24Tuning::cols, row = group.rank() / Sparse24Tuning::cols * each;
    A sums[each] = {};
    for (int64_t first = 0; first < p.depth; first += Sparse24Tuning::depth) {
      // Load the panel.
      group.for_each(Sparse24Tuning::depth * Sparse24Tuning::cols, [&](int64_t i) {
        const int64_t k = first + i / Sparse24Tuning::cols, c = i % Sparse24Tuning::cols;
        panel.x[i] = k < p.depth && c < tile.cols ? A(tile.x[k * p.x_row + c * p.x_col]) : A(0);
      });
      group.for_each(Sparse24Tuning::rows * Sparse24Tuning::kept, [&](int64_t i) {
        const int64_t r = i / Sparse24Tuning::kept, k = first / 2 + i % Sparse24Tuning::kept, g = k / 2;
        const bool inside = r < tile.rows && g < (p.depth + 3) / 4;
        panel.value[i] = inside ? A(tile.values[r * p.value_row + k * p.value_step]) : A(0);
        const int position = inside ? position_of(tile.positions[r * p.position_row + g * p.position_step], k) : 0;
        panel.x_row[i] = uint8_t(i % Sparse24Tuning::kept / 2 * 4 + position);
      });
      group.sync();
      // Multiply.
      for (int k = 0; k < Sparse24Tuning::kept; ++k) {
        STATOR_UNROLL()
        for (int r = 0; r < each; ++r) {
          const int at = (row + r) * Sparse24Tuning::kept + k;
          sums[r] = fma(panel.value[at], panel.x[panel.x_row[at] * Sparse24Tuning::cols + column], sums[r]);
        }
      }
      group.sync();
    }
    for (int r = 0; r < each; ++r)
      if (row + r < tile.rows && column < tile.cols) tile.out[(row + r) * p.out_row + column * p.out_col] = T(sums[r]);
  }
}

void sparse24_matmul(const params::Queue& q, const params::Sparse24Matmul& p) {
  const int64_t row_tiles = ceil_div(p.rows, Sparse24Tuning::rows), col_tiles = ceil_div(p.cols, Sparse24Tuning::wide);
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "sparse24_matmul", sparse24_matmul_kernel<T, Sparse24Tuning::block>,
           {p.batch * row_tiles * col_tiles, Sparse24Tuning::block}, p, row_tiles, col_tiles);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::sparse

STATOR_LAUNCHER(sparse, sparse24_matmul)
