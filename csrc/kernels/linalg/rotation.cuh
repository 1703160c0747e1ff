// Jacobi rotations; the phase of a complex entry is part of the rotation. Golub and Van Loan, Matrix Computations
// (2013), section 8.5.
#pragma once

#include "kernels/linalg/small.cuh"

namespace stator::STATOR_TARGET::linalg {

template <class T>
struct Rotation {
  real_t<T> s, tau, shift;  // the sine; the tangent of half the angle; the change of the diagonal entries
  T w;                      // the phase of the entry
};

// The rotation, by at most 45 degrees, that makes entry (p, q) of a Hermitian matrix zero; size = |apq| > 0.
template <class T>
STATOR_FN Rotation<T> rotation(real_t<T> app, real_t<T> aqq, T apq, real_t<T> size) {
  using R = real_t<T>;
  const R theta = (aqq - app) / (size + size);
  const R t = (theta < R(0) ? R(-1) : R(1)) / (abs(theta) + sqrt(theta * theta + R(1)));
  const R c = R(1) / sqrt(t * t + R(1));
  return {t * c, t * c / (R(1) + c), t * size, scaled_by(apq, R(1) / size)};
}

// x, y = c x - s w y, c y + s conj(w) x, computed as corrections of x and y: products with a rounded cosine or phase
// would change all lengths in the same direction, a little with every rotation (Rutishauser, Numerische Mathematik 9,
// 1966).
template <class T>
STATOR_FN void rotate(const Rotation<T>& r, T w, T& x, T& y) {
  const T p = x, q = y;
  x = p - scaled_by(w * q + scaled_by(p, r.tau), r.s);
  y = q + scaled_by(conjugate(w) * p - scaled_by(q, r.tau), r.s);
}

template <class T>
STATOR_FN real_t<T> length_of(T x) {
  if constexpr (is_complex<T>)
    return hypot(x.re, x.im);
  else
    return abs(x);
}

}  // namespace stator::STATOR_TARGET::linalg
