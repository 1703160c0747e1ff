// Functions related to the gamma function: functors named after their entries of ops.def, for the functions of
// device/math/special_gamma.cuh, special_beta.cuh, special_incomplete.cuh and special_zeta.cuh.
#pragma once

#include "../math/special_beta.cuh"
#include "../math/special_incomplete.cuh"
#include "../math/special_zeta.cuh"

namespace stator::STATOR_TARGET::elementwise::functors {

namespace math = stator::STATOR_TARGET;

struct gammaln {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    return math::gammaln(x);
  }
};

struct digamma {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    return math::digamma(x);
  }
};

struct beta {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    return math::beta(a, b);
  }
};

struct betaln {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    return math::betaln(a, b);
  }
};

struct gammainc {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C a, C x) const {
    return math::gammainc(a, x);
  }
};

struct gammaincc {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C a, C x) const {
    return math::gammaincc(a, x);
  }
};

struct polygamma {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C n, C x) const {
    return math::polygamma(n, x);
  }
};

struct zeta {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x, C q) const {
    return math::zeta(x, q);
  }
};

}  // namespace stator::STATOR_TARGET::elementwise::functors
