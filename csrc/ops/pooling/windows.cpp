#include "ops/pooling/windows.hpp"

#include <stator/creation.hpp>

#include <algorithm>
#include <limits>

namespace stator::nn {
namespace {

using params::Pool;
using params::PoolAxis;

std::string text(int64_t n) { return std::to_string(n); }

// A length for each spatial axis, or `otherwise`, each at least `least`.
Dims lengths(const std::string& op, const char* what, const Dims& given, const Dims& otherwise, int64_t least) {
  if (given.size() == 0) return otherwise;
  if (given.size() != otherwise.size())
    throw ShapeError(op, std::string(what) + "=" + str(given) + " for " + text(otherwise.size()) + " spatial axes",
                     "pass an integer, or one for each axis");
  for (int d = 0; d < given.size(); ++d)
    if (given[d] < least)
      throw ValueError(op, std::string(what) + "=" + str(given), "pass lengths of at least " + text(least));
  return given;
}

Pool planes_of(const Array& x, int spatial) {
  Pool p{};
  p.dtype = x.dtype();
  p.planes = 1;
  for (int d = 0; d < x.ndim() - spatial; ++d) p.planes *= x.shape()[d];
  return p;
}

void check_size(const std::string& op, const Pool& p) {
  int64_t size = 1;
  for (const PoolAxis& a : p.axes) {
    if (a.out > params::max_plane / size)
      throw ShapeError(op, "a plane of the result has more than " + text(params::max_plane) + " elements",
                       "pass planes of fewer elements");
    size *= a.out;
  }
}

}  // namespace

std::string name_of(const OpCall& call, int spatial) {
  std::string op(call.name());
  if (const size_t at = op.find("2d"); at != std::string::npos) op[at] = char('0' + spatial);
  return op;
}

void check_spatial(const OpCall& call, int spatial) {
  if (spatial < 1 || spatial > Pool::dims)
    throw ShapeError(std::string(call.name()), "got windows of " + text(spatial) + " axes",
                     "pass windows of 1 to 3 axes");
}

void check_planes(const OpCall& call, const Array& x, int spatial) {
  check_spatial(call, spatial);
  const std::string op = name_of(call, spatial);
  if (!in(x.dtype(), dtypes::floats))
    throw DTypeError(op, "got an array of dtype " + std::string(name(x.dtype())),
                     "pass float16, bfloat16, float32 or float64; astype converts");
  if (x.ndim() != spatial + 1 && x.ndim() != spatial + 2)
    throw ShapeError(op, "got x " + str(x.shape()) + " for windows of " + text(spatial) + " axes",
                     "pass an array of shape (n, channels, spatial...) or (channels, spatial...)");
  int64_t size = 1;
  for (int d = x.ndim() - spatial; d < x.ndim(); ++d) {
    const int64_t extent = x.shape()[d];
    if (extent == 0) throw ShapeError(op, "x " + str(x.shape()) + " has no spatial elements", "pass a larger array");
    if (extent > params::max_plane / size)
      throw ShapeError(op, "a plane of x " + str(x.shape()) + " has more than " + text(params::max_plane) + " elements",
                       "pass planes of fewer elements");
    size *= extent;
  }
}

void check_result(const OpCall& call, const Array& a, const char* what, const Dims& shape, const Array& x,
                  int spatial) {
  const std::string op = name_of(call, spatial);
  if (!(a.shape() == shape))
    throw ShapeError(op, std::string(what) + " " + str(a.shape()) + " where the forward's result is " + str(shape),
                     "pass an array of the result's shape");
  if (a.dtype() != x.dtype())
    throw DTypeError(
        op, std::string(what) + " is " + std::string(name(a.dtype())) + ", x is " + std::string(name(x.dtype())),
        "convert one with astype");
}

void check_indices(const OpCall& call, const Array& indices, const Dims& shape, int spatial) {
  const std::string op = name_of(call, spatial);
  if (!(indices.shape() == shape))
    throw ShapeError(op, "indices " + str(indices.shape()) + " where " + str(shape) + " are wanted",
                     "pass the indices that pooling returned");
  if (!in(indices.dtype(), dtypes::integers))
    throw DTypeError(op, "indices are " + std::string(name(indices.dtype())), "pass an integer dtype");
}

Dims with_spatial(const Array& x, const Dims& extents) {
  Dims shape = x.shape();
  for (int d = 0; d < extents.size(); ++d) shape[x.ndim() - extents.size() + d] = extents[d];
  return shape;
}

Dims extents_of(const Pool& p, int spatial) {
  Dims found(spatial);
  for (int d = 0; d < spatial; ++d) found[d] = p.axes[Pool::dims - spatial + d].out;
  return found;
}

Pool windows(const OpCall& call, const Array& x, const PoolOptions& o) {
  const int spatial = o.kernel.size();
  check_planes(call, x, spatial);
  const std::string op = name_of(call, spatial);
  const Dims kernel = lengths(op, "kernel_size", o.kernel, Dims(spatial, 1), 1);
  const Dims stride = lengths(op, "stride", o.stride, kernel, 1);
  const Dims padding = lengths(op, "padding", o.padding, Dims(spatial, 0), 0);
  const Dims dilation = lengths(op, "dilation", o.dilation, Dims(spatial, 1), 1);
  Pool p = planes_of(x, spatial);
  for (int d = 0; d < spatial; ++d) {
    const int64_t extent = x.shape()[x.ndim() - spatial + d];
    const int64_t largest = extent + 2 * std::min(padding[d], params::max_plane), limit = 2 * params::max_plane;
    const std::string of = "kernel_size=" + str(kernel) + " and dilation=" + str(dilation);
    // The elements that a window spans, or the limit.
    const int64_t span = kernel[d] > 1 && dilation[d] > limit / std::min(kernel[d], limit)
                             ? limit
                             : std::min(limit, (kernel[d] - 1) * dilation[d] + 1);
    if (padding[d] > kernel[d] / 2)
      throw ValueError(op, "padding=" + str(padding) + " for kernel_size=" + str(kernel),
                       "pad by at most half of kernel_size");
    if (largest > params::max_plane)
      throw ShapeError(
          op,
          "an axis of x " + str(x.shape()) + " and its padding have more than " + text(params::max_plane) + " elements",
          "pass a shorter axis");
    const int64_t rest = largest - span, step = std::min(stride[d], params::max_plane);
    if (span > params::max_plane || rest < (o.ceil_mode ? 1 - step : 0))
      throw ShapeError(op, "got windows of " + of + " for x " + str(x.shape()) + " with padding=" + str(padding),
                       "pass windows that fit into the padded array");
    PoolAxis& a = p.axes[Pool::dims - spatial + d];
    int64_t count = rest < 0 ? 1 : rest / step + 1;
    // A window that the end cuts, unless it would begin after the array.
    if (o.ceil_mode && rest > 0 && rest % step != 0 && count * step < extent + padding[d]) ++count;
    a.in = int32_t(extent);
    a.out = int32_t(count);
    a.kernel = int32_t(kernel[d]);
    a.padding = int32_t(padding[d]);
    a.stride = int32_t(step);
    a.dilation = int32_t(std::min(dilation[d], params::max_plane));
  }
  check_size(op, p);
  return p;
}

Pool adaptive_windows(const OpCall& call, const Array& x, const Dims& output) {
  const int spatial = output.size();
  check_planes(call, x, spatial);
  const std::string op = name_of(call, spatial);
  Pool p = planes_of(x, spatial);
  p.adaptive = true;
  for (int d = 0; d < spatial; ++d) {
    if (output[d] < 1 || output[d] > params::max_plane)
      throw ValueError(op, "output_size=" + str(output), "pass extents from 1 to " + text(params::max_plane));
    PoolAxis& a = p.axes[Pool::dims - spatial + d];
    a.in = int32_t(x.shape()[x.ndim() - spatial + d]);
    a.out = int32_t(output[d]);
  }
  check_size(op, p);
  return p;
}

Array dense_operand(OpCall& call, const Array& a) {
  Array found = a.is_contiguous() ? a : copy(a, call.on());
  call.reads(found);
  return found;
}

Array index_operand(OpCall& call, const Array& indices) {
  return dense_operand(call, astype(indices, DType::int64, false, call.on()));
}

}  // namespace stator::nn
