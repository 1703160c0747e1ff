// Vectorised sorting and selection of unsigned keys on the fast host; not stable, since equal keys are identical. Long
// ranges are partitioned about a pivot (Bramas, "A novel hybrid quicksort algorithm vectorized using AVX-512", 2017),
// short ones go through a sorting network: rows of vectors are sorted lane by lane, then lanes are merged (Batcher,
// 1968).
#pragma once

#include "host/lanes/key_lanes.hpp"

#include <limits>
#include <utility>

namespace stator::STATOR_TARGET {

#if !defined(STATOR_HOST) || defined(STATOR_CHECKED)
template <class K>
struct LaneSort;
#else

template <class K>
struct LaneSort {
  using L = KeyLanes<K>;
  using V = typename L::V;
  static constexpr int width = L::width;
  static constexpr int most_rows = 16;
  static constexpr int leaf = most_rows * width;  // keys of the largest network

  // Sorts n keys at `from` into a; b is scratch memory for n keys. `from` is a or b, or anything else if n <= leaf.
  static void sort(const K* from, K* a, K* b, int64_t n) { split_and_sort(from, a, b, n, 2 * depth_of(n)); }

  // Moves the keys that belong at [first, last) in sorted order to that range of a. No key before the range is larger
  // and no key after it is smaller, but those are in no particular order. `from` is a or b.
  static void select(const K* from, K* a, K* b, int64_t n, int64_t first, int64_t last) {
    select_between(from, a, b, n, first, last, 2 * depth_of(n));
  }

  template <bool OrEqual>
  STATOR_CALL static int64_t partition(const K* from, int64_t n, K* low, K* high, K pivot) {
    const V at = L::all(pivot);
    const K* const first = low;
    const auto take = [&](V v) __attribute__((always_inline)) {
      const int lows = L::template split<OrEqual>(v, at, low, high);
      low += lows;
      high += width - lows;
    };
    int64_t i = 0;
    for (; i + 4 * width <= n; i += 4 * width) {  // all loads come first, as stores may overwrite what they read
      const V v[4] = {L::load(from + i), L::load(from + i + width), L::load(from + i + 2 * width),
                      L::load(from + i + 3 * width)};
      take(v[0]);
      take(v[1]);
      take(v[2]);
      take(v[3]);
    }
    for (; i + width <= n; i += width) take(L::load(from + i));
    for (; i < n; ++i) {
      const K key = from[i];
      const bool is_low = OrEqual ? key <= pivot : key < pivot;
      *low = key;
      *high = key;
      low += is_low;
      high += !is_low;
    }
    return low - first;
  }

 private:
  template <int Distance>
  struct Across {
    static constexpr int of(int i) { return i ^ Distance; }
  };
  template <int N, class F>
  STATOR_FN static void unrolled(F f) {
    [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
      (f(std::integral_constant<int, I>{}), ...);
    }(std::make_integer_sequence<int, N>{});
  }
  STATOR_FN static void exchange(V& a, V& b) {
    const V low = L::least(a, b);
    b = L::greatest(a, b);
    a = low;
  }

  // Sorts R rows within each lane by odd-even merge sort.
  template <int R, int P = 1, int Q = P>
  STATOR_FN static void sort_columns(V (&v)[R]) {
    if constexpr (P < R) {
      unrolled<R - Q>([&](auto i) __attribute__((always_inline)) {
        constexpr int k = i, start = Q % P;
        if constexpr (k >= start && (k - start) / Q % 2 == 0 && k / (2 * P) == (k + Q) / (2 * P))
          exchange(v[k], v[k + Q]);
      });
      if constexpr (Q > 1)
        sort_columns<R, P, Q / 2>(v);
      else
        sort_columns<R, 2 * P, 2 * P>(v);
    }
  }
  template <int R, int Rows>
  STATOR_FN static void clean_rows(V (&v)[R]) {
    if constexpr (Rows > 0) {
      unrolled<R>([&](auto i) __attribute__((always_inline)) {
        if constexpr ((i & Rows) == 0) exchange(v[i], v[i + Rows]);
      });
      clean_rows<R, Rows / 2>(v);
    }
  }
  template <int R, int D>
  STATOR_FN static void clean_lanes(V (&v)[R]) {
    if constexpr (D > 0) {
      unrolled<R>([&](auto i) __attribute__((always_inline)) {
        const V other = L::permuted(v[i], Across<D>{});
        v[i] = L::template blended<D>(L::least(v[i], other), L::greatest(v[i], other));
      });
      clean_lanes<R, D / 2>(v);
    }
  }
  // Bitonic merges of each C sorted columns with the next C, until all columns are one sorted sequence.
  template <int R, int C = 1>
  STATOR_FN static void merge_columns(V (&v)[R]) {
    if constexpr (C < width) {
      unrolled<R / 2>([&](auto i) __attribute__((always_inline)) {
        constexpr int j = R - 1 - i;
        const V a = v[i], b = L::permuted(v[j], Across<2 * C - 1>{});
        const V low = L::least(a, b), high = L::greatest(a, b);
        v[i] = L::template blended<C>(low, high);
        v[j] = L::permuted(L::template blended<C>(high, low), Across<2 * C - 1>{});
      });
      clean_lanes<R, C / 2>(v);
      clean_rows<R, R / 2>(v);
      merge_columns<R, 2 * C>(v);
    }
  }
  // Stores column after column, that is the transpose: each step is a perfect shuffle of all keys.
  template <int R, int Done = 1>
  STATOR_FN static void store_columns(V (&v)[R], K* to) {
    if constexpr (Done == R) {
      unrolled<R>([&](auto i) __attribute__((always_inline)) { L::store(to + i * width, v[i]); });
    } else {
      V next[R];
      unrolled<R / 2>([&](auto i) __attribute__((always_inline)) {
        next[2 * i] = L::template interleaved<false>(v[i], v[i + R / 2]);
        next[2 * i + 1] = L::template interleaved<true>(v[i], v[i + R / 2]);
      });
      store_columns<R, 2 * Done>(next, to);
    }
  }
  template <int R>
  STATOR_CALL static void sort_network(const K* from, int n, K* to) {
    constexpr int room = R * width;
    alignas(64) K padded[room];
    const bool part = n < room;
    if (part) {
      std::memcpy(padded, from, size_t(n) * sizeof(K));
      for (int i = n; i < room; ++i) padded[i] = std::numeric_limits<K>::max();
      from = padded;
    }
    V v[R];
    unrolled<R>([&](auto i) __attribute__((always_inline)) { v[i] = L::load(from + i * width); });
    sort_columns<R>(v);
    merge_columns<R>(v);
    store_columns<R>(v, part ? padded : to);
    if (part) std::memcpy(to, padded, size_t(n) * sizeof(K));
  }
  STATOR_FN static void sort_leaf(const K* from, int n, K* to) {
    if (n <= 4 * width)
      sort_network<4>(from, n, to);
    else if (n <= 8 * width)
      sort_network<8>(from, n, to);
    else
      sort_network<16>(from, n, to);
  }

  static int depth_of(int64_t n) { return 64 - __builtin_clzll(uint64_t(n) | 1); }

  // The median of a sample, with one random key from each of `samples` equal ranges.
  STATOR_CALL static K choose_pivot(const K* from, int64_t n) {
    constexpr int samples = 4 * width;
    K sample[samples];
    const int64_t step = n / samples;
    uint32_t state = uint32_t(n);
    for (int i = 0; i < samples; ++i) {
      state = state * 1664525u + 1013904223u;
      sample[i] = from[i * step + int64_t(uint64_t(state) * uint64_t(step) >> 32)];
    }
    sort_network<4>(sample, samples, sample);
    return sample[samples / 2];
  }

  // Heapsort, for when too many pivots were bad.
  STATOR_CALL static void sort_heap(const K* from, K* a, int64_t n) {
    if (from != a) std::memcpy(a, from, size_t(n) * sizeof(K));
    const auto sink = [a](int64_t at, int64_t end) {
      const K key = a[at];
      for (int64_t child; (child = 2 * at + 1) < end; at = child) {
        if (child + 1 < end && a[child] < a[child + 1]) ++child;
        if (a[child] <= key) break;
        a[at] = a[child];
      }
      a[at] = key;
    };
    for (int64_t i = n / 2; i-- > 0;) sink(i, n);
    for (int64_t end = n - 1; end > 0; --end) {
      std::swap(a[0], a[end]);
      sink(0, end);
    }
  }

  // The lower keys are packed in a and the upper ones in b, even though `from` is one of them: what is written there
  // never passes what was read.
  static void split_and_sort(const K* from, K* a, K* b, int64_t n, int depth) {
    while (n > leaf) {
      if (depth-- == 0) return sort_heap(from, a, n);
      const K pivot = choose_pivot(from, n);
      int64_t lows = partition<false>(from, n, a, b, pivot);
      if (lows == 0)
        lows = partition<true>(b, n, a, b, pivot);  // the pivot is the least key: keys equal to it are in place
      else
        split_and_sort(a, a, b + (n - lows), lows, depth);
      from = b;
      a += lows;
      n -= lows;
    }
    if (n > 0) sort_leaf(from, int(n), a);
  }

  static void select_between(const K* from, K* a, K* b, int64_t n, int64_t first, int64_t last, int depth) {
    while (n > leaf) {
      if (depth-- == 0) return sort_heap(from, a, n);
      const K pivot = choose_pivot(from, n);
      int64_t lows = partition<false>(from, n, a, b, pivot);
      if (lows == 0)
        lows = partition<true>(b, n, a, b, pivot);
      else if (first < lows) {
        if (last <= lows) {
          std::memcpy(a + lows, b, size_t(n - lows) * sizeof(K));
          from = a;
          b += n - lows;
          n = lows;
          continue;
        }
        select_between(a, a, b + (n - lows), lows, first, lows, depth);
      }
      if (last <= lows) {
        std::memcpy(a + lows, b, size_t(n - lows) * sizeof(K));
        return;
      }
      from = b;
      a += lows;
      n -= lows;
      first = first > lows ? first - lows : 0;
      last -= lows;
    }
    if (n > 0) sort_leaf(from, int(n), a);
  }
};
#endif

}  // namespace stator::STATOR_TARGET
