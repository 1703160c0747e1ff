// Parameters of the movement launchers. Items are moved as bits of their size. Outputs are dense and row-major, strides
// are in elements.
#pragma once

#include "params/launcher.hpp"

namespace stator::params {

// Which element of an input axis of extent n an output coordinate reads. c is the coordinate minus the shift: element c
// if it is in 0..n-1. Otherwise inside: none, so the result is the fill value; edge: the nearest end; reflect and
// symmetric: the mirror image, without and with the end element repeated; wrap: c modulo n.
enum class AxisRule : int32_t { inside, edge, reflect, symmetric, wrap };

struct AxisMap {
  AxisRule rule;
  int64_t extent;  // of the output
  int64_t n, stride, shift;
};

// out[c...] = in[the rule of each axis applied to c], for roll and pad. At least one axis; the innermost is last.
struct Rearrange {
  void* out;
  const void* in;
  int32_t itemsize, ndim;
  int64_t size;
  alignas(16) unsigned char fill[16];
  AxisMap axes[max_dims];
};

// Arrays joined along the middle axis of [outer, n, inner].
struct ConcatPiece {
  const void* data;
  int64_t begin;  // sum of n * inner of the pieces before it
  int64_t outer_stride, axis_stride, inner_stride;
};
struct Concat {
  void* out;
  const ConcatPiece* pieces;  // read before the launcher returns; no piece is empty
  int32_t count, itemsize;
  int64_t outer, inner, cols;  // cols: sum of n * inner of all pieces
};

// The indices that repeat() with counts takes: out[i] = k for i in [ends[k - 1], ends[k]). `ends` has n elements.
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
