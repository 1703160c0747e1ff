// Convolutions over one, two or three axes and their gradients, of namespace nn. Arrays are of any layout in memory,
// and results are contiguous. Sums are in float32 for halves, else in the dtype; equal bits run to run. Asynchronous.
#pragma once

#include <stator/array.hpp>

namespace stator::nn {

// x is (n, channels, ...), with `channels_last` (n, ..., channels), or either without n; the result has the same order
// of axes. Numbers per axis are one for all axes, or one for each. ValueError for numbers out of range, ShapeError if
// extents do not fit, DTypeError unless x, weight and bias have one floating dtype.
struct ConvolutionOptions {
  const Array* bias = nullptr;  // (out_channels,), of x's dtype
  Dims stride{1}, padding{0}, dilation{1};
  // instead of `padding`, for stride 1: zeros that make the result as long as x, the odd one at the end
  bool same = false;
  int64_t groups = 1;
  bool channels_last = false;
  // of transposed convolutions: elements appended to the result, 0 up to max(stride, dilation) - 1
  Dims output_padding{0};
};

// weight is (out_channels, channels / groups, ...), of transposed convolutions (channels, out_channels / groups, ...).
// y[o] = sum of x[o * stride + tap * dilation - padding] * weight[tap] over taps and the channels of a group, plus
// bias.
STATOR_API Array conv1d(const Array& x, const Array& weight, const ConvolutionOptions& = {}, const Stream& = {});
STATOR_API Array conv2d(const Array& x, const Array& weight, const ConvolutionOptions& = {}, const Stream& = {});
STATOR_API Array conv3d(const Array& x, const Array& weight, const ConvolutionOptions& = {}, const Stream& = {});
// y[i * stride + tap * dilation - padding] = sum of x[i] * weight[tap], plus bias: the gradient of a convolution's x.
STATOR_API Array conv_transpose1d(const Array& x, const Array& weight, const ConvolutionOptions& = {},
                                  const Stream& = {});
STATOR_API Array conv_transpose2d(const Array& x, const Array& weight, const ConvolutionOptions& = {},
                                  const Stream& = {});
STATOR_API Array conv_transpose3d(const Array& x, const Array& weight, const ConvolutionOptions& = {},
                                  const Stream& = {});

// Gradients of x, weight and bias, of their shapes and dtype; grad has the shape of the result. The options are those
// of the forward function; its bias is not read.
struct ConvolutionGradients {
  Array x, weight, bias;
};
STATOR_API ConvolutionGradients conv1d_backward(const Array& grad, const Array& x, const Array& weight,
                                                const ConvolutionOptions& = {}, const Stream& = {});
STATOR_API ConvolutionGradients conv2d_backward(const Array& grad, const Array& x, const Array& weight,
                                                const ConvolutionOptions& = {}, const Stream& = {});
STATOR_API ConvolutionGradients conv3d_backward(const Array& grad, const Array& x, const Array& weight,
                                                const ConvolutionOptions& = {}, const Stream& = {});
STATOR_API ConvolutionGradients conv_transpose1d_backward(const Array& grad, const Array& x, const Array& weight,
                                                          const ConvolutionOptions& = {}, const Stream& = {});
STATOR_API ConvolutionGradients conv_transpose2d_backward(const Array& grad, const Array& x, const Array& weight,
                                                          const ConvolutionOptions& = {}, const Stream& = {});
STATOR_API ConvolutionGradients conv_transpose3d_backward(const Array& grad, const Array& x, const Array& weight,
                                                          const ConvolutionOptions& = {}, const Stream& = {});

// The windows of images x (n, channels, height, width), or of one (channels, height, width): (n, channels * taps,
// windows), both in row-major order. Each is the gradient of the other.
struct WindowOptions {
  Dims kernel, stride{1}, padding{0}, dilation{1};
};
STATOR_API Array unfold(const Array& x, const WindowOptions&, const Stream& = {});
// x (n, channels * taps, windows), or without n: images of `size` (height, width), where windows that overlap add up.
STATOR_API Array fold(const Array& x, const Dims& size, const WindowOptions&, const Stream& = {});

}  // namespace stator::nn
