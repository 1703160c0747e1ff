// Rules with second moments only: Adagrad (Duchi et al., JMLR 2011), and RMSprop as PyTorch has it, with momentum and
// centred as Graves (2013) proposes.
#include "host/launcher.hpp"
#include "kernels/optim/step.cuh"

namespace stator::STATOR_TARGET::optim {
namespace {

template <class A>
struct Adagrad {
  static constexpr int states = 1;
  static constexpr bool writes_param = true, writes_states = true;
  A rate, decay, eps;

  STATOR_FN explicit Adagrad(const params::OptimNumbers& n) : decay(A(n.weight_decay)), eps(A(n.eps)) {
    rate = A(value_of(n.lr) / (1 + (value_of(n.step) - 1) * n.lr_decay));
  }
  STATOR_FN void operator()(A grad, A& param, A (&s)[1]) const {
    grad += decay * param;
    s[0] += grad * grad;
    param -= rate * grad / (sqrt(s[0]) + eps);
  }
};

template <class A>
struct Rmsprop {
  static constexpr int states = 3;
  static constexpr bool writes_param = true, writes_states = true;
  A rate, decay, alpha, keep, momentum, eps;
  bool remembers, centered;

  STATOR_FN explicit Rmsprop(const params::OptimNumbers& n)
      : rate(A(value_of(n.lr))),
        decay(A(n.weight_decay)),
        alpha(A(n.beta2)),
        keep(A(1 - n.beta2)),
        momentum(A(n.momentum)),
        eps(A(n.eps)),
        remembers(n.momentum != 0),
        centered(n.centered) {}
  // Rounding may make a small variance negative. Without branches, so that the host's loop is vectorised.
  STATOR_FN void operator()(A grad, A& param, A (&s)[3]) const {
    grad += decay * param;
    s[0] = alpha * s[0] + keep * grad * grad;
    const A mean = s[2] + keep * (grad - s[2]), about = s[0] - mean * mean;
    s[2] = centered ? mean : s[2];
    const A variance = !centered ? s[0] : about < A(0) ? A(0) : about;
    grad /= sqrt(variance) + eps;
    const A velocity = momentum * s[1] + grad;
    s[1] = remembers ? velocity : s[1];
    grad = remembers ? velocity : grad;
    param -= rate * grad;
  }
};

void adagrad(const params::Queue& q, const params::OptimStep& p) { launch_step<Adagrad>(q, p, "adagrad"); }
void rmsprop(const params::Queue& q, const params::OptimStep& p) { launch_step<Rmsprop>(q, p, "rmsprop"); }

}  // namespace

}  // namespace stator::STATOR_TARGET::optim

STATOR_LAUNCHER(optim, adagrad)
STATOR_LAUNCHER(optim, rmsprop)
