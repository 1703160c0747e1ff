// Weight gradients of small planes on the fast host. A block has some rows and channels of the weight. The lanes of
// vectors are rows, and elements of the source (slab.cuh) are one number for all of them, so that sums over few results
// are not across lanes, and whole samples follow each other without a gap.
#pragma once

#include "kernels/convolution/gradient_fast.cuh"

#include <algorithm>

namespace stator::STATOR_TARGET::convolution {

struct PlaneTuning {
  static constexpr int64_t results = 512;          // that a plane has at most
  static constexpr int64_t rows = 64;              // of the weight, of a block
  static constexpr int64_t sums_bytes = 96 << 10;  // of a block, so that they stay in a near cache
  static constexpr int64_t slab_bytes = 64 << 10;  // of the planes that are copied at a time
  static constexpr int64_t together = 64;          // results that are added up in a row
  static constexpr int64_t least_results = 192;    // of a split
  static constexpr bool many_registers = LaneVector<float>::count == 16;
};

// Tap by tap the sums of as many columns as registers hold beside some vectors of rows.
constexpr int columns_of(int vectors) {
  return PlaneTuning::many_registers ? (vectors == 4 ? 6 : vectors == 2 ? 10 : 12) : (vectors == 2 ? 5 : 8);
}

struct GradientPlanesPlan {
  int64_t weight_rows, channels, planes;  // of a block; planes that are copied at a time
  int64_t row_blocks, channel_blocks, splits, blocks;
  int64_t slab_elements, shared_bytes;
};

// The same part of the results of some planes. `slopes` has the rows of each result side by side, `wide` of them, and
// `slab` the source.
template <class C>
struct PlaneResults {
  const C *slopes, *slab;
  int64_t wide, planes, height, width;
  int64_t slopes_plane, slopes_line, slab_plane, slab_line;  // the distances of planes and of lines
};

// sums[k * wide + row] += the sum over results of slopes[row] * the source at at[k], for Vectors vectors of rows and
// the columns k < depth of Columns.
template <int Vectors, int Columns, class C>
STATOR_CALL void add_outer_products(const PlaneResults<C>& p, int64_t row, const int32_t* at, int64_t depth, C* sums) {
  using V = typename LaneVector<C>::type;
  constexpr int lanes = LaneVector<C>::count;
  V c[Columns][Vectors];
  STATOR_UNROLL_LANES
  for (int k = 0; k < Columns; ++k) {
    STATOR_UNROLL_LANES
    for (int v = 0; v < Vectors; ++v) c[k][v] = V{};
  }
  int64_t offset[Columns];
  STATOR_UNROLL_LANES
  for (int k = 0; k < Columns; ++k) offset[k] = at[k < depth ? k : 0];
  for (int64_t q = 0; q < p.planes; ++q)
    for (int64_t y = 0; y < p.height; ++y) {
      const C* slopes = p.slopes + q * p.slopes_plane + y * p.slopes_line + row;
      const C* source = p.slab + q * p.slab_plane + y * p.slab_line;
      for (int64_t x = 0; x < p.width; ++x, ++source, slopes += p.wide) {
        V w[Vectors];
        STATOR_UNROLL_LANES
        for (int v = 0; v < Vectors; ++v) w[v] = load_lanes(slopes + v * lanes);
        STATOR_UNROLL_LANES
        for (int k = 0; k < Columns; ++k) {
          const V one = all_lanes<V>(source[offset[k]]);
          STATOR_UNROLL_LANES
          for (int v = 0; v < Vectors; ++v) c[k][v] = multiply_add_lanes<C>(w[v], one, c[k][v]);
        }
      }
    }
  STATOR_UNROLL_LANES
  for (int k = 0; k < Columns; ++k) {
    if (k >= depth) break;
    STATOR_UNROLL_LANES
    for (int v = 0; v < Vectors; ++v) {
      C* const to = sums + k * p.wide + row + v * lanes;
      store_lanes(to, load_lanes(to) + c[k][v]);
    }
  }
}

template <int Vectors, class C>
STATOR_FN void add_rows(const PlaneResults<C>& p, int64_t& row, const int32_t* at, int64_t depth, C* sums) {
  constexpr int Columns = columns_of(Vectors), rows = Vectors * LaneVector<C>::count;
  for (; row + rows <= p.wide; row += rows)
    for (int64_t k = 0; k < depth; k += Columns)
      add_outer_products<Vectors, Columns>(p, row, at + k, depth - k, sums + k * p.wide);
}

// partials[split][group][row block][channel][tap][row of the block].
template <int Size, class T>
STATOR_KERNEL(Size) void gradient_planes_kernel(params::WeightGradient p, GradientPlanesPlan plan) {
  using C = sum_of<T>;
  const Group<Size> group;
  BlockParts block(group.block());
  const int64_t row_block = block.next(plan.row_blocks), row = row_block * plan.weight_rows;
  const int64_t channel = block.next(plan.channel_blocks) * plan.channels;
  const int64_t g = block.next(p.groups), split = block.rest();
  const Axes a = axes_of(p);
  const int32_t taps = a.taps();
  const int64_t rows = p.rows - row < plan.weight_rows ? p.rows - row : plan.weight_rows;
  const int64_t channels = p.channels - channel < plan.channels ? p.channels - channel : plan.channels;
  const int64_t depth = channels * taps, wide = plan.weight_rows;
  const Slab slab(a, a[1].count, a[2].count);
  const int64_t results = int64_t(a[1].count) * a[2].count;

  C* const copies = reinterpret_cast<C*>(group.template dynamic<unsigned char>(0));
  C* const slopes = copies + plan.planes * plan.slab_elements;
  int32_t* const at = reinterpret_cast<int32_t*>(slopes + plan.planes * results * wide);
  C* const sums = static_cast<C*>(p.partials) +
                  (((split * p.groups + g) * plan.row_blocks + row_block) * p.channels + channel) * taps * wide;
  slab.tap_offsets(a, at);
  for (int64_t i = taps; i < depth; ++i) at[i] = at[i - taps] + int32_t(slab.channel());
  std::memset(static_cast<void*>(sums), 0, size_t(depth * wide) * sizeof(C));
  // Rows that there are not have slopes of zero.
  if (rows < wide) std::memset(static_cast<void*>(slopes), 0, size_t(plan.planes * results * wide) * sizeof(C));

  const T* const source = static_cast<const T*>(p.source.data) + g * p.source.group + channel * p.source.channel;
  const T* const grad = static_cast<const T*>(p.grad.data) + g * p.grad.group + row * p.grad.channel;
  const int64_t all = p.samples * a[0].count, end = all * (split + 1) / plan.splits;
  for (int64_t first = all * split / plan.splits; first < end; first += plan.planes) {
    const int64_t planes = end - first < plan.planes ? end - first : plan.planes;
    for (int64_t q = 0; q < planes; ++q) {
      const int64_t sample = (first + q) / a[0].count, deep = (first + q) % a[0].count;
      fill_slab(slab, a, p.source, source + sample * p.source.sample, TileOrigin{{int32_t(deep), 0, 0}}, channels,
                copies + q * plan.slab_elements);
      const T* const from = grad + sample * p.grad.sample + deep * p.grad.axis[0];
      C* to = slopes + q * results * wide;
      for (int64_t y = 0; y < a[1].count; ++y)
        for (int64_t x = 0; x < a[2].count; ++x, to += wide) {
          const T* const slope = from + y * p.grad.axis[1] + x * p.grad.axis[2];
          for (int64_t r = 0; r < rows; ++r) to[r] = convert<C>(slope[r * p.grad.channel]);
        }
    }
    // A few results at a time, which keeps the errors of their sums small.
    const int64_t width = std::min<int64_t>(a[2].count, PlaneTuning::together);
    const int64_t height = std::clamp<int64_t>(PlaneTuning::together / width, 1, a[1].count);
    for (int64_t y = 0; y < a[1].count; y += height)
      for (int64_t x = 0; x < a[2].count; x += width) {
        const PlaneResults<C> some{slopes + (y * a[2].count + x) * wide,
                                   copies + y * slab.pitch() + x,
                                   wide,
                                   planes,
                                   std::min<int64_t>(height, a[1].count - y),
                                   std::min<int64_t>(width, a[2].count - x),
                                   results * wide,
                                   a[2].count * wide,
                                   plan.slab_elements,
                                   slab.pitch()};
        int64_t done = 0;
        if constexpr (PlaneTuning::many_registers) add_rows<4>(some, done, at, depth, sums);
        add_rows<2>(some, done, at, depth, sums);
        add_rows<1>(some, done, at, depth, sums);
      }
  }
}

// False where planes are not small, or rows do not fill most of a vector.
template <class C>
bool plan_gradient_planes(const params::WeightGradient& p, GradientPlanesPlan& plan) {
  constexpr int64_t lanes = LaneVector<C>::count;
  const Axes a = axes_of(p);
  const int64_t results = int64_t(a[1].count) * a[2].count, taps = a.taps();
  if (results > PlaneTuning::results || 2 * p.rows < lanes || taps > GradientTuning::deepest) return false;
  const auto part = [](int64_t all, int64_t most) { return ceil_div(all, ceil_div(all, most)); };
  plan.weight_rows = ceil_div(part(p.rows, PlaneTuning::rows), lanes) * lanes;
  plan.row_blocks = ceil_div(p.rows, plan.weight_rows);
  const Slab slab(a, a[1].count, a[2].count);
  const int64_t element = sizeof(C), bytes_of_sums = taps * plan.weight_rows * element;
  const int64_t most =
      std::min(PlaneTuning::sums_bytes / bytes_of_sums, PlaneTuning::slab_bytes / (slab.channel() * element));
  if (most == 0) return false;
  plan.channels = part(p.channels, most);
  plan.channel_blocks = ceil_div(p.channels, plan.channels);
  plan.slab_elements = plan.channels * slab.channel();
  const int64_t all = p.samples * a[0].count, others = plan.row_blocks * plan.channel_blocks * p.groups;
  const int64_t bytes = p.groups * plan.row_blocks * plan.weight_rows * p.channels * taps * element;
  plan.splits =
      std::max<int64_t>(1, std::min({all * results / PlaneTuning::least_results, all,
                                     ceil_div(GradientTuning::blocks, others), GradientTuning::partial_bytes / bytes}));
  const int64_t room = PlaneTuning::slab_bytes / (plan.slab_elements * element);
  plan.planes = std::clamp<int64_t>(std::min(PlaneTuning::together / results, room), 1,
                                    std::max<int64_t>(1, ceil_div(all, plan.splits)));
  plan.blocks = others * plan.splits;
  plan.shared_bytes = element * plan.planes * (plan.slab_elements + results * plan.weight_rows) +
                      int64_t(sizeof(int32_t)) * taps * plan.channels;
  return true;
}

}  // namespace stator::STATOR_TARGET::convolution
