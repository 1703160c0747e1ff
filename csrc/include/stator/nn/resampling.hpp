// Arrays (n, channels, spatial...) at other positions, of namespace nn. Asynchronous; equal bits from run to run.
#pragma once

#include <stator/array.hpp>

#include <string_view>
#include <vector>

namespace stator::nn {

// 1 to 3 spatial axes. Either size, the spatial extents of the result, or scale, factors of x's; the other is empty
// (ValueError). mode: "nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic" or "area".
// align_corners, of linear modes and bicubic: the first and the last elements of an axis stay where they are.
struct InterpolateOptions {
  Dims size;
  std::vector<double> scale;
  std::string_view mode = "nearest";
  bool align_corners = false;
};
STATOR_API Array interpolate(const Array& x, const InterpolateOptions&, const Stream& = {});
STATOR_API Array interpolate_backward(const Array& grad, const Array& x, const InterpolateOptions&, const Stream& = {});

// (..., c r^2, h, w) to (..., c, h r, w r), and back. Any dtype.
STATOR_API Array pixel_shuffle(const Array& x, int64_t factor, const Stream& = {});
STATOR_API Array pixel_unshuffle(const Array& x, int64_t factor, const Stream& = {});

// x (n, channels, h, w) at grid (n, ho, wo, 2), or x (n, channels, d, h, w) at grid (n, do, ho, wo, 3). The last axis
// has positions from -1 to 1, that along the last axis first. mode: "bilinear", "nearest", or, for x of four axes,
// "bicubic" (ShapeError otherwise). padding: "zeros", "border" or "reflection". align_corners: -1 and 1 are the centres
// of the outer elements, not their edges.
struct GridSampleOptions {
  std::string_view mode = "bilinear", padding = "zeros";
  bool align_corners = false;
};
STATOR_API Array grid_sample(const Array& x, const Array& grid, const GridSampleOptions& = {}, const Stream& = {});
struct GridSampleGradients {
  Array x, grid;
};
STATOR_API GridSampleGradients grid_sample_backward(const Array& grad, const Array& x, const Array& grid,
                                                    const GridSampleOptions& = {}, const Stream& = {});

}  // namespace stator::nn
