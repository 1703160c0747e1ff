#include "ops/convolution/geometry.hpp"
#include "params/convolution.hpp"

#include <stator/creation.hpp>

#include <string>

namespace stator::nn {
namespace {

// The windows of images of `height` x `width`, which stand in the last two of three axes of options.
params::Windows windows_of(const OpCall& call, const WindowOptions& o, const int64_t (&extent)[2]) {
  int64_t taps[Geometry::most], stride[Geometry::most], padding[Geometry::most], dilation[Geometry::most];
  option_per_axis(call, "kernel_size", o.kernel, 1, 2, taps);
  option_per_axis(call, "stride", o.stride, 1, 2, stride);
  option_per_axis(call, "padding", o.padding, 0, 2, padding);
  option_per_axis(call, "dilation", o.dilation, 1, 2, dilation);
  params::Windows p{};
  for (int d = 0; d < 2; ++d) {
    p.extent[d] = extent[d];
    p.taps[d] = taps[d + 1];
    p.stride[d] = stride[d + 1];
    p.padding[d] = padding[d + 1];
    p.dilation[d] = dilation[d + 1];
    const int64_t reach = p.dilation[d] * (p.taps[d] - 1) + 1, room = p.extent[d] + 2 * p.padding[d];
    if (p.extent[d] < 1 || room < reach)
      throw ShapeError(std::string(call.name()),
                       "got a window of " + std::to_string(reach) + " elements on an axis of " +
                           std::to_string(p.extent[d]) + " and " + std::to_string(2 * p.padding[d]) + " of padding",
                       "the window must fit into the padded axis. Pass smaller windows or more padding");
    p.count[d] = (room - reach) / p.stride[d] + 1;
  }
  return p;
}

// Fills `out` from a dense copy of x, where needed.
void start(OpCall& call, params::Windows& p, const Array& x, const Array& out,
           const kernels::Launcher<void(const params::Queue&, const params::Windows&)>& launcher) {
  if (out.size() == 0) return;
  const Array dense = x.is_contiguous() ? x : copy(x, call.on());
  call.reads(dense);
  call.writes(out);
  p.from = dense.data_ptr();
  p.to = out.data_ptr();
  p.dtype = x.dtype();
  launcher(call.queue(), p);
}

}  // namespace

Array unfold(const Array& x, const WindowOptions& o, const Stream& stream) {
  OpCall call(Op::unfold, {&x}, stream);
  require_floating(call, x);
  const int first = x.ndim() - 3;
  if (first != 0 && first != 1)
    throw ShapeError(std::string(call.name()), "got x " + str(x.shape()),
                     "pass (n, channels, height, width), or (channels, height, width)");
  params::Windows p = windows_of(call, o, {x.shape()[first + 1], x.shape()[first + 2]});
  p.samples = first ? x.shape()[0] : 1;
  p.channels = x.shape()[first];
  Dims shape(first + 2);
  if (first) shape[0] = p.samples;
  shape[first] = p.channels * p.taps[0] * p.taps[1];
  shape[first + 1] = p.count[0] * p.count[1];
  Array out = call.empty(shape, x.dtype());
  start(call, p, x, out, kernels::convolution::unfold_windows);
  return out;
}

Array fold(const Array& x, const Dims& size, const WindowOptions& o, const Stream& stream) {
  OpCall call(Op::fold, {&x}, stream);
  require_floating(call, x);
  const int first = x.ndim() - 2;
  if (first != 0 && first != 1)
    throw ShapeError(std::string(call.name()), "got x " + str(x.shape()),
                     "pass (n, channels * taps, windows), or (channels * taps, windows)");
  int64_t extent[Geometry::most];
  option_per_axis(call, "output_size", size, 1, 2, extent);
  params::Windows p = windows_of(call, o, {extent[1], extent[2]});
  const int64_t rows = x.shape()[first], taps = p.taps[0] * p.taps[1], windows = p.count[0] * p.count[1];
  if (rows % taps != 0 || x.shape()[first + 1] != windows)
    throw ShapeError(
        std::string(call.name()),
        "got x " + str(x.shape()) + " for windows of " + std::to_string(taps) + " elements, " +
            std::to_string(windows) + " in an image",
        "the last two axes must be channels * " + std::to_string(taps) + " and " + std::to_string(windows));
  p.samples = first ? x.shape()[0] : 1;
  p.channels = rows / taps;
  Dims shape(first + 3);
  if (first) shape[0] = p.samples;
  shape[first] = p.channels;
  shape[first + 1] = p.extent[0];
  shape[first + 2] = p.extent[1];
  Array out = call.empty(shape, x.dtype());
  start(call, p, x, out, kernels::convolution::fold_windows);
  return out;
}

}  // namespace stator::nn
