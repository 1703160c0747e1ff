// Sums of a few channels at once, for groups of few channels where blocks have threads: a thread has `Rows` channels of
// some positions, so that each element of the source is loaded once for all of them. Weights are in shared memory, side
// by side for the channels of a result.
#pragma once

#include "device/group.cuh"
#include "device/math/libm.cuh"
#include "device/vector.cuh"
#include "kernels/convolution/convolve_tile.cuh"

namespace stator::STATOR_TARGET::convolution {

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

    int32_t base[each][axes];
    bool has[each];
    STATOR_UNROLL()
    for (int k = 0; k < each; ++k) {
      const int64_t position = first + k * Size + group.rank();
      has[k] = position < positions;
      const Place place = place_of(a, has[k] ? position : 0);
      STATOR_UNROLL()
      for (int d = 0; d < axes; ++d) base[k][d] = place.at[d] * a[d].scale + a[d].origin;
    }
    C sums[each][Rows] = {};
    for (int32_t c = 0; c < p.channels; c += plan.channels) {
      const int32_t channels = int32_t(p.channels - c < plan.channels ? p.channels - c : plan.channels);
      group.sync();
      group.for_each(channels * taps * Rows, [&](int64_t i) {
        const int32_t r = int32_t(i) % Rows, at = int32_t(i) / Rows, x = at % a[2].taps, line = at / a[2].taps;
        const int32_t channel = line % channels, y = line / channels % a[1].taps, z = line / channels / a[1].taps;
        const int64_t offset = r * w.row + (c + channel) * w.channel + int64_t(z) * a[0].tap_step * w.axis[0] +
                               int64_t(y) * a[1].tap_step * w.axis[1] + int64_t(x) * a[2].tap_step * w.axis[2];
        staged[i] = r < rows ? convert<C>(weight[offset]) : C(0);
      });
      group.sync();
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
    const T* const bias = static_cast<const T*>(p.bias);
    T* const out = static_cast<T*>(const_cast<void*>(p.result.data)) + g * p.result.group;
    STATOR_UNROLL()
    for (int k = 0; k < each; ++k) {
      if (!has[k]) continue;
      Place place = place_of(a, first + k * Size + group.rank());
      place.sample = sample;
      T* const to = out + result_offset(p.result, a, place) + first_row * p.result.channel;
      STATOR_UNROLL()
      for (int r = 0; r < Rows; ++r) {
        if (r >= rows) break;
        const C sum = sums[k][r] + (bias ? convert<C>(bias[g * p.rows + first_row + r]) : C(0));
        to[r * p.result.channel] = convert<T>(sum);
      }
    }
  }
}

}  // namespace stator::STATOR_TARGET::convolution
