// Reductions of rows: `threads` threads take a row, several rows a block or several blocks a row.
#pragma once

#include "kernels/reduce/work.cuh"

namespace stator::STATOR_TARGET::reduce {

// Elements side by side in one step of a thread: 16 bytes on cuda. On the fast host enough to hide the latency of the
// accumulation, and at least 32, as g++ unrolls shorter loops before it could vectorise them.
template <class R>
inline constexpr int row_lanes = fast_host && is_complex<typename R::In> ? 8
                                 : fast_host ? std::max(32, 64 / int(sizeof(typename R::template Lanes<1>)) * 2)
                                             : vector_width<typename R::In>;

// `steps` times W elements, `stride` apart, each into a lane of its own; the first is at position `at`.
template <class R, int W>
STATOR_FN typename R::Acc reduce_lanes(const R& r, const typename R::In* from, int steps, int64_t stride, int64_t at) {
  using In = typename R::In;
  typename R::template Lanes<W> lanes;
  lanes.clear(r, W);
  if constexpr (fast_host) {
    for (int k = 0; k < steps; ++k)
      for (int j = 0; j < W; ++j) lanes.enter(r, j, from[k * W + j], k);
  } else {
    STATOR_UNROLL(2)
    for (int k = 0; k < steps; ++k) {
      const Vec<In, W> value = load_vector<W>(from + k * stride);
      for (int j = 0; j < W; ++j) lanes.enter(r, j, value[j], k);
    }
  }
  return lanes.total(r, at, stride, 1);
}

// n adjacent elements into the accumulator; this is thread `member` of `members`, and p[0] is at position `first`.
template <class R>
STATOR_FN typename R::Acc reduce_run(const R& r, typename R::Acc acc, const typename R::In* p, int64_t n, int64_t first,
                                     int member, int members) {
  using In = typename R::In;
  constexpr int W = row_lanes<R>;
  int64_t head = 0;
  if constexpr (!fast_host && W > 1) {
    const int past = int(reinterpret_cast<uintptr_t>(p) % (W * sizeof(In)) / sizeof(In));
    head = past == 0 ? 0 : W - past;
    if (head > n) head = n;
    STATOR_UNROLL(1)
    for (int64_t i = member; i < head; i += members) acc = r.combine(acc, r.single(p[i], first + i));
  }
  const In* const body = p + head;
  const int64_t vectors = (n - head) / W, stride = int64_t(members) * W;
  STATOR_UNROLL(1)
  for (int64_t v = member; v < vectors; v += int64_t(members) * R::run) {
    const int64_t left = (vectors - v + members - 1) / members;
    const int steps = left < R::run ? int(left) : R::run;
    const In* const from = body + v * W;
    const int64_t at = first + head + v * W;
    if constexpr (fast_host && R::located) {
      r.update(acc, from, steps * W, at, reduce_lanes<typename R::Extreme, W>(r.extreme(), from, steps, stride, at));
    } else {
      acc = r.combine(acc, reduce_lanes<R, W>(r, from, steps, stride, at));
    }
  }
  if constexpr (fast_host && R::located) {
    const int64_t done = vectors * W;
    const auto e = r.extreme();
    auto extreme = e.identity();
    for (int64_t i = done; i < n; ++i) extreme = e.combine(extreme, e.single(p[i], 0));
    if (done < n) r.update(acc, p + done, int(n - done), first + done, extreme);
    return acc;
  }
  STATOR_UNROLL(1)
  for (int64_t i = vectors * W + member; i < n - head; i += members)
    acc = r.combine(acc, r.single(body[i], first + head + i));
  return acc;
}

// Loaded elements into the accumulator; the first is at position `at`, the others `apart`.
template <class R, int W>
STATOR_FN typename R::Acc reduce_loaded(const R& r, typename R::Acc acc, const typename R::In (&value)[W], int count,
                                        int64_t at, int64_t apart) {
  if (count == W) {
    typename R::template Lanes<W> lanes;
    lanes.clear(r, W);
    for (int j = 0; j < W; ++j) lanes.enter(r, j, value[j], 0);
    return r.combine(acc, lanes.total(r, at, W * apart, apart));
  }
  STATOR_UNROLL(1)
  for (int j = 0; j < count; ++j) acc = r.combine(acc, r.single(value[j], at + j * apart));
  return acc;
}

// Of elements [begin, end) of the reduced axes of row `row` those that count.
template <class R>
STATOR_FN typename R::Acc reduce_masked(const R& r, const Any<typename R::In>& source, const ReductionWork& w,
                                        int64_t row, int64_t begin, int64_t end, int member, int members) {
  const int64_t base = w.kept.offset(row);
  const bool* const mask = w.mask + w.kept.mask_offset(row);
  typename R::Acc acc = r.identity();
  int64_t i = begin + member;
  STATOR_UNROLL(1)
  while ((i = next_counted(w, mask, i, end, members)) < end) {
    take_one(r, acc, source, base + w.reduced.offset(i), i);
    i += members;
  }
  return acc;
}

// Elements [begin, end) of the reduced axes of row `row`, anywhere in memory: threads take neighbouring elements, in
// wide accesses where they are dense.
template <class R>
STATOR_FN typename R::Acc reduce_strided(const R& r, const Any<typename R::In>& source, const ReductionWork& w,
                                         int64_t row, int64_t begin, int64_t end, int member, int members) {
  using In = typename R::In;
  constexpr int W = sizeof(In) > 8 ? 2 : sizeof(In) == 8 ? 4 : 8;
  const Axes& axes = w.reduced;
  const int64_t base = w.kept.offset(row);
  typename R::Acc acc = r.identity();
  if (w.mask != nullptr) return reduce_masked<R>(r, source, w, row, begin, end, member, members);
  const bool dense = axes.ndim == 1 && axes.strides[0] == 1;
  const int size = itemsize(source.dtype);
  const bool wide =
      dense && in(source.dtype, read_together<In>) &&
      (reinterpret_cast<uintptr_t>(source.p) + uintptr_t(base + begin) * size) % items_alignment(size, W) == 0;
  const int64_t apart = dense ? 1 : members;
  STATOR_UNROLL(1)
  for (int64_t i = begin + int64_t(member) * (dense ? W : 1); i < end; i += int64_t(members) * W) {
    const int64_t left = (end - i + apart - 1) / apart;
    const int count = left < W ? int(left) : W;
    if (wide && count == W) {
      acc = reduce_loaded<R>(r, acc, load_items<In, read_together<In>, W>(source.p, source.dtype, base + i).value, W, i,
                             1);
      continue;
    }
    Items<int64_t, W> offset;
    STATOR_UNROLL()
    for (int j = 0; j < W; ++j) offset[j] = base + (j < count ? axes.offset(i + j * apart) : 0);
    acc = reduce_loaded<R>(r, acc, load_many<In, read_together<In>>(source.p, source.dtype, offset, count).value, count,
                           i, apart);
  }
  return acc;
}

// The share of one thread of row `row`.
template <class R, class T>
STATOR_FN typename R::Acc reduce_share(const R& r, const Typed<T>& source, const ReductionWork& w, int64_t row,
                                       int64_t split, int member) {
  // A share is a piece of the only run, or some whole runs.
  const bool one = w.reduced.size == 1;
  const int64_t base = w.kept.offset(row), begin = split * w.share, extent = one ? w.run : w.reduced.size;
  const int64_t end = begin + w.share < extent ? begin + w.share : extent;
  typename R::Acc acc = r.identity();
  STATOR_UNROLL(1)
  for (int64_t k = one ? 0 : begin; k < (one ? 1 : end); ++k) {
    const int64_t at = one ? begin : w.reduced.offset(k);
    acc = r.combine(acc, reduce_run<R>(r, r.identity(), source.p + base + at, one ? end - begin : w.run,
                                       one ? begin : k * w.run, member, w.threads));
  }
  return acc;
}
template <class R, class C>
STATOR_FN typename R::Acc reduce_share(const R& r, const Any<C>& source, const ReductionWork& w, int64_t row,
                                       int64_t split, int member) {
  const int64_t begin = split * w.share;
  const int64_t end = begin + w.share < w.count ? begin + w.share : w.count;
  return reduce_strided<R>(r, source, w, row, begin, end, member, w.threads);
}

// The share of a block of the fast host, along the innermost axis.
template <class R, class Source>
STATOR_FN typename R::Acc reduce_lines(const R& r, const Source& source, const ReductionWork& w, int64_t row,
                                       int64_t split) {
  const int64_t begin = split * w.share, end = std::min(begin + w.share, w.count);
  if constexpr (Source::any)
    if (w.mask != nullptr) return reduce_masked<R>(r, source, w, row, begin, end, 0, 1);
  const Axes& axes = w.reduced;
  const int64_t base = w.kept.offset(row);
  const int64_t line = axes.ndim > 0 ? axes.shape[axes.ndim - 1] : 1;
  const int64_t step = axes.ndim > 0 ? axes.strides[axes.ndim - 1] : 1;
  typename R::In buffer[line_buffer];
  typename R::Acc acc = r.identity();
  int64_t left = begin == 0 ? line : line - begin % line;
  for (int64_t i = begin; i < end;) {
    int64_t count = std::min(left, end - i);
    const typename R::In* const p = source.line(buffer, base + axes.offset(i), step, count);
    acc = reduce_run<R>(r, acc, p, count, i, 0, 1);
    i += count;
    left = left == count ? line : left - count;
  }
  return acc;
}

template <class R, class Source, int Size>
STATOR_KERNEL void reduce_rows(ReductionWork w) {
  using Acc = typename R::Acc;
  const Group<Size> group;
  const R r{w.mode};
  const Source source(w.in, w.in_dtype);
  const int threads = group.size == 1 ? 1 : w.threads;
  const int member = group.rank() & (threads - 1);
  const int64_t split = group.block() % w.splits, first = group.block() / w.splits * w.tile;
  const int64_t last = first + w.tile < w.kept.size ? first + w.tile : w.kept.size;
  STATOR_UNROLL(1)
  for (int64_t row = first; row < last; row += group.size / threads) {  // uniform: the block folds together
    const int64_t mine = row + group.rank() / threads;
    Acc acc = r.identity();
    if constexpr (fast_host)
      acc = reduce_lines<R>(r, source, w, mine, split);
    else if (mine < last)
      acc = reduce_share<R>(r, source, w, mine, split, member);
    acc = fold_threads(r, group, acc, 1, threads);
    if (w.splits > 1) {
      // One row a block: the last block of the row has every partial in sight.
      Acc* const partials = static_cast<Acc*>(w.partials) + row * w.splits;
      if (member == 0) partials[split] = acc;
      if (!group.last_block(w.counters + row, uint32_t(w.splits))) continue;
      acc = r.identity();
      STATOR_UNROLL(1)
      for (int s = group.rank(); s < w.splits; s += group.size) acc = r.combine(acc, partials[s]);
      acc = fold_threads(r, group, acc, 1, group.size);
    }
    if (member == 0 && mine < last) store_result(r, w, mine, acc);
  }
}

}  // namespace stator::STATOR_TARGET::reduce
