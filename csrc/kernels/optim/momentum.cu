// Rules without second moments: stochastic gradient descent, with the momentum of Sutskever et al. (ICML 2013) as
// PyTorch has it, and Lion (Chen et al., NeurIPS 2023).
#include "host/launcher.hpp"
#include "kernels/optim/step.cuh"

namespace stator::STATOR_TARGET::optim {
namespace {

template <class A>
struct Sgd {
  static constexpr int states = 1;
  static constexpr bool writes_param = true, writes_states = true;
  A rate, decay, momentum, keep;
  bool remembers, starts, nesterov;

  STATOR_FN explicit Sgd(const params::OptimNumbers& n)
      : rate(A(value_of(n.lr))),
        decay(A(n.weight_decay)),
        momentum(A(n.momentum)),
        keep(A(1 - n.dampening)),
        remembers(n.momentum != 0),
        starts(value_of(n.step) == 1),
        nesterov(n.nesterov) {}
  STATOR_FN void operator()(A grad, A& param, A (&s)[1]) const {
    grad += decay * param;
    if (remembers) {
      s[0] = starts ? grad : momentum * s[0] + keep * grad;
      grad = nesterov ? grad + momentum * s[0] : s[0];
    }
    param -= rate * grad;
  }
};

template <class A>
struct Lion {
  static constexpr int states = 1;
  static constexpr bool writes_param = true, writes_states = true;
  A rate, decay, beta1, beta2, keep1, keep2;

  STATOR_FN explicit Lion(const params::OptimNumbers& n)
      : rate(A(value_of(n.lr))),
        decay(A(value_of(n.lr) * n.weight_decay)),
        beta1(A(n.beta1)),
        beta2(A(n.beta2)),
        keep1(A(1 - n.beta1)),
        keep2(A(1 - n.beta2)) {}
  STATOR_FN void operator()(A grad, A& param, A (&s)[1]) const {
    const A mean = beta1 * s[0] + keep1 * grad;
    const A sign = mean > A(0) ? A(1) : mean < A(0) ? A(-1) : mean;  // NaN stays
    param -= decay * param;
    param -= rate * sign;
    s[0] = beta2 * s[0] + keep2 * grad;
  }
};

void sgd(const params::Queue& q, const params::OptimStep& p) { launch_step<Sgd>(q, p, "sgd"); }
void lion(const params::Queue& q, const params::OptimStep& p) { launch_step<Lion>(q, p, "lion"); }

}  // namespace

}  // namespace stator::STATOR_TARGET::optim

STATOR_LAUNCHER(optim, sgd)
STATOR_LAUNCHER(optim, lion)
