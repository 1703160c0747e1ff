#include "ops/convolution/geometry.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace stator::nn {
namespace {

constexpr int64_t index_limit = std::numeric_limits<int32_t>::max();

std::string text(int64_t number) { return std::to_string(number); }

std::string listed(const int64_t* numbers, int axes) {
  return str(Dims(std::span<const int64_t>(numbers + Geometry::most - axes, size_t(axes))));
}

void check_ranks(const OpCall& call, const Array& x, const Array& weight, int axes) {
  const std::string op(call.name());
  if (x.ndim() != axes + 1 && x.ndim() != axes + 2)
    throw ShapeError(op, "got x " + str(x.shape()) + " of " + text(x.ndim()) + " axes",
                     "pass " + text(axes + 2) + " axes, or " + text(axes + 1) + " for one sample");
  if (weight.ndim() != axes + 2)
    throw ShapeError(op, "got weight " + str(weight.shape()) + " of " + text(weight.ndim()) + " axes",
                     "pass " + text(axes + 2) + " axes: two of channels, and " + text(axes) + " of the kernel");
  for (int d = 0; d < weight.ndim(); ++d)
    if (weight.shape()[d] == 0)
      throw ShapeError(op, "got weight " + str(weight.shape()), "every axis must have at least one element");
  for (int d = x.ndim() == axes + 2; d < x.ndim(); ++d)
    if (x.shape()[d] == 0)
      throw ShapeError(op, "got x " + str(x.shape()), "every axis but that of samples must have at least one element");
}

void set_channels(const OpCall& call, Geometry& g, const Array& x, const Array& weight) {
  const std::string op(call.name());
  const int64_t channels = x.shape()[g.channels_last ? x.ndim() - 1 : x.ndim() - g.axes - 1];
  const int64_t first = weight.shape()[0], second = weight.shape()[1];
  if (g.groups < 1) throw ValueError(op, "groups=" + text(g.groups), "pass 1 or more");
  if (first % g.groups != 0)
    throw ShapeError(op, "got weight " + str(weight.shape()) + " with groups=" + text(g.groups),
                     "the number of groups must divide the first axis of the weight");
  if (channels != (g.transposed ? first : second * g.groups))
    throw ShapeError(op,
                     "got x " + str(x.shape()) + " of " + text(channels) + " channels for weight " +
                         str(weight.shape()) + " with groups=" + text(g.groups),
                     "the channels of x must be " + text(g.transposed ? first : second * g.groups) +
                         ". Change x, the weight or the number of groups");
  g.narrow_channels = first / g.groups;
  g.wide_channels = second;
}

void set_padding(const OpCall& call, Geometry& g, const ConvolutionOptions& o) {
  if (!o.same) return option_per_axis(call, "padding", o.padding, 0, g.axes, g.padding);
  const std::string op(call.name());
  for (int d = 0; d < Geometry::most; ++d) {
    if (g.stride[d] != 1)
      throw ValueError(op, "padding='same' with stride=" + listed(g.stride, g.axes),
                       "the stride must be 1. Pass numbers as padding for other strides");
    g.padding[d] = g.dilation[d] * (g.taps[d] - 1) / 2;
  }
}

// The extents of the result, in `narrow` or, of a transposed convolution, in `wide`.
void set_extents(const OpCall& call, Geometry& g, const Array& x, const ConvolutionOptions& o) {
  const std::string op(call.name());
  int64_t beyond[Geometry::most] = {};
  if (g.transposed) option_per_axis(call, "output_padding", o.output_padding, 0, g.axes, beyond);
  const int first = Geometry::most - g.axes, spatial = g.channels_last ? x.ndim() - g.axes - 1 : x.ndim() - g.axes;
  std::fill_n(g.wide, Geometry::most, 1);
  std::fill_n(g.narrow, Geometry::most, 1);
  for (int d = first; d < Geometry::most; ++d) {
    const int64_t length = x.shape()[spatial + d - first], reach = g.dilation[d] * (g.taps[d] - 1) + 1;
    const int64_t zeros = o.same ? reach - 1 : 2 * g.padding[d];
    (g.transposed ? g.narrow : g.wide)[d] = length;
    if (g.transposed) {
      if (beyond[d] >= std::max(g.stride[d], g.dilation[d]))
        throw ValueError(op,
                         "output_padding=" + listed(beyond, g.axes) + " with stride=" + listed(g.stride, g.axes) +
                             " and dilation=" + listed(g.dilation, g.axes),
                         "each must be smaller than the larger of stride and dilation");
      g.wide[d] = (length - 1) * g.stride[d] + reach + beyond[d] - zeros;
      if (g.wide[d] < 0)
        throw ShapeError(op,
                         "got x " + str(x.shape()) + " with kernel " + listed(g.taps, g.axes) + " and padding " +
                             listed(g.padding, g.axes) + ", whose result would have length " + text(g.wide[d]),
                         "the length must be at least 0. Pass less padding");
    } else {
      if (length + zeros < reach)
        throw ShapeError(
            op,
            "got a kernel that spans " + text(reach) + " elements on an axis of " + text(length) + " and " +
                text(zeros) + " of padding",
            "the kernel must fit into the padded axis. Pass a smaller kernel or dilation, or more padding");
      g.narrow[d] = (length + zeros - reach) / g.stride[d] + 1;
    }
  }
  double narrow = 1, wide = 1;
  int64_t longest = 0;
  for (int d = 0; d < Geometry::most; ++d) {
    narrow *= double(g.narrow[d]);
    wide *= double(g.wide[d]);
    longest = std::max(longest, g.wide[d] + 2 * g.padding[d]);
  }
  const double depth = double(g.taps[0]) * double(g.taps[1]) * double(g.taps[2]) *
                       double(std::max(g.narrow_channels, g.wide_channels) + 8);
  if (std::max({narrow, wide, depth, double(longest)}) > double(index_limit))
    throw UnsupportedError(op, "got a padded axis, or elements of a channel, a result or a kernel, of at least 2^31",
                           "each must be less than 2^31. Split the operands");
}

}  // namespace

void require_floating(const OpCall& call, const Array& x) {
  if (!in(x.dtype(), dtypes::floats))
    throw DTypeError(std::string(call.name()), "got an array of dtype " + std::string(name(x.dtype())),
                     "pass float16, bfloat16, float32 or float64; astype converts");
}

void check_operand(const OpCall& call, const Array& a, const char* what, const Dims& shape, const Array& x) {
  const std::string op(call.name());
  if (!(a.shape() == shape))
    throw ShapeError(op, "got " + std::string(what) + " " + str(a.shape()) + " for x " + str(x.shape()),
                     "pass an array of shape " + str(shape));
  if (a.dtype() != x.dtype())
    throw DTypeError(
        op, std::string(what) + " is " + std::string(name(a.dtype())) + ", x is " + std::string(name(x.dtype())),
        "convert one with astype");
}

Geometry geometry_of(const OpCall& call, const Array& x, const Array& weight, int axes, bool transposed,
                     const ConvolutionOptions& o) {
  require_floating(call, x);
  check_ranks(call, x, weight, axes);
  check_operand(call, weight, "weight", weight.shape(), x);
  Geometry g{};
  g.axes = axes;
  g.transposed = transposed;
  g.channels_last = o.channels_last;
  g.batched = x.ndim() == axes + 2;
  g.samples = g.batched ? x.shape()[0] : 1;
  g.groups = o.groups;
  set_channels(call, g, x, weight);
  const int first = Geometry::most - axes;
  for (int d = 0; d < Geometry::most; ++d) {
    g.stride[d] = g.dilation[d] = 1;
    g.taps[d] = d < first ? 1 : weight.shape()[2 + d - first];
  }
  option_per_axis(call, "stride", o.stride, 1, axes, g.stride);
  option_per_axis(call, "dilation", o.dilation, 1, axes, g.dilation);
  set_padding(call, g, o);
  set_extents(call, g, x, o);
  g.result = x.shape();
  g.result[o.channels_last ? x.ndim() - 1 : x.ndim() - axes - 1] =
      g.groups * (transposed ? g.wide_channels : g.narrow_channels);
  for (int d = first; d < Geometry::most; ++d)
    g.result[x.ndim() - axes - o.channels_last + d - first] = (transposed ? g.wide : g.narrow)[d];
  if (o.bias)
    check_operand(call, *o.bias, "bias", Dims{g.result[o.channels_last ? x.ndim() - 1 : x.ndim() - axes - 1]}, x);
  return g;
}

params::Image image_of(const Geometry& g, const Array& a, int64_t channels) {
  params::Image image{};
  const int spatial = a.ndim() - g.axes - g.channels_last, first = Geometry::most - g.axes;
  image.data = a.data_ptr();
  image.sample = g.batched ? a.strides()[0] : 0;
  image.channel = a.strides()[g.channels_last ? a.ndim() - 1 : spatial - 1];
  image.group = channels * image.channel;
  for (int d = 0; d < Geometry::most; ++d) {
    image.extent[d] = d < first ? 1 : a.shape()[spatial + d - first];
    image.axis[d] = d < first ? 0 : a.strides()[spatial + d - first];
  }
  return image;
}

params::Weights weights_of(const Geometry& g, const Array& weight, bool turned) {
  params::Weights w{};
  const int first = Geometry::most - g.axes;
  w.data = weight.data_ptr();
  w.group = g.narrow_channels * weight.strides()[0];
  w.row = weight.strides()[turned];
  w.channel = weight.strides()[!turned];
  for (int d = 0; d < Geometry::most; ++d) {
    w.taps[d] = g.taps[d];
    w.axis[d] = d < first ? 0 : weight.strides()[2 + d - first];
  }
  return w;
}

}  // namespace stator::nn
