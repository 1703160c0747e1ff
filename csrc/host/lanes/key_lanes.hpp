// Fast host: vectors of unsigned keys, as wide as the instruction set's, with the operations that sorting and selection
// need. Targets whose blocks have threads do not use them.
#pragma once

#include "device/target.cuh"

#include <cstdint>
#include <cstring>
#include <utility>

#if defined(STATOR_HOST) && !defined(STATOR_CHECKED)
#if defined(__AVX512VL__)
#include <immintrin.h>
#endif

#include "host/lanes/lanes_fast.hpp"

namespace stator::STATOR_TARGET {

template <class K>
struct KeyLanes {
  static constexpr int width = native_bytes / int(sizeof(K));
  typedef K V __attribute__((vector_size(native_bytes)));

  STATOR_FN static V load(const K* p) {
    V v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  STATOR_FN static void store(K* p, V v) { std::memcpy(p, &v, sizeof v); }
  STATOR_FN static V all(K key) { return key - V{}; }
  STATOR_FN static V least(V a, V b) { return a < b ? a : b; }
  STATOR_FN static V greatest(V a, V b) { return a > b ? a : b; }

  // Lane i of the result is lane At::of(i) of v.
  template <class At>
  STATOR_FN static V permuted(V v, At) {
    return permuted(v, At{}, std::make_integer_sequence<int, width>{});
  }
  // Lanes of a and b alternating: of the first half of each, or of the second.
  template <bool Second>
  STATOR_FN static V interleaved(V a, V b) {
    return interleaved<Second>(a, b, std::make_integer_sequence<int, width>{});
  }
  // Lanes whose number has `Bit` set are b's, the others a's.
  template <int Bit>
  STATOR_FN static V blended(V a, V b) {
    return blended<Bit>(a, b, std::make_integer_sequence<int, width>{});
  }

  // Packs the lanes below the pivot (OrEqual: those not above it) at `low` and the others at `high`; both writes may be
  // whole vectors. Returns how many lanes went to `low`.
  template <bool OrEqual>
  STATOR_FN static int split(V v, V pivot, K* low, K* high) {
#if defined(__AVX512VL__)
    if constexpr (sizeof(K) == 4) {
      const __m512i own = reinterpret_cast<__m512i>(v), at = reinterpret_cast<__m512i>(pivot);
      const __mmask16 mask = OrEqual ? _mm512_cmple_epu32_mask(own, at) : _mm512_cmplt_epu32_mask(own, at);
      _mm512_storeu_si512(low, _mm512_maskz_compress_epi32(mask, own));
      _mm512_storeu_si512(high, _mm512_maskz_compress_epi32(__mmask16(~mask), own));
      return __builtin_popcount(mask);
    } else {
      const __m512i own = reinterpret_cast<__m512i>(v), at = reinterpret_cast<__m512i>(pivot);
      const __mmask8 mask = OrEqual ? _mm512_cmple_epu64_mask(own, at) : _mm512_cmplt_epu64_mask(own, at);
      _mm512_storeu_si512(low, _mm512_maskz_compress_epi64(mask, own));
      _mm512_storeu_si512(high, _mm512_maskz_compress_epi64(__mmask8(~mask), own));
      return __builtin_popcount(mask);
    }
#else
    int lows = 0;
    for (int i = 0; i < width; ++i) {
      const K key = v[i];
      const bool is_low = OrEqual ? key <= pivot[0] : key < pivot[0];
      low[lows] = key;
      high[i - lows] = key;
      lows += is_low;
    }
    return lows;
#endif
  }

 private:
  typedef K Mask __attribute__((vector_size(native_bytes)));
  template <class At, int... I>
  STATOR_FN static V permuted(V v, At, std::integer_sequence<int, I...>) {
    return __builtin_shuffle(v, Mask{K(At::of(I))...});
  }
  template <bool Second, int... I>
  STATOR_FN static V interleaved(V a, V b, std::integer_sequence<int, I...>) {
    return __builtin_shuffle(a, b, Mask{K((I & 1) * width + I / 2 + (Second ? width / 2 : 0))...});
  }
  template <int Bit, int... I>
  STATOR_FN static V blended(V a, V b, std::integer_sequence<int, I...>) {
    return __builtin_shuffle(a, b, Mask{K((I & Bit) != 0 ? width + I : I)...});
  }
};

}  // namespace stator::STATOR_TARGET
#endif
