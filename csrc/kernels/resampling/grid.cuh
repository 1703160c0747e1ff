// Positions that a grid names: the elements around them, their weights, and how these change with the position.
#pragma once

#include "kernels/resampling/grid.cuh"
#include "kernels/resampling/taps.cuh"

namespace stator::STATOR_TARGET::resampling {

using params::GridMode;
using params::GridPadding;
using params::GridSample;

// Beyond what any axis has.
template <class A>
inline constexpr A far_away = A(1 << 30);

// A coordinate along an axis and its derivative by the grid's number.
template <class A>
struct Coordinate {
  A position, slope;
};

// From -1 .. 1 to elements.
template <class A>
STATOR_FN Coordinate<A> coordinate_of(A number, int extent, bool align_corners) {
  if (align_corners) return {(number + A(1)) / A(2) * A(extent - 1), A(extent - 1) / A(2)};
  return {((number + A(1)) * A(extent) - A(1)) / A(2), A(extent) / A(2)};
}

// The coordinate within the axis, as the padding has it. At an end the slope is 0. What is not a number, as reflections
// of infinity are, is at the first element.
template <class A>
STATOR_FN Coordinate<A> padded(Coordinate<A> c, int extent, GridPadding padding, bool align_corners) {
  if (padding == GridPadding::zeros) return c;
  if (padding == GridPadding::reflection) {
    const A low = align_corners ? A(0) : A(-0.5), span = align_corners ? A(extent - 1) : A(extent);
    if (span == A(0)) return {A(0), A(0)};
    A from = c.position - low;
    if (from < A(0)) {
      from = -from;
      c.slope = -c.slope;
    }
    const A flips = floor(from / span), rest = from - flips * span;
    const bool odd = flips - A(2) * floor(flips / A(2)) != A(0);
    c.position = low + (odd ? span - rest : rest);
    if (odd) c.slope = -c.slope;
  }
  if (!(c.position > A(0))) return {A(0), A(0)};
  if (c.position >= A(extent - 1)) return {A(extent - 1), A(0)};
  return c;
}

// A position that an int holds: beyond all elements where it is not a number or too far away.
template <class A>
STATOR_FN A limited(A position) {
  position = position < far_away<A> ? position : position != position ? -far_away<A> : far_away<A>;
  return position > -far_away<A> ? position : -far_away<A>;
}

// The taps of an axis; those outside are at -1. slope: the derivative of a weight by the grid's number.
template <class A, int N>
struct GridAxis {
  int at[N];
  A weight[N], slope[N];
};

STATOR_FN int inside(int i, int extent) { return i >= 0 && i < extent ? i : -1; }

template <int N, class A>
STATOR_FN GridAxis<A, N> grid_axis(const GridSample& p, int axis, A number) {
  const int extent = p.in[axis];
  GridAxis<A, N> found;
  Coordinate<A> c = coordinate_of(number, extent, p.align_corners);
  if constexpr (N != 4) c = padded(c, extent, p.padding, p.align_corners);
  if (N != 4 || p.padding == GridPadding::zeros) c.position = limited(c.position);
  const A whole = floor(c.position), t = c.position - whole;
  if constexpr (N == 4) {
    const A behind = t == t ? t : A(0);  // not of infinity, all of whose taps are one element
    cubic_weights(behind, found.weight);
    cubic_slopes(behind, found.slope);
    STATOR_UNROLL()
    for (int k = 0; k < N; ++k) {
      found.slope[k] *= c.slope;
      const Coordinate<A> tap = padded(Coordinate<A>{whole + A(k - 1), A(0)}, extent, p.padding, p.align_corners);
      found.at[k] = inside(int(floor(tap.position)), extent);
    }
    return found;
  }
  const int first = int(whole);
  if constexpr (N == 1) {
    // To the nearest, of two to the even one.
    const bool up = t > A(0.5) || (t == A(0.5) && (first & 1) != 0);
    found.at[0] = inside(first + int(up), extent);
    found.weight[0] = A(1);
    found.slope[0] = A(0);
  } else if constexpr (N == 2) {
    found.at[0] = inside(first, extent);
    found.at[1] = inside(first + 1, extent);
    found.weight[0] = A(1) - t;
    found.weight[1] = t;
    found.slope[0] = -c.slope;
    found.slope[1] = c.slope;
  }
  return found;
}

// The taps of a position: N along each of the last two axes, and Deep along the first.
template <int N, int Deep, class A>
struct GridTaps {
  static constexpr int count = N * N * Deep;
  GridAxis<A, Deep> d;
  GridAxis<A, N> h, w;

  // position: of its numbers, that of the last axis first.
  template <class T>
  STATOR_FN GridTaps(const GridSample& p, const T* position)
      : h(grid_axis<N, A>(p, 1, convert<A>(position[1]))), w(grid_axis<N, A>(p, 2, convert<A>(position[0]))) {
    d.at[0] = 0;
    d.weight[0] = A(1);
    d.slope[0] = A(0);
    if (p.axes == 3) d = grid_axis<Deep, A>(p, 0, convert<A>(position[2]));
  }

  // Calls f(number, index in the plane or -1, i, j, k) for each tap.
  template <class F>
  STATOR_FN void for_each(const GridSample& p, F f) const {
    STATOR_UNROLL()
    for (int i = 0; i < Deep; ++i) {
      STATOR_UNROLL()
      for (int j = 0; j < N; ++j) {
        STATOR_UNROLL()
        for (int k = 0; k < N; ++k) {
          const bool in = d.at[i] >= 0 && h.at[j] >= 0 && w.at[k] >= 0;
          f((i * N + j) * N + k, in ? (d.at[i] * p.in[1] + h.at[j]) * p.in[2] + w.at[k] : -1, i, j, k);
        }
      }
    }
  }
  STATOR_FN A weight(int i, int j, int k) const { return d.weight[i] * h.weight[j] * w.weight[k]; }
};

// Calls f(the number of taps along the last axes, that along the first) as types.
template <class F>
STATOR_FN void with_taps(const GridSample& p, F f) {
  using One = std::integral_constant<int, 1>;
  using Two = std::integral_constant<int, 2>;
  if (p.mode == GridMode::nearest) return f(One{}, One{});
  if (p.mode == GridMode::cubic) return f(std::integral_constant<int, 4>{}, One{});
  if (p.axes == 2) return f(Two{}, One{});
  return f(Two{}, Two{});
}

// --- lines, on the fast host -----------------------------------------------------------------------------------------

// Nearest and linear samples on the fast host. The elements of many positions are found at once, in loops that become
// vector instructions; those of linear samples are pairs of neighbours in rows, which share an index.

struct LineTuning {
  static constexpr int positions = 1024;  // of a block at most, so that channels find their rows in a near cache
  static constexpr int step = 64;         // of them that a channel takes at once
  static constexpr int steps = positions / step;
};

// Along an axis: the first of two neighbours, or the nearest, and for two how far after the first a position is.
template <class A>
struct AxisCells {
  int first[LineTuning::step];
  A behind[LineTuning::step];
};
// And how these positions change with the grid's numbers.
template <class A>
struct AxisSlopes : AxisCells<A> {
  A slope[LineTuning::step];
};

// padding, corners: as types, so that loops are without branches.
template <bool Nearest, class Padding, class Corners, template <class> class Cells, class A, class T>
STATOR_FN void find_cells(const T* STATOR_RESTRICT grid, int axes, int extent, Padding padding, Corners corners,
                          int count, Cells<A>& cells) {
  for (int o = 0; o < count; ++o) {
    const Coordinate<A> c =
        padded(coordinate_of(convert<A>(grid[int64_t(o) * axes]), extent, corners()), extent, padding(), corners());
    const A position = limited(c.position), whole = floor(position), t = position - whole;
    const int first = int(whole);
    const bool up = (t > A(0.5)) | ((t == A(0.5)) & ((first & 1) != 0));
    cells.first[o] = Nearest ? first + int(up) : first;
    cells.behind[o] = t;
    if constexpr (requires { cells.slope; }) cells.slope[o] = c.slope;
  }
}

// Those of `count` positions of a grid along an axis.
template <bool Nearest, template <class> class Cells, class A, class T>
STATOR_COLD void find_cells(const GridSample& p, const T* grid, int axis, int count, Cells<A>& cells) {
  const auto with_corners = [&](auto padding) {
    const T* const numbers = grid + (GridSample::dims - 1 - axis);
    if (p.align_corners)
      find_cells<Nearest>(numbers, p.axes, p.in[axis], padding, std::true_type{}, count, cells);
    else
      find_cells<Nearest>(numbers, p.axes, p.in[axis], padding, std::false_type{}, count, cells);
  };
  if (p.padding == GridPadding::zeros)
    with_corners(std::integral_constant<GridPadding, GridPadding::zeros>{});
  else if (p.padding == GridPadding::border)
    with_corners(std::integral_constant<GridPadding, GridPadding::border>{});
  else
    with_corners(std::integral_constant<GridPadding, GridPadding::reflection>{});
}

// The elements of the positions of a block: Width neighbours in each of Rows rows.
template <int Width, int Rows, class A>
struct LineTable {
  int at[Rows][LineTuning::positions];                            // the first of the neighbours in the plane
  A weight[Rows][Width][Width == 1 ? 1 : LineTuning::positions];  // not of the nearest, whose weight is 1
  int keep[Rows][Width][LineTuning::positions];  // all bits, or none for what is not an element of the sum
  bool all[LineTuning::steps];                   // whether the positions of a step keep everything
};

// Positions [begin, begin + count) of the table, of one step.
template <int Width, int Rows, class T, class A>
STATOR_FN void fill_table(const GridSample& p, const T* grid, int begin, int count, LineTable<Width, Rows, A>& table) {
  constexpr bool nearest = Width == 1;
  AxisCells<A> d, h, w;
  find_cells<nearest>(p, grid, 2, count, w);
  find_cells<nearest>(p, grid, 1, count, h);
  if (p.axes == 3)
    find_cells<nearest>(p, grid, 0, count, d);
  else
    for (int o = 0; o < count; ++o) {
      d.first[o] = 0;
      d.behind[o] = A(0);
    }
  // Of the neighbours in a row: the first one, their weights, and whether they are taps.
  int left[LineTuning::step], tap[Width][LineTuning::step];
  A weight[Width][LineTuning::step];
  const int last = p.in[2] - Width;
  for (int o = 0; o < count; ++o) left[o] = w.first[o] < 0 ? 0 : w.first[o] < last ? w.first[o] : last;
  for (int k = 0; k < Width; ++k)
    for (int o = 0; o < count; ++o) {
      const int number = left[o] + k - w.first[o];
      const A after = w.behind[o], before = A(1) - after;
      tap[k][o] = -int(uint32_t(number) < uint32_t(Width));
      weight[k][o] = Width == 1 ? A(1) : number == 1 ? after : before;
    }
  int kept = -1;
  for (int r = 0; r < Rows; ++r) {
    const int i = Rows > 2 ? r / 2 : 0, j = Rows > 1 ? r % 2 : 0;
    int in[LineTuning::step];
    A line[LineTuning::step];
    for (int o = 0; o < count; ++o) {
      const int deep = d.first[o] + i, high = h.first[o] + j;
      in[o] = -int((uint32_t(deep) < uint32_t(p.in[0])) & (uint32_t(high) < uint32_t(p.in[1])));
      // What is not kept reads the first elements.
      table.at[r][begin + o] = in[o] & ((deep * p.in[1] + high) * p.in[2] + left[o]);
    }
    for (int o = 0; o < count; ++o) line[o] = Rows == 1 ? A(1) : j == 1 ? h.behind[o] : A(1) - h.behind[o];
    if (Rows > 2)
      for (int o = 0; o < count; ++o) line[o] = (i == 1 ? d.behind[o] : A(1) - d.behind[o]) * line[o];
    for (int k = 0; k < Width; ++k)
      for (int o = 0; o < count; ++o) {
        const int keep = in[o] & tap[k][o];
        if (Width > 1) table.weight[r][k][begin + o] = line[o] * weight[k][o];
        table.keep[r][k][begin + o] = keep;
        kept &= keep;
      }
  }
  table.all[begin / LineTuning::step] = kept != 0;
}

// A step of positions in a channel. The terms of a result are added in the order of grid_axis's taps.
template <bool All, int Width, int Rows, class T, class A>
STATOR_FN void sample_step(const T* STATOR_RESTRICT x, const LineTable<Width, Rows, A>& table, int begin, int count,
                           T* STATOR_RESTRICT out) {
  if constexpr (Width == 1) {
    const int* const at = table.at[0] + begin;
    const int* const keep = table.keep[0][0] + begin;
    for (int o = 0; o < count; ++o) {
      const T value = x[at[o]];
      out[o] = All || keep[o] != 0 ? value : T(0);
    }
    return;
  }
  A sum[LineTuning::step];
  for (int o = 0; o < count; ++o) sum[o] = A(0);
  for (int r = 0; r < Rows; ++r) {
    const int* const at = table.at[r] + begin;
    const A* const first = table.weight[r][0] + begin;
    const A* const second = table.weight[r][Width - 1] + begin;
    const int* const keep_first = table.keep[r][0] + begin;
    const int* const keep_second = table.keep[r][Width - 1] + begin;
    for (int o = 0; o < count; ++o) {
      const A value = first[o] * convert<A>(x[at[o]]);
      A total = sum[o] + (All || keep_first[o] != 0 ? value : A(0));
      if constexpr (Width == 2) {
        const A next = second[o] * convert<A>(x[at[o] + 1]);
        total += All || keep_second[o] != 0 ? next : A(0);
      }
      sum[o] = total;
    }
  }
  for (int o = 0; o < count; ++o) out[o] = convert<T>(sum[o]);
}

// `count` positions of a sample, in all channels.
template <int Width, int Rows, class T, class A = opmath_t<T>>
STATOR_FN void sample_tile(const GridSample& p, int64_t sample, int64_t first, int count) {
  LineTable<Width, Rows, A> table;
  const T* const grid = static_cast<const T*>(p.grid) + (sample * p.points + first) * p.axes;
  const auto for_steps = [&](auto f) {
    for (int begin = 0; begin < count; begin += LineTuning::step)
      f(begin, count - begin < LineTuning::step ? count - begin : LineTuning::step);
  };
  for_steps([&](int begin, int some) { fill_table(p, grid + int64_t(begin) * p.axes, begin, some, table); });
  const int64_t size = int64_t(p.in[0]) * p.in[1] * p.in[2];
  for (int64_t c = 0; c < p.channels; ++c) {
    const int64_t plane = sample * p.channels + c;
    const T* const x = static_cast<const T*>(p.x) + plane * size;
    T* const out = static_cast<T*>(p.out) + plane * p.points + first;
    for_steps([&](int begin, int some) {
      if (table.all[begin / LineTuning::step])
        sample_step<true>(x, table, begin, some, out + begin);
      else
        sample_step<false>(x, table, begin, some, out + begin);
    });
  }
}

// Rows of one element have no pairs, and cubic samples have padding between their elements.
inline bool has_lines(const GridSample& p) {
  return p.mode == GridMode::nearest || (p.mode == GridMode::linear && p.in[2] > 1);
}

template <class T, int Size>
STATOR_KERNEL(Size) void grid_lines_kernel(GridSample p, int64_t tiles, int positions) {
  const Group<Size> group;
  const int64_t sample = group.block() / tiles, first = group.block() % tiles * positions;
  const int count = p.points - first < positions ? int(p.points - first) : positions;
  if (p.mode == GridMode::nearest)
    sample_tile<1, 1, T>(p, sample, first, count);
  else if (p.axes == 2)
    sample_tile<2, 2, T>(p, sample, first, count);
  else
    sample_tile<2, 4, T>(p, sample, first, count);
}

// As many positions for a block as leave each worker some blocks.
inline int positions_of(const params::Queue& q, const GridSample& p) {
  const int64_t wanted = waves(*q.limits, 1), per_block = ceil_div(p.samples * p.points, wanted);
  return int(std::clamp<int64_t>(ceil_div(per_block, LineTuning::step), 1, LineTuning::steps)) * LineTuning::step;
}

}  // namespace stator::STATOR_TARGET::resampling
