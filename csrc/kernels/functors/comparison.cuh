// Comparisons: NaN is equal to nothing and less than nothing.
#pragma once

#include "device/column.cuh"

namespace stator::STATOR_COLUMN::functors {

struct equal {
  static constexpr bool modular = true;
  template <class C>
  STATOR_FN bool operator()(C a, C b) const {
    return a == b;
  }
};

struct less {
  template <class C>
  STATOR_FN bool operator()(C a, C b) const {
    return a < b;
  }
};

}  // namespace stator::STATOR_COLUMN::functors
