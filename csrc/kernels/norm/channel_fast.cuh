// Normalisation of channels on the fast host. A unit is a sample.
#pragma once

#include "kernels/norm/activations_fast.cuh"
#include "kernels/norm/channel_cut.cuh"

namespace stator::STATOR_TARGET::norm {

// f(i, count, x, slope) for chunks, from element i on, of the channel of a sample that begins at `at`: elements, and
// the gradients that the activation passes on.
template <class T, class F>
STATOR_FN void for_slopes(const params::ChannelNorm& p, int64_t at, const ChannelCoefficients<opmath_t<T>>& k,
                          opmath_t<T>* STATOR_RESTRICT buffer, F f) {
  using A = opmath_t<T>;
  for (int64_t i = 0; i < p.inner; i += slope_chunk) {
    const int64_t count = p.inner - i < slope_chunk ? p.inner - i : slope_chunk;
    const T* const x = static_cast<const T*>(p.x) + at + i;
    const T* const grad = static_cast<const T*>(p.grad) + at + i;
    f(i, count, x, fast_slopes(p.activation, count, grad, [=](int64_t j) { return k.normal(A(x[j])); }, buffer));
  }
}

// Moments or gradient sums of one channel of a sample.
template <class T, bool Backward, class G>
STATOR_FN ChannelTotal<opmath_t<T>, Backward> fast_part(const G& group, const params::ChannelNorm& p, int64_t at,
                                                        const ChannelCoefficients<opmath_t<T>>& k) {
  using A = opmath_t<T>;
  if constexpr (Backward) {
    A buffer[slope_chunk];
    ChannelTotal<A, Backward> total{};
    for_slopes<T>(p, at, k, buffer, [&](int64_t, int64_t count, const T* x, const A* slope) {
      total.plain += group.template map_sum<A>(count, [=](int64_t i) { return slope[i]; });
      total.weighted += group.template map_sum<A>(count, [=](int64_t i) { return slope[i] * k.above(A(x[i])); });
    });
    return total;
  } else {
    const T* const x = fast_input<T>(group, p, at, p.inner);
    return moments_over<A>(group, p.inner, true, [=](int64_t i) { return A(x[i]); });
  }
}

template <class T, int Size, bool Backward>
STATOR_KERNEL(Size) void fast_channels_first_sums_kernel(params::ChannelNorm p, ChannelCut cut) {
  using A = opmath_t<T>;
  using Total = ChannelTotal<A, Backward>;
  const Group<Size> group;
  const int64_t channel = group.block() / cut.splits, split = group.block() % cut.splits;
  ChannelScale<A> scale{};
  ChannelCoefficients<A> k{};
  if constexpr (Backward) {
    scale = first_scale<T>(group, p, channel, split == 0);
    k = channel_coefficients<T, false>(p, channel, scale);
  }
  Total total{};
  for (int64_t sample = cut.begin(split); sample < cut.end(split); ++sample)
    total = CombineTotals{}(total, fast_part<T, Backward>(group, p, (sample * p.channels + channel) * p.inner, k));
  if (cut.splits > 1) {
    Total* const partials = static_cast<Total*>(p.partials) + channel * cut.splits;
    partials[split] = total;
    if (!group.last_block(p.counters + channel, uint32_t(cut.splits))) return;
    total = Total{};
    for (int64_t s = 0; s < cut.splits; ++s) total = CombineTotals{}(total, partials[s]);
  }
  store_total<T>(p, channel, total, scale);
  if constexpr (!Backward)
    if (lacks_deviation(p, total.m2 / total.n)) store_scale<T>(group, p, channel);
}

// The totals of adjacent channels, in arrays.
template <class A>
struct FastMoments {
  static constexpr int tile = ChannelTuning::tile;
  A n = A(0), mean[tile] = {}, m2[tile] = {};

  // Rows [begin, end), few of them.
  template <class T, class G>
  STATOR_FN void enter(const G& group, const params::ChannelNorm& p, int64_t first, int count, int64_t begin,
                       int64_t end) {
    A sum[tile] = {}, squares[tile] = {};
    const T* const rows_of = static_cast<const T*>(p.residual == nullptr ? p.x : p.sum);
    for (int64_t row = begin; row < end; ++row) {
      const T* const x = fast_input<T>(group, p, row * p.channels + first, count);
      for (int j = 0; j < count; ++j) sum[j] += A(x[j]);
    }
    const A rows = A(end - begin), fraction = rows / (n + rows);
    for (int j = 0; j < count; ++j) sum[j] /= rows;
    const auto for_rows = [&](auto f) {
      for (int64_t row = begin; row < end; ++row) {
        const T* const x = rows_of + row * p.channels + first;
        for (int j = 0; j < count; ++j) f(j, A(x[j]) - sum[j]);
      }
    };
    for_rows([&](int j, A d) { squares[j] += d * d; });
    bool coarse = false;
    for (int j = 0; j < count; ++j) coarse |= is_mean_coarse(sum[j], squares[j], rows);
    if (coarse) {
      A rest[tile] = {};
      for_rows([&](int j, A d) { rest[j] += d; });
      for (int j = 0; j < count; ++j) {
        sum[j] += rest[j] / rows;
        squares[j] = A(0);
      }
      for_rows([&](int j, A d) { squares[j] += d * d; });
    }
    for (int j = 0; j < count; ++j) {
      const A apart = sum[j] - mean[j];
      m2[j] += squares[j] + apart * apart * n * fraction;
      mean[j] += apart * fraction;
    }
    n += rows;
  }
  STATOR_FN Moments<A> at(int j) const { return {n, mean[j], m2[j]}; }
};
template <class A>
struct FastSlopes {
  static constexpr int tile = ChannelTuning::tile;
  A plain[tile] = {}, weighted[tile] = {}, mean[tile], scale[tile], factor[tile], shift[tile];

  STATOR_FN void set(int j, const ChannelCoefficients<A>& k) {
    mean[j] = k.mean, scale[j] = k.scale, factor[j] = k.factor, shift[j] = k.shift;
  }
  template <class T, class G>
  STATOR_FN void enter(const G&, const params::ChannelNorm& p, int64_t first, int count, int64_t begin, int64_t end) {
    A sum[tile] = {}, products[tile] = {}, buffer[tile];
    for (int64_t row = begin; row < end; ++row) {
      const T* const x = static_cast<const T*>(p.x) + row * p.channels + first;
      const T* const grad = static_cast<const T*>(p.grad) + row * p.channels + first;
      const A* STATOR_RESTRICT const slope = fast_slopes(
          p.activation, count, grad, [&](int64_t j) { return (A(x[j]) * scale[j] - mean[j]) * factor[j] + shift[j]; },
          buffer);
      for (int j = 0; j < count; ++j) {
        sum[j] += slope[j];
        products[j] += slope[j] * (A(x[j]) * scale[j] - mean[j]);
      }
    }
    for (int j = 0; j < count; ++j) plain[j] += sum[j];
    for (int j = 0; j < count; ++j) weighted[j] += products[j];
  }
  STATOR_FN SlopeSums<A> at(int j) const { return {plain[j], weighted[j]}; }
};

template <class T, int Size, bool Backward>
STATOR_KERNEL(Size) void fast_channels_last_sums_kernel(params::ChannelNorm p, ChannelCut cut) {
  using A = opmath_t<T>;
  using Total = ChannelTotal<A, Backward>;
  constexpr int tile = ChannelTuning::tile, few = 32;
  const Group<Size> group;
  const int64_t first = group.block() / cut.splits * tile, split = group.block() % cut.splits;
  const int count = int(p.channels - first < tile ? p.channels - first : tile);
  std::conditional_t<Backward, FastSlopes<A>, FastMoments<A>> totals;
  ChannelScale<A> scale[tile] = {};
  if constexpr (Backward) {
    for (int j = 0; j < count; ++j) {
      scale[j] = first_scale<T>(group, p, first + j, split == 0);
      totals.set(j, channel_coefficients<T, false>(p, first + j, scale[j]));
    }
  }
  const auto store = [&](int j, const Total& total) {
    store_total<T>(p, first + j, total, scale[j]);
    if constexpr (!Backward)
      if (lacks_deviation(p, total.m2 / total.n)) store_scale<T>(group, p, first + j);
  };
  for (int64_t row = cut.begin(split); row < cut.end(split); row += few)
    totals.template enter<T>(group, p, first, count, row, row + few < cut.end(split) ? row + few : cut.end(split));
  if (cut.splits > 1) {
    Total* const partials = static_cast<Total*>(p.partials) + group.block() / cut.splits * cut.splits * tile;
    for (int j = 0; j < count; ++j) partials[split * tile + j] = totals.at(j);
    if (!group.last_block(p.counters + group.block() / cut.splits, uint32_t(cut.splits))) return;
    for (int j = 0; j < count; ++j) {
      Total total = partials[j];
      for (int64_t s = 1; s < cut.splits; ++s) total = CombineTotals{}(total, partials[s * tile + j]);
      store(j, total);
    }
    return;
  }
  for (int j = 0; j < count; ++j) store(j, totals.at(j));
}

// Channels that are apart: a block takes neighbouring segments, each a channel of a sample.
template <class T, int Size, bool Backward>
STATOR_KERNEL(Size) void fast_apart_apply_kernel(params::ChannelNorm p) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const int64_t segments = p.samples * p.channels;
  const int64_t last = (group.block() + 1) * segments / group.blocks();
  for (int64_t s = group.block() * segments / group.blocks(); s < last; ++s) {
    T* const y = static_cast<T*>(p.y) + s * p.inner;
    const int64_t c = s % p.channels;
    const ChannelCoefficients<A> k = channel_coefficients<T, Backward>(p, c, found_scale<T>(group, p, c));
    if constexpr (Backward) {
      A buffer[slope_chunk];
      for_slopes<T>(p, s * p.inner, k, buffer, [&](int64_t first, int64_t count, const T* x, const A* slope) {
        group.for_each(count, [=](int64_t i) { y[first + i] = T(k.gradient(A(x[i]), slope[i])); });
      });
    } else {
      const T* const x = fast_input<T>(group, p, s * p.inner, p.inner);
      fast_store(group, p.activation, p.inner, y, [=](int64_t i) { return k.normal(A(x[i])); });
    }
  }
}

// Adjacent channels: a block takes neighbouring rows of a tile.
template <class T, int Size, bool Backward>
STATOR_KERNEL(Size) void fast_adjacent_apply_kernel(params::ChannelNorm p, int64_t splits) {
  using A = opmath_t<T>;
  constexpr int tile = ChannelTuning::tile;
  const Group<Size> group;
  const int64_t first = group.block() / splits * tile, split = group.block() % splits;
  const int count = int(p.channels - first < tile ? p.channels - first : tile);
  A mean[tile], scale[tile], factor[tile], shift[tile], plain[tile], slope[tile];
  bool scaled = false;
  for (int j = 0; j < count; ++j) {
    const ChannelCoefficients<A> k =
        channel_coefficients<T, Backward>(p, first + j, found_scale<T>(group, p, first + j));
    mean[j] = k.mean, scale[j] = k.scale, factor[j] = k.factor, shift[j] = k.shift;
    plain[j] = k.plain, slope[j] = k.slope;
    scaled |= k.scale != A(1);
  }
  const int64_t last = (split + 1) * p.samples / splits;
  A buffer[tile];
  // above(j, x): what is above the mean, of element j of a row.
  const auto apply = [&](auto above) {
    for (int64_t row = split * p.samples / splits; row < last; ++row) {
      const int64_t at = row * p.channels + first;
      T* STATOR_RESTRICT const y = static_cast<T*>(p.y) + at;
      const T* STATOR_RESTRICT const x = fast_input<T>(group, p, at, count);
      const auto normal = [&](int64_t j) { return above(j, A(x[j])) * factor[j] + shift[j]; };
      if constexpr (Backward) {
        const T* const grad = static_cast<const T*>(p.grad) + at;
        const A* STATOR_RESTRICT const passed = fast_slopes(p.activation, count, grad, normal, buffer);
        for (int j = 0; j < count; ++j)
          y[j] = T(factor[j] * (passed[j] - plain[j] - above(j, A(x[j])) * slope[j]) * scale[j]);
      } else if (p.activation == params::NormActivation::none) {
        for (int j = 0; j < count; ++j) y[j] = T(normal(j));
      } else {
        fast_store(group, p.activation, count, y, normal);
      }
    }
  };
  if (scaled)
    apply([&](int64_t j, A x) { return x * scale[j] - mean[j]; });
  else
    apply([&](int64_t j, A x) { return x - mean[j]; });
}

}  // namespace stator::STATOR_TARGET::norm
