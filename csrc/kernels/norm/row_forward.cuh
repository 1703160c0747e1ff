// Normalised rows where blocks have threads: a block takes a row.
#pragma once

#include "kernels/norm/row_tile.cuh"

namespace stator::STATOR_TARGET::norm {

// The weights and biases of what a thread holds of a row.
template <class T, int Size>
struct RowAffine {
  opmath_t<T> weight[RowTile<T, Size>::held], bias[RowTile<T, Size>::held];

  template <bool Channels>
  STATOR_FN void load_as(const params::RowNorm& p, const RowTile<T, Size>& tile, const RowChannels& channels,
                         int64_t first) {
    if (p.weight != nullptr) load_weights<Channels>(weight, tile, channels, p.weight, first, p.n);
    if (p.bias != nullptr) load_weights<Channels>(bias, tile, channels, p.bias, first, p.n);
  }
  STATOR_FN void load(const params::RowNorm& p, const RowTile<T, Size>& tile, const RowChannels& channels,
                      int64_t first) {
    channels.present ? load_as<true>(p, tile, channels, first) : load_as<false>(p, tile, channels, first);
  }
};

template <class T, int Size>
STATOR_FN void finish_row(const params::RowNorm& p, const RowTile<T, Size>& tile, const RowAffine<T, Size>& affine,
                          RowScale<opmath_t<T>> scale, opmath_t<T> (&value)[RowTile<T, Size>::held], int64_t row,
                          int64_t first) {
  using Tile = RowTile<T, Size>;
  STATOR_UNROLL()
  for (int i = 0; i < Tile::held; ++i) {
    value[i] = scale.normal(value[i]);
    if (p.weight != nullptr) value[i] *= affine.weight[i];
    if (p.bias != nullptr) value[i] += affine.bias[i];
  }
  if (p.activation != params::NormActivation::none) {
    Items<opmath_t<T>, Tile::held> all;
    STATOR_UNROLL()
    for (int i = 0; i < Tile::held; ++i) all[i] = value[i];
    all = activated(p.activation, all);
    STATOR_UNROLL()
    for (int i = 0; i < Tile::held; ++i) value[i] = all[i];
  }
  tile.store(value, static_cast<T*>(p.y) + row * p.n, first, p.n);
}

// Loads a part of a row and adds the residual to it. What is normalised is the sum as it is stored.
template <class T, int Size>
STATOR_FN void load_input(const params::RowNorm& p, const RowTile<T, Size>& tile,
                          opmath_t<T> (&value)[RowTile<T, Size>::held], int64_t row, int64_t first) {
  using A = opmath_t<T>;
  using Tile = RowTile<T, Size>;
  tile.load(value, static_cast<const T*>(p.x) + row * p.n, first, p.n);
  if (p.residual == nullptr) return;
  A added[Tile::held];
  tile.load(added, static_cast<const T*>(p.residual) + row * p.n, first, p.n);
  STATOR_UNROLL()
  for (int i = 0; i < Tile::held; ++i) value[i] = convert<A>(convert<T>(value[i] + added[i]));
  tile.store(value, static_cast<T*>(p.sum) + row * p.n, first, p.n);
}

// Rows of at most RowTile::tile elements, with one read and one write. A block takes rows that are a grid apart, so
// that weights which all rows share are read once.
template <class T, int Size>
STATOR_KERNEL_RESIDENT(Size, Size == 512 ? 2 : 1) void row_norm_held_kernel(params::RowNorm p, RowChannels channels,
                                                                            bool vectors) {
  using Tile = RowTile<T, Size>;
  const Group<Size> group;
  const Tile tile{group.rank(), vectors};
  RowAffine<T, Size> affine;
  if (!channels.present) affine.template load_as<false>(p, tile, channels, 0);
  STATOR_UNROLL(1)
  for (int64_t row = group.block(); row < p.rows; row += group.blocks()) {
    channels.first = row % p.groups * p.channels;
    opmath_t<T> value[Tile::held];
    load_input(p, tile, value, row, 0);
    const auto scale = held_scale(group, p, tile, value);
    if (p.lengths != nullptr && group.rank() == 0) store_length<T>(p, row, scale);
    if (channels.present) affine.template load_as<true>(p, tile, channels, 0);
    finish_row(p, tile, affine, scale, value, row, 0);
  }
}

// Rows of any length, with two reads and one write.
template <class T, int Size>
STATOR_KERNEL_RESIDENT(Size, 1) void row_norm_long_kernel(params::RowNorm p, RowChannels channels, bool vectors) {
  using A = opmath_t<T>;
  using Tile = RowTile<T, Size>;
  const Group<Size> group;
  const Tile tile{group.rank(), vectors};
  const int64_t row = group.block();
  channels.first = row % p.groups * p.channels;
  A value[Tile::held];
  Moments<A> mine{A(0), A(0), A(0)};
  STATOR_UNROLL(1)
  for (int64_t first = 0; first < p.n; first += Tile::tile) {
    load_input(p, tile, value, row, first);
    enter_moments(mine, p, tile, value, first, A(1));
  }
  const Moments<A> all = joined_moments(group, p, mine);
  const T* const stored = static_cast<const T*>(p.residual == nullptr ? p.x : p.sum) + row * p.n;
  RowScale<A> scale = row_scale(all.mean, all.m2, A(1), p);
  if (!gives_deviation(all.m2, p)) {
    group.sync();  // threads read what others stored
    scale = long_scale(group, p, tile, stored);
  }
  if (p.lengths != nullptr && group.rank() == 0) store_length<T>(p, row, scale);
  RowAffine<T, Size> affine;
  STATOR_UNROLL(1)
  for (int64_t first = 0; first < p.n; first += Tile::tile) {
    tile.load(value, stored, first, p.n);
    affine.load(p, tile, channels, first);
    finish_row(p, tile, affine, scale, value, row, first);
  }
}

}  // namespace stator::STATOR_TARGET::norm
