// The shape rules of convolutions, and what they make of their operands.
#pragma once

#include "core/op_call.hpp"
#include "ops/window_options.hpp"
#include "params/convolution.hpp"

#include <stator/nn/convolution.hpp>

#include <cstdint>

namespace stator::nn {

// A convolution and its transposed one are one geometry: `wide` is the operand that windows are taken of (x of a
// convolution, the result of a transposed one) and `narrow` has an element per window. The weight is
// (groups * narrow_channels, wide_channels, taps). Extents are of three axes, 1 in front of those there are.
struct Geometry {
  static constexpr int most = params::window_axes;
  static_assert(most == spatial_axes);
  int axes;
  bool transposed, channels_last, batched;
  int64_t samples, groups, narrow_channels, wide_channels;  // channels of one group
  int64_t wide[most], narrow[most], taps[most], stride[most], padding[most], dilation[most];
  Dims result;  // the shape of the forward function's result
};

// ShapeError, DTypeError and ValueError by the rules of the forward function.
Geometry geometry_of(const OpCall& call, const Array& x, const Array& weight, int axes, bool transposed,
                     const ConvolutionOptions& o);
void require_floating(const OpCall& call, const Array& x);
// `a`, called `what`, must have this shape and x's dtype.
void check_operand(const OpCall& call, const Array& a, const char* what, const Dims& shape, const Array& x);

// How an operand or result lies in memory; `channels` of one group.
params::Image image_of(const Geometry& g, const Array& a, int64_t channels);
// `turned`: a row is a channel of the wide operand.
params::Weights weights_of(const Geometry& g, const Array& weight, bool turned);

}  // namespace stator::nn
