// The gamma function's kin: the words of device/math/special_gamma.cuh and special_zeta.cuh under the names of their rows.
#pragma once

#include "device/math/special_zeta.cuh"

namespace stator::STATOR_TARGET::elementwise::functors {

namespace words = stator::STATOR_TARGET;

struct gammaln {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    return words::gammaln(x);
  }
};

struct digamma {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    return words::digamma(x);
  }
};

struct polygamma {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C n, C x) const {
    return words::polygamma(n, x);
  }
};

struct zeta {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x, C q) const {
    return words::zeta(x, q);
  }
};

}  // namespace stator::STATOR_TARGET::elementwise::functors
