// What the scan kernels share: their parameters (ScanWork), and loads and stores of any dtype.
#pragma once

#include "device/group.cuh"
#include "device/index.cuh"
#include "kernels/scan/scanners.cuh"
#include "params/scan.hpp"

#include <limits>

namespace stator::STATOR_TARGET::scan {

// Where each segment starts. Divides in 32 bits if every index fits.
struct ScanSegments {
  int32_t ndim = 0;
  bool small = true;
  int64_t size = 1;
  FastDivmod fast[params::max_dims];
  int64_t shape[params::max_dims], in[params::max_dims], out[params::max_dims];

  explicit ScanSegments(const params::Scan& s) : ndim(s.ndim), size(s.segments) {
    small = size <= std::numeric_limits<int32_t>::max();
    for (int d = 0; d < ndim; ++d) {
      shape[d] = s.shape[d];
      in[d] = s.in_strides[d];
      out[d] = s.out_strides[d];
      if (small && shape[d] > 0) fast[d] = FastDivmod(int32_t(shape[d]));
    }
  }

  STATOR_FN void offsets(int64_t segment, int64_t& from, int64_t& to) const {
    from = to = 0;
    for (int d = ndim - 1; d >= 0; --d) {
      int64_t at = segment;
      if (d > 0 && small) {
        int32_t coordinate;
        segment = fast[d].divmod(int32_t(segment), coordinate);
        at = coordinate;
      } else if (d > 0) {
        segment = at / shape[d];
        at -= segment * shape[d];
      }
      from += at * in[d];
      to += at * out[d];
    }
  }
};

struct ScanWork {
  const void* in;
  void* out;
  int64_t* indices;
  DType in_dtype, out_dtype;
  bool initial;
  bool totals;                 // only write the totals of the splits
  bool in_across, out_across;  // neighbouring segments are nearer in memory than neighbours along a segment
  int64_t columns;             // fast host: how many segments of the innermost axis are scanned side by side, or 0
  ScanSegments segments;
  int64_t n, in_step, out_step;
  int32_t along;       // log2 of the threads along a segment
  int64_t tile;        // segments of a block
  int64_t split_size;  // elements of a split of a segment
  int32_t splits;      // of a segment, one block each
  void* partials;      // [segments, splits]
};

// A block's segments [first, last) and the elements [begin, end) of each.
struct ScanTile {
  int64_t first, last, begin, end;
  int32_t split;
};

STATOR_FN ScanTile scan_tile(const ScanWork& w, int64_t block) {
  const int blocks = w.totals ? w.splits - 1 : w.splits;  // the total of the last split is not needed
  ScanTile t;
  const int64_t group = block / blocks;
  t.split = int32_t(block - group * blocks);
  int64_t bound = w.segments.size;
  t.first = group * w.tile;
  if (w.columns > 0) {  // a tile ends with the innermost axis of segments
    const int64_t tiles = (w.columns + w.tile - 1) / w.tile, row = group / tiles;
    t.first = row * w.columns + (group - row * tiles) * w.tile;
    bound = (row + 1) * w.columns;
  }
  t.last = t.first + w.tile < bound ? t.first + w.tile : bound;
  t.begin = t.split * w.split_size;
  t.end = t.begin + w.split_size < w.n ? t.begin + w.split_size : w.n;
  return t;
}

// Loads and stores of the first `count` of N elements, `apart` from each other, with one dtype switch for all of them.
template <class T, int N, class C>
STATOR_FN void scan_load_typed(C (&value)[N], const T* p, int64_t apart, int count) {
  STATOR_UNROLL()
  for (int k = 0; k < N; ++k, p += apart)
    if (k < count) value[k] = convert<C>(*p);
}
template <class T, int N, class C>
STATOR_FN void scan_store_typed(const C (&value)[N], T* p, int64_t apart, int count) {
  STATOR_UNROLL()
  for (int k = 0; k < N; ++k, p += apart)
    if (k < count) *p = convert<T>(value[k]);
}
template <class R, int N>
STATOR_FN void scan_load(typename R::In (&value)[N], const void* base, DType d, int64_t offset, int64_t apart,
                         int count) {
#define STATOR_CASE(name, type)                                                      \
  case DType::name:                                                                  \
    if constexpr (in(DType::name, R::loads))                                         \
      scan_load_typed(value, static_cast<const type*>(base) + offset, apart, count); \
    return;
  STATOR_DTYPE_SWITCH(d, STATOR_CASE)
#undef STATOR_CASE
}
template <class R, int N>
STATOR_FN void scan_store(const typename R::In (&value)[N], void* base, DType d, int64_t offset, int64_t apart,
                          int count) {
#define STATOR_CASE(name, type)                                                 \
  case DType::name:                                                             \
    if constexpr (in(DType::name, R::stores))                                   \
      scan_store_typed(value, static_cast<type*>(base) + offset, apart, count); \
    return;
  STATOR_DTYPE_SWITCH(d, STATOR_CASE)
#undef STATOR_CASE
}

// Fast host: loads and stores of `count` elements, `step` apart. Not inlined, because their dtype switches would be
// most of the code.
template <class C, class T>
STATOR_FN void scan_load_segment_typed(C* out, const T* p, int64_t step, int count) {
  if (step == 1)
    for (int k = 0; k < count; ++k) out[k] = convert<C>(p[k]);
  else
    for (int k = 0; k < count; ++k) out[k] = convert<C>(p[k * step]);
}
template <class T, class C>
STATOR_FN void scan_store_segment_typed(T* p, const C* value, int64_t step, int count) {
  if (step == 1)
    for (int k = 0; k < count; ++k) p[k] = convert<T>(value[k]);
  else
    for (int k = 0; k < count; ++k) p[k * step] = convert<T>(value[k]);
}
template <class C, DTypeSet Set>
__attribute__((noinline)) void scan_load_segment(C* __restrict__ out, const void* base, DType d, int64_t offset,
                                                 int64_t step, int count) {
#define STATOR_CASE(name, type)                                                           \
  case DType::name:                                                                       \
    if constexpr (in(DType::name, Set))                                                   \
      scan_load_segment_typed(out, static_cast<const type*>(base) + offset, step, count); \
    return;
  STATOR_DTYPE_SWITCH(d, STATOR_CASE)
#undef STATOR_CASE
}
template <class C, DTypeSet Set>
__attribute__((noinline)) void scan_store_segment(const C* __restrict__ value, void* base, DType d, int64_t offset,
                                                  int64_t step, int count) {
#define STATOR_CASE(name, type)                                                        \
  case DType::name:                                                                    \
    if constexpr (in(DType::name, Set))                                                \
      scan_store_segment_typed(static_cast<type*>(base) + offset, value, step, count); \
    return;
  STATOR_DTYPE_SWITCH(d, STATOR_CASE)
#undef STATOR_CASE
}

}  // namespace stator::STATOR_TARGET::scan
