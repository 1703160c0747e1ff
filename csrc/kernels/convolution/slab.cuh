// Fast host: the part of the source that a tile of results needs, copied so that the element which a tap multiplies
// lies at one distance from all results. Then a convolution is a product of matrices whose right operand is never
// written: row k, which belongs to a channel and a tap, begins at distance `at[k]` in the slab.
//
// A tile is `rows` x `columns` results in each of some planes, numbered with the pitch of the slab, so that some
// numbers between two rows belong to no result. Along an axis, either each tap has a copy of its own, or those elements
// are together that have the same remainder modulo the stride: whichever is less.
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
  STATOR_FN int32_t offset_of(int32_t tap) const { return separate ? 0 : (tap * tap_scale - begin) / scale; }
  // How far the first element of a copy is from that of tap 0 at the first result.
  STATOR_FN int64_t start_of(int32_t copy) const {
    return separate ? int64_t(copy) * tap_scale : int64_t(begin) + copy;
  }
};

struct Slab {
  SlabAxis axis[axes];

  Slab() = default;
  // `dense`: every number of a plane belongs to a result.
  constexpr Slab(const Axes& a, int32_t rows, int32_t columns, bool dense = false, int32_t planes = 1)
      : axis{SlabAxis(a.axis[0], planes), SlabAxis(a.axis[1], rows), SlabAxis(a.axis[2], columns, dense)} {}
  constexpr int32_t pitch() const { return axis[2].length; }
  constexpr int64_t plane() const { return int64_t(axis[1].length) * axis[2].length; }
  constexpr int64_t volume() const { return axis[0].length * plane(); }
  constexpr int64_t channel() const { return int64_t(axis[0].copies) * axis[1].copies * axis[2].copies * volume(); }

  // Distances of the taps of one channel, in row-major order.
  STATOR_FN void tap_offsets(const Axes& a, int32_t* at) const {
    for (int32_t i = 0; i < a[0].taps; ++i)
      for (int32_t j = 0; j < a[1].taps; ++j)
        for (int32_t k = 0; k < a[2].taps; ++k)
          *at++ =
              int32_t(((int64_t(axis[0].copy_of(i)) * axis[1].copies + axis[1].copy_of(j)) * axis[2].copies +
                       axis[2].copy_of(k)) *
                          volume() +
                      axis[0].offset_of(i) * plane() + int64_t(axis[1].offset_of(j)) * pitch() + axis[2].offset_of(k));
  }
};

// Where a tile of results begins, on each axis.
struct TileOrigin {
  int32_t at[axes];
};

// The i < n for which first + i * scale is in [0, extent).
struct Inside {
  int64_t begin, end;

  STATOR_FN Inside(int64_t first, int64_t scale, int64_t extent, int64_t n)
      : begin(first >= 0 ? 0 : (-first + scale - 1) / scale),
        end(extent <= first ? 0 : (extent - 1 - first) / scale + 1) {
    if (end > n) end = n;
    if (begin > end) begin = end;
  }
};

// Copies n elements, which overlap nothing. Few are two moves that may overlap each other, and no call.
template <class C>
STATOR_FN void copy_row(const C* from, int64_t n, C* to) {
  const auto twice = [&](auto count) {
    constexpr size_t bytes = decltype(count)::value * sizeof(C);
    std::memcpy(to, from, bytes);
    std::memcpy(to + n - count, from + n - count, bytes);
  };
  if (n > 16)
    std::memcpy(to, from, size_t(n) * sizeof(C));
  else if (n >= 8)
    twice(std::integral_constant<int, 8>{});
  else if (n >= 4)
    twice(std::integral_constant<int, 4>{});
  else if (n >= 2)
    twice(std::integral_constant<int, 2>{});
  else if (n == 1)
    *to = *from;
}

// to[i] = from[i * stride] for i inside, and 0 for the others of n.
template <class T, class C>
STATOR_FN void fill_row(const T* STATOR_RESTRICT from, int64_t stride, const Inside& inside, int64_t n,
                        C* STATOR_RESTRICT to) {
  for (int64_t i = 0; i < inside.begin; ++i) to[i] = C(0);
  for (int64_t i = inside.end; i < n; ++i) to[i] = C(0);
  if constexpr (std::is_same_v<T, C>)
    if (stride == 1) return copy_row(from + inside.begin, inside.end - inside.begin, to + inside.begin);
  if (stride == 1)
    for (int64_t i = inside.begin; i < inside.end; ++i) to[i] = convert<C>(from[i]);
  else
    for (int64_t i = inside.begin; i < inside.end; ++i) to[i] = convert<C>(from[i * stride]);
}

// Copies `channels` channels of one sample, the first of them at `source`.
template <class T, class C>
STATOR_CALL void fill_slab(const Slab& slab, const Axes& a, const params::Image& image, const T* source,
                           const TileOrigin& tile, int64_t channels, C* to) {
  const int64_t channel = slab.channel(), plane = slab.plane(), pitch = slab.pitch();
  const auto zero = [](C* at, int64_t n) { std::memset(static_cast<void*>(at), 0, size_t(n) * sizeof(C)); };
  const auto first = [&](int d, int32_t copy) {
    return int64_t(tile.at[d]) * a[d].scale + a[d].origin + slab.axis[d].start_of(copy);
  };
  const auto inside = [&](int d, int64_t at) { return Inside(at, a[d].scale, image.extent[d], slab.axis[d].length); };
  const auto step = [&](int d) { return a[d].scale * image.axis[d]; };
  const int64_t planes = slab.axis[0].length, rows = slab.axis[1].length;
  const auto copy = [&](int32_t i, int32_t j, int32_t k, C* at) {
    const int64_t z = first(0, i), y = first(1, j), x = first(2, k);
    const Inside of_planes = inside(0, z), of_rows = inside(1, y), of_columns = inside(2, x);
    const T* from = source + z * image.axis[0] + y * image.axis[1] + x * image.axis[2];
    for (int64_t c = 0; c < channels; ++c, from += image.channel, at += channel)
      for (int64_t p = 0; p < planes; ++p) {
        C* const line = at + p * plane;
        if (p < of_planes.begin || p >= of_planes.end) {
          zero(line, plane);
          continue;
        }
        zero(line, of_rows.begin * pitch);
        zero(line + of_rows.end * pitch, (rows - of_rows.end) * pitch);
        for (int64_t r = of_rows.begin; r < of_rows.end; ++r)
          fill_row(from + p * step(0) + r * step(1), step(2), of_columns, pitch, line + r * pitch);
      }
  };
  for (int32_t i = 0; i < slab.axis[0].copies; ++i)
    for (int32_t j = 0; j < slab.axis[1].copies; ++j)
      for (int32_t k = 0; k < slab.axis[2].copies; ++k, to += slab.volume()) copy(i, j, k, to);
}

}  // namespace stator::STATOR_TARGET::convolution
