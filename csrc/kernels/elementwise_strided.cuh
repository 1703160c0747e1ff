// The general kernel: any strides, any dtypes. Operands are converted to the compute type C by a dtype switch, and the
// result to the output's dtype, so one instance serves every combination.
#pragma once

#include "device/convert.cuh"
#include "device/group.cuh"
#include "kernels/elementwise_layout.cuh"
#include "kernels/elementwise_runs.cuh"
#include "kernels/elementwise_types.cuh"

#include <utility>

namespace stator::STATOR_COLUMN {

struct StridedTuning {
  static constexpr int block = 256;
  static constexpr int items = 4;              // a thread
  static constexpr int64_t host_tile = 16384;  // elements a block
  static constexpr int chunk_bytes = 8192;     // of each buffer on the fast host: all of them stay in L1
};

template <class C, int N>
struct Strided {
  Layout<N + 1> layout;
  void* out;
  const void* in[N];  // null: `value`
  C value[N];
  DType out_dtype, dtype[N];
};

namespace detail {

template <class F, class C, int N, int... K>
STATOR_FN auto call_at(const C (&x)[N], std::integer_sequence<int, K...>) {
  return F{}(x[K]...);
}
template <class F, class C, int N>
STATOR_FN auto call(const C (&x)[N]) {
  return call_at<F>(x, std::make_integer_sequence<int, N>{});
}

// Blocks have threads.
template <class F, class C, int N, int Size>
STATOR_FN void strided_items(const Group<Size>& group, const Strided<C, N>& p) {
  constexpr int Items = StridedTuning::items;
  const int64_t first = group.block() * (Size * Items) + group.rank();
  if (first >= p.layout.size) return;
  const int64_t left = (p.layout.size - first + Size - 1) / Size;
  const int count = left < Items ? int(left) : Items;
  int64_t at[N + 1][Items];
  STATOR_UNROLL()
  for (int u = 0; u < Items; ++u) {
    int64_t offset[N + 1];
    const int64_t linear = first + u * Size;
    p.layout.offsets(linear < p.layout.size ? linear : first, offset);
    STATOR_UNROLL()
    for (int k = 0; k <= N; ++k) at[k][u] = offset[k];
  }
  C x[N][Items] = {};
  STATOR_UNROLL()
  for (int k = 0; k < N; ++k) {
    if (p.in[k] == nullptr) {
      STATOR_UNROLL()
      for (int u = 0; u < Items; ++u) x[k][u] = p.value[k];
    } else {
      load_many(x[k], p.in[k], p.dtype[k], at[k + 1], count);
    }
  }
  using Y = decltype(call<F>(p.value));
  Y y[Items];
  STATOR_UNROLL()
  for (int u = 0; u < Items; ++u) {
    C element[N];
    STATOR_UNROLL()
    for (int k = 0; k < N; ++k) element[k] = x[k][u];
    y[u] = call<F>(element);
  }
  store_many(y, p.out, p.out_dtype, at[0], count);
}

// One thread is the block: chunks pass through buffers of C. Dense operands of dtype C are used in place, and what
// repeats within a chunk (a number, a row) is loaded once.
template <class F, class C, int N, int Size, int... K>
STATOR_FN void strided_chunks(const Group<Size>& group, const Strided<C, N>& p, std::integer_sequence<int, K...>) {
  constexpr int64_t Chunk = StridedTuning::chunk_bytes / int64_t(sizeof(C));
  using Y = decltype(call<F>(p.value));
  C buffer[N][2 * Chunk];
  Y result[Chunk];
  const auto& l = p.layout;
  const int64_t begin = group.block() * StridedTuning::host_tile;
  const int64_t end = begin + StridedTuning::host_tile < l.size ? begin + StridedTuning::host_tile : l.size;
  int64_t period[N];
  bool dense[N];
  for (int k = 0; k < N; ++k) {
    period[k] = p.in[k] == nullptr ? 1 : period_of(l, k + 1);
    if (period[k] > Chunk) period[k] = 0;
    dense[k] = p.dtype[k] == dtype_of_v<C> && p.in[k] != nullptr && is_row_major(l, k + 1);
    if (period[k] == 0) continue;
    buffer[k][0] = p.value[k];
    if (p.in[k] != nullptr)
      load_runs(buffer[k], p.in[k], p.dtype[k], Walk{l.shape, l.strides[k + 1], l.ndim, 0, period[k]});
    for (int64_t i = period[k]; i < Chunk + period[k]; ++i) buffer[k][i] = buffer[k][i - period[k]];
  }
  const bool dense_out = p.out_dtype == dtype_of_v<Y> && is_row_major(l, 0);
  for (int64_t at = begin; at < end; at += Chunk) {
    const int64_t n = end - at < Chunk ? end - at : Chunk;
    const C* x[N];
    for (int k = 0; k < N; ++k) {
      x[k] = period[k] > 0 ? buffer[k] + at % period[k] : dense[k] ? static_cast<const C*>(p.in[k]) + at : buffer[k];
      if (x[k] == buffer[k] && period[k] == 0)
        load_runs(buffer[k], p.in[k], p.dtype[k], Walk{l.shape, l.strides[k + 1], l.ndim, at, n});
    }
    Y* const y = dense_out ? static_cast<Y*>(p.out) + at : result;
    group.for_each(n, [=](int64_t i) { y[i] = F{}(x[K][i]...); });
    if (!dense_out) store_runs(y, p.out, p.out_dtype, Walk{l.shape, l.strides[0], l.ndim, at, n});
  }
}

}  // namespace detail

template <class F, class C, int N, int Size>
STATOR_KERNEL void elementwise_strided_kernel(Strided<C, N> p) {
  const Group<Size> group;
  if constexpr (fast_host)
    detail::strided_chunks<F>(group, p, std::make_integer_sequence<int, N>{});
  else
    detail::strided_items<F>(group, p);
}

template <class F, class C, int N>
void launch_strided(const abi::Queue& q, const char* name, const abi::Elementwise& e) {
  Strided<C, N> p;
  p.layout = make_layout<N + 1>(e);
  p.out = e.out.data;
  p.out_dtype = e.out.dtype;
  for (int k = 0; k < N; ++k) {
    p.in[k] = e.in[k].immediate ? nullptr : e.in[k].data;
    p.dtype[k] = e.in[k].dtype;
    std::memcpy(&p.value[k], e.in[k].value, sizeof(C));
  }
  constexpr int block = StridedTuning::block;
  const int64_t tile = fast_host ? StridedTuning::host_tile : block * StridedTuning::items;
  launch(q, name, elementwise_strided_kernel<F, C, N, block>, {ceil_div(e.size, tile), block}, p);
}

}  // namespace stator::STATOR_COLUMN
