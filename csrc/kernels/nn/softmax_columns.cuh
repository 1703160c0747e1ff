// Softmax along an axis that is not the last, or over strided or converted operands: a group takes a tile of columns
// and walks down the axis, so that neighbouring threads touch neighbouring columns.
#pragma once

#include "device/cascade.cuh"
#include "device/convert.cuh"
#include "device/functional.cuh"
#include "device/group.cuh"
#include "device/math/math.cuh"
#include "params/nn.hpp"

namespace stator::STATOR_TARGET::nn {

// Typed operands, or (Any) operands of a dtype known at run time, computed in A.
template <class T>
struct Typed {
  using A = opmath_t<T>;
  static constexpr bool side_by_side = fast_host;  // takes neighbouring lines only, so that their steps vectorise
  static STATOR_FN A load(const void* base, DType, int64_t i) { return A(static_cast<const T*>(base)[i]); }
  static STATOR_FN void store(void* base, DType, int64_t i, A value) { static_cast<T*>(base)[i] = T(value); }
};
template <class C>
struct Any {
  using A = C;
  static constexpr bool side_by_side = false;
  static STATOR_FN A load(const void* base, DType dtype, int64_t i) { return load_as<A>(base, dtype, i); }
  static STATOR_FN void store(void* base, DType dtype, int64_t i, A value) { store_as<A>(base, dtype, i, value); }
};

template <class Io, int Size, int Tile, bool Log, bool Backward>
STATOR_KERNEL void softmax_column_kernel(params::Softmax p) {
  using A = typename Io::A;
  constexpr int items = Tile / Group<Size>::size;
  const Group<Size> group;
  constexpr int places = Io::side_by_side ? 1 : items;
  int64_t x_at[places] = {}, saved_at[places] = {}, y_at[places] = {};
  int count = 0;
  for (int k = 0; k < items; ++k) {
    const int64_t c = group.block() * Tile + int64_t(k) * Group<Size>::size + group.rank();
    if (c >= p.lines) break;
    count = k + 1;
    if (k >= places) continue;
    int64_t rest = c;
    for (int d = p.ndim - 1; d >= 0; --d) {
      const int64_t at = d == 0 ? rest : rest % p.shape[d];
      rest = d == 0 ? 0 : rest / p.shape[d];
      x_at[k] += at * p.x_strides[d];
      saved_at[k] += at * p.saved_strides[d];
      y_at[k] += at * p.y_strides[d];
    }
  }
  const auto place = [](const int64_t (&at)[places], int k) { return Io::side_by_side ? at[0] + k : at[k]; };
  const auto x = [&](int k, int64_t i) { return Io::load(p.x, p.dtype, place(x_at, k) + i * p.x_step); };
  const auto saved = [&](int k, int64_t i) {
    return Io::load(p.saved, p.dtype, place(saved_at, k) + i * p.saved_step);
  };
  const auto store = [&](int k, int64_t i, A v) { Io::store(p.y, p.out_dtype, place(y_at, k) + i * p.y_step, v); };
  // One sum a column, however long: compensated.
  A largest[items], sum[items], error[items];
  for (int k = 0; k < items; ++k) {
    largest[k] = -limits<A>::infinity();
    sum[k] = error[k] = 0;
  }
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

}  // namespace stator::STATOR_TARGET::nn
