// Gradients of pooling on the fast host: slabs of an operand's rows, to which the rows of results are added one after
// the other, so that loops run along rows. Each element adds up its slopes in the order of the results.
#pragma once

#include "kernels/pooling/powers.cuh"
#include "kernels/pooling/rows.cuh"

namespace stator::STATOR_TARGET::pooling {

// Rows [top, top + high) of a slice of a plane, or a part of one row: a run of the plane's elements.
struct Slab {
  int64_t plane;
  int deep, top, high, left, wide;
  int begin;  // its first element in the plane

  STATOR_FN int size() const { return high * wide; }
};

// The slabs of all planes.
struct SlabCut {
  int high, wide, rows, columns;  // of a slab; slabs along the axes

  explicit SlabCut(const Pool& p) {
    const int in_rows = p.axes[1].in, in_columns = p.axes[2].in;
    wide = std::min(in_columns, PoolTuning::slab);
    const int most = std::max(1, PoolTuning::slab / wide), parts = int(ceil_div(in_rows, most));
    high = int(ceil_div(in_rows, parts));
    rows = int(ceil_div(in_rows, high));
    columns = int(ceil_div(in_columns, wide));
  }
  int64_t blocks(const Pool& p) const { return p.planes * p.axes[0].in * rows * columns; }

  STATOR_FN Slab slab(const Pool& p, int64_t block) const {
    Slab s;
    s.left = int(block % columns) * wide;
    block /= columns;
    s.top = int(block % rows) * high;
    block /= rows;
    s.deep = int(block % p.axes[0].in);
    s.plane = block / p.axes[0].in;
    s.wide = std::min(wide, p.axes[2].in - s.left);
    s.high = std::min(high, p.axes[1].in - s.top);
    s.begin = (s.deep * p.axes[1].in + s.top) * p.axes[2].in + s.left;
    return s;
  }
};

// The results whose windows may have an element of [first, first + count).
STATOR_FN Results results_of_run(const Pool& p, const PoolAxis& axis, int first, int count) {
  return {results_of(p, axis, first).first, results_of(p, axis, first + count - 1).last};
}

// What a window spans, with what is beyond the ends.
struct Span {
  int first, length;
};

STATOR_FN Span span_of(const Pool& p, const PoolAxis& axis, int o) {
  if (!p.adaptive) return {o * axis.stride - axis.padding, (axis.kernel - 1) * axis.dilation + 1};
  const Window w = window_of(p, axis, o);
  return {w.first, w.end - w.first};
}

// The column in its window of an element that lies `offset` elements after the window's first, in one of the window's
// High rows: what is left once whole rows are taken off. What is before the window, or after its rows, stays too large.
template <int High, class U>
STATOR_FN U column_in_window(U offset, U line) {
  if (High > 1) offset = offset - line < offset ? offset - line : offset;
  if (High > 2) offset = offset - line < offset ? offset - line : offset;
  return offset;
}

// The elements of a slab that the indices of `count` whole windows of a row name, in a loop that vectorises; whether
// each of them is in the slab and in its window. origin: the first element of the first window in the plane. rows: of
// the windows, and High, or 0 for any number.
template <int High>
STATOR_FN bool find_named(const Pool& p, const Slab& slab, const int64_t* STATOR_RESTRICT indices, int count,
                          uint32_t origin, int rows, uint32_t* STATOR_RESTRICT at) {
  const PoolAxis& axis = p.axes[2];
  const uint32_t stride = uint32_t(axis.stride), line = uint32_t(axis.in), begin = uint32_t(slab.begin);
  uint32_t farthest = 0, last = 0;
  int64_t bits = 0;
  uint32_t columns[High == 0 ? PoolTuning::tile : 1];
  for (int k = 0; k < count; ++k) {
    bits |= indices[k];
    const uint32_t index = uint32_t(indices[k]), element = index - begin;
    const uint32_t column = column_in_window<High>(index - (origin + uint32_t(k) * stride), line);
    if constexpr (High == 0)
      columns[k] = column;
    else
      farthest = column > farthest ? column : farthest;
    last = element > last ? element : last;
    at[k] = element;
  }
  if constexpr (High == 0) {
    for (int row = 1; row < rows; ++row)
      for (int k = 0; k < count; ++k) columns[k] = column_in_window<2>(columns[k], line);
    for (int k = 0; k < count; ++k) farthest = columns[k] > farthest ? columns[k] : farthest;
  }
  const uint32_t length = uint32_t((axis.kernel - 1) * axis.dilation + 1);
  return bits >> 31 == 0 && farthest < length && last < uint32_t(slab.size());
}

// Adds each slope of a row of results to the element that its index names, where that is in the slab and the window.
// rows: of the windows. High: how many, or 0 for any number. grad, indices: of result 0 of the row.
template <int High, class A, class T>
STATOR_FN void add_named(const Pool& p, const Slab& slab, int first, int last, Span rows, const T* STATOR_RESTRICT grad,
                         const int64_t* STATOR_RESTRICT indices, A* STATOR_RESTRICT sums) {
  const PoolAxis& axis = p.axes[2];
  const int64_t above = (int64_t(slab.deep) * p.axes[1].in + rows.first) * axis.in;
  const uint64_t size = uint64_t(slab.size()), line = uint64_t(axis.in);
  const auto add = [&](int k, int64_t column, int length) {
    const int64_t index = indices[k];
    uint64_t rest = uint64_t(index - above - column);
    if constexpr (High > 0)
      rest = column_in_window<High>(rest, line);
    else if (int64_t(rest) > 0)
      rest = rest / line < uint64_t(rows.length) ? rest % line : rest;
    const uint64_t at = uint64_t(index - slab.begin);
    if ((rest < uint64_t(length)) & (at < size)) sums[at] += convert<A>(grad[k]);
  };
  const auto at_end = [&](int k) {
    const Span span = span_of(p, axis, k);
    // Without what is beyond the row, which would be elements of its neighbours.
    const int begin = span.first < 0 ? 0 : span.first, end = span.first + span.length;
    add(k, begin, (end < axis.in ? end : axis.in) - begin);
  };
  int k = first;
  if (!p.adaptive) {
    const int length = (axis.kernel - 1) * axis.dilation + 1;
    for (; k <= last && k * axis.stride < axis.padding; ++k) at_end(k);
    const int room = axis.in + axis.padding - length, end = room < 0 ? 0 : room / axis.stride + 1;
    const int whole = end <= last ? end : last + 1;
    uint32_t at[PoolTuning::tile];
    while (k < whole) {
      const int count = whole - k < PoolTuning::tile ? whole - k : PoolTuning::tile;
      const int64_t column = int64_t(k) * axis.stride - axis.padding;
      // Windows of several slices name elements of them all, so that few rows would have all in the slab.
      if (p.axes[0].kernel == 1 && rows.length <= PoolTuning::named_rows &&
          find_named<High>(p, slab, indices + k, count, uint32_t(above + column), rows.length, at)) {
        for (int i = 0; i < count; ++i) sums[at[i]] += convert<A>(grad[k + i]);
      } else {
        for (int i = 0; i < count; ++i) add(k + i, column + int64_t(i) * axis.stride, length);
      }
      k += count;
    }
  }
  for (; k <= last; ++k) at_end(k);
}

// The same for rows of results j, ... up to `last` as long as they fit a tile; how many these are. Slopes are added
// after all elements have been found, so that the processor adds those of several rows at once.
template <int High, class A, class T>
STATOR_FN int add_named_rows(const Pool& p, const Slab& slab, int j, int last, const T* STATOR_RESTRICT grad,
                             const int64_t* STATOR_RESTRICT indices, A* STATOR_RESTRICT sums) {
  const int wide = p.axes[2].out, most = PoolTuning::tile / wide, rows = last + 1 - j < most ? last + 1 - j : most;
  uint32_t at[PoolTuning::tile];
  bool all = true;
  for (int r = 0; r < rows && all; ++r) {
    const int64_t above = int64_t(slab.deep) * p.axes[1].in + span_of(p, p.axes[1], j + r).first;
    all = find_named<High>(p, slab, indices + r * wide, wide, uint32_t(above * p.axes[2].in), High, at + r * wide);
  }
  if (all) {
    for (int i = 0; i < rows * wide; ++i) sums[at[i]] += convert<A>(grad[i]);
  } else {
    for (int r = 0; r < rows; ++r)
      add_named<High>(p, slab, 0, wide - 1, span_of(p, p.axes[1], j + r), grad + r * wide, indices + r * wide, sums);
  }
  return rows;
}

// Whether all rows of results are of whole windows, which one slice and the slab's columns hold.
STATOR_FN bool are_whole_rows(const Pool& p, const Slab& slab) {
  const PoolAxis& axis = p.axes[2];
  return !p.adaptive && p.axes[0].kernel == 1 && axis.padding == 0 && slab.wide == axis.in &&
         2 * axis.out <= PoolTuning::tile && (axis.out - 1) * axis.stride + (axis.kernel - 1) * axis.dilation < axis.in;
}

// The slopes of row j of results, or of several from it on, up to `last`; how many rows.
template <class A, class T>
STATOR_FN int add_named(const Pool& p, const Slab& slab, int j, int last, Results w, const T* grad,
                        const int64_t* indices, A* sums) {
  const Span rows = span_of(p, p.axes[1], j);
  const auto add = [&](auto high) {
    if (high() > 0 && are_whole_rows(p, slab)) return add_named_rows<high()>(p, slab, j, last, grad, indices, sums);
    add_named<high()>(p, slab, w.first, w.last, rows, grad, indices, sums);
    return 1;
  };
  if (rows.length == 1) return add(std::integral_constant<int, 1>{});
  if (rows.length == 2) return add(std::integral_constant<int, 2>{});
  if (rows.length == 3) return add(std::integral_constant<int, 3>{});
  return add(std::integral_constant<int, 0>{});
}

// Calls f(element of the slab's row, result - first) for the windows of `count` results of a row of results, so that
// the results of each element come in their order.
template <class F>
STATOR_FN void for_slopes(const Pool& p, const Slab& slab, int first, int count, F f) {
  const PoolAxis& axis = p.axes[2];
  const int end = first + count;
  if (p.adaptive) {
    for (int k = first; k < end; ++k) {
      const Window w = window_of(p, axis, k);
      const int to = w.end < slab.left + slab.wide ? w.end : slab.left + slab.wide;
      for (int i = w.first > slab.left ? w.first : slab.left; i < to; ++i) f(i - slab.left, k - first);
    }
    return;
  }
  const int from = -axis.padding - slab.left;                        // of the first window
  if (axis.stride == 2 && axis.kernel == 2 && axis.dilation == 1) {  // whole windows side by side
    int begin = first_step(-from, 2), whole = (slab.wide - from) / 2;
    begin = begin > first ? begin : first;
    whole = whole < end ? whole : end;
    for (int k = first; k < begin && k < end; ++k)
      if (2 * k + from + 1 == 0) f(0, k - first);
    for (int k = begin; k < whole; ++k) {
      f(2 * k + from, k - first);
      f(2 * k + from + 1, k - first);
    }
    for (int k = whole > begin ? whole : begin; k < end; ++k)
      if (2 * k + from < slab.wide) f(2 * k + from, k - first);
    return;
  }
  for (int tap = axis.kernel - 1; tap >= 0; --tap) {
    const int offset = from + tap * axis.dilation;
    int k = first_step(-offset, axis.stride), to = first_step(slab.wide - offset, axis.stride);
    k = k > first ? k : first;
    to = to < end ? to : end;
    if (axis.stride == 1) {
      for (; k < to; ++k) f(k + offset, k - first);
    } else {
      for (; k < to; ++k) f(k * axis.stride + offset, k - first);
    }
  }
}

// The numbers of elements of the windows of a row of results, as the divisors of `slopes`.
template <class A, class T>
STATOR_FN void divide_slopes(const Pool& p, int first, int count, int64_t above, const T* STATOR_RESTRICT grad,
                             A* STATOR_RESTRICT slopes) {
  const PoolAxis& axis = p.axes[2];
  const bool counted = p.divisor == 0;
  int k = 0;
  const auto at_end = [&](int i) {
    slopes[i] = convert<A>(grad[i]) / A(counted ? above * window_of(p, axis, first + i).count : 1);
  };
  if (!p.adaptive || !counted) {
    const int length = (axis.kernel - 1) * axis.dilation + 1, room = axis.in + axis.padding - length;
    int whole = counted ? (room < 0 ? 0 : room / axis.stride + 1) - first : count;  // windows within the row
    if (counted)
      for (; k < count && (first + k) * axis.stride < axis.padding; ++k) at_end(k);
    whole = whole < count ? whole : count;
    const A divisor = A(counted ? above * length : 1);
    for (; k < whole; ++k) slopes[k] = convert<A>(grad[k]) / divisor;
  }
  for (; k < count; ++k) at_end(k);
}

template <class T, int Size>
STATOR_KERNEL(Size) void pool_backward_slabs_kernel(Pool p, SlabCut cut) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const Slab slab = cut.slab(p, group.block());
  const int64_t size = plane_size(p, false), in_plane = slab.plane * plane_size(p, true) + slab.begin;
  T* const out = static_cast<T*>(p.out) + in_plane;
  A own[std::is_same_v<A, T> ? 1 : PoolTuning::slab];
  A* const sums = std::is_same_v<A, T> ? reinterpret_cast<A*>(out) : own;
  const int elements = slab.size();
  for (int i = 0; i < elements; ++i) sums[i] = A(0);
  const Results d = results_of(p, p.axes[0], slab.deep), h = results_of_run(p, p.axes[1], slab.top, slab.high),
                w = results_of_run(p, p.axes[2], slab.left, slab.wide);
  const A exponent = A(p.power);
  A slopes[PoolTuning::tile], results[PoolTuning::tile];
  for (int i = d.first; i <= d.last; ++i)
    for (int j = h.first, taken = 1; j <= h.last; j += taken) {
      const int64_t row = slab.plane * size + int64_t(i * p.axes[1].out + j) * p.axes[2].out;
      const T* const grad = static_cast<const T*>(p.grad) + row;
      if (p.kind == params::PoolKind::max) {
        taken = add_named(p, slab, j, h.last, w, grad, p.indices + row, sums);
        continue;
      }
      const Span rows = span_of(p, p.axes[1], j);
      const int64_t above =
          p.divisor == 0 ? int64_t(window_of(p, p.axes[0], i).count) * window_of(p, p.axes[1], j).count : 1;
      int top = rows.first > slab.top ? rows.first : slab.top, bottom = rows.first + rows.length;
      bottom = bottom < slab.top + slab.high ? bottom : slab.top + slab.high;
      for (int k = w.first; k <= w.last; k += PoolTuning::tile) {
        const int count = w.last + 1 - k < PoolTuning::tile ? w.last + 1 - k : PoolTuning::tile;
        if (p.kind == params::PoolKind::mean) {
          divide_slopes(p, k, count, above, grad + k, slopes);
          for (int r = top; r < bottom; ++r) {
            A* STATOR_RESTRICT const line = sums + (r - slab.top) * slab.wide;
            for_slopes(p, slab, k, count, [&](int at, int o) { line[at] += slopes[o]; });
          }
          continue;
        }
        const T* const y = static_cast<const T*>(p.y) + row + k;
        for (int o = 0; o < count; ++o) {
          const int64_t elements_of = p.divisor == 0 ? above * window_of(p, p.axes[2], k + o).count : 1;
          slopes[o] = A(p.factor) / A(elements_of);
          results[o] = convert<A>(y[o]);
        }
        for (int r = top; r < bottom; ++r) {
          A* STATOR_RESTRICT const line = sums + (r - slab.top) * slab.wide;
          const T* const x = static_cast<const T*>(p.x) + in_plane + int64_t(r - slab.top) * slab.wide;
          for_slopes(p, slab, k, count, [&](int at, int o) {
            const A root = results[o];
            const A slope = root == A(0) ? A(0) : power_of(convert<A>(x[at]) / root, exponent - A(1));
            line[at] += convert<A>(grad[k + o]) * slope * slopes[o];
          });
        }
      }
    }
  const A divisor = p.divisor == 0 || p.kind != params::PoolKind::mean ? A(1) : A(p.divisor);
  if (divisor != A(1))
    for (int i = 0; i < elements; ++i) sums[i] = sums[i] / divisor;
  if constexpr (!std::is_same_v<A, T>)
    for (int i = 0; i < elements; ++i) out[i] = convert<T>(sums[i]);
}

}  // namespace stator::STATOR_TARGET::pooling
