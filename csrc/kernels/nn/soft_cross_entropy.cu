// Cross entropy with a probability for each class as the target, forward and backward, each in one launch.
//   loss_i = sum_c w[c] q[c] (-log p[c]),  q = (1 - s) target_i + s / C,  p = softmax(logits_i)
// mean divides by the number of rows.
#include "host/launcher.hpp"
#include "kernels/nn/loss_rows.cuh"

namespace stator::STATOR_TARGET::nn {
namespace {

template <class T>
struct SoftRow : LogitRow<T> {
  using A = opmath_t<T>;
  const T* target;
  int64_t step;
  A sharp, smooth;

  STATOR_FN SoftRow(const params::CrossEntropy& p, int64_t row)
      : LogitRow<T>(p, row),
        target(static_cast<const T*>(p.target) + this->offsets.target(p)),
        step(p.target_class),
        sharp(A(1 - p.label_smoothing)),
        smooth(A(p.label_smoothing / double(p.classes))) {}

  // w[c] q[c]
  STATOR_FN A probability(int64_t c) const { return this->class_weight(c) * (sharp * A(target[c * step]) + smooth); }
};

template <class T, int Size>
STATOR_KERNEL(Size) void soft_cross_entropy_kernel(params::CrossEntropy p, int64_t rows_per_block) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const int64_t first = group.block() * rows_per_block;
  const int64_t last = first + rows_per_block < p.n ? first + rows_per_block : p.n;
  double loss_sum = 0;
  for (int64_t i = first; i < last; ++i) {
    const SoftRow<T> row(p, i);
    const A largest = row.largest(group);
    const A shift = log(row.exp_sum(group, largest));
    const A loss = group.template map_sum<A>(
        p.classes, [=](int64_t c) { return row.probability(c) * (shift - (row.logit(c) - largest)); });
    loss_sum += double(loss);
    if (p.reduction == params::LossReduction::none && group.rank() == 0) static_cast<T*>(p.out)[i] = T(loss);
  }
  if (p.reduction == params::LossReduction::none) return;
  double total[] = {loss_sum};
  if (!sum_blocks(group, p.partials, p.counters, total)) return;
  *static_cast<T*>(p.out) = convert<T>(p.reduction == params::LossReduction::mean ? total[0] / double(p.n) : total[0]);
}

template <class T, int Size>
STATOR_KERNEL(Size) void soft_cross_entropy_backward_kernel(params::CrossEntropy p, int64_t rows_per_block) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const int64_t first = group.block() * rows_per_block;
  const int64_t last = first + rows_per_block < p.n ? first + rows_per_block : p.n;
  const double denominator = p.reduction == params::LossReduction::mean ? double(p.n) : 1.0;
  const T* grads = static_cast<const T*>(p.grad);
  for (int64_t i = first; i < last; ++i) {
    const SoftRow<T> row(p, i);
    T* out = row.offsets.gradient(static_cast<T*>(p.out), p);
    const int64_t step = p.inner;
    const A grad = A(double(A(grads[row.offsets.grad(p)])) / denominator);
    const A largest = row.largest(group);
    const A total = group.template map_sum<A>(p.classes, [=](int64_t c) { return row.probability(c); });
    const A scale = total / row.exp_sum(group, largest);
    group.for_each(p.classes, [=](int64_t c) {
      out[c * step] = T(grad * (exp(row.logit(c) - largest) * scale - row.probability(c)));
    });
  }
}

int64_t soft_scratch_bytes(const params::DeviceLimits& limits, const params::CrossEntropy& p) {
  return grid(limits, p, threads_for(p)).blocks * int64_t(sizeof(double));
}

template <bool Backward>
void soft_cross_entropy(const params::Queue& q, const params::CrossEntropy& p) {
  using Tune = CrossEntropyTuning;
  const int threads = threads_for(p);
  const LossGrid g = grid(*q.limits, p, threads);
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    if constexpr (Backward) {
      const auto kernel = threads == Tune::warp ? soft_cross_entropy_backward_kernel<T, Tune::warp>
                                                : soft_cross_entropy_backward_kernel<T, Tune::block>;
      launch(q, "soft_cross_entropy_backward", kernel, {g.blocks, threads}, p, g.rows_per_block);
    } else {
      const auto kernel =
          threads == Tune::warp ? soft_cross_entropy_kernel<T, Tune::warp> : soft_cross_entropy_kernel<T, Tune::block>;
      launch(q, "soft_cross_entropy", kernel, {g.blocks, threads}, p, g.rows_per_block);
    }
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::nn

STATOR_LAUNCHER(nn, soft_cross_entropy_scratch, soft_scratch_bytes)
STATOR_LAUNCHER(nn, soft_cross_entropy, soft_cross_entropy<false>)
STATOR_LAUNCHER(nn, soft_cross_entropy_backward, soft_cross_entropy<true>)
