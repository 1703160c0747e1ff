// Windows of a row of results at once, for the fast host: first the rows of the operand are folded, element by element,
// then the elements of each window, so that loops over a row become vector instructions.
#pragma once

#include "kernels/pooling/windows.cuh"

namespace stator::STATOR_TARGET::pooling {

// sums[j] = fold(sums[j], column[begin + j * stride]), with the usual strides as constants.
template <class A, class Fold>
STATOR_FN void fold_steps(A* STATOR_RESTRICT sums, const A* STATOR_RESTRICT column, int count, int stride, Fold fold) {
  if (stride == 1)
    for (int j = 0; j < count; ++j) sums[j] = fold(sums[j], column[j]);
  else if (stride == 2)
    for (int j = 0; j < count; ++j) sums[j] = fold(sums[j], column[2 * j]);
  else
    for (int j = 0; j < count; ++j) sums[j] = fold(sums[j], column[int64_t(stride) * j]);
}

// Folds n > 0 elements that lie side by side, in lanes, so that no element waits for the one before.
template <class A, class Fold>
STATOR_FN A fold_run(const A* STATOR_RESTRICT run, int n, Fold fold) {
  constexpr int wide = PoolTuning::lanes;
  A lane[wide];
  const int lanes = n < wide ? 1 : wide;
  for (int j = 0; j < lanes; ++j) lane[j] = run[j];
  int k = lanes;
  if (lanes == wide) {
    for (; k + wide <= n; k += wide)
      for (int j = 0; j < wide; ++j) lane[j] = fold(lane[j], run[k + j]);
    for (int half = wide / 2; half > 0; half /= 2)
      for (int j = 0; j < half; ++j) lane[j] = fold(lane[j], lane[j + half]);
  }
  for (; k < n; ++k) lane[0] = fold(lane[0], run[k]);
  return lane[0];
}

// The first o with o * stride >= n.
STATOR_FN int first_step(int n, int stride) { return n > 0 ? (n + stride - 1) / stride : 0; }

// The windows of a tile of a row of results along the row; the tile of the next row is mostly the same one.
struct RowWindows {
  int begin = -1;
  int first[PoolTuning::tile], end[PoolTuning::tile], count[PoolTuning::tile];

  STATOR_FN void set(const Pool& p, int from, int results) {
    if (begin == from) return;
    begin = from;
    for (int o = 0; o < results; ++o) {
      const Window w = window_of(p, 2, from + o);
      first[o] = w.first;
      end[o] = w.end;
      count[o] = w.count;
    }
  }
};

// Folds the windows of results [begin, begin + count) of a row of a plane into `sums`, which the caller has set.
// load: from an element to A.
template <class A, class T, class Load, class Fold>
STATOR_FN void fold_row(const Pool& p, const RowWindows& windows, const T* plane, int od, int oh, int count,
                        A* STATOR_RESTRICT sums, Load load, Fold fold) {
  const int begin = windows.begin;
  const PoolAxis& axis = p.axes[2];
  const Window d = window_of(p, 0, od), h = window_of(p, 1, oh);
  if (d.first >= d.end || h.first >= h.end) return;
  const int before = begin * axis.stride - axis.padding, right = windows.end[count - 1];
  const int left = p.adaptive ? windows.first[0] : before > 0 ? before : 0;
  A column[PoolTuning::columns];
  for (int from = left; from < right; from += PoolTuning::columns) {
    const int width = right - from < PoolTuning::columns ? right - from : PoolTuning::columns;
    bool started = false;
    for (int i = d.first; i < d.end; i += p.axes[0].dilation)
      for (int j = h.first; j < h.end; j += p.axes[1].dilation) {
        const T* STATOR_RESTRICT row = plane + (int64_t(i) * p.axes[1].in + j) * axis.in + from;
        if (started)
          for (int k = 0; k < width; ++k) column[k] = fold(column[k], load(row[k]));
        else
          for (int k = 0; k < width; ++k) column[k] = load(row[k]);
        started = true;
      }
    if (p.adaptive) {
      for (int o = 0; o < count; ++o) {
        const int first = windows.first[o] > from ? windows.first[o] : from;
        const int end = windows.end[o] < from + width ? windows.end[o] : from + width;
        if (first < end) sums[o] = fold(sums[o], fold_run(column + (first - from), end - first, fold));
      }
      continue;
    }
    for (int k = 0; k < axis.kernel; ++k) {
      // Result o has column o * stride + offset.
      const int offset = k * axis.dilation - axis.padding - from;
      int first = first_step(-offset, axis.stride), end = first_step(width - offset, axis.stride);
      first = first > begin ? first : begin;
      end = end < begin + count ? end : begin + count;
      if (first < end)
        fold_steps(sums + (first - begin), column + (first * axis.stride + offset), end - first, axis.stride, fold);
    }
  }
}

// The largest elements of the windows of a row of results, and their indices in the plane, each in the window's order.
template <class A, class T, class Wins>
STATOR_FN void find_row(const Pool& p, const RowWindows& windows, const T* plane, int od, int oh, int count,
                        A* STATOR_RESTRICT best, int* STATOR_RESTRICT winners, Wins wins) {
  const PoolAxis& axis = p.axes[2];
  const Window d = window_of(p, 0, od), h = window_of(p, 1, oh);
  for (int i = d.first; i < d.end; i += p.axes[0].dilation)
    for (int j = h.first; j < h.end; j += p.axes[1].dilation) {
      const int line = (i * p.axes[1].in + j) * axis.in;
      const T* STATOR_RESTRICT const row = plane + line;
      const auto take = [&](int o, int k) {
        const A v = convert<A>(row[k]);
        const bool better = wins(v, best[o]) | (winners[o] < 0);
        best[o] = better ? v : best[o];
        winners[o] = better ? line + k : winners[o];
      };
      if (p.adaptive) {
        for (int o = 0; o < count; ++o)
          for (int k = windows.first[o]; k < windows.end[o]; ++k) take(o, k);
        continue;
      }
      for (int k = 0; k < axis.kernel; ++k) {
        const int offset = (windows.begin * axis.stride) + k * axis.dilation - axis.padding;  // of the first result
        int o = first_step(-offset, axis.stride), end = first_step(axis.in - offset, axis.stride);
        end = end < count ? end : count;
        if (axis.stride == 1)
          for (; o < end; ++o) take(o, o + offset);
        else if (axis.stride == 2)
          for (; o < end; ++o) take(o, 2 * o + offset);
        else
          for (; o < end; ++o) take(o, axis.stride * o + offset);
      }
    }
}

}  // namespace stator::STATOR_TARGET::pooling
