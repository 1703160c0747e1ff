// Softmax and log-softmax along contiguous rows, forward and backward: one group a row.
// The row maximum is subtracted first, so that no exponential overflows.
#pragma once

#include "device/convert.cuh"
#include "device/functional.cuh"
#include "device/group.cuh"
#include "device/math/math.cuh"
#include "device/vector.cuh"
#include "params/nn.hpp"

namespace stator::STATOR_TARGET::nn {

// Any row length: the row is read once for the maximum, once for the sum and once for the result (from cache).
template <class T, int Size, bool Log>
STATOR_KERNEL void softmax_row_kernel(const T* x, T* y, int64_t n, int64_t row_stride) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const T* row = x + group.block() * row_stride;
  T* out = y + group.block() * n;
  const A largest = group.template map_reduce<A>(n, Max{}, [=](int64_t i) { return A(row[i]); });
  if constexpr (fast_host && !Log && std::is_same_v<T, A>) {
    // One exponential an element: the unscaled value waits in the output.
    group.for_each(n, [=](int64_t i) { out[i] = exp(row[i] - largest); });
    const A sum = group.template map_sum<A>(n, [=](int64_t i) { return out[i]; });
    const A scale = A(1) / sum;
    group.for_each(n, [=](int64_t i) { out[i] = out[i] * scale; });
  } else {
    const A sum = group.template map_sum<A>(n, [=](int64_t i) { return exp(A(row[i]) - largest); });
    if constexpr (Log) {
      const A shift = log(sum);
      group.for_each(n, [=](int64_t i) { out[i] = T((A(row[i]) - largest) - shift); });
    } else {
      const A scale = A(1) / sum;
      group.for_each(n, [=](int64_t i) { out[i] = T(exp(A(row[i]) - largest) * scale); });
    }
  }
}

// Rows of at most Size * V * Items elements stay in registers: one read, one write. 16-byte aligned rows only.
template <class T, int Size, int V, int Items, bool Log>
STATOR_KERNEL void softmax_cached_kernel(const T* x, T* y, int64_t n, int64_t row_stride) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const T* row = x + group.block() * row_stride;
  T* out = y + group.block() * n;
  A values[Items][V];
  A largest = -limits<A>::infinity();
  for (int k = 0; k < Items; ++k) {
    const int64_t first = (int64_t(k) * Size + group.rank()) * V;
    if (first < n) {
      const Vec<T, V> in = load_vector<V>(row + first);
      for (int j = 0; j < V; ++j) {
        values[k][j] = A(in.value[j]);
        largest = Max{}(largest, values[k][j]);
      }
    }
  }
  largest = group.reduce(largest, Max{});
  A sum = 0;
  for (int k = 0; k < Items; ++k) {
    if ((int64_t(k) * Size + group.rank()) * V < n) {
      for (int j = 0; j < V; ++j) {
        values[k][j] -= largest;
        const A e = exp(values[k][j]);
        sum += e;
        if constexpr (!Log) values[k][j] = e;
      }
    }
  }
  sum = group.reduce(sum, Sum{});
  const A scale = Log ? log(sum) : A(1) / sum;
  for (int k = 0; k < Items; ++k) {
    const int64_t first = (int64_t(k) * Size + group.rank()) * V;
    if (first < n) {
      Vec<T, V> result;
      for (int j = 0; j < V; ++j) result.value[j] = T(Log ? values[k][j] - scale : values[k][j] * scale);
      store_vector(out + first, result);
    }
  }
}

// softmax: dx = y (g - sum(g y)). log-softmax: dx = g - exp(y) sum(g).
template <class T, int Size, bool Log>
STATOR_KERNEL void softmax_row_backward_kernel(const T* grad, const T* saved, T* dx, int64_t n, int64_t grad_stride,
                                               int64_t saved_stride) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const T* g = grad + group.block() * grad_stride;
  const T* y = saved + group.block() * saved_stride;
  T* out = dx + group.block() * n;
  const A sum = group.template map_sum<A>(n, [=](int64_t i) { return Log ? A(g[i]) : A(g[i]) * A(y[i]); });
  group.for_each(n, [=](int64_t i) { out[i] = T(Log ? A(g[i]) - exp(A(y[i])) * sum : A(y[i]) * (A(g[i]) - sum)); });
}

}  // namespace stator::STATOR_TARGET::nn
