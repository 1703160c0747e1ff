// Wide accesses: 16 bytes per thread on cuda, plain loops that vectorise on the fast host.
#pragma once

#include "device/convert.cuh"

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace stator::STATOR_TARGET {

template <class T, int N>
struct alignas(N * sizeof(T)) Vec {
  T value[N];

  STATOR_FN T& operator[](int k) { return value[k]; }
  STATOR_FN const T& operator[](int k) const { return value[k]; }
};

// Elements in 16 bytes.
template <class T>
inline constexpr int vector_width = 16 / int(sizeof(T));

// Whether an access of `bytes`, a power of two, may begin at p.
STATOR_HD bool is_aligned(const void* p, int64_t bytes = 16) {
  return reinterpret_cast<uintptr_t>(p) % uintptr_t(bytes) == 0;
}

// `p` must be aligned to N * sizeof(T), which is at most 16.
template <int N, class T>
STATOR_FN Vec<T, N> load_vector(const T* p) {
  return *reinterpret_cast<const Vec<T, N>*>(p);
}
template <class T, int N>
STATOR_FN void store_vector(T* p, const Vec<T, N>& v) {
  *reinterpret_cast<Vec<T, N>*>(p) = v;
}

namespace detail {
template <class T, int N>
inline constexpr int access_width = N * int(sizeof(T)) <= 16 ? N : vector_width<T>;

template <class C, int N, class T>
STATOR_FN Items<C, N> load_side_by_side(const T* p) {
  constexpr int W = access_width<T, N>;
  Items<C, N> out;
  STATOR_UNROLL()
  for (int i = 0; i < N; i += W) {
    const Vec<T, W> v = load_vector<W>(p + i);
    STATOR_UNROLL()
    for (int j = 0; j < W; ++j) out[i + j] = convert<C>(v[j]);
  }
  return out;
}
template <class T, class C, int N>
STATOR_FN void store_side_by_side(T* p, const Items<C, N>& value) {
  constexpr int W = access_width<T, N>;
  STATOR_UNROLL()
  for (int i = 0; i < N; i += W) {
    Vec<T, W> v;
    STATOR_UNROLL()
    for (int j = 0; j < W; ++j) v[j] = convert<T>(value[i + j]);
    store_vector(p + i, v);
  }
}
}  // namespace detail

// The alignment in bytes that load_items and store_items need for N elements.
constexpr int items_alignment(int itemsize, int n) { return n * itemsize < 16 ? n * itemsize : 16; }

// Loads and stores of N contiguous elements of a dtype in Together, by accesses of all of them or of 16 bytes at a
// time.
template <class C, DTypeSet Together, int N>
STATOR_CALL Items<C, N> load_items(const void* base, DType d, int64_t at) {
#define STATOR_CASE(name, type)                                                    \
  case DType::name:                                                                \
    if constexpr (in(DType::name, Together))                                       \
      return detail::load_side_by_side<C, N>(static_cast<const type*>(base) + at); \
    break;
  STATOR_DTYPE_SWITCH(d, STATOR_CASE)
#undef STATOR_CASE
  __builtin_unreachable();
}
template <class C, DTypeSet Together, int N>
STATOR_CALL void store_items(void* base, DType d, int64_t at, Items<C, N> value) {
#define STATOR_CASE(name, type)                                                                                \
  case DType::name:                                                                                            \
    if constexpr (in(DType::name, Together)) detail::store_side_by_side(static_cast<type*>(base) + at, value); \
    return;
  STATOR_DTYPE_SWITCH(d, STATOR_CASE)
#undef STATOR_CASE
}

namespace detail {
template <class T, int V, int Batch>
struct Rows {
  Vec<T, V> row[Batch];
};
template <int V, int Batch, int Step, class T>
STATOR_FN Rows<T, V, Batch> load_rows(const T* p) {
  Rows<T, V, Batch> rows;
  STATOR_UNROLL()
  for (int b = 0; b < Batch; ++b) rows.row[b] = load_vector<V>(p + int64_t(b) * Step * V);
  return rows;
}
// All loads come before the first store, because the compiler cannot move a load across it: out may be an input.
template <int V, int Batch, int Step, class T, class F, class... Loaded>
STATOR_FN void store_rows(T* out, F f, const Loaded&... x) {
  STATOR_UNROLL()
  for (int b = 0; b < Batch; ++b) {
    Vec<T, V> y;
    STATOR_UNROLL()
    for (int k = 0; k < V; ++k) y[k] = f(x.row[b][k]...);
    store_vector(out + int64_t(b) * Step * V, y);
  }
}
}  // namespace detail

// out[i] = f(in[i]...) for i in [0, n), by the threads of one block. `out` may be one of the inputs. V > 1 requires
// every pointer to be aligned to V elements.
template <int V, class Group, class T, class F, class... In>
STATOR_FN void map_contiguous(const Group& group, int64_t n, T* out, F f, const In*... in) {
  if constexpr (fast_host || V == 1) {
    group.for_each(n, [=](int64_t i) { out[i] = f(in[i]...); });
  } else {
    constexpr int batch = 4;
    constexpr int step = Group::size;
    const int64_t vectors = n / V;
    int64_t v = group.rank();
    for (; v + int64_t(batch - 1) * step < vectors; v += int64_t(batch) * step)
      detail::store_rows<V, batch, step>(out + v * V, f, detail::load_rows<V, batch, step>(in + v * V)...);
    for (; v < vectors; v += step)
      detail::store_rows<V, 1, step>(out + v * V, f, detail::load_rows<V, 1, step>(in + v * V)...);
    const int64_t i = vectors * V + group.rank();
    if (i < n) out[i] = f(in[i]...);
  }
}

}  // namespace stator::STATOR_TARGET
