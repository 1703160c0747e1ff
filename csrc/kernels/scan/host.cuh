// Scans on the fast host, where a block is one thread of execution: along lines in pieces that stay in the nearest
// cache, or down many lines side by side.
#pragma once

#include "kernels/scan/work.cuh"

#include <algorithm>

namespace stator::STATOR_TARGET::scan {

struct HostScanTuning {
  static constexpr int piece = 512;      // elements of a line
  static constexpr int together = 16;    // lines that share cache lines on one side
  static constexpr int columns = 256;    // lines side by side
  static constexpr int short_line = 24;  // shorter ones go side by side however they lie
  static constexpr int standing = 32;    // elements that are passed over at once where the extreme stands
  static constexpr int narrow = 8;       // fewer lines than this do not fill a step
};

// v[0], ..., v[count - 1] become the results after `carry`, and carry the last; at gets places.
template <class R>
STATOR_FN void scan_piece(const R& r, typename R::Acc& carry, typename R::In* v, int64_t* at, int count, int64_t first,
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
  if constexpr (R::indexed) {
    constexpr int K = HostScanTuning::standing;
    while (i + K <= count) {
      int taken = 0;
      for (int k = 0; k < K; ++k) taken += !r.stands(carry, v[i + k]);
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
  if constexpr (R::host_run > 0) {
    constexpr int K = R::host_run;
    while (i + K <= count) {
      typename R::template Run<K> run;
      typename R::In x[K];
      for (int k = 0; k < K; ++k) x[k] = v[i + k];
      if (!run.take(x) || (!totals && !run.emit(carry, v + i))) {
        steps(i + K);
        continue;
      }
      carry = r.combine(carry, run.total());
      i += K;
    }
  }
  steps(count);
}

template <class R>
STATOR_FN typename R::Acc host_parts_before(const R& r, const ScanWork& w, int64_t line, int part) {
  typename R::Acc acc = r.identity();
  if (w.totals) return acc;
  const auto* const partials = static_cast<const typename R::Acc*>(w.partials) + line * w.parts;
  for (int p = 0; p < part; ++p) acc = r.combine(acc, partials[p]);
  return acc;
}

template <class R>
STATOR_FN void scan_lines_along(const R& r, const ScanWork& w, const ScanTile& t) {
  using Tune = HostScanTuning;
  using In = typename R::In;
  In v[Tune::piece];
  int64_t at[R::indexed ? Tune::piece : 1];
  const int step = w.in_across || w.out_across ? Tune::together : 1;
  for (int64_t line = t.first; line < t.last; line += step) {
    const int count = t.last - line < step ? int(t.last - line) : step;
    typename R::Acc carry[Tune::together];
    int64_t from[Tune::together], to[Tune::together];
    for (int l = 0; l < count; ++l) {
      carry[l] = host_parts_before(r, w, line + l, t.part);
      w.lines.offsets(line + l, from[l], to[l]);
      if (w.initial && t.part == 0 && !w.totals) {
        v[0] = r.value(carry[l]);
        scan_store_line<In, R::stores>(v, w.out, w.out_dtype, to[l] - w.out_step, 1, 1);
      }
    }
    for (int64_t i = t.begin; i < t.end; i += Tune::piece) {
      const int length = t.end - i < Tune::piece ? int(t.end - i) : Tune::piece;
      for (int l = 0; l < count; ++l) {
        scan_load_line<In, R::loads>(v, w.in, w.in_dtype, from[l] + i * w.in_step, w.in_step, length);
        scan_piece(r, carry[l], v, at, length, i, w.totals);
        if (w.totals) continue;
        scan_store_line<In, R::stores>(v, w.out, w.out_dtype, to[l] + i * w.out_step, w.out_step, length);
        if constexpr (R::indexed) scan_store_line_typed(w.indices + to[l] + i * w.out_step, at, w.out_step, length);
      }
    }
    if (w.totals)
      for (int l = 0; l < count; ++l)
        static_cast<typename R::Acc*>(w.partials)[(line + l) * w.parts + t.part] = carry[l];
  }
}

// The tile's lines are neighbours on the innermost axis of lines.
template <class R>
STATOR_FN void scan_lines_across(const R& r, const ScanWork& w, const ScanTile& t) {
  using In = typename R::In;
  constexpr int W = HostScanTuning::columns;
  const int inner = w.lines.ndim - 1, width = int(t.last - t.first);
  const int64_t in_apart = inner < 0 ? 0 : w.lines.in[inner], out_apart = inner < 0 ? 0 : w.lines.out[inner];
  In v[W];
  int64_t at[R::indexed ? W : 1];
  typename R::Acc acc[W];
  int64_t from, to;
  w.lines.offsets(t.first, from, to);
  for (int j = 0; j < width; ++j) acc[j] = host_parts_before(r, w, t.first + j, t.part);
  if (w.initial && t.part == 0 && !w.totals) {
    for (int j = 0; j < width; ++j) v[j] = r.value(acc[j]);
    scan_store_line<In, R::stores>(v, w.out, w.out_dtype, to - w.out_step, out_apart, width);
  }
  for (int64_t i = t.begin; i < t.end; ++i) {
    scan_load_line<In, R::loads>(v, w.in, w.in_dtype, from + i * w.in_step, in_apart, width);
    if (w.totals) {
      for (int j = 0; j < width; ++j) r.step(acc[j], v[j], i);
      continue;
    }
    for (int j = 0; j < width; ++j) {
      r.step(acc[j], v[j], i);
      v[j] = r.value(acc[j]);
      if constexpr (R::indexed) at[j] = r.index(acc[j]);
    }
    scan_store_line<In, R::stores>(v, w.out, w.out_dtype, to + i * w.out_step, out_apart, width);
    if constexpr (R::indexed) scan_store_line_typed(w.indices + to + i * w.out_step, at, out_apart, width);
  }
  if (w.totals)
    for (int j = 0; j < width; ++j)
      static_cast<typename R::Acc*>(w.partials)[(t.first + j) * w.parts + t.part] = acc[j];
}

}  // namespace stator::STATOR_TARGET::scan
