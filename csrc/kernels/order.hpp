// Parameters of the launchers that sort, and of those that work on what is sorted.
#pragma once

#include "device/abi.hpp"

namespace stator::abi {

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
// out_step apart. Ranks inside a line are 32 bits wide: n < 2^32.
struct Sort {
  const void* x;
  void* values;      // of x's dtype, or null
  int64_t* indices;  // where they were, or null
  KeyCodec key;
  int64_t n, x_step, first, count, out_step;
  Lines lines;
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

}  // namespace stator::abi

namespace stator::kernels {

struct OrderTable {
  // Bytes that a sort asks for, and the sort: one launch for short lines.
  int64_t (*sort_scratch)(const abi::DeviceLimits&, const abi::Sort&);
  void (*sort)(const abi::Queue&, const abi::Sort&, void* scratch);
  void (*quantile)(const abi::Queue&, const abi::Quantile&);
  void (*mode)(const abi::Queue&, const abi::Mode&);
};

}  // namespace stator::kernels
