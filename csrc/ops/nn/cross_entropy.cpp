#include <stator/creation.hpp>
#include <stator/movement.hpp>
#include <stator/nn/nn.hpp>

#include "core/op_call.hpp"
#include "ops/checks.hpp"
#include "params/nn.hpp"

#include <span>
#include <string>

namespace stator::nn {
namespace {

using params::LossReduction;

// An array whose axes from `first` on step as one, by `step`.
struct Positions {
  Array array;
  int64_t step;
};

// The array itself or, where its axes from `first` on do not step as one, a contiguous copy; declared as read.
Positions positions(OpCall& call, const Array& x, int first) {
  int64_t step = 0, extent = 1;
  bool together = true;
  for (int d = x.ndim() - 1; d >= first; --d) {
    if (x.shape()[d] == 1) continue;
    if (step == 0 && extent == 1)
      step = x.strides()[d];
    else
      together = together && x.strides()[d] == step * extent;
    extent *= x.shape()[d];
  }
  if (together) {
    call.reads(x);
    return {x, step};
  }
  Array dense = copy(x, call.on());
  call.reads(dense);
  return {dense, 1};
}

struct Operands {
  params::CrossEntropy p{};
  bool soft = false;
  int axis = 0;       // of the classes, as the caller has them
  bool flat = false;  // they are last, and the kernels have (rows, classes)
  Dims rows;          // the shape of the loss of each row
  Dims shape;         // of the logits as the kernels have them, (n, classes, ...)
  std::vector<Positions> kept;
  Array weight;  // contiguous, or empty
};

void check_weight(const std::string& op, const Array& weight, const Array& logits, int64_t classes) {
  if (weight.ndim() != 1 || weight.shape()[0] != classes)
    throw ShapeError(op, "got weight " + str(weight.shape()) + " for logits " + str(logits.shape()),
                     "pass one weight a class, shape (classes,)");
  if (weight.dtype() != logits.dtype())
    throw DTypeError(op, "weight has dtype " + std::string(name(weight.dtype())),
                     "pass a weight of the logits' dtype " + std::string(name(logits.dtype())));
}

// What the target must be; returns whether it has probabilities.
bool check_target(const std::string& op, const Array& target, const Array& logits, const Dims& rows,
                  const CrossEntropyOptions& o) {
  const bool soft = in(target.dtype(), dtypes::floats) && target.shape() == logits.shape();
  if (!soft && !(target.shape() == rows))
    throw ShapeError(op, "got logits " + str(logits.shape()) + " and target " + str(target.shape()),
                     "pass a target of the logits' shape without the axis of classes, which is axis 1 unless `axis` "
                     "says otherwise, or probabilities of the logits' shape");
  if (!soft && !in(target.dtype(), dtypes::integers))
    throw DTypeError(op, "the target has dtype " + std::string(name(target.dtype())),
                     "pass class numbers of an integer dtype, or probabilities of the logits' shape");
  if (soft && target.dtype() != logits.dtype())
    throw DTypeError(op,
                     "the target has dtype " + std::string(name(target.dtype())) + ", logits are " +
                         std::string(name(logits.dtype())),
                     "convert one with astype");
  if (soft && o.ignore_index >= 0)
    throw ValueError(op, "ignore_index=" + std::to_string(o.ignore_index) + " for a target of probabilities",
                     "leave it out; a row of zeros does not count");
  return soft;
}

Array with_classes_second(const Array& x, int axis) {
  const int64_t from[] = {axis}, to[] = {1};
  return moveaxis(x, from, to);
}

// Checks the operands and sets the parameters that cross entropy and its gradient share.
Operands loss_parameters(OpCall& call, const Array& logits, const Array& target, const CrossEntropyOptions& o) {
  const std::string op(call.name());
  if (!in(logits.dtype(), dtypes::floats))
    throw DTypeError(op, "got an array of dtype " + std::string(name(logits.dtype())),
                     "pass float16, bfloat16, float32 or float64; astype converts");
  if (logits.ndim() < 1)
    throw ShapeError(op, "logits have no axes", "pass logits of shape (n, classes, ...) or (classes,)");
  const int axis = logits.ndim() == 1 ? 0 : 1;  // of the classes as the kernels have them
  Operands found;
  const int given = found.axis = o.axis ? normalize_axis(op, *o.axis, logits.ndim()) : axis;
  found.rows = Dims(logits.ndim() - 1);
  for (int d = 0; d < logits.ndim(); ++d)
    if (d != given) found.rows[d > given ? d - 1 : d] = logits.shape()[d];
  const bool soft = found.soft = check_target(op, target, logits, found.rows, o);
  params::CrossEntropy& p = found.p;
  p.classes = logits.shape()[given];
  if (o.weight) check_weight(op, *o.weight, logits, p.classes);
  if (!(o.label_smoothing >= 0 && o.label_smoothing <= 1))
    throw ValueError(op, "label_smoothing=" + number_text(o.label_smoothing), "pass a number from 0 to 1");
  if (o.reduction == "mean")
    p.reduction = LossReduction::mean;
  else if (o.reduction == "sum")
    p.reduction = LossReduction::sum;
  else if (o.reduction != "none")
    throw ValueError(op, "reduction is '" + std::string(o.reduction) + "'", "pass 'mean', 'sum' or 'none'");
  p.n = 1;
  for (int d = 0; d < found.rows.size(); ++d) p.n *= found.rows[d];
  Array from = logits, to = target;
  found.flat = given != axis && given == logits.ndim() - 1;
  if (found.flat) {
    const int64_t lines[] = {p.n, p.classes};
    from = reshape(logits, lines, {}, call.on());
    to = reshape(target, std::span<const int64_t>(lines, soft ? 2 : 1), {}, call.on());
  } else if (given != axis) {
    from = with_classes_second(logits, given);
    if (soft) to = with_classes_second(target, given);
  }
  found.shape = from.shape();
  p.inner = 1;
  for (int d = 2; d < from.ndim(); ++d) p.inner *= from.shape()[d];
  found.kept = {positions(call, from, axis + 1), positions(call, to, soft ? axis + 1 : 1)};
  const Array &x = found.kept[0].array, &t = found.kept[1].array;
  p.logits = x.data_ptr();
  p.target = t.data_ptr();
  if (o.weight) found.weight = o.weight->is_contiguous() ? *o.weight : copy(*o.weight, call.on());
  p.weight = o.weight ? found.weight.data_ptr() : nullptr;
  p.dtype = logits.dtype();
  p.target_dtype = target.dtype();
  p.logit_strides[0] = axis == 1 ? x.strides()[0] : 0;
  p.logit_strides[1] = x.strides()[axis];
  p.logit_inner = found.kept[0].step;
  p.target_stride = axis == 1 ? t.strides()[0] : 0;
  p.target_class = soft ? t.strides()[axis] : 0;
  p.target_inner = found.kept[1].step;
  p.ignore_index = o.ignore_index;
  p.label_smoothing = o.label_smoothing;
  if (o.weight) call.reads(found.weight);
  return found;
}

}  // namespace

Array cross_entropy(const Array& logits, const Array& target, const CrossEntropyOptions& options,
                    const Stream& stream) {
  OpCall call(Op::cross_entropy, {&logits, &target, options.weight}, stream);
  Operands operands = loss_parameters(call, logits, target, options);
  params::CrossEntropy& p = operands.p;
  const bool each = p.reduction == LossReduction::none;
  // An empty batch has an empty result for "none"; for "sum" and "mean" a launch of one block without rows gives 0 and
  // NaN.
  Array out = call.empty(each ? operands.rows : Dims{}, logits.dtype());
  if (out.size() == 0) return out;
  call.writes(out);
  p.out = out.data_ptr();
  if (!each) {
    const int64_t bytes = operands.soft ? kernels::nn::soft_cross_entropy_scratch(call.limits(), p)
                                        : kernels::nn::cross_entropy_scratch(call.limits(), p);
    p.partials = call.scratch(size_t(bytes));
    p.counters = static_cast<uint32_t*>(call.zeroed_scratch(sizeof(uint32_t)));
  }
  (operands.soft ? kernels::nn::soft_cross_entropy : kernels::nn::cross_entropy)(call.queue(), p);
  if (!operands.soft) call.finish_indices();
  return out;
}

Array cross_entropy_backward(const Array& grad, const Array& logits, const Array& target,
                             const CrossEntropyOptions& options, const Stream& stream) {
  OpCall call(Op::cross_entropy_backward, {&grad, &logits, &target, options.weight}, stream);
  Operands operands = loss_parameters(call, logits, target, options);
  params::CrossEntropy& p = operands.p;
  const bool each = p.reduction == LossReduction::none;
  const Dims expected = each ? operands.rows : Dims{};
  if (!(grad.shape() == expected))
    throw ShapeError(std::string(call.name()),
                     "grad " + str(grad.shape()) + " where the forward's result is " + str(expected),
                     "pass the gradient of cross_entropy's result");
  if (grad.dtype() != logits.dtype())
    throw DTypeError(std::string(call.name()),
                     "grad is " + std::string(name(grad.dtype())) + ", logits are " + std::string(name(logits.dtype())),
                     "convert grad with astype");
  Array out = call.empty(operands.flat ? logits.shape() : operands.shape, logits.dtype());
  const int64_t second[] = {1}, there[] = {operands.axis};
  const bool moved = !operands.flat && logits.ndim() > 1 && operands.axis != 1;
  const Array found = moved ? moveaxis(out, second, there) : out;
  if (out.size() == 0) return found;
  const int64_t rows[] = {p.n};
  const Array slopes = operands.flat && each ? reshape(grad, rows, {}, call.on()) : grad;
  const Positions slope = positions(call, slopes, 1);
  call.writes(out);
  p.grad = slope.array.data_ptr();
  p.grad_stride = slopes.ndim() > 0 ? slope.array.strides()[0] : 0;
  p.grad_inner = slope.step;
  p.out = out.data_ptr();
  if (operands.soft) {
    kernels::nn::soft_cross_entropy_backward(call.queue(), p);
    return found;
  }
  if (const int64_t bytes = kernels::nn::cross_entropy_backward_scratch(call.limits(), p); bytes > 0) {
    // The total follows the sums of the blocks.
    p.partials = call.scratch(size_t(bytes) + sizeof(double));
    p.total = reinterpret_cast<double*>(static_cast<std::byte*>(p.partials) + bytes);
    p.counters = static_cast<uint32_t*>(call.zeroed_scratch(sizeof(uint32_t)));
  }
  kernels::nn::cross_entropy_backward(call.queue(), p);
  call.finish_indices();
  return found;
}

}  // namespace stator::nn
