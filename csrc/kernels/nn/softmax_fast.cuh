// Softmax on the fast host. Two kernels: contiguous rows, and columns (an axis that is not the last, strided operands,
// or a conversion).
#pragma once

#include "device/cascade.cuh"
#include "device/convert.cuh"
#include "device/functional.cuh"
#include "device/group.cuh"
#include "device/math/math.cuh"
#include "host/launch.hpp"
#include "params/nn.hpp"

namespace stator::STATOR_TARGET::nn {

// Contiguous rows of any length, one block per row. The row is read three times: for the maximum, the sum and the
// result.
template <class T, int Size, bool Log>
STATOR_KERNEL(Size) void fast_softmax_row_kernel(const T* x, T* y, int64_t n, int64_t row_stride, opmath_t<T> factor) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const T* row = x + group.block() * row_stride;
  T* out = y + group.block() * n;
  const A largest = group.template map_reduce<A>(n, Max{}, [=](int64_t i) { return A(row[i]) * factor; });
  if constexpr (!Log && std::is_same_v<T, A>) {
    // One exponential per element, which is kept in the output until it is scaled.
    group.for_each(n, [=](int64_t i) { out[i] = exp(row[i] * factor - largest); });
    const A sum = group.template map_sum<A>(n, [=](int64_t i) { return out[i]; });
    const A scale = A(1) / sum;
    group.for_each(n, [=](int64_t i) { out[i] = out[i] * scale; });
  } else {
    const A sum = group.template map_sum<A>(n, [=](int64_t i) { return exp(A(row[i]) * factor - largest); });
    if constexpr (Log) {
      const A shift = log(sum);
      group.for_each(n, [=](int64_t i) { out[i] = T((A(row[i]) * factor - largest) - shift); });
    } else {
      const A scale = A(1) / sum;
      group.for_each(n, [=](int64_t i) { out[i] = T(exp(A(row[i]) * factor - largest) * scale); });
    }
  }
}

// softmax: dx = y (g - sum(g y)). log-softmax: dx = g - exp(y) sum(g).
template <class T, int Size, bool Log>
STATOR_KERNEL(Size) void fast_softmax_row_backward_kernel(const T* grad, const T* saved, T* dx, int64_t n,
                                                          int64_t grad_stride, int64_t saved_stride,
                                                          opmath_t<T> factor) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const T* g = grad + group.block() * grad_stride;
  const T* y = saved + group.block() * saved_stride;
  T* out = dx + group.block() * n;
  const A sum = group.template map_sum<A>(n, [=](int64_t i) { return Log ? A(g[i]) : A(g[i]) * A(y[i]); });
  group.for_each(
      n, [=](int64_t i) { out[i] = T((Log ? A(g[i]) - exp(A(y[i])) * sum : A(y[i]) * (A(g[i]) - sum)) * factor); });
}

// Loads and stores of the column kernel, computed in A: operands of type T, or (FastErasedAccess) of a dtype that is
// known at run time only.
template <class T>
struct FastTypedAccess {
  using A = opmath_t<T>;
  static constexpr bool side_by_side = true;  // only for adjacent columns, so that loops over them vectorise
  static STATOR_FN A load(const void* base, DType, int64_t i) { return A(static_cast<const T*>(base)[i]); }
  static STATOR_FN void store(void* base, DType, int64_t i, A value) { static_cast<T*>(base)[i] = T(value); }
};
template <class C>
struct FastErasedAccess {
  using A = C;
  static constexpr bool side_by_side = false;
  static STATOR_FN A load(const void* base, DType dtype, int64_t i) { return load_as<A>(base, dtype, i); }
  static STATOR_FN void store(void* base, DType dtype, int64_t i, A value) { store_as<A>(base, dtype, i, value); }
};

// A block takes a tile of columns (rows of params::Softmax that are strided) and goes down the axis, so that
// neighbouring threads access neighbouring columns.
template <class Io, int Size, int Tile, bool Log, bool Backward>
STATOR_KERNEL(Size) void fast_softmax_column_kernel(params::Softmax p) {
  using A = typename Io::A;
  constexpr int items = Tile / Group<Size>::size;
  const Group<Size> group;
  // Where this thread's columns start.
  constexpr int offsets = Io::side_by_side ? 1 : items;
  int64_t x_at[offsets] = {}, saved_at[offsets] = {}, y_at[offsets] = {};
  int count = 0;
  for (int k = 0; k < items; ++k) {
    const int64_t c = group.block() * Tile + int64_t(k) * Group<Size>::size + group.rank();
    if (c >= p.rows) break;
    count = k + 1;
    if (k >= offsets) continue;
    int64_t rest = c;
    for (int d = p.ndim - 1; d >= 0; --d) {
      const int64_t at = d == 0 ? rest : rest % p.shape[d];
      rest = d == 0 ? 0 : rest / p.shape[d];
      x_at[k] += at * p.x_strides[d];
      saved_at[k] += at * p.saved_strides[d];
      y_at[k] += at * p.y_strides[d];
    }
  }
  const auto offset = [](const int64_t(&at)[offsets], int k) { return Io::side_by_side ? at[0] + k : at[k]; };
  const auto x = [&](int k, int64_t i) { return Io::load(p.x, p.dtype, offset(x_at, k) + i * p.x_step) * A(p.factor); };
  const auto saved = [&](int k, int64_t i) {
    return Io::load(p.saved, p.dtype, offset(saved_at, k) + i * p.saved_step);
  };
  const auto store = [&](int k, int64_t i, A v) { Io::store(p.y, p.out_dtype, offset(y_at, k) + i * p.y_step, v); };
  // One sum per column, compensated because it can be long.
  A largest[items], sum[items], error[items];
  for (int k = 0; k < items; ++k) {
    largest[k] = -limits<A>::infinity();
    sum[k] = error[k] = 0;
  }
  // Backward: the sum, then the gradient. Forward: the maximum, the sum, then the result.
  if constexpr (Backward) {
    for (int64_t i = 0; i < p.n; ++i)
      for (int k = 0; k < count; ++k) add_exactly(sum[k], error[k], Log ? x(k, i) : x(k, i) * saved(k, i));
    for (int k = 0; k < count; ++k) sum[k] = compensated(sum[k], error[k]);
    for (int64_t i = 0; i < p.n; ++i)
      for (int k = 0; k < count; ++k)
        store(k, i, Log ? x(k, i) - exp(saved(k, i)) * sum[k] : saved(k, i) * (x(k, i) - sum[k]));
  } else {
    for (int64_t i = 0; i < p.n; ++i)
      for (int k = 0; k < count; ++k) largest[k] = Max{}(largest[k], x(k, i));
    for (int64_t i = 0; i < p.n; ++i)
      for (int k = 0; k < count; ++k) add_exactly(sum[k], error[k], exp(x(k, i) - largest[k]));
    for (int k = 0; k < count; ++k) sum[k] = compensated(sum[k], error[k]);
    for (int k = 0; k < count; ++k) sum[k] = Log ? log(sum[k]) : A(1) / sum[k];
    for (int64_t i = 0; i < p.n; ++i)
      for (int k = 0; k < count; ++k) {
        const A shifted = x(k, i) - largest[k];
        store(k, i, Log ? shifted - sum[k] : exp(shifted) * sum[k]);
      }
  }
}

struct FastSoftmaxTuning {
  static constexpr int block = 256;    // which the fast host ignores
  static constexpr int columns = 128;  // tile of the column kernel
};

template <class T, bool Log, bool Backward>
void launch_fast_rows(const params::Queue& q, const params::Softmax& p) {
  constexpr int block = FastSoftmaxTuning::block;
  const T* x = static_cast<const T*>(p.x);
  const T* saved = static_cast<const T*>(p.saved);
  T* y = static_cast<T*>(p.y);
  if constexpr (Backward)
    launch(q, "softmax_row_backward", fast_softmax_row_backward_kernel<T, block, Log>, {p.rows, block}, x, saved, y,
           p.n, p.x_strides[0], p.saved_strides[0], opmath_t<T>(p.factor));
  else
    launch(q, "softmax_row", fast_softmax_row_kernel<T, block, Log>, {p.rows, block}, x, y, p.n, p.x_strides[0],
           opmath_t<T>(p.factor));
}

template <class Io, bool Log, bool Backward>
void launch_fast_columns(const params::Queue& q, const params::Softmax& p) {
  using Tune = FastSoftmaxTuning;
  launch(q, "softmax_column", fast_softmax_column_kernel<Io, Tune::block, Tune::columns, Log, Backward>,
         {ceil_div(p.rows, Tune::columns), Tune::block}, p);
}

template <bool Log, bool Backward>
void dispatch_fast_softmax(const params::Queue& q, const params::Softmax& p) {
  if (p.dtype != p.out_dtype) {
    const bool wide = p.dtype == DType::float64 || p.out_dtype == DType::float64;
    return wide ? launch_fast_columns<FastErasedAccess<double>, Log, Backward>(q, p)
                : launch_fast_columns<FastErasedAccess<float>, Log, Backward>(q, p);
  }
  const bool rows = p.ndim <= 1 && p.x_step == 1 && p.y_step == 1 && (!Backward || p.saved_step == 1);
  const bool side_by_side =
      p.ndim == 1 && p.x_strides[0] == 1 && p.y_strides[0] == 1 && (!Backward || p.saved_strides[0] == 1);
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    if (rows) return launch_fast_rows<T, Log, Backward>(q, p);
    if (side_by_side) return launch_fast_columns<FastTypedAccess<T>, Log, Backward>(q, p);
    launch_fast_columns<FastErasedAccess<opmath_t<T>>, Log, Backward>(q, p);
  });
}

template <bool Backward>
void run_fast_softmax(const params::Queue& q, const params::Softmax& p) {
  p.log ? dispatch_fast_softmax<true, Backward>(q, p) : dispatch_fast_softmax<false, Backward>(q, p);
}

}  // namespace stator::STATOR_TARGET::nn
