// Interpolation where blocks have threads: a block makes a tile of rows of results. What rows are made of stands in
// shared memory, and a thread keeps the elements and weights of its column for all rows of the tile.
#pragma once

#include "kernels/resampling/taps.cuh"

namespace stator::STATOR_TARGET::resampling {

struct TileTuning {
  static constexpr int block = 256;
  static constexpr int columns = 64;  // of a tile, or fewer where rows are shorter
  static constexpr int least_columns = 4;
  static constexpr int rows = 64;   // of a tile, or fewer where that leaves multiprocessors without one
  static constexpr int blocks = 2;  // that each multiprocessor should have
};

// Planes of such an extent in tiles.
struct TileCut {
  int64_t rows;  // of all planes
  int width, columns, tile_rows, column_tiles;
  FastDivmod64 of_plane;
  FastDivmod of_slice;

  TileCut(int64_t planes, const int (&extent)[3], int multiprocessors)
      : rows(planes * extent[0] * extent[1]), width(extent[2]) {
    using Tuning = TileTuning;
    columns = Tuning::columns;
    while (columns > Tuning::least_columns && columns / 2 >= width) columns /= 2;
    column_tiles = int(ceil_div(width, columns));
    tile_rows = Tuning::rows;
    while (tile_rows * columns > Tuning::block && blocks() < int64_t(Tuning::blocks) * multiprocessors) tile_rows /= 2;
    of_plane = FastDivmod64(int64_t(extent[0]) * extent[1]);
    of_slice = FastDivmod(extent[1]);
  }
  int64_t blocks() const { return ceil_div(rows, tile_rows) * column_tiles; }
};

// The rows of elements that a row of results is a sum of: one of the nearest, four of cubic interpolation, which has at
// most two axes, and two or four of the linear ones.
template <class A>
struct TileRows {
  static constexpr int most = 4;
  struct Source {
    int64_t offset;  // in x
    A weight;
  };
  Source source[TileTuning::rows][most];
};

// Sets the rows from `first` on and returns how many sources each has.
template <int N, class A, int Size>
STATOR_FN int set_rows(const Group<Size>& group, const Interpolate& p, const TileCut& cut, int64_t first, int count,
                       TileRows<A>& table) {
  const int deep = p.in[0] > 1 || p.out_extent[0] > 1 ? N : 1, high = p.in[1] > 1 || p.out_extent[1] > 1 ? N : 1;
  group.for_each(count, [&](int64_t r) {
    int64_t in_plane;
    int32_t row;
    const int64_t plane = cut.of_plane.divmod(first + r, in_plane);
    const int slice = cut.of_slice.divmod(int32_t(in_plane), row);
    const Taps<A, N> d = axis_taps<N, A>(p, 0, slice), h = axis_taps<N, A>(p, 1, row);
    auto* source = table.source[r];
    STATOR_UNROLL()
    for (int i = 0; i < N; ++i) {
      if (i >= deep) break;
      const A weight = deep > 1 ? d.weight[i] : A(1);
      STATOR_UNROLL()
      for (int j = 0; j < N; ++j) {
        if (j >= high) break;
        *source++ = {((plane * p.in[0] + d.at[i]) * p.in[1] + h.at[j]) * p.in[2],
                     weight * (high > 1 ? h.weight[j] : A(1))};
      }
    }
  });
  return deep * high;
}

template <int N, class T, int Size>
STATOR_FN void interpolate_tile(const Group<Size>& group, const Interpolate& p, const TileCut& cut) {
  using A = opmath_t<T>;
  auto& table = group.template shared<TileRows<A>>();
  const int64_t first = group.block() / cut.column_tiles * cut.tile_rows;
  const int rows = cut.rows - first < cut.tile_rows ? int(cut.rows - first) : cut.tile_rows;
  const int sources = set_rows<N>(group, p, cut, first, rows, table);
  group.sync();

  const int column = int(group.block() % cut.column_tiles) * cut.columns + (group.rank() & (cut.columns - 1));
  if (column >= cut.width) return;
  const Taps<A, N> w = axis_taps<N, A>(p, 2, column);
  const T* const x = static_cast<const T*>(p.x);
  T* const out = static_cast<T*>(p.out) + first * cut.width + column;
  const auto each_row = [&](auto count) {
    STATOR_UNROLL(1)
    for (int r = group.rank() / cut.columns; r < rows; r += Size / cut.columns) {
      const auto* const source = table.source[r];
      if constexpr (N == 1) {
        out[int64_t(r) * cut.width] = x[source->offset + w.at[0]];
      } else {
        A sum = A(0);
        for (int j = 0; j < count; ++j) {
          const T* const row = x + source[j].offset;
          A line = A(0);
          STATOR_UNROLL()
          for (int k = 0; k < N; ++k) line += w.weight[k] * convert<A>(row[w.at[k]]);
          sum += source[j].weight * line;
        }
        out[int64_t(r) * cut.width] = convert<T>(sum);
      }
    }
  };
  if (sources == N)
    each_row(std::integral_constant<int, N>{});
  else
    each_row(sources);
}

}  // namespace stator::STATOR_TARGET::resampling
