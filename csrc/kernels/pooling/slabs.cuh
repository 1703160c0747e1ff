// Gradients of pooling on the fast host: slabs of an operand's rows, to which the rows of results are added one after
// the other, so that loops run along rows. Each element adds up its slopes in the order of the results. A block has the
// same slab of several planes, so that small planes share what is decided for it.
#pragma once

#include "host/launch.hpp"
#include "kernels/pooling/powers.cuh"
#include "kernels/pooling/rows.cuh"

namespace stator::STATOR_TARGET::pooling {

// Slices [deep, deep + thick) of a plane, or rows [top, top + high) of one slice, or a part of one row: a run of the
// plane's elements.
struct Slab {
  int64_t plane;  // the first of `planes`
  int planes, deep, thick, top, high, left, wide;
  int begin;  // its first element in the plane

  STATOR_FN int slice() const { return high * wide; }
  STATOR_FN int size() const { return thick * slice(); }
};

// The slabs of all planes.
struct SlabCut {
  int thick, high, wide, slices, rows, columns;  // of a slab; slabs along the axes
  int planes;                                    // of a block

  SlabCut(const params::DeviceLimits& limits, const Pool& p) {
    const int in_deep = p.axes[0].in, in_rows = p.axes[1].in, in_columns = p.axes[2].in;
    // As many parts as are needed, and all about as large.
    const auto part = [](int extent, int most) { return int(ceil_div(extent, ceil_div(extent, std::max(most, 1)))); };
    wide = std::min(in_columns, PoolTuning::slab);
    high = part(in_rows, PoolTuning::slab / wide);
    thick = high * wide == in_rows * in_columns ? part(in_deep, PoolTuning::slab / (high * wide)) : 1;
    slices = int(ceil_div(in_deep, thick));
    rows = int(ceil_div(in_rows, high));
    columns = int(ceil_div(in_columns, wide));
    const int64_t fill = p.planes * slabs() / (waves(limits, PoolTuning::block) * 4);
    planes = int(std::clamp<int64_t>(PoolTuning::batch / (thick * high * wide), 1, std::max<int64_t>(fill, 1)));
  }
  int64_t slabs() const { return int64_t(slices) * rows * columns; }
  int64_t blocks(const Pool& p) const { return ceil_div(p.planes, planes) * slabs(); }

  STATOR_FN Slab slab(const Pool& p, int64_t block) const {
    Slab s;
    s.left = int(block % columns) * wide;
    block /= columns;
    s.top = int(block % rows) * high;
    block /= rows;
    s.deep = int(block % slices) * thick;
    s.plane = block / slices * planes;
    s.planes = int(std::min<int64_t>(planes, p.planes - s.plane));
    s.thick = std::min(thick, p.axes[0].in - s.deep);
    s.wide = std::min(wide, p.axes[2].in - s.left);
    s.high = std::min(high, p.axes[1].in - s.top);
    s.begin = (s.deep * p.axes[1].in + s.top) * p.axes[2].in + s.left;
    return s;
  }
};

// The results whose windows may have an element of [first, first + count).
STATOR_FN Results results_of_run(const Pool& p, int d, int first, int count) {
  return {results_of(p, d, first).first, results_of(p, d, first + count - 1).last};
}

// What a window spans, with what is beyond the ends.
struct Span {
  int first, length;
};

STATOR_FN Span span_of(const Pool& p, int d, int o) {
  const PoolAxis& axis = p.axes[d];
  if (!p.adaptive) return {o * axis.stride - axis.padding, (axis.kernel - 1) * axis.dilation + 1};
  const Window w = window_of(p, d, o);
  return {w.first, w.end - w.first};
}

// Calls f(element of the slab's row, result - first) for the windows of `count` results of a row of results, so that
// the results of each element come in their order.
template <class F>
STATOR_FN void for_slopes(const Pool& p, const Slab& slab, int first, int count, F f) {
  const PoolAxis& axis = p.axes[2];
  const int end = first + count;
  if (p.adaptive) {
    for (int k = first; k < end; ++k) {
      const Window w = window_of(p, 2, k);
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
    slopes[i] = convert<A>(grad[i]) / A(counted ? above * window_of(p, 2, first + i).count : 1);
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

// Adds the slopes of all results of a plane, whose windows the slab is in, of means or of powers. The slab has one
// slice.
template <class A, class T>
STATOR_FN void add_slopes(const Pool& p, const Slab& slab, int64_t plane, A* sums) {
  const Results d = results_of(p, 0, slab.deep), h = results_of_run(p, 1, slab.top, slab.high),
                w = results_of_run(p, 2, slab.left, slab.wide);
  const A exponent = A(p.power);
  A slopes[PoolTuning::tile], results[PoolTuning::tile];
  for (int i = d.first; i <= d.last; ++i)
    for (int j = h.first; j <= h.last; ++j) {
      const int64_t row = plane * plane_size(p, false) + int64_t(i * p.axes[1].out + j) * p.axes[2].out;
      const T* const grad = static_cast<const T*>(p.grad) + row;
      const Span rows = span_of(p, 1, j);
      const int64_t above = p.divisor == 0 ? int64_t(window_of(p, 0, i).count) * window_of(p, 1, j).count : 1;
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
          const int64_t elements_of = p.divisor == 0 ? above * window_of(p, 2, k + o).count : 1;
          slopes[o] = A(p.factor) / A(elements_of);
          results[o] = convert<A>(y[o]);
        }
        for (int r = top; r < bottom; ++r) {
          A* STATOR_RESTRICT const line = sums + (r - slab.top) * slab.wide;
          const T* const x =
              static_cast<const T*>(p.x) + plane * plane_size(p, true) + slab.begin + int64_t(r - slab.top) * slab.wide;
          for_slopes(p, slab, k, count, [&](int at, int o) {
            const A root = results[o];
            const A slope = root == A(0) ? A(0) : power_of(convert<A>(x[at]) / root, exponent - A(1));
            line[at] += convert<A>(grad[k + o]) * slope * slopes[o];
          });
        }
      }
    }
}

}  // namespace stator::STATOR_TARGET::pooling
