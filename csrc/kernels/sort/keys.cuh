// Elements as unsigned keys: 8- to 32-bit dtypes in 32 bits, 64-bit dtypes in 64. A packed key is a key, or a 32-bit
// key above the element's 32-bit index in its segment.
#pragma once

#include "device/convert.cuh"
#include "device/index.cuh"
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
  // What is compared: -0 and +0 have one ordinal.
  STATOR_FN K ordinal(K key) const { return key == alias ? canonical : key; }
  STATOR_FN bool is_nan(K key) const { return infinity != greatest && key == (greatest ^ flip); }

  STATOR_FN K load(const void* base, int64_t at) const {
    switch (itemsize) {
      case 1: return encode(static_cast<const uint8_t*>(base)[at]);
      case 2: return encode(static_cast<const uint16_t*>(base)[at]);
      case 4: return encode(static_cast<const uint32_t*>(base)[at]);
      case 8: return encode(K(static_cast<const uint64_t*>(base)[at]));
      default: outside_set();
    }
  }
  STATOR_FN void store(void* base, int64_t at, K key) const {
    const K bits = decode(key);
    switch (itemsize) {
      case 1: static_cast<uint8_t*>(base)[at] = uint8_t(bits); return;
      case 2: static_cast<uint16_t*>(base)[at] = uint16_t(bits); return;
      case 4: static_cast<uint32_t*>(base)[at] = uint32_t(bits); return;
      case 8: static_cast<uint64_t*>(base)[at] = bits; return;
      default: outside_set();
    }
  }
};

// Calls f with `base` as a pointer to unsigned integers of the item's size, so that a loop in f has no switch inside.
template <class F>
STATOR_FN void with_items(const void* base, int itemsize, F f) {
  switch (itemsize) {
    case 1: return f(static_cast<const uint8_t*>(base));
    case 2: return f(static_cast<const uint16_t*>(base));
    case 4: return f(static_cast<const uint32_t*>(base));
    case 8: return f(static_cast<const uint64_t*>(base));
    default: outside_set();
  }
}
template <class F>
STATOR_FN void with_items(void* base, int itemsize, F f) {
  switch (itemsize) {
    case 1: return f(static_cast<uint8_t*>(base));
    case 2: return f(static_cast<uint16_t*>(base));
    case 4: return f(static_cast<uint32_t*>(base));
    case 8: return f(static_cast<uint64_t*>(base));
    default: outside_set();
  }
}

// How keys and indices are packed.
template <class K>
struct Packing {
  Codec<K> codec;
  int index_bits;  // below the key; 0: the packed key is the key

  STATOR_FN K pack(K key, int64_t index) const { return index_bits == 0 ? key : K(key << index_bits | K(index)); }
  STATOR_FN K ordinal(K packed) const { return codec.ordinal(packed >> index_bits); }
  STATOR_FN int digit(K packed, int shift) const { return int(ordinal(packed) >> shift & 255); }
};

// The digit of a packed key at `shift`. Holds what it needs by value: a loop that stores keys can keep it in registers.
template <class K>
struct DigitOf {
  K alias, canonical;
  int index_bits, shift;
  K mask;

  STATOR_FN DigitOf(const Packing<K>& packing, int s, int bits)
      : alias(packing.codec.alias),
        canonical(packing.codec.canonical),
        index_bits(packing.index_bits),
        shift(s),
        mask((K(1) << bits) - 1) {}
  STATOR_FN uint32_t operator()(K packed) const {
    const K key = packed >> index_bits;
    return uint32_t((key == alias ? canonical : key) >> shift & mask);
  }
};

// The position in the output of element i of a sorted segment; -1 if it is not wanted.
STATOR_FN int64_t output_position(const params::Sort& s, int64_t i) {
  if (s.rank_count == 0 || s.whole) return i < s.first || i >= s.first + s.count ? -1 : i - s.first;
  for (int r = 0; r < s.rank_count; ++r)
    if (s.rank[r] == i) return r;
  return -1;
}

// The offsets of a segment's first element in the input and in the output.
struct SegmentStart {
  int64_t x, out;
};
// divmod(d, n, rest) divides by extent d.
template <class Divmod>
STATOR_FN SegmentStart segment_start(const params::Segments& segments, int64_t segment, const Divmod& divmod) {
  SegmentStart at{0, 0};
  STATOR_UNROLL(1)
  for (int d = segments.ndim - 1; d >= 0; --d) {
    int64_t coordinate = segment;
    if (d > 0) segment = divmod(d, segment, coordinate);
    at.x += coordinate * segments.x_strides[d];
    at.out += coordinate * segments.out_strides[d];
  }
  return at;
}
STATOR_FN SegmentStart segment_start(const params::Segments& segments, int64_t segment) {
  return segment_start(segments, segment, [&](int d, int64_t n, int64_t& rest) {
    const int64_t quotient = n / segments.shape[d];
    rest = n - quotient * segments.shape[d];
    return quotient;
  });
}

// The divmod of kernels that find a start for each of their elements.
struct SegmentDivisors : ShapeDivisors {
  explicit SegmentDivisors(const params::Segments& s) : ShapeDivisors(s.ndim, s.shape) {}
};

}  // namespace stator::STATOR_TARGET::sort
