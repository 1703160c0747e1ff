// Copies of images that have the channels of a position side by side. Tensor cores work on those, because vectors of
// neighbouring channels come to shared memory by copy_async, without registers.
#pragma once

#include "device/group.cuh"
#include "device/index.cuh"
#include "device/vector.cuh"
#include "host/launch.hpp"
#include "kernels/convolution/axes.cuh"

#include <algorithm>

namespace stator::STATOR_TARGET::convolution {

struct ChannelsLastTuning {
  static constexpr int block = 256, tile = 64;     // channels and positions of a block
  static constexpr int64_t most_bytes = 64 << 20;  // of the copies of a call
};

// The positions of `to` begin `before` ahead of those of `from`; what `from` does not have is zero.
struct ChannelsLast {
  params::Image from, to;
  int32_t before[axes];
  int64_t samples, groups, channels;  // channels of a group, whole vectors
  int64_t channel_tiles, position_tiles;

  int64_t elements() const { return samples * to.sample; }
};

inline ChannelsLast channels_last(const params::Image& from, int64_t samples, int64_t groups, int64_t channels,
                                  const int64_t* before, const int64_t* extent) {
  ChannelsLast c{from, {}, {}, samples, groups, channels, 0, 0};
  int64_t step = groups * channels;
  for (int d = axes - 1; d >= 0; --d) {
    c.before[d] = int32_t(before[d]);
    c.to.axis[d] = step;
    c.to.extent[d] = extent[d];
    step *= extent[d];
  }
  c.to.sample = step;
  c.to.group = channels;
  c.to.channel = 1;
  c.channel_tiles = ceil_div(channels, ChannelsLastTuning::tile);
  c.position_tiles = ceil_div(extent[0] * extent[1] * extent[2], ChannelsLastTuning::tile);
  return c;
}

// Whether vectors of neighbouring channels can be read as they are, given whole vectors of them.
template <class T>
bool has_vectors(const params::Image& image) {
  const int64_t steps = image.sample | image.group | image.axis[0] | image.axis[1] | image.axis[2];
  return image.channel == 1 && steps % vector_width<T> == 0 && is_aligned(image.data);
}

// Whether `from` is not already what the copy would be.
template <class T>
bool is_needed(const ChannelsLast& c) {
  bool same = has_vectors<T>(c.from) && (c.samples == 1 || c.from.sample == c.to.sample) &&
              (c.groups == 1 || c.from.group == c.to.group);
  for (int d = 0; d < axes; ++d)
    same = same && c.before[d] == 0 && c.to.extent[d] <= c.from.extent[d] &&
           (c.to.extent[d] == 1 || c.from.axis[d] == c.to.axis[d]);
  return !same;
}

template <int Size, class T>
STATOR_KERNEL(Size) void channels_last_kernel(ChannelsLast p, FastDivmod plane_size, FastDivmod row_size) {
  constexpr int tile = ChannelsLastTuning::tile, width = vector_width<T>, vectors = tile / width;
  // Neighbouring positions are in distinct banks, when a channel is written and when vectors are read by words.
  struct Memory {
    alignas(4) T value[tile][tile + 4 / sizeof(T)];
  };
  const Group<Size> group;
  const int rank = group.rank();
  Memory& memory = group.template shared<Memory>();
  int64_t block = group.block();
  const int64_t first_channel = block % p.channel_tiles * tile;
  block /= p.channel_tiles;
  const int32_t first = int32_t(block % p.position_tiles) * tile;
  block /= p.position_tiles;
  const int64_t g = block % p.groups, sample = block / p.groups;
  const int32_t positions = int32_t(p.to.extent[0] * p.to.extent[1] * p.to.extent[2]);

  int32_t rest, at[axes];
  at[0] = plane_size.divmod(first + rank % tile, rest);
  at[1] = row_size.divmod(rest, at[2]);
  bool inside = first + rank % tile < positions;
  const T* from = static_cast<const T*>(p.from.data) + sample * p.from.sample + g * p.from.group;
  STATOR_UNROLL()
  for (int d = 0; d < axes; ++d) {
    at[d] -= p.before[d];
    inside = inside && at[d] >= 0 && at[d] < p.from.extent[d];
    from += at[d] * p.from.axis[d];
  }
  constexpr int each = tile * tile / Size;
  T value[each];
  STATOR_UNROLL()
  for (int u = 0; u < each; ++u) {
    const int64_t c = first_channel + rank / tile + u * (Size / tile);
    value[u] = inside && c < p.channels ? from[c * p.from.channel] : T(0.0f);
  }
  STATOR_UNROLL()
  for (int u = 0; u < each; ++u) memory.value[rank % tile][rank / tile + u * (Size / tile)] = value[u];
  group.sync();
  T* const to = static_cast<T*>(const_cast<void*>(p.to.data)) + sample * p.to.sample + g * p.to.group;
  STATOR_UNROLL()
  for (int i = rank; i < tile * vectors; i += Size) {
    const int position = i / vectors, channel = i % vectors * width;
    if (first + position >= positions || first_channel + channel >= p.channels) continue;
    Vec<T, width> v;
    STATOR_UNROLL()
    for (int k = 0; k < width; k += 2) {
      const Vec<T, 2> pair = load_vector<2>(&memory.value[position][channel + k]);
      v[k] = pair[0];
      v[k + 1] = pair[1];
    }
    store_vector(to + (first + position) * p.to.axis[2] + first_channel + channel, v);
  }
}

template <class T>
void start_channels_last(const params::Queue& q, const ChannelsLast& c) {
  launch(q, "channels_last", channels_last_kernel<ChannelsLastTuning::block, T>,
         {c.samples * c.groups * c.channel_tiles * c.position_tiles, ChannelsLastTuning::block}, c,
         FastDivmod(int32_t(c.to.extent[1] * c.to.extent[2])), FastDivmod(int32_t(c.to.extent[2])));
}

}  // namespace stator::STATOR_TARGET::convolution
