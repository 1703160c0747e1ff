// Weight gradients on the fast host. A block has some rows and channels of the weight, and adds up tiles of results:
// inner products of rows of the gradient with the slab of the source (slab.cuh), along the results.
#pragma once

#include "device/group.cuh"
#include "host/lanes/lane_product.hpp"
#include "host/launch.hpp"
#include "kernels/convolution/block_parts.cuh"
#include "kernels/convolution/slab.cuh"

namespace stator::STATOR_TARGET::convolution {

struct GradientTuning {
  static constexpr int block = 256;
  static constexpr int64_t results = 1024, rows = 32, depth = 512, deepest = 4096;  // as in SlabTuning
  static constexpr int64_t slab_bytes = 256 << 10, partial_bytes = 64 << 20;
  static constexpr int64_t blocks = 64;  // wanted: enough for all workers, whose number must not affect the sums
  static constexpr int slack = 64;
};

struct GradientPlan {
  int32_t rows, columns;  // of a tile of results
  int64_t weight_rows, channels, row_blocks, channel_blocks, splits, blocks;
  int64_t tiles[axes], slab_elements, leading;
  int64_t shared_bytes;
};

// The sum of all lanes, in a fixed order.
template <class C, class V>
STATOR_FN C sum_of_lanes(V v) {
  constexpr int lanes = int(sizeof(V) / sizeof(C));
  C part[lanes];
  std::memcpy(part, &v, sizeof v);
  for (int width = lanes / 2; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) part[i] += part[i + width];
  return part[0];
}

// sums[r * leading + k] += the inner product of row r of a, for r < rows, with the n elements of b at b_at[k], k <
// depth.
template <class C>
struct InnerProducts {
  const C* a;
  int64_t a_step, rows;
  const C* b;
  const int32_t* b_at;
  int64_t depth, n;
  C* sums;
  int64_t leading;
};

// The first Rows times Columns of them.
template <int Rows, int Columns, class C>
STATOR_CALL void first_inner_products(const InnerProducts<C>& products) {
  const auto [a, a_step, rows, b, b_at, depth, n, sums, leading] = products;
  using V = typename LaneVector<C>::type;
  constexpr int lanes = LaneVector<C>::count;
  const C *row[Rows], *column[Columns];
  STATOR_UNROLL_LANES
  for (int r = 0; r < Rows; ++r) row[r] = a + (r < rows ? r : 0) * a_step;
  STATOR_UNROLL_LANES
  for (int k = 0; k < Columns; ++k) column[k] = b + b_at[k < depth ? k : 0];
  V c[Rows][Columns];
  STATOR_UNROLL_LANES
  for (int r = 0; r < Rows; ++r) {
    STATOR_UNROLL_LANES
    for (int k = 0; k < Columns; ++k) c[r][k] = V{};
  }
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    V x[Columns];
    STATOR_UNROLL_LANES
    for (int k = 0; k < Columns; ++k) x[k] = load_lanes(column[k] + i);
    STATOR_UNROLL_LANES
    for (int r = 0; r < Rows; ++r) {
      const V w = load_lanes(row[r] + i);
      STATOR_UNROLL_LANES
      for (int k = 0; k < Columns; ++k) c[r][k] = multiply_add_lanes<C>(w, x[k], c[r][k]);
    }
  }
  for (int r = 0; r < Rows && r < rows; ++r) {
    for (int k = 0; k < Columns && k < depth; ++k) {
      C sum = sum_of_lanes<C>(c[r][k]);
      for (int64_t rest = i; rest < n; ++rest) sum += row[r][rest] * column[k][rest];
      sums[r * leading + k] += sum;
    }
  }
}

template <int Rows, int Columns, class C>
STATOR_FN void inner_products(const InnerProducts<C>& all) {
  for (int64_t k = 0; k < all.depth; k += Columns)
    for (int64_t r = 0; r < all.rows; r += Rows)
      first_inner_products<Rows, Columns>(InnerProducts<C>{all.a + r * all.a_step, all.a_step, all.rows - r, all.b,
                                                           all.b_at + k, all.depth - k, all.n,
                                                           all.sums + r * all.leading + k, all.leading});
}

// partials[split][group][row][channel][tap].
template <int Size, class T>
STATOR_KERNEL(Size) void gradient_slab_kernel(params::WeightGradient p, GradientPlan plan) {
  using C = sum_of<T>;
  const Group<Size> group;
  BlockParts block(group.block());
  const int64_t row = block.next(plan.row_blocks) * plan.weight_rows;
  const int64_t channel = block.next(plan.channel_blocks) * plan.channels;
  const int64_t g = block.next(p.groups), split = block.rest();
  const Axes a = axes_of(p);
  const int32_t taps = a.taps();
  const int64_t rows = p.rows - row < plan.weight_rows ? p.rows - row : plan.weight_rows;
  const int64_t channels = p.channels - channel < plan.channels ? p.channels - channel : plan.channels;

  C* copy = reinterpret_cast<C*>(group.template dynamic<unsigned char>(0));
  C* slopes = copy + plan.slab_elements;
  int32_t* at = reinterpret_cast<int32_t*>(slopes + plan.weight_rows * plan.leading);
  const int64_t leading = p.channels * taps;
  C* sums = static_cast<C*>(p.partials) + ((split * p.groups + g) * p.rows + row) * leading + channel * taps;
  for (int64_t r = 0; r < rows; ++r)
    std::memset(static_cast<void*>(sums + r * leading), 0, size_t(channels * taps) * sizeof(C));

  const int64_t all = p.samples * plan.tiles[0] * plan.tiles[1] * plan.tiles[2];
  const T* source = static_cast<const T*>(p.source.data) + g * p.source.group + channel * p.source.channel;
  const T* grad = static_cast<const T*>(p.grad.data) + g * p.grad.group + row * p.grad.channel;
  for (int64_t tile = all * split / plan.splits; tile < all * (split + 1) / plan.splits; ++tile) {
    BlockParts part(tile);
    TileOrigin origin;
    origin.at[2] = int32_t(part.next(plan.tiles[2])) * plan.columns;
    origin.at[1] = int32_t(part.next(plan.tiles[1])) * plan.rows;
    origin.at[0] = int32_t(part.next(plan.tiles[0]));
    const int64_t sample = part.rest();
    const int32_t height = a[1].count - origin.at[1] < plan.rows ? a[1].count - origin.at[1] : plan.rows;
    const int32_t width = a[2].count - origin.at[2] < plan.columns ? a[2].count - origin.at[2] : plan.columns;
    const Slab slab(a, height, width, true);
    slab.tap_offsets(a, at);
    for (int64_t i = taps; i < taps * channels; ++i) at[i] = at[i - taps] + int32_t(slab.channel());
    fill_slab(slab, a, p.source, source + sample * p.source.sample, origin, channels, copy);
    for (int64_t r = 0; r < rows; ++r)
      for (int32_t y = 0; y < height; ++y)
        fill_row(grad + sample * p.grad.sample + r * p.grad.channel + origin.at[0] * p.grad.axis[0] +
                     (origin.at[1] + y) * p.grad.axis[1] + origin.at[2] * p.grad.axis[2],
                 p.grad.axis[2], Inside(0, 1, width, width), width, slopes + r * plan.leading + int64_t(y) * width);
    const int64_t n = int64_t(height) * width;
    const InnerProducts<C> products{slopes, plan.leading, rows, copy, at, channels * taps, n, sums, leading};
    if (rows == 1)
      inner_products<1, 8>(products);
    else if (LaneVector<float>::count == 16)
      inner_products<4, 6>(products);
    else
      inner_products<4, 3>(products);
  }
}

// The parts of a gradient: `splits` of `lines` matrices of `depth` x `wide`. A matrix has some rows of the weight along
// `wide`, of `row_blocks` that make a group, and the elements of each along its depth.
struct PartsPlan {
  static constexpr int64_t tile = 4096;
  int64_t splits, lines, depth, wide, row_blocks, rows;  // rows: of a group

  constexpr int64_t width() const { return wide < tile ? wide : tile; }
  constexpr int64_t height() const { return depth < tile / width() ? depth : tile / width(); }
  constexpr int64_t across() const { return (wide + width() - 1) / width(); }
  constexpr int64_t down() const { return (depth + height() - 1) / height(); }
  constexpr int64_t elements() const { return lines * depth * wide; }
};

// dweight, which is dense, = the sum of the parts, in their order. A block has a tile of one matrix.
template <int Size, class T>
STATOR_KERNEL(Size) void sum_parts_kernel(const sum_of<T>* partials, T* dweight, PartsPlan plan) {
  using C = sum_of<T>;
  const Group<Size> group;
  BlockParts block(group.block());
  const int64_t width = plan.width(), first_row = block.next(plan.across()) * width;
  const int64_t first = block.next(plan.down()) * plan.height(), line = block.rest();
  const int64_t row = line % plan.row_blocks * plan.wide + first_row;
  const int64_t columns = std::min(plan.height(), plan.depth - first);
  const int64_t rows = std::min({width, plan.wide - first_row, plan.rows - row});
  C* const sums = reinterpret_cast<C*>(group.template dynamic<unsigned char>(0));
  const C* from = partials + (line * plan.depth + first) * plan.wide + first_row;
  if (plan.splits == 0) std::memset(static_cast<void*>(sums), 0, PartsPlan::tile * sizeof(C));
  for (int64_t s = 0; s < plan.splits; ++s, from += plan.elements())
    for (int64_t k = 0; k < columns; ++k) {
      C* STATOR_RESTRICT to = sums + k * width;
      const C* STATOR_RESTRICT some = from + k * plan.wide;
      if (s == 0)
        for (int64_t r = 0; r < rows; ++r) to[r] = some[r];
      else
        for (int64_t r = 0; r < rows; ++r) to[r] += some[r];
    }
  T* to = dweight + (line / plan.row_blocks * plan.rows + row) * plan.depth + first;
  if (plan.depth == 1)
    for (int64_t r = 0; r < rows; ++r) to[r] = convert<T>(sums[r]);
  else
    for (int64_t r = 0; r < rows; ++r, to += plan.depth)
      for (int64_t k = 0; k < columns; ++k) to[k] = convert<T>(sums[k * width + r]);
}

// False if not even the slab of one channel fits.
template <class C>
bool plan_gradient(const params::WeightGradient& p, GradientPlan& plan) {
  const Axes a = axes_of(p);
  const int64_t taps = a.taps();
  if (taps > GradientTuning::deepest) return false;
  plan.weight_rows = std::min(p.rows, GradientTuning::rows);
  plan.row_blocks = ceil_div(p.rows, plan.weight_rows);
  for (int64_t results = GradientTuning::results;; results /= 2) {
    if (results < 16) return false;
    plan.columns = int32_t(ceil_div(a[2].count, ceil_div(a[2].count, results)));
    const int64_t rows = std::clamp<int64_t>(results / plan.columns, 1, a[1].count);
    plan.rows = int32_t(ceil_div(a[1].count, ceil_div(a[1].count, rows)));
    const Slab slab(a, plan.rows, plan.columns, true);
    const int64_t room = GradientTuning::slab_bytes / int64_t(sizeof(C)) / slab.channel();
    if (room == 0) continue;
    plan.channels = std::min({p.channels, room, std::max<int64_t>(GradientTuning::depth / taps, 1)});
    plan.slab_elements = plan.channels * slab.channel() + GradientTuning::slack;
    break;
  }
  plan.tiles[0] = a[0].count;
  plan.tiles[1] = ceil_div(a[1].count, plan.rows);
  plan.tiles[2] = ceil_div(a[2].count, plan.columns);
  plan.leading = int64_t(plan.rows) * plan.columns;
  plan.channel_blocks = ceil_div(p.channels, plan.channels);
  const int64_t others = plan.row_blocks * plan.channel_blocks * p.groups;
  const int64_t tiles = p.samples * plan.tiles[0] * plan.tiles[1] * plan.tiles[2];
  const int64_t bytes = p.groups * p.rows * p.channels * taps * int64_t(sizeof(C));
  plan.splits = std::min(
      {tiles, ceil_div(GradientTuning::blocks, others), std::max<int64_t>(GradientTuning::partial_bytes / bytes, 1)});
  plan.blocks = others * plan.splits;
  plan.shared_bytes = int64_t(sizeof(C)) * (plan.slab_elements + plan.weight_rows * plan.leading) +
                      int64_t(sizeof(int32_t)) * taps * plan.channels;
  return true;
}

}  // namespace stator::STATOR_TARGET::convolution
