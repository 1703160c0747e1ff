// Sorting a line in one thread of execution: the fast host's. Short lines by counting, for each element, those before
// it; others by a radix sort, least significant digit first, that passes over digits that all elements share.
#pragma once

#include "kernels/order_keys.cuh"

#include <algorithm>
#include <cstring>

namespace stator::STATOR_COLUMN {

struct HostSortTuning {
  static constexpr int ranked = 256;            // lines so short are ordered by counting pairs
  static constexpr int64_t wide_digits = 6000;  // from here on digits of 11 bits pay
};

// A line of words, with places beside them where they do not fit in.
template <class W>
struct Words {
  W* word;
  uint32_t* place;  // null: none, or inside the words
};

// Items that a word holds: 64-bit words hold 64-bit keys, or narrower ones above their places.
template <class W, class Item>
inline constexpr bool fits_word = sizeof(Item) <= sizeof(W);

// The words of elements [begin, end) of a line, its first at x.
template <class W>
STATOR_CALL void load_words(const WordKey<W>& key, const void* x, int64_t step, int64_t begin, int64_t end,
                            Words<W> out) {
  with_items(x, key.codec.itemsize, [&](const auto* items) {
    using Item = std::remove_const_t<std::remove_pointer_t<decltype(items)>>;
    if constexpr (fits_word<W, Item>) {
      const Codec<W> codec = key.codec;
      constexpr int low = sizeof(Item) < sizeof(W) && sizeof(W) == 8 ? 32 : 0;
      const auto make = [=](int64_t i) {
        const W k = codec.encode(W(items[i * step]));
        return low == 0 ? k : W(k << low | W(uint32_t(i)));
      };
      W* const word = out.word - begin;
      if (step == 1)
        for (int64_t i = begin; i < end; ++i) {
          const W k = codec.encode(W(items[i]));
          word[i] = low == 0 ? k : W(k << low | W(uint32_t(i)));
        }
      else
        for (int64_t i = begin; i < end; ++i) word[i] = make(i);
    }
  });
  if (out.place)
    for (int64_t i = begin; i < end; ++i) out.place[i - begin] = uint32_t(i);
}

// Sorted words of places [begin, end) of a line go where they belong: those in the window of `s`, from `out` on.
template <class W>
STATOR_CALL void store_words(const WordKey<W>& key, const abi::Sort& s, int64_t out, int64_t begin, int64_t end,
                             Words<W> sorted) {
  const int64_t first = begin > s.first ? begin : s.first, step = s.out_step, start = out - s.first * step;
  const int64_t last = end < s.first + s.count ? end : s.first + s.count;
  const W* const word = sorted.word - begin;
  if (s.values)
    with_items(s.values, key.codec.itemsize, [&](auto* items) {
      using Item = std::remove_pointer_t<decltype(items)>;
      if constexpr (fits_word<W, Item>) {
        const Codec<W> codec = key.codec;
        for (int64_t i = first; i < last; ++i) items[start + i * step] = Item(codec.decode(word[i] >> key.low));
      }
    });
  if (!s.indices) return;
  const uint32_t* const place = sorted.place ? sorted.place - begin : nullptr;
  for (int64_t i = first; i < last; ++i)
    s.indices[start + i * step] = place ? int64_t(place[i]) : int64_t(uint32_t(word[i]));
}

// rank[i]: how many of n ordinals stand before ordinal i, stably. Every pair once, many at a time.
template <class K>
STATOR_FN void rank_ordinals(const K* STATOR_RESTRICT ordinal, K* STATOR_RESTRICT rank, int n) {
  for (int i = 0; i < n; ++i) rank[i] = 0;
  for (int j = 0; j < n; ++j) {
    const K own = ordinal[j];
    K above = 0;
    for (int i = j + 1; i < n; ++i) {
      const K later = own <= ordinal[i];
      rank[i] += later;
      above += later;
    }
    rank[j] += K(n - 1 - j) - above;
  }
}

// Short lines: each word goes where its rank says.
template <bool Placed, class K, class W>
STATOR_CALL void scatter_ranked(const WordKey<W>& key, Words<W> from, Words<W> to, int n) {
  alignas(64) K ordinal[HostSortTuning::ranked], rank[HostSortTuning::ranked];
  for (int i = 0; i < n; ++i) ordinal[i] = K(key.ordinal(from.word[i]));
  rank_ordinals(ordinal, rank, n);
  for (int i = 0; i < n; ++i) {
    to.word[rank[i]] = from.word[i];
    if constexpr (Placed) to.place[rank[i]] = from.place[i];
  }
}

template <int Bits, bool Placed, class W>
STATOR_CALL Words<W> sort_by_digits(const WordKey<W>& key, Words<W> a, Words<W> b, int64_t n) {
  constexpr int digits = 1 << Bits, most = (64 + Bits - 1) / Bits;
  const int passes = (8 * key.codec.itemsize + Bits - 1) / Bits;
  uint32_t counts[most][digits];
  std::memset(counts, 0, sizeof(counts[0]) * size_t(passes));
  const WordKey<W> own = key;  // by value: the counts could be its memory
  for (int64_t i = 0; i < n; ++i) {
    W ordinal = own.ordinal(a.word[i]);
    for (int p = 0; p < passes; ++p, ordinal >>= Bits) ++counts[p][ordinal & (digits - 1)];
  }
  for (int p = 0; p < passes; ++p) {
    uint32_t* const offset = counts[p];
    const DigitOf<W> digit(key, Bits * p, Bits);
    if (offset[digit(a.word[0])] == uint32_t(n)) continue;
    uint32_t before = 0;
    for (int d = 0; d < digits; ++d) {
      const uint32_t count = offset[d];
      offset[d] = before;
      before += count;
    }
    for (int64_t i = 0; i < n; ++i) {
      const W word = a.word[i];
      const uint32_t to = offset[digit(word)]++;
      b.word[to] = word;
      if constexpr (Placed) b.place[to] = a.place[i];
    }
    std::swap(a, b);
  }
  return a;
}

// Sorts n words of a with the help of b; the sorted ones are in what is returned.
template <bool Placed, class W>
STATOR_FN Words<W> sort_words(const WordKey<W>& key, Words<W> a, Words<W> b, int64_t n) {
  using Tune = HostSortTuning;
  const bool narrow = key.codec.itemsize <= 4;
  if (n <= (narrow ? Tune::ranked : Tune::ranked / 2)) {
    if constexpr (!Placed) {
      if (narrow) {
        scatter_ranked<false, uint32_t>(key, a, b, int(n));
        return b;
      }
    }
    if constexpr (sizeof(W) == 8) scatter_ranked<Placed, W>(key, a, b, int(n));
    return b;
  }
  if (n >= Tune::wide_digits && key.codec.itemsize >= 4) return sort_by_digits<11, Placed>(key, a, b, n);
  return sort_by_digits<8, Placed>(key, a, b, n);
}

}  // namespace stator::STATOR_COLUMN
