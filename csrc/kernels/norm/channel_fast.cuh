// Normalisation of channels on the fast host. A unit is a sample.
#pragma once

#include "kernels/norm/activations_fast.cuh"
#include "kernels/norm/channel_cut.cuh"

namespace stator::STATOR_TARGET::norm {

// Moments or gradient sums of one channel of a sample.
template <class T, bool Backward, class G, class Through>
STATOR_FN ChannelTotal<opmath_t<T>, Backward> fast_part(const G& group, const params::ChannelNorm& p, int64_t at,
                                                        const ChannelCoefficients<opmath_t<T>>& k, Through through) {
  using A = opmath_t<T>;
  const A n = A(p.inner);
  if constexpr (Backward) {
    const T* const x = static_cast<const T*>(p.x) + at;
    const T* const grad = static_cast<const T*>(p.grad) + at;
    const auto slope = [=](int64_t i) { return through(A(grad[i]), k.normal(A(x[i]))); };
    return {group.template map_sum<A>(p.inner, slope),
            group.template map_sum<A>(p.inner, [=](int64_t i) { return slope(i) * (A(x[i]) - k.mean); })};
  } else {
    const T* const x = fast_input<T>(group, p, at, p.inner);
    const A middle = group.template map_sum<A>(p.inner, [=](int64_t i) { return A(x[i]); }) / n;
    const A m2 = group.template map_sum<A>(p.inner, [=](int64_t i) {
      const A d = A(x[i]) - middle;
      return d * d;
    });
    return {n, middle, m2};
  }
}

template <class T, int Size, bool Backward>
STATOR_KERNEL(Size) void fast_apart_sums_kernel(params::ChannelNorm p, ChannelCut cut) {
  using A = opmath_t<T>;
  using Total = ChannelTotal<A, Backward>;
  const Group<Size> group;
  const int64_t channel = group.block() / cut.splits, split = group.block() % cut.splits;
  ChannelCoefficients<A> k{};
  if constexpr (Backward) k = channel_coefficients<T, false>(p, channel);
  Total total{};
  with_activation<true>(Backward ? p.activation : params::NormActivation::none, [&](auto through) {
    for (int64_t sample = cut.begin(split); sample < cut.end(split); ++sample)
      total = CombineTotals{}(total,
                              fast_part<T, Backward>(group, p, (sample * p.channels + channel) * p.inner, k, through));
  });
  if (cut.splits > 1) {
    Total* const partials = static_cast<Total*>(p.partials) + channel * cut.splits;
    partials[split] = total;
    if (!group.last_block(p.counters + channel, uint32_t(cut.splits))) return;
    total = Total{};
    for (int64_t s = 0; s < cut.splits; ++s) total = CombineTotals{}(total, partials[s]);
  }
  store_total<T>(p, channel, total);
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
    const A rows = A(end - begin), share = rows / (n + rows);
    for (int j = 0; j < count; ++j) sum[j] /= rows;
    for (int64_t row = begin; row < end; ++row) {
      const T* const x = rows_of + row * p.channels + first;
      for (int j = 0; j < count; ++j) squares[j] += (A(x[j]) - sum[j]) * (A(x[j]) - sum[j]);
    }
    for (int j = 0; j < count; ++j) {
      const A apart = sum[j] - mean[j];
      m2[j] += squares[j] + apart * apart * n * share;
      mean[j] += apart * share;
    }
    n += rows;
  }
  STATOR_FN Moments<A> at(int j) const { return {n, mean[j], m2[j]}; }
};
template <class A>
struct FastSlopes {
  static constexpr int tile = ChannelTuning::tile;
  A plain[tile] = {}, weighted[tile] = {};

  template <class T, class G>
  STATOR_FN void enter(const G&, const params::ChannelNorm& p, int64_t first, int count, int64_t begin, int64_t end) {
    A sum[tile] = {}, products[tile] = {}, mean[tile], factor[tile], shift[tile];
    for (int j = 0; j < count; ++j) {
      const ChannelCoefficients<A> k = channel_coefficients<T, false>(p, first + j);
      mean[j] = k.mean, factor[j] = k.factor, shift[j] = k.shift;
    }
    with_activation<true>(p.activation, [&](auto through) {
      for (int64_t row = begin; row < end; ++row) {
        const T* const x = static_cast<const T*>(p.x) + row * p.channels + first;
        const T* const grad = static_cast<const T*>(p.grad) + row * p.channels + first;
        for (int j = 0; j < count; ++j) {
          const A above = A(x[j]) - mean[j], g = through(A(grad[j]), above * factor[j] + shift[j]);
          sum[j] += g;
          products[j] += g * above;
        }
      }
    });
    for (int j = 0; j < count; ++j) plain[j] += sum[j];
    for (int j = 0; j < count; ++j) weighted[j] += products[j];
  }
  STATOR_FN SlopeSums<A> at(int j) const { return {plain[j], weighted[j]}; }
};

template <class T, int Size, bool Backward>
STATOR_KERNEL(Size) void fast_adjacent_sums_kernel(params::ChannelNorm p, ChannelCut cut) {
  using A = opmath_t<T>;
  using Total = ChannelTotal<A, Backward>;
  constexpr int tile = ChannelTuning::tile, few = 32;
  const Group<Size> group;
  const int64_t first = group.block() / cut.splits * tile, split = group.block() % cut.splits;
  const int count = int(p.channels - first < tile ? p.channels - first : tile);
  std::conditional_t<Backward, FastSlopes<A>, FastMoments<A>> totals;
  for (int64_t row = cut.begin(split); row < cut.end(split); row += few)
    totals.template enter<T>(group, p, first, count, row, row + few < cut.end(split) ? row + few : cut.end(split));
  if (cut.splits > 1) {
    Total* const partials = static_cast<Total*>(p.partials) + group.block() / cut.splits * cut.splits * tile;
    for (int j = 0; j < count; ++j) partials[split * tile + j] = totals.at(j);
    if (!group.last_block(p.counters + group.block() / cut.splits, uint32_t(cut.splits))) return;
    for (int j = 0; j < count; ++j) {
      Total total = partials[j];
      for (int64_t s = 1; s < cut.splits; ++s) total = CombineTotals{}(total, partials[s * tile + j]);
      store_total<T>(p, first + j, total);
    }
    return;
  }
  for (int j = 0; j < count; ++j) store_total<T>(p, first + j, totals.at(j));
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
    const ChannelCoefficients<A> k = channel_coefficients<T, Backward>(p, s % p.channels);
    if constexpr (Backward) {
      const T* const x = static_cast<const T*>(p.x) + s * p.inner;
      const T* const grad = static_cast<const T*>(p.grad) + s * p.inner;
      with_activation<true>(p.activation, [&](auto through) {
        group.for_each(p.inner,
                       [=](int64_t i) { y[i] = T(k.gradient(A(x[i]), through(A(grad[i]), k.normal(A(x[i]))))); });
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
  A mean[tile], factor[tile], shift[tile], plain[tile], slope[tile];
  for (int j = 0; j < count; ++j) {
    const ChannelCoefficients<A> k = channel_coefficients<T, Backward>(p, first + j);
    mean[j] = k.mean, factor[j] = k.factor, shift[j] = k.shift, plain[j] = k.plain, slope[j] = k.slope;
  }
  const int64_t last = (split + 1) * p.samples / splits;
  with_activation<Backward>(p.activation, [&](auto f) {
    for (int64_t row = split * p.samples / splits; row < last; ++row) {
      const int64_t at = row * p.channels + first;
      T* STATOR_RESTRICT const y = static_cast<T*>(p.y) + at;
      const T* STATOR_RESTRICT const x = fast_input<T>(group, p, at, count);
      const T* STATOR_RESTRICT const grad = static_cast<const T*>(p.grad) + (Backward ? at : 0);
      for (int j = 0; j < count; ++j) {
        const ChannelCoefficients<A> k{mean[j], factor[j], shift[j], plain[j], slope[j]};
        const A v = k.normal(A(x[j]));
        if constexpr (Backward)
          y[j] = T(k.gradient(A(x[j]), f(A(grad[j]), v)));
        else
          y[j] = T(f(v));
      }
    }
  });
}

}  // namespace stator::STATOR_TARGET::norm
