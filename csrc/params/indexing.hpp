// Parameters of the indexing launchers.
#pragma once

#include "params/launcher.hpp"

namespace stator::params {

// out[o, k, i] = x[o, indices[k], i]. x is [outer, n, inner] with strides in elements, out is contiguous [outer, count,
// inner]. For an index outside -n..n-1 the result is 0 and the index goes to the error slot. Moves bytes, so only the
// item size matters.
struct Take {
  const void* x;
  const void* indices;
  void* out;
  int32_t itemsize;
  DType index_dtype;  // any integer dtype
  int64_t outer, n, inner, count;
  int64_t x_strides[3], index_stride;
};

// One array of indices. Index i means an offset of i * step elements in the indexed array, after -extent..-1 is
// wrapped. An index outside goes to the error slot. raw: its elements are valid offsets themselves.
struct IndexEntry {
  const void* data;
  DType dtype;  // any integer dtype
  bool raw;
  int64_t extent, step;
  int64_t strides[max_dims];
};

// An iteration space of `shape` (at least one axis, size > 0). Position c of the space pairs element c . other_strides
// of `other` with element c . x_strides + (the offsets that all entries add) of x. Positions that differ along an axis
// of x_strides 0 may have the same element of x; positions that differ along another axis have different elements.
struct Indexed {
  static constexpr int most_entries = 8;
  void* x;
  void* other;  // null: `value`
  DType x_dtype, other_dtype;
  int32_t ndim, entry_count;
  int64_t size, shape[max_dims], x_strides[max_dims], other_strides[max_dims];
  int64_t x_begin, x_end;               // the offsets of x's elements are in [x_begin, x_end)
  alignas(16) unsigned char value[16];  // of x's dtype
  IndexEntry entries[most_entries];
};

enum class Accumulation : int32_t { add, multiply, minimum, maximum };

// An iteration space of `shape` (at least one axis) in row-major order, divided into tiles. Rank r is the r-th position
// where the mask is true, counted from 0. Strides are in elements.
struct Compact {
  const uint8_t* mask;
  int64_t* base;       // [tiles + 1]: the number of true positions before each tile, then the total
  uint32_t* counter;   // zero, and left zero
  const void* x;       // select: what is selected; spread: the result where the mask is false, null for zeros
  const void* source;  // spread: element r goes to rank r
  void* out;
  int32_t ndim, itemsize;
  int64_t size, tile, tiles, shape[max_dims], mask_strides[max_dims], x_strides[max_dims], out_strides[max_dims];
  int64_t source_size, source_stride;
  int64_t capacity;  // elements of out; select and nonzero set those beyond the total to `fill`
  unsigned char fill[16];
};

// `more` becomes whether the part runs: where `condition` is true and, for a loop, fewer than `limit` rounds were
// begun, which `rounds` counts (null for a part that runs once at most). A loop that would go on beyond the limit is a
// fault.
struct Condition {
  const bool* condition;
  int64_t* rounds;
  int64_t limit;
  uint32_t* more;
  uint64_t handle;  // cuda: cudaGraphConditionalHandle, which gets the same
  ErrorSlot slot;
  uint16_t op;
};

}  // namespace stator::params

namespace stator::kernels::indexing {

extern Launcher<void(const Queue&, const params::Take&)> take;

// other = x at the indices; 0 where an index is outside. Moves items of x's size.
extern Launcher<void(const Queue&, const params::Indexed&)> get;
// x at the indices = other. If several positions have one element of x, the last one in row-major order wins on the
// fast host, and on other targets with `claims`, which takes three launches. Without claims it is one launch and any
// may win.
extern Launcher<void(const Queue&, const params::Indexed&, uint64_t* claims)> put;
// The number of claims that put needs; 0 if the last one wins in any case.
extern Launcher<int64_t(const DeviceLimits&, const params::Indexed&)> claims;
// x at the indices op= other. x is int32 (other: bool and integers of up to 32 bits), int64 (uint32, int64, uint64),
// uint64, float32 (float16, bfloat16, float32) or float64. in_order: in row-major order, so that equal input gives
// equal bits; else by atomics (the fast host is always in order).
extern Launcher<void(const Queue&, const params::Indexed&, params::Accumulation, bool in_order)> accumulate;

inline constexpr int64_t most_tiles = 1024;
// Elements per tile such that there are at most most_tiles.
extern Launcher<int64_t(const DeviceLimits&, int64_t size)> tile;
extern Launcher<void(const Queue&, const params::Compact&)> count;  // sets `base`
// After count. out[r] = x at rank r, for r < capacity; the rest is `fill`.
extern Launcher<void(const Queue&, const params::Compact&)> select;
// After count. out = source[r] at rank r and x elsewhere. At a rank beyond the source out is x, and the rank goes to
// the error slot. Where x is out itself, of the same strides, only the elements of ranks are written.
extern Launcher<void(const Queue&, const params::Compact&)> spread;
// After count. With `columns`, out[d * capacity + r] is coordinate d of rank r; else out[r] is the sum of its
// coordinates times x_strides. out is int64; the rest is `fill`.
extern Launcher<void(const Queue&, const params::Compact&, bool columns)> nonzero;
// Decides, within a graph, whether a part of it runs.
extern Launcher<void(const Queue&, const params::Condition&)> condition;

}  // namespace stator::kernels::indexing
