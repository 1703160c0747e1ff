// Mean and squared deviations of many elements from those of parts (Chan, Golub and LeVeque, Algorithms for Computing
// the Sample Variance, 1983). Only elements and means are subtracted, so large terms do not cancel.
#pragma once

#include "target.cuh"

namespace stator::STATOR_TARGET {

template <class A>
struct Moments {
  A n, mean, m2;  // the number of elements, their mean, and the sum of their squared deviations from it
};

struct CombineMoments {
  template <class A>
  STATOR_FN Moments<A> operator()(const Moments<A>& a, const Moments<A>& b) const {
    const A n = a.n + b.n;
    const A fraction = n > A(0) ? b.n / n : A(0), apart = b.mean - a.mean;
    return {n, a.mean + apart * fraction, a.m2 + b.m2 + apart * apart * a.n * fraction};
  }
};

// The moments of the `count` elements of `value` for which used(i) is true; the others must be 0. The mean is corrected
// by the mean of the deviations from it, so that the mean of equal elements is the element.
template <class A, int N, class F>
STATOR_FN Moments<A> moments_of(const A (&value)[N], int count, F used) {
  A sum = A(0);
  STATOR_UNROLL()
  for (int i = 0; i < N; ++i) sum += value[i];
  const A fraction = count > 0 ? A(1) / A(count) : A(0), mean = sum * fraction;
  A m2 = A(0), rest = A(0);
  STATOR_UNROLL()
  for (int i = 0; i < N; ++i) {
    const A d = used(i) ? value[i] - mean : A(0);
    rest += d;
    m2 += d * d;
  }
  const A shift = rest * fraction, left = m2 - rest * shift;
  return {A(count), mean + shift, left < A(0) ? A(0) : left};
}

// Whether a mean has to be computed again: its rounding error matters, since the deviation is relatively small.
template <class A>
STATOR_FN bool is_mean_coarse(A mean, A m2, A n) {
  return m2 * A(256) < mean * mean * n;
}

// The moments of n elements x(i), computed by all threads of a block; about 0 unless centered.
template <class A, class G, class F>
STATOR_FN Moments<A> moments_over(const G& group, int64_t n, bool centered, F x) {
  A mean = A(0);
  if (centered) mean = group.template map_sum<A>(n, x) / A(n);
  for (bool corrected = !centered;; corrected = true) {
    const A m2 = group.template map_sum<A>(n, [=](int64_t i) {
      const A d = x(i) - mean;
      return d * d;
    });
    if (corrected || !is_mean_coarse(mean, m2, A(n))) return {A(n), mean, m2};
    mean += group.template map_sum<A>(n, [=](int64_t i) { return x(i) - mean; }) / A(n);
  }
}

}  // namespace stator::STATOR_TARGET
