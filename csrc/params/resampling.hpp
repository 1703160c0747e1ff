// Parameters of the resampling launchers. Arrays are contiguous.
#pragma once

#include "params/launcher.hpp"

namespace stator::params {

// Planes, before and after, have at most this many elements.
inline constexpr int64_t max_resampled = int64_t(1) << 30;

enum class Interpolation : int32_t { nearest, nearest_exact, linear, cubic };

// (planes, axes...). An axis that is not there has extents of 1.
struct Interpolate {
  static constexpr int dims = 3;
  const void* x;  // backward: the gradient
  void* out;
  DType dtype;
  Interpolation mode;
  bool align_corners;
  int64_t planes;
  int32_t in[dims], out_extent[dims];
  double scale[dims];  // the step in x from one result to the next
};

enum class GridMode : int32_t { nearest, linear, cubic };
enum class GridPadding : int32_t { zeros, border, reflection };

// x (samples, channels, in...) at grid (samples, out..., axes), with out = points positions; `axes` is 2 or 3, and
// in[0] is 1 for 2.
struct GridSample {
  static constexpr int dims = 3, most_taps = 16;
  const void *x, *grid;
  const void* grad;  // backward: (samples, channels, points)
  void* out;         // forward: (samples, channels, points). backward: the gradient of x
  void* grid_grad;   // backward
  // Backward, of each tap of each position: the element of (samples, in...) that it reads, or as many as there are, and
  // its weight, which is float64 for float64 and float32 else.
  void* keys;
  void* weights;
  void* sums;              // backward, where there are no keys: `out`, or scratch for its sums in float32
  DType dtype, key_dtype;  // keys: uint32 or int64
  GridMode mode;
  GridPadding padding;
  bool align_corners;
  int32_t axes;
  int64_t samples, channels, points;
  int32_t in[dims];
};
// The gradient of x, by the sorted keys.
struct GridGather {
  GridSample sample;
  const void* sorted;    // keys
  const int64_t* order;  // what they were sorted from
  int64_t entries;       // of them
};

// How many elements of x each position reads.
inline int32_t grid_taps(const GridSample& p) {
  if (p.mode == GridMode::nearest) return 1;
  return p.mode == GridMode::cubic ? 16 : p.axes == 2 ? 4 : 8;
}

}  // namespace stator::params

namespace stator::kernels::resampling {

extern Launcher<void(const Queue&, const params::Interpolate&)> interpolate;
extern Launcher<void(const Queue&, const params::Interpolate&)> interpolate_backward;
extern Launcher<void(const Queue&, const params::GridSample&)> grid_sample;
extern Launcher<bool(const DeviceLimits&)> grid_sorts;  // whether the gradient of x needs keys that are sorted
extern Launcher<void(const Queue&, const params::GridSample&)> grid_taps_backward;
extern Launcher<void(const Queue&, const params::GridGather&)> grid_gather;

}  // namespace stator::kernels::resampling
