// Bessel and Airy functions, named after their entries of ops.def.
#pragma once

#include "../math/bessel_airy.cuh"
#include "../math/bessel_first_kind.cuh"
#include "../math/bessel_modified.cuh"

namespace stator::STATOR_TARGET::elementwise::functors {

struct i0 {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    return bessel_i<0, false>(x);
  }
};

struct i0e {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    return bessel_i<0, true>(x);
  }
};

struct i1 {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    return bessel_i<1, false>(x);
  }
};

struct i1e {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    return bessel_i<1, true>(x);
  }
};

struct k0 {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    return bessel_k<0, false>(x);
  }
};

struct k0e {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    return bessel_k<0, true>(x);
  }
};

struct k1 {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    return bessel_k<1, false>(x);
  }
};

struct k1e {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    return bessel_k<1, true>(x);
  }
};

struct j0 {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    return bessel_j<0>(x);
  }
};

struct j1 {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    return bessel_j<1>(x);
  }
};

struct y0 {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    return bessel_y<0>(x);
  }
};

struct y1 {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    return bessel_y<1>(x);
  }
};

struct spherical_bessel_j0 {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    return stator::STATOR_TARGET::spherical_bessel_j0(x);
  }
};

struct airy_ai {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    return stator::STATOR_TARGET::airy_ai(x);
  }
};

}  // namespace stator::STATOR_TARGET::elementwise::functors
