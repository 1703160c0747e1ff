// Parameters of the launchers that sort, and of those that work on what is sorted.
#pragma once

#include "params/launcher.hpp"

namespace stator::params {

// How the bits of a dtype become unsigned keys in sorting order, and back; made by ops/order_keys. NaN is the greatest
// key, -0 and +0 are two keys that compare equal.
struct KeyCodec {
  uint64_t sign, negative, positive;  // the sign bit; what bits with and without it are xor-ed with
  uint64_t infinity;                  // a magnitude above it is NaN
  uint64_t greatest;                  // all bits of a key
  uint64_t flip;                      // descending: all bits; else 0
  uint64_t alias, canonical;          // the keys of -0 and +0; the same where there is no -0
  int32_t itemsize;                   // 1, 2, 4, 8
};

// Lines of an array: all axes but one.
struct Lines {
  int64_t count;
  int32_t ndim;
  int64_t shape[max_dims], x_strides[max_dims], out_strides[max_dims];
};

// Sorts lines of n elements, x_step apart, stably; elements [first, first + count) of each sorted line are written,
// out_step apart; or, where rank_count > 0, those at places rank[0] < rank[1] < ... Ranks inside a line are 32 bits
// wide: n < 2^32. With `whole` a line is written whole and the ranks say what must be in its place, smaller elements
// before it and greater ones after.
struct Sort {
  static constexpr int most_ranks = 16;
  const void* x;
  void* values;      // of x's dtype, or null
  int64_t* indices;  // where they were, or null
  KeyCodec key;
  int64_t n, x_step, first, count, out_step;
  Lines lines;
  int32_t rank_count;
  int64_t rank[most_ranks];
  bool whole;
  const uint32_t* places;  // [lines, n], short lines of blocks with threads: what indices say; null: the place
};

// keys[line, i], dense: unsigned keys of complex numbers, in their order and with -0 as +0. complex64 has one key a
// number; complex128 has two: first sort by the low one, then, in that order, by the high one.
struct ComplexKeys {
  const void* x;
  DType dtype;
  const int64_t* order;  // [lines, n]: places in the line; null: as they stand
  uint64_t* keys;
  bool high, descending;
  int64_t n, step;
  Lines lines;
};
// Element i of a line of the results is x's at order[second[i]], or at second[i] where order is null.
struct ComplexGather {
  const void* x;
  DType dtype;
  const int64_t *second, *order;  // [lines, n]
  void* values;                   // or null
  int64_t* indices;               // or null
  int64_t n, step, out_step;
  Lines lines;
};
// found[i]: whether values[i] stands among n dense sorted numbers (NaN never does), or the opposite.
struct ComplexSearch {
  const void *sorted, *values;
  DType dtype;
  bool* found;
  bool invert;
  int64_t n;
  Lines elements;  // x_strides: of the values
};

// out[k, line] from dense sorted lines: between elements index[k] and index[k] + 1, `fraction` of the way. A line that
// ends in NaN gives NaN.
struct Quantile {
  static constexpr int most = 64;
  const void* sorted;
  void* out;
  DType dtype, out_dtype;
  int64_t lines, n;
  int32_t count;
  int64_t index[most];
  double fraction[most];
};

// The value that stands most often in each dense sorted line, the least of ties, and how often.
struct Mode {
  const void* sorted;
  void* values;
  int64_t* counts;
  KeyCodec key;
  int64_t lines, n;
};

}  // namespace stator::params

namespace stator::kernels::sort {

// Bytes that a sort asks for, and the sort: one launch for short lines.
extern Launcher<int64_t(const DeviceLimits&, const params::Sort&)> sort_scratch;
extern Launcher<void(const Queue&, const params::Sort&, void* scratch)> sort;
extern Launcher<void(const Queue&, const params::Quantile&)> quantile;
extern Launcher<void(const Queue&, const params::Mode&)> mode;
extern Launcher<void(const Queue&, const params::ComplexKeys&)> complex_keys;
extern Launcher<void(const Queue&, const params::ComplexGather&)> complex_gather;
extern Launcher<void(const Queue&, const params::ComplexSearch&)> complex_search;

}  // namespace stator::kernels::sort
