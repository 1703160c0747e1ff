// Scans on the fast host, where a block is one thread of execution: along segments, in chunks that stay in the L1
// cache, or across many segments that lie side by side.
#pragma once

#include "kernels/scan/work.cuh"

#include <algorithm>

namespace stator::STATOR_TARGET::scan {

struct HostScanTuning {
  static constexpr int chunk = 512;          // elements of a segment
  static constexpr int together = 16;        // segments that share cache lines
  static constexpr int columns = 256;        // segments side by side
  static constexpr int short_segment = 24;   // shorter segments go side by side whatever their layout
  static constexpr int tested_at_once = 32;  // elements that are tested at once for a new extreme
  static constexpr int narrow = 8;           // fewer segments do not fill a vector loop
};

// Replaces v[0], ..., v[count - 1] by the results after `carry`, and carry by the last of them; `at` gets the indices.
template <class R>
STATOR_FN void scan_chunk(const R& r, typename R::Acc& carry, typename R::In* v, int64_t* at, int count, int64_t first,
                          bool totals) {
  int i = 0;
  const auto steps = [&](int last) {
    for (; i < last; ++i) {
      r.step(carry, v[i], first + i);
      if (totals) continue;
      v[i] = r.value(carry);
      if constexpr (R::indexed) at[i] = r.index(carry);
    }
  };
  // Where no element is a new extreme the results are constant.
  if constexpr (R::indexed) {
    constexpr int K = HostScanTuning::tested_at_once;
    while (i + K <= count) {
      int taken = 0;
      for (int k = 0; k < K; ++k) taken += !r.unchanged(carry, v[i + k]);
      if (taken > 0) {
        steps(i + K);
        continue;
      }
      if (!totals) {
        std::fill_n(v + i, K, r.value(carry));
        std::fill_n(at + i, K, r.index(carry));
      }
      i += K;
    }
  }
  // Several elements at once where the scanner can, else step by step.
  if constexpr (R::host_chunk > 0) {
    constexpr int K = R::host_chunk;
    while (i + K <= count) {
      typename R::template Chunk<K> chunk;
      typename R::In x[K];
      for (int k = 0; k < K; ++k) x[k] = v[i + k];
      if (!chunk.take(x) || (!totals && !chunk.emit(carry, v + i))) {
        steps(i + K);
        continue;
      }
      carry = r.combine(carry, chunk.total());
      i += K;
    }
  }
  steps(count);
}

// The total of all splits before `split`.
template <class R>
STATOR_FN typename R::Acc host_partials_before(const R& r, const ScanWork& w, int64_t segment, int split) {
  typename R::Acc acc = r.identity();
  if (w.totals) return acc;
  const auto* const partials = static_cast<const typename R::Acc*>(w.partials) + segment * w.splits;
  for (int p = 0; p < split; ++p) acc = r.combine(acc, partials[p]);
  return acc;
}

template <class R>
STATOR_FN void scan_segments_along(const R& r, const ScanWork& w, const ScanTile& t) {
  using Tune = HostScanTuning;
  using In = typename R::In;
  In v[Tune::chunk];
  int64_t at[R::indexed ? Tune::chunk : 1];
  const int step = w.in_across || w.out_across ? Tune::together : 1;
  for (int64_t segment = t.first; segment < t.last; segment += step) {
    const int count = t.last - segment < step ? int(t.last - segment) : step;
    typename R::Acc carry[Tune::together];
    int64_t from[Tune::together], to[Tune::together];
    for (int l = 0; l < count; ++l) {
      carry[l] = host_partials_before(r, w, segment + l, t.split);
      w.segments.offsets(segment + l, from[l], to[l]);
      if (w.initial && t.split == 0 && !w.totals) {
        v[0] = r.value(carry[l]);
        scan_store_segment<In, R::stores>(v, w.out, w.out_dtype, to[l] - w.out_step, 1, 1);
      }
    }
    for (int64_t i = t.begin; i < t.end; i += Tune::chunk) {
      const int length = t.end - i < Tune::chunk ? int(t.end - i) : Tune::chunk;
      for (int l = 0; l < count; ++l) {
        scan_load_segment<In, R::loads>(v, w.in, w.in_dtype, from[l] + i * w.in_step, w.in_step, length);
        scan_chunk(r, carry[l], v, at, length, i, w.totals);
        if (w.totals) continue;
        scan_store_segment<In, R::stores>(v, w.out, w.out_dtype, to[l] + i * w.out_step, w.out_step, length);
        if constexpr (R::indexed) scan_store_segment_typed(w.indices + to[l] + i * w.out_step, at, w.out_step, length);
      }
    }
    if (w.totals)
      for (int l = 0; l < count; ++l)
        static_cast<typename R::Acc*>(w.partials)[(segment + l) * w.splits + t.split] = carry[l];
  }
}

// The tile's segments are neighbours on the innermost axis of segments.
template <class R>
STATOR_FN void scan_segments_across(const R& r, const ScanWork& w, const ScanTile& t) {
  using In = typename R::In;
  constexpr int W = HostScanTuning::columns;
  const int inner = w.segments.ndim - 1, width = int(t.last - t.first);
  const int64_t in_apart = inner < 0 ? 0 : w.segments.in[inner], out_apart = inner < 0 ? 0 : w.segments.out[inner];
  In v[W];
  int64_t at[R::indexed ? W : 1];
  typename R::Acc acc[W];
  int64_t from, to;
  w.segments.offsets(t.first, from, to);
  for (int j = 0; j < width; ++j) acc[j] = host_partials_before(r, w, t.first + j, t.split);
  if (w.initial && t.split == 0 && !w.totals) {
    for (int j = 0; j < width; ++j) v[j] = r.value(acc[j]);
    scan_store_segment<In, R::stores>(v, w.out, w.out_dtype, to - w.out_step, out_apart, width);
  }
  for (int64_t i = t.begin; i < t.end; ++i) {
    scan_load_segment<In, R::loads>(v, w.in, w.in_dtype, from + i * w.in_step, in_apart, width);
    if (w.totals) {
      for (int j = 0; j < width; ++j) r.step(acc[j], v[j], i);
      continue;
    }
    for (int j = 0; j < width; ++j) {
      r.step(acc[j], v[j], i);
      v[j] = r.value(acc[j]);
      if constexpr (R::indexed) at[j] = r.index(acc[j]);
    }
    scan_store_segment<In, R::stores>(v, w.out, w.out_dtype, to + i * w.out_step, out_apart, width);
    if constexpr (R::indexed) scan_store_segment_typed(w.indices + to + i * w.out_step, at, out_apart, width);
  }
  if (w.totals)
    for (int j = 0; j < width; ++j)
      static_cast<typename R::Acc*>(w.partials)[(t.first + j) * w.splits + t.split] = acc[j];
}

}  // namespace stator::STATOR_TARGET::scan
