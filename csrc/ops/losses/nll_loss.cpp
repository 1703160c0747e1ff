#include "ops/losses/operands.hpp"
#include "params/losses.hpp"

#include <algorithm>
#include <string>

namespace stator::nn {
namespace {

using params::NllLoss;

struct Rows {
  NllLoss p{};
  Dims shape;  // of the target
};

// Adds an axis of rows, which is merged with the one before where they step together in all operands.
void add_axis(NllLoss& p, int64_t extent, const int64_t (&step)[NllLoss::operands]) {
  if (extent == 1) return;
  const int last = p.ndim - 1;
  bool together = p.ndim > 0;
  for (int k = 0; together && k < NllLoss::operands; ++k) together = p.strides[k][last] == step[k] * extent;
  const int at = together ? last : p.ndim++;
  p.shape[at] = together ? p.shape[at] * extent : extent;
  for (int k = 0; k < NllLoss::operands; ++k) p.strides[k][at] = step[k];
}

Rows rows_of(OpCall& call, const Array* grad, const Array& x, const Array& target, const NllLossOptions& o) {
  const std::string op(call.name());
  check_floating(call, x);
  const int axis = x.ndim() == 1 ? 0 : 1;  // of the classes
  Rows rows;
  rows.shape = Dims(std::max(x.ndim() - 1, 0));
  for (int d = 0; d < x.ndim(); ++d)
    if (d != axis) rows.shape[d > axis ? d - 1 : d] = x.shape()[d];
  if (x.ndim() == 0 || !(target.shape() == rows.shape))
    throw ShapeError(op, "got log_probs " + str(x.shape()) + " and target " + str(target.shape()),
                     "pass log_probs of shape (n, classes, ...) and a target of shape (n, ...)");
  if (!in(target.dtype(), dtypes::integers))
    throw DTypeError(op, "the target has dtype " + std::string(name(target.dtype())),
                     "pass class numbers of an integer dtype");
  NllLoss& p = rows.p;
  p.classes = x.shape()[axis];
  if (o.weight) {
    if (o.weight->ndim() != 1 || o.weight->shape()[0] != p.classes)
      throw ShapeError(op, "got weight " + str(o.weight->shape()) + " for log_probs " + str(x.shape()),
                       "pass one weight for each class, shape (" + std::to_string(p.classes) + ",)");
    check_dtype(call, *o.weight, "weight", x);
    p.weights = o.weight->data_ptr();
    p.weight_stride = o.weight->strides()[0];
  }
  const Reduction reduction = reduction_of(call, o.reduction);
  p.each = reduction == Reduction::none;
  p.mean = reduction == Reduction::mean;
  if (grad) check_grad(call, *grad, p.each ? rows.shape : Dims{}, x);
  p.dtype = x.dtype();
  p.target_dtype = target.dtype();
  p.ignore_index = o.ignore_index;
  p.class_stride = x.strides()[axis];
  p.rows = p.inner = 1;
  for (int d = 0; d < rows.shape.size(); ++d) {
    p.rows *= rows.shape[d];
    if (d > 0) p.inner *= rows.shape[d];
    add_axis(p, rows.shape[d],
             {x.strides()[d >= axis ? d + 1 : d], target.strides()[d], grad && p.each ? grad->strides()[d] : 0});
  }
  p.data[NllLoss::input] = x.data_ptr();
  p.data[NllLoss::target] = target.data_ptr();
  p.data[NllLoss::grad] = grad ? grad->data_ptr() : nullptr;
  return rows;
}

void declare(OpCall& call, const Array* grad, const Array* x, const Array& target, const Array* weight) {
  for (const Array* a : {grad, x, &target, weight})
    if (a) call.reads(*a);
}

}  // namespace

Array nll_loss(const Array& log_probs, const Array& target, const NllLossOptions& o, const Stream& stream) {
  OpCall call(Op::nll_loss, {&log_probs, &target, o.weight}, stream);
  Rows rows = rows_of(call, nullptr, log_probs, target, o);
  NllLoss& p = rows.p;
  Array out = call.empty(p.each ? rows.shape : Dims{}, log_probs.dtype());
  if (out.size() == 0) return out;
  declare(call, nullptr, &log_probs, target, o.weight);
  call.writes(out);
  p.out = out.data_ptr();
  if (!p.each) {
    p.partials = call.scratch(size_t(kernels::losses::nll_loss_blocks(call.limits(), p)) * 2 * sizeof(double));
    p.counters = static_cast<uint32_t*>(call.zeroed_scratch(sizeof(uint32_t)));
  }
  kernels::losses::nll_loss(call.queue(), p);
  call.finish_indices();
  return out;
}

Array nll_loss_backward(const Array& grad, const Array& log_probs, const Array& target, const NllLossOptions& o,
                        const Stream& stream) {
  OpCall call(Op::nll_loss_backward, {&grad, &log_probs, &target, o.weight}, stream);
  Rows rows = rows_of(call, &grad, log_probs, target, o);
  NllLoss& p = rows.p;
  Array out = call.empty(log_probs.shape(), log_probs.dtype());
  if (out.size() == 0) return out;
  declare(call, &grad, nullptr, target, o.weight);
  call.writes(out);
  p.out = out.data_ptr();
  if (kernels::losses::nll_loss_totals(call.limits(), p)) {
    // The total follows the sums of the blocks.
    const size_t sums = size_t(kernels::losses::nll_loss_blocks(call.limits(), p)) * 2;
    p.partials = call.scratch((sums + 1) * sizeof(double));
    p.total = static_cast<double*>(p.partials) + sums;
    p.counters = static_cast<uint32_t*>(call.zeroed_scratch(sizeof(uint32_t)));
  }
  kernels::losses::nll_loss_backward(call.queue(), p);
  call.finish_indices();
  return out;
}

}  // namespace stator::nn
