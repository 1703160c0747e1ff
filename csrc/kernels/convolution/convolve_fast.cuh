// Convolutions on the fast host. A block computes a tile of results from a slab (slab.cuh), `together` rows of the
// weight at a time, whose sums stay in registers.
#pragma once

#include "device/group.cuh"
#include "host/lanes/lane_product.hpp"
#include "host/launch.hpp"
#include "kernels/convolution/block_parts.cuh"
#include "kernels/convolution/slab.cuh"

namespace stator::STATOR_TARGET::convolution {

struct SlabTuning {
  static constexpr int block = 256;
  static constexpr int64_t results = 512, single_results = 2048;  // per tile and row; of one row
  static constexpr int64_t least_results = 96;                    // to have work for all workers
  static constexpr int64_t rows = 64;                             // of the weight, per block
  static constexpr int64_t depth = 512, deepest = 4096;           // taps of all channels that are copied at a time
  static constexpr int64_t slab_bytes = 256 << 10;
  static constexpr int slack = 64;  // elements after the slab, which only numbers without a result read
};

// What the launcher decides, alike for all phases.
struct SlabPlan {
  int32_t together;                // rows of the weight that a loop computes
  int32_t rows, columns;           // of a tile of results
  int64_t weight_rows;             // of a block
  int64_t channels;                // copied at a time
  int64_t slab_elements, leading;  // capacity; the distance between rows of sums
  int64_t tiles[axes], row_blocks, blocks;
  int64_t shared_bytes;
};

// Rows of the weight that are computed together, and vectors of results: their sums fill most registers.
inline constexpr bool many_registers = LaneVector<float>::count == 16;
inline constexpr int many_rows = many_registers ? 8 : 4;
constexpr int vectors_of(int together) {
  return many_registers ? (together == 8   ? 3
                           : together == 4 ? 5
                           : together == 2 ? 6
                                           : 8)
                        : (together == 4   ? 3
                           : together == 2 ? 4
                                           : 6);
}
constexpr int32_t together_of(int64_t rows) {
  if (rows > 4) return many_rows;
  return rows > 2 ? 4 : int32_t(rows);
}

// sums = a b, or += a b unless `first`, of matrices whose rows k begin at a_at[k] and b_at[k].
template <class C>
struct GatheredProduct {
  const C* a;
  const int32_t* a_at;
  const C* b;
  const int32_t* b_at;
  int64_t depth;
  C* sums;
  int64_t leading;
  bool first;
};

// sums[Rows][Vectors].
template <int Rows, int Vectors, class C>
STATOR_CALL void multiply_slab(const GatheredProduct<C>& product) {
  const auto [a, a_at, b, b_at, depth, sums, leading, first] = product;
  using V = typename LaneVector<C>::type;
  constexpr int lanes = LaneVector<C>::count;
  V c[Rows][Vectors];
  STATOR_UNROLL_LANES
  for (int r = 0; r < Rows; ++r) {
    STATOR_UNROLL_LANES
    for (int v = 0; v < Vectors; ++v) c[r][v] = V{};
  }
  for (int64_t k = 0; k < depth; ++k) {
    const C* row = b + b_at[k];
    const C* column = a + a_at[k];
    V x[Vectors];
    STATOR_UNROLL_LANES
    for (int v = 0; v < Vectors; ++v) x[v] = load_lanes(row + v * lanes);
    STATOR_UNROLL_LANES
    for (int r = 0; r < Rows; ++r) {
      const V w = all_lanes<V>(column[r]);
      STATOR_UNROLL_LANES
      for (int v = 0; v < Vectors; ++v) c[r][v] = multiply_add_lanes<C>(w, x[v], c[r][v]);
    }
  }
  STATOR_UNROLL_LANES
  for (int r = 0; r < Rows; ++r) {
    STATOR_UNROLL_LANES
    for (int v = 0; v < Vectors; ++v) {
      C* to = sums + r * leading + v * lanes;
      store_lanes(to, first ? c[r][v] : load_lanes(to) + c[r][v]);
    }
  }
}

// All rows of a block, of which Together are `a_step` elements apart, times all results of a tile.
template <int Together, class C>
STATOR_FN void multiply_tile(const GatheredProduct<C>& all, int64_t a_step, int64_t rows, int64_t results) {
  constexpr int lanes = LaneVector<C>::count, wide = vectors_of(Together) * lanes;
  int64_t i = 0;
  const auto all_rows = [&](auto multiply, int64_t at) {
    GatheredProduct<C> part = all;
    part.b += at;
    for (int64_t r = 0; r < rows; r += Together) {
      part.a = all.a + r / Together * a_step;
      part.sums = all.sums + r * all.leading + at;
      multiply(part);
    }
  };
  for (; i + wide <= results; i += wide) all_rows(multiply_slab<Together, vectors_of(Together), C>, i);
  for (; i < results; i += lanes) all_rows(multiply_slab<Together, 1, C>, i);
}

template <class C>
STATOR_FN void multiply_tile(int together, const GatheredProduct<C>& all, int64_t a_step, int64_t rows,
                             int64_t results) {
  if (together == many_rows && many_rows != 4)
    multiply_tile<many_rows>(all, a_step, rows, results);
  else if (together == 4)
    multiply_tile<4>(all, a_step, rows, results);
  else if (together == 2)
    multiply_tile<2>(all, a_step, rows, results);
  else
    multiply_tile<1>(all, a_step, rows, results);
}

// packed[group][rows / together][channel][tap][together], with zeros for rows that there are not.
template <int Size, class T>
STATOR_KERNEL(Size) void pack_rows_kernel(params::Convolution p, int64_t together, int64_t row_blocks) {
  using C = sum_of<T>;
  const Group<Size> group;
  const int64_t c = group.block() % p.channels, rest = group.block() / p.channels;
  const int64_t first = rest % row_blocks * together, g = rest / row_blocks;
  const params::Weights& w = p.weight;
  const int64_t taps = w.taps[0] * w.taps[1] * w.taps[2];
  const T* from = static_cast<const T*>(w.data) + g * w.group + first * w.row + c * w.channel;
  C* to = static_cast<C*>(p.packed) + group.block() * taps * together;
  for (int64_t i = 0; i < w.taps[0]; ++i)
    for (int64_t j = 0; j < w.taps[1]; ++j)
      for (int64_t k = 0; k < w.taps[2]; ++k, to += together)
        for (int64_t r = 0; r < together; ++r)
          to[r] =
              first + r < p.rows ? convert<C>(from[r * w.row + i * w.axis[0] + j * w.axis[1] + k * w.axis[2]]) : C(0);
}

// Distances of the taps of some channels: in the packed weight and in the slab.
STATOR_FN void find_taps(const params::Convolution& p, const Axes& a, const Slab& slab, int64_t channels,
                         int64_t together, int32_t* a_at, int32_t* b_at) {
  const params::Weights& w = p.weight;
  const int64_t taps = a.taps(), all = w.taps[0] * w.taps[1] * w.taps[2];
  slab.tap_offsets(a, b_at);
  int32_t* at = a_at;
  for (int32_t i = 0; i < a[0].taps; ++i)
    for (int32_t j = 0; j < a[1].taps; ++j)
      for (int32_t k = 0; k < a[2].taps; ++k)
        *at++ = int32_t(
            (((a[0].first_tap + i * a[0].tap_step) * w.taps[1] + a[1].first_tap + j * a[1].tap_step) * w.taps[2] +
             a[2].first_tap + k * a[2].tap_step) *
            together);
  for (int64_t i = taps; i < taps * channels; ++i) {
    a_at[i] = a_at[i - taps] + int32_t(all * together);
    b_at[i] = b_at[i - taps] + int32_t(slab.channel());
  }
}

// The sums of rows [row, row + rows) of a group and a sample.
template <class C>
struct BlockSums {
  int64_t sample, group, row, rows;
  const C* sums;
  int64_t leading, line;  // distances
};

template <class T, class C>
STATOR_CALL void store_tile(const params::Convolution& p, const Axes& a, const TileOrigin& tile, int64_t height,
                            int64_t width, const BlockSums<C>& from_sums) {
  const auto [sample, g, row, rows, sums, leading, pitch] = from_sums;
  const params::Image& image = p.result;
  const int64_t step = a[2].step * image.axis[2];
  T* base = static_cast<T*>(const_cast<void*>(image.data)) + sample * image.sample + g * image.group +
            (a[0].first + int64_t(tile.at[0]) * a[0].step) * image.axis[0] +
            (a[2].first + int64_t(tile.at[2]) * a[2].step) * image.axis[2];
  for (int64_t r = 0; r < rows; ++r) {
    const C bias = p.bias ? convert<C>(static_cast<const T*>(p.bias)[g * p.rows + row + r]) : C(0);
    for (int64_t y = 0; y < height; ++y) {
      const C* STATOR_RESTRICT from = sums + r * leading + y * pitch;
      T* STATOR_RESTRICT to =
          base + (row + r) * image.channel + (a[1].first + (tile.at[1] + y) * a[1].step) * image.axis[1];
      if (step == 1)
        for (int64_t x = 0; x < width; ++x) to[x] = convert<T>(from[x] + bias);
      else
        for (int64_t x = 0; x < width; ++x) to[x * step] = convert<T>(from[x] + bias);
    }
  }
}

template <int Size, class T>
STATOR_KERNEL(Size) void convolve_slab_kernel(params::Convolution p, SlabPlan plan) {
  using C = sum_of<T>;
  const Group<Size> group;
  BlockParts block(group.block());
  const int64_t row = block.next(plan.row_blocks) * plan.weight_rows;
  TileOrigin origin{};
  origin.at[0] = int32_t(block.next(plan.tiles[0]));
  origin.at[2] = int32_t(block.next(plan.tiles[2])) * plan.columns;
  origin.at[1] = int32_t(block.next(plan.tiles[1])) * plan.rows;
  const int64_t g = block.next(p.groups), sample = block.next(p.samples);
  const Axes a = axes_of(p, block.rest());
  if (origin.at[0] >= a[0].count || origin.at[1] >= a[1].count || origin.at[2] >= a[2].count) return;

  const int32_t height = a[1].count - origin.at[1] < plan.rows ? a[1].count - origin.at[1] : plan.rows;
  const int32_t width = a[2].count - origin.at[2] < plan.columns ? a[2].count - origin.at[2] : plan.columns;
  const Slab slab(a, height, width);
  const int32_t taps = a.taps();
  const int64_t rows = p.rows - row < plan.weight_rows ? p.rows - row : plan.weight_rows;
  const int64_t pitch = taps ? slab.pitch() : width, results = (height - 1) * pitch + width;

  C* copy = reinterpret_cast<C*>(group.template dynamic<unsigned char>(0));
  C* sums = copy + plan.slab_elements;
  int32_t* a_at = reinterpret_cast<int32_t*>(sums + plan.weight_rows * plan.leading);
  int32_t* b_at = a_at + taps * plan.channels;
  const int64_t all = p.weight.taps[0] * p.weight.taps[1] * p.weight.taps[2];
  find_taps(p, a, slab, plan.channels < p.channels ? plan.channels : p.channels, plan.together, a_at, b_at);
  if (taps == 0) std::memset(static_cast<void*>(sums), 0, size_t(plan.weight_rows * plan.leading) * sizeof(C));

  const T* source = static_cast<const T*>(p.source.data) + sample * p.source.sample + g * p.source.group;
  const int64_t a_step = p.channels * all * plan.together;
  const int64_t row_blocks = (p.rows + plan.together - 1) / plan.together;
  const C* weight = static_cast<const C*>(p.packed) + (g * row_blocks + row / plan.together) * a_step;
  for (int64_t c = 0; taps > 0 && c < p.channels; c += plan.channels) {
    const int64_t channels = p.channels - c < plan.channels ? p.channels - c : plan.channels;
    fill_slab(slab, a, p.source, source + c * p.source.channel, origin, channels, copy);
    C* end = copy + channels * slab.channel();
    for (int i = 0; i < SlabTuning::slack; ++i) end[i] = C(0);
    multiply_tile(plan.together,
                  GatheredProduct<C>{weight + c * all * plan.together, a_at, copy, b_at, channels * taps, sums,
                                     plan.leading, c == 0},
                  a_step, rows, results);
  }
  store_tile<T>(p, a, origin, height, width, BlockSums<C>{sample, g, row, rows, sums, plan.leading, pitch});
}

// False if not even the slab of one channel fits.
template <class C>
bool plan_slab(const params::Convolution& p, int workers, SlabPlan& plan) {
  const Axes a = largest_axes(p);
  const int64_t taps = a.taps();
  const int64_t all = p.weight.taps[0] * p.weight.taps[1] * p.weight.taps[2];
  if (taps > SlabTuning::deepest || all * p.channels * many_rows >> 31 != 0) return false;
  plan.together = together_of(p.rows);
  const int64_t weight_rows = p.rows < SlabTuning::rows ? p.rows : SlabTuning::rows;
  plan.weight_rows = ceil_div(weight_rows, plan.together) * plan.together;
  plan.row_blocks = ceil_div(p.rows, plan.weight_rows);
  const int64_t others = plan.row_blocks * p.groups * p.samples * phases_of(p) * a[0].count;
  int64_t results = p.rows > 2 ? SlabTuning::results : SlabTuning::single_results;
  // Smaller tiles until all workers have several, and until a channel fits.
  for (;; results /= 2) {
    plan.columns = int32_t(ceil_div(a[2].count, ceil_div(a[2].count, results)));
    const int64_t pitch = Slab(a, 1, plan.columns).pitch();
    const int64_t rows = std::clamp<int64_t>(results / pitch, 1, a[1].count);
    plan.rows = int32_t(ceil_div(a[1].count, ceil_div(a[1].count, rows)));
    plan.tiles[0] = a[0].count;
    plan.tiles[1] = ceil_div(a[1].count, plan.rows);
    plan.tiles[2] = ceil_div(a[2].count, plan.columns);
    const Slab slab(a, plan.rows, plan.columns);
    const bool fits = slab.channel() * int64_t(sizeof(C)) <= SlabTuning::slab_bytes;
    const bool least = results / 2 < SlabTuning::least_results;
    if (least && !fits) return false;
    if (fits && (least || others * plan.tiles[1] * plan.tiles[2] >= 4 * workers)) {
      const int64_t room = SlabTuning::slab_bytes / int64_t(sizeof(C)) / slab.channel();
      const int64_t deep = std::max<int64_t>(SlabTuning::depth / taps, 1);
      plan.channels = std::min({p.channels, room, deep});
      plan.slab_elements = plan.channels * slab.channel() + SlabTuning::slack;
      const int64_t flat = (plan.rows - 1) * int64_t(slab.pitch()) + plan.columns;
      plan.leading = ceil_div(flat, 16) * 16 + 16;
      break;
    }
  }
  plan.blocks = others * plan.tiles[1] * plan.tiles[2];
  plan.shared_bytes = int64_t(sizeof(C)) * (plan.slab_elements + plan.weight_rows * plan.leading) +
                      2 * int64_t(sizeof(int32_t)) * taps * plan.channels;
  return true;
}

}  // namespace stator::STATOR_TARGET::convolution
