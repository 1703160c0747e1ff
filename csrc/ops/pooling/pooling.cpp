#include <stator/nn/pooling.hpp>

#include <stator/creation.hpp>

#include "ops/checks.hpp"
#include "ops/pooling/windows.hpp"

#include <cmath>

namespace stator::nn {
namespace {

using params::Pool;
using params::PoolKind;

// Pools x; with indices for max.
MaxPooled pooled(OpCall& call, Pool& p, const Array& x, int spatial, bool indices) {
  const Dims shape = with_spatial(x, extents_of(p, spatial));
  checked_size(call.name(), shape, sizeof(int64_t));
  MaxPooled out{call.empty(shape, x.dtype()), {}};
  if (indices) out.indices = call.empty(shape, DType::int64);
  if (out.y.size() == 0) return out;
  const Array input = dense_operand(call, x);
  call.writes(out.y);
  if (indices) call.writes(*out.indices);
  p.x = input.data_ptr();
  p.out = out.y.data_ptr();
  p.winners = indices ? static_cast<int64_t*>(out.indices->data_ptr()) : nullptr;
  (p.kind == PoolKind::max ? kernels::pooling::max_pool : kernels::pooling::mean_pool)(call.queue(), p);
  return out;
}

// The gradient of x; indices of max, y of powers.
Array slopes(OpCall& call, Pool& p, const Array& grad, const Array& x, int spatial, const Array* indices,
             const Array* y) {
  const Dims shape = with_spatial(x, extents_of(p, spatial));
  check_result(call, grad, "grad", shape, x, spatial);
  if (indices) check_indices(call, *indices, shape, spatial);
  if (y) check_result(call, *y, "y", shape, x, spatial);
  Array out = call.empty(x.shape(), x.dtype());
  if (out.size() == 0) return out;
  const Array slope = dense_operand(call, grad);
  const Array index_array = indices ? index_operand(call, *indices) : Array();
  const Array input = y ? dense_operand(call, x) : Array(), result = y ? dense_operand(call, *y) : Array();
  call.writes(out);
  p.grad = slope.data_ptr();
  p.indices = indices ? static_cast<const int64_t*>(index_array.data_ptr()) : nullptr;
  p.x = y ? input.data_ptr() : nullptr;
  p.y = y ? result.data_ptr() : nullptr;
  p.out = out.data_ptr();
  kernels::pooling::pool_backward(call.queue(), p);
  if (indices) call.finish_indices();
  return out;
}

Pool mean_windows(const OpCall& call, const Array& x, const AvgPoolOptions& o) {
  Pool p = windows(call, x, o);
  p.kind = PoolKind::mean;
  p.count_padding = o.count_include_pad;
  if (o.divisor && *o.divisor == 0)
    throw ValueError(name_of(call, o.kernel.size()), "divisor_override=0", "pass another divisor, or None");
  p.divisor = o.divisor ? double(*o.divisor) : 0;
  return p;
}

Pool power_windows(const OpCall& call, const Array& x, double power, const PoolOptions& o) {
  Pool p = windows(call, x, o);
  if (!(power > 0) || !std::isfinite(power))
    throw ValueError(name_of(call, o.kernel.size()), "norm_type=" + number_text(power),
                     "pass a positive finite number");
  p.kind = PoolKind::power;
  p.power = power;
  p.factor = 1;
  for (const int64_t length : o.kernel) p.factor *= double(length);
  return p;
}

// The extents of what adaptive pooling made `grad` of.
Dims last_extents(const OpCall& call, const Array& grad, int spatial) {
  check_spatial(call, spatial);
  Dims found(std::min(spatial, grad.ndim()));
  for (int d = 0; d < found.size(); ++d) found[d] = grad.shape()[grad.ndim() - found.size() + d];
  if (found.size() < spatial)
    throw ShapeError(name_of(call, spatial),
                     "got grad " + str(grad.shape()) + " of " + std::to_string(spatial) + " spatial axes",
                     "pass the gradient of the forward's result");
  return found;
}

}  // namespace

MaxPooled max_pool(const Array& x, const PoolOptions& o, bool indices, const Stream& stream) {
  OpCall call(Op::max_pool, {&x}, stream);
  Pool p = windows(call, x, o);
  return pooled(call, p, x, o.kernel.size(), indices);
}

Array max_pool_backward(const Array& grad, const Array& x, const Array& indices, const PoolOptions& o,
                        const Stream& stream) {
  OpCall call(Op::max_pool_backward, {&grad, &x, &indices}, stream);
  Pool p = windows(call, x, o);
  return slopes(call, p, grad, x, o.kernel.size(), &indices, nullptr);
}

Array avg_pool(const Array& x, const AvgPoolOptions& o, const Stream& stream) {
  OpCall call(Op::avg_pool, {&x}, stream);
  Pool p = mean_windows(call, x, o);
  return pooled(call, p, x, o.kernel.size(), false).y;
}

Array avg_pool_backward(const Array& grad, const Array& x, const AvgPoolOptions& o, const Stream& stream) {
  OpCall call(Op::avg_pool_backward, {&grad, &x}, stream);
  Pool p = mean_windows(call, x, o);
  return slopes(call, p, grad, x, o.kernel.size(), nullptr, nullptr);
}

Array lp_pool(const Array& x, double power, const PoolOptions& o, const Stream& stream) {
  OpCall call(Op::lp_pool, {&x}, stream);
  Pool p = power_windows(call, x, power, o);
  return pooled(call, p, x, o.kernel.size(), false).y;
}

Array lp_pool_backward(const Array& grad, const Array& x, const Array& y, double power, const PoolOptions& o,
                       const Stream& stream) {
  OpCall call(Op::lp_pool_backward, {&grad, &x, &y}, stream);
  Pool p = power_windows(call, x, power, o);
  return slopes(call, p, grad, x, o.kernel.size(), nullptr, &y);
}

Array adaptive_avg_pool(const Array& x, const Dims& output, const Stream& stream) {
  OpCall call(Op::adaptive_avg_pool, {&x}, stream);
  Pool p = adaptive_windows(call, x, output);
  p.kind = PoolKind::mean;
  return pooled(call, p, x, output.size(), false).y;
}

Array adaptive_avg_pool_backward(const Array& grad, const Array& x, int spatial, const Stream& stream) {
  OpCall call(Op::adaptive_avg_pool_backward, {&grad, &x}, stream);
  Pool p = adaptive_windows(call, x, last_extents(call, grad, spatial));
  p.kind = PoolKind::mean;
  return slopes(call, p, grad, x, spatial, nullptr, nullptr);
}

MaxPooled adaptive_max_pool(const Array& x, const Dims& output, bool indices, const Stream& stream) {
  OpCall call(Op::adaptive_max_pool, {&x}, stream);
  Pool p = adaptive_windows(call, x, output);
  return pooled(call, p, x, output.size(), indices);
}

Array adaptive_max_pool_backward(const Array& grad, const Array& x, const Array& indices, int spatial,
                                 const Stream& stream) {
  OpCall call(Op::adaptive_max_pool_backward, {&grad, &x, &indices}, stream);
  Pool p = adaptive_windows(call, x, last_extents(call, grad, spatial));
  return slopes(call, p, grad, x, spatial, &indices, nullptr);
}

}  // namespace stator::nn
