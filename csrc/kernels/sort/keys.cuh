// Elements as unsigned keys: 8- to 32-bit dtypes in 32 bits, 64-bit ones in 64. A word is a key, or a 32-bit key above
// its 32-bit place in the line.
#pragma once

#include "device/convert.cuh"
#include "params/sort.hpp"

namespace stator::STATOR_TARGET::sort {

template <class K>
struct Codec {
  K sign, negative, positive, infinity, greatest, flip, alias, canonical;
  int32_t itemsize;

  STATOR_FN explicit Codec(const params::KeyCodec& c)
      : sign(K(c.sign)),
        negative(K(c.negative)),
        positive(K(c.positive)),
        infinity(K(c.infinity)),
        greatest(K(c.greatest)),
        flip(K(c.flip)),
        alias(K(c.alias)),
        canonical(K(c.canonical)),
        itemsize(c.itemsize) {}

  STATOR_FN K encode(K bits) const {
    const K key = bits ^ ((bits & sign) != 0 ? negative : positive);
    return ((bits & (sign - 1)) > infinity ? greatest : key) ^ flip;
  }
  STATOR_FN K decode(K key) const {
    key ^= flip;
    return key ^ ((key & sign) != 0 ? positive : negative);
  }
  // What is compared.
  STATOR_FN K ordinal(K key) const { return key == alias ? canonical : key; }
  STATOR_FN bool is_nan(K key) const { return infinity != greatest && key == (greatest ^ flip); }

  STATOR_FN K load(const void* base, int64_t at) const {
    switch (itemsize) {
      case 1: return encode(static_cast<const uint8_t*>(base)[at]);
      case 2: return encode(static_cast<const uint16_t*>(base)[at]);
      case 4: return encode(static_cast<const uint32_t*>(base)[at]);
      default: return encode(K(static_cast<const uint64_t*>(base)[at]));
    }
  }
  STATOR_FN void store(void* base, int64_t at, K key) const {
    const K bits = decode(key);
    switch (itemsize) {
      case 1: static_cast<uint8_t*>(base)[at] = uint8_t(bits); return;
      case 2: static_cast<uint16_t*>(base)[at] = uint16_t(bits); return;
      case 4: static_cast<uint32_t*>(base)[at] = uint32_t(bits); return;
      default: static_cast<uint64_t*>(base)[at] = bits;
    }
  }
};

// f(a pointer to unsigned integers of the item's size): one switch around a loop.
template <class F>
STATOR_FN void with_items(const void* base, int itemsize, F f) {
  switch (itemsize) {
    case 1: return f(static_cast<const uint8_t*>(base));
    case 2: return f(static_cast<const uint16_t*>(base));
    case 4: return f(static_cast<const uint32_t*>(base));
    default: return f(static_cast<const uint64_t*>(base));
  }
}
template <class F>
STATOR_FN void with_items(void* base, int itemsize, F f) {
  switch (itemsize) {
    case 1: return f(static_cast<uint8_t*>(base));
    case 2: return f(static_cast<uint16_t*>(base));
    case 4: return f(static_cast<uint32_t*>(base));
    default: return f(static_cast<uint64_t*>(base));
  }
}

// The key of a word, and what it is compared by.
template <class W>
struct WordKey {
  Codec<W> codec;
  int low;  // bits below the key

  STATOR_FN W make(W key, int64_t place) const { return low == 0 ? key : W(key << low | W(place)); }
  STATOR_FN W ordinal(W word) const { return codec.ordinal(word >> low); }
  STATOR_FN int digit(W word, int shift) const { return int(ordinal(word) >> shift & 255); }
};

// The digit of a word at `shift`, with all that it needs by value: loops that store words keep it in registers.
template <class W>
struct DigitOf {
  W alias, canonical;
  int low, shift;
  W mask;

  STATOR_FN DigitOf(const WordKey<W>& key, int s, int bits)
      : alias(key.codec.alias), canonical(key.codec.canonical), low(key.low), shift(s), mask((W(1) << bits) - 1) {}
  STATOR_FN uint32_t operator()(W word) const {
    const W k = word >> low;
    return uint32_t((k == alias ? canonical : k) >> shift & mask);
  }
};

// Where in the output what belongs at place i of a sorted line goes; -1: nowhere.
STATOR_FN int64_t window_place(const params::Sort& s, int64_t i) {
  if (s.rank_count == 0 || s.whole) return i < s.first || i >= s.first + s.count ? -1 : i - s.first;
  for (int r = 0; r < s.rank_count; ++r)
    if (s.rank[r] == i) return r;
  return -1;
}

// Where line `line` starts in the input and in the output.
struct LineStart {
  int64_t x, out;
};
STATOR_FN LineStart line_start(const params::Lines& lines, int64_t line) {
  LineStart at{0, 0};
  for (int d = lines.ndim - 1; d >= 0; --d) {
    int64_t coordinate = line;
    if (d > 0) {
      line /= lines.shape[d];
      coordinate -= line * lines.shape[d];
    }
    at.x += coordinate * lines.x_strides[d];
    at.out += coordinate * lines.out_strides[d];
  }
  return at;
}

}  // namespace stator::STATOR_TARGET::sort
