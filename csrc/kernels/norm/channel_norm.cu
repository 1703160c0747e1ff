// Batch normalisation: each channel has a mean and a variance over all samples. One launch for the statistics, or for
// the sums of the gradient, and one for the results.
#include "device/vector.cuh"
#include "host/launcher.hpp"
#include "kernels/norm/channel_fast.cuh"
#include "kernels/norm/channel_sums.cuh"

namespace stator::STATOR_TARGET::norm {
namespace {

ChannelCut cut_channels(const params::DeviceLimits& limits, const params::ChannelNorm& p) {
  using Tune = ChannelTuning;
  ChannelCut cut{};
  const bool channels_last = p.inner == 1;
  const int V = 16 / itemsize(p.dtype);
  cut.vectors = (channels_last ? p.channels : p.inner) % V == 0;
  for (const void* operand : {p.x, p.residual, p.grad, static_cast<const void*>(p.y), static_cast<const void*>(p.sum)})
    cut.vectors &= is_aligned(operand);
  const int width = cut.vectors ? V : 1;
  cut.inner = FastDivmod64(channels_last ? 1 : std::max<int64_t>(p.inner / width, 1));
  cut.units = channels_last || fast_host ? p.samples : p.samples * (p.inner / width);
  cut.tiles = channels_last ? ceil_div(p.channels, Tune::tile) : p.channels;
  const int64_t elements = p.samples * p.inner * (channels_last ? std::min<int64_t>(p.channels, Tune::tile) : 1);
  const int64_t filling = waves(limits, Tune::block) / std::max<int64_t>(cut.tiles, 1);
  const int64_t wanted =
      std::clamp<int64_t>(std::min(filling, elements / Tune::least), 1, std::max<int64_t>(cut.units, 1));
  cut.size = std::max<int64_t>(ceil_div(cut.units, wanted), 1);
  cut.splits = std::max<int64_t>(ceil_div(cut.units, cut.size), 1);
  return cut;
}

params::ChannelNormNeeds channel_norm_needs(const params::DeviceLimits& limits, const params::ChannelNorm& p) {
  const ChannelCut cut = cut_channels(limits, p);
  const int64_t total = (p.dtype == DType::float64 ? 8 : 4) * 3, wide = p.inner == 1 ? ChannelTuning::tile : 1;
  const int64_t scales = p.training && !fast_host ? p.channels * total : 0;
  if (cut.splits == 1) return {0, 0, scales};
  return {cut.tiles * cut.splits * wide * total, cut.tiles * int64_t(sizeof(uint32_t)), scales};
}

template <class T, bool Backward>
void launch_sums(const params::Queue& q, const params::ChannelNorm& p, const ChannelCut& cut) {
  constexpr int block = ChannelTuning::block;
  const bool channels_last = p.inner == 1;
  const Config grid{cut.tiles * cut.splits, block};
  if constexpr (fast_host)
    launch(q, "channel_sums",
           channels_last ? fast_channels_last_sums_kernel<T, block, Backward>
                         : fast_channels_first_sums_kernel<T, block, Backward>,
           grid, p, cut);
  else
    launch(
        q, "channel_sums",
        channels_last ? channels_last_sums_kernel<T, block, Backward> : channels_first_sums_kernel<T, block, Backward>,
        grid, p, cut);
}

template <class T, bool Backward>
void launch_results(const params::Queue& q, const params::ChannelNorm& p, const ChannelCut& cut) {
  constexpr int block = ChannelTuning::block;
  const bool channels_last = p.inner == 1;
  const int64_t all = p.samples * p.channels * p.inner;
  if constexpr (fast_host) {
    const int64_t worth = std::max<int64_t>(all / ChannelTuning::least, 1);
    const int64_t most = std::min(worth, 2 * waves(*q.limits, block));
    if (!channels_last)
      return launch(q, "channel_apply", fast_apart_apply_kernel<T, block, Backward>,
                    {std::min(most, p.samples * p.channels), block}, p);
    const int64_t splits = std::clamp<int64_t>(most / cut.tiles, 1, p.samples);
    launch(q, "channel_apply", fast_adjacent_apply_kernel<T, block, Backward>, {cut.tiles * splits, block}, p, splits);
  } else {
    const int64_t width = cut.vectors ? vector_width<T> : 1, vectors = p.channels / width;
    if (channels_last)
      launch(q, "channel_apply", channel_apply_kernel<T, block, true, Backward>,
             {ceil_div(ceil_div(p.samples, ChannelTuning::rows) * vectors, block), block}, p, cut,
             FastDivmod64(vectors));
    else
      launch(q, "channel_apply", channel_apply_kernel<T, block, false, Backward>,
             {ceil_div(all / width, block * ChannelTuning::units), block}, p, cut, FastDivmod64(p.channels));
  }
}

void channel_norm(const params::Queue& q, const params::ChannelNorm& p) {
  const ChannelCut cut = cut_channels(*q.limits, p);
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    params::ChannelNorm after = p;
    if (p.training) {
      launch_sums<T, false>(q, p, cut);
      if (p.residual != nullptr) after.x = p.sum;
      after.residual = nullptr;
    }
    if (p.samples * p.inner > 0) launch_results<T, false>(q, after, cut);
  });
}
void channel_norm_backward(const params::Queue& q, const params::ChannelNorm& p) {
  const ChannelCut cut = cut_channels(*q.limits, p);
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    launch_sums<T, true>(q, p, cut);
    if (p.samples * p.inner > 0) launch_results<T, true>(q, p, cut);
  });
}

template <class A, int Size>
STATOR_KERNEL(Size) void running_stats_kernel(params::RunningStats p) {
  const Group<Size> group;
  const A momentum = A(p.momentum), unbias = A(p.unbias);
  A* const mean = static_cast<A*>(p.running_mean);
  A* const var = static_cast<A*>(p.running_var);
  const A* const batch_mean = static_cast<const A*>(p.mean);
  const A* const batch_var = static_cast<const A*>(p.var);
  const int64_t first = group.block() * Size, count = p.n - first < Size ? p.n - first : Size;
  group.for_each(count, [=](int64_t j) {
    const int64_t i = first + j;
    mean[i] = mean[i] + momentum * (batch_mean[i] - mean[i]);
    var[i] = var[i] + momentum * (batch_var[i] * unbias - var[i]);
  });
}

void running_stats(const params::Queue& q, const params::RunningStats& p) {
  constexpr int block = ChannelTuning::block;
  launch(q, "running_stats",
         p.dtype == DType::float64 ? running_stats_kernel<double, block> : running_stats_kernel<float, block>,
         {ceil_div(p.n, block), block}, p);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::norm

STATOR_LAUNCHER(norm, channel_norm_needs)
STATOR_LAUNCHER(norm, channel_norm)
STATOR_LAUNCHER(norm, channel_norm_backward)
STATOR_LAUNCHER(norm, running_stats)
