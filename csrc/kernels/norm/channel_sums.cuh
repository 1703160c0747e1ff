// The first launch of a normalisation of channels, where blocks have threads: moments of each channel, or the sums of
// its gradient. Several blocks may split a channel; the last one to finish combines their totals.
#pragma once

#include "kernels/norm/channel_cut.cuh"

namespace stator::STATOR_TARGET::norm {

// The element at which a vector begins, as a product: of a sum of products nvcc does not see that vectors are aligned,
// and stores them element by element.
template <int V>
STATOR_FN int64_t whole_vectors(int64_t vectors) {
  return vectors * V;
}

struct BitOr {
  STATOR_FN uint32_t operator()(uint32_t a, uint32_t b) const { return a | b; }
};

// Adds N elements, of which `count` are used, to a thread's total.
template <class A, int N, class F>
STATOR_FN void enter_total(Moments<A>& total, const A (&x)[N], const A (&)[N], const ChannelCoefficients<A>&, int count,
                           F used) {
  total = CombineMoments{}(total, moments_of(x, count, used));
}
template <class A, int N, class F>
STATOR_FN void enter_total(SlopeSums<A>& total, const A (&x)[N], const A (&grad)[N], const ChannelCoefficients<A>& k,
                           int, F used) {
  STATOR_UNROLL()
  for (int i = 0; i < N; ++i) {
    total.plain += used(i) ? grad[i] : A(0);
    total.weighted += used(i) ? grad[i] * k.above(x[i]) : A(0);
  }
}

// V elements of the input from `at` on; with a residual of their sum as it is stored.
template <int V, class T>
STATOR_FN Vec<T, V> channel_input(const params::ChannelNorm& p, int64_t at) {
  using A = opmath_t<T>;
  Vec<T, V> in = load_vector<V>(static_cast<const T*>(p.x) + at);
  if (p.residual == nullptr) return in;
  const Vec<T, V> added = load_vector<V>(static_cast<const T*>(p.residual) + at);
  STATOR_UNROLL()
  for (int j = 0; j < V; ++j) in[j] = convert<T>(convert<A>(in[j]) + convert<A>(added[j]));
  store_vector(static_cast<T*>(p.sum) + at, in);
  return in;
}

// Gradients of what the activation was applied to, W at a time; `of(i)` are the coefficients of element i.
template <int W, class A, int N, class F>
STATOR_FN void through_activation(const params::ChannelNorm& p, const A (&x)[N], A (&grad)[N], F of) {
  if (p.activation == params::NormActivation::none) return;
  STATOR_UNROLL()
  for (int first = 0; first < N; first += W) {
    Items<A, W> slope, value;
    STATOR_UNROLL()
    for (int i = 0; i < W; ++i) {
      slope[i] = grad[first + i];
      value[i] = of(first + i).normal(x[first + i]);
    }
    slope = activation_slopes(p.activation, slope, value);
    STATOR_UNROLL()
    for (int i = 0; i < W; ++i) grad[first + i] = slope[i];
  }
}

// Calls f(c), in all threads, for each channel of a tile of 32 that lacks a deviation, as a thread of the channel says.
template <int Size, class F>
STATOR_FN void for_lacking(const Group<Size>& group, bool lacks, F f) {
  const uint32_t all = group.reduce(lacks ? uint32_t(1) << group.rank() % 32 : uint32_t(0), BitOr{});
  STATOR_UNROLL(1)
  for (int c = 0; c < 32; ++c)
    if (all >> c & 1) f(c);
}

// A channel whose elements are apart from those of others: thread by thread, in vectors of V.
template <class T, int V, bool Backward, int Size>
STATOR_FN ChannelTotal<opmath_t<T>, Backward> apart_total(const Group<Size>& group, const params::ChannelNorm& p,
                                                          const ChannelCut& cut, int64_t channel, int64_t split,
                                                          const ChannelCoefficients<opmath_t<T>>& k) {
  using A = opmath_t<T>;
  constexpr int U = ChannelTuning::units;
  ChannelTotal<A, Backward> total{};
  STATOR_UNROLL(1)
  for (int64_t first = cut.begin(split) + group.rank(); first < cut.end(split); first += int64_t(U) * Size) {
    A x[U * V] = {}, grad[U * V] = {};
    int count = 0;
    STATOR_UNROLL()
    for (int u = 0; u < U; ++u) {
      const int64_t unit = first + int64_t(u) * Size;
      if (unit >= cut.end(split)) continue;
      count += V;
      int64_t i;
      const int64_t sample = cut.inner.divmod(unit, i);
      const int64_t at = whole_vectors<V>((sample * p.channels + channel) * (p.inner / V) + i);
      const Vec<T, V> in = Backward ? load_vector<V>(static_cast<const T*>(p.x) + at) : channel_input<V, T>(p, at);
      STATOR_UNROLL()
      for (int j = 0; j < V; ++j) x[u * V + j] = convert<A>(in[j]);
      if constexpr (Backward) {
        const Vec<T, V> slope = load_vector<V>(static_cast<const T*>(p.grad) + at);
        STATOR_UNROLL()
        for (int j = 0; j < V; ++j) grad[u * V + j] = convert<A>(slope[j]);
      }
    }
    if constexpr (Backward) through_activation<V == 1 ? U : V>(p, x, grad, [&](int) { return k; });
    enter_total(total, x, grad, k, count, [=](int i) { return i < count; });
  }
  return total;
}

template <class T, int Size, bool Backward>
STATOR_KERNEL_RESIDENT(Size, 1) void channels_first_sums_kernel(params::ChannelNorm p, ChannelCut cut) {
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
  Total total = cut.vectors ? apart_total<T, vector_width<T>, Backward>(group, p, cut, channel, split, k)
                            : apart_total<T, 1, Backward>(group, p, cut, channel, split, k);
  total = group.reduce(total, CombineTotals{});
  if (cut.splits > 1) {
    Total* const partials = static_cast<Total*>(p.partials) + channel * cut.splits;
    if (group.rank() == 0) partials[split] = total;
    if (!group.last_block(p.counters + channel, uint32_t(cut.splits))) return;
    total = Total{};
    STATOR_UNROLL(1)
    for (int64_t s = group.rank(); s < cut.splits; s += Size) total = CombineTotals{}(total, partials[s]);
    total = group.reduce(total, CombineTotals{});
  }
  if (group.rank() == 0) store_total<T>(p, channel, total, scale);
  if constexpr (!Backward)
    if (lacks_deviation(p, total.m2 / total.n)) store_scale<T>(group, p, channel);
}

// Combines the totals of the threads below each other, in those of the first warp.
template <int Size, class Total>
STATOR_FN Total fold_totals(const Group<Size>& group, Total mine) {
  struct Fold {
    Total of_warp[Size / 32][32];
  };
  Fold& fold = group.template shared<Fold>();
  group.sync();  // the previous fold is over
  fold.of_warp[group.rank() / 32][group.rank() % 32] = mine;
  group.sync();
  if (group.rank() >= 32) return mine;
  STATOR_UNROLL(1)
  for (int w = 1; w < Size / 32; ++w) mine = CombineTotals{}(mine, fold.of_warp[w][group.rank()]);
  return mine;
}

// Adjacent channels: a warp reads 32 of them in a row of the batch.
template <class T, int Size, bool Backward>
STATOR_KERNEL_RESIDENT(Size, 1) void channels_last_sums_kernel(params::ChannelNorm p, ChannelCut cut) {
  using A = opmath_t<T>;
  using Total = ChannelTotal<A, Backward>;
  constexpr int R = ChannelTuning::rows, high = Size / 32;
  const Group<Size> group;
  const int64_t tile = group.block() / cut.splits, split = group.block() % cut.splits;
  const int64_t channel = tile * 32 + group.rank() % 32;
  const bool inside = channel < p.channels;
  ChannelScale<A> scale{};
  ChannelCoefficients<A> k{};
  if constexpr (Backward) {
    const bool lacks = inside && lacks_deviation(p, static_cast<const A*>(p.var)[channel]);
    if (inside && !lacks) scale = stored_scale<A>(p, channel);
    for_lacking(group, lacks, [&](int c) {
      const ChannelScale<A> found = first_scale<T>(group, p, tile * 32 + c, split == 0);
      if (group.rank() % 32 == c) scale = found;
    });
    if (inside) k = channel_coefficients<T, false>(p, channel, scale);
  }
  Total total{};
  STATOR_UNROLL(1)
  for (int64_t first = cut.begin(split) + group.rank() / 32; inside && first < cut.end(split); first += R * high) {
    A x[R] = {}, grad[R] = {};
    int count = 0;
    STATOR_UNROLL()
    for (int r = 0; r < R; ++r) {
      const int64_t row = first + r * high, at = row * p.channels + channel;
      if (row >= cut.end(split)) continue;
      ++count;
      x[r] = convert<A>(Backward ? static_cast<const T*>(p.x)[at] : channel_input<1, T>(p, at)[0]);
      if constexpr (Backward) grad[r] = convert<A>(static_cast<const T*>(p.grad)[at]);
    }
    if constexpr (Backward) through_activation<R>(p, x, grad, [&](int) { return k; });
    enter_total(total, x, grad, k, count, [=](int i) { return i < count; });
  }
  total = fold_totals(group, total);
  const bool mine = group.rank() < 32 && inside;
  if (cut.splits > 1) {
    Total* const partials = static_cast<Total*>(p.partials) + tile * cut.splits * 32;
    if (mine) partials[split * 32 + group.rank()] = total;
    if (!group.last_block(p.counters + tile, uint32_t(cut.splits))) return;
    total = Total{};
    STATOR_UNROLL(1)
    for (int64_t s = group.rank() / 32; inside && s < cut.splits; s += high)
      total = CombineTotals{}(total, partials[s * 32 + group.rank() % 32]);
    total = fold_totals(group, total);
  }
  if (mine) store_total<T>(p, channel, total, scale);
  if constexpr (!Backward)
    for_lacking(group, mine && lacks_deviation(p, total.m2 / total.n),
                [&](int c) { store_scale<T>(group, p, tile * 32 + c); });
}

// The second launch: the result, or the gradient, of one vector of V elements.
template <class T, int V, bool Backward, class F>
STATOR_FN void apply_vector(const params::ChannelNorm& p, int64_t at, F coefficients) {
  using A = opmath_t<T>;
  const Vec<T, V> in = Backward ? load_vector<V>(static_cast<const T*>(p.x) + at) : channel_input<V, T>(p, at);
  A x[V], grad[V];
  STATOR_UNROLL()
  for (int j = 0; j < V; ++j) x[j] = convert<A>(in[j]);
  Items<A, V> y;
  if constexpr (Backward) {
    const Vec<T, V> slope = load_vector<V>(static_cast<const T*>(p.grad) + at);
    STATOR_UNROLL()
    for (int j = 0; j < V; ++j) grad[j] = convert<A>(slope[j]);
    through_activation<V>(p, x, grad, coefficients);
    STATOR_UNROLL()
    for (int j = 0; j < V; ++j) y[j] = coefficients(j).gradient(x[j], grad[j]);
  } else {
    STATOR_UNROLL()
    for (int j = 0; j < V; ++j) y[j] = coefficients(j).normal(x[j]);
    if (p.activation != params::NormActivation::none) y = activated(p.activation, y);
  }
  Vec<T, V> out;
  STATOR_UNROLL()
  for (int j = 0; j < V; ++j) out[j] = convert<T>(y[j]);
  store_vector(static_cast<T*>(p.y) + at, out);
}

template <class T, int V, bool Backward, int Size>
STATOR_FN void apply_apart(const Group<Size>& group, const params::ChannelNorm& p, const ChannelCut& cut,
                           FastDivmod64 channels) {
  constexpr int U = ChannelTuning::units;
  const int64_t all = p.samples * p.channels * p.inner / V;
  STATOR_UNROLL(1)
  for (int k = 0; k < U; ++k) {
    const int64_t unit = (group.block() * U + k) * Size + group.rank();
    if (unit >= all) return;
    int64_t c;
    channels.divmod(cut.inner.divide(unit), c);
    const auto coefficients = channel_coefficients<T, Backward>(p, c, found_scale<T>(group, p, c));
    apply_vector<T, V, Backward>(p, unit * V, [&](int) { return coefficients; });
  }
}

// A thread has the same channels in several rows, so that it reads what they are multiplied by once.
template <class T, int V, bool Backward, int Size>
STATOR_FN void apply_adjacent(const Group<Size>& group, const params::ChannelNorm& p, FastDivmod64 vectors) {
  int64_t vector;
  const int64_t first = vectors.divmod(group.block() * Size + group.rank(), vector) * ChannelTuning::rows;
  const int64_t last = first + ChannelTuning::rows < p.samples ? first + ChannelTuning::rows : p.samples;
  if (first >= last) return;
  ChannelCoefficients<opmath_t<T>> coefficients[V];
  STATOR_UNROLL()
  for (int j = 0; j < V; ++j)
    coefficients[j] = channel_coefficients<T, Backward>(p, vector * V + j, found_scale<T>(group, p, vector * V + j));
  STATOR_UNROLL(4)
  for (int64_t row = first; row < last; ++row)
    apply_vector<T, V, Backward>(p, whole_vectors<V>(row * (p.channels / V) + vector),
                                 [&](int j) { return coefficients[j]; });
}

// divisor: the channels, or where they are adjacent the vectors of a row.
template <class T, int Size, bool Adjacent, bool Backward>
STATOR_KERNEL_RESIDENT(Size, 1) void channel_apply_kernel(params::ChannelNorm p, ChannelCut cut, FastDivmod64 divisor) {
  const Group<Size> group;
  constexpr int V = vector_width<T>;
  if constexpr (Adjacent)
    cut.vectors ? apply_adjacent<T, V, Backward>(group, p, divisor) : apply_adjacent<T, 1, Backward>(group, p, divisor);
  else
    cut.vectors ? apply_apart<T, V, Backward>(group, p, cut, divisor)
                : apply_apart<T, 1, Backward>(group, p, cut, divisor);
}

}  // namespace stator::STATOR_TARGET::norm
