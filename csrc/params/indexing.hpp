// Parameters of the indexing launchers.
#pragma once

#include "params/launcher.hpp"

namespace stator::params {

// out[o, k, i] = x[o, indices[k], i]: x is [outer, n, inner] with element strides, out is contiguous [outer, count,
// inner]. An index outside -n..n-1 reads 0 and goes to the error slot. Moves bytes, so only the item size matters.
struct Take {
  const void* x;
  const void* indices;
  void* out;
  int32_t itemsize;
  DType index_dtype;  // any integer dtype
  int64_t outer, n, inner, count;
  int64_t x_strides[3], index_stride;
};

// One array of indices. Its index i stands for i * step elements of the indexed array, after -extent..-1 is wrapped; an
// index outside goes to the error slot. raw: the entries are such offsets themselves, and right.
struct IndexEntry {
  const void* data;
  DType dtype;  // any integer dtype
  bool raw;
  int64_t extent, step;
  int64_t strides[max_dims];
};

// A space of `shape` (at least one axis, size > 0). Its place c is element other[c . other_strides] of the dense side
// and x[c . x_strides + what every entry adds] of the indexed one. An axis along which x_strides is 0 may meet the same
// element of x again; any other does not.
struct Indexed {
  static constexpr int most_entries = 8;
  void* x;
  void* other;  // null: `value`
  DType x_dtype, other_dtype;
  int32_t ndim, entry_count;
  int64_t size, shape[max_dims], x_strides[max_dims], other_strides[max_dims];
  int64_t x_begin, x_end;   // offsets of x that can occur
  unsigned char value[16];  // of x's dtype
  IndexEntry entries[most_entries];
};

enum class Accumulation : int32_t { add, multiply, minimum, maximum };

// A space of `shape` (at least one axis) in row-major order, cut into tiles; rank r is the r-th place where the mask is
// true. Strides are in elements.
struct Compact {
  const uint8_t* mask;
  int64_t* base;       // tiles + 1: true places before each tile, then all of them
  uint32_t* counter;   // zero, and left zero
  const void* x;       // select: from where; spread: what stays where the mask is false, null for zeros
  const void* source;  // spread: element r goes to rank r
  void* out;
  int32_t ndim, itemsize;
  int64_t size, tile, tiles, shape[max_dims], mask_strides[max_dims], x_strides[max_dims], out_strides[max_dims];
  int64_t source_size, source_stride;
  int64_t capacity;  // elements of out: select and nonzero fill what is left over
  unsigned char fill[16];
};

}  // namespace stator::params

namespace stator::kernels::indexing {

extern Launcher<void(const Queue&, const params::Take&)> take;

// other = x at the indices; 0 where one is outside. Moves bytes of x's item size.
extern Launcher<void(const Queue&, const params::Indexed&)> get;
// x at the indices = other. Of places that meet, the last in row-major order stays on the hosts' fast targets;
// elsewhere any of them, or with `claims` the last: three launches, one without.
extern Launcher<void(const Queue&, const params::Indexed&, uint64_t* claims)> put;
extern Launcher<int64_t(const DeviceLimits&, const params::Indexed&)> claims;  // how many numbers that is: 0 where the last stays in any case
// x at the indices op= other. x is int32 (other: bool and integers of up to 32 bits), int64 (uint32, int64, uint64),
// uint64, float32 (float16, bfloat16, float32) or float64. in_order: in row-major order,
// so that equal input gives equal bits; else atomic (the fast host is always in order).
extern Launcher<void(const Queue&, const params::Indexed&, params::Accumulation, bool in_order)> accumulate;

inline constexpr int64_t most_tiles = 1024;
// Elements of a tile, so that there are at most most_tiles.
extern Launcher<int64_t(const DeviceLimits&, int64_t size)> tile;
extern Launcher<void(const Queue&, const params::Compact&)> count;  // fills base
// After count. out[r] = x at rank r, r < capacity; the rest is `fill`.
extern Launcher<void(const Queue&, const params::Compact&)> select;
// After count. out = source[r] at rank r, x elsewhere. A rank beyond the source goes to the error slot; x stays
// there.
extern Launcher<void(const Queue&, const params::Compact&)> spread;
// After count. columns: coordinate d of rank r at out[d * capacity + r]; else the sum of coordinates times x_strides
// at out[r]. int64; the rest is `fill`.
extern Launcher<void(const Queue&, const params::Compact&, bool columns)> nonzero;

}  // namespace stator::kernels::indexing
