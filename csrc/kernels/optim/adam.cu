// Adam (Kingma and Ba, ICLR 2015) and AdamW (Loshchilov and Hutter, ICLR 2019).
#include "host/launcher.hpp"
#include "kernels/optim/moments.cuh"

namespace stator::STATOR_TARGET::optim {
namespace {

template <class A>
struct Adam {
  static constexpr int states = 2;
  static constexpr bool writes_param = true, writes_states = true;
  Moments<A> moments;
  A decay, rate;
  bool decoupled;

  STATOR_FN explicit Adam(const params::OptimNumbers& n) : moments(n), decoupled(n.decoupled) {
    const double lr = value_of(n.lr);
    decay = A(decoupled ? lr * n.weight_decay : n.weight_decay);
    rate = A(lr / (1 - power(n.beta1, value_of(n.step))));
  }
  STATOR_FN void operator()(A grad, A& param, A (&s)[2]) const {
    const A pull = decay * param;  // both are chosen without branches, so that the host's loop is vectorised
    grad = decoupled ? grad : grad + pull;
    param = decoupled ? param - pull : param;
    moments.update(grad, s);
    param -= rate * s[0] / moments.deviation(s[1]);
  }
};

void adam(const params::Queue& q, const params::OptimStep& p) { launch_step<Adam>(q, p, "adam"); }

}  // namespace

}  // namespace stator::STATOR_TARGET::optim

STATOR_LAUNCHER(optim, adam)
