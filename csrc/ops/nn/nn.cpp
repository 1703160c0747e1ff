#include <stator/nn/nn.hpp>

#include "core/op_call.hpp"
#include "ops/collapse.hpp"
#include "ops/nn/softmax.hpp"
#include "params/nn.hpp"

#include <algorithm>

namespace stator::nn {
namespace {

// Describes the rows along `axis`: of the other axes those of extent 1 are dropped, and neighbours that step together
// in all operands are merged.
void set_rows(params::Softmax& p, const Array& x, const Array* saved, const Array& y, int axis) {
  p.x = x.data_ptr();
  p.saved = saved ? saved->data_ptr() : nullptr;
  p.y = y.data_ptr();
  p.dtype = x.dtype();
  p.out_dtype = y.dtype();
  p.n = x.ndim() ? x.shape()[axis] : 1;
  p.rows = x.size() / std::max<int64_t>(p.n, 1);
  p.x_step = x.ndim() ? x.strides()[axis] : 1;
  p.saved_step = saved && x.ndim() ? saved->strides()[axis] : 1;
  p.y_step = x.ndim() ? y.strides()[axis] : 1;
  for (int d = 0; d < x.ndim(); ++d) {
    const int64_t extent = x.shape()[d], xs = x.strides()[d], ss = saved ? saved->strides()[d] : 0, ys = y.strides()[d];
    if (d == axis || extent == 1) continue;
    const int last = p.ndim - 1;
    if (p.ndim > 0 && p.x_strides[last] == extent * xs && (!saved || p.saved_strides[last] == extent * ss) &&
        p.y_strides[last] == extent * ys) {
      p.shape[last] *= extent;
      p.x_strides[last] = xs;
      p.saved_strides[last] = ss;
      p.y_strides[last] = ys;
      continue;
    }
    p.shape[p.ndim] = extent;
    p.x_strides[p.ndim] = xs;
    p.saved_strides[p.ndim] = ss;
    p.y_strides[p.ndim] = ys;
    ++p.ndim;
  }
}

Array softmax_like(Op op, const Array& x, const Array* saved, int64_t axis, std::optional<DType> dtype,
                   const Stream& stream, double factor = 1) {
  OpCall call(op, {&x, saved}, stream);
  require_floating(call, x, dtype);
  if (saved) require_same(call, x, *saved, "the gradient and the forward result");
  // A 0-d array is one row of one element; its only axes are 0 and -1.
  const int at = normalize_axis(call.name(), axis, std::max(x.ndim(), 1));
  const Array* const operands[] = {&x, saved ? saved : &x};
  Array y = empty_like(call, x.shape(), dtype.value_or(x.dtype()), operands);
  if (x.size() == 0) return y;
  call.reads(x);
  if (saved) call.reads(*saved);
  call.writes(y);
  params::Softmax p{};
  p.log = op == Op::log_softmax || op == Op::log_softmax_backward;
  p.factor = factor;
  set_rows(p, x, saved, y, at);
  if (const params::SoftmaxNeeds needs = kernels::nn::softmax_needs(call.limits(), p); needs.partial_bytes > 0) {
    p.partials = call.scratch(size_t(needs.partial_bytes));
    p.counters = static_cast<uint32_t*>(call.zeroed_scratch(size_t(needs.counter_bytes)));
  }
  (saved ? kernels::nn::softmax_backward : kernels::nn::softmax)(call.queue(), p);
  return y;
}

}  // namespace

Array softmax(const Array& x, int64_t axis, std::optional<DType> dtype, const Stream& stream) {
  return softmax_like(Op::softmax, x, nullptr, axis, dtype, stream);
}
Array softmax(const Array& x, int64_t axis, std::optional<DType> dtype, const SoftmaxMask& masking,
              const Stream& stream) {
  if (masking.applies()) return masked_softmax(Op::softmax, x, axis, dtype, masking, stream);
  return softmax(x, axis, dtype, stream);
}
Array log_softmax(const Array& x, int64_t axis, std::optional<DType> dtype, const Stream& stream) {
  return softmax_like(Op::log_softmax, x, nullptr, axis, dtype, stream);
}
Array log_softmax(const Array& x, int64_t axis, std::optional<DType> dtype, const SoftmaxMask& masking,
                  const Stream& stream) {
  if (masking.applies()) return masked_softmax(Op::log_softmax, x, axis, dtype, masking, stream);
  return log_softmax(x, axis, dtype, stream);
}
Array softmax_backward(const Array& grad, const Array& y, int64_t axis, const Stream& stream) {
  return softmax_like(Op::softmax_backward, grad, &y, axis, {}, stream);
}
Array log_softmax_backward(const Array& grad, const Array& y, int64_t axis, const Stream& stream) {
  return softmax_like(Op::log_softmax_backward, grad, &y, axis, {}, stream);
}
Array log_softmax_backward(const Array& grad, const Array& y, int64_t axis, const SoftmaxMask& masking,
                           const Stream& stream) {
  if (masking.applies()) return masked_log_softmax_backward(grad, y, axis, masking, stream);
  return log_softmax_backward(grad, y, axis, stream);
}
Array softmin(const Array& x, int64_t axis, std::optional<DType> dtype, const SoftmaxMask& masking,
              const Stream& stream) {
  if (masking.applies()) return masked_softmax(Op::softmin, x, axis, dtype, masking, stream);
  return softmax_like(Op::softmin, x, nullptr, axis, dtype, stream, -1);
}
Array softmin_backward(const Array& grad, const Array& y, int64_t axis, const Stream& stream) {
  return softmax_like(Op::softmin_backward, grad, &y, axis, {}, stream, -1);
}
Array gumbel_softmax_backward(const Array& grad, const Array& y, double tau, int64_t axis, const Stream& stream) {
  return softmax_like(Op::gumbel_softmax_backward, grad, &y, axis, {}, stream,
                      factor_of_temperature(Op::gumbel_softmax_backward, tau));
}

}  // namespace stator::nn
