// The activation that may follow a normalisation in the same pass, and its slope.
#pragma once

#include "device/convert.cuh"
#include "device/functors/activation.cuh"
#include "device/functors/activation_backward.cuh"
#include "params/norm.hpp"

namespace stator::STATOR_TARGET::norm {

// No activation.
struct Unchanged {
  template <class A>
  STATOR_FN A operator()(A x) const {
    return x;
  }
  template <class A>
  STATOR_FN A operator()(A grad, A) const {
    return grad;
  }
};

// f(the activation's functor), or backward f(that of its slope, which takes the gradient and what it was applied to).
template <bool Backward, class F>
STATOR_FN void with_activation(params::NormActivation kind, F f) {
  namespace in = elementwise::functors;
  const auto pick = [&](auto forward, auto backward) {
    if constexpr (Backward)
      f(backward);
    else
      f(forward);
  };
  switch (kind) {
    case params::NormActivation::relu: return pick(in::relu{}, in::relu_backward{});
    case params::NormActivation::silu: return pick(in::silu{}, in::silu_backward{});
    case params::NormActivation::gelu: return pick(in::gelu{}, in::gelu_backward{});
    default: return pick(Unchanged{}, Unchanged{});
  }
}

// Of N values; a call, which all kernels share, because three activations of each would be most of a kernel's code.
template <class A, int N>
STATOR_CALL Items<A, N> activated(params::NormActivation kind, Items<A, N> value) {
  with_activation<false>(kind, [&](auto f) {
    STATOR_UNROLL()
    for (int i = 0; i < N; ++i) value[i] = f(value[i]);
  });
  return value;
}

// The gradients of N values that the activation was applied to; a call for the same reason.
template <class A, int N>
STATOR_CALL Items<A, N> activation_slopes(params::NormActivation kind, Items<A, N> grad, Items<A, N> value) {
  with_activation<true>(kind, [&](auto f) {
    STATOR_UNROLL()
    for (int i = 0; i < N; ++i) grad[i] = f(grad[i], value[i]);
  });
  return grad;
}

}  // namespace stator::STATOR_TARGET::norm
