#include "ops/losses/operands.hpp"
#include "params/losses.hpp"

#include <stator/creation.hpp>

#include <cmath>
#include <string>

namespace stator::nn {
namespace {

using params::CtcLoss;

void check_integers(const OpCall& call, const Array& x, const char* what) {
  if (!in(x.dtype(), dtypes::integers))
    throw DTypeError(std::string(call.name()),
                     std::string("the ") + what + " have dtype " + std::string(name(x.dtype())),
                     "pass an integer dtype");
}

CtcLoss samples_of(OpCall& call, const Array* grad, const Array& x, const Array& targets, const Array& inputs,
                   const Array& lengths, const CtcLossOptions& o) {
  const std::string op(call.name());
  check_floating(call, x);
  check_integers(call, targets, "targets");
  check_integers(call, inputs, "input lengths");
  check_integers(call, lengths, "target lengths");
  if (x.ndim() != 3)
    throw ShapeError(op, "got log_probs " + str(x.shape()), "pass log_probs (steps, samples, classes)");
  CtcLoss p{};
  p.steps = x.shape()[0];
  p.samples = x.shape()[1];
  p.classes = x.shape()[2];
  if (p.steps == 0) throw ShapeError(op, "got log_probs " + str(x.shape()) + ", of no steps", "pass at least one step");
  if (targets.ndim() != 1 && (targets.ndim() != 2 || targets.shape()[0] != p.samples))
    throw ShapeError(op, "got log_probs " + str(x.shape()) + " and targets " + str(targets.shape()),
                     "pass targets (samples, labels), or the labels of all samples in one axis");
  for (const Array* a : {&inputs, &lengths})
    if (a->ndim() != 1 || a->shape()[0] != p.samples)
      throw ShapeError(op,
                       "got " + std::string(a == &inputs ? "input" : "target") + "_lengths " + str(a->shape()) +
                           " for log_probs " + str(x.shape()),
                       "pass a length for each sample, shape (samples,)");
  if (o.blank < 0 || o.blank >= p.classes)
    throw ValueError(op, "blank=" + std::to_string(o.blank) + " of " + std::to_string(p.classes) + " classes",
                     "the blank must be a class, from 0 to " + std::to_string(p.classes - 1));
  const Reduction reduction = reduction_of(call, o.reduction);
  p.each = reduction == Reduction::none;
  p.mean = reduction == Reduction::mean;
  if (grad) check_grad(call, *grad, p.each ? Dims{p.samples} : Dims{}, x);
  p.log_probs = x.data_ptr();
  p.targets = targets.data_ptr();
  p.grad = grad ? grad->data_ptr() : nullptr;
  p.grad_stride = grad && p.each ? grad->strides()[0] : 0;
  p.dtype = x.dtype();
  p.target_dtype = targets.dtype();
  p.zero_infinity = o.zero_infinity;
  p.blank = o.blank;
  p.joined = targets.ndim() == 1;
  p.labels = targets.size();
  p.target_strides[0] = p.joined ? 0 : targets.strides()[0];
  p.target_strides[1] = targets.strides()[p.joined ? 0 : 1];
  for (int d = 0; d < 3; ++d) p.strides[d] = x.strides()[d];
  for (int k = 0; k < 2; ++k) {
    const Array& a = k == 0 ? inputs : lengths;
    p.lengths[k] = a.data_ptr();
    p.length_dtypes[k] = a.dtype();
    p.length_strides[k] = a.strides()[0];
  }
  return p;
}

void set_states(OpCall& call, CtcLoss& p, int64_t rows) {
  const size_t bytes = p.dtype == DType::float64 ? 8 : 4;
  p.rows = rows;
  p.states = call.scratch(size_t(rows) * size_t(2 * p.labels + p.samples) * bytes);
}

}  // namespace

Array ctc_loss(const Array& log_probs, const Array& targets, const Array& input_lengths, const Array& target_lengths,
               const CtcLossOptions& o, const Stream& stream) {
  OpCall call(Op::ctc_loss, {&log_probs, &targets, &input_lengths, &target_lengths}, stream);
  CtcLoss p = samples_of(call, nullptr, log_probs, targets, input_lengths, target_lengths, o);
  if (p.samples == 0 && !p.each)  // the mean of no samples, or their sum
    return full(log_probs.backend(), {}, Scalar(p.mean ? std::nan("") : 0.0), log_probs.dtype(), call.on());
  Array out = call.empty(p.each ? Dims{p.samples} : Dims{}, log_probs.dtype());
  if (out.size() == 0) return out;
  for (const Array* a : {&log_probs, &targets, &input_lengths, &target_lengths}) call.reads(*a);
  call.writes(out);
  p.out = out.data_ptr();
  set_states(call, p, 2);
  if (!p.each) {
    p.losses = static_cast<double*>(call.scratch(size_t(p.samples) * sizeof(double)));
    p.counters = static_cast<uint32_t*>(call.zeroed_scratch(sizeof(uint32_t)));
  }
  kernels::losses::ctc_loss(call.queue(), p);
  call.finish_indices();
  return out;
}

Array ctc_loss_backward(const Array& grad, const Array& log_probs, const Array& targets, const Array& input_lengths,
                        const Array& target_lengths, const CtcLossOptions& o, const Stream& stream) {
  OpCall call(Op::ctc_loss_backward, {&grad, &log_probs, &targets, &input_lengths, &target_lengths}, stream);
  CtcLoss p = samples_of(call, &grad, log_probs, targets, input_lengths, target_lengths, o);
  Array out = call.empty(log_probs.shape(), log_probs.dtype());
  if (out.size() == 0) return out;
  for (const Array* a : {&grad, &log_probs, &targets, &input_lengths, &target_lengths}) call.reads(*a);
  call.writes(out);
  p.out = out.data_ptr();
  set_states(call, p, p.steps + 3);
  p.chain = static_cast<int32_t*>(call.scratch(size_t(p.labels + 1) * 2 * sizeof(int32_t)));
  kernels::losses::ctc_loss_backward(call.queue(), p);
  call.finish_indices();
  return out;
}

}  // namespace stator::nn
