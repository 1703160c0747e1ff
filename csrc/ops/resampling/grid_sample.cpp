#include <stator/creation.hpp>
#include <stator/nn/resampling.hpp>

#include "ops/resampling/planes.hpp"
#include "ops/sort/keys.hpp"
#include "params/resampling.hpp"

#include <string>

namespace stator::nn {
namespace {

using params::GridMode;
using params::GridPadding;
using params::GridSample;

GridMode grid_mode(const std::string& op, std::string_view mode, int axes) {
  if (mode == "bilinear") return GridMode::linear;
  if (mode == "nearest") return GridMode::nearest;
  if (mode != "bicubic")
    throw ValueError(op, "mode is '" + std::string(mode) + "'", "pass 'bilinear', 'nearest' or 'bicubic'");
  if (axes != 2) throw ShapeError(op, "got mode 'bicubic' with three spatial axes", "pass 'bilinear' or 'nearest'");
  return GridMode::cubic;
}

GridPadding grid_padding(const std::string& op, std::string_view padding) {
  if (padding == "zeros") return GridPadding::zeros;
  if (padding == "border") return GridPadding::border;
  if (padding == "reflection") return GridPadding::reflection;
  throw ValueError(op, "padding_mode is '" + std::string(padding) + "'", "pass 'zeros', 'border' or 'reflection'");
}

GridSample sample_parameters(const OpCall& call, const Array& x, const Array& grid, const GridSampleOptions& o) {
  const std::string op(call.name());
  check_resampled(call, x, 4, 5);
  const int axes = x.ndim() - 2;
  if (grid.ndim() != x.ndim() || grid.shape()[0] != x.shape()[0] || grid.shape()[grid.ndim() - 1] != axes)
    throw ShapeError(op, "got grid " + str(grid.shape()) + " for x " + str(x.shape()),
                     "pass a grid of shape (n, positions..., " + std::to_string(axes) + ") with x's n");
  check_dtype_of(call, grid, "grid", x);
  GridSample p{};
  p.mode = grid_mode(op, o.mode, axes);
  p.padding = grid_padding(op, o.padding);
  p.align_corners = o.align_corners;
  p.dtype = x.dtype();
  p.axes = axes;
  p.samples = x.shape()[0];
  p.channels = x.shape()[1];
  p.points = 1;
  for (int d = 1; d <= axes; ++d) p.points *= grid.shape()[d];
  p.in[0] = 1;
  for (int d = 0; d < axes; ++d) p.in[GridSample::dims - axes + d] = int32_t(x.shape()[2 + d]);
  return p;
}

Dims sampled_shape(const OpCall& call, const Array& x, const Array& grid) {
  Dims shape = x.shape();
  for (int d = 2; d < x.ndim(); ++d) shape[d] = grid.shape()[d - 1];
  checked_size(call.name(), shape, itemsize(x.dtype()));
  return shape;
}

}  // namespace

Array grid_sample(const Array& x, const Array& grid, const GridSampleOptions& o, const Stream& stream) {
  OpCall call(Op::grid_sample, {&x, &grid}, stream);
  GridSample p = sample_parameters(call, x, grid, o);
  Array out = call.empty(sampled_shape(call, x, grid), x.dtype());
  if (out.size() == 0) return out;
  const Array input = dense_planes(call, x), positions = dense_planes(call, grid);
  call.writes(out);
  p.x = input.data_ptr();
  p.grid = positions.data_ptr();
  p.out = out.data_ptr();
  kernels::resampling::grid_sample(call.queue(), p);
  return out;
}

GridSampleGradients grid_sample_backward(const Array& grad, const Array& x, const Array& grid,
                                         const GridSampleOptions& o, const Stream& stream) {
  OpCall call(Op::grid_sample_backward, {&grad, &x, &grid}, stream);
  params::GridGather gather{sample_parameters(call, x, grid, o), nullptr, nullptr, 0};
  GridSample& p = gather.sample;
  check_gradient(call, grad, sampled_shape(call, x, grid), x);
  GridSampleGradients out{call.empty(x.shape(), x.dtype()), call.empty(grid.shape(), x.dtype())};
  if (grad.size() == 0) {  // nothing to add up
    for (const Array* a : {&out.x, &out.grid})
      if (a->size() > 0) assign(*a, 0, call.on());
    return out;
  }
  const Array slope = dense_planes(call, grad), input = dense_planes(call, x), positions = dense_planes(call, grid);
  call.writes(out.x);
  call.writes(out.grid);
  p.x = input.data_ptr();
  p.grid = positions.data_ptr();
  p.grad = slope.data_ptr();
  p.out = out.x.data_ptr();
  p.grid_grad = out.grid.data_ptr();
  const DType computed = x.dtype() == DType::float64 ? DType::float64 : DType::float32;
  if (!kernels::resampling::grid_sorts(call.limits())) {
    const Array sums = computed == x.dtype() ? out.x : call.empty(x.shape(), computed);
    call.writes(sums);
    p.sums = sums.data_ptr();
    kernels::resampling::grid_taps_backward(call.queue(), p);
    kernels::resampling::grid_gather(call.queue(), gather);
    return out;
  }
  const int64_t elements = p.samples * p.in[0] * p.in[1] * p.in[2];
  gather.entries = p.samples * p.points * grid_taps(p);
  p.key_dtype = elements < int64_t(~uint32_t(0)) ? DType::uint32 : DType::int64;
  const Dims flat{gather.entries};
  const Array keys = call.empty(flat, p.key_dtype), sorted = call.empty(flat, p.key_dtype),
              order = call.empty(flat, DType::int64), weights = call.empty(flat, computed);
  for (const Array* a : {&keys, &sorted, &order, &weights}) call.writes(*a);
  p.keys = keys.data_ptr();
  p.weights = weights.data_ptr();
  kernels::resampling::grid_taps_backward(call.queue(), p);
  launch_sort(call, keys, 0, false, {0, gather.entries}, &sorted, &order);
  gather.sorted = sorted.data_ptr();
  gather.order = static_cast<const int64_t*>(order.data_ptr());
  kernels::resampling::grid_gather(call.queue(), gather);
  return out;
}

}  // namespace stator::nn
