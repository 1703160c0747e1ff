// Normalised rows and their gradients on the fast host: loops over a row, which stays in the cache between them.
#pragma once

#include "kernels/norm/column_sums.cuh"
#include "kernels/norm/row_tile.cuh"

namespace stator::STATOR_TARGET::norm {

template <class T, class G>
STATOR_FN RowScale<opmath_t<T>> fast_scale(const G& group, const params::RowNorm& p, const T* row) {
  using A = opmath_t<T>;
  A mean = A(0);
  if (p.centered) mean = group.template map_sum<A>(p.n, [=](int64_t i) { return A(row[i]); }) / A(p.n);
  const A m2 = group.template map_sum<A>(p.n, [=](int64_t i) {
    const A d = A(row[i]) - mean;
    return d * d;
  });
  return row_scale(mean, m2, p);
}

// out[i] = the activation of value(i), for i in [0, n).
template <class T, class G, class F>
STATOR_FN void fast_store(const G& group, params::NormActivation kind, int64_t n, T* out, F value) {
  using A = opmath_t<T>;
  if (kind == params::NormActivation::none) {
    group.for_each(n, [=](int64_t i) { out[i] = T(value(i)); });
    return;
  }
  constexpr int64_t chunk = 256;
  A buffer[chunk];
  const auto apply = [&](auto f) {
    for (int64_t first = 0; first < n; first += chunk) {
      const int64_t count = n - first < chunk ? n - first : chunk;
      for (int64_t i = 0; i < count; ++i) buffer[i] = value(first + i);
      for (int64_t i = 0; i < count; ++i) out[first + i] = T(f(buffer[i]));
    }
  };
  namespace f = elementwise::functors;
  if (kind == params::NormActivation::relu) return apply(f::relu{});
  if (kind == params::NormActivation::silu) return apply(f::silu{});
  apply(f::gelu{});
}

template <class T, class G>
STATOR_FN const T* fast_input(const G& group, const params::RowNorm& p, int64_t row) {
  using A = opmath_t<T>;
  const T* const x = static_cast<const T*>(p.x) + row * p.n;
  if (p.residual == nullptr) return x;
  const T* const added = static_cast<const T*>(p.residual) + row * p.n;
  T* const sum = static_cast<T*>(p.sum) + row * p.n;
  group.for_each(p.n, [=](int64_t i) { sum[i] = T(A(x[i]) + A(added[i])); });
  return sum;
}

// Element i has weight i.
template <class T, int Size>
STATOR_KERNEL(Size) void fast_row_norm_kernel(params::RowNorm p) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const T* const x = fast_input<T>(group, p, group.block());
  T* const out = static_cast<T*>(p.y) + group.block() * p.n;
  const T* const weight = static_cast<const T*>(p.weight);
  const T* const bias = static_cast<const T*>(p.bias);
  const RowScale<A> scale = fast_scale(group, p, x);
  if (p.lengths != nullptr) store_length<T>(p, group.block(), scale);
  const auto normal = [=](int64_t i) { return (A(x[i]) - scale.mean) * scale.inverse; };
  const auto store = [&](auto value) { fast_store(group, p.activation, p.n, out, value); };
  if (weight != nullptr && bias != nullptr)
    store([=](int64_t i) { return normal(i) * A(weight[i]) + A(bias[i]); });
  else if (weight != nullptr)
    store([=](int64_t i) { return normal(i) * A(weight[i]); });
  else if (bias != nullptr)
    store([=](int64_t i) { return normal(i) + A(bias[i]); });
  else
    store(normal);
}

// A row of channels.
template <class T, int Size>
STATOR_KERNEL(Size) void fast_channel_norm_kernel(params::RowNorm p) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const int64_t row = group.block(), first = row % p.groups * p.channels;
  const T* const x = fast_input<T>(group, p, row);
  const T* const weight = static_cast<const T*>(p.weight);
  const T* const bias = static_cast<const T*>(p.bias);
  const RowScale<A> scale = fast_scale(group, p, x);
  if (p.lengths != nullptr) store_length<T>(p, row, scale);
  for (int64_t c = 0; c < p.channels; ++c) {
    const A factor = weight != nullptr ? scale.inverse * A(weight[first + c]) : scale.inverse;
    const A shift = bias != nullptr ? A(bias[first + c]) : A(0);
    const T* const from = x + c * p.inner;
    fast_store(group, p.activation, p.inner, static_cast<T*>(p.y) + row * p.n + c * p.inner,
               [=](int64_t i) { return (A(from[i]) - scale.mean) * factor + shift; });
  }
}

template <class A>
STATOR_FN A mean_if(bool wanted, A sum, int64_t n) {
  return wanted ? sum / A(n) : A(0);
}

// A block takes neighbouring rows, and sums the gradients of the weights in its part of the scratch memory.
template <class T, bool Weighted, class G>
STATOR_FN void fast_row_gradient(const G& group, const params::RowNorm& p, int64_t row, opmath_t<T>* STATOR_RESTRICT dw,
                                 opmath_t<T>* STATOR_RESTRICT db) {
  using A = opmath_t<T>;
  const T* STATOR_RESTRICT const x = static_cast<const T*>(p.x) + row * p.n;
  const T* STATOR_RESTRICT const grad = static_cast<const T*>(p.grad) + row * p.n;
  const T* STATOR_RESTRICT const weight = static_cast<const T*>(p.weight);
  T* STATOR_RESTRICT const out = static_cast<T*>(p.y) + row * p.n;
  const RowScale<A> scale = fast_scale(group, p, x);
  const auto normal = [=](int64_t i) { return (A(x[i]) - scale.mean) * scale.inverse; };
  const auto slope = [=](int64_t i) { return Weighted ? A(grad[i]) * A(weight[i]) : A(grad[i]); };
  const A divisor = row_divisor<A>(p);
  const A plain = p.centered ? group.template map_sum<A>(p.n, slope) / divisor : A(0);
  const A weighted = group.template map_sum<A>(p.n, [=](int64_t i) { return slope(i) * normal(i); }) / divisor;
  const auto both = [=](int64_t i) {
    const A v = normal(i), g = A(grad[i]);
    dw[i] += g * v;
    out[i] = T(scale.inverse * (slope(i) - plain - v * weighted));
    return g;
  };
  if (p.dbias != nullptr)
    group.for_each(p.n, [=](int64_t i) { db[i] += both(i); });
  else
    group.for_each(p.n, [=](int64_t i) { both(i); });
}

template <class T, int Size>
STATOR_KERNEL(Size) void fast_row_norm_backward_kernel(params::RowNorm p) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const int64_t width = p.dbias != nullptr ? 2 * p.n : p.n;
  A* const dw = static_cast<A*>(p.partials) + group.block() * width;
  A* const db = dw + p.n;
  for (int64_t i = 0; i < width; ++i) dw[i] = A(0);
  const int64_t first = group.block() * p.rows / group.blocks(), last = (group.block() + 1) * p.rows / group.blocks();
  for (int64_t row = first; row < last; ++row)
    p.weight != nullptr ? fast_row_gradient<T, true>(group, p, row, dw, db)
                        : fast_row_gradient<T, false>(group, p, row, dw, db);
}

template <class T, int Size>
STATOR_KERNEL(Size) void fast_channel_norm_backward_kernel(params::RowNorm p) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const int64_t row = group.block(), first = row % p.groups * p.channels, all = p.groups * p.channels;
  const T* const x = static_cast<const T*>(p.x) + row * p.n;
  const T* const grad = static_cast<const T*>(p.grad) + row * p.n;
  const T* const weight = static_cast<const T*>(p.weight);
  A* const partial = static_cast<A*>(p.partials) + row / p.groups * 2 * all + first;
  const RowScale<A> scale = fast_scale(group, p, x);
  A plain = A(0), weighted = A(0);
  for (int64_t c = 0; c < p.channels; ++c) {
    const T* const xc = x + c * p.inner;
    const T* const gc = grad + c * p.inner;
    const A g = group.template map_sum<A>(p.inner, [=](int64_t i) { return A(gc[i]); });
    const A gv = scale.inverse *
                 group.template map_sum<A>(p.inner, [=](int64_t i) { return A(gc[i]) * (A(xc[i]) - scale.mean); });
    const A w = weight != nullptr ? A(weight[first + c]) : A(1);
    partial[c] = gv;
    partial[all + c] = g;
    plain += w * g;
    weighted += w * gv;
  }
  plain = mean_if(p.centered, plain, p.n);
  weighted = weighted / row_divisor<A>(p) * scale.inverse;
  for (int64_t c = 0; c < p.channels; ++c) {
    const T* const xc = x + c * p.inner;
    const T* const gc = grad + c * p.inner;
    T* const out = static_cast<T*>(p.y) + row * p.n + c * p.inner;
    const A w = weight != nullptr ? A(weight[first + c]) : A(1);
    group.for_each(p.inner, [=](int64_t i) {
      out[i] = T(scale.inverse * (A(gc[i]) * w - plain - (A(xc[i]) - scale.mean) * weighted));
    });
  }
}

}  // namespace stator::STATOR_TARGET::norm
