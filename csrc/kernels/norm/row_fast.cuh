// Normalised rows and their gradients on the fast host: loops over a row, which stays in the cache between them.
#pragma once

#include "kernels/norm/activations_fast.cuh"
#include "kernels/norm/column_sums.cuh"
#include "kernels/norm/row_tile.cuh"

namespace stator::STATOR_TARGET::norm {

// A call, which all kernels share.
template <class T, class G>
STATOR_CALL RowScale<opmath_t<T>> fast_scale(const G& group, const params::RowNorm& p, const T* row) {
  using A = opmath_t<T>;
  Moments<A> moments = moments_over<A>(group, p.n, p.centered, [=](int64_t i) { return A(row[i]); });
  A factor = A(1);
  if (!gives_deviation(moments.m2, p)) {
    factor =
        SquareRange<A>::factor(group.template map_reduce<A>(p.n, Max{}, [=](int64_t i) { return abs(A(row[i])); }));
    if (factor != A(1))
      moments = moments_over<A>(group, p.n, p.centered, [=](int64_t i) { return A(row[i]) * factor; });
  }
  return row_scale(moments.mean, moments.m2, factor, p);
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
  const auto normal = [=](int64_t i) { return scale.normal(A(x[i])); };
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
               [=](int64_t i) { return scale.above(A(from[i])) * factor + shift; });
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
  const T* STATOR_RESTRICT const bias = static_cast<const T*>(p.bias);
  T* STATOR_RESTRICT const out = static_cast<T*>(p.y) + row * p.n;
  const RowScale<A> scale = fast_scale(group, p, x);
  const auto normal = [=](int64_t i) { return scale.normal(A(x[i])); };
  const auto scaled = [=](int64_t i) { return Weighted ? normal(i) * A(weight[i]) : normal(i); };
  A buffer[slope_chunk];
  const auto straight = [&](int64_t first, int64_t count) {
    if (bias != nullptr)
      return fast_slopes(
          p.activation, count, grad + first, [=](int64_t i) { return scaled(first + i) + A(bias[first + i]); }, buffer);
    return fast_slopes(p.activation, count, grad + first, [=](int64_t i) { return scaled(first + i); }, buffer);
  };
  const A* g = buffer;
  A plain = A(0), weighted = A(0);
  for (int64_t first = 0; first < p.n; first += slope_chunk) {
    const int64_t count = p.n - first < slope_chunk ? p.n - first : slope_chunk;
    g = straight(first, count);
    const auto slope = [=](int64_t i) { return Weighted ? g[i] * A(weight[first + i]) : g[i]; };
    if (p.centered) plain += group.template map_sum<A>(count, slope);
    weighted += group.template map_sum<A>(count, [=](int64_t i) { return slope(i) * normal(first + i); });
  }
  const A divisor = row_divisor<A>(p);
  plain /= divisor;
  weighted /= divisor;
  for (int64_t first = 0; first < p.n; first += slope_chunk) {
    const int64_t count = p.n - first < slope_chunk ? p.n - first : slope_chunk;
    if (p.n > slope_chunk) g = straight(first, count);
    const A* STATOR_RESTRICT const from = g;
    const auto both = [=](int64_t k) {
      const int64_t i = first + k;
      const A v = normal(i);
      dw[i] += from[k] * v;
      out[i] = T(scale.slope((Weighted ? from[k] * A(weight[i]) : from[k]) - plain - v * weighted));
      return from[k];
    };
    if (p.dbias != nullptr)
      group.for_each(count, [=](int64_t k) { db[first + k] += both(k); });
    else
      group.for_each(count, [=](int64_t k) { both(k); });
  }
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

// A row of channels.
template <class T, int Size>
STATOR_KERNEL(Size) void fast_channel_norm_backward_kernel(params::RowNorm p) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const int64_t row = group.block(), first = row % p.groups * p.channels, all = p.groups * p.channels;
  const T* const x = static_cast<const T*>(p.x) + row * p.n;
  const T* const grad = static_cast<const T*>(p.grad) + row * p.n;
  const T* const weight = static_cast<const T*>(p.weight);
  const T* const bias = static_cast<const T*>(p.bias);
  A* const partial = static_cast<A*>(p.partials) + row / p.groups * 2 * all + first;
  const RowScale<A> scale = fast_scale(group, p, x);
  const auto weight_of = [=](int64_t c) { return weight != nullptr ? A(weight[first + c]) : A(1); };
  // f(i, count, above, slope) for chunks from element i of the row on, all of them of channel c: what is above the
  // mean, and the gradients with the activation's slopes.
  A buffer[slope_chunk];
  const auto for_chunks = [&](int64_t c, auto f) {
    const A factor = scale.inverse * weight_of(c), shift = bias != nullptr ? A(bias[first + c]) : A(0);
    for (int64_t i = c * p.inner; i < (c + 1) * p.inner; i += slope_chunk) {
      const int64_t left = (c + 1) * p.inner - i, count = left < slope_chunk ? left : slope_chunk;
      const auto above = [=](int64_t k) { return scale.above(A(x[i + k])); };
      f(i, count, above,
        fast_slopes(p.activation, count, grad + i, [=](int64_t k) { return above(k) * factor + shift; }, buffer));
    }
  };
  A plain = A(0), weighted = A(0);
  for (int64_t c = 0; c < p.channels; ++c) {
    A g = A(0), gv = A(0);
    for_chunks(c, [&](int64_t, int64_t count, auto above, const A* slope) {
      g += group.template map_sum<A>(count, [=](int64_t k) { return slope[k]; });
      gv += group.template map_sum<A>(count, [=](int64_t k) { return slope[k] * above(k); });
    });
    gv *= scale.inverse;
    partial[c] = gv;
    partial[all + c] = g;
    plain += weight_of(c) * g;
    weighted += weight_of(c) * gv;
  }
  plain = mean_if(p.centered, plain, p.n);
  weighted = weighted / row_divisor<A>(p) * scale.inverse;
  for (int64_t c = 0; c < p.channels; ++c) {
    const A w = weight_of(c);
    for_chunks(c, [&](int64_t i, int64_t count, auto above, const A* slope) {
      T* const out = static_cast<T*>(p.y) + row * p.n + i;
      group.for_each(count, [=](int64_t k) { out[k] = T(scale.slope(slope[k] * w - plain - above(k) * weighted)); });
    });
  }
}

}  // namespace stator::STATOR_TARGET::norm
