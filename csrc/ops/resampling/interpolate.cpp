#include <stator/nn/pooling.hpp>
#include <stator/nn/resampling.hpp>

#include "ops/resampling/planes.hpp"
#include "params/resampling.hpp"

#include <cmath>
#include <string>

namespace stator::nn {
namespace {

using params::Interpolate;
using params::Interpolation;

struct Plan {
  Interpolate p{};
  Dims extents;       // spatial, of the result
  bool area = false;  // means of windows instead
};

std::string number(double v) {
  std::string text = std::to_string(v);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

Interpolation mode_of(const std::string& op, std::string_view mode, int spatial) {
  struct Mode {
    std::string_view name;
    Interpolation mode;
    int spatial;  // 0: any
  };
  for (const Mode& m : {Mode{"nearest", Interpolation::nearest, 0}, Mode{"area", Interpolation::nearest, 0},
                        Mode{"nearest-exact", Interpolation::nearest_exact, 0},
                        Mode{"linear", Interpolation::linear, 1}, Mode{"bilinear", Interpolation::linear, 2},
                        Mode{"trilinear", Interpolation::linear, 3}, Mode{"bicubic", Interpolation::cubic, 2}}) {
    if (mode != m.name) continue;
    if (m.spatial != 0 && m.spatial != spatial)
      throw ShapeError(op,
                       "mode '" + std::string(mode) + "' is of " + std::to_string(m.spatial) + " spatial axes, x has " +
                           std::to_string(spatial),
                       "pass 'linear' for one, 'bilinear' or 'bicubic' for two, 'trilinear' for three");
    return m.mode;
  }
  throw ValueError(op, "mode is '" + std::string(mode) + "'",
                   "pass 'nearest', 'nearest-exact', 'linear', 'bilinear', 'trilinear', 'bicubic' or 'area'");
}

Plan plan_of(const OpCall& call, const Array& x, const InterpolateOptions& o) {
  const std::string op(call.name());
  check_resampled(call, x, 3, 5);
  const int spatial = x.ndim() - 2, given = o.size.size(), factors = int(o.scale.size());
  if ((given != 0) == (factors != 0))
    throw ValueError(op, given != 0 ? "got both size and scale_factor" : "got neither size nor scale_factor",
                     "pass one of them");
  if (given + factors != spatial)
    throw ShapeError(
        op,
        "got " + std::to_string(given + factors) + (given != 0 ? " extents" : " factors") + " for x " + str(x.shape()),
        "pass a number, or one for each spatial axis");
  Plan plan;
  Interpolate& p = plan.p;
  p.mode = mode_of(op, o.mode, spatial);
  plan.area = o.mode == "area";
  if (o.align_corners && p.mode != Interpolation::linear && p.mode != Interpolation::cubic)
    throw ValueError(op, "got mode '" + std::string(o.mode) + "' with align_corners",
                     "pass align_corners with linear modes and 'bicubic'");
  p.align_corners = o.align_corners;
  p.dtype = x.dtype();
  p.planes = x.shape()[0] * x.shape()[1];
  plan.extents = Dims(spatial, 1);
  for (int d = 0; d < Interpolate::dims; ++d) {
    p.in[d] = p.out_extent[d] = 1;
    p.scale[d] = 1;
  }
  for (int d = 0; d < spatial; ++d) {
    const int64_t extent = x.shape()[2 + d];
    if (factors != 0 && (!(o.scale[size_t(d)] > 0) || !std::isfinite(o.scale[size_t(d)])))
      throw ValueError(op, "scale_factor=" + number(o.scale[size_t(d)]), "pass positive finite factors");
    const double wanted = factors != 0 ? std::floor(double(extent) * o.scale[size_t(d)]) : double(o.size[d]);
    if (!(wanted >= 1) || wanted > double(params::max_resampled))
      throw ValueError(op,
                       "got a result of the extent " + number(wanted) + " along axis " + std::to_string(2 + d) +
                           " of x " + str(x.shape()),
                       "pass sizes from 1 to " + std::to_string(params::max_resampled));
    plan.extents[d] = int64_t(wanted);
    const int at = Interpolate::dims - spatial + d;
    p.in[at] = int32_t(extent);
    p.out_extent[at] = int32_t(wanted);
    if (o.align_corners)
      p.scale[at] = wanted > 1 ? double(extent - 1) / (wanted - 1) : 0;
    else
      p.scale[at] = factors != 0 ? 1 / o.scale[size_t(d)] : double(extent) / wanted;
  }
  return plan;
}

Dims result_of(const OpCall& call, const Array& x, const Plan& plan) {
  Dims shape = x.shape();
  for (int d = 0; d < plan.extents.size(); ++d) shape[2 + d] = plan.extents[d];
  resampled_size(call, shape, 2);
  checked_size(call.name(), shape, itemsize(x.dtype()));
  return shape;
}

}  // namespace

Array interpolate(const Array& x, const InterpolateOptions& o, const Stream& stream) {
  OpCall call(Op::interpolate, {&x}, stream);
  Plan plan = plan_of(call, x, o);
  const Dims shape = result_of(call, x, plan);
  if (plan.area) return adaptive_avg_pool(x, plan.extents, call.on());
  Array out = call.empty(shape, x.dtype());
  if (out.size() == 0) return out;
  const Array input = dense_planes(call, x);
  call.writes(out);
  plan.p.x = input.data_ptr();
  plan.p.out = out.data_ptr();
  kernels::resampling::interpolate(call.queue(), plan.p);
  return out;
}

Array interpolate_backward(const Array& grad, const Array& x, const InterpolateOptions& o, const Stream& stream) {
  OpCall call(Op::interpolate_backward, {&grad, &x}, stream);
  Plan plan = plan_of(call, x, o);
  check_gradient(call, grad, result_of(call, x, plan), x);
  if (plan.area) return adaptive_avg_pool_backward(grad, x, plan.extents.size(), call.on());
  Array out = call.empty(x.shape(), x.dtype());
  if (out.size() == 0) return out;
  const Array slope = dense_planes(call, grad);
  call.writes(out);
  plan.p.x = slope.data_ptr();
  plan.p.out = out.data_ptr();
  kernels::resampling::interpolate_backward(call.queue(), plan.p);
  return out;
}

}  // namespace stator::nn
