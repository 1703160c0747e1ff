// Products of matrices packed 2:4 along their rows with dense ones: half the multiplications of the dense product. A
// block computes a tile of the result, panel by panel along the depth: the rows of x that the panel may meet, and the
// tile's kept values with their places, are copied close by in the compute type first.
#include "device/lane_vector.cuh"
#include "device/launcher.cuh"
#include "params/sparse.hpp"
#include "kernels/sparse/rows.cuh"

namespace stator::STATOR_TARGET::sparse {
namespace {

struct PackedTuning {
  static constexpr int block = 256;
  static constexpr int rows = by_target<32, 128>::value;  // of the tile,
  static constexpr int wide = by_target<64, 256>::value;  // its columns,
  static constexpr int cols = 64;                         // and those multiplied at once
  static constexpr int depth = by_target<32, 64>::value;  // of a panel
  static constexpr int kept = depth / 2;
};

// Where a tile's matrices begin, and its extents.
template <class T>
struct PackedTile {
  const T *values, *x;
  const uint8_t* positions;
  T* out;
  int rows, cols;

  STATOR_FN PackedTile(const params::PackedProduct& p, int64_t block, int64_t row_tiles, int64_t col_tiles) {
    int64_t batch = block / (row_tiles * col_tiles);
    const int64_t tile = block - batch * row_tiles * col_tiles;
    const int64_t row = tile / col_tiles * PackedTuning::rows, col = tile % col_tiles * PackedTuning::wide;
    rows = int(p.rows - row < PackedTuning::rows ? p.rows - row : PackedTuning::rows);
    cols = int(p.cols - col < PackedTuning::wide ? p.cols - col : PackedTuning::wide);
    int64_t value = row * p.value_row, place = row * p.place_row, in = col * p.x_col;
    int64_t to = row * p.out_row + col * p.out_col;
    for (int d = p.ndim - 1; d >= 0; --d) {
      const int64_t at = batch % p.shape[d];
      batch /= p.shape[d];
      value += at * p.value_strides[d];
      place += at * p.place_strides[d];
      in += at * p.x_strides[d];
      to += at * p.out_strides[d];
    }
    values = static_cast<const T*>(p.values) + value;
    positions = p.positions + place;
    x = static_cast<const T*>(p.x) + in;
    out = static_cast<T*>(p.out) + to;
  }
};

// The place of kept value k of a row within its four.
STATOR_FN int place_of(uint8_t places, int64_t k) { return places >> (k & 1 ? 2 : 0) & 3; }

// Fast host: a panel of the depth in the compute type. Kept value k of row r is at r * row_step + k * kept_step: as the
// packed matrix has them, so that copying vectorises.
template <class A>
struct HostPanel {
  alignas(64) A x[PackedTuning::depth * PackedTuning::cols];
  alignas(64) A sums[PackedTuning::rows * PackedTuning::wide];
  alignas(64) A value[PackedTuning::rows * PackedTuning::kept];
  alignas(64) uint16_t place[PackedTuning::rows * PackedTuning::kept];  // of the row of x, times cols
  int row_step, kept_step;
};

template <class A>
STATOR_FN typename LaneVector<A>::type fma_lanes(A a, typename LaneVector<A>::type x, typename LaneVector<A>::type y) {
  typename LaneVector<A>::type out;
  for (int l = 0; l < LaneVector<A>::count; ++l) out[l] = fma(a, x[l], y[l]);
  return out;
}

// sums of the rows += the panel's products; four vectors of a row stay in registers.
template <class A>
STATOR_CALL void multiply_panel(const HostPanel<A>& panel, int rows, int kept, A* sums) {
  using V = typename LaneVector<A>::type;
  constexpr int lanes = LaneVector<A>::count, at_once = 4 * lanes;
  static_assert(PackedTuning::cols % at_once == 0);
  const int step = panel.kept_step;
  for (int r = 0; r < rows; ++r) {
    const A* const value = panel.value + r * panel.row_step;
    const uint16_t* const place = panel.place + r * panel.row_step;
    for (int c = 0; c < PackedTuning::cols; c += at_once) {
      A* const at = sums + r * PackedTuning::wide + c;
      V s0 = load_lanes(at), s1 = load_lanes(at + lanes), s2 = load_lanes(at + 2 * lanes),
        s3 = load_lanes(at + 3 * lanes);
      const A* const x = panel.x + c;
      for (int k = 0; k < kept; ++k) {
        const A* const row = x + place[k * step];
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

// The kept values of a tile and their places.
template <class T, class A>
STATOR_CALL void copy_kept(const params::PackedProduct& p, const T* values, const uint8_t* positions, int rows, int kept,
                           HostPanel<A>& panel) {
  const bool by_rows = p.value_step == 1 || p.value_row != 1;
  panel.row_step = by_rows ? PackedTuning::kept : 1;
  panel.kept_step = by_rows ? 1 : PackedTuning::rows;
  if (by_rows) {
    for (int r = 0; r < rows; ++r) {
      const T* STATOR_RESTRICT from = values + r * p.value_row;
      const uint8_t* STATOR_RESTRICT places = positions + r * p.place_row;
      A* STATOR_RESTRICT value = panel.value + r * PackedTuning::kept;
      uint16_t* STATOR_RESTRICT place = panel.place + r * PackedTuning::kept;
      const int64_t step = p.value_step, place_step = p.place_step;
      if (step == 1)
        for (int k = 0; k < kept; ++k) value[k] = A(from[k]);
      else
        for (int k = 0; k < kept; ++k) value[k] = A(from[k * step]);
      for (int g = 0; g < kept / 2; ++g) {
        const unsigned both = places[g * place_step];
        place[2 * g] = uint16_t((4 * unsigned(g) + (both & 3)) * PackedTuning::cols);
        place[2 * g + 1] = uint16_t((4 * unsigned(g) + (both >> 2 & 3)) * PackedTuning::cols);
      }
    }
  } else {
    for (int k = 0; k < kept; ++k) {
      const T* STATOR_RESTRICT from = values + k * p.value_step;
      A* STATOR_RESTRICT value = panel.value + k * PackedTuning::rows;
      for (int r = 0; r < rows; ++r) value[r] = A(from[r]);
    }
    for (int g = 0; g < kept / 2; ++g) {
      const uint8_t* STATOR_RESTRICT places = positions + g * p.place_step;
      uint16_t* STATOR_RESTRICT first = panel.place + 2 * g * PackedTuning::rows;
      uint16_t* STATOR_RESTRICT second = first + PackedTuning::rows;
      const int64_t step = p.place_row;
      const unsigned base = 4 * unsigned(g);
      for (int r = 0; r < rows; ++r) {
        const unsigned both = places[r * step];
        first[r] = uint16_t((base + (both & 3)) * PackedTuning::cols);
        second[r] = uint16_t((base + (both >> 2 & 3)) * PackedTuning::cols);
      }
    }
  }
}

// Rows [0, depth) of x from `from` on, zeros beyond what there is.
template <class T, class A>
STATOR_CALL void copy_x(const T* from, int64_t row, int64_t col, int depth, int cols, A* to) {
  constexpr int lanes = LaneVector<A>::count;
  if (col == 1 && cols == PackedTuning::cols) {
    for (int k = 0; k < depth; ++k)
      for (int c = 0; c < PackedTuning::cols; ++c) to[k * PackedTuning::cols + c] = A(from[k * row + c]);
  } else {
    for (int k = 0; k < depth * PackedTuning::cols; ++k) to[k] = A(0);
    int done = 0;
    if constexpr (std::is_same_v<T, A>) {
      if (row == 1) {
        for (; done + lanes <= depth; done += lanes)
          for (int c = 0; c + lanes <= cols; c += lanes) {
            typename LaneVector<A>::type square[lanes];
            for (int l = 0; l < lanes; ++l) square[l] = load_lanes(from + (c + l) * col + done);
            transpose_lanes(square);
            for (int l = 0; l < lanes; ++l) store_lanes(to + (done + l) * PackedTuning::cols + c, square[l]);
          }
        for (int c = cols / lanes * lanes; c < cols; ++c)
          for (int k = 0; k < done; ++k) to[k * PackedTuning::cols + c] = from[k + c * col];
      }
    }
    for (int c = 0; c < cols; ++c)
      for (int k = done; k < depth; ++k) to[k * PackedTuning::cols + c] = A(from[k * row + c * col]);
  }
  for (int k = depth * PackedTuning::cols; k < PackedTuning::depth * PackedTuning::cols; ++k) to[k] = A(0);
}

template <class T>
STATOR_FN void host_tile(const params::PackedProduct& p, const PackedTile<T>& tile) {
  using A = opmath_t<T>;
  HostPanel<A> panel;
  for (int i = 0; i < tile.rows * PackedTuning::wide; ++i) panel.sums[i] = A(0);
  for (int64_t first = 0; first < p.depth; first += PackedTuning::depth) {
    const int depth = int(p.depth - first < PackedTuning::depth ? p.depth - first : PackedTuning::depth);
    const int kept = (depth + 3) / 4 * 2;
    copy_kept<T>(p, tile.values + first / 2 * p.value_step, tile.positions + first / 4 * p.place_step, tile.rows, kept,
                 panel);
    for (int c = 0; c < tile.cols; c += PackedTuning::cols) {
      const int cols = tile.cols - c < PackedTuning::cols ? tile.cols - c : PackedTuning::cols;
      copy_x<T>(tile.x + first * p.x_row + c * p.x_col, p.x_row, p.x_col, depth, cols, panel.x);
      multiply_panel<A>(panel, tile.rows, kept, panel.sums + c);
    }
  }
  const bool by_columns = p.out_row == 1;
  const int outer = by_columns ? tile.cols : tile.rows, inner = by_columns ? tile.rows : tile.cols;
  const int64_t outer_step = by_columns ? p.out_col : p.out_row, step = by_columns ? p.out_row : p.out_col;
  const int from_outer = by_columns ? 1 : PackedTuning::wide, from_step = by_columns ? PackedTuning::wide : 1;
  for (int i = 0; i < outer; ++i)
    for (int j = 0; j < inner; ++j) tile.out[i * outer_step + j * step] = T(panel.sums[i * from_outer + j * from_step]);
}

template <class A>
struct SharedPanel {
  A x[PackedTuning::depth * PackedTuning::cols];
  A value[PackedTuning::rows * PackedTuning::kept];
  uint8_t place[PackedTuning::rows * PackedTuning::kept];
};

template <class T, int Size>
STATOR_KERNEL void packed_product_kernel(params::PackedProduct p, int64_t row_tiles, int64_t col_tiles) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const PackedTile<T> tile(p, group.block(), row_tiles, col_tiles);
  if constexpr (fast_host) {
    host_tile(p, tile);
  } else {
    constexpr int each = PackedTuning::rows * PackedTuning::cols / Size;  // rows of a thread, one target
    static_assert(each * Size == PackedTuning::rows * PackedTuning::cols && Size % PackedTuning::cols == 0);
    SharedPanel<A>& panel = group.template shared<SharedPanel<A>>();
    const int column = group.rank() % PackedTuning::cols, row = group.rank() / PackedTuning::cols * each;
    A sums[each] = {};
    for (int64_t first = 0; first < p.depth; first += PackedTuning::depth) {
      group.for_each(PackedTuning::depth * PackedTuning::cols, [&](int64_t i) {
        const int64_t k = first + i / PackedTuning::cols, c = i % PackedTuning::cols;
        panel.x[i] = k < p.depth && c < tile.cols ? A(tile.x[k * p.x_row + c * p.x_col]) : A(0);
      });
      group.for_each(PackedTuning::rows * PackedTuning::kept, [&](int64_t i) {
        const int64_t r = i / PackedTuning::kept, k = first / 2 + i % PackedTuning::kept, g = k / 2;
        const bool inside = r < tile.rows && g < (p.depth + 3) / 4;
        panel.value[i] = inside ? A(tile.values[r * p.value_row + k * p.value_step]) : A(0);
        const int place = inside ? place_of(tile.positions[r * p.place_row + g * p.place_step], k) : 0;
        panel.place[i] = uint8_t(i % PackedTuning::kept / 2 * 4 + place);
      });
      group.sync();
      for (int k = 0; k < PackedTuning::kept; ++k) {
        STATOR_UNROLL()
        for (int r = 0; r < each; ++r) {
          const int at = (row + r) * PackedTuning::kept + k;
          sums[r] = fma(panel.value[at], panel.x[panel.place[at] * PackedTuning::cols + column], sums[r]);
        }
      }
      group.sync();
    }
    for (int r = 0; r < each; ++r)
      if (row + r < tile.rows && column < tile.cols) tile.out[(row + r) * p.out_row + column * p.out_col] = T(sums[r]);
  }
}

void packed_product(const params::Queue& q, const params::PackedProduct& p) {
  const int64_t row_tiles = ceil_div(p.rows, PackedTuning::rows), col_tiles = ceil_div(p.cols, PackedTuning::wide);
  const auto run = [&]<class T>(type_tag<T>) {
    launch(q, "packed_product", packed_product_kernel<T, PackedTuning::block>,
           {p.batch * row_tiles * col_tiles, PackedTuning::block}, p, row_tiles, col_tiles);
  };
  switch (p.dtype) {
    case DType::float16: return run(type_tag<float16>{});
    case DType::bfloat16: return run(type_tag<bfloat16>{});
    case DType::float32: return run(type_tag<float>{});
    default: return run(type_tag<double>{});
  }
}

}  // namespace

}  // namespace stator::STATOR_TARGET::sparse

STATOR_LAUNCHER(sparse, packed_product)
