// What precedes and follows a normalisation in the same pass on the fast host.
#pragma once

#include "kernels/norm/activations.cuh"

namespace stator::STATOR_TARGET::norm {

// Elements whose activations are computed at a time. They are computed by calls, which all kernels share, because the
// activations are most of a kernel's code; all that they call is inlined, so that their loops vectorise.
inline constexpr int64_t activation_chunk = 256;

// out[i] = the activation of value[i], for i in [0, n).
template <class T>
__attribute__((flatten)) STATOR_CALL void store_activated(params::NormActivation kind, int64_t n,
                                                          const opmath_t<T>* STATOR_RESTRICT value,
                                                          T* STATOR_RESTRICT out) {
  with_activation<false>(kind, [=](auto f) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = T(f(value[i]));
  });
}

// slope[i] = the gradient of value[i], which the activation was applied to.
template <class T>
__attribute__((flatten)) STATOR_CALL void store_slopes(params::NormActivation kind, int64_t n,
                                                       const T* STATOR_RESTRICT grad,
                                                       const opmath_t<T>* STATOR_RESTRICT value,
                                                       opmath_t<T>* STATOR_RESTRICT slope) {
  using A = opmath_t<T>;
  with_activation<true>(kind, [=](auto f) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) slope[i] = f(A(grad[i]), value[i]);
  });
}

// out[i] = the activation of value(i), for i in [0, n).
template <class T, class G, class F>
STATOR_FN void fast_store(const G& group, params::NormActivation kind, int64_t n, T* out, F value) {
  if (kind == params::NormActivation::none) return group.for_each(n, [=](int64_t i) { out[i] = T(value(i)); });
  if constexpr (std::is_same_v<opmath_t<T>, T>) {
    if (kind == params::NormActivation::relu)
      return group.for_each(n, [=](int64_t i) { out[i] = elementwise::functors::relu{}(value(i)); });
  }
  opmath_t<T> buffer[activation_chunk];
  for (int64_t first = 0; first < n; first += activation_chunk) {
    const int64_t count = n - first < activation_chunk ? n - first : activation_chunk;
    for (int64_t i = 0; i < count; ++i) buffer[i] = value(first + i);
    store_activated(kind, count, buffer, out + first);
  }
}

// Elements of a row or channel whose gradients are in memory for the loops over them.
inline constexpr int64_t slope_chunk = 2048;

// The gradients of n elements that an activation was applied to, in memory: those that are given, or `slope`, where
// value(i) is what it was applied to.
template <class T, class F>
STATOR_FN const opmath_t<T>* fast_slopes(params::NormActivation kind, int64_t n, const T* grad, F value,
                                         opmath_t<T>* STATOR_RESTRICT slope) {
  using A = opmath_t<T>;
  if (kind == params::NormActivation::none) {
    if constexpr (std::is_same_v<A, T>) {
      return grad;
    } else {
      for (int64_t i = 0; i < n; ++i) slope[i] = A(grad[i]);
      return slope;
    }
  }
  A buffer[activation_chunk];
  for (int64_t first = 0; first < n; first += activation_chunk) {
    const int64_t count = n - first < activation_chunk ? n - first : activation_chunk;
    for (int64_t i = 0; i < count; ++i) buffer[i] = value(first + i);
    store_slopes(kind, count, grad + first, buffer, slope + first);
  }
  return slope;
}

// n elements of the input from `at` on; with a residual of their sum, which is stored first.
template <class T, class G, class P>
STATOR_FN const T* fast_input(const G& group, const P& p, int64_t at, int64_t n) {
  using A = opmath_t<T>;
  const T* const x = static_cast<const T*>(p.x) + at;
  if (p.residual == nullptr) return x;
  const T* const added = static_cast<const T*>(p.residual) + at;
  T* const sum = static_cast<T*>(p.sum) + at;
  group.for_each(n, [=](int64_t i) { sum[i] = T(A(x[i]) + A(added[i])); });
  return sum;
}

}  // namespace stator::STATOR_TARGET::norm
