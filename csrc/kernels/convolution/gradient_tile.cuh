// Weight gradients where blocks have threads: products of the gradient and of windows, whose depth, all results of all
// samples, is divided among blocks; and direct sums, on every target, for what sums_directly or a slab decides.
#pragma once

#include "kernels/convolution/convolve_tile.cuh"

namespace stator::STATOR_TARGET::convolution {

struct GradientTilePlan {
  int64_t row_tiles, column_tiles, splits, chunk, blocks;  // chunk: of the depth, per split
};

// What a block computes: the tile from a row and a column on, of a group, over one split of the results.
struct GradientTile {
  int64_t first_row, first_column, group, split;
};
STATOR_FN GradientTile tile_of(const GradientTilePlan& plan, int64_t groups, int64_t block) {
  const int64_t row_tile = block % plan.row_tiles;
  block /= plan.row_tiles;
  const int64_t column_tile = block % plan.column_tiles;
  block /= plan.column_tiles;
  return {row_tile * TileTuning::rows, column_tile * TileTuning::columns, block % groups, block / groups};
}

// Steps through the results of all samples.
struct ResultCursor {
  int64_t sample;
  int32_t result;

  STATOR_FN void advance(int32_t by, int32_t results) {
    result += by;
    while (result >= results) {
      result -= results;
      ++sample;
    }
  }
};

// What one tap and channel meet: a number of the source for each result.
template <class T>
struct WindowColumn {
  const T* source;
  int32_t base[axes];
  bool exists;

  STATOR_FN WindowColumn(const params::WeightGradient& p, const Axes& a, int64_t g, int64_t column)
      : exists(column < a.taps() * p.channels) {
    source = static_cast<const T*>(p.source.data) + g * p.source.group + column % p.channels * p.source.channel;
    int32_t tap = int32_t((exists ? column : 0) / p.channels);
    STATOR_UNROLL()
    for (int d = axes - 1; d >= 0; --d) {
      base[d] = tap % a[d].taps * a[d].tap_scale + a[d].origin;
      tap /= a[d].taps;
    }
  }
  STATOR_FN T at(const params::WeightGradient& p, const Axes& a, int64_t sample, int32_t z, int32_t y,
                 int32_t x) const {
    const int32_t i = z * a[0].scale + base[0], j = y * a[1].scale + base[1], k = x * a[2].scale + base[2];
    const bool inside = exists && i >= 0 && i < p.source.extent[0] && j >= 0 && j < p.source.extent[1] && k >= 0 &&
                        k < p.source.extent[2];
    if (!inside) return T(0.0f);
    return source[sample * p.source.sample + i * p.source.axis[0] + j * p.source.axis[1] + k * p.source.axis[2]];
  }
};

// partials[split][group][row][tap][channel].
template <int Size, class T>
STATOR_KERNEL(Size) void gradient_tile_kernel(params::WeightGradient p, GradientTilePlan plan, FastDivmod plane_size,
                                              FastDivmod row_size) {
  constexpr int width = vector_width<T>, depth = TileOf<T>::depth;
  using C = sum_of<T>;
  const Group<Size> group;
  const int rank = group.rank();
  const auto [first_row, first_column, g, split] = tile_of(plan, p.groups, group.block());
  const Axes a = axes_of(p);
  const int32_t results = int32_t(a.positions());
  const int64_t all = p.samples * results, first = split * plan.chunk;
  const int64_t length = all - first < plan.chunk ? all - first : plan.chunk;

  // Each thread loads for one row of the gradient, and one tap and channel of the source.
  const int64_t columns = int64_t(a.taps()) * p.channels;
  const InterleavedSlots at(rank);
  const int64_t row = first_row + at.a_row;
  const T* grad = static_cast<const T*>(p.grad.data) + g * p.grad.group + row * p.grad.channel;
  const WindowColumn<T> column[2] = {{p, a, g, first_column + at.b_column[0]},
                                     {p, a, g, first_column + at.b_column[1]}};
  ResultCursor cursor;
  cursor.sample = divide(first, results, cursor.result);
  cursor.advance(at.a_vector, results);
  int64_t left = length - at.a_vector;  // all three vectors are of the same results
  const TileOf<T> tile = multiply_steps<T>(group, int32_t((length + depth - 1) / depth), at, [&] {
    Staged<T> staged{};
    int32_t rest, z = plane_size.divmod(cursor.result, rest), x, y = row_size.divmod(rest, x);
    int64_t sample = cursor.sample;
    STATOR_UNROLL()
    for (int k = 0; k < width; ++k) {
      if (k * TileTuning::vectors < left) {
        if (row < p.rows)
          staged.a[k] = grad[sample * p.grad.sample + z * p.grad.axis[0] + y * p.grad.axis[1] + x * p.grad.axis[2]];
        staged.b[0][k] = column[0].at(p, a, sample, z, y, x);
        staged.b[1][k] = column[1].at(p, a, sample, z, y, x);
      }
      x += TileTuning::vectors;
      while (x >= a[2].count) {
        x -= a[2].count;
        if (++y < a[1].count) continue;
        y = 0;
        if (++z < a[0].count) continue;
        z = 0;
        ++sample;
      }
    }
    cursor.advance(depth, results);
    left -= depth;
    return staged;
  });

  C* to = static_cast<C*>(p.partials) + (split * p.groups + g) * p.rows * columns;
  tile.for_each_column(rank, [&](int j, const auto& each_row) {
    if (first_column + j >= columns) return;
    each_row([&](int i, auto sum) {
      if (first_row + i < p.rows) to[(first_row + i) * columns + first_column + j] = sum;
    });
  });
}

// A block has one element of the weight, in the order of partials[group][row][tap][channel].
template <int Size, class T>
STATOR_KERNEL(Size) void gradient_direct_kernel(params::WeightGradient p) {
  using C = sum_of<T>;
  const Group<Size> group;
  const Axes a = axes_of(p);
  int64_t rest = group.block();
  const int64_t c = rest % p.channels;
  rest /= p.channels;
  int32_t tap = int32_t(rest % a.taps()), base[axes];
  rest /= a.taps();
  STATOR_UNROLL()
  for (int d = axes - 1; d >= 0; --d) {
    base[d] = tap % a[d].taps * a[d].tap_scale + a[d].origin;
    tap /= a[d].taps;
  }
  const int64_t g = rest / p.rows, row = rest % p.rows;
  const T* source = static_cast<const T*>(p.source.data) + g * p.source.group + c * p.source.channel;
  const T* grad = static_cast<const T*>(p.grad.data) + g * p.grad.group + row * p.grad.channel;
  const C sum = group.template map_sum<C>(p.samples * a.positions(), [&](int64_t i) {
    const OutputIndex result = output_index(a, i);
    int64_t from = result.sample * p.source.sample, by = result.sample * p.grad.sample;
    bool inside = true;
    STATOR_UNROLL()
    for (int d = 0; d < axes; ++d) {
      const int32_t position = result.at[d] * a[d].scale + base[d];
      inside = inside && position >= 0 && position < p.source.extent[d];
      from += position * p.source.axis[d];
      by += result.at[d] * p.grad.axis[d];
    }
    return inside ? convert<C>(source[from]) * convert<C>(grad[by]) : C(0);
  });
  if (group.rank() == 0) static_cast<C*>(p.partials)[group.block()] = sum;
}

// The order of an element of the weight in a part, and how many parts there are.
struct GradientParts {
  int64_t splits, channel, tap;
};

// dweight = the sum of the parts, in their order.
template <int Size, class T>
STATOR_KERNEL(Size) void gradient_sum_kernel(params::WeightGradient p, GradientParts parts, int64_t elements) {
  using C = sum_of<T>;
  const Group<Size> group;
  const params::Weights& w = p.dweight;
  const int64_t first = group.block() * DirectTuning::tile;
  const int64_t n = elements - first < DirectTuning::tile ? elements - first : DirectTuning::tile;
  group.for_each(n, [&](int64_t i) {
    const int64_t taps = w.taps[0] * w.taps[1] * w.taps[2];
    int64_t tap = (first + i) % taps, rest = (first + i) / taps;
    const int64_t c = rest % p.channels, line = rest / p.channels;
    const C* from = static_cast<const C*>(p.partials) + line * p.channels * taps + c * parts.channel + tap * parts.tap;
    C sum = 0;
    for (int64_t s = 0; s < parts.splits; ++s) sum += from[s * elements];
    int64_t to = line / p.rows * w.group + line % p.rows * w.row + c * w.channel;
    STATOR_UNROLL()
    for (int d = axes - 1; d >= 0; --d) {
      to += tap % w.taps[d] * w.axis[d];
      tap /= w.taps[d];
    }
    static_cast<T*>(const_cast<void*>(w.data))[to] = convert<T>(sum);
  });
}

}  // namespace stator::STATOR_TARGET::convolution
