// The error function and related functions: functors named after their entries of ops.def, for the functions of
// device/math/special_error.cuh.
#pragma once

#include "../math/complex_special.cuh"
#include "../math/special_error.cuh"

namespace stator::STATOR_TARGET::elementwise::functors {

namespace math = stator::STATOR_TARGET;

struct erf {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return math::erf(x);
  }
};

struct erfc {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return math::erfc(x);
  }
};

struct erfcx {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return math::erfcx(x);
  }
};

struct erfinv {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return math::erfinv(x);
  }
};

struct ndtr {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return math::ndtr(x);
  }
};

struct log_ndtr {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return math::log_ndtr(x);
  }
};

struct ndtri {
  template <class C>
  STATOR_FN C operator()(C p) const {
    return math::ndtri(p);
  }
};

struct expit {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return math::expit(x);
  }
};

struct logit {
  template <class C>
  STATOR_FN C operator()(C p) const {
    return math::logit(p);
  }
};

struct entr {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return math::entr(x);
  }
};

// 0 if x is 0, unless y is NaN.
struct xlogy {
  template <class C>
  STATOR_FN C operator()(C x, C y) const {
    return x == C(0) && !math::isnan(y) ? C(0) : x * math::log(y);
  }
};

struct xlog1py {
  template <class C>
  STATOR_FN C operator()(C x, C y) const {
    return x == C(0) && !math::isnan(y) ? C(0) : x * math::log1p(y);
  }
};

}  // namespace stator::STATOR_TARGET::elementwise::functors
