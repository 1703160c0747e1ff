// Cross entropy with integer targets, forward and backward, each in one launch; the gradient of a mean of many rows
// takes one more, for the sum of their weights.
//   loss_i = (1 - s) w[t_i] (-log p[t_i]) + s / C * sum_c w[c] (-log p[c]),  p = softmax(logits_i)
// mean divides by the sum of w[t_i], as PyTorch does.
#include "device/fault.cuh"
#include "host/launcher.hpp"
#include "kernels/nn/loss_rows.cuh"

namespace stator::STATOR_TARGET::nn {
namespace {

template <class T, int Size>
STATOR_KERNEL(Size) void cross_entropy_kernel(params::CrossEntropy p, params::ErrorSlot slot, uint16_t op,
                                              int64_t rows_per_block) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const int64_t first = group.block() * rows_per_block;
  const int64_t last = first + rows_per_block < p.n ? first + rows_per_block : p.n;
  // Loss and target weight of the block's rows.
  double loss_sum = 0, weight_sum = 0;
  for (int64_t i = first; i < last; ++i) {
    const LossRow<T> row(p, i);
    A loss = 0;
    if (row.counts) {
      const RegisterRow<T, Size> logits(group, row);
      const A largest = logits.largest();
      const A shift = log(logits.exp_sum(largest));
      const A at_target = row.class_weight(row.target) * (shift - (row.logit(row.target) - largest));
      loss = at_target;
      if (p.label_smoothing != 0) {
        const A all = group.template map_sum<A>(
            p.classes, [=](int64_t c) { return row.class_weight(c) * (shift - (row.logit(c) - largest)); });
        loss = A(1 - p.label_smoothing) * at_target + A(p.label_smoothing / double(p.classes)) * all;
      }
      weight_sum += double(row.class_weight(row.target));
    } else if (row.target != p.ignore_index && group.rank() == 0) {
      report(slot, op, params::Fault::index_out_of_range, i, row.target);
    }
    loss_sum += double(loss);
    if (p.reduction == params::LossReduction::none && group.rank() == 0) static_cast<T*>(p.out)[i] = T(loss);
  }
  if (p.reduction == params::LossReduction::none) return;
  double total[] = {loss_sum, weight_sum};
  if (!sum_blocks(group, p.partials, p.counters, total)) return;
  *static_cast<T*>(p.out) = convert<T>(p.reduction == params::LossReduction::mean ? total[0] / total[1] : total[0]);
}

// The sum of the class weights of the targets of rows [first, last) that count.
template <class T, int Size>
STATOR_FN double target_weights(const Group<Size>& group, const params::CrossEntropy& p, int64_t first, int64_t last) {
  double weights = 0;
  STATOR_UNROLL(4)
  for (int64_t i = first + group.rank(); i < last; i += Group<Size>::size) {
    const LossRow<T> row(p, i);
    weights += row.counts ? double(row.class_weight(row.target)) : 0.0;
  }
  return group.reduce(weights, Sum{});
}

// Sums the weights of all targets.
template <class T, int Size>
STATOR_KERNEL_RESIDENT(Size, 1) void cross_entropy_weights_kernel(params::CrossEntropy p, int64_t rows_per_block) {
  const Group<Size> group;
  const int64_t first = group.block() * rows_per_block;
  const int64_t last = first + rows_per_block < p.n ? first + rows_per_block : p.n;
  double total[] = {target_weights<T>(group, p, first, last)};
  if (sum_blocks(group, p.partials, p.counters, total)) *p.total = total[0];
}

// Fast host: the row is worked on where its gradient will be, so that each logit is read and each exponential computed
// once, in loops over neighbours that become vector instructions.
template <class T, class Group>
STATOR_FN void gradient_in_place(const Group& group, const LossRow<T>& row, T* STATOR_RESTRICT out, T grad,
                                 T target_weight, T spread, T smooth) {
  const int64_t classes = row.classes, stride = row.stride;
  const T* STATOR_RESTRICT const logits = row.logits;
  const T* STATOR_RESTRICT const weight = row.weight;
  if (stride == 1)
    for (int64_t c = 0; c < classes; ++c) out[c] = logits[c];
  else
    for (int64_t c = 0; c < classes; ++c) out[c] = logits[c * stride];
  const T largest = group.template map_reduce<T>(classes, Max{}, [=](int64_t c) { return out[c]; });
  for (int64_t c = 0; c < classes; ++c) out[c] = exp(out[c] - largest);
  const T scale = T(1) / group.template map_sum<T>(classes, [=](int64_t c) { return out[c]; });
  const T at_target = grad * ((target_weight + spread) * (out[row.target] * scale) - target_weight -
                              smooth * row.class_weight(row.target));
  if (weight != nullptr)
    for (int64_t c = 0; c < classes; ++c)
      out[c] = grad * ((target_weight + spread) * (out[c] * scale) - smooth * weight[c]);
  else
    for (int64_t c = 0; c < classes; ++c) out[c] = grad * ((target_weight + spread) * (out[c] * scale) - smooth);
  out[row.target] = at_target;
}

template <class T, int Size>
STATOR_KERNEL(Size) void cross_entropy_backward_kernel(params::CrossEntropy p, params::ErrorSlot slot, uint16_t op,
                                                       int64_t rows_per_block) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const int64_t first = group.block() * rows_per_block;
  const int64_t last = first + rows_per_block < p.n ? first + rows_per_block : p.n;
  // Denominator of the mean.
  double denominator = 1;
  if (p.reduction == params::LossReduction::mean)
    denominator = p.total != nullptr ? *p.total : target_weights<T>(group, p, 0, p.n);
  // Gradients of the block's rows.
  const T* grads = static_cast<const T*>(p.grad);
  const A smooth = A(p.label_smoothing / double(p.classes)), sharp = A(1 - p.label_smoothing);
  for (int64_t i = first; i < last; ++i) {
    const LossRow<T> row(p, i);
    const int64_t step = p.inner;
    T* out = row.offsets.gradient(static_cast<T*>(p.out), p);
    if (!row.counts) {
      if (row.target != p.ignore_index && group.rank() == 0)
        report(slot, op, params::Fault::index_out_of_range, i, row.target);
      group.for_each(p.classes, [=](int64_t c) { out[c * step] = T(0.0f); });
      continue;
    }
    const A grad = A(double(A(grads[row.offsets.grad(p)])) / denominator);
    const A target_weight = sharp * row.class_weight(row.target);
    const A spread = p.label_smoothing != 0 ? smooth * row.weight_sum(group) : A(0);
    if constexpr (fast_host && std::is_same_v<T, A>) {
      if (step == 1) {
        gradient_in_place(group, row, out, grad, target_weight, spread, smooth);
        continue;
      }
    }
    const RegisterRow<T, Size> logits(group, row);
    const A largest = logits.largest();
    const A scale = A(1) / logits.exp_sum(largest);
    logits.for_each([=](int64_t c, A logit) {
      const A probability = exp(logit - largest) * scale;
      const A at_target = c == row.target ? target_weight : A(0);
      out[c * step] = T(grad * ((target_weight + spread) * probability - at_target - smooth * row.class_weight(c)));
    });
  }
}

int64_t scratch_bytes(const params::DeviceLimits& limits, const params::CrossEntropy& p) {
  return grid(limits, p, threads_for(p)).blocks * 2 * int64_t(sizeof(double));
}

LossGrid weights_grid(const params::DeviceLimits& limits, const params::CrossEntropy& p) {
  return grid(limits, p, CrossEntropyTuning::block, CrossEntropyTuning::weighed);
}

// None where a launch for the sum would cost more than every block's own.
int64_t backward_scratch_bytes(const params::DeviceLimits& limits, const params::CrossEntropy& p) {
  const bool few = p.n <= int64_t(CrossEntropyTuning::targets) * threads_for(p);
  if (p.reduction != params::LossReduction::mean || few) return 0;
  return weights_grid(limits, p).blocks * int64_t(sizeof(double));
}

template <bool Backward>
void cross_entropy(const params::Queue& q, const params::CrossEntropy& p) {
  using Tune = CrossEntropyTuning;
  const int threads = threads_for(p);
  const LossGrid g = grid(*q.limits, p, threads);
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    if constexpr (Backward) {
      if (p.total != nullptr) {
        const LossGrid w = weights_grid(*q.limits, p);
        launch(q, "cross_entropy_weights", cross_entropy_weights_kernel<T, Tune::block>, {w.blocks, Tune::block}, p,
               w.rows_per_block);
      }
      const auto kernel = threads == Tune::warp ? cross_entropy_backward_kernel<T, Tune::warp>
                                                : cross_entropy_backward_kernel<T, Tune::block>;
      launch(q, "cross_entropy_backward", kernel, {g.blocks, threads}, p, q.slot, q.op, g.rows_per_block);
    } else {
      const auto kernel =
          threads == Tune::warp ? cross_entropy_kernel<T, Tune::warp> : cross_entropy_kernel<T, Tune::block>;
      launch(q, "cross_entropy", kernel, {g.blocks, threads}, p, q.slot, q.op, g.rows_per_block);
    }
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::nn

STATOR_LAUNCHER(nn, cross_entropy_scratch, scratch_bytes)
STATOR_LAUNCHER(nn, cross_entropy_backward_scratch, backward_scratch_bytes)
STATOR_LAUNCHER(nn, cross_entropy, cross_entropy<false>)
STATOR_LAUNCHER(nn, cross_entropy_backward, cross_entropy<true>)
