// Sorting a segment in one thread of execution, on the fast host. Keys of 32 and 64 bits are sorted by comparisons in
// vectors, with indices packed into the keys. Keys of 8 and 16 bits, and keys that leave no room for the indices, are
// sorted by digits, least significant first, skipping digits that all elements share.
#pragma once

#include "kernels/sort/keys.cuh"
#include "kernels/sort/lanes.cuh"

#include <algorithm>
#include <cstring>

namespace stator::STATOR_TARGET::sort {

struct HostSortTuning {
  static constexpr int ranked = 128;            // segments of up to this many elements are not sorted by digits
  static constexpr int64_t wide_digits = 6000;  // from here on digits of 11 bits are faster than digits of 8
};

// The packed keys of a segment, with indices beside them where they do not fit into the keys.
template <class K>
struct Keys {
  K* key;
  uint32_t* index;  // null: none, or packed into the keys
};

// Whether a packed key can hold an item: 64 bits hold a 64-bit key, or a narrower one above its index.
template <class K, class Item>
inline constexpr bool fits_key = sizeof(Item) <= sizeof(K);

// The packed keys of elements [begin, end) of a segment whose first element is at x.
template <class K>
STATOR_CALL void load_keys(const Packing<K>& packing, const void* x, int64_t step, int64_t begin, int64_t end,
                           Keys<K> out) {
  with_items(x, packing.codec.itemsize, [&](const auto* items) {
    using Item = std::remove_const_t<std::remove_pointer_t<decltype(items)>>;
    if constexpr (fits_key<K, Item>) {
      constexpr int index_bits = sizeof(Item) < sizeof(K) && sizeof(K) == 8 ? 32 : 0;
      // All by value: keys could alias the memory of references, and then the loops would not vectorise.
      const Codec<K> codec = packing.codec;
      const int64_t first = begin, count = end - begin, apart = step;
      const Item* const from = items + first * apart;
      K* const keys = out.key;
      const auto make = [=](Item item, int64_t i) {
        const K key = codec.encode(K(item));
        return index_bits == 0 ? key : K(key << index_bits | K(uint32_t(first + i)));
      };
      if (apart == 1)
        for (int64_t i = 0; i < count; ++i) keys[i] = make(from[i], i);
      else
        for (int64_t i = 0; i < count; ++i) keys[i] = make(from[i * apart], i);
    }
  });
  if (out.index)
    for (int64_t i = begin; i < end; ++i) out.index[i - begin] = uint32_t(i);
}

// f(i, offset in the output) for the wanted positions i in [begin, end) of a sorted segment.
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

// Writes the wanted ones of the sorted keys, those of positions [begin, end) of a segment, to the results, which start
// at offset `out`.
template <class K>
STATOR_CALL void store_keys(const Packing<K>& packing, const params::Sort& s, int64_t out, int64_t begin, int64_t end,
                            Keys<K> sorted) {
  const K* const key = sorted.key - begin;
  if (s.values)
    with_items(s.values, packing.codec.itemsize, [&](auto* items) {
      using Item = std::remove_pointer_t<decltype(items)>;
      if constexpr (fits_key<K, Item>) {
        const Codec<K> codec = packing.codec;
        const int index_bits = packing.index_bits;
        Item* const to = items + out;
        each_wanted(s, begin, end, [=](int64_t i, int64_t at) { to[at] = Item(codec.decode(key[i] >> index_bits)); });
      }
    });
  if (!s.indices) return;
  const uint32_t* const index = sorted.index ? sorted.index - begin : nullptr;
  int64_t* const to = s.indices + out;
  each_wanted(s, begin, end,
              [=](int64_t i, int64_t at) { to[at] = index ? int64_t(index[i]) : int64_t(uint32_t(key[i])); });
}

// rank[i]: how many of n ordinals come before ordinal i in a stable sort. Compares every pair once, in vectors.
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

// Short segments with indices beside the keys: moves each key to its rank.
template <class K>
STATOR_CALL void scatter_ranked(const Packing<K>& packing, Keys<K> from, Keys<K> to, int n) {
  alignas(64) K ordinal[HostSortTuning::ranked], rank[HostSortTuning::ranked];
  for (int i = 0; i < n; ++i) ordinal[i] = packing.ordinal(from.key[i]);
  rank_ordinals(ordinal, rank, n);
  for (int i = 0; i < n; ++i) {
    to.key[rank[i]] = from.key[i];
    to.index[rank[i]] = from.index[i];
  }
}

// Sorts n packed keys of a with the help of b by digits of Bits bits; the result is a or b.
template <int Bits, bool WithIndices, class K>
STATOR_CALL Keys<K> sort_by_digits(const Packing<K>& packing, Keys<K> a, Keys<K> b, int64_t n) {
  constexpr int digits = 1 << Bits, most = (64 + Bits - 1) / Bits;
  const int passes = (8 * packing.codec.itemsize + Bits - 1) / Bits;
  // Count the digits of all passes in one read.
  uint32_t counts[most][digits];
  std::memset(counts, 0, sizeof(counts[0]) * size_t(passes));
  const Packing<K> own = packing;  // by value, as the counts could alias its memory
  for (int64_t i = 0; i < n; ++i) {
    K ordinal = own.ordinal(a.key[i]);
    for (int p = 0; p < passes; ++p, ordinal >>= Bits) ++counts[p][ordinal & (digits - 1)];
  }
  // Per pass: turn counts into offsets, then move the keys.
  for (int p = 0; p < passes; ++p) {
    uint32_t* const offset = counts[p];
    const DigitOf<K> digit(packing, Bits * p, Bits);
    if (offset[digit(a.key[0])] == uint32_t(n)) continue;
    uint32_t before = 0;
    for (int d = 0; d < digits; ++d) {
      const uint32_t count = offset[d];
      offset[d] = before;
      before += count;
    }
    for (int64_t i = 0; i < n; ++i) {
      const K key = a.key[i];
      const uint32_t to = offset[digit(key)]++;
      b.key[to] = key;
      if constexpr (WithIndices) b.index[to] = a.index[i];
    }
    std::swap(a, b);
  }
  return a;
}

// Whether comparisons in vectors sort keys without indices beside them faster than digits do.
template <class K>
STATOR_FN bool sorts_by_lanes(const Packing<K>& packing, int64_t n) {
  return packing.codec.itemsize >= 4 || n <= HostSortTuning::ranked;
}

// Sorts n keys of a, with indices beside them, with the help of b; the result is a or b.
template <class K>
STATOR_FN Keys<K> sort_with_indices(const Packing<K>& packing, Keys<K> a, Keys<K> b, int64_t n) {
  if (n <= HostSortTuning::ranked) {
    scatter_ranked(packing, a, b, int(n));
    return b;
  }
  if (n >= HostSortTuning::wide_digits) return sort_by_digits<11, true>(packing, a, b, n);
  return sort_by_digits<8, true>(packing, a, b, n);
}

// Moves the wanted ones of the n keys a to their sorted positions, smaller ones before them and larger ones after. The
// keys are those of positions [begin, begin + n) of the sorted segment. b has room for n.
template <class K>
STATOR_CALL void sort_wanted(const params::Sort& s, int64_t begin, K* a, K* b, int64_t n) {
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
    if (first == n - 1)  // quantiles ask for it, as it is NaN if there is any
      std::swap(*std::max_element(a + done, a + n), a[n - 1]);
    else
      select_keys(a + done, b, n - done, first - done, last - done);
    done = last;
  }
}

// The keys of -0 and +0 are equal, but were sorted as different: gives the wanted ones of them the signs in the order
// of the segment at x, so that the sort is stable. The keys a are those of positions [begin, begin + n).
template <class K>
STATOR_CALL void reorder_zeros(const Packing<K>& packing, const params::Sort& s, const void* x, int64_t begin, K* a,
                               int64_t n) {
  const Codec<K> codec = packing.codec;
  if (codec.alias == codec.canonical || s.whole) return;  // whole: equal elements may have any order
  const K low = codec.alias < codec.canonical ? codec.alias : codec.canonical;
  const K high = codec.alias ^ codec.canonical ^ low;
  int64_t below = 0;
  K lows = 0, highs = 0;
  for (int64_t i = 0; i < n; ++i) {
    lows += a[i] == low;
    highs += a[i] == high;
  }
  if (lows == 0 || highs == 0) return;
  for (int64_t i = 0; i < n; ++i) below += a[i] < low;
  for (int64_t i = 0, at = below; at < below + int64_t(lows + highs); ++i) {
    const K own = codec.load(x, i * s.x_step);
    if (own != low && own != high) continue;
    if (output_position(s, begin + at) >= 0) a[at] = own;
    ++at;
  }
}

// As load_keys, but ordinals instead of keys: comparing the packed keys themselves then sorts stably.
template <class K>
STATOR_FN void load_ordinals(const Packing<K>& packing, const void* x, int64_t step, int64_t begin, int64_t end,
                             K* out) {
  load_keys<K>(packing, x, step, begin, end, {out, nullptr});
  const K alias = packing.codec.alias << packing.index_bits, canonical = packing.codec.canonical << packing.index_bits,
          mask = ~K(0) << packing.index_bits;
  if (alias == canonical) return;
  for (int64_t i = 0; i < end - begin; ++i) out[i] = (out[i] & mask) == alias ? canonical | (out[i] & ~mask) : out[i];
}

// The index of an element in its segment: the low bits of its packed key, or the entry of a list at those bits.
template <class K>
struct SourceIndex {
  K mask;
  const uint32_t* list;  // null: none

  STATOR_FN int64_t operator()(K key) const {
    const int64_t index = int64_t(key & mask);
    return list ? int64_t(list[index]) : index;
  }
};

// As store_keys, for packed keys of which only the index is used: values are read from the segment at x.
template <class K>
STATOR_CALL void store_by_index(const Packing<K>& packing, const params::Sort& s, const void* x, int64_t out,
                                int64_t begin, int64_t end, const K* key, const SourceIndex<K>& source_index) {
  key -= begin;
  if (s.values)
    with_items(s.values, packing.codec.itemsize, [&](auto* items) {
      using Item = std::remove_pointer_t<decltype(items)>;
      if constexpr (fits_key<K, Item>) {
        const Codec<K> codec = packing.codec;
        const int64_t step = s.x_step;
        const Item* const from = static_cast<const Item*>(x);
        Item* const to = items + out;
        each_wanted(s, begin, end, [=](int64_t i, int64_t at) {
          to[at] = Item(codec.decode(codec.encode(K(from[source_index(key[i]) * step]))));
        });
      }
    });
  int64_t* const to = s.indices + out;
  if (s.indices) each_wanted(s, begin, end, [=](int64_t i, int64_t at) { to[at] = source_index(key[i]); });
}

// Sorts n keys of 64 bits, those of positions [begin, begin + n) of a segment, as packed keys: the index is below the
// distance of the ordinal from the least ordinal, without the low bits for which there is no room. Runs of equal
// distances are put right by insertion. Returns false if that takes too long; then `key` is lost. ordinal: room for n.
template <class K>
STATOR_CALL bool sort_packed(const Packing<K>& packing, const params::Sort& s, int64_t begin, int64_t n, K* key,
                             K* spare, K* ordinal, K* mask) {
  constexpr int64_t patience = 8;  // steps of an insertion
  const Packing<K> own = packing;
  // Find the range of the ordinals.
  K least = ~K(0), greatest = 0, varied = 0;
  for (int64_t i = 0; i < n; ++i) {
    const K o = own.codec.ordinal(key[i]);
    ordinal[i] = o;
    least = o < least ? o : least;
    greatest = o > greatest ? o : greatest;
  }
  // Pack distances and indices, and sort them.
  const auto bits = [](K v) { return v == 0 ? 0 : 64 - __builtin_clzll(uint64_t(v)); };
  const int index_bits = bits(K(n - 1)), wanted = bits(greatest - least), room = int(8 * sizeof(K)) - index_bits;
  const int drop = wanted > room ? wanted - room : 0;
  for (int64_t i = 0; i < n; ++i) {
    const K distance = ordinal[i] - least;
    varied |= distance;
    key[i] = (index_bits == 0 ? K(0) : distance >> drop << index_bits) | K(i);
  }
  *mask = (K(1) << index_bits) - 1;
  sort_wanted(s, begin, key, spare, n);
  if ((varied & ((K(1) << drop) - 1)) == 0) return true;  // no bit was lost
  const K index_mask = *mask;
  const int64_t first = std::max<int64_t>(s.first - begin, 0), last = std::min(s.first + s.count - begin, n);
  // Distances beside the window must differ from those in it.
  K before = 0, after = ~K(0);
  for (int64_t i = 0; i < first; ++i) before = key[i] > before ? key[i] : before;
  for (int64_t i = last; i < n; ++i) after = key[i] < after ? key[i] : after;
  if (first > 0 && before >> index_bits == key[first] >> index_bits) return false;
  if (last < n && after >> index_bits == key[last - 1] >> index_bits) return false;
  // Insertion sort, by ordinal, of the keys in the window that have equal distances.
  for (int64_t i = first + 1; i < last; ++i) {
    if (key[i] >> index_bits != key[i - 1] >> index_bits) continue;
    const K moved = key[i], o = ordinal[moved & index_mask];
    int64_t to = i;
    for (; to > first && key[to - 1] >> index_bits == moved >> index_bits && o < ordinal[key[to - 1] & index_mask];
         --to)
      key[to] = key[to - 1];
    key[to] = moved;
    if (i - to > patience) return false;
  }
  return true;
}

}  // namespace stator::STATOR_TARGET::sort
