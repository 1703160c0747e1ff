// Convolutions and transposed convolutions.
//
// Groups of few channels (is_direct) are summed directly where blocks have threads. Else those blocks compute tiles of
// 64 channels times 128 results, from weights in vectors along the channels. The fast host computes all of them from
// slabs, but for kernels whose taps a slab cannot hold.
#include "device/launcher.cuh"
#include "kernels/convolution/convolve_fast.cuh"
#include "kernels/convolution/convolve_tile.cuh"

namespace stator::STATOR_TARGET::convolution {
namespace {

int64_t taps_of(const params::Convolution& p) { return p.weight.taps[0] * p.weight.taps[1] * p.weight.taps[2]; }

template <class T>
int64_t packed_bytes(const params::Convolution& p) {
  if constexpr (fast_host) {
    using C = sum_of<T>;
    const int64_t together = together_of(p.rows);
    return p.groups * ceil_div(p.rows, together) * together * p.channels * taps_of(p) * int64_t(sizeof(C));
  } else {
    constexpr int64_t width = vector_width<T>;
    return is_direct(p.rows, p.channels) ? 0 : p.groups * taps_of(p) * ceil_div(p.channels, width) * p.rows * 16;
  }
}

int64_t convolution_scratch(const params::DeviceLimits&, const params::Convolution& p) {
  return with_float(p.dtype, [&](auto type) { return std::max<int64_t>(packed_bytes<decltype(type)>(p), 1); });
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

template <class T>
void start_slab(const params::Queue& q, const params::Convolution& p) {
  SlabPlan plan;
  if (!plan_slab<sum_of<T>>(p, q.limits->multiprocessors, plan)) return start_direct<T>(q, p);
  const int64_t row_blocks = ceil_div(p.rows, plan.together);
  launch(q, "convolution_weights", pack_rows_kernel<SlabTuning::block, T>,
         {p.groups * row_blocks * p.channels, SlabTuning::block}, p, int64_t(plan.together), row_blocks);
  launch(q, "convolve", convolve_slab_kernel<SlabTuning::block, T>,
         {plan.blocks, SlabTuning::block, int(plan.shared_bytes)}, p, plan);
}

template <class T>
void start_tiles(const params::Queue& q, const params::Convolution& p) {
  if (is_direct(p.rows, p.channels)) return start_direct<T>(q, p);
  constexpr int64_t width = vector_width<T>;
  TilePlan plan;
  plan.channels = int32_t(ceil_div(p.channels, width) * width);
  const params::Image& s = p.source;
  const int64_t steps = s.sample | s.group | s.axis[0] | s.axis[1] | s.axis[2];
  plan.whole = p.channels % width == 0;
  plan.wide = s.channel == 1 && plan.whole && steps % width == 0 && reinterpret_cast<uintptr_t>(s.data) % 16 == 0;
  plan.row_tiles = ceil_div(p.rows, TileTuning::rows);
  plan.column_tiles = ceil_div(p.samples * largest_axes(p).positions(), TileTuning::columns);
  plan.blocks = plan.row_tiles * plan.column_tiles * p.groups * phases_of(p);
  const int64_t vectors = p.groups * taps_of(p) * plan.channels / width * p.rows;
  launch(q, "convolution_weights", pack_vectors_kernel<TileTuning::block, T>,
         {ceil_div(vectors, TileTuning::block), TileTuning::block}, p, plan.channels, vectors);
  launch(q, "convolve", convolve_tile_kernel<TileTuning::block, T>, {plan.blocks, TileTuning::block}, p, plan);
}

void convolve(const params::Queue& q, const params::Convolution& p) {
  with_float(p.dtype, [&](auto type) {
    if constexpr (fast_host)
      start_slab<decltype(type)>(q, p);
    else
      start_tiles<decltype(type)>(q, p);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::convolution

STATOR_LAUNCHER(convolution, convolve)
STATOR_LAUNCHER(convolution, convolution_scratch)
