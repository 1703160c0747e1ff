// Convolutions and transposed convolutions.
//
// Where blocks have threads, groups of few channels (is_direct) are summed by threads that have all channels of a
// result, or four of them. Of others blocks compute tiles of 64 channels times 128 results, from weights in vectors
// along the channels, and tensor cores of halves whose channels are side by side, which a launch before copies so where
// they are not. The fast host computes all of them from slabs, but for kernels whose taps a slab cannot hold.
#include "device/group.cuh"
#include "device/math/libm.cuh"
#include "device/vector.cuh"
#include "host/launcher.hpp"
#include "kernels/convolution/channels_last.cuh"
#include "kernels/convolution/convolve_fast.cuh"
#include "kernels/convolution/convolve_planes.cuh"
#include "kernels/convolution/convolve_tile.cuh"

namespace stator::STATOR_TARGET::convolution {

// --- few channels where blocks have threads --------------------------------------------------------------------------

// Sums of a few channels at once, for groups of few channels where blocks have threads: a thread has `Rows` channels of
// some positions, so that each element of the source is loaded once for all of them. Weights are in shared memory, side
// by side for the channels of a result.

struct RowsTuning {
  static constexpr int block = 256;
  static constexpr int weights = 2048;  // in shared memory at a time
  // Positions of a thread. They share the loads of the weights.
  static constexpr int positions(int rows) { return rows == 1 ? 4 : 2; }
};

template <class C>
struct StagedWeights {
  alignas(16) C of[RowsTuning::weights];
};

// Blocks: of positions, of rows of a group, of groups, of samples, of phases; the first ones change fastest.
struct RowsPlan {
  int64_t chunks, row_blocks, blocks;
  int32_t channels;  // whose weights are in shared memory at a time
};

template <int Size, class T, int Rows>
STATOR_KERNEL(Size) void convolve_rows_kernel(params::Convolution p, RowsPlan plan) {
  using C = sum_of<T>;
  constexpr int each = RowsTuning::positions(Rows), side = Rows == 1 ? 1 : 16 / int(sizeof(C));
  const Group<Size> group;
  C* const staged = group.template shared<StagedWeights<C>>().of;
  for (int64_t block = group.block(); block < plan.blocks; block += group.blocks()) {
    const int64_t first = block % plan.chunks * (Size * each);
    int64_t rest = block / plan.chunks;
    const int32_t first_row = int32_t(rest % plan.row_blocks) * Rows;
    rest /= plan.row_blocks;
    const int64_t g = rest % p.groups;
    rest /= p.groups;
    const int64_t sample = rest % p.samples;
    const Axes a = axes_of(p, rest / p.samples);
    const int64_t positions = a.positions();
    if (first >= positions) continue;  // of a phase that has fewer than the largest
    const int rows = int(p.rows - first_row < Rows ? p.rows - first_row : Rows);
    const int32_t taps = a.taps();
    const uint32_t deep = uint32_t(p.source.extent[0]), high = uint32_t(p.source.extent[1]),
                   wide = uint32_t(p.source.extent[2]);
    const int64_t step = a[2].tap_scale * p.source.axis[2];
    const T* const source = static_cast<const T*>(p.source.data) + sample * p.source.sample + g * p.source.group;
    const params::Weights& w = p.weight;
    const T* weight = static_cast<const T*>(w.data) + g * w.group + first_row * w.row;
    STATOR_UNROLL()
    for (int d = 0; d < axes; ++d) weight += a[d].first_tap * w.axis[d];

    // The source position of each result of this thread.
    int32_t base[each][axes];
    bool has[each];
    STATOR_UNROLL()
    for (int k = 0; k < each; ++k) {
      const int64_t position = first + k * Size + group.rank();
      has[k] = position < positions;
      const OutputIndex output = output_index(a, has[k] ? position : 0);
      STATOR_UNROLL()
      for (int d = 0; d < axes; ++d) base[k][d] = output.at[d] * a[d].scale + a[d].origin;
    }
    C sums[each][Rows] = {};
    for (int32_t c = 0; c < p.channels; c += plan.channels) {
      const int32_t channels = int32_t(p.channels - c < plan.channels ? p.channels - c : plan.channels);
      // Stage the weights of these channels in shared memory.
      group.sync();
      group.for_each(channels * taps * Rows, [&](int64_t i) {
        const int32_t r = int32_t(i) % Rows, at = int32_t(i) / Rows, x = at % a[2].taps, line = at / a[2].taps;
        const int32_t channel = line % channels, y = line / channels % a[1].taps, z = line / channels / a[1].taps;
        const int64_t offset = r * w.row + (c + channel) * w.channel + int64_t(z) * a[0].tap_step * w.axis[0] +
                               int64_t(y) * a[1].tap_step * w.axis[1] + int64_t(x) * a[2].tap_step * w.axis[2];
        staged[i] = r < rows ? convert<C>(weight[offset]) : C(0);
      });
      group.sync();
      // Multiply them with the source, line by line.
      const C* by = staged;  // by taps of a line, channels, and lines
      for (int32_t z = 0; z < a[0].taps; ++z) {
        for (int32_t y = 0; y < a[1].taps; ++y) {
          const T* line[each];
          bool inside[each];
          STATOR_UNROLL()
          for (int k = 0; k < each; ++k) {
            const int32_t at_z = base[k][0] + z * a[0].tap_scale, at_y = base[k][1] + y * a[1].tap_scale;
            inside[k] = has[k] && uint32_t(at_z) < deep && uint32_t(at_y) < high;
            line[k] = source + c * p.source.channel + at_z * p.source.axis[0] + at_y * p.source.axis[1] +
                      base[k][2] * p.source.axis[2];
          }
          for (int32_t channel = 0; channel < channels; ++channel) {
            int64_t ahead = 0;
            STATOR_UNROLL(3)
            for (int32_t x = 0; x < a[2].taps; ++x, by += Rows, ahead += step) {
              C values[each];
              STATOR_UNROLL()
              for (int k = 0; k < each; ++k) {
                const bool there = inside[k] && uint32_t(base[k][2] + x * a[2].tap_scale) < wide;
                values[k] = there ? convert<C>(line[k][ahead]) : C(0);
              }
              STATOR_UNROLL()
              for (int r = 0; r < Rows; r += side) {
                const Vec<C, side> factors = load_vector<side>(by + r);
                STATOR_UNROLL()
                for (int i = 0; i < side; ++i) {
                  STATOR_UNROLL()
                  for (int k = 0; k < each; ++k) sums[k][r + i] = fused(values[k], factors[i], sums[k][r + i]);
                }
              }
            }
            STATOR_UNROLL()
            for (int k = 0; k < each; ++k) line[k] += p.source.channel;
          }
        }
      }
    }
    // Add the bias, and store.
    const T* const bias = static_cast<const T*>(p.bias);
    T* const out = static_cast<T*>(const_cast<void*>(p.result.data)) + g * p.result.group;
    STATOR_UNROLL()
    for (int k = 0; k < each; ++k) {
      if (!has[k]) continue;
      OutputIndex output = output_index(a, first + k * Size + group.rank());
      output.sample = sample;
      T* const to = out + result_offset(p.result, a, output) + first_row * p.result.channel;
      STATOR_UNROLL()
      for (int r = 0; r < Rows; ++r) {
        if (r >= rows) break;
        const C sum = sums[k][r] + (bias ? convert<C>(bias[g * p.rows + first_row + r]) : C(0));
        to[r * p.result.channel] = convert<T>(sum);
      }
    }
  }
}

// --- launchers
// ---------------------------------------------------------------------------------------------------------

namespace {

int64_t taps_of(const params::Convolution& p) { return p.weight.taps[0] * p.weight.taps[1] * p.weight.taps[2]; }

// The vectors of channels that the weight is arranged in.
template <class T>
int64_t packed_vectors(const params::Convolution& p) {
  return p.groups * taps_of(p) * ceil_div(p.channels, vector_width<T>) * p.rows;
}

// Whether tensor cores multiply a copy of the source, which then follows the weight in the scratch memory. Each of
// its elements is to be read at least twice, or the copy costs as much as it saves.
template <class T>
bool copies_source(const params::Convolution& p, ChannelsLast& copy) {
  if constexpr (has_tensor_cores && is_half<T>) {
    if (is_direct(p.rows, p.channels) || p.channels % TileOf<T>::depth != 0 || has_vectors<T>(p.source)) return false;
    constexpr int64_t none[axes] = {};
    copy = channels_last(p.source, p.samples, p.groups, p.channels, none, p.source.extent);
    const auto positions = [](const params::Image& i) { return i.extent[0] * i.extent[1] * i.extent[2]; };
    const int64_t reads = positions(p.result) * taps_of(p) * ceil_div(p.rows, TileTuning::rows);
    return reads >= 2 * positions(p.source) * phases_of(p) &&
           copy.elements() * int64_t(sizeof(T)) <= ChannelsLastTuning::most_bytes;
  } else {
    return false;
  }
}

template <class T>
int64_t packed_bytes(const params::DeviceLimits& limits, const params::Convolution& p) {
  if constexpr (fast_host) {
    using C = sum_of<T>;
    PlanesPlan plan;
    const int64_t together = plan_planes<C>(p, limits.multiprocessors, plan) ? plan.together : together_of(p.rows);
    return p.groups * ceil_div(p.rows, together) * together * p.channels * taps_of(p) * int64_t(sizeof(C));
  } else {
    return is_direct(p.rows, p.channels) ? 0 : packed_vectors<T>(p) * 16;
  }
}

int64_t convolution_scratch(const params::DeviceLimits& limits, const params::Convolution& p) {
  return visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    ChannelsLast copy;
    const int64_t copied = copies_source<T>(p, copy) ? copy.elements() * int64_t(sizeof(T)) : 0;
    return std::max<int64_t>(packed_bytes<T>(limits, p) + copied, 1);
  });
}

template <class T>
void start_direct(const params::Queue& q, const params::Convolution& p) {
  constexpr int64_t most = (int64_t(1) << 31) - 1;
  DirectPlan plan;
  plan.together = !fast_host && p.result.channel == 1 && p.groups * p.rows > 1 ? DirectTuning::together : 1;
  plan.positions = DirectTuning::tile / plan.together;
  plan.chunks = ceil_div(largest_axes(p).positions(), plan.positions);
  plan.channel_blocks = ceil_div(p.groups * p.rows, plan.together);
  plan.blocks = phases_of(p) * p.samples * plan.channel_blocks * plan.chunks;
  launch(q, "convolve_direct", convolve_direct_kernel<DirectTuning::block, T>,
         {std::min(plan.blocks, most), DirectTuning::block}, p, plan);
}

// Where the channels of a result are side by side and have groups of their own, as depthwise ones do, neighbouring
// threads take those instead.
template <class T, int Rows>
bool start_rows(const params::Queue& q, const params::Convolution& p) {
  constexpr int64_t most = (int64_t(1) << 31) - 1;
  RowsPlan plan;
  const Axes a = largest_axes(p);
  plan.channels = int32_t(std::min<int64_t>(p.channels, RowsTuning::weights / (int64_t(a.taps()) * Rows)));
  if (plan.channels < 1 || (p.result.channel == 1 && p.groups > 1)) return false;
  plan.chunks = ceil_div(a.positions(), RowsTuning::block * RowsTuning::positions(Rows));
  plan.row_blocks = ceil_div(p.rows, Rows);
  plan.blocks = phases_of(p) * p.samples * p.groups * plan.row_blocks * plan.chunks;
  launch(q, "convolve_rows", convolve_rows_kernel<RowsTuning::block, T, Rows>,
         {std::min(plan.blocks, most), RowsTuning::block}, p, plan);
  return true;
}

template <class T>
void start_few(const params::Queue& q, const params::Convolution& p) {
  if constexpr (!fast_host) {
    if (p.rows == 1 ? start_rows<T, 1>(q, p) : start_rows<T, 4>(q, p)) return;
  }
  start_direct<T>(q, p);
}

template <class T>
void start_slab(const params::Queue& q, const params::Convolution& p) {
  const auto pack = [&](int64_t together) {
    const int64_t row_blocks = ceil_div(p.rows, together);
    launch(q, "convolution_weights", pack_rows_kernel<SlabTuning::block, T>,
           {p.groups * row_blocks * p.channels, SlabTuning::block}, p, together, row_blocks);
  };
  if (PlanesPlan plan; plan_planes<sum_of<T>>(p, q.limits->multiprocessors, plan)) {
    pack(plan.together);
    launch(q, "convolve", convolve_planes_kernel<SlabTuning::block, T>,
           {plan.blocks, SlabTuning::block, int(plan.shared_bytes)}, p, plan);
    return;
  }
  SlabPlan plan;
  if (!plan_slab<sum_of<T>>(p, q.limits->multiprocessors, plan)) return start_direct<T>(q, p);
  pack(plan.together);
  launch(q, "convolve", convolve_slab_kernel<SlabTuning::block, T>,
         {plan.blocks, SlabTuning::block, int(plan.shared_bytes)}, p, plan);
}

template <class T>
void start_tiles(const params::Queue& q, params::Convolution p) {
  if (is_direct(p.rows, p.channels)) return start_few<T>(q, p);
  if constexpr (has_tensor_cores && is_half<T>) {
    if (ChannelsLast copy; copies_source<T>(p, copy)) {
      copy.to.data = static_cast<char*>(p.packed) + packed_bytes<T>(*q.limits, p);
      start_channels_last<T>(q, copy);
      p.source = copy.to;
    }
  }
  constexpr int64_t width = vector_width<T>;
  TilePlan plan;
  plan.channels = int32_t(ceil_div(p.channels, width) * width);
  plan.whole = p.channels % width == 0;
  plan.wide = plan.whole && has_vectors<T>(p.source);
  plan.row_tiles = ceil_div(p.rows, TileTuning::rows);
  plan.column_tiles = ceil_div(p.samples * largest_axes(p).positions(), TileTuning::columns);
  plan.blocks = plan.row_tiles * plan.column_tiles * p.groups * phases_of(p);
  const int64_t vectors = packed_vectors<T>(p);
  launch(q, "convolution_weights", pack_vectors_kernel<TileTuning::block, T>,
         {ceil_div(vectors, TileTuning::block), TileTuning::block}, p, plan.channels, vectors);
  launch(q, "convolve", convolve_tile_kernel<TileTuning::block, T>, {plan.blocks, TileTuning::block}, p, plan);
}

void convolve(const params::Queue& q, const params::Convolution& p) {
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    if constexpr (fast_host)
      start_slab<T>(q, p);
    else
      start_tiles<T>(q, p);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::convolution

STATOR_LAUNCHER(convolution, convolve)
STATOR_LAUNCHER(convolution, convolution_scratch)
