// Normalised rows and their gradients where blocks have threads.
#pragma once

#include "device/team.cuh"
#include "kernels/norm/column_sums.cuh"
#include "kernels/norm/row_tile.cuh"

namespace stator::STATOR_TARGET::norm {

// --- results ---------------------------------------------------------------------------------------------------------

// Normalised rows where blocks have threads: a block takes a row.

// The weights and biases of what a thread holds of a row.
template <class T, int Size>
struct RowAffine {
  opmath_t<T> weight[RowTile<T, Size>::per_thread], bias[RowTile<T, Size>::per_thread];

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
                          RowScale<opmath_t<T>> scale, opmath_t<T> (&value)[RowTile<T, Size>::per_thread], int64_t row,
                          int64_t first) {
  using Tile = RowTile<T, Size>;
  STATOR_UNROLL()
  for (int i = 0; i < Tile::per_thread; ++i) {
    value[i] = scale.normal(value[i]);
    if (p.weight != nullptr) value[i] *= affine.weight[i];
    if (p.bias != nullptr) value[i] += affine.bias[i];
  }
  if (p.activation != params::NormActivation::none) {
    Items<opmath_t<T>, Tile::per_thread> all;
    STATOR_UNROLL()
    for (int i = 0; i < Tile::per_thread; ++i) all[i] = value[i];
    all = activated(p.activation, all);
    STATOR_UNROLL()
    for (int i = 0; i < Tile::per_thread; ++i) value[i] = all[i];
  }
  tile.store(value, static_cast<T*>(p.y) + row * p.n, first, p.n);
}

// Loads a part of a row and adds the residual to it. What is normalised is the sum as it is stored.
template <class T, int Size>
STATOR_FN void load_input(const params::RowNorm& p, const RowTile<T, Size>& tile,
                          opmath_t<T> (&value)[RowTile<T, Size>::per_thread], int64_t row, int64_t first) {
  using A = opmath_t<T>;
  using Tile = RowTile<T, Size>;
  tile.load(value, static_cast<const T*>(p.x) + row * p.n, first, p.n);
  if (p.residual == nullptr) return;
  A added[Tile::per_thread];
  tile.load(added, static_cast<const T*>(p.residual) + row * p.n, first, p.n);
  STATOR_UNROLL()
  for (int i = 0; i < Tile::per_thread; ++i) value[i] = convert<A>(convert<T>(value[i] + added[i]));
  tile.store(value, static_cast<T*>(p.sum) + row * p.n, first, p.n);
}

// Rows of at most RowTile::tile elements, with one read and one write. A block takes rows that are a grid apart, so
// that weights which all rows share are read once.
template <class T, int Size>
STATOR_KERNEL_RESIDENT(Size, Size == 512 ? 2 : 1) void row_norm_registers_kernel(params::RowNorm p,
                                                                                 RowChannels channels, bool vectors) {
  using Tile = RowTile<T, Size>;
  const Group<Size> group;
  const Tile tile{group.rank(), vectors};
  RowAffine<T, Size> affine;
  if (!channels.present) affine.template load_as<false>(p, tile, channels, 0);
  STATOR_UNROLL(1)
  for (int64_t row = group.block(); row < p.rows; row += group.blocks()) {
    channels.first = row % p.groups * p.channels;
    opmath_t<T> value[Tile::per_thread];
    load_input(p, tile, value, row, 0);
    const auto scale = tile_scale(group, p, tile, value);
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
  A value[Tile::per_thread];
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

// --- gradients
// ---------------------------------------------------------------------------------------------------------

// Gradients of normalised rows where blocks have threads. With g' = grad * weight and the normalised row v:
//   dx = (g' - mean(g') - v * mean(g' v)) / deviation,  dweight = sum of grad * v,  dbias = sum of grad over the rows;
// without centring, mean(g') is not subtracted. Of an activation, grad is what its slope makes of the gradient.

// Sums of g' and of g' v.
template <class A>
struct GradientSums {
  A plain, weighted;
};
struct AddGradientSums {
  template <class A>
  STATOR_FN GradientSums<A> operator()(const GradientSums<A>& a, const GradientSums<A>& b) const {
    return {a.plain + b.plain, a.weighted + b.weighted};
  }
};

// Turns a row's sums into the means that are subtracted.
template <class A, int Size>
STATOR_FN GradientSums<A> gradient_means(const Group<Size>& group, const params::RowNorm& p, GradientSums<A> mine) {
  const GradientSums<A> all = group.reduce(mine, AddGradientSums{});
  const A divisor = row_divisor<A>(p);
  return {p.centered ? all.plain / divisor : A(0), all.weighted / divisor};
}

// Gradients of what the activation was applied to, from the normalised elements and their weights, if there are any.
// Biases are read here for each row, so that they take no registers elsewhere.
template <bool Channels, class T, int Size>
STATOR_FN void through_row_activation(const params::RowNorm& p, const RowTile<T, Size>& tile,
                                      const RowChannels& channels, int64_t first,
                                      const opmath_t<T> (&normal)[RowTile<T, Size>::per_thread],
                                      const opmath_t<T> (&weight)[RowTile<T, Size>::per_thread],
                                      opmath_t<T> (&grad)[RowTile<T, Size>::per_thread]) {
  using A = opmath_t<T>;
  using Tile = RowTile<T, Size>;
  if (p.activation == params::NormActivation::none) return;
  A bias[Tile::per_thread] = {};
  if (p.bias != nullptr) load_weights<Channels>(bias, tile, channels, p.bias, first, p.n);
  Items<A, Tile::per_thread> slope, value;
  STATOR_UNROLL()
  for (int i = 0; i < Tile::per_thread; ++i) {
    slope[i] = grad[i];
    value[i] = (p.weight != nullptr ? normal[i] * weight[i] : normal[i]) + bias[i];
  }
  slope = activation_slopes(p.activation, slope, value);
  STATOR_UNROLL()
  for (int i = 0; i < Tile::per_thread; ++i) grad[i] = tile.position(i, first) < p.n ? slope[i] : A(0);
}
// Of one element, whose weight and bias have index `at`.
template <class T>
STATOR_FN opmath_t<T> through_row_activation(const params::RowNorm& p, int64_t at, opmath_t<T> normal,
                                             opmath_t<T> grad) {
  using A = opmath_t<T>;
  if (p.activation == params::NormActivation::none) return grad;
  const A scaled = p.weight != nullptr ? normal * convert<A>(static_cast<const T*>(p.weight)[at]) : normal;
  const A value = p.bias != nullptr ? scaled + convert<A>(static_cast<const T*>(p.bias)[at]) : scaled;
  return activation_slopes(p.activation, Items<A, 1>{{grad}}, Items<A, 1>{{value}})[0];
}

// Rows of at most RowTile::tile elements, whose element i has weight i. A block takes rows that are a grid apart, and
// sums the gradients of the weights in registers.
template <class T, int Size>
STATOR_KERNEL_RESIDENT(Size, 1) void row_norm_registers_backward_kernel(params::RowNorm p, bool vectors) {
  using A = opmath_t<T>;
  using Tile = RowTile<T, Size>;
  const Group<Size> group;
  const Tile tile{group.rank(), vectors};
  A dweight[Tile::per_thread], dbias[Tile::per_thread], weight[Tile::per_thread];
  if (p.weight != nullptr) tile.load(weight, static_cast<const T*>(p.weight), 0, p.n);
  STATOR_UNROLL()
  for (int i = 0; i < Tile::per_thread; ++i) dweight[i] = dbias[i] = A(0);
  STATOR_UNROLL(1)
  for (int64_t row = group.block(); row < p.rows; row += group.blocks()) {
    A value[Tile::per_thread], grad[Tile::per_thread];
    tile.load(value, static_cast<const T*>(p.x) + row * p.n, 0, p.n);
    tile.load(grad, static_cast<const T*>(p.grad) + row * p.n, 0, p.n);
    const RowScale<A> scale = tile_scale(group, p, tile, value);
    STATOR_UNROLL()
    for (int i = 0; i < Tile::per_thread; ++i) value[i] = tile.position(i, 0) < p.n ? scale.normal(value[i]) : A(0);
    through_row_activation<false>(p, tile, RowChannels{}, 0, value, weight, grad);
    GradientSums<A> sums{A(0), A(0)};
    STATOR_UNROLL()
    for (int i = 0; i < Tile::per_thread; ++i) {  // gradients beyond the row are 0
      dweight[i] += grad[i] * value[i];
      dbias[i] += grad[i];
      if (p.weight != nullptr) grad[i] *= weight[i];
      sums.plain += grad[i];
      sums.weighted += grad[i] * value[i];
    }
    sums = gradient_means(group, p, sums);
    STATOR_UNROLL()
    for (int i = 0; i < Tile::per_thread; ++i) value[i] = scale.slope(grad[i] - sums.plain - value[i] * sums.weighted);
    tile.store(value, static_cast<T*>(p.y) + row * p.n, 0, p.n);
  }
  const int64_t width = p.dbias != nullptr ? 2 * p.n : p.n;
  A* const partial = static_cast<A*>(p.partials) + group.block() * width;
  tile.store(dweight, partial, 0, p.n);
  if (p.dbias != nullptr) tile.store(dbias, partial + p.n, 0, p.n);
}

// The normalised elements of a part of a row, and their gradients times the weights.
template <bool Channels, class T, int Size>
STATOR_FN void load_gradients(const params::RowNorm& p, const RowTile<T, Size>& tile, const RowChannels& channels,
                              RowScale<opmath_t<T>> scale, int64_t row, int64_t first,
                              opmath_t<T> (&normal)[RowTile<T, Size>::per_thread],
                              opmath_t<T> (&grad)[RowTile<T, Size>::per_thread]) {
  using Tile = RowTile<T, Size>;
  opmath_t<T> weight[Tile::per_thread];
  tile.load(normal, static_cast<const T*>(p.x) + row * p.n, first, p.n);
  tile.load(grad, static_cast<const T*>(p.grad) + row * p.n, first, p.n);
  if (p.weight != nullptr) load_weights<Channels>(weight, tile, channels, p.weight, first, p.n);
  STATOR_UNROLL()
  for (int i = 0; i < Tile::per_thread; ++i)
    normal[i] = tile.position(i, first) < p.n ? scale.normal(normal[i]) : opmath_t<T>(0);
  through_row_activation<Channels>(p, tile, channels, first, normal, weight, grad);
  if (p.weight == nullptr) return;
  STATOR_UNROLL()
  for (int i = 0; i < Tile::per_thread; ++i) grad[i] *= weight[i];
}

// Writes the gradient of a row of any length.
template <bool Channels, class T, int Size>
STATOR_FN void store_gradient(const params::RowNorm& p, const RowTile<T, Size>& tile, const RowChannels& channels,
                              RowScale<opmath_t<T>> scale, GradientSums<opmath_t<T>> means, int64_t row) {
  using A = opmath_t<T>;
  using Tile = RowTile<T, Size>;
  A value[Tile::per_thread], grad[Tile::per_thread];
  STATOR_UNROLL(1)
  for (int64_t first = 0; first < p.n; first += Tile::tile) {
    load_gradients<Channels>(p, tile, channels, scale, row, first, value, grad);
    STATOR_UNROLL()
    for (int i = 0; i < Tile::per_thread; ++i)
      value[i] = scale.slope(grad[i] - means.plain - value[i] * means.weighted);
    tile.store(value, static_cast<T*>(p.y) + row * p.n, first, p.n);
  }
}

// Rows of any length whose element i has weight i: the gradient of x, and the rows' scales for the gradients of the
// weights.
template <class T, int Size>
STATOR_KERNEL_RESIDENT(Size, 1) void row_norm_long_backward_kernel(params::RowNorm p, RowChannels channels,
                                                                   bool vectors) {
  using A = opmath_t<T>;
  using Tile = RowTile<T, Size>;
  const Group<Size> group;
  const Tile tile{group.rank(), vectors};
  const int64_t row = group.block();
  const RowScale<A> scale = long_scale(group, p, tile, static_cast<const T*>(p.x) + row * p.n);
  GradientSums<A> sums{A(0), A(0)};
  A value[Tile::per_thread], grad[Tile::per_thread];
  STATOR_UNROLL(1)
  for (int64_t first = 0; first < p.n; first += Tile::tile) {
    load_gradients<false>(p, tile, channels, scale, row, first, value, grad);
    STATOR_UNROLL()
    for (int i = 0; i < Tile::per_thread; ++i) {
      sums.plain += grad[i];
      sums.weighted += grad[i] * value[i];
    }
  }
  store_gradient<false>(p, tile, channels, scale, gradient_means(group, p, sums), row);
  if (group.rank() == 0) static_cast<RowScale<A>*>(p.partials)[row] = scale;
}

// Gradients of the weights of long rows, by columns.
template <class T, int Size>
STATOR_KERNEL(Size) void row_norm_weights_kernel(params::RowNorm p) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const int64_t column = group.block() * 32 + group.rank() % 32;
  const RowScale<A>* const scales = static_cast<const RowScale<A>*>(p.partials);
  Cascade<A> dweight, dbias;
  if (column < p.n) {
    const T* const x = static_cast<const T*>(p.x) + column;
    const T* const grad = static_cast<const T*>(p.grad) + column;
    STATOR_UNROLL(4)
    for (int64_t row = group.rank() / 32; row < p.rows; row += Size / 32) {
      const A normal = scales[row].normal(convert<A>(x[row * p.n]));
      const A g = through_row_activation<T>(p, column, normal, convert<A>(grad[row * p.n]));
      dweight.add(g * normal);
      dbias.add(g);
    }
  }
  A total[2] = {dweight.value(), dbias.value()};
  fold_columns(group, total, 32, Sum{});
  if (group.rank() >= 32 || column >= p.n) return;
  static_cast<T*>(p.dweight)[column] = convert<T>(total[0]);
  if (p.dbias != nullptr) static_cast<T*>(p.dbias)[column] = convert<T>(total[1]);
}

// Rows of channels: a warp sums the gradients of a channel, for its weight and for the row; of one channel the block.
template <class T, int Size>
STATOR_KERNEL_RESIDENT(Size, 1) void channel_norm_backward_kernel(params::RowNorm p, RowChannels channels,
                                                                  bool vectors) {
  using A = opmath_t<T>;
  using Tile = RowTile<T, Size>;
  const Group<Size> group;
  const Team<Size> team(group);
  const Tile tile{group.rank(), vectors};
  const int64_t row = group.block(), all = p.groups * p.channels;
  channels.first = row % p.groups * p.channels;
  const T* const x = static_cast<const T*>(p.x) + row * p.n;
  const T* const grad = static_cast<const T*>(p.grad) + row * p.n;
  const T* const weight = static_cast<const T*>(p.weight);
  A* const partial = static_cast<A*>(p.partials) + row / p.groups * 2 * all + channels.first;
  const RowScale<A> scale = long_scale(group, p, tile, x);
  const bool together = p.channels == 1;
  const int first = together ? group.rank() : team.rank(), step = together ? Size : Team<Size>::size;
  GradientSums<A> sums{A(0), A(0)};
  STATOR_UNROLL(1)
  for (int64_t c = together ? 0 : team.index(); c < p.channels; c += Team<Size>::count) {
    GradientSums<A> mine{A(0), A(0)};
    STATOR_UNROLL(4)
    for (int64_t i = c * p.inner + first; i < (c + 1) * p.inner; i += step) {
      const A normal = scale.normal(convert<A>(x[i]));
      const A g = through_row_activation<T>(p, channels.first + c, normal, convert<A>(grad[i]));
      mine.plain += g;
      mine.weighted += g * normal;
    }
    if (together) {
      mine = group.reduce(mine, AddGradientSums{});
    } else {
      mine.plain = from_first_sublane(sum_sublanes(mine.plain, Team<Size>::size));
      mine.weighted = from_first_sublane(sum_sublanes(mine.weighted, Team<Size>::size));
    }
    if (first != 0) continue;
    partial[c] = mine.weighted;
    partial[all + c] = mine.plain;
    const A w = weight != nullptr ? convert<A>(weight[channels.first + c]) : A(1);
    sums.plain += w * mine.plain;
    sums.weighted += w * mine.weighted;
  }
  store_gradient<true>(p, tile, channels, scale, gradient_means(group, p, sums), row);
}

}  // namespace stator::STATOR_TARGET::norm
