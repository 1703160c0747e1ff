// Activations and their gradients.
#pragma once

#include "device/column.cuh"

namespace stator::STATOR_COLUMN::functors {

// NaN stays NaN.
struct relu {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return x < C(0) ? C(0) : x;
  }
};

// The gradient passes where x > 0, and where x is NaN as in PyTorch's threshold_backward.
struct relu_backward {
  template <class C>
  STATOR_FN C operator()(C grad, C x) const {
    return x <= C(0) ? C(0) : grad;
  }
};

}  // namespace stator::STATOR_COLUMN::functors
