// Compensated accumulation of partial sums (Neumaier, ZAMM 54, 1974): the error of a long sum is that of its parts.
#pragma once

#include "target.cuh"

namespace stator::STATOR_TARGET {

// The compensation of an infinite sum is NaN and is ignored.
template <class T>
STATOR_FN T compensated(T sum, T error) {
  return error == error ? sum + error : sum;
}
template <class T>
STATOR_FN complex<T> compensated(complex<T> sum, complex<T> error) {
  return {compensated(sum.re, error.re), compensated(sum.im, error.im)};
}

// Knuth's exact error of an addition, which needs no comparison and therefore vectorises.
template <class T>
STATOR_FN void add_exactly(T& sum, T& error, T value) {
  const T next = sum + value;
  const T taken = next - sum;
  error = error + ((sum - (next - taken)) + (value - taken));
  sum = next;
}

template <class A>
struct Cascade {
  A sum = A(0), error = A(0);

  STATOR_FN void add(A value) { add_exactly(sum, error, value); }
  STATOR_FN A value() const { return compensated(sum, error); }
};

}  // namespace stator::STATOR_TARGET
