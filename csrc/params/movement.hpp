// Parameters of the movement launchers. They move words of the item's size; outputs are dense and row-major, strides
// are in elements.
#pragma once

#include "params/launcher.hpp"

namespace stator::params {

// Which element of an input axis of n an output coordinate reads, c being the coordinate less the shift. Outside of
// 0..n-1: nothing (the fill value), the nearest end, the mirror image with or without the end twice, or c modulo n.
enum class AxisRule : int32_t { inside, edge, reflect, symmetric, wrap };

struct AxisMap {
  AxisRule rule;
  int64_t extent;  // of the output
  int64_t n, stride, shift;
};

// out[c...] = in[rule of each c]: roll and pad. At least one axis; the innermost is last.
struct Rearrange {
  void* out;
  const void* in;
  int32_t itemsize, ndim;
  int64_t size;
  alignas(16) unsigned char fill[16];
  AxisMap axes[max_dims];
};

// One after the other along the middle axis of [outer, n, inner].
struct ConcatPiece {
  const void* data;
  int64_t begin;  // n * inner of the pieces before it
  int64_t outer_stride, axis_stride, inner_stride;
};
struct Concat {
  void* out;
  const ConcatPiece* pieces;  // read before the launcher returns; none is empty
  int32_t count, itemsize;
  int64_t outer, inner, cols;  // cols: n * inner of all pieces
};

// out[ends[k - 1]..ends[k]) = k, ends of n entries: what repeat() with counts takes.
struct RepeatedCounts {
  const int64_t* ends;
  int64_t* out;
  int64_t n, size;
};

}  // namespace stator::params

namespace stator::kernels::movement {

extern Launcher<void(const Queue&, const params::Rearrange&)> rearrange;
extern Launcher<void(const Queue&, const params::Concat&)> concat;  // one launch for up to 640 pieces
extern Launcher<void(const Queue&, const params::RepeatedCounts&)> repeat_indices;

}  // namespace stator::kernels::movement
