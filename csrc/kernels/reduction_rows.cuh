// Reductions of rows: `threads` threads take a row, several rows a block or several blocks a row.
#pragma once

#include "kernels/reduction_work.cuh"

namespace stator::STATOR_COLUMN {

// Elements side by side in one step of a thread: 16 bytes on cuda. On the fast host enough to hide the latency of the
// accumulation, and at least 32, as g++ unrolls shorter loops before it could vectorise them.
template <class R>
inline constexpr int row_lanes =
    fast_host ? std::max(32, 64 / int(sizeof(typename R::template Lanes<1>)) * 2) : vector_width<typename R::In>;

// `steps` times W elements, `stride` apart, each into a lane of its own; the first is at position `at`.
template <class R, int W>
STATOR_FN typename R::Acc reduce_lanes(const typename R::In* from, int steps, int64_t stride, int64_t at) {
  using In = typename R::In;
  typename R::template Lanes<W> lanes;
  lanes.clear(W);
  if constexpr (fast_host) {
    for (int k = 0; k < steps; ++k)
      for (int j = 0; j < W; ++j) lanes.enter(j, from[k * W + j], k);
  } else {
    STATOR_UNROLL(4)
    for (int k = 0; k < steps; ++k) {
      const Vec<In, W> value = load_vector<W>(from + k * stride);
      for (int j = 0; j < W; ++j) lanes.enter(j, value[j], k);
    }
  }
  return lanes.total(at, stride, 1);
}

// n adjacent elements, of which this is thread `member` of `members`; p[0] is at position `first`.
template <class R>
STATOR_FN typename R::Acc reduce_run(const typename R::In* p, int64_t n, int64_t first, int member, int members) {
  using In = typename R::In;
  constexpr int W = row_lanes<R>;
  typename R::Acc acc = R::identity();
  int64_t head = 0;
  if constexpr (!fast_host && W > 1) {
    const int past = int(reinterpret_cast<uintptr_t>(p) % (W * sizeof(In)) / sizeof(In));
    head = past == 0 ? 0 : W - past;
    if (head > n) head = n;
    for (int64_t i = member; i < head; i += members) acc = R::combine(acc, R::single(p[i], first + i));
  }
  const In* const body = p + head;
  const int64_t vectors = (n - head) / W, stride = int64_t(members) * W;
  for (int64_t v = member; v < vectors; v += int64_t(members) * R::run) {
    const int64_t left = (vectors - v + members - 1) / members;
    const int steps = left < R::run ? int(left) : R::run;
    const In* const from = body + v * W;
    const int64_t at = first + head + v * W;
    if constexpr (fast_host && R::located) {
      R::update(acc, from, steps * W, at, reduce_lanes<typename R::Extreme, W>(from, steps, stride, at));
    } else {
      acc = R::combine(acc, reduce_lanes<R, W>(from, steps, stride, at));
    }
  }
  if constexpr (fast_host && R::located) {
    const int64_t done = vectors * W;
    auto extreme = R::Extreme::identity();
    for (int64_t i = done; i < n; ++i) extreme = R::Extreme::combine(extreme, R::Extreme::single(p[i], 0));
    if (done < n) R::update(acc, p + done, int(n - done), first + done, extreme);
    return acc;
  }
  for (int64_t i = vectors * W + member; i < n - head; i += members)
    acc = R::combine(acc, R::single(body[i], first + head + i));
  return acc;
}

// Loaded elements into the accumulator; the first is at position `at`, the others `apart`.
template <class R, int W>
STATOR_FN typename R::Acc reduce_loaded(typename R::Acc acc, const typename R::In (&value)[W], int count, int64_t at,
                                        int64_t apart) {
  if (count == W) {
    typename R::template Lanes<W> lanes;
    lanes.clear(W);
    for (int j = 0; j < W; ++j) lanes.enter(j, value[j], 0);
    return R::combine(acc, lanes.total(at, 0, apart));
  }
  for (int j = 0; j < count; ++j) acc = R::combine(acc, R::single(value[j], at + j * apart));
  return acc;
}

// Elements [begin, end) of the reduced axes, anywhere in memory. The fast host goes along the innermost axis.
template <class R>
STATOR_FN typename R::Acc reduce_strided(const Any<typename R::In>& source, const Axes& axes, int64_t base,
                                         int64_t begin, int64_t end, int member, int members) {
  constexpr int W = by_column<4, 64>::value;
  typename R::Acc acc = R::identity();
  typename R::In value[W];
  if constexpr (fast_host) {
    const int64_t line = axes.ndim > 0 ? axes.shape[axes.ndim - 1] : 1;
    const int64_t step = axes.ndim > 0 ? axes.strides[axes.ndim - 1] : 0;
    for (int64_t i = begin; i < end;) {
      const int64_t left = std::min(line - i % line, end - i);
      const int count = left < W ? int(left) : W;
      load_line(value, source.p, source.dtype, base + axes.offset(i), step, count);
      acc = reduce_loaded<R>(acc, value, count, i, 1);
      i += count;
    }
  } else {
    int64_t offset[W];
    for (int64_t i = begin + member; i < end; i += int64_t(members) * W) {
      const int64_t left = (end - i + members - 1) / members;
      const int count = left < W ? int(left) : W;
      for (int j = 0; j < W; ++j) offset[j] = j < count ? base + axes.offset(i + int64_t(j) * members) : base;
      load_many(value, source.p, source.dtype, offset, count);
      acc = reduce_loaded<R>(acc, value, count, i, members);
    }
  }
  return acc;
}

// The share of one thread of the row at `base`.
template <class R, class T>
STATOR_FN typename R::Acc reduce_share(const Typed<T>& source, const ReductionWork& w, int64_t base, int64_t split,
                                       int member) {
  const int64_t begin = split * w.share;
  if (w.reduced.size == 1) {
    const int64_t end = begin + w.share < w.run ? begin + w.share : w.run;
    return reduce_run<R>(source.p + base + begin, end - begin, begin, member, w.threads);
  }
  typename R::Acc acc = R::identity();
  const int64_t end = begin + w.share < w.reduced.size ? begin + w.share : w.reduced.size;
  for (int64_t r = begin; r < end; ++r)
    acc = R::combine(acc, reduce_run<R>(source.p + base + w.reduced.offset(r), w.run, r * w.run, member, w.threads));
  return acc;
}
template <class R, class C>
STATOR_FN typename R::Acc reduce_share(const Any<C>& source, const ReductionWork& w, int64_t base, int64_t split,
                                       int member) {
  const int64_t begin = split * w.share;
  const int64_t end = begin + w.share < w.count ? begin + w.share : w.count;
  return reduce_strided<R>(source, w.reduced, base, begin, end, member, w.threads);
}

template <class R, class Source, int Size>
STATOR_KERNEL void reduce_rows(ReductionWork w) {
  using Acc = typename R::Acc;
  const Group<Size> group;
  const Source source(w.in, w.in_dtype);
  const int threads = group.size == 1 ? 1 : w.threads;
  const int member = group.rank() & (threads - 1);
  const int64_t split = group.block() % w.splits, first = group.block() / w.splits * w.tile;
  const int64_t last = first + w.tile < w.kept.size ? first + w.tile : w.kept.size;
  for (int64_t row = first; row < last; row += group.size / threads) {  // uniform: the block folds together
    const int64_t mine = row + group.rank() / threads;
    Acc acc = mine < last ? reduce_share<R>(source, w, w.kept.offset(mine), split, member) : R::identity();
    acc = fold_threads<R>(group, acc, 1, threads);
    if (w.splits == 1) {
      if (member == 0 && mine < last) store_result<R>(w, mine, acc);
      continue;
    }
    // One row a block: the last block of the row has every partial in sight.
    Acc* const partials = static_cast<Acc*>(w.partials) + row * w.splits;
    if (member == 0) partials[split] = acc;
    if (!group.last_block(w.counters + row, uint32_t(w.splits))) continue;
    acc = R::identity();
    for (int s = group.rank(); s < w.splits; s += group.size) acc = R::combine(acc, partials[s]);
    acc = fold_threads<R>(group, acc, 1, group.size);
    if (group.rank() == 0) store_result<R>(w, row, acc);
  }
}

}  // namespace stator::STATOR_COLUMN
