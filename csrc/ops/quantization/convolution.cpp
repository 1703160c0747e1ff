// Convolutions of bytes: their windows are rows of a matrix, whose product has the epilogue of the other products.
#include "ops/quantization/product.hpp"
#include "ops/window_options.hpp"

#include <stator/movement.hpp>

#include <string>
#include <string_view>

namespace stator::nn {
namespace {

constexpr int most = spatial_axes;

int64_t product(const int64_t (&x)[most]) { return x[0] * x[1] * x[2]; }

// A shape with its spatial axes, for an error.
std::string axes_text(std::string_view first, std::string_view prefix, int axes) {
  std::string text = "(" + std::string(first);
  for (int d = most - axes; d < most; ++d) text += ", " + std::string(prefix) + "dhw"[d];
  return text + ")";
}

// The windows of x for the weight. ShapeError, ValueError.
params::ByteWindows windows_of(const OpCall& call, const Array& x, const Array& weight, int axes,
                               const QuantizedConvolutionOptions& o) {
  const std::string op(call.name());
  if (o.groups < 1) throw ValueError(op, "groups=" + std::to_string(o.groups), "pass a number of at least 1");
  if (x.ndim() != axes + 2 || weight.ndim() != axes + 2 || x.shape()[1] != weight.shape()[1] * o.groups ||
      weight.shape()[0] % o.groups != 0)
    throw ShapeError(op,
                     "got x " + str(x.shape()) + " and weight " + str(weight.shape()) + " in " +
                         std::to_string(o.groups) + " groups",
                     "pass x " + axes_text("n, c", "", axes) + " and weight " +
                         axes_text("out, c / groups", "k", axes) + ", with out a multiple of groups");
  params::ByteWindows w{};
  w.n = x.shape()[0];
  w.channels = x.shape()[1];
  w.groups = o.groups;
  option_per_axis(call, "stride", o.stride, 1, axes, w.stride);
  option_per_axis(call, "padding", o.padding, 0, axes, w.padding);
  option_per_axis(call, "dilation", o.dilation, 1, axes, w.dilation);
  for (int d = 0; d < most; ++d) {
    const int at = d + 2 + axes - most;
    const bool there = d >= most - axes;
    if (!there) w.padding[d] = 0, w.stride[d] = w.dilation[d] = 1;
    w.extent[d] = there ? x.shape()[at] : 1;
    w.kernel[d] = there ? weight.shape()[at] : 1;
    const int64_t room = w.extent[d] + 2 * w.padding[d] - w.dilation[d] * (w.kernel[d] - 1) - 1;
    if (w.kernel[d] < 1 || room < 0)
      throw ShapeError(op,
                       "got weight " + str(weight.shape()) + " for x " + str(x.shape()) + " with padding " +
                           std::to_string(w.padding[d]),
                       "pass windows of at least one element that fit into the padded image");
    w.windows[d] = room / w.stride[d] + 1;
  }
  return w;
}

Array convolve(Op kind, const Array& x, const Array& weight, int axes, const QuantizedConvolutionOptions& options,
               const Stream& stream) {
  const QuantizedProductOptions& o = options.product;
  OpCall call(kind,
              {&x, &weight, o.scale_a.array, o.scale_b.array, o.zero_point_a.array, o.zero_point_b.array, o.bias,
               o.scale_out.array, o.zero_point_out.array},
              stream);
  check_bytes(call, x, "x", weight, "weight");
  params::ByteWindows w = windows_of(call, x, weight, axes, options);
  const int64_t groups = w.groups, outputs = weight.shape()[0], each = outputs / groups, windows = product(w.windows);
  const int64_t taps = weight.shape()[1] * product(w.kernel);
  std::vector<Array> operands;
  params::QuantizedEpilogue p{};
  p.of_cols = product_numbers(call, o.scale_a, o.zero_point_a, {"scale_x", "zero_point_x"}, x.dtype(), 1, operands);
  p.of_rows = product_numbers(call, o.scale_b, o.zero_point_b, {"scale_weight", "zero_point_weight"}, weight.dtype(),
                              outputs, operands);
  set_result(call, p, o, outputs, operands);
  Dims shape{w.n, outputs};
  for (int d = most - axes; d < most; ++d) shape.push_back(w.windows[d]);
  checked_size(call.name(), Dims{w.n, groups, windows, taps}, 1);
  const Array out = call.empty(shape, o.dtype);
  if (out.size() == 0) return out;
  const Stream on = call.on();
  const int64_t flat[] = {groups, each, taps};
  Array left = reshape(as_int8(weight, on), flat, {}, on);
  const Array rows = call.empty(Dims{w.n, groups, windows, taps}, DType::int8);
  p.rows = w.n * outputs;
  p.cols = windows;
  p.period = p.row_sum_period = outputs;
  p.matrix_rows = each;
  p.col_sum_pitch = windows;
  p.terms = taps;
  p.bias_of_rows = true;
  w.x = static_cast<const uint8_t*>(dense(call, x, operands));
  w.out = static_cast<uint8_t*>(rows.data_ptr());
  w.flip = uint8_t(p.of_cols.shift);
  w.zero = p.of_cols.zero;
  w.zero_number = p.of_cols.zero_number;
  call.writes(rows);
  if (rows.size() > 0) kernels::quantization::byte_windows(call.queue(), w);
  const Dims whole{w.n, groups, windows};
  if (is_shifted(p.of_cols)) p.row_sums = sums_of(call, left, -1, Dims{groups, each}, operands);
  if (is_shifted(p.of_rows)) p.col_sums = sums_of(call, rows, -1, whole, operands);
  // One group is a batch of only the images, which the library takes.
  Array right = matrix_transpose(rows);
  if (groups == 1) {
    const int64_t matrix[] = {each, taps}, images[] = {w.n, windows, taps};
    left = reshape(left, matrix, {}, on);
    right = matrix_transpose(reshape(rows, images, {}, on));
  }
  launch_product(call, p, left, right, out, operands);
  return out;
}

}  // namespace

Array quantized_conv1d(const Array& x, const Array& weight, const QuantizedConvolutionOptions& o,
                       const Stream& stream) {
  return convolve(Op::quantized_conv1d, x, weight, 1, o, stream);
}
Array quantized_conv2d(const Array& x, const Array& weight, const QuantizedConvolutionOptions& o,
                       const Stream& stream) {
  return convolve(Op::quantized_conv2d, x, weight, 2, o, stream);
}
Array quantized_conv3d(const Array& x, const Array& weight, const QuantizedConvolutionOptions& o,
                       const Stream& stream) {
  return convolve(Op::quantized_conv3d, x, weight, 3, o, stream);
}

}  // namespace stator::nn
