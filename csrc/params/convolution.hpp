// Parameters of the convolution launchers.
#pragma once

#include "params/launcher.hpp"

namespace stator::params {

inline constexpr int window_axes = 3;  // convolutions over fewer axes have extents of 1 in front

// How an operand lies in memory: (samples, groups, channels of a group, positions), strides in elements.
struct Image {
  const void* data;
  int64_t sample, group, channel, axis[window_axes];
  int64_t extent[window_axes];
};

// Weights (groups, rows, channels, taps), where a row is a channel of the result.
struct Weights {
  const void* data;
  int64_t group, row, channel, axis[window_axes];
  int64_t taps[window_axes];
};

// result[n, g, row, q] = bias[g * rows + row] + the sum over channels and taps f of
// source[n, g, channel, position(q, f)] * weight[g, row, channel, f], where on each axis
//   forward:     position = q * stride + f * dilation - padding
//   transposed:  position * stride = q + padding - f * dilation
// and positions that do not exist hold zeros. The transposed one is the gradient of the other's source, and so falls
// apart into `stride` convolutions per axis: one for each remainder of q.
struct Convolution {
  Image source;
  Weights weight;
  const void* bias;  // dense, or null
  Image result;      // its data is written
  void* packed;      // scratch, as convolution_scratch says
  DType dtype;
  bool transposed;
  int64_t samples, groups, rows, channels;
  int64_t stride[window_axes], padding[window_axes], dilation[window_axes];
};

// dweight[g, row, channel, f] = the sum over samples and positions q of
// grad[n, g, row, q] * source[n, g, channel, q * stride + f * dilation - padding].
struct WeightGradient {
  Image source, grad;
  Weights dweight;  // its data is written
  void* partials;   // scratch, as weight_gradient_scratch says
  DType dtype;
  int64_t samples, groups, rows, channels;
  int64_t stride[window_axes], padding[window_axes], dilation[window_axes];
};

// columns (samples, channels, taps, windows), dense, are the windows of dense images (samples, channels, positions).
// unfold copies those out, fold adds up what each position has been copied to.
struct Windows {
  const void* from;
  void* to;
  DType dtype;
  int64_t samples, channels;
  int64_t extent[2], taps[2], count[2];  // count: of windows
  int64_t stride[2], padding[2], dilation[2];
};

}  // namespace stator::params

namespace stator::kernels::convolution {

extern Launcher<void(const Queue&, const params::Convolution&)> convolve;
extern Launcher<int64_t(const DeviceLimits&, const params::Convolution&)> convolution_scratch;  // bytes
extern Launcher<void(const Queue&, const params::WeightGradient&)> weight_gradient;
extern Launcher<int64_t(const DeviceLimits&, const params::WeightGradient&)> weight_gradient_scratch;  // bytes
extern Launcher<void(const Queue&, const params::Windows&)> unfold_windows;
extern Launcher<void(const Queue&, const params::Windows&)> fold_windows;

}  // namespace stator::kernels::convolution
