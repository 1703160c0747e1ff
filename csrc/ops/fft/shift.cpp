// What accompanies the transforms: shifts, frequencies, convolution.
#include "core/op_call.hpp"
#include "ops/axes.hpp"
#include "ops/fft/tables.hpp"
#include "params/fft.hpp"

#include <stator/creation.hpp>
#include <stator/elementwise.hpp>
#include <stator/fft.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace stator::fft {
namespace {

std::vector<bool> chosen(std::string_view op, const Array& x, const std::optional<std::vector<int64_t>>& axes) {
  if (!axes) return std::vector<bool>(size_t(x.ndim()), true);
  return named_axes(op, *axes, x.ndim());
}

// Neighbouring axes that are not rolled and step together become one.
Array shifted(Op op, const Array& x, const std::optional<std::vector<int64_t>>& axes, bool back, const Stream& stream) {
  OpCall call(op, {&x}, stream);
  const std::vector<bool> rolled = chosen(call.name(), x, axes);
  const std::vector<int> order = memory_order(x);
  Array result = empty_in_order(call, x.shape(), x.dtype(), order);
  if (result.size() == 0) return result;
  params::Roll p{.x = x.data_ptr(),
                 .out = result.data_ptr(),
                 .itemsize = itemsize(x.dtype()),
                 .ndim = 0,
                 .size = x.size(),
                 .shape = {},
                 .strides = {},
                 .shift = {}};
  for (const int d : order) {
    const int64_t n = x.shape()[d], shift = rolled[size_t(d)] ? (back ? (n + 1) / 2 : n / 2) % n : 0;
    if (n == 1) continue;
    const int last = p.ndim - 1;
    if (last >= 0 && shift == 0 && p.shift[last] == 0 && p.strides[last] == n * x.strides()[d]) {
      p.shape[last] *= n;
      p.strides[last] = x.strides()[d];
      continue;
    }
    p.shape[p.ndim] = n;
    p.strides[p.ndim] = x.strides()[d];
    p.shift[p.ndim++] = shift;
  }
  if (p.ndim == 0) p.shape[p.ndim++] = 1;
  call.reads(x);
  call.writes(result);
  kernels::fft::roll(call.queue(), p);
  return result;
}

Array frequencies(Op op, const Backend& backend, int64_t n, double d, DType dtype, bool half, const Stream& stream) {
  OpCall call(op, backend, stream);
  const std::string name(call.name());
  if (n < 1) throw ShapeError(name, "n = " + std::to_string(n), "the number of samples must be at least 1");
  if (d == 0 || std::isnan(d))
    throw ValueError(name, "d = " + std::to_string(d), "the sample spacing must be neither 0 nor NaN");
  if (!in(dtype, dtypes::floats))
    throw DTypeError(name, "dtype=" + std::string(stator::name(dtype)), "the dtype of frequencies must be floating");
  Array result = call.empty(Dims{half ? n / 2 + 1 : n}, dtype);
  call.writes(result);
  const int64_t count = result.size();
  kernels::fft::frequencies(call.queue(),
                            {result.data_ptr(), dtype, count, half ? count : (n + 1) / 2, 1.0 / (double(n) * d)});
  return result;
}

// `extent` elements of an axis from `start` on.
Array cut(const Array& x, int axis, int64_t start, int64_t extent) {
  Dims shape = x.shape();
  shape[axis] = extent;
  return Array(x.buffer(), x.dtype(), shape, x.strides(), x.offset() + start * x.strides()[axis]);
}

[[noreturn]] void refuse(const Array& a, const Array& b, const char* remedy) {
  throw ShapeError("fft.fftconvolve", "got operands of shapes " + str(a.shape()) + " and " + str(b.shape()), remedy);
}

}  // namespace

Array fftshift(const Array& x, const std::optional<std::vector<int64_t>>& axes, const Stream& stream) {
  return shifted(Op::fftshift, x, axes, false, stream);
}
Array ifftshift(const Array& x, const std::optional<std::vector<int64_t>>& axes, const Stream& stream) {
  return shifted(Op::ifftshift, x, axes, true, stream);
}

Array fftfreq(const Backend& backend, int64_t n, double d, DType dtype, const Stream& stream) {
  return frequencies(Op::fftfreq, backend, n, d, dtype, false, stream);
}
Array rfftfreq(const Backend& backend, int64_t n, double d, DType dtype, const Stream& stream) {
  return frequencies(Op::rfftfreq, backend, n, d, dtype, true, stream);
}

Array fftconvolve(const Array& a, const Array& b, std::string_view mode,
                  const std::optional<std::vector<int64_t>>& axes, const Stream& stream) {
  OpCall call(Op::fftconvolve, {&a, &b}, stream);
  const std::string op(call.name());
  if (mode != "full" && mode != "same" && mode != "valid")
    throw ValueError(op, "mode=\"" + std::string(mode) + "\"", "use \"full\", \"same\" or \"valid\"");
  if (a.ndim() != b.ndim()) refuse(a, b, "both must have the same number of axes");
  const std::vector<bool> along = chosen(op, a, axes);
  bool covers = true, covered = true;
  for (int d = 0; d < a.ndim(); ++d) {
    const int64_t m = a.shape()[d], n = b.shape()[d];
    if (!along[size_t(d)] && m != n && m != 1 && n != 1)
      refuse(a, b, "axes that are not convolved must broadcast: equal extents, or 1");
    covers = covers && (!along[size_t(d)] || m >= n);
    covered = covered && (!along[size_t(d)] || n >= m);
  }
  if (mode == "valid" && !covers && !covered)
    refuse(a, b, "for mode=\"valid\" one operand must be at least as long as the other along every axis");

  const Stream on = call.on();
  const DType dtype = promote(to_inexact(a.dtype()), to_inexact(b.dtype()));
  const bool real = in(dtype, dtypes::floats);
  Options options{std::vector<int64_t>(), std::vector<int64_t>(), "backward"};
  Dims start(a.ndim()), extent = a.shape();
  int64_t size = 1;
  for (int d = 0; d < a.ndim(); ++d) {
    const int64_t m = a.shape()[d], n = b.shape()[d];
    extent[d] = m == 1 ? n : m;
    if (along[size_t(d)]) {
      const int64_t full = m == 0 || n == 0 ? 0 : m + n - 1, least = std::min(m, n);
      extent[d] = mode == "full" ? full : mode == "same" ? m : full == 0 ? 0 : full - 2 * (least - 1);
      start[d] = (full - extent[d]) / 2;
      options.axes->push_back(d);
      options.lengths->push_back(full);
    }
    size *= extent[d];
  }
  if (size == 0 || a.size() == 0 || b.size() == 0 || options.axes->empty()) {
    if (options.axes->empty()) return binary(Op::multiply, a, b, {.dtype = dtype}, on);
    return full(Backend(Ref<Context>(&call.context())), extent, Scalar(0.0), dtype, on);
  }
  for (int64_t& n : *options.lengths) n = convenient_length(n);
  const Array left = astype(a, dtype, false, on), right = astype(b, dtype, false, on);
  const Array first = real ? rfftn(left, options, on) : fftn(left, options, on);
  const Array second = real ? rfftn(right, options, on) : fftn(right, options, on);
  const bool fits = first.shape() == broadcast_shapes(op, first.shape(), second.shape());
  const Array product = binary(Op::multiply, first, second, {.out = fits ? &first : nullptr}, on);
  Array result = real ? irfftn(product, options, on) : ifftn(product, options, on);
  for (int d = 0; d < a.ndim(); ++d) result = cut(result, d, start[d], extent[d]);
  return in(dtype, dtype_bit(DType::float16) | dtype_bit(DType::bfloat16)) ? astype(result, dtype, false, on) : result;
}

}  // namespace stator::fft
