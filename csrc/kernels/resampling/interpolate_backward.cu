// The gradient of interpolation: each element adds up the slopes of the results that it is a part of, in their order.
#include "host/launcher.hpp"
#include "kernels/resampling/interpolate_tile.cuh"
#include "kernels/resampling/slope_rows.cuh"

namespace stator::STATOR_TARGET::resampling {

// --- tiles, where blocks have threads --------------------------------------------------------------------------------

// Gradients of interpolation where blocks have threads: a block makes a tile of elements. The weights that results of a
// row and of a column have in its elements stand in shared memory, where they have few enough.

// The results of an axis that have a line of elements: from the first to the last whose weight is not 0.
template <class A>
struct LineSlopes {
  static constexpr int most = 128 / int(sizeof(A));  // a power of two
  static constexpr int lines = TileTuning::rows;
  static_assert(TileTuning::columns <= lines);
  int first[lines], count[lines];
  A weight[most][lines];  // neighbouring lines in different banks

  template <int N, int Size>
  STATOR_FN void set(const Group<Size>& group, const Interpolate& p, int axis, int64_t line, int lines_here) {
    group.for_each(lines_here, [&](int64_t l) {
      // Lines go on in the next slice or plane.
      const int i = int((line + l) % p.in[axis]);
      const Reach reach = reach_of(p, axis, i);
      int begin = reach.first, used = 0, last = 0;
      STATOR_UNROLL(1)
      for (int o = reach.first; o <= reach.last; ++o) {
        const A w = weight_in<N, A>(p, axis, o, i);
        if (w == A(0) && used == 0) {
          begin = o + 1;  // nothing so far
          continue;
        }
        if (used < most) weight[used][l] = w;
        ++used;
        if (w != A(0)) last = used;
      }
      first[l] = begin;
      count[l] = last;
    });
  }
};

template <class A>
struct TileSlopes {
  LineSlopes<A> rows, columns;
};

// Whether the results of each line of an axis are few enough.
template <class A>
bool fits_slopes(const Interpolate& p, int axis) {
  const double scale = p.scale[axis], taps = taps_of(p.mode);
  if (scale <= 0) return p.out_extent[axis] <= LineSlopes<A>::most;
  const double inside = taps / scale + 2, behind = double(p.out_extent[axis]) - (double(p.in[axis]) - taps) / scale + 2;
  return std::max(inside, behind) <= LineSlopes<A>::most;
}

template <int N, class T, int Size>
STATOR_FN void slopes_of_tile(const Group<Size>& group, const Interpolate& p, const TileCut& cut) {
  using A = opmath_t<T>;
  auto& table = group.template shared<TileSlopes<A>>();
  const int64_t row = group.block() / cut.column_tiles * cut.tile_rows;
  const int rows = cut.rows - row < cut.tile_rows ? int(cut.rows - row) : cut.tile_rows;
  const int start = int(group.block() % cut.column_tiles) * cut.columns;
  const int columns = cut.width - start < cut.columns ? cut.width - start : cut.columns;
  table.rows.template set<N>(group, p, 1, row, rows);
  table.columns.template set<N>(group, p, 2, start, columns);
  group.sync();

  const int column = group.rank() & (cut.columns - 1);
  if (column >= columns) return;
  const int first = table.columns.first[column], count = table.columns.count[column], width = p.out_extent[2];
  T* const out = static_cast<T*>(p.out) + row * cut.width + start + column;
  STATOR_UNROLL(1)
  for (int r = group.rank() / cut.columns; r < rows; r += Size / cut.columns) {
    int64_t in_plane;
    int32_t in_slice;
    const int64_t plane = cut.of_plane.divmod(row + r, in_plane);
    const int slice = cut.of_slice.divmod(int32_t(in_plane), in_slice);
    const Reach deep = reach_of(p, 0, slice);
    A sum = A(0);
    STATOR_UNROLL(1)
    for (int i = deep.first; i <= deep.last; ++i) {
      const A of_slice = weight_in<N, A>(p, 0, i, slice);
      if (of_slice == A(0)) continue;
      const T* line = static_cast<const T*>(p.x) +
                      ((plane * p.out_extent[0] + i) * p.out_extent[1] + table.rows.first[r]) * width + first;
      STATOR_UNROLL(1)
      for (int j = 0; j < table.rows.count[r]; ++j, line += width) {
        A along = A(0);
        STATOR_UNROLL(4)
        for (int k = 0; k < count; ++k) along += table.columns.weight[k][column] * convert<A>(line[k]);
        sum += of_slice * table.rows.weight[j][r] * along;
      }
    }
    out[int64_t(r) * cut.width] = convert<T>(sum);
  }
}

// --- launchers
// ---------------------------------------------------------------------------------------------------------

namespace {

template <int N, class T, int Size>
STATOR_FN void slopes_of_block(const Group<Size>& group, const Interpolate& p, const SlopeCut& cut, int64_t rows) {
  using A = opmath_t<T>;
  const int64_t size = int64_t(p.out_extent[0]) * p.out_extent[1] * p.out_extent[2];
  const auto element = [&](const Position& at) {
    const T* const grad = static_cast<const T*>(p.x) + at.plane * size;
    const Reach d = reach_of(p, 0, at.at[0]), h = reach_of(p, 1, at.at[1]), w = reach_of(p, 2, at.at[2]);
    A sum = A(0);
    STATOR_UNROLL(1)
    for (int i = d.first; i <= d.last; ++i) {
      const A deep = weight_in<N, A>(p, 0, i, at.at[0]);
      if (deep == A(0)) continue;
      STATOR_UNROLL(1)
      for (int j = h.first; j <= h.last; ++j) {
        const A high = deep * weight_in<N, A>(p, 1, j, at.at[1]);
        if (high == A(0)) continue;
        const T* const row = grad + (i * p.out_extent[1] + j) * p.out_extent[2];
        STATOR_UNROLL(1)
        for (int k = w.first; k <= w.last; ++k) {
          const A weight = weight_in<N, A>(p, 2, k, at.at[2]);
          if (weight != A(0)) sum += high * weight * convert<A>(row[k]);
        }
      }
    }
    static_cast<T*>(p.out)[at.linear] = convert<T>(sum);
  };
  if constexpr (fast_host) {
    const int64_t first = group.block() * rows, all = cut.total / p.in[2];
    slopes_of_rows<N, T>(p, first, first + rows < all ? first + rows : all, element);
  } else {
    cut.for_each(group, element);
  }
}

template <class T, int Size>
STATOR_KERNEL(Size) void interpolate_backward_kernel(Interpolate p, SlopeCut cut, int64_t rows) {
  const Group<Size> group;
  if (p.mode == Interpolation::linear)
    slopes_of_block<2, T>(group, p, cut, rows);
  else if (p.mode == Interpolation::cubic)
    slopes_of_block<4, T>(group, p, cut, rows);
  else
    slopes_of_block<1, T>(group, p, cut, rows);
}

template <class T, int Size>
STATOR_KERNEL(Size) void interpolate_backward_tile_kernel(Interpolate p, TileCut cut) {
  const Group<Size> group;
  if (p.mode == Interpolation::linear)
    slopes_of_tile<2, T>(group, p, cut);
  else if (p.mode == Interpolation::cubic)
    slopes_of_tile<4, T>(group, p, cut);
  else
    slopes_of_tile<1, T>(group, p, cut);
}

void interpolate_backward(const params::Queue& q, const Interpolate& p) {
  const SlopeCut cut(p.planes, p.in[0], p.in[1], p.in[2]);
  // Blocks of the fast host are as large as leaves each worker some of them, because each makes its tables.
  const int64_t least = ceil_div(cut.total / p.in[2], waves(*q.limits, 1)),
                rows = std::max(cut.rows_per_block(), least);
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    if constexpr (!fast_host)
      if (fits_slopes<opmath_t<T>>(p, 1) && fits_slopes<opmath_t<T>>(p, 2)) {
        const TileCut tiles(p.planes, p.in, q.limits->multiprocessors);
        launch(q, "interpolate_backward_tile", interpolate_backward_tile_kernel<T, TileTuning::block>,
               {tiles.blocks(), TileTuning::block}, p, tiles);
        return;
      }
    launch(q, "interpolate_backward", interpolate_backward_kernel<T, SlopeTuning::block>,
           {fast_host ? ceil_div(cut.total / p.in[2], rows) : cut.blocks(), SlopeTuning::block}, p, cut, rows);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::resampling

STATOR_LAUNCHER(resampling, interpolate_backward)
