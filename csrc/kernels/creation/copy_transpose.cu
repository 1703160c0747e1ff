// Transposing copies: the input is dense along one axis (rows here), the output along another (cols). A block moves a
// tile, reading and writing dense runs of it, and transposes it in shared memory (on the fast host, in the L1 cache).
#include "device/group.cuh"
#include "kernels/creation/copy.cuh"
#include "kernels/elementwise/layout.cuh"
#include "kernels/elementwise/types.cuh"

namespace stator::STATOR_TARGET::creation {

using elementwise::Layout;
using elementwise::make_layout;
using elementwise::visit_item;

namespace {

template <class T>
struct TransposeTuning {
  static constexpr int block = 256;
  static constexpr int tile = sizeof(T) <= 4 ? 64 : 32;
  static constexpr int pad = sizeof(T) < 4 ? 4 / int(sizeof(T)) : 1;  // a column of the tile has each bank once
};
constexpr int64_t smallest_extent = 8;  // a shorter axis wastes most of a tile

template <class T>
struct Transpose {
  const T* in;
  T* out;
  int64_t rows, cols;  // of the output
  int64_t in_col_stride, out_row_stride;
  int64_t row_tiles, col_tiles;
  Layout<2> batch;  // the other axes
};

template <class T>
struct TransposeTile {
  static constexpr int size = TransposeTuning<T>::tile;
  T value[size][size + TransposeTuning<T>::pad];  // [col][row]
};

// Fast host. For a whole tile the extents are constants, and the compiler unrolls and vectorises the loops.
template <class T, int Size>
STATOR_FN void transpose_in_cache(const Group<Size>& group, const T* in, T* out, TransposeTile<T>& t,
                                  const Transpose<T>& p, int rows, int cols) {
  for (int c = 0; c < cols; ++c)
    group.for_each(rows, [&, c](int64_t r) { t.value[c][r] = in[c * p.in_col_stride + r]; });
  for (int r = 0; r < rows; ++r)
    group.for_each(cols, [&, r](int64_t c) { out[r * p.out_row_stride + c] = t.value[c][r]; });
}

template <class T, int Size>
STATOR_KERNEL(Size) void transpose_kernel(Transpose<T> p) {
  constexpr int tile = TransposeTile<T>::size;
  const Group<Size> group;
  const int64_t in_batch = group.block() % (p.row_tiles * p.col_tiles);
  const int64_t batch[1] = {group.block() / (p.row_tiles * p.col_tiles)};
  Items<int64_t, 1> offset[2];
  p.batch.offsets(batch, offset);
  const int64_t row = in_batch / p.col_tiles * tile, col = in_batch % p.col_tiles * tile;
  const int rows = p.rows - row < tile ? int(p.rows - row) : tile;
  const int cols = p.cols - col < tile ? int(p.cols - col) : tile;
  const T* in = p.in + offset[1][0] + col * p.in_col_stride + row;
  T* out = p.out + offset[0][0] + row * p.out_row_stride + col;
  TransposeTile<T>& t = group.template shared<TransposeTile<T>>();

  if constexpr (fast_host) {
    if (rows == tile && cols == tile)
      transpose_in_cache(group, in, out, t, p, tile, tile);
    else
      transpose_in_cache(group, in, out, t, p, rows, cols);
  } else {
    // Read all items before writing any to shared memory, so that the loads overlap.
    constexpr int items = tile * tile / Size;
    T value[items];
    STATOR_UNROLL()
    for (int u = 0; u < items; ++u) {
      const int i = u * Size + group.rank(), c = i / tile, r = i % tile;
      if (c < cols && r < rows) value[u] = in[c * p.in_col_stride + r];
    }
    STATOR_UNROLL()
    for (int u = 0; u < items; ++u) {
      const int i = u * Size + group.rank(), c = i / tile, r = i % tile;
      if (c < cols && r < rows) t.value[c][r] = value[u];
    }
    group.sync();
    // Write the transposed tile.
    STATOR_UNROLL()
    for (int u = 0; u < items; ++u) {
      const int i = u * Size + group.rank(), r = i / tile, c = i % tile;
      if (c < cols && r < rows) out[r * p.out_row_stride + c] = t.value[c][r];
    }
  }
}

template <class T>
bool launch_tiles(const params::Queue& q, const params::Elementwise& e, int row_axis) {
  using Tuning = TransposeTuning<T>;
  const int col_axis = e.ndim - 1;
  params::Elementwise rest{};
  rest.size = 1;
  for (int d = 0; d < col_axis; ++d) {
    if (d == row_axis) continue;
    rest.shape[rest.ndim] = e.shape[d];
    rest.out.strides[rest.ndim] = e.out.strides[d];
    rest.in[0].strides[rest.ndim++] = e.in[0].strides[d];
    rest.size *= e.shape[d];
  }
  Transpose<T> p;
  p.in = static_cast<const T*>(e.in[0].data);
  p.out = static_cast<T*>(e.out.data);
  p.rows = e.shape[row_axis];
  p.cols = e.shape[col_axis];
  p.in_col_stride = e.in[0].strides[col_axis];
  p.out_row_stride = e.out.strides[row_axis];
  p.row_tiles = ceil_div(p.rows, Tuning::tile);
  p.col_tiles = ceil_div(p.cols, Tuning::tile);
  p.batch = make_layout<2>(rest);
  const int64_t blocks = rest.size * p.row_tiles * p.col_tiles;
  if (blocks >= int64_t(1) << 31) return false;
  launch(q, "transpose", transpose_kernel<T, Tuning::block>, {blocks, Tuning::block}, p);
  return true;
}

}  // namespace

bool launch_transpose(const params::Queue& q, const params::Elementwise& e) {
  if (e.ndim < 2 || e.in[0].immediate) return false;
  const int last = e.ndim - 1;
  if (e.out.strides[last] != 1 || e.in[0].strides[last] == 1 || e.shape[last] < smallest_extent) return false;
  for (int d = last - 1; d >= 0; --d) {
    if (e.in[0].strides[d] != 1 || e.shape[d] < smallest_extent) continue;
    bool launched = false;
    visit_item(e.out.dtype, [&](auto tag) { launched = launch_tiles<typename decltype(tag)::type>(q, e, d); });
    return launched;
  }
  return false;
}

}  // namespace stator::STATOR_TARGET::creation
