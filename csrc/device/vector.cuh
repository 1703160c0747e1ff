// Wide accesses: 16 bytes per thread on cuda, plain loops that vectorise on the fast host.
#pragma once

#include "convert.cuh"

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
STATOR_HD constexpr int items_alignment(int itemsize, int n) { return n * itemsize < 16 ? n * itemsize : 16; }

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

}  // namespace stator::STATOR_TARGET
