// What precedes and follows a normalisation in the same pass on the fast host.
#pragma once

#include "kernels/norm/activations.cuh"

namespace stator::STATOR_TARGET::norm {

// out[i] = the activation of value(i), for i in [0, n).
template <class T, class G, class F>
STATOR_FN void fast_store(const G& group, params::NormActivation kind, int64_t n, T* out, F value) {
  using A = opmath_t<T>;
  with_activation<false>(kind, [&](auto f) {
    if constexpr (std::is_same_v<decltype(f), Unchanged>) {
      group.for_each(n, [=](int64_t i) { out[i] = T(value(i)); });
    } else {
      constexpr int64_t chunk = 256;
      A buffer[chunk];
      for (int64_t first = 0; first < n; first += chunk) {
        const int64_t count = n - first < chunk ? n - first : chunk;
        for (int64_t i = 0; i < count; ++i) buffer[i] = value(first + i);
        for (int64_t i = 0; i < count; ++i) out[first + i] = T(f(buffer[i]));
      }
    }
  });
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
