// The moments of Adam, which LAMB has too.
#pragma once

#include "kernels/optim/step.cuh"

namespace stator::STATOR_TARGET::optim {

template <class A>
struct Moments {
  A beta1, beta2, keep1, keep2, eps;
  A unbias1, root2;  // 1 / (1 - beta1^step), 1 / sqrt(1 - beta2^step)

  STATOR_FN explicit Moments(const params::OptimNumbers& n)
      : beta1(A(n.beta1)), beta2(A(n.beta2)), keep1(A(1 - n.beta1)), keep2(A(1 - n.beta2)), eps(A(n.eps)) {
    const double step = value_of(n.step);
    unbias1 = A(1 / (1 - power(n.beta1, step)));
    root2 = A(1 / sqrt(1 - power(n.beta2, step)));
  }
  STATOR_FN void update(A grad, A (&s)[2]) const {
    s[0] = beta1 * s[0] + keep1 * grad;
    s[1] = beta2 * s[1] + keep2 * grad * grad;
  }
  STATOR_FN A deviation(A square) const { return sqrt(square) * root2 + eps; }
};

}  // namespace stator::STATOR_TARGET::optim
