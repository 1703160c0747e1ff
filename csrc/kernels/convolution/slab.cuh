// Fast host: the part of the source that a tile of results needs, copied so that the element which a tap multiplies
// lies at one distance from all results. Then a convolution is a product of matrices whose right operand is never
// written: row k, which belongs to a channel and a tap, begins at distance `at[k]` in the slab.
//
// A tile is `rows` x `columns` results in one plane, numbered with the pitch of the slab, so that some numbers between
// two rows belong to no result. Along an axis, either each tap has a copy of its own, or those elements are together
// that have the same remainder modulo the stride: whichever is less.
#pragma once

#include "device/convert.cuh"
#include "device/target.cuh"
#include "kernels/convolution/axes.cuh"

#include <cstring>

namespace stator::STATOR_TARGET::convolution {

struct SlabAxis {
  bool separate;                  // each tap has a copy
  int32_t copies, length, begin;  // of `length` elements; `begin`: the smallest distance of a tap
  int32_t scale, tap_scale;

  SlabAxis() = default;
  constexpr SlabAxis(const Axis& axis, int32_t count, bool always_separate = false)
      : separate(false), copies(0), length(0), begin(0), scale(axis.scale), tap_scale(axis.tap_scale) {
    if (axis.taps == 0) return;
    const int64_t last = int64_t(axis.taps - 1) * axis.tap_scale, span = last < 0 ? -last : last;
    const int64_t together = axis.scale < span + 1 ? axis.scale : span + 1, reach = count + span / axis.scale;
    begin = last < 0 ? int32_t(last) : 0;
    separate = always_separate || int64_t(axis.taps) * count <= together * reach;
    copies = separate ? axis.taps : int32_t(together);
    length = separate ? count : int32_t(reach);
  }
  STATOR_FN int32_t copy_of(int32_t tap) const { return separate ? tap : (tap * tap_scale - begin) % scale; }
  STATOR_FN int32_t place_of(int32_t tap) const { return separate ? 0 : (tap * tap_scale - begin) / scale; }
  // How far the first element of a copy is from that of tap 0 at the first result.
  STATOR_FN int64_t start_of(int32_t copy) const {
    return separate ? int64_t(copy) * tap_scale : int64_t(begin) + copy;
  }
};

struct Slab {
  SlabAxis axis[axes];

  Slab() = default;
  // `dense`: every number belongs to a result.
  constexpr Slab(const Axes& a, int32_t rows, int32_t columns, bool dense = false)
      : axis{SlabAxis(a.axis[0], 1), SlabAxis(a.axis[1], rows), SlabAxis(a.axis[2], columns, dense)} {}
  constexpr int32_t pitch() const { return axis[2].length; }
  constexpr int64_t plane() const { return int64_t(axis[1].length) * axis[2].length; }
  constexpr int64_t channel() const { return int64_t(axis[0].copies) * axis[1].copies * axis[2].copies * plane(); }

  // Distances of the taps of one channel, in row-major order.
  STATOR_FN void places(const Axes& a, int32_t* at) const {
    for (int32_t i = 0; i < a[0].taps; ++i)
      for (int32_t j = 0; j < a[1].taps; ++j)
        for (int32_t k = 0; k < a[2].taps; ++k)
          *at++ = int32_t(((int64_t(axis[0].copy_of(i)) * axis[1].copies + axis[1].copy_of(j)) * axis[2].copies +
                           axis[2].copy_of(k)) *
                              plane() +
                          int64_t(axis[1].place_of(j)) * pitch() + axis[2].place_of(k));
  }
};

// Where a tile of results begins, on each axis.
struct TilePlace {
  int32_t at[axes];
};

// to[i] = from[(first + i * scale) * step] for i < n, and 0 where that is outside of [0, extent).
template <class T, class C>
STATOR_FN void fill_row(const T* from, int64_t step, int64_t extent, int64_t first, int64_t scale, int64_t n, C* to) {
  int64_t low = first >= 0 ? 0 : (-first + scale - 1) / scale,
          high = extent <= first ? 0 : (extent - 1 - first) / scale + 1;
  if (high > n) high = n;
  if (low > high) low = high;
  for (int64_t i = 0; i < low; ++i) to[i] = C(0);
  for (int64_t i = high; i < n; ++i) to[i] = C(0);
  const T* STATOR_RESTRICT source = from + first * step;
  const int64_t stride = scale * step;
  if (stride == 1) {
    if constexpr (std::is_same_v<T, C>) {
      if (high - low < 64)
        for (int64_t i = low; i < high; ++i) to[i] = source[i];
      else
        std::memcpy(to + low, source + low, size_t(high - low) * sizeof(C));
    } else {
      for (int64_t i = low; i < high; ++i) to[i] = convert<C>(source[i]);
    }
  } else {
    for (int64_t i = low; i < high; ++i) to[i] = convert<C>(source[i * stride]);
  }
}

// Copies `channels` channels of one sample, the first of them at `source`.
template <class T, class C>
STATOR_CALL void fill_slab(const Slab& slab, const Axes& a, const params::Image& image, const T* source,
                           const TilePlace& tile, int64_t channels, C* to) {
  const SlabAxis &planes = slab.axis[0], &rows = slab.axis[1], &columns = slab.axis[2];
  const auto first = [&](int d, int32_t copy) {
    return int64_t(tile.at[d]) * a[d].scale + a[d].origin + slab.axis[d].start_of(copy);
  };
  for (int64_t c = 0; c < channels; ++c, source += image.channel) {
    for (int32_t i = 0; i < planes.copies; ++i) {
      const int64_t z = first(0, i);
      for (int32_t j = 0; j < rows.copies; ++j) {
        for (int32_t k = 0; k < columns.copies; ++k) {
          const int64_t x = first(2, k);
          for (int32_t row = 0; row < rows.length; ++row, to += columns.length) {
            const int64_t y = first(1, j) + int64_t(row) * a[1].scale;
            if (z < 0 || z >= image.extent[0] || y < 0 || y >= image.extent[1])
              std::memset(static_cast<void*>(to), 0, size_t(columns.length) * sizeof(C));
            else
              fill_row(source + z * image.axis[0] + y * image.axis[1], image.axis[2], image.extent[2], x, a[2].scale,
                       columns.length, to);
          }
        }
      }
    }
  }
}

}  // namespace stator::STATOR_TARGET::convolution
