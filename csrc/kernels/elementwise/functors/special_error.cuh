// The error function and its kin: the words of device/math/special_error.cuh under the names of their rows.
#pragma once

#include "device/math/special_error.cuh"

namespace stator::STATOR_TARGET::elementwise::functors {

namespace words = stator::STATOR_TARGET;

struct erf {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return words::erf(x);
  }
};

struct erfc {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return words::erfc(x);
  }
};

struct erfinv {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return words::erfinv(x);
  }
};

struct ndtr {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return words::ndtr(x);
  }
};

struct log_ndtr {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return words::log_ndtr(x);
  }
};

struct ndtri {
  template <class C>
  STATOR_FN C operator()(C p) const {
    return words::ndtri(p);
  }
};

struct expit {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return words::expit(x);
  }
};

struct logit {
  template <class C>
  STATOR_FN C operator()(C p) const {
    return words::logit(p);
  }
};

struct entr {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return words::entr(x);
  }
};

// 0 where x is 0, whatever the logarithm, but for NaN.
struct xlogy {
  template <class C>
  STATOR_FN C operator()(C x, C y) const {
    return x == C(0) && !words::isnan(y) ? C(0) : x * words::log(y);
  }
};

struct xlog1py {
  template <class C>
  STATOR_FN C operator()(C x, C y) const {
    return x == C(0) && !words::isnan(y) ? C(0) : x * words::log1p(y);
  }
};

}  // namespace stator::STATOR_TARGET::elementwise::functors
