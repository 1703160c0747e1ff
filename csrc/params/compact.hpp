// Parameters of the launchers that number the true places of a mask.
#pragma once

#include "params/launch.hpp"

namespace stator::abi {

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

}  // namespace stator::abi

namespace stator::kernels {

struct CompactTable {
  static constexpr int64_t most_tiles = 1024;
  // Elements of a tile, so that there are at most most_tiles.
  int64_t (*tile)(int64_t size);
  void (*count)(const abi::Queue&, const abi::Compact&);  // fills base
  // After count. out[r] = x at rank r, r < capacity; the rest is `fill`.
  void (*select)(const abi::Queue&, const abi::Compact&);
  // After count. out = source[r] at rank r, x elsewhere. A rank beyond the source goes to the error slot; x stays
  // there.
  void (*spread)(const abi::Queue&, const abi::Compact&);
  // After count. columns: coordinate d of rank r at out[d * capacity + r]; else the sum of coordinates times x_strides
  // at out[r]. int64; the rest is `fill`.
  void (*nonzero)(const abi::Queue&, const abi::Compact&, bool columns);
};

}  // namespace stator::kernels
