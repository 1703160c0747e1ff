// Reductions of rows: a row is all elements of one output. `threads` threads take a row, and a block has several
// rows, or several blocks split one row.
#pragma once

#include "kernels/reduce/work.cuh"

namespace stator::STATOR_TARGET::reduce {

// Elements that a thread takes in one step, side by side: 16 bytes on cuda. On the fast host enough to hide the latency
// of the accumulation, and at least 32, because g++ unrolls shorter loops before it can vectorise them.
template <class R>
inline constexpr int row_lanes = fast_host && is_complex<typename R::In> ? 8
                                 : fast_host ? std::max(32, 64 / int(sizeof(typename R::template Lanes<1>)) * 2)
                                             : vector_width<typename R::In>;

// Reduces `steps` vectors of W elements, `stride` apart: element j of each goes into lane j. The first element is at
// position `at`.
template <class R, int W>
STATOR_FN typename R::Acc reduce_vectors(const R& r, const typename R::In* from, int steps, int64_t stride,
                                         int64_t at) {
  using In = typename R::In;
  typename R::template Lanes<W> lanes;
  lanes.clear(r, W);
  if constexpr (fast_host) {
    for (int k = 0; k < steps; ++k)
      for (int j = 0; j < W; ++j) lanes.enter(r, j, from[k * W + j], k);
  } else {
    STATOR_UNROLL(2)
    for (int k = 0; k < steps; ++k, from += stride) {
      const Vec<In, W> value = load_vector<W>(from);
      for (int j = 0; j < W; ++j) lanes.enter(r, j, value[j], k);
    }
  }
  return lanes.total(r, at, stride, 1);
}

// Reduces n contiguous elements into the accumulator. This is thread `member` of `members`, and p[0] is at position
// `first`. `members` is a power of two.
template <class R>
STATOR_FN typename R::Acc reduce_segment(const R& r, typename R::Acc acc, const typename R::In* p, int64_t n,
                                         int64_t first, int member, int members) {
  using In = typename R::In;
  if constexpr (fast_host && R::located) {
    using Extreme = typename R::Extreme;
    for (int64_t i = 0; i < n; i += run_length<Extreme>) {
      const int count = int(std::min<int64_t>(run_length<Extreme>, n - i));
      r.update(acc, p + i, count, first + i, run_of(r.extreme(), p + i, count));
    }
    return acc;
  } else if constexpr (takes_runs<R>) {
    for (int64_t i = 0; i < n; i += run_length<R>)
      acc = r.combine(acc, run_of(r, p + i, int(std::min<int64_t>(run_length<R>, n - i))));
    return acc;
  }
  constexpr int W = row_lanes<R>;
  // Elements before the first aligned vector.
  int64_t head = 0;
  if constexpr (!fast_host && W > 1) {
    const int past = int(reinterpret_cast<uintptr_t>(p) % (W * sizeof(In)) / sizeof(In));
    head = past == 0 ? 0 : W - past;
    if (head > n) head = n;
    STATOR_UNROLL(1)
    for (int64_t i = member; i < head; i += members) acc = r.combine(acc, r.single(p[i], first + i));
  }
  // Whole vectors.
  const In* const body = p + head;
  const int64_t vectors = (n - head) / W, stride = int64_t(members) * W;
  const int shift = count_bits(uint32_t(members - 1));
  STATOR_UNROLL(1)
  for (int64_t v = member; v < vectors; v += int64_t(members) * R::lane_steps) {
    const int64_t left = (vectors - v + members - 1) >> shift;
    const int steps = left < R::lane_steps ? int(left) : R::lane_steps;
    const In* const from = body + v * W;
    const int64_t at = first + head + v * W;
    acc = r.combine(acc, reduce_vectors<R, W>(r, from, steps, stride, at));
  }
  // Elements after the last vector.
  STATOR_UNROLL(1)
  for (int64_t i = vectors * W + member; i < n - head; i += members)
    acc = r.combine(acc, r.single(body[i], first + head + i));
  return acc;
}

// Reduces loaded elements into the accumulator. The first is at position `at`, the next one `apart` further.
template <class R, int W>
STATOR_FN typename R::Acc reduce_loaded(const R& r, typename R::Acc acc, Items<typename R::In, W> value, int count,
                                        int64_t at, int64_t apart) {
  if (count == W) {
    typename R::template Lanes<W> lanes;
    lanes.clear(r, W);
    for (int j = 0; j < W; ++j) lanes.enter(r, j, value[j], 0);
    return r.combine(acc, lanes.total(r, at, W * apart, apart));
  }
  // The array moves down, because an index that is not constant would put it into local memory.
  STATOR_UNROLL(1)
  for (int j = 0; j < count; ++j) {
    acc = r.combine(acc, r.single(value[0], at + j * apart));
    STATOR_UNROLL()
    for (int k = 1; k < W; ++k) value[k - 1] = value[k];
  }
  return acc;
}

// Reduces those of the elements [begin, end) of row `row` that the mask selects.
template <class R>
STATOR_FN typename R::Acc reduce_masked(const R& r, const ErasedLoad<typename R::In>& source, const ReductionWork& w,
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

// Reduces elements [begin, end) of row `row`, wherever they lie in memory: neighbouring threads take neighbouring
// elements, in wide accesses if the elements are contiguous.
template <class R>
STATOR_FN typename R::Acc reduce_strided(const R& r, const ErasedLoad<typename R::In>& source, const ReductionWork& w,
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
  const int shift = dense ? 0 : count_bits(uint32_t(members - 1));
  STATOR_UNROLL(1)
  for (int64_t i = begin + int64_t(member) * (dense ? W : 1); i < end; i += int64_t(members) * W) {
    const int64_t left = (end - i + apart - 1) >> shift;
    const int count = left < W ? int(left) : W;
    if (wide && count == W) {
      acc = reduce_loaded<R>(r, acc, load_items<In, read_together<In>, W>(source.p, source.dtype, base + i), W, i, 1);
      continue;
    }
    Items<int64_t, W> offset;
    STATOR_UNROLL()
    for (int j = 0; j < W; ++j) offset[j] = base + (j < count ? axes.offset(i + j * apart) : 0);
    acc = reduce_loaded<R>(r, acc, load_many<In, read_together<In>>(source.p, source.dtype, offset, count), count, i,
                           apart);
  }
  return acc;
}

// What one thread contributes to split `split` of row `row`.
template <class R, class T>
STATOR_FN typename R::Acc reduce_split(const R& r, const TypedLoad<T>& source, const ReductionWork& w, int64_t row,
                                       int64_t split, int member) {
  // A split is a part of the only segment, or some whole segments.
  const bool one = w.reduced.size == 1;
  const int64_t base = w.kept.offset(row), begin = split * w.split_size,
                extent = one ? w.segment_length : w.reduced.size;
  const int64_t end = begin + w.split_size < extent ? begin + w.split_size : extent;
  typename R::Acc acc = r.identity();
  STATOR_UNROLL(1)
  for (int64_t k = one ? 0 : begin; k < (one ? 1 : end); ++k) {
    const int64_t at = one ? begin : w.reduced.offset(k);
    acc = r.combine(acc, reduce_segment<R>(r, r.identity(), source.p + base + at, one ? end - begin : w.segment_length,
                                           one ? begin : k * w.segment_length, member, w.threads));
  }
  return acc;
}
template <class R, class C>
STATOR_FN typename R::Acc reduce_split(const R& r, const ErasedLoad<C>& source, const ReductionWork& w, int64_t row,
                                       int64_t split, int member) {
  const int64_t begin = split * w.split_size;
  const int64_t end = begin + w.split_size < w.count ? begin + w.split_size : w.count;
  return reduce_strided<R>(r, source, w, row, begin, end, member, w.threads);
}

// Fast host: how many elements are read before it is asked whether more are needed; doubled each time after the second.
// The first is short, since many rows end at once.
struct Glimpse {
  static constexpr int64_t first = 128, second = 1024, most = 65536;
};

// Fast host: split `split` of row `row`, segment after segment of the innermost reduced axis.
template <class R, class Source>
STATOR_FN typename R::Acc reduce_segments(const R& r, const Source& source, const ReductionWork& w, int64_t row,
                                          int64_t split) {
  const int64_t begin = split * w.split_size, end = std::min(begin + w.split_size, w.count);
  if constexpr (Source::erased)
    if (w.mask != nullptr) return reduce_masked<R>(r, source, w, row, begin, end, 0, 1);
  const Axes& axes = w.reduced;
  const int64_t base = w.kept.offset(row);
  const int64_t segment = axes.ndim > 0 ? axes.shape[axes.ndim - 1] : 1;
  const int64_t step = axes.ndim > 0 ? axes.strides[axes.ndim - 1] : 1;
  typename R::In buffer[chunk_length];
  typename R::Acc acc = r.identity();
  constexpr bool may_end = requires { r.is_decided(acc); };
  int64_t left = begin == 0 ? segment : segment - begin % segment, glimpse = Glimpse::first;
  for (int64_t i = begin; i < end;) {
    int64_t count = std::min(left, end - i);
    if constexpr (may_end) {
      count = std::min(count, glimpse);
      glimpse = std::clamp(2 * glimpse, Glimpse::second, Glimpse::most);
    }
    const typename R::In* const p = source.chunk(buffer, base + axes.offset(i), step, count);
    acc = reduce_segment<R>(r, acc, p, count, i, 0, 1);
    if constexpr (may_end)
      if (r.is_decided(acc)) break;
    i += count;
    left = left == count ? segment : left - count;
  }
  return acc;
}

struct RowTuning {
  static constexpr int together = 64;  // rows whose results are stored at once
};

// Fast host: rows [first, last), whose results are stored together. Short ones are taken from a chunk of several,
// without what is decided for each segment of a row.
template <class R, class Source>
STATOR_FN void reduce_row_tile(const R& r, const Source& source, const ReductionWork& w, int64_t first, int64_t last) {
  constexpr int together = RowTuning::together;
  typename R::Acc acc[together];
  typename R::In buffer[chunk_length];
  const Axes &kept = w.kept, &axes = w.reduced;
  bool are_short = false;
  if constexpr (takes_runs<R>)
    are_short = w.mask == nullptr && kept.ndim == 1 && axes.ndim == 1 && axes.strides[0] == 1 && w.count > 0 &&
                w.count <= std::min<int64_t>(run_length<R>, chunk_length);
  for (int64_t row = first; row < last; row += together) {
    const int rows = int(std::min<int64_t>(together, last - row));
    for (int j = 0; j < rows;) {
      if constexpr (takes_runs<R>) {
        if (are_short) {
          int64_t elements = kept.strides[0] == w.count ? (rows - j) * w.count : w.count;
          const typename R::In* p = source.chunk(buffer, (row + j) * kept.strides[0], 1, elements);
          for (; elements >= w.count; elements -= w.count, p += w.count) acc[j++] = run_of(r, p, int(w.count));
          continue;
        }
      }
      acc[j] = reduce_segments<R>(r, source, w, row + j, 0);
      ++j;
    }
    store_results(r, w, row, acc, rows);
  }
}

// What limits the registers of a kernel of rows: without it some take more than `resident` blocks have, on one device
// or another. Moments of converted elements fit without it, and would spill with it.
template <class R, class Source>
inline constexpr int row_limit = Source::erased && resident<R, Source> == 2 ? 0 : resident<R, Source>;

template <class R, class Source, int Size>
STATOR_KERNEL_RESIDENT(Size*(row_limit<R, Source> > 0), (row_limit<R, Source>)) void reduce_rows(ReductionWork w) {
  using Acc = typename R::Acc;
  const Group<Size> group;
  const R r{w.mode};
  const Source source(w.in, w.in_dtype);
  const int threads = group.size == 1 ? 1 : w.threads;
  const int member = group.rank() & (threads - 1);
  const int64_t split = group.block() % w.splits, first = group.block() / w.splits * w.tile;
  const int64_t last = first + w.tile < w.kept.size ? first + w.tile : w.kept.size;
  if constexpr (fast_host)
    if (w.splits == 1) return reduce_row_tile(r, source, w, first, last);
  STATOR_UNROLL(1)
  for (int64_t row = first; row < last; row += group.size / threads) {  // uniform: all threads take part in the folds
    const int64_t mine = row + group.rank() / threads;
    Acc acc = r.identity();
    if constexpr (fast_host)
      acc = reduce_segments<R>(r, source, w, mine, split);
    else if (mine < last)
      acc = reduce_split<R>(r, source, w, mine, split, member);
    acc = fold_threads(r, group, acc, 1, threads);
    if (w.splits > 1) {
      // One row per block. The last block of the row reduces the partial results of all splits.
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
