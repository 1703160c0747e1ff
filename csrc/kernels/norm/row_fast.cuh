// Normalised rows and their gradients on the fast host: loops over a row, which stays in the cache between them.
#pragma once

#include "kernels/norm/activations_fast.cuh"
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

// Element i has weight i.
template <class T, int Size>
STATOR_KERNEL(Size) void fast_row_norm_kernel(params::RowNorm p) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const T* const x = fast_input<T>(group, p, group.block() * p.n, p.n);
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
  const T* const x = fast_input<T>(group, p, row * p.n, p.n);
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
template <class T, bool Weighted, class G, class Through>
STATOR_FN void fast_row_gradient(const G& group, const params::RowNorm& p, int64_t row, opmath_t<T>* STATOR_RESTRICT dw,
                                 opmath_t<T>* STATOR_RESTRICT db, Through through) {
  using A = opmath_t<T>;
  const T* STATOR_RESTRICT const x = static_cast<const T*>(p.x) + row * p.n;
  const T* STATOR_RESTRICT const grad = static_cast<const T*>(p.grad) + row * p.n;
  const T* STATOR_RESTRICT const weight = static_cast<const T*>(p.weight);
  const T* STATOR_RESTRICT const bias = static_cast<const T*>(p.bias);
  T* STATOR_RESTRICT const out = static_cast<T*>(p.y) + row * p.n;
  const RowScale<A> scale = fast_scale(group, p, x);
  const auto normal = [=](int64_t i) { return (A(x[i]) - scale.mean) * scale.inverse; };
  const auto straight = [=](int64_t i) {
    if constexpr (std::is_same_v<Through, Unchanged>) {
      return A(grad[i]);
    } else {
      const A scaled = Weighted ? normal(i) * A(weight[i]) : normal(i);
      return through(A(grad[i]), bias != nullptr ? scaled + A(bias[i]) : scaled);
    }
  };
  const auto slope = [=](int64_t i) { return Weighted ? straight(i) * A(weight[i]) : straight(i); };
  const A divisor = row_divisor<A>(p);
  const A plain = p.centered ? group.template map_sum<A>(p.n, slope) / divisor : A(0);
  const A weighted = group.template map_sum<A>(p.n, [=](int64_t i) { return slope(i) * normal(i); }) / divisor;
  const auto both = [=](int64_t i) {
    const A v = normal(i), g = straight(i);
    dw[i] += g * v;
    out[i] = T(scale.inverse * ((Weighted ? g * A(weight[i]) : g) - plain - v * weighted));
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
  with_activation<true>(p.activation, [&](auto through) {
    for (int64_t row = first; row < last; ++row)
      p.weight != nullptr ? fast_row_gradient<T, true>(group, p, row, dw, db, through)
                          : fast_row_gradient<T, false>(group, p, row, dw, db, through);
  });
}

template <class T, class G, class Through>
STATOR_FN void fast_channels_gradient(const G& group, const params::RowNorm& p, int64_t row, Through through) {
  using A = opmath_t<T>;
  const int64_t first = row % p.groups * p.channels, all = p.groups * p.channels;
  const T* const x = static_cast<const T*>(p.x) + row * p.n;
  const T* const grad = static_cast<const T*>(p.grad) + row * p.n;
  const T* const weight = static_cast<const T*>(p.weight);
  const T* const bias = static_cast<const T*>(p.bias);
  A* const partial = static_cast<A*>(p.partials) + row / p.groups * 2 * all + first;
  const RowScale<A> scale = fast_scale(group, p, x);
  // Element i of channel c: what is above the mean, and the gradient with the activation's slope.
  const auto above = [=](int64_t c, int64_t i) { return A(x[c * p.inner + i]) - scale.mean; };
  const auto slope = [=](int64_t c, A factor, A shift) {
    return [=](int64_t i) { return through(A(grad[c * p.inner + i]), above(c, i) * factor + shift); };
  };
  const auto weight_of = [=](int64_t c) { return weight != nullptr ? A(weight[first + c]) : A(1); };
  const auto slope_of = [=](int64_t c) {
    return slope(c, scale.inverse * weight_of(c), bias != nullptr ? A(bias[first + c]) : A(0));
  };
  A plain = A(0), weighted = A(0);
  for (int64_t c = 0; c < p.channels; ++c) {
    const auto gc = slope_of(c);
    const A g = group.template map_sum<A>(p.inner, gc);
    const A gv = scale.inverse * group.template map_sum<A>(p.inner, [=](int64_t i) { return gc(i) * above(c, i); });
    partial[c] = gv;
    partial[all + c] = g;
    plain += weight_of(c) * g;
    weighted += weight_of(c) * gv;
  }
  plain = mean_if(p.centered, plain, p.n);
  weighted = weighted / row_divisor<A>(p) * scale.inverse;
  for (int64_t c = 0; c < p.channels; ++c) {
    const auto gc = slope_of(c);
    T* const out = static_cast<T*>(p.y) + row * p.n + c * p.inner;
    const A w = weight_of(c);
    group.for_each(p.inner,
                   [=](int64_t i) { out[i] = T(scale.inverse * (gc(i) * w - plain - above(c, i) * weighted)); });
  }
}

template <class T, int Size>
STATOR_KERNEL(Size) void fast_channel_norm_backward_kernel(params::RowNorm p) {
  const Group<Size> group;
  with_activation<true>(p.activation,
                        [&](auto through) { fast_channels_gradient<T>(group, p, group.block(), through); });
}

}  // namespace stator::STATOR_TARGET::norm
