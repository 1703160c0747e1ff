// Special functions: the words of device/math.cuh under the names of their rows.
#pragma once

#include "device/math.cuh"

namespace stator::STATOR_COLUMN::functors {

// Inside `struct exp` the name exp is the struct.
namespace words = stator::STATOR_COLUMN;

struct exp {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return words::exp(x);
  }
};

struct log {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return words::log(x);
  }
};

struct tanh {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return words::tanh(x);
  }
};

}  // namespace stator::STATOR_COLUMN::functors
