// Windows of pooling: which elements a result is of, and which results an element is in.
#pragma once

#include "device/convert.cuh"
#include "device/math/math.cuh"
#include "device/planes.cuh"
#include "params/pooling.hpp"

namespace stator::STATOR_TARGET::pooling {

using params::PoolAxis;

struct PoolTuning {
  static constexpr int block = 256;
  static constexpr int elements = by_target<256, 8192>::value;  // of a block
  static constexpr int tile = 512;                              // results of a row that the fast host holds
  static constexpr int columns = 2048;                          // elements of a row that it folds at once
  static constexpr int lanes = 32;                              // of them that it folds side by side
  static constexpr int compensated = 1024;                      // elements of a plane whose sum is worth it
  static constexpr int slab = 16384;                            // elements whose slopes it adds up at once
  static constexpr int batch = 32768;                           // elements of the slabs of a block
};

// By what positions along each axis are divided by: the extents of adaptive windows, the stride and the dilation of
// others.
struct Pool : params::Pool {
  MultipliedDivmod<int64_t> by_in[dims], by_out[dims];

  explicit Pool(const params::Pool& p) : params::Pool(p) {
    for (int d = 0; d < dims; ++d) {
      by_in[d] = MultipliedDivmod<int64_t>(adaptive ? axes[d].in : axes[d].stride);
      by_out[d] = MultipliedDivmod<int64_t>(adaptive ? axes[d].out : axes[d].dilation);
    }
  }
};

// Elements first, first + dilation, ... below end; count: with those of the padding that count.
struct Window {
  int first, end, count;
};

STATOR_FN Window window_of(const Pool& p, int d, int o) {
  const PoolAxis& a = p.axes[d];
  if (p.adaptive) {
    const int first = int(p.by_out[d].divide(int64_t(o) * a.in));
    const int end = int(p.by_out[d].divide(int64_t(o + 1) * a.in + a.out - 1));
    return {first, end, end - first};
  }
  const int begin = o * a.stride - a.padding;
  int first = begin, end = begin + (a.kernel - 1) * a.dilation + 1;
  if (begin < 0) first = begin + int(p.by_out[d].divide(a.dilation - begin - 1)) * a.dilation;
  const int padded = end < a.in + a.padding ? end : a.in + a.padding;
  end = end < a.in ? end : a.in;
  return {first, end, p.count_padding ? padded - begin : end - first};
}

// Whether result o of a plane has an index that is none of the plane's. A window of only padding has -1.
STATOR_FN bool is_wrong_index(const Pool& p, int o, int64_t index) {
  int64_t plane = 1;
  bool empty = false;
  STATOR_UNROLL()
  for (int d = Pool::dims - 1; d >= 0; --d) {
    const Window w = window_of(p, d, o % p.axes[d].out);
    empty = empty || w.first >= w.end;
    plane *= p.axes[d].in;
    o /= p.axes[d].out;
  }
  return index < 0 ? index != -1 || !empty : index >= plane;
}

// The first and the last result whose window may have element i; with a dilation of 1 all of them do.
struct Results {
  int first, last;
};

STATOR_FN Results results_of(const Pool& p, int d, int i) {
  const PoolAxis& a = p.axes[d];
  const auto divide = [&](int64_t n) { return int(p.by_in[d].divide(n)); };
  if (p.adaptive) return {divide(int64_t(i) * a.out), divide(int64_t(i + 1) * a.out + a.in - 1) - 1};
  const int place = i + a.padding, before = place - (a.kernel - 1) * a.dilation, last = divide(place);
  return {before > 0 ? divide(before + a.stride - 1) : 0, last < a.out ? last : a.out - 1};
}

// Short adaptive windows that are all alike, as fixed ones, whose positions cost no division.
inline params::Pool with_fixed_windows(const params::Pool& p) {
  params::Pool fixed = p;
  if (!p.adaptive || p.axes[2].in > 8 * p.axes[2].out) return fixed;
  for (PoolAxis& a : fixed.axes) {
    if (a.in % a.out != 0) return p;
    a.kernel = a.stride = a.in / a.out;
    a.padding = 0;
    a.dilation = 1;
  }
  fixed.adaptive = false;
  return fixed;
}

using Cut = Planes<PoolTuning::elements>;

// The elements of the forward function's operand, or those of its result.
inline Cut cut_of(const params::Pool& p, bool in) {
  const auto extent = [&](int d) { return in ? p.axes[d].in : p.axes[d].out; };
  return Cut(p.planes, extent(0), extent(1), extent(2));
}

// Calls f(index in the plane) for the elements of a result's window, in their order; or for every `lanes`-th of each
// row, from one on.
template <class F>
STATOR_FN void for_window(const Pool& p, const Position& at, F f, int lane = 0, int lanes = 1) {
  const Window d = window_of(p, 0, at.at[0]), h = window_of(p, 1, at.at[1]), w = window_of(p, 2, at.at[2]);
  STATOR_UNROLL(1)
  for (int i = d.first; i < d.end; i += p.axes[0].dilation) {
    STATOR_UNROLL(1)
    for (int j = h.first; j < h.end; j += p.axes[1].dilation) {
      const int row = (i * p.axes[1].in + j) * p.axes[2].in;
      STATOR_UNROLL(1)
      for (int k = w.first + lane * p.axes[2].dilation; k < w.end; k += lanes * p.axes[2].dilation) f(row + k);
    }
  }
}

// The number of elements of all planes before one.
STATOR_FN int64_t plane_size(const params::Pool& p, bool in) {
  int64_t size = 1;
  STATOR_UNROLL()
  for (int d = 0; d < Pool::dims; ++d) size *= in ? p.axes[d].in : p.axes[d].out;
  return size;
}

// What the sum of a result's window is divided by.
template <class A>
STATOR_FN A divisor_at(const Pool& p, const Position& at) {
  if (p.divisor != 0) return A(p.divisor);
  return A(window_of(p, 0, at.at[0]).count) * A(window_of(p, 1, at.at[1]).count) * A(window_of(p, 2, at.at[2]).count);
}

// Whether the only result of a plane is the mean of all of it, and what the sum is divided by.
STATOR_FN bool has_whole_planes(const params::Pool& p) {
  bool whole = p.kind == params::PoolKind::mean;
  STATOR_UNROLL()
  for (const PoolAxis& a : p.axes)
    whole = whole && a.out == 1 && (p.adaptive || (a.kernel == a.in && a.padding == 0 && a.dilation == 1));
  return whole;
}
template <class A>
STATOR_FN A divisor_of_planes(const params::Pool& p) {
  return p.divisor == 0 ? A(plane_size(p, true)) : A(p.divisor);
}

}  // namespace stator::STATOR_TARGET::pooling
