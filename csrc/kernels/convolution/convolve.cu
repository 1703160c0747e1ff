// Convolutions and transposed convolutions.
//
// Where blocks have threads, groups of few channels (is_direct) are summed by threads that have all channels of a
// result, or four of them. Of others blocks compute tiles of 64 channels times 128 results, from weights in vectors
// along the channels, and tensor cores of halves whose channels are side by side, which a launch before copies so where
// they are not. The fast host computes all of them from slabs, but for kernels whose taps a slab cannot hold.
#include "device/launcher.cuh"
#include "kernels/convolution/channels_last.cuh"
#include "kernels/convolution/convolve_fast.cuh"
#include "kernels/convolution/convolve_planes.cuh"
#include "kernels/convolution/convolve_rows.cuh"
#include "kernels/convolution/convolve_tile.cuh"

namespace stator::STATOR_TARGET::convolution {
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
