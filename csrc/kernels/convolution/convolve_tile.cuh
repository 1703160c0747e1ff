// Convolutions where blocks have threads: products of the weight and of windows that are gathered on the way to shared
// memory; and direct sums, on every target, for depthwise channels that lie side by side, and for what neither the rows
// of few channels nor the fast host's slab can hold.
#pragma once

#include "host/launch.hpp"
#include "kernels/convolution/tile.cuh"

namespace stator::STATOR_TARGET::convolution {

struct DirectTuning {
  static constexpr int block = 256;
  static constexpr int64_t tile = by_target<256 * 4, 4096>::value;  // results of a block
  static constexpr int64_t fewest_rows = 4, few = 8;
  static constexpr int32_t together = 32;  // channels, where they are side by side
};

// Groups of so few channels that a tile would be almost empty.
inline bool is_direct(int64_t rows, int64_t channels) {
  return rows <= DirectTuning::fewest_rows || (rows <= DirectTuning::few && channels <= DirectTuning::few);
}

struct TilePlan {
  int64_t row_tiles, column_tiles, blocks;
  int32_t channels;  // rounded up to whole vectors
  bool wide;         // vectors of channels of the source are loaded at once
  bool whole;        // no vector has channels beyond the last
};

// A quotient and its remainder of numbers that mostly have 32 bits; `divisor` has.
STATOR_FN int64_t divide(int64_t number, int32_t divisor, int32_t& remainder) {
  if (number >> 31 == 0) {
    const uint32_t quotient = uint32_t(number) / uint32_t(divisor);
    remainder = int32_t(uint32_t(number) - quotient * uint32_t(divisor));
    return quotient;
  }
  remainder = int32_t(number % divisor);
  return number / divisor;
}

// A sample, and a result's index among those of its phase.
struct OutputIndex {
  int64_t sample;
  int32_t at[axes];
};
STATOR_FN OutputIndex output_index(const Axes& a, int64_t column) {
  OutputIndex output;
  int32_t rest;
  output.sample = divide(column, int32_t(a.positions()), rest);
  const int32_t plane = a[1].count * a[2].count;
  output.at[0] = rest / plane;
  rest -= output.at[0] * plane;
  output.at[1] = rest / a[2].count;
  output.at[2] = rest - output.at[1] * a[2].count;
  return output;
}
// The distance of a result from the first of its channel.
STATOR_FN int64_t result_offset(const params::Image& image, const Axes& a, const OutputIndex& output) {
  int64_t offset = output.sample * image.sample;
  STATOR_UNROLL()
  for (int d = 0; d < axes; ++d) offset += (a[d].first + int64_t(output.at[d]) * a[d].step) * image.axis[d];
  return offset;
}

// Steps through the depth, whose channels are inside of the taps.
struct TapCursor {
  int32_t channel, tap[axes];

  STATOR_FN TapCursor(const Axes& a, int32_t channels, int32_t first) : channel(0), tap{} {
    advance(a, channels, first);
  }
  STATOR_FN void advance(const Axes& a, int32_t channels, int32_t by) {
    channel += by;
    while (channel >= channels) {
      channel -= channels;
      if (++tap[2] == a[2].taps) {
        tap[2] = 0;
        if (++tap[1] == a[1].taps) {
          tap[1] = 0;
          ++tap[0];
        }
      }
    }
  }
  STATOR_FN bool ended(const Axes& a) const { return tap[0] >= a[0].taps; }
};

// packed[group][tap][channels / V][row] of vectors of V channels, zero where there are none.
template <int Size, class T>
STATOR_KERNEL(Size) void pack_vectors_kernel(params::Convolution p, int32_t channels, int64_t vectors) {
  constexpr int width = vector_width<T>;
  const Group<Size> group;
  const int64_t i = group.block() * Size + group.rank();
  if (i >= vectors) return;
  const params::Weights& w = p.weight;
  const int64_t row = i % p.rows, first = i / p.rows % (channels / width) * width;
  int64_t tap = i / p.rows / (channels / width);
  int64_t offset = row * w.row + first * w.channel;
  STATOR_UNROLL()
  for (int d = axes - 1; d >= 0; --d) {
    offset += tap % w.taps[d] * w.axis[d];
    tap /= w.taps[d];
  }
  const T* from = static_cast<const T*>(w.data) + tap * w.group + offset;
  Vec<T, width> v;
  STATOR_UNROLL()
  for (int k = 0; k < width; ++k) v[k] = first + k < p.channels ? from[k * w.channel] : T(0.0f);
  store_vector(static_cast<T*>(p.packed) + i * width, v);
}

// The block's copy of a value of all its threads, which takes no registers from then on.
template <class S, int Size>
STATOR_FN const S& shared_copy(const Group<Size>& group, const S& value) {
  S& copy = group.template shared<S>();
  if (group.rank() == 0) copy = value;
  group.sync();
  return copy;
}

template <int Size, class T>
STATOR_KERNEL_RESIDENT(Size, (TileTuning::resident<T>)) void convolve_tile_kernel(params::Convolution p,
                                                                                  TilePlan plan) {
  constexpr int width = vector_width<T>, depth = TileOf<T>::depth;
  using C = sum_of<T>;
  const Group<Size> group;
  const int rank = group.rank();

  // The tile of this block.
  int64_t block = group.block();
  const int64_t first_row = block % plan.row_tiles * TileTuning::rows;
  block /= plan.row_tiles;
  const int64_t first_column = block % plan.column_tiles * TileTuning::columns;
  block /= plan.column_tiles;
  const int64_t g = block % p.groups;
  const Axes a = axes_of(p, block / p.groups);
  const int64_t columns = p.samples * a.positions();
  if (first_column >= columns) return;
  // With tensor cores the steps take all registers; tiles of registers have as many left, but no shared memory.
  struct Results {
    Axes axes;
    int64_t columns;
  };
  const Results own{a, columns}, &results = has_tensor_cores && is_half<T> ? shared_copy(group, own) : own;

  // Each thread loads for one row of the weight and one result.
  const ThreadSlots at(rank);
  const int64_t row = first_row + at.a_row, column = first_column + at.b_column[0];
  const bool has_row = row < p.rows, has_column = column < columns;
  const OutputIndex output = output_index(a, has_column ? column : 0);
  const T* source = static_cast<const T*>(p.source.data) + output.sample * p.source.sample + g * p.source.group;
  int32_t base[axes];
  STATOR_UNROLL()
  for (int d = 0; d < axes; ++d) base[d] = output.at[d] * a[d].scale + a[d].origin;
  const int32_t vectors = plan.channels / width;
  const int64_t taps = p.weight.taps[0] * p.weight.taps[1] * p.weight.taps[2];
  const T* weight = static_cast<const T*>(p.packed) + (g * taps * vectors * p.rows + row) * width;

  // Where a vector of the depth comes from; null where it is zeros. A step along the channels of a tap is an addition.
  struct VectorSource {
    TapCursor at;
    const T* from;
  };
  const auto weight_at = [&](const TapCursor& cursor) -> const T* {
    if (!has_row || cursor.ended(a)) return nullptr;
    int64_t tap = 0;
    STATOR_UNROLL()
    for (int d = 0; d < axes; ++d) tap = tap * p.weight.taps[d] + a[d].first_tap + cursor.tap[d] * a[d].tap_step;
    return weight + (tap * vectors + cursor.channel / width) * p.rows * width;
  };
  const auto window_at = [&](const TapCursor& cursor) -> const T* {
    if (!has_column || cursor.ended(a)) return nullptr;
    int64_t offset = cursor.channel * p.source.channel;
    bool inside = true;
    STATOR_UNROLL()
    for (int d = 0; d < axes; ++d) {
      const int32_t position = base[d] + cursor.tap[d] * a[d].tap_scale;
      inside = inside && position >= 0 && position < p.source.extent[d];
      offset += position * p.source.axis[d];
    }
    return inside ? source + offset : nullptr;
  };
  const auto steps = int32_t((int64_t(a.taps()) * plan.channels + depth - 1) / depth);
  const int64_t a_step = depth * p.rows, b_step = depth * p.source.channel;

  // Load through registers, whatever the layout.
  const auto by_registers = [&] {
    const auto advance = [&](VectorSource& source, int64_t by, const auto& address) {
      source.at.channel += depth;
      if (source.at.channel < plan.channels) {
        if (source.from) source.from += by;
        return;
      }
      source.at.advance(a, plan.channels, 0);
      source.from = address(source.at);
    };
    const auto load_window = [&](const VectorSource& source) {
      Vec<T, width> v{};
      if (!source.from) return v;
      if (plan.wide) return load_vector<width>(source.from);
      const int64_t left = p.channels - source.at.channel;
      STATOR_UNROLL()
      for (int k = 0; k < width; ++k)
        if (plan.whole || k < left) v[k] = source.from[k * p.source.channel];
      return v;
    };
    const auto source_of = [&](int vector, const auto& address) {
      const TapCursor cursor(a, plan.channels, vector * width);
      return VectorSource{cursor, address(cursor)};
    };
    VectorSource of_a = source_of(at.a_vector, weight_at);
    VectorSource of_b[2] = {source_of(at.b_vector[0], window_at), source_of(at.b_vector[1], window_at)};
    return multiply_steps<T>(group, steps, at, [&] {
      Staged<T> staged{};
      if (of_a.from) staged.a = load_vector<width>(of_a.from);
      advance(of_a, a_step, weight_at);
      STATOR_UNROLL()
      for (int i = 0; i < 2; ++i) {
        staged.b[i] = load_window(of_b[i]);
        advance(of_b[i], b_step, window_at);
      }
      return staged;
    });
  };

  // Copy halves to shared memory asynchronously where their channels are contiguous.
  TileOf<T> tile;
  bool copied = false;
  if constexpr (has_tensor_cores && is_half<T>) {
    copied = plan.wide && plan.channels % depth == 0;
    if (copied) {
      // Every step is of one tap.
      TapCursor tap(a, 1, 0);
      const T *from_a = nullptr, *from_b = nullptr;
      int bytes_a = 0, bytes_b = 0;
      int32_t left = 0;
      tile = multiply_copies<T>(group, steps, at, [&](T* to_a, T* to_b) {
        if (left == 0) {
          const T *const first_a = weight_at(tap), *const first_b = window_at(tap);
          bytes_a = first_a ? 16 : 0;
          bytes_b = first_b ? 16 : 0;
          from_a = first_a ? first_a + at.a_vector * width * p.rows : static_cast<const T*>(p.packed);
          from_b = first_b ? first_b + at.b_vector[0] * width : static_cast<const T*>(p.source.data);
          left = plan.channels / depth;
          tap.advance(a, 1, 1);
          tap.channel = 0;
        }
        copy_async(to_a, from_a, bytes_a);
        copy_async(to_b, from_b, bytes_b);
        copy_async(to_b + 2 * width, from_b + 2 * width, bytes_b);
        from_a += a_step;
        from_b += depth;
        --left;
      });
    }
  }
  if (!copied) tile = by_registers();

  // Add the bias, and store the tile.
  T* out = static_cast<T*>(const_cast<void*>(p.result.data)) + g * p.result.group;
  const T* bias = static_cast<const T*>(p.bias);
  tile.for_each_column(rank, [&](int j, const auto& each_row) {
    if (first_column + j >= results.columns) return;
    T* to = out + result_offset(p.result, results.axes, output_index(results.axes, first_column + j));
    each_row([&](int i, auto sum) {
      const int64_t r = first_row + i;
      if (r >= p.rows) return;
      to[r * p.result.channel] = convert<T>(sum + (bias ? convert<C>(bias[g * p.rows + r]) : C(0)));
    });
  });
}

// One result, in channel `channel` of all groups.
template <class T>
STATOR_FN void store_directly(const params::Convolution& p, const Axes& a, const OutputIndex& output, int64_t channel) {
  using C = sum_of<T>;
  const int64_t g = p.rows == 1 ? channel : channel / p.rows, row = channel - g * p.rows;
  const T* source = static_cast<const T*>(p.source.data) + output.sample * p.source.sample + g * p.source.group;
  const params::Weights& w = p.weight;
  const T* weight = static_cast<const T*>(w.data) + g * w.group + row * w.row;
  STATOR_UNROLL()
  for (int d = 0; d < axes; ++d) weight += a[d].first_tap * w.axis[d];
  C sum = 0;
  for (int64_t c = 0; c < p.channels; ++c) {
    for (int32_t z = 0; z < a[0].taps; ++z) {
      const int32_t at_z = output.at[0] * a[0].scale + z * a[0].tap_scale + a[0].origin;
      if (at_z < 0 || at_z >= p.source.extent[0]) continue;
      for (int32_t y = 0; y < a[1].taps; ++y) {
        const int32_t at_y = output.at[1] * a[1].scale + y * a[1].tap_scale + a[1].origin;
        if (at_y < 0 || at_y >= p.source.extent[1]) continue;
        const T* from = source + c * p.source.channel + at_z * p.source.axis[0] + at_y * p.source.axis[1];
        const T* by =
            weight + c * w.channel + int64_t(z) * a[0].tap_step * w.axis[0] + int64_t(y) * a[1].tap_step * w.axis[1];
        for (int32_t x = 0; x < a[2].taps; ++x) {
          const int32_t at_x = output.at[2] * a[2].scale + x * a[2].tap_scale + a[2].origin;
          if (at_x < 0 || at_x >= p.source.extent[2]) continue;
          sum += convert<C>(from[at_x * p.source.axis[2]]) * convert<C>(by[int64_t(x) * a[2].tap_step * w.axis[2]]);
        }
      }
    }
  }
  if (p.bias) sum += convert<C>(static_cast<const T*>(p.bias)[channel]);
  T* out = static_cast<T*>(const_cast<void*>(p.result.data)) + g * p.result.group + row * p.result.channel;
  out[result_offset(p.result, a, output)] = convert<T>(sum);
}

// A block has `positions` results of each of `together` channels of a sample, which neighbouring threads take where
// they are side by side in memory.
struct DirectPlan {
  int64_t chunks, channel_blocks, blocks, positions;
  int32_t together;
};

template <int Size, class T>
STATOR_KERNEL(Size) void convolve_direct_kernel(params::Convolution p, DirectPlan plan) {
  const Group<Size> group;
  for (int64_t block = group.block(); block < plan.blocks; block += group.blocks()) {
    const int64_t first = block % plan.chunks * plan.positions;
    int64_t rest = block / plan.chunks;
    const int64_t first_channel = rest % plan.channel_blocks * plan.together;
    rest /= plan.channel_blocks;
    const int64_t sample = rest % p.samples;
    const Axes a = axes_of(p, rest / p.samples);
    const int64_t left = a.positions() - first;
    group.for_each((left < plan.positions ? left : plan.positions) * plan.together, [&](int64_t i) {
      const int64_t channel = first_channel + int32_t(i) % plan.together;
      if (channel >= p.groups * p.rows) return;
      OutputIndex output = output_index(a, first + int32_t(i) / plan.together);
      output.sample = sample;
      store_directly<T>(p, a, output, channel);
    });
  }
}

}  // namespace stator::STATOR_TARGET::convolution
