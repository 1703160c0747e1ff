// Parameters of the launchers that sort, and of those that read sorted data.
//
// A segment is a 1-D slice along the sorted axis: an array of shape [a, n, b] sorted along its middle axis has a * b
// segments of n elements.
#pragma once

#include "params/launcher.hpp"

namespace stator::params {

// How the bits of a dtype become unsigned keys in sorting order, and back; made by key_codec in ops/sort/keys.hpp. NaN
// is the greatest key. -0 and +0 are two keys that compare equal.
struct KeyCodec {
  uint64_t sign;                // the sign bit
  uint64_t negative, positive;  // masks that bits with and without the sign bit are xor-ed with
  uint64_t infinity;            // a greater magnitude is NaN
  uint64_t greatest;            // all bits of a key
  uint64_t flip;                // descending: all bits; else 0
  uint64_t alias, canonical;    // the keys of -0 and +0; equal where the dtype has no -0
  int32_t itemsize;             // 1, 2, 4, 8
};

// The segments of an array along one axis: `shape` has the other axes, strides are in elements.
struct Segments {
  int64_t count;
  int32_t ndim;
  int64_t shape[max_dims], x_strides[max_dims], out_strides[max_dims];
};

// Sorts segments of n elements, x_step apart, stably. Elements [first, first + count) of each sorted segment are
// written, out_step apart, or those at positions rank[0] < rank[1] < ... where rank_count > 0. Positions in a segment
// have 32 bits: n < 2^32. With `whole` the segment is written whole, but only the elements at the ranks must be at
// their sorted positions, with no greater element before them and no smaller one after.
struct Sort {
  static constexpr int most_ranks = 16;
  const void* x;
  void* values;      // of x's dtype, or null
  int64_t* indices;  // of the values in their segment of x, or null
  KeyCodec key;
  int64_t n, x_step, first, count, out_step;
  Segments segments;
  int32_t rank_count;
  int64_t rank[most_ranks];
  bool whole;
  const uint32_t* source_indices;  // [segments, n]: what to write to `indices` for each element; null: its own index.
                                   // For short segments on blocks with threads.
};

// keys[segment, i], dense: unsigned keys of complex numbers in their sorting order, with -0 as +0. complex64 has one
// key per number. complex128 has two: sort by the low one first, then stably by the high one.
struct ComplexKeys {
  const void* x;
  DType dtype;
  const int64_t* order;  // [segments, n]: keys[segment, i] is of element order[i]; null: of element i
  uint64_t* keys;
  bool high, descending;
  int64_t n, step;
  Segments segments;
};
// Element i of a result segment is x's element order[second[i]], or second[i] where order is null.
struct ComplexGather {
  const void* x;
  DType dtype;
  const int64_t *second, *order;  // [segments, n]
  void* values;                   // or null
  int64_t* indices;               // or null
  int64_t n, step, out_step;
  Segments segments;
};
// found[i]: whether values[i] is among n dense sorted numbers (NaN never is), or the opposite with `invert`.
struct ComplexSearch {
  const void *sorted, *values;
  DType dtype;
  bool* found;
  bool invert;
  int64_t n;
  Segments elements;  // x_strides: of the values
};

// out[k, segment] from dense sorted segments: the interpolation between elements index[k] and index[k] + 1, `fraction`
// of the way. A segment that ends in NaN gives NaN.
struct Quantile {
  static constexpr int most = 64;
  const void* sorted;
  void* out;
  DType dtype, out_dtype;
  int64_t segments, n;
  int32_t count;
  int64_t index[most];
  double fraction[most];
};

// The most frequent value of each dense sorted segment, the least one of ties, and its count.
struct Mode {
  const void* sorted;
  void* values;
  int64_t* counts;
  KeyCodec key;
  int64_t segments, n;
};

}  // namespace stator::params

namespace stator::kernels::sort {

// The bytes of scratch memory that a sort needs, and the sort: one launch for short segments.
extern Launcher<int64_t(const DeviceLimits&, const params::Sort&)> sort_scratch;
extern Launcher<void(const Queue&, const params::Sort&, void* scratch)> sort;
extern Launcher<void(const Queue&, const params::Quantile&)> quantile;
extern Launcher<void(const Queue&, const params::Mode&)> mode;
extern Launcher<void(const Queue&, const params::ComplexKeys&)> complex_keys;
extern Launcher<void(const Queue&, const params::ComplexGather&)> complex_gather;
extern Launcher<void(const Queue&, const params::ComplexSearch&)> complex_search;

}  // namespace stator::kernels::sort
