// complex64 and complex128 as plain data with the layout of C's and CUDA's complex numbers.
#pragma once

#include <stator/export.hpp>

namespace stator {

template <class T>
struct alignas(2 * sizeof(T)) complex {
  T re, im;

  complex() = default;
  STATOR_HD constexpr complex(T real, T imag = T(0)) : re(real), im(imag) {}
  template <class U>
  STATOR_HD explicit constexpr complex(const complex<U>& other) : re(T(other.re)), im(T(other.im)) {}
};

template <class T>
STATOR_HD constexpr complex<T> operator+(complex<T> a, complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
STATOR_HD constexpr complex<T> operator-(complex<T> a, complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
STATOR_HD constexpr complex<T> operator-(complex<T> a) {
  return {-a.re, -a.im};
}
// Here and below one part is a sum with a negated factor, not a difference: g++ 12 fuses alternating sums and
// differences (vfmaddsub) despite -ffp-contract=off, and only where it vectorises.
template <class T>
STATOR_HD constexpr complex<T> operator*(complex<T> a, complex<T> b) {
  return {a.re * b.re + (-a.im) * b.im, a.re * b.im + a.im * b.re};
}
// Smith's method (Algorithm 116, CACM 1962): no overflow where the quotient is representable.
template <class T>
STATOR_HD constexpr complex<T> operator/(complex<T> a, complex<T> b) {
  const T abs_re = b.re < T(0) ? -b.re : b.re;
  const T abs_im = b.im < T(0) ? -b.im : b.im;
  if (abs_re == T(0) && abs_im == T(0)) return {a.re / abs_re, a.im / abs_re};
  if (!(abs_re >= abs_im)) {  // multiply both by -i
    a = {a.im, -a.re};
    b = {b.im, -b.re};
  }
  const T ratio = b.im / b.re;
  const T scale = T(1) / (b.re + b.im * ratio);
  return {(a.re + a.im * ratio) * scale, (a.im + (-a.re) * ratio) * scale};
}
template <class T>
STATOR_HD constexpr bool operator==(complex<T> a, complex<T> b) {
  return a.re == b.re && a.im == b.im;
}

using complex64 = complex<float>;
using complex128 = complex<double>;

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<complex<T>> = true;

// The real type of a complex type; a real type is its own.
template <class T>
struct real_type {
  using type = T;
};
template <class T>
struct real_type<complex<T>> {
  using type = T;
};
template <class T>
using real_t = typename real_type<T>::type;

}  // namespace stator
