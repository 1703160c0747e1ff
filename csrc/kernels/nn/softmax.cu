// Softmax and log-softmax, forward and backward, along any axis. The maximum of a line is subtracted first, so that no
// exponential overflows.
#include "device/launcher.cuh"
#include "kernels/nn/softmax_fast.cuh"
#include "kernels/nn/softmax_plan.cuh"

namespace stator::STATOR_TARGET::nn {
namespace {

params::SoftmaxNeeds softmax_needs(const params::DeviceLimits& limits, const params::Softmax& p) {
  if (fast_host) return {0, 0};
  return (p.saved ? plan_softmax<true>(limits, p) : plan_softmax<false>(limits, p)).needs();
}

template <bool Backward>
void run_softmax(const params::Queue& q, const params::Softmax& p) {
  if constexpr (fast_host)
    run_fast_softmax<Backward>(q, p);
  else
    run_planned_softmax<Backward>(q, p);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::nn

STATOR_LAUNCHER(nn, softmax_needs)
STATOR_LAUNCHER(nn, softmax, run_softmax<false>)
STATOR_LAUNCHER(nn, softmax_backward, run_softmax<true>)
