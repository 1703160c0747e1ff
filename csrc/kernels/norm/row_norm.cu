// Layer, root-mean-square, group and instance normalisation: a row, or a group of channels of a sample, has a mean and
// a deviation of its own.
#include "device/vector.cuh"
#include "host/launcher.hpp"
#include "kernels/norm/row_fast.cuh"
#include "kernels/norm/row_threads.cuh"

namespace stator::STATOR_TARGET::norm {
namespace {

struct RowTuning {
  static constexpr int warp = 32, block = 256;  // threads for short and medium rows
  static constexpr int wide = 512;              // for longer ones, of which two blocks are resident; not for gradients
  static constexpr int large = 1024;            // for long ones
  static constexpr int64_t rows = 16;           // of a block that sums gradients of weights
};

struct RowPlan {
  bool channels, in_registers, vectors;
  int threads;
  int64_t gradient_blocks;  // that sum gradients of weights
};

RowPlan plan_rows(const params::DeviceLimits& limits, const params::RowNorm& p) {
  using Tune = RowTuning;
  const int V = 16 / itemsize(p.dtype), per_thread = itemsize(p.dtype) == 2 ? V : 2 * V;
  RowPlan plan{};
  plan.channels = p.groups > 1 || p.inner > 1;
  plan.in_registers = p.n <= Tune::large * per_thread;
  plan.threads = p.n <= Tune::warp * per_thread                        ? Tune::warp
                 : p.n <= Tune::block * per_thread                     ? Tune::block
                 : p.n <= Tune::wide * per_thread && p.grad == nullptr ? Tune::wide
                                                                       : Tune::large;
  plan.vectors = p.n % V == 0;
  for (const void* operand : {p.x, p.residual, p.grad, static_cast<const void*>(p.y), static_cast<const void*>(p.sum)})
    plan.vectors &= is_aligned(operand);
  if (!plan.channels) plan.vectors &= is_aligned(p.weight) && is_aligned(p.bias);
  const int64_t most = fast_host ? 4 * int64_t(std::max(1, limits.multiprocessors)) : waves(limits, plan.threads);
  plan.gradient_blocks = std::clamp<int64_t>(p.rows / Tune::rows, 1, most);
  return plan;
}

RowChannels channels_of(const params::RowNorm& p, const RowPlan& plan) {
  return {FastDivmod64(std::max<int64_t>(p.inner, 1)), 0, plan.channels, p.inner % (16 / itemsize(p.dtype)) == 0};
}

template <class T>
void launch_forward(const params::Queue& q, const params::RowNorm& p, const RowPlan& plan) {
  using Tune = RowTuning;
  if (!plan.in_registers)
    return launch(q, "row_norm_long", row_norm_long_kernel<T, Tune::large>, {p.rows, Tune::large}, p,
                  channels_of(p, plan), plan.vectors);
  const auto kernel = plan.threads == Tune::warp    ? row_norm_registers_kernel<T, Tune::warp>
                      : plan.threads == Tune::block ? row_norm_registers_kernel<T, Tune::block>
                      : plan.threads == Tune::wide  ? row_norm_registers_kernel<T, Tune::wide>
                                                    : row_norm_registers_kernel<T, Tune::large>;
  const int64_t blocks = std::min(p.rows, waves(*q.limits, plan.threads));
  launch(q, "row_norm_registers", kernel, {blocks, plan.threads}, p, channels_of(p, plan), plan.vectors);
}

template <class T>
void forward(const params::Queue& q, const params::RowNorm& p) {
  const RowPlan plan = plan_rows(*q.limits, p);
  constexpr int block = RowTuning::block;
  if constexpr (fast_host)
    launch(q, "row_norm", plan.channels ? fast_channel_norm_kernel<T, block> : fast_row_norm_kernel<T, block>,
           {p.rows, block}, p);
  else
    launch_forward<T>(q, p, plan);
}

// The gradient of x, and partial gradients of the weights.
template <class T>
void launch_gradient(const params::Queue& q, const params::RowNorm& p, const RowPlan& plan) {
  using Tune = RowTuning;
  if constexpr (fast_host) {
    if (plan.channels)
      return launch(q, "channel_norm_backward", fast_channel_norm_backward_kernel<T, Tune::block>,
                    {p.rows, Tune::block}, p);
    return launch(q, "row_norm_backward", fast_row_norm_backward_kernel<T, Tune::block>,
                  {plan.gradient_blocks, Tune::block}, p);
  } else {
    if (plan.channels)
      return launch(q, "channel_norm_backward", channel_norm_backward_kernel<T, Tune::block>, {p.rows, Tune::block}, p,
                    channels_of(p, plan), plan.vectors);
    if (!plan.in_registers)
      return launch(q, "row_norm_long_backward", row_norm_long_backward_kernel<T, Tune::large>, {p.rows, Tune::large},
                    p, channels_of(p, plan), plan.vectors);
    const auto kernel = plan.threads == Tune::warp    ? row_norm_registers_backward_kernel<T, Tune::warp>
                        : plan.threads == Tune::block ? row_norm_registers_backward_kernel<T, Tune::block>
                                                      : row_norm_registers_backward_kernel<T, Tune::large>;
    launch(q, "row_norm_registers_backward", kernel, {plan.gradient_blocks, plan.threads}, p, plan.vectors);
  }
}

template <class T>
void backward(const params::Queue& q, const params::RowNorm& p) {
  using A = opmath_t<T>;
  const RowPlan plan = plan_rows(*q.limits, p);
  launch_gradient<T>(q, p, plan);
  if constexpr (!fast_host) {
    if (!plan.channels && !plan.in_registers)
      return launch(q, "row_norm_weights", row_norm_weights_kernel<T, RowTuning::block>,
                    {ceil_div(p.n, 32), RowTuning::block}, p);
  }
  launch_column_sums<T>(
      q, {static_cast<const A*>(p.partials), static_cast<T*>(p.dweight), static_cast<T*>(p.dbias),
          plan.channels ? p.rows / p.groups : plan.gradient_blocks, plan.channels ? p.groups * p.channels : p.n});
}

int64_t row_norm_scratch(const params::DeviceLimits& limits, const params::RowNorm& p) {
  const RowPlan plan = plan_rows(limits, p);
  const int64_t computed = p.dtype == DType::float64 ? 8 : 4;
  if (plan.channels) return p.rows * p.channels * 2 * computed;
  if (!fast_host && !plan.in_registers) return p.rows * 3 * computed;
  return plan.gradient_blocks * (p.dbias != nullptr ? 2 : 1) * p.n * computed;
}

void row_norm(const params::Queue& q, const params::RowNorm& p) {
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) { forward<T>(q, p); });
}
void row_norm_backward(const params::Queue& q, const params::RowNorm& p) {
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) { backward<T>(q, p); });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::norm

STATOR_LAUNCHER(norm, row_norm)
STATOR_LAUNCHER(norm, row_norm_scratch)
STATOR_LAUNCHER(norm, row_norm_backward)
