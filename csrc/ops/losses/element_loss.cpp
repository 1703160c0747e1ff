#include "ops/axes.hpp"
#include "ops/checks.hpp"
#include "ops/collapse.hpp"
#include "ops/losses/operands.hpp"
#include "params/losses.hpp"

#include <cmath>
#include <cstdlib>
#include <numeric>
#include <span>
#include <string>

namespace stator::nn {
namespace {

using params::ElementLoss;
using params::LossKind;

// What a loss is of, beside its input and target.
struct Form {
  LossKind kind;
  std::string_view reduction;
  double parameter = 0;
  const Array* weight = nullptr;
  const Array* pos_weight = nullptr;
};

// Sets the iteration space of the input's shape: no axis of extent 1, in the order of the strides of `model`, and
// neighbours that step together in all operands merged. Operands that are null or have fewer elements are repeated.
void collapse(ElementLoss& p, const Array* const (&operands)[ElementLoss::operands], const Array& input,
              const Array& model) {
  int order[params::max_dims], count = 0;
  for (int d = 0; d < input.ndim(); ++d)
    if (input.shape()[d] != 1) order[count++] = d;
  sort_axes(std::span(order, size_t(count)),
            [&](int a, int b) { return std::abs(model.strides()[a]) > std::abs(model.strides()[b]); });
  p.size = input.size();
  for (int i = 0; i < count; ++i) {
    int64_t step[ElementLoss::operands] = {};
    for (int k = 0; k < ElementLoss::operands; ++k) {
      if (operands[k] == nullptr) continue;
      const int own = order[i] - (input.ndim() - operands[k]->ndim());
      if (own >= 0 && operands[k]->shape()[own] != 1) step[k] = operands[k]->strides()[own];
    }
    const int64_t extent = input.shape()[order[i]];
    const int last = p.ndim - 1;
    bool together = p.ndim > 0;
    for (int k = 0; together && k < ElementLoss::operands; ++k) together = p.strides[k][last] == step[k] * extent;
    const int at = together ? last : p.ndim++;
    p.shape[at] = together ? p.shape[at] * extent : extent;
    for (int k = 0; k < ElementLoss::operands; ++k) p.strides[k][at] = step[k];
  }
}

void check_weight(const OpCall& call, const Array* weight, const char* what, const Array& input) {
  if (weight == nullptr) return;
  bool fits = weight->ndim() <= input.ndim();
  for (int d = 0; fits && d < weight->ndim(); ++d) {
    const int64_t extent = weight->shape()[d];
    fits = extent == 1 || extent == input.shape()[d + input.ndim() - weight->ndim()];
  }
  if (!fits)
    throw ShapeError(std::string(call.name()),
                     "got " + std::string(what) + " " + str(weight->shape()) + " for an input " + str(input.shape()),
                     "pass an array that can be broadcast to the input's shape");
  check_dtype(call, *weight, what, input);
}

// The loss, or with `grad` the gradient of the input.
Array loss_of(Op op, const Array* grad, const Array& input, const Array& target, const Form& form,
              const Stream& stream) {
  OpCall call(op, {grad, &input, &target, form.weight, form.pos_weight}, stream);
  check_floating(call, input);
  check_same(call, target, "target", input);
  check_weight(call, form.weight, "weight", input);
  check_weight(call, form.pos_weight, "pos_weight", input);
  const bool divergence = form.kind == LossKind::divergence || form.kind == LossKind::log_divergence;
  const Reduction reduction = reduction_of(call, form.reduction, divergence);
  const bool each = reduction == Reduction::none;
  if (grad) check_grad(call, *grad, each ? input.shape() : Dims{}, input);
  if (reduction == Reduction::batchmean && input.ndim() == 0)
    throw ShapeError(std::string(call.name()), "got reduction 'batchmean' of an input without axes",
                     "pass an input of shape (n, ...), or reduction='mean'");
  ElementLoss p{};
  p.dtype = input.dtype();
  p.kind = form.kind;
  p.each = each || grad;
  p.parameter = form.parameter;
  p.divisor = 1;
  if (reduction == Reduction::mean) p.divisor = double(input.size());
  if (reduction == Reduction::batchmean) p.divisor = double(input.shape()[0]);
  const Array* const like[] = {&input, &target};
  Array out = p.each ? empty_like(call, input.shape(), input.dtype(), like) : call.empty({}, input.dtype());
  if (out.size() == 0) return out;
  const Array* const operands[ElementLoss::operands] = {&input,          &target, form.weight,
                                                        form.pos_weight, grad,    p.each ? &out : nullptr};
  collapse(p, operands, input, p.each ? out : input);
  for (int k = 0; k < ElementLoss::operands; ++k) {
    if (operands[k] == nullptr) continue;
    p.data[k] = operands[k]->data_ptr();
    if (k != ElementLoss::out) call.reads(*operands[k]);
  }
  call.writes(out);
  p.data[ElementLoss::out] = out.data_ptr();
  if (!p.each) {
    const int64_t blocks = kernels::losses::element_loss_blocks(call.limits(), p);
    p.partials = call.scratch(size_t(blocks) * sizeof(double));
    p.counters = static_cast<uint32_t*>(call.zeroed_scratch(sizeof(uint32_t)));
  }
  (grad ? kernels::losses::element_loss_backward : kernels::losses::element_loss)(call.queue(), p);
  return out;
}

// A number that says where a formula changes.
double checked(Op op, const char* what, double value, bool zero) {
  if ((zero ? value >= 0 : value > 0) && std::isfinite(value)) return value;
  throw ValueError(std::string(op_info(op).call), std::string(what) + "=" + number_text(value),
                   zero ? "pass a finite number of at least 0" : "pass a finite number above 0");
}

}  // namespace

Array mse_loss(const Array& input, const Array& target, std::string_view reduction, const Stream& stream) {
  return loss_of(Op::mse_loss, nullptr, input, target, {LossKind::squared, reduction}, stream);
}
Array l1_loss(const Array& input, const Array& target, std::string_view reduction, const Stream& stream) {
  return loss_of(Op::l1_loss, nullptr, input, target, {LossKind::absolute, reduction}, stream);
}
Array huber_loss(const Array& input, const Array& target, double delta, std::string_view reduction,
                 const Stream& stream) {
  constexpr Op op = Op::huber_loss;
  return loss_of(op, nullptr, input, target, {LossKind::huber, reduction, checked(op, "delta", delta, false)}, stream);
}
Array smooth_l1_loss(const Array& input, const Array& target, double beta, std::string_view reduction,
                     const Stream& stream) {
  constexpr Op op = Op::smooth_l1_loss;
  return loss_of(op, nullptr, input, target, {LossKind::smooth, reduction, checked(op, "beta", beta, true)}, stream);
}
Array binary_cross_entropy_with_logits(const Array& input, const Array& target, const LogitLossOptions& o,
                                       const Stream& stream) {
  return loss_of(Op::binary_cross_entropy_with_logits, nullptr, input, target,
                 {LossKind::logits, o.reduction, 0, o.weight, o.pos_weight}, stream);
}
Array kl_div(const Array& input, const Array& target, bool log_target, std::string_view reduction,
             const Stream& stream) {
  return loss_of(Op::kl_div, nullptr, input, target,
                 {log_target ? LossKind::log_divergence : LossKind::divergence, reduction}, stream);
}

Array mse_loss_backward(const Array& grad, const Array& input, const Array& target, std::string_view reduction,
                        const Stream& stream) {
  return loss_of(Op::mse_loss_backward, &grad, input, target, {LossKind::squared, reduction}, stream);
}
Array l1_loss_backward(const Array& grad, const Array& input, const Array& target, std::string_view reduction,
                       const Stream& stream) {
  return loss_of(Op::l1_loss_backward, &grad, input, target, {LossKind::absolute, reduction}, stream);
}
Array huber_loss_backward(const Array& grad, const Array& input, const Array& target, double delta,
                          std::string_view reduction, const Stream& stream) {
  constexpr Op op = Op::huber_loss_backward;
  return loss_of(op, &grad, input, target, {LossKind::huber, reduction, checked(op, "delta", delta, false)}, stream);
}
Array smooth_l1_loss_backward(const Array& grad, const Array& input, const Array& target, double beta,
                              std::string_view reduction, const Stream& stream) {
  constexpr Op op = Op::smooth_l1_loss_backward;
  return loss_of(op, &grad, input, target, {LossKind::smooth, reduction, checked(op, "beta", beta, true)}, stream);
}
Array binary_cross_entropy_with_logits_backward(const Array& grad, const Array& input, const Array& target,
                                                const LogitLossOptions& o, const Stream& stream) {
  return loss_of(Op::binary_cross_entropy_with_logits_backward, &grad, input, target,
                 {LossKind::logits, o.reduction, 0, o.weight, o.pos_weight}, stream);
}
Array kl_div_backward(const Array& grad, const Array& input, const Array& target, bool log_target,
                      std::string_view reduction, const Stream& stream) {
  return loss_of(Op::kl_div_backward, &grad, input, target,
                 {log_target ? LossKind::log_divergence : LossKind::divergence, reduction}, stream);
}

}  // namespace stator::nn
