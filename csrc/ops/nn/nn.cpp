#include <stator/nn/nn.hpp>

#include "core/op_call.hpp"
#include "ops/collapse.hpp"
#include "params/nn.hpp"

#include <algorithm>
#include <cmath>

namespace stator::nn {
namespace {

void require_floating(const OpCall& call, const Array& x) {
  if (!in(x.dtype(), dtypes::floats))
    throw DTypeError(std::string(call.name()), "got an array of dtype " + std::string(name(x.dtype())),
                     "pass float16, bfloat16, float32 or float64; astype converts");
}

void require_same(const OpCall& call, const Array& a, const Array& b, const char* what) {
  if (!(a.shape() == b.shape()))
    throw ShapeError(std::string(call.name()),
                     "shapes " + str(a.shape()) + " and " + str(b.shape()) + " of " + what + " differ",
                     "pass arrays of one shape");
  if (a.dtype() != b.dtype())
    throw DTypeError(
        std::string(call.name()),
        "dtypes " + std::string(name(a.dtype())) + " and " + std::string(name(b.dtype())) + " of " + what + " differ",
        "convert one with astype");
}

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
                   const Stream& stream) {
  OpCall call(op, {&x, saved}, stream);
  require_floating(call, x);
  if (saved) require_same(call, x, *saved, "the gradient and the forward result");
  if (dtype && !in(*dtype, dtypes::floats))
    throw DTypeError(std::string(call.name()), "dtype=" + std::string(name(*dtype)) + ", which is not floating",
                     "pass a floating dtype");
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
  set_rows(p, x, saved, y, at);
  if (const params::SoftmaxNeeds needs = kernels::nn::softmax_needs(call.limits(), p); needs.partial_bytes > 0) {
    p.partials = call.scratch(size_t(needs.partial_bytes));
    p.counters = static_cast<uint32_t*>(call.zeroed_scratch(size_t(needs.counter_bytes)));
  }
  (saved ? kernels::nn::softmax_backward : kernels::nn::softmax)(call.queue(), p);
  return y;
}

// Checks the operands and sets the parameters that cross entropy and its gradient share.
params::CrossEntropy loss_parameters(OpCall& call, const Array& logits, const Array& target,
                                     const CrossEntropyOptions& o) {
  const std::string op(call.name());
  require_floating(call, logits);
  if (logits.ndim() != 2 || target.ndim() != 1 || logits.shape()[0] != target.shape()[0])
    throw ShapeError(op, "logits " + str(logits.shape()) + " and target " + str(target.shape()),
                     "pass logits of shape (n, classes) and a target of shape (n,)");
  if (!in(target.dtype(), dtypes::integers))
    throw DTypeError(op, "the target has dtype " + std::string(name(target.dtype())),
                     "pass class numbers of an integer dtype");
  if (o.weight) {
    if (o.weight->ndim() != 1 || o.weight->shape()[0] != logits.shape()[1])
      throw ShapeError(op, "weight " + str(o.weight->shape()) + " for logits " + str(logits.shape()),
                       "pass one weight a class, shape (classes,)");
    if (o.weight->dtype() != logits.dtype() || !o.weight->is_contiguous())
      throw DTypeError(op, "weight has dtype " + std::string(name(o.weight->dtype())) + " or is not contiguous",
                       "pass a contiguous weight of the logits' dtype " + std::string(name(logits.dtype())));
  }
  if (!(o.label_smoothing >= 0 && o.label_smoothing <= 1))
    throw ValueError(op, "label_smoothing=" + std::to_string(o.label_smoothing), "pass a number from 0 to 1");
  params::CrossEntropy p{};
  if (o.reduction == "mean")
    p.reduction = params::LossReduction::mean;
  else if (o.reduction == "sum")
    p.reduction = params::LossReduction::sum;
  else if (o.reduction != "none")
    throw ValueError(op, "reduction is '" + std::string(o.reduction) + "'", "pass 'mean', 'sum' or 'none'");
  p.logits = logits.data_ptr();
  p.target = target.data_ptr();
  p.weight = o.weight ? o.weight->data_ptr() : nullptr;
  p.dtype = logits.dtype();
  p.target_dtype = target.dtype();
  p.n = logits.shape()[0];
  p.classes = logits.shape()[1];
  p.logit_strides[0] = logits.strides()[0];
  p.logit_strides[1] = logits.strides()[1];
  p.target_stride = target.strides()[0];
  p.ignore_index = o.ignore_index;
  p.label_smoothing = o.label_smoothing;
  call.reads(logits);
  call.reads(target);
  if (o.weight) call.reads(*o.weight);
  return p;
}

}  // namespace

Array softmax(const Array& x, int64_t axis, std::optional<DType> dtype, const Stream& stream) {
  return softmax_like(Op::softmax, x, nullptr, axis, dtype, stream);
}
Array log_softmax(const Array& x, int64_t axis, std::optional<DType> dtype, const Stream& stream) {
  return softmax_like(Op::log_softmax, x, nullptr, axis, dtype, stream);
}
Array softmax_backward(const Array& grad, const Array& y, int64_t axis, const Stream& stream) {
  return softmax_like(Op::softmax_backward, grad, &y, axis, {}, stream);
}
Array log_softmax_backward(const Array& grad, const Array& y, int64_t axis, const Stream& stream) {
  return softmax_like(Op::log_softmax_backward, grad, &y, axis, {}, stream);
}

Array cross_entropy(const Array& logits, const Array& target, const CrossEntropyOptions& options,
                    const Stream& stream) {
  OpCall call(Op::cross_entropy, {&logits, &target, options.weight}, stream);
  params::CrossEntropy p = loss_parameters(call, logits, target, options);
  const bool each = p.reduction == params::LossReduction::none;
  // An empty batch has an empty result for "none"; for "sum" and "mean" a launch of one block without rows gives 0 and
  // NaN.
  Array out = call.empty(each ? Dims{p.n} : Dims{}, logits.dtype());
  if (each && p.n == 0) return out;
  call.writes(out);
  p.out = out.data_ptr();
  if (!each) {
    p.partials = call.scratch(size_t(kernels::nn::cross_entropy_scratch(call.limits(), p)));
    p.counters = static_cast<uint32_t*>(call.zeroed_scratch(sizeof(uint32_t)));
  }
  kernels::nn::cross_entropy(call.queue(), p);
  call.finish_indices();
  return out;
}

Array cross_entropy_backward(const Array& grad, const Array& logits, const Array& target,
                             const CrossEntropyOptions& options, const Stream& stream) {
  OpCall call(Op::cross_entropy_backward, {&grad, &logits, &target, options.weight}, stream);
  params::CrossEntropy p = loss_parameters(call, logits, target, options);
  const bool each = p.reduction == params::LossReduction::none;
  const Dims expected = each ? Dims{p.n} : Dims{};
  if (!(grad.shape() == expected))
    throw ShapeError(std::string(call.name()),
                     "grad " + str(grad.shape()) + " where the forward's result is " + str(expected),
                     "pass the gradient of cross_entropy's result");
  if (grad.dtype() != logits.dtype())
    throw DTypeError(std::string(call.name()),
                     "grad is " + std::string(name(grad.dtype())) + ", logits are " + std::string(name(logits.dtype())),
                     "convert grad with astype");
  Array out = call.empty(logits.shape(), logits.dtype());
  if (out.size() == 0) return out;
  call.reads(grad);
  call.writes(out);
  p.grad = grad.data_ptr();
  p.grad_stride = each ? grad.strides()[0] : 0;
  p.out = out.data_ptr();
  if (const int64_t bytes = kernels::nn::cross_entropy_backward_scratch(call.limits(), p); bytes > 0) {
    // The total lies behind the sums of the blocks.
    p.partials = call.scratch(size_t(bytes) + sizeof(double));
    p.total = reinterpret_cast<double*>(static_cast<std::byte*>(p.partials) + bytes);
    p.counters = static_cast<uint32_t*>(call.zeroed_scratch(sizeof(uint32_t)));
  }
  kernels::nn::cross_entropy_backward(call.queue(), p);
  call.finish_indices();
  return out;
}

}  // namespace stator::nn
