// The kernel that transforms signals of complex points. A block transforms as many signals at once as a vector has
// lanes. A long signal is a matrix whose columns and rows are transformed in two stages (Bailey, J. Supercomputing 4,
// 1990):
//
//         n2 = rows.n columns
//    x[0]       x[1]       ...  x[n2 - 1]        Stage 1: transform each column, n1 points that lie n2 apart,
//    x[n2]      x[n2 + 1]  ...  x[2 n2 - 1]               then multiply row k of column j by exp(-2 pi i j k / n).
//    ...                                         Stage 2: transform each row, n2 adjacent points.
//    x[n - n2]  ...             x[n - 1]         Point k2 of row k1 is point k1 + n1 k2 of the result.
//         n1 = columns.n rows
#pragma once

#include "device/index.cuh"
#include "host/launch.hpp"
#include "kernels/fft/gather.cuh"

namespace stator::STATOR_TARGET::fft {

template <class T>
STATOR_FN LaneSide<T> side_of(const params::FftSide& side) {
  using Form = params::FftForm;
  LaneSide<T> lane{};
  const bool reals = side.form == Form::real || side.form == Form::pairs;
  lane.step = side.form == Form::real ? side.step : 2 * side.step;
  lane.imaginary = side.form == Form::pairs ? side.step : reals ? 0 : 1;
  lane.start = lane.lane_index = 0;
  lane.stride = 1;
  lane.count = side.count;
  lane.n = side.points;
  lane.lanes = LaneVector<T>::count;
  lane.form = side.form == Form::packed ? Form::complex : side.form;  // of one point more
  lane.conjugate = side.conjugate != 0;
  return lane;
}
template <class T>
STATOR_FN T* signal_base(const params::FftSide& side, int64_t signal, int ndim, const int64_t* shape) {
  const bool reals = side.form == params::FftForm::real || side.form == params::FftForm::pairs;
  return static_cast<T*>(side.base) + offset_of(signal, ndim, shape, side.strides) * (reals ? 1 : 2);
}

// Multiplies the points of a block of lanes by table[index], whose planes of real and imaginary parts are `length`
// apart.
template <class T, class G>
STATOR_FN void multiply(const G& group, T* x, int64_t points, const void* table, int64_t length,
                        const LaneSide<T>& side) {
  if (!table) return;
  const T* re = static_cast<const T*>(table);
  const int64_t start = side.start, stride = side.stride, lane_index = side.lane_index;
  for_each_lane<T>(group, points, [=](int64_t i, int lane) {
    using V = typename LaneVector<T>::type;
    T* p = x + i * point_size<T> + lane;
    const T* w = re + start + i * stride + lane * lane_index;
    if (lane_index == 0)
      store_point(p, times(load_point(p), w[0], w[length]));
    else
      store_point(p, times<V, V>(load_point(p), load_lanes(w), load_lanes(w + length)));
  });
  group.sync();
}

// Converts between m complex points and the m + 1 points of the spectrum of 2m reals (Cooley, Lewis, Welch, J. Sound
// Vib. 12, 1970), a pair of points (k, m - k) at a time.
template <bool Split, class T, class V>
STATOR_FN void split_or_merge_real(Point<V>& a, Point<V>& b, T re, T im) {
  const Point<V> mirrored = {b.re, -b.im};
  const Point<V> sum = a + mirrored;
  Point<V> difference = times(times_minus_i(a - mirrored), re, im);  // -i w (a - conj b)
  if constexpr (Split) {
    a = {(sum.re + difference.re) * T(0.5), (sum.im + difference.im) * T(0.5)};
    b = {(sum.re - difference.re) * T(0.5), (difference.im - sum.im) * T(0.5)};
  } else {
    a = sum - difference;
    b = {sum.re + difference.re, -sum.im - difference.im};
  }
}
template <bool Split, class T, class G>
STATOR_FN void split_or_merge_lanes(const G& group, const T* from, T* to, int64_t m, const void* roots) {
  const T* w = static_cast<const T*>(roots);
  for_each_lane<T>(group, m / 2 + 1, [=](int64_t k, int lane) {
    constexpr int size = point_size<T>;
    auto a = load_point(from + k * size + lane);
    auto b = load_point(from + (Split && k == 0 ? 0 : m - k) * size + lane);
    if (!Split && k == 0) a.im = b.im = decltype(a.im){};
    split_or_merge_real<Split>(a, b, w[2 * k], w[2 * k + 1]);
    store_point(to + k * size + lane, a);
    if (Split || k > 0) store_point(to + (m - k) * size + lane, b);
  });
  group.sync();
}

// Completes the half of a signal of n points, n odd, and fills with zeros up to `points`.
template <class T, class G>
STATOR_FN void mirror_lanes(const G& group, T* x, int64_t n, int64_t points) {
  const int64_t half = n / 2 + 1;
  for_each_lane<T>(group, points - half + 1, [=](int64_t i, int lane) {
    constexpr int size = point_size<T>;
    const int64_t to = half - 1 + i;  // i == 0 stands for point 0
    auto value = load_point(x + (i == 0 ? 0 : to < n ? n - to : 0) * size + lane);
    value.im = i == 0 ? decltype(value.im){} : -value.im;
    if (to >= n) value.re = value.im = decltype(value.im){};
    store_point(x + (i == 0 ? 0 : to) * size + lane, value);
  });
  group.sync();
}

// Reads, transforms and writes points [0, n) of one block of lanes.
template <class T, class G>
STATOR_CALL void transform(G group, const params::FftSignals& p, const params::FftPasses& passes, const LaneSide<T>& in,
                           const LaneSide<T>& out, bool first, bool last, T* a, T* b) {
  using Form = params::FftForm;
  const int64_t n = passes.n;
  const bool mirrored = in.form == Form::half && in.stride == 1;
  const bool packed_in = first && p.in.form == Form::packed, packed_out = last && p.out.form == Form::packed;
  // Read, and restore the whole signal where the memory has a half of it.
  gather(group, in, packed_in ? n + 1 : mirrored ? in.n / 2 + 1 : n, a);
  if (mirrored) mirror_lanes(group, a, in.n, n);
  if (packed_in) {
    split_or_merge_lanes<false>(group, a, b, n, p.real_roots);
    T* const swap = a;
    a = b;
    b = swap;
  }
  if (first) multiply(group, a, n, p.pre, p.pre_apart, in);
  // Transform.
  T* result = run_passes(group, passes, a, b);
  T* other = result == a ? b : a;
  if (!last) {  // the roots of unity of (column, row)
    const T* of_lanes = static_cast<const T*>(p.lane_roots);
    const T* of_blocks = static_cast<const T*>(p.block_roots);
    const int64_t block = in.start / LaneVector<T>::count;
    for_each_lane<T>(group, n, [=](int64_t k, int lane) {
      T* x = result + k * point_size<T> + lane;
      const auto root = load_point(of_lanes + k * point_size<T> + lane);
      const T* w = of_blocks + 2 * k * block;
      const auto product = times(root, w[0], w[1]);
      store_point(x, times(load_point(x), product.re, product.im));
    });
    group.sync();
  }
  // Finish and write.
  if (last) multiply(group, result, n, p.post, p.post_apart, out);
  if (packed_out) {
    split_or_merge_lanes<true>(group, result, other, n, p.real_roots);
    result = other;
  }
  scatter(group, out, packed_out ? n + 1 : n, result, last ? T(p.scale) : T(1));
}

// Each lane is a signal.
template <class T, class G>
STATOR_FN void transform_whole(const G& group, const params::FftSignals& p, int64_t first, T* a, T* b) {
  LaneSide<T> in = side_of<T>(p.in), out = side_of<T>(p.out);
  const int64_t left = p.signals - first;
  in.lanes = out.lanes = int(left < LaneVector<T>::count ? left : LaneVector<T>::count);
  for (int l = 0; l < LaneVector<T>::count; ++l) {
    const int64_t signal = first + (l < in.lanes ? l : 0);
    in.base[l] = signal_base<T>(p.in, signal, p.ndim, p.shape);
    out.base[l] = signal_base<T>(p.out, signal, p.ndim, p.shape);
  }
  transform(group, p, p.rows, in, out, true, true, a, b);
}

// Each lane is a column of the signal; the results go to `middle`.
template <class T, class G>
STATOR_FN void transform_columns(const G& group, const params::FftSignals& p, int64_t signal, int64_t column, T* middle,
                                 T* a, T* b) {
  constexpr int lanes = LaneVector<T>::count;
  LaneSide<T> in = side_of<T>(p.in);
  T* base = signal_base<T>(p.in, signal, p.ndim, p.shape);
  in.start = column;
  in.stride = p.rows.n;
  in.lane_index = 1;
  in.lanes = int(p.rows.n - column < lanes ? p.rows.n - column : lanes);
  LaneSide<T> out = in;
  out.form = params::FftForm::complex;
  out.step = 2;
  out.imaginary = 1;
  out.count = p.n;
  out.conjugate = false;
  for (int l = 0; l < lanes; ++l) {
    in.base[l] = base;
    out.base[l] = middle;
  }
  transform(group, p, p.columns, in, out, true, false, a, b);
}

// Each lane is a row of `middle`; point k of row r is point r + k * columns.n of the result.
template <class T, class G>
STATOR_FN void transform_rows(const G& group, const params::FftSignals& p, int64_t signal, int64_t row, T* middle, T* a,
                              T* b) {
  constexpr int lanes = LaneVector<T>::count;
  LaneSide<T> out = side_of<T>(p.out);
  T* base = signal_base<T>(p.out, signal, p.ndim, p.shape);
  out.start = row;
  out.stride = p.columns.n;
  out.lane_index = 1;
  out.lanes = int(p.columns.n - row < lanes ? p.columns.n - row : lanes);
  LaneSide<T> in{};
  in.form = params::FftForm::complex;
  in.step = 2;
  in.imaginary = in.stride = 1;
  in.count = in.n = p.rows.n;
  in.lanes = out.lanes;
  for (int l = 0; l < lanes; ++l) {
    in.base[l] = middle + 2 * (row + (l < in.lanes ? l : 0)) * p.rows.n;
    out.base[l] = base;
  }
  transform(group, p, p.rows, in, out, false, true, a, b);
}

template <class T, int Size>
STATOR_KERNEL(Size) void fft_signals_kernel(params::FftSignals p) {
  constexpr int lanes = LaneVector<T>::count;
  const Group<Size> group;
  T* a = reinterpret_cast<T*>(static_cast<char*>(p.work) + group.block() * p.work_bytes);
  const int64_t largest = (p.columns.n > p.rows.n ? p.columns.n : p.rows.n) + 1;
  T* b = a + largest * point_size<T>;
  const int64_t column_blocks = (p.rows.n + lanes - 1) / lanes, row_blocks = (p.columns.n + lanes - 1) / lanes;
  const int64_t units = p.columns.n == 0 ? (p.signals + lanes - 1) / lanes
                        : p.stages == 1  ? p.signals * column_blocks
                        : p.stages == 2  ? p.signals * row_blocks
                                         : p.signals;
  const int64_t end = units * (group.block() + 1) / p.blocks;
  for (int64_t unit = units * group.block() / p.blocks; unit < end; ++unit) {
    if (p.columns.n == 0) {
      transform_whole(group, p, unit * lanes, a, b);
      continue;
    }
    const int64_t signal = p.stages == 1 ? unit / column_blocks : p.stages == 2 ? unit / row_blocks : unit;
    T* middle = static_cast<T*>(p.middle) + 2 * p.n * (p.stages == 3 ? group.block() : signal);
    const int64_t first_column = p.stages == 1 ? unit % column_blocks : 0;
    const int64_t first_row = p.stages == 2 ? unit % row_blocks : 0;
    if (p.stages & 1)
      for (int64_t c = first_column; c < (p.stages == 1 ? first_column + 1 : column_blocks); ++c)
        transform_columns(group, p, signal, c * lanes, middle, a, b);
    if (p.stages & 2)
      for (int64_t r = first_row; r < (p.stages == 2 ? first_row + 1 : row_blocks); ++r)
        transform_rows(group, p, signal, r * lanes, middle, a, b);
  }
}

template <class T>
void launch_signals(const params::Queue& q, const params::FftSignals& p) {
  constexpr int block = 128;
  launch(q, "fft_signals", fft_signals_kernel<T, block>, {p.blocks, block}, p);
}

}  // namespace stator::STATOR_TARGET::fft
