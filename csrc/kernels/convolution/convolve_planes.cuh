// Convolutions of small planes on the fast host. The lanes of vectors are rows of the weight, and elements of the
// source (slab.cuh) are one number for all of them, so that no lane is without a result, however short the lines are.
#pragma once

#include "kernels/convolution/convolve_fast.cuh"

#include <algorithm>
#include <span>

namespace stator::STATOR_TARGET::convolution {

struct PlanesTuning {
  static constexpr int64_t plane = 256;            // results that a plane has at most
  static constexpr int64_t results = 256;          // of a block, of several planes and samples
  static constexpr int64_t least_results = 48;     // to have work for all workers
  static constexpr int64_t rows = 64;              // of the weight, of a block
  static constexpr int64_t depth = 256;            // taps of all channels that are added up in a row
  static constexpr int64_t slab_bytes = 64 << 10;  // of all samples
  static constexpr int64_t least_filled = 75;      // percent of the lanes of rows
  static constexpr int64_t least_run = 24;         // results that are worth a list of taps
  static constexpr int64_t most_runs = results / least_run + 1;
  static constexpr int most_vectors = many_registers ? 4 : 2;
};

// Results that are computed together with that many vectors of rows: their sums fill most registers.
constexpr int results_of(int vectors) {
  return many_registers ? (vectors == 4 ? 6 : vectors == 3 ? 8 : vectors == 2 ? 12 : 16) : (vectors == 2 ? 5 : 8);
}

// What the launcher decides, alike for all phases.
struct PlanesPlan {
  int32_t vectors;                // of rows that are computed together
  int64_t together, weight_rows;  // rows: of those vectors, of a block
  int64_t samples, planes;        // of a block
  int64_t channels;               // copied at a time
  int64_t row_blocks, tiles, sample_blocks, blocks;
  int64_t slab_elements, results, depth;  // capacity: of a sample, of a block, taps of all channels copied at a time
  int64_t shared_bytes;
};

// sums[result][row] = the sum over k of a[k][row] * b[k][result_at[result]].
template <int Vectors, int Results, class C>
STATOR_CALL void multiply_results(const GatheredProduct<C>& product, const int32_t* result_at) {
  const auto [a, a_at, b, b_at, depth, sums, leading, first] = product;
  using V = typename LaneVector<C>::type;
  constexpr int lanes = LaneVector<C>::count;
  V c[Results][Vectors];
  const C* from[Results];
  STATOR_UNROLL_LANES
  for (int r = 0; r < Results; ++r) {
    from[r] = b + result_at[r];
    STATOR_UNROLL_LANES
    for (int v = 0; v < Vectors; ++v) c[r][v] = V{};
  }
  for (int64_t k = 0; k < depth; ++k) {
    const C* row = a + a_at[k];
    const int64_t at = b_at[k];
    V w[Vectors];
    STATOR_UNROLL_LANES
    for (int v = 0; v < Vectors; ++v) w[v] = load_lanes(row + v * lanes);
    STATOR_UNROLL_LANES
    for (int r = 0; r < Results; ++r) {
      const V one = all_lanes<V>(from[r][at]);
      STATOR_UNROLL_LANES
      for (int v = 0; v < Vectors; ++v) c[r][v] = multiply_add_lanes<C>(w[v], one, c[r][v]);
    }
  }
  STATOR_UNROLL_LANES
  for (int r = 0; r < Results; ++r) {
    STATOR_UNROLL_LANES
    for (int v = 0; v < Vectors; ++v) {
      C* const to = sums + r * leading + v * lanes;
      store_lanes(to, first ? c[r][v] : load_lanes(to) + c[r][v]);
    }
  }
}

template <int Vectors, class C>
STATOR_FN void multiply_results(GatheredProduct<C> product, const int32_t* result_at, int64_t results) {
  constexpr int most = results_of(Vectors);
  C* const sums = product.sums;
  const auto multiply = [&]<int Results>(std::integral_constant<int, Results>, int64_t i) {
    product.sums = sums + i * product.leading;
    multiply_results<Vectors, Results>(product, result_at + i);
  };
  int64_t i = 0;
  for (; i + most <= results; i += most) multiply(std::integral_constant<int, most>{}, i);
  for (; i + 4 <= results; i += 4) multiply(std::integral_constant<int, 4>{}, i);
  for (; i < results; ++i) multiply(std::integral_constant<int, 1>{}, i);
}

template <class C>
STATOR_FN void multiply_results(int vectors, const GatheredProduct<C>& product, const int32_t* result_at,
                                int64_t results) {
  if constexpr (many_registers) {
    if (vectors == 4) return multiply_results<4>(product, result_at, results);
    if (vectors == 3) return multiply_results<3>(product, result_at, results);
  }
  if (vectors == 2) return multiply_results<2>(product, result_at, results);
  multiply_results<1>(product, result_at, results);
}

// The taps on an axis that read the source; those before and after them read its padding.
struct TapRange {
  int32_t begin, end;

  STATOR_FN TapRange(const Axis& a, int64_t result, int64_t extent) : begin(0), end(a.taps) {
    const auto reads = [&](int32_t tap) {
      const int64_t at = result * a.scale + int64_t(tap) * a.tap_scale + a.origin;
      return at >= 0 && at < extent;
    };
    while (begin < end && !reads(begin)) ++begin;
    while (begin < end && !reads(end - 1)) --end;
  }
  STATOR_FN bool operator==(const TapRange&) const = default;
  // The taps of both, and those between them.
  STATOR_FN void add(const TapRange& other) {
    begin = std::min(begin, other.begin);
    end = std::max(end, other.end);
  }
};

// Neighbouring lines of results, in all samples, that read the source with the same taps, or are too short to differ.
struct LineRun {
  int64_t end;
  TapRange deep, down;

  STATOR_FN LineRun(const params::Convolution& p, const Axes& a, int64_t deep_at, int64_t first, int64_t lines,
                    int64_t of_line)
      : end(first),
        deep(a[0], deep_at + first / a[1].count, p.source.extent[0]),
        down(a[1], first % a[1].count, p.source.extent[1]) {
    for (++end; end < lines; ++end) {
      const TapRange z(a[0], deep_at + end / a[1].count, p.source.extent[0]);
      const TapRange y(a[1], end % a[1].count, p.source.extent[1]);
      if ((z == deep && y == down) || (end - first) * of_line < PlanesTuning::least_run) {
        deep.add(z);
        down.add(y);
      } else {
        break;
      }
    }
  }
  STATOR_FN int64_t taps(const Axes& a) const {
    return int64_t(deep.end - deep.begin) * (down.end - down.begin) * a[2].taps;
  }
  // Those of some channels, `step` apart, from the list of all taps.
  STATOR_FN void choose(const Axes& a, int64_t channels, int32_t step, const int32_t* all, int32_t* some) const {
    int32_t* to = some;
    for (int32_t i = deep.begin; i < deep.end; ++i)
      for (int32_t j = down.begin; j < down.end; ++j)
        for (int32_t k = 0; k < a[2].taps; ++k) *to++ = all[(i * a[1].taps + j) * a[2].taps + k];
    const int64_t of_channel = to - some;
    for (int64_t i = of_channel; i < channels * of_channel; ++i) some[i] = some[i - of_channel] + step;
  }
};

// Stores the results of some planes of one sample, whose lines are `line` elements apart.
template <class T, class C>
STATOR_CALL void store_planes(const params::Convolution& p, const Axes& a, int64_t deep, int64_t planes,
                              const BlockSums<C>& from_sums) {
  const auto [sample, g, row, rows, sums, leading, line] = from_sums;
  const params::Image& image = p.result;
  const T* const bias = p.bias ? static_cast<const T*>(p.bias) + g * p.rows + row : nullptr;
  T* const base = static_cast<T*>(const_cast<void*>(image.data)) + sample * image.sample + g * image.group +
                  row * image.channel + (a[0].first + deep * a[0].step) * image.axis[0] + a[1].first * image.axis[1] +
                  a[2].first * image.axis[2];
  const int64_t step = a[2].step * image.axis[2];
  // Along the rows, where they are side by side.
  if (image.channel == 1) {
    for (int64_t z = 0; z < planes; ++z)
      for (int64_t y = 0; y < a[1].count; ++y) {
        T* to = base + z * a[0].step * image.axis[0] + y * a[1].step * image.axis[1];
        const C* from = sums + (z * a[1].count + y) * line;
        for (int64_t x = 0; x < a[2].count; ++x, to += step, from += leading)
          for (int64_t r = 0; r < rows; ++r) to[r] = convert<T>(from[r] + (bias ? convert<C>(bias[r]) : C(0)));
      }
    return;
  }
  for (int64_t r = 0; r < rows; ++r) {
    const C one = bias ? convert<C>(bias[r]) : C(0);
    for (int64_t z = 0; z < planes; ++z)
      for (int64_t y = 0; y < a[1].count; ++y) {
        const C* from = sums + (z * a[1].count + y) * line + r;
        T* to = base + r * image.channel + z * a[0].step * image.axis[0] + y * a[1].step * image.axis[1];
        for (int64_t x = 0; x < a[2].count; ++x, to += step, from += leading) *to = convert<T>(*from + one);
      }
  }
}

template <int Size, class T>
STATOR_KERNEL(Size) void convolve_planes_kernel(params::Convolution p, PlanesPlan plan) {
  using C = sum_of<T>;
  const Group<Size> group;
  BlockParts block(group.block());
  const int64_t row = block.next(plan.row_blocks) * plan.weight_rows;
  TileOrigin origin{};
  origin.at[0] = int32_t(block.next(plan.tiles) * plan.planes);
  const int64_t g = block.next(p.groups), sample = block.next(plan.sample_blocks) * plan.samples;
  const Axes a = axes_of(p, block.rest());
  const int64_t planes = std::min<int64_t>(plan.planes, a[0].count - origin.at[0]);
  if (planes <= 0) return;
  const int64_t samples = std::min(plan.samples, p.samples - sample);
  const int64_t rows = std::min(plan.weight_rows, p.rows - row);
  const Slab slab(a, a[1].count, a[2].count, false, int32_t(planes));
  const int64_t all = p.weight.taps[0] * p.weight.taps[1] * p.weight.taps[2], taps = a.taps();
  const int64_t lines = planes * a[1].count, of_line = samples * a[2].count;

  C* const copy = reinterpret_cast<C*>(group.template dynamic<unsigned char>(0));
  C* const sums = copy + plan.samples * plan.slab_elements;
  int32_t* const a_at = reinterpret_cast<int32_t*>(sums + plan.results * plan.weight_rows);
  int32_t* const b_at = a_at + plan.depth;
  int32_t* const at = b_at + plan.depth;
  int32_t* lists = at + plan.results;  // of the taps that runs of lines have
  const int64_t most_channels = std::min(plan.channels, p.channels);
  find_taps(p, a, slab, most_channels, plan.together, a_at, b_at);
  int32_t* result = at;
  for (int64_t z = 0; z < planes; ++z)
    for (int64_t y = 0; y < a[1].count; ++y)
      for (int64_t s = 0; s < samples; ++s)
        for (int64_t x = 0; x < a[2].count; ++x)
          *result++ = int32_t(s * plan.slab_elements + z * slab.plane() + y * slab.pitch() + x);
  if (taps == 0) std::memset(static_cast<void*>(sums), 0, size_t(lines * of_line * plan.weight_rows) * sizeof(C));

  const T* const source = static_cast<const T*>(p.source.data) + sample * p.source.sample + g * p.source.group;
  const int64_t a_step = p.channels * all * plan.together, row_blocks = (p.rows + plan.together - 1) / plan.together;
  const C* const weight = static_cast<const C*>(p.packed) + (g * row_blocks + row / plan.together) * a_step;
  // The runs of lines with their lists of taps, which begin with those of fewer channels.
  struct Taps {
    int64_t first, end, of_channel;
    const int32_t *a_at, *b_at;
  };
  Taps runs[PlanesTuning::most_runs];
  int run_count = 0;
  for (int64_t line = 0; taps > 0 && line < lines;) {
    const LineRun run(p, a, origin.at[0], line, lines, of_line);
    Taps& known = runs[run_count++] = {line, run.end, run.taps(a), a_at, b_at};
    if (known.of_channel != taps) {
      run.choose(a, most_channels, int32_t(all * plan.together), a_at, lists);
      known.a_at = lists;
      lists += most_channels * known.of_channel;
      run.choose(a, most_channels, int32_t(slab.channel()), b_at, lists);
      known.b_at = lists;
      lists += most_channels * known.of_channel;
    }
    line = run.end;
  }
  for (int64_t c = 0; taps > 0 && c < p.channels; c += plan.channels) {
    const int64_t channels = std::min(plan.channels, p.channels - c);
    for (int64_t s = 0; s < samples; ++s)
      fill_slab(slab, a, p.source, source + s * p.source.sample + c * p.source.channel, origin, channels,
                copy + s * plan.slab_elements);
    for (const Taps& run : std::span(runs, size_t(run_count)))
      for (int64_t r = 0; r < rows; r += plan.together)
        multiply_results(
            plan.vectors,
            GatheredProduct<C>{weight + r / plan.together * a_step + c * all * plan.together, run.a_at, copy, run.b_at,
                               channels * run.of_channel, sums + run.first * of_line * plan.weight_rows + r,
                               plan.weight_rows, c == 0},
            at + run.first * of_line, (run.end - run.first) * of_line);
  }
  for (int64_t s = 0; s < samples; ++s)
    store_planes<T>(p, a, origin.at[0], planes,
                    BlockSums<C>{sample + s, g, row, rows, sums + s * a[2].count * plan.weight_rows, plan.weight_rows,
                                 of_line * plan.weight_rows});
}

// False where planes are not small, or rows do not fill most of their vectors.
template <class C>
bool plan_planes(const params::Convolution& p, int workers, PlanesPlan& plan) {
  constexpr int64_t lanes = LaneVector<C>::count;
  const Axes a = largest_axes(p);
  const int64_t taps = a.taps(), all = p.weight.taps[0] * p.weight.taps[1] * p.weight.taps[2];
  const int64_t plane = int64_t(a[1].count) * a[2].count, vectors = ceil_div(p.rows, lanes);
  if (plane > PlanesTuning::plane || taps > SlabTuning::deepest) return false;
  if (vectors * lanes * PlanesTuning::least_filled > p.rows * 100) return false;
  const int64_t row_blocks = ceil_div(vectors * lanes, PlanesTuning::rows), block = ceil_div(vectors, row_blocks);
  plan.vectors = int32_t(ceil_div(block, ceil_div(block, PlanesTuning::most_vectors)));
  plan.together = plan.vectors * lanes;
  plan.weight_rows = ceil_div(block, plan.vectors) * plan.together;
  plan.row_blocks = ceil_div(p.rows, plan.weight_rows);
  if (all * p.channels * plan.together >> 31 != 0) return false;
  plan.channels = std::clamp<int64_t>(PlanesTuning::depth / taps, 1, p.channels);
  // Fewer results until all workers have several blocks, and until a slab fits.
  for (int64_t results = PlanesTuning::results;; results /= 2) {
    const auto part = [](int64_t count, int64_t most) { return ceil_div(count, ceil_div(count, most)); };
    plan.planes = part(a[0].count, std::max<int64_t>(results / plane, 1));
    plan.samples = part(std::max<int64_t>(p.samples, 1), std::max<int64_t>(results / (plane * a[0].count), 1));
    plan.slab_elements = plan.channels * Slab(a, a[1].count, a[2].count, false, int32_t(plan.planes)).channel();
    plan.tiles = ceil_div(a[0].count, plan.planes);
    plan.sample_blocks = ceil_div(p.samples, plan.samples);
    plan.blocks = plan.row_blocks * plan.tiles * p.groups * plan.sample_blocks * phases_of(p);
    const bool fits = plan.samples * plan.slab_elements * int64_t(sizeof(C)) <= PlanesTuning::slab_bytes;
    const bool least = plan.planes == 1 && plan.samples == 1;
    if (fits && (plan.blocks >= 4 * workers || results / 2 < PlanesTuning::least_results)) break;
    if (least && fits) break;
    if (least && plan.channels == 1) return false;
    if (least) plan.channels = ceil_div(plan.channels, 2);
  }
  plan.results = plan.samples * plan.planes * plane;
  plan.depth = taps * plan.channels;
  plan.shared_bytes = int64_t(sizeof(C)) * (plan.samples * plan.slab_elements + plan.results * plan.weight_rows) +
                      int64_t(sizeof(int32_t)) * (2 * (1 + PlanesTuning::most_runs) * plan.depth + plan.results);
  return true;
}

}  // namespace stator::STATOR_TARGET::convolution
