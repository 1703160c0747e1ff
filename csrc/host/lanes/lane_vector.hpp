// Lanes: independent problems that are solved by the same steps side by side. On the fast host the values of all lanes
// are one compiler vector; where blocks have threads each thread holds the value of one lane.
#pragma once

#include "device/group.cuh"

#include <cstring>
#include <utility>

namespace stator::STATOR_TARGET {

#if defined(STATOR_HOST) && !defined(STATOR_CHECKED)

template <class T>
struct LaneVector {
  static constexpr int count = native_bytes / int(sizeof(T));
  typedef T type __attribute__((vector_size(native_bytes)));
};

// Calls f(i, lane) for i in [0, n); on the fast host lane is always 0 and one call serves all lanes.
template <class T, class G, class F>
STATOR_FN void for_each_lane(const G&, int64_t n, F f) {
  for (int64_t i = 0; i < n; ++i) f(i, 0);
}
// Calls f(p, q, lane) for p in [0, rows) and q in [0, columns).
template <class T, class G, class F>
STATOR_FN void for_each_lane(const G&, int rows, int columns, F f) {
  for (int p = 0; p < rows; ++p)
    for (int q = 0; q < columns; ++q) f(p, q, 0);
}

// The same number in all lanes of a compiler vector. By subtraction, because 0 + x is not x for -0, so that it would be
// an addition, which has waited for the number and needs a register for the zeros.
template <class V, class T>
STATOR_FN V all_lanes(T x) {
  return x - V{};
}
template <class T>
STATOR_FN typename LaneVector<T>::type load_lanes(const T* p) {
  typename LaneVector<T>::type v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T>
STATOR_FN void store_lanes(T* p, typename LaneVector<T>::type v) {
  std::memcpy(p, &v, sizeof v);
}

namespace detail {

template <class V, int... I>
STATOR_FN void split(V a, V b, V& even, V& odd, std::integer_sequence<int, I...>) {
  even = __builtin_shufflevector(a, b, (2 * I)...);
  odd = __builtin_shufflevector(a, b, (2 * I + 1)...);
}
template <class V, int... I>
STATOR_FN void zip(V even, V odd, V& a, V& b, std::integer_sequence<int, I...>) {
  constexpr int n = sizeof...(I);
  a = __builtin_shufflevector(even, odd, (I / 2 + I % 2 * n)...);
  b = __builtin_shufflevector(even, odd, (n / 2 + I / 2 + I % 2 * n)...);
}
// Exchanges the lanes of a whose number has the bit with those of b whose number does not.
template <int Bit, class V, int... I>
STATOR_FN void exchange(V& a, V& b, std::integer_sequence<int, I...>) {
  constexpr int n = sizeof...(I);
  const V low = __builtin_shufflevector(a, b, ((I & Bit) ? n + (I ^ Bit) : I)...);
  b = __builtin_shufflevector(a, b, ((I & Bit) ? n + I : (I ^ Bit))...);
  a = low;
}
template <int Bit, class V, int N>
STATOR_FN void transpose(V (&row)[N]) {
  if constexpr (Bit < N) {
    STATOR_PRAGMA(GCC unroll 16)
    for (int r = 0; r < N; ++r)
      if (!(r & Bit)) exchange<Bit>(row[r], row[r | Bit], std::make_integer_sequence<int, N>());
    transpose<2 * Bit>(row);
  }
}

}  // namespace detail

// Fast host only. Loads and stores 2 * count consecutive numbers: those at even and those at odd indices.
template <class T>
STATOR_FN void load_pairs(const T* p, typename LaneVector<T>::type& even, typename LaneVector<T>::type& odd) {
  constexpr int n = LaneVector<T>::count;
  detail::split(load_lanes(p), load_lanes(p + n), even, odd, std::make_integer_sequence<int, n>());
}
template <class T>
STATOR_FN void store_pairs(T* p, typename LaneVector<T>::type even, typename LaneVector<T>::type odd) {
  constexpr int n = LaneVector<T>::count;
  typename LaneVector<T>::type a, b;
  detail::zip(even, odd, a, b, std::make_integer_sequence<int, n>());
  store_lanes(p, a);
  store_lanes(p + n, b);
}
// Exchanges lane l of row r with lane r of row l.
template <class V, int N>
STATOR_FN void transpose_lanes(V (&row)[N]) {
  detail::transpose<1>(row);
}

#else

template <class T>
struct LaneVector {
  static constexpr int count = 8;
  using type = T;
};

template <class T, class G, class F>
STATOR_FN void for_each_lane(const G& group, int64_t n, F f) {
  constexpr int lanes = LaneVector<T>::count;
  for (int64_t i = group.rank(); i < n * lanes; i += G::size) f(i / lanes, int(i % lanes));
}
template <class T, class G, class F>
STATOR_FN void for_each_lane(const G& group, int rows, int columns, F f) {
  for_each_lane<T>(group, int64_t(rows) * columns, [=](int64_t i, int lane) {
    const int p = int(i / columns);
    f(p, int(i - int64_t(p) * columns), lane);
  });
}

template <class V, class T>
STATOR_FN V all_lanes(T x) {
  return x;
}
template <class T>
STATOR_FN T load_lanes(const T* p) {
  return *p;
}
template <class T>
STATOR_FN void store_lanes(T* p, T v) {
  *p = v;
}
template <class T>
STATOR_FN void load_pairs(const T*, T&, T&) {}
template <class T>
STATOR_FN void store_pairs(T*, T, T) {}
template <class T, int N>
STATOR_FN void transpose_lanes(T (&)[N]) {}

#endif

}  // namespace stator::STATOR_TARGET
