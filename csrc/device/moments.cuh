// Mean and squared deviations of many elements from those of parts (Chan, Golub and LeVeque, Algorithms for Computing
// the Sample Variance, 1983). Nothing is subtracted but elements and means, so nothing large cancels.
#pragma once

#include "device/target.cuh"

namespace stator::STATOR_TARGET {

template <class A>
struct Moments {
  A n, mean, m2;  // the number of elements, their mean, and the sum of their squared deviations from it
};

struct CombineMoments {
  template <class A>
  STATOR_FN Moments<A> operator()(const Moments<A>& a, const Moments<A>& b) const {
    const A n = a.n + b.n;
    const A share = n > A(0) ? b.n / n : A(0), apart = b.mean - a.mean;
    return {n, a.mean + apart * share, a.m2 + b.m2 + apart * apart * a.n * share};
  }
};

// The moments of those of `value` for which used(i) is true; the others are 0.
template <class A, int N, class F>
STATOR_FN Moments<A> moments_of(const A (&value)[N], int count, F used) {
  A sum = A(0);
  STATOR_UNROLL()
  for (int i = 0; i < N; ++i) sum += value[i];
  const A mean = count > 0 ? sum / A(count) : A(0);
  A m2 = A(0);
  STATOR_UNROLL()
  for (int i = 0; i < N; ++i) {
    const A d = value[i] - mean;
    m2 += used(i) ? d * d : A(0);
  }
  return {A(count), mean, m2};
}

}  // namespace stator::STATOR_TARGET
