// Sorting a line in one thread of execution: the fast host's. Keys of 32 and 64 bits by vectors of comparisons, with
// places inside the words; 8 and 16 bits, and what does not fit into a word, by digits, least significant first,
// passing over those that all elements share.
#pragma once

#include "kernels/sort/keys.cuh"
#include "kernels/sort/lanes.cuh"

#include <algorithm>
#include <cstring>

namespace stator::STATOR_TARGET::sort {

struct HostSortTuning {
  static constexpr int ranked = 128;            // lines so short are not sorted by digits
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
      constexpr int low = sizeof(Item) < sizeof(W) && sizeof(W) == 8 ? 32 : 0;
      const Codec<W> codec = key.codec;  // all by value: the words could be their memory, and loops would not vectorise
      const int64_t first = begin, count = end - begin, apart = step;
      const Item* const from = items + first * apart;
      W* const word = out.word;
      const auto make = [=](Item item, int64_t i) {
        const W k = codec.encode(W(item));
        return low == 0 ? k : W(k << low | W(uint32_t(first + i)));
      };
      if (apart == 1)
        for (int64_t i = 0; i < count; ++i) word[i] = make(from[i], i);
      else
        for (int64_t i = 0; i < count; ++i) word[i] = make(from[i * apart], i);
    }
  });
  if (out.place)
    for (int64_t i = begin; i < end; ++i) out.place[i - begin] = uint32_t(i);
}

// f(i, where it goes) for the places i in [begin, end) of a sorted line that are wanted.
template <class F>
STATOR_FN void each_wanted(const params::Sort& s, int64_t begin, int64_t end, F f) {
  if (s.rank_count > 0 && !s.whole) {
    for (int r = 0; r < s.rank_count; ++r)
      if (s.rank[r] >= begin && s.rank[r] < end) f(s.rank[r], r * s.out_step);
    return;
  }
  const int64_t first = begin > s.first ? begin : s.first, step = s.out_step, start = s.first * step;
  const int64_t last = end < s.first + s.count ? end : s.first + s.count;
  if (step == 1)
    for (int64_t i = first; i < last; ++i) f(i, i - start);
  else
    for (int64_t i = first; i < last; ++i) f(i, i * step - start);
}
STATOR_FN bool is_wanted(const params::Sort& s, int64_t begin, int64_t end) {
  if (s.rank_count == 0 || s.whole) return begin < s.first + s.count && end > s.first;
  for (int r = 0; r < s.rank_count; ++r)
    if (s.rank[r] >= begin && s.rank[r] < end) return true;
  return false;
}

// Sorted words of places [begin, end) of a line go where they belong: those that are wanted, from `out` on.
template <class W>
STATOR_CALL void store_words(const WordKey<W>& key, const params::Sort& s, int64_t out, int64_t begin, int64_t end,
                             Words<W> sorted) {
  const W* const word = sorted.word - begin;
  if (s.values)
    with_items(s.values, key.codec.itemsize, [&](auto* items) {
      using Item = std::remove_pointer_t<decltype(items)>;
      if constexpr (fits_word<W, Item>) {
        const Codec<W> codec = key.codec;
        const int low = key.low;
        Item* const to = items + out;
        each_wanted(s, begin, end, [=](int64_t i, int64_t at) { to[at] = Item(codec.decode(word[i] >> low)); });
      }
    });
  if (!s.indices) return;
  const uint32_t* const place = sorted.place ? sorted.place - begin : nullptr;
  int64_t* const to = s.indices + out;
  each_wanted(s, begin, end,
              [=](int64_t i, int64_t at) { to[at] = place ? int64_t(place[i]) : int64_t(uint32_t(word[i])); });
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

// Short lines with places beside the words: each goes where its rank says.
template <class W>
STATOR_CALL void scatter_ranked(const WordKey<W>& key, Words<W> from, Words<W> to, int n) {
  alignas(64) W ordinal[HostSortTuning::ranked], rank[HostSortTuning::ranked];
  for (int i = 0; i < n; ++i) ordinal[i] = key.ordinal(from.word[i]);
  rank_ordinals(ordinal, rank, n);
  for (int i = 0; i < n; ++i) {
    to.word[rank[i]] = from.word[i];
    to.place[rank[i]] = from.place[i];
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

// Words without places beside them that no digits sort faster: by comparisons, many at a time.
template <class W>
STATOR_FN bool sorts_by_lanes(const WordKey<W>& key, int64_t n) {
  return key.codec.itemsize >= 4 || n <= HostSortTuning::ranked;
}

// Sorts n words of a with the help of b; the sorted ones are in what is returned.
template <class W>
STATOR_FN Words<W> sort_placed(const WordKey<W>& key, Words<W> a, Words<W> b, int64_t n) {
  if (n <= HostSortTuning::ranked) {
    scatter_ranked(key, a, b, int(n));
    return b;
  }
  if (n >= HostSortTuning::wide_digits) return sort_by_digits<11, true>(key, a, b, n);
  return sort_by_digits<8, true>(key, a, b, n);
}

// Sorts as many of the words a, which belong at places begin, begin + 1, ... of a line, as are wanted: the smaller ones
// stand before, the larger ones after. b is room for n.
template <class W>
STATOR_CALL void sort_wanted(const params::Sort& s, int64_t begin, W* a, W* b, int64_t n) {
  if (s.rank_count == 0) {
    const int64_t first = std::max<int64_t>(s.first - begin, 0), last = std::min(s.first + s.count - begin, n);
    return last - first == n ? sort_keys(a, b, n) : select_keys(a, b, n, first, last);
  }
  int64_t done = 0;
  for (int r = 0; r < s.rank_count;) {
    const int64_t first = s.rank[r] - begin;
    int64_t last = first;
    for (; r < s.rank_count && s.rank[r] - begin == last; ++r) ++last;
    if (first < 0 || first >= n) continue;
    last = std::min(last, n);
    if (first == n - 1)  // NaN, if there is any
      std::swap(*std::max_element(a + done, a + n), a[n - 1]);
    else
      select_keys(a + done, b, n - done, first - done, last - done);
    done = last;
  }
}

// The keys of -0 and +0 tie, but were sorted apart: those that are wanted of the keys a, which belong from `begin` on,
// become the signs in the order in which they stand in the line at x.
template <class W>
STATOR_CALL void reorder_zeros(const WordKey<W>& key, const params::Sort& s, const void* x, int64_t begin, W* a,
                               int64_t n) {
  const Codec<W> codec = key.codec;
  if (codec.alias == codec.canonical || s.whole) return;  // whole: any order of what is equal will do
  const W low = codec.alias < codec.canonical ? codec.alias : codec.canonical;
  const W high = codec.alias ^ codec.canonical ^ low;
  int64_t below = 0;
  W lows = 0, highs = 0;
  for (int64_t i = 0; i < n; ++i) {
    lows += a[i] == low;
    highs += a[i] == high;
  }
  if (lows == 0 || highs == 0) return;
  for (int64_t i = 0; i < n; ++i) below += a[i] < low;
  for (int64_t i = 0, at = below; at < below + int64_t(lows + highs); ++i) {
    const W own = codec.load(x, i * s.x_step);
    if (own != low && own != high) continue;
    if (window_place(s, begin + at) >= 0) a[at] = own;
    ++at;
  }
}

// Words that are distinct, by what they are compared by: a narrow key's ordinal above the place.
template <class W>
STATOR_FN void load_ordinals(const WordKey<W>& key, const void* x, int64_t step, int64_t begin, int64_t end, W* out) {
  load_words<W>(key, x, step, begin, end, {out, nullptr});
  const W alias = key.codec.alias << key.low, canonical = key.codec.canonical << key.low, mask = ~W(0) << key.low;
  if (alias == canonical) return;
  for (int64_t i = 0; i < end - begin; ++i) out[i] = (out[i] & mask) == alias ? canonical | (out[i] & ~mask) : out[i];
}

// Where an element stood in its line: in the low bits of its word, or at that place of a list.
template <class W>
struct StoodAt {
  W mask;
  const uint32_t* list;  // null: none

  STATOR_FN int64_t operator()(W word) const {
    const int64_t low = int64_t(word & mask);
    return list ? int64_t(list[low]) : low;
  }
};

// As store_words, for words that say where elements stood: values come from the line at x.
template <class W>
STATOR_CALL void store_places(const WordKey<W>& key, const params::Sort& s, const void* x, int64_t out, int64_t begin,
                              int64_t end, const W* word, const StoodAt<W>& stood) {
  word -= begin;
  if (s.values)
    with_items(s.values, key.codec.itemsize, [&](auto* items) {
      using Item = std::remove_pointer_t<decltype(items)>;
      if constexpr (fits_word<W, Item>) {
        const Codec<W> codec = key.codec;
        const int64_t step = s.x_step;
        const Item* const from = static_cast<const Item*>(x);
        Item* const to = items + out;
        each_wanted(s, begin, end, [=](int64_t i, int64_t at) {
          to[at] = Item(codec.decode(codec.encode(W(from[stood(word[i]) * step]))));
        });
      }
    });
  int64_t* const to = s.indices + out;
  if (s.indices) each_wanted(s, begin, end, [=](int64_t i, int64_t at) { to[at] = stood(word[i]); });
}

// Sorts n keys of 64 bits, which belong at places begin, begin + 1, ... of a line, as words that hold where they stood
// below what tells them apart: their distance from the least one, without low bits that no word has room for. False if
// keys that this makes alike are too many; then `word` is lost. ordinal: room for n.
template <class W>
STATOR_CALL bool sort_packed(const WordKey<W>& key, const params::Sort& s, int64_t begin, int64_t n, W* word, W* spare,
                             W* ordinal, W* mask) {
  constexpr int64_t patience = 8;
  const WordKey<W> own = key;
  W least = ~W(0), greatest = 0, varied = 0;
  for (int64_t i = 0; i < n; ++i) {
    const W o = own.codec.ordinal(word[i]);
    ordinal[i] = o;
    least = o < least ? o : least;
    greatest = o > greatest ? o : greatest;
  }
  const auto bits = [](W v) { return v == 0 ? 0 : 64 - __builtin_clzll(uint64_t(v)); };
  const int low = bits(W(n - 1)), wanted = bits(greatest - least), room = int(8 * sizeof(W)) - low;
  const int drop = wanted > room ? wanted - room : 0;
  for (int64_t i = 0; i < n; ++i) {
    const W distance = ordinal[i] - least;
    varied |= distance;
    word[i] = (low == 0 ? W(0) : distance >> drop << low) | W(i);
  }
  *mask = (W(1) << low) - 1;
  sort_wanted(s, begin, word, spare, n);
  if ((varied & ((W(1) << drop) - 1)) == 0) return true;
  const W places = *mask;
  const int64_t first = std::max<int64_t>(s.first - begin, 0), last = std::min(s.first + s.count - begin, n);
  W before = 0, after = ~W(0);  // what stands beside the window must differ from what is in it
  for (int64_t i = 0; i < first; ++i) before = word[i] > before ? word[i] : before;
  for (int64_t i = last; i < n; ++i) after = word[i] < after ? word[i] : after;
  if (first > 0 && before >> low == word[first] >> low) return false;
  if (last < n && after >> low == word[last - 1] >> low) return false;
  for (int64_t i = first + 1; i < last; ++i) {
    if (word[i] >> low != word[i - 1] >> low) continue;
    const W moved = word[i], o = ordinal[moved & places];
    int64_t to = i;
    for (; to > first && word[to - 1] >> low == moved >> low && o < ordinal[word[to - 1] & places]; --to)
      word[to] = word[to - 1];
    word[to] = moved;
    if (i - to > patience) return false;
  }
  return true;
}

}  // namespace stator::STATOR_TARGET::sort
