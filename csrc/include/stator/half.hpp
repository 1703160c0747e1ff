// float16 and bfloat16: 16-bit plain data, bit-compatible with CUDA's __half and __nv_bfloat16. Arithmetic is done in
// float; conversions round to nearest even and keep NaN a NaN (IEEE 754-2019, 5.4.2). Usable in kernels, so without
// std::bit_cast, which nvcc treats as a host function.
#pragma once

#include <stator/device/standard.hpp>

namespace stator {

struct float16 {
  uint16_t bits;

  float16() = default;
  STATOR_HD static constexpr float16 from_bits(uint16_t b) { return float16(b, 0); }
  STATOR_HD explicit float16(float value) : bits(encode(value)) {}
  STATOR_HD explicit operator float() const { return decode(bits); }

 private:
  STATOR_HD constexpr float16(uint16_t b, int) : bits(b) {}

  // Without branches, so that loops over halves vectorise. Subnormals result from a float addition that shifts the
  // mantissa into position and rounds it once.
  STATOR_HD static uint16_t encode(float value) {
#if defined(__CUDA_ARCH__)
    uint16_t out;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out) : "f"(value));
    return out;
#else
    const uint32_t f = __builtin_bit_cast(uint32_t, value);
    const uint32_t sign = (f >> 16) & 0x8000u;
    const uint32_t a = f & 0x7fffffffu;
    const uint32_t normal = (a - 0x38000000u + 0xfffu + ((a >> 13) & 1u)) >> 13;
    const uint32_t subnormal = __builtin_bit_cast(uint32_t, __builtin_bit_cast(float, a) + 0.5f) - 0x3f000000u;
    const int32_t s = static_cast<int32_t>(a);  // g++ vectorises signed comparisons
    const uint32_t special = 0x7c00u | (s > 0x7f800000 ? 0x0200u : 0u);
    const uint32_t finite = s < 0x38800000 ? subnormal : normal;
    const uint32_t magnitude = s >= 0x47800000 ? special : finite;
    return static_cast<uint16_t>(sign | magnitude);
#endif
  }

  STATOR_HD static float decode(uint16_t h) {
#if defined(__CUDA_ARCH__)
    float out;
    asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(h));
    return out;
#else
    const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
    const uint32_t a = h & 0x7fffu;
    const uint32_t normal = (a << 13) + 0x38000000u;
    const uint32_t special = (a << 13) | 0x7f800000u;
    // Units of 2^-24, which float represents exactly.
    const uint32_t subnormal =
        __builtin_bit_cast(uint32_t, static_cast<float>(static_cast<int32_t>(a)) * 5.9604644775390625e-8f);
    const uint32_t magnitude = a >= 0x7c00u ? special : (a < 0x0400u ? subnormal : normal);
    return __builtin_bit_cast(float, sign | magnitude);
#endif
  }
};

struct bfloat16 {
  uint16_t bits;

  bfloat16() = default;
  STATOR_HD static constexpr bfloat16 from_bits(uint16_t b) { return bfloat16(b, 0); }
  STATOR_HD explicit bfloat16(float value) : bits(encode(value)) {}
  STATOR_HD explicit operator float() const { return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16); }

 private:
  STATOR_HD constexpr bfloat16(uint16_t b, int) : bits(b) {}

  STATOR_HD static uint16_t encode(float value) {
#if defined(__CUDA_ARCH__)
    uint16_t out;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(out) : "f"(value));
    return out;
#else
    const uint32_t f = __builtin_bit_cast(uint32_t, value);
    const uint32_t rounded = (f + 0x7fffu + ((f >> 16) & 1u)) >> 16;
    const uint32_t nan = (f >> 16) | 0x40u;
    return static_cast<uint16_t>((f & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
#endif
  }
};

static_assert(sizeof(float16) == 2 && sizeof(bfloat16) == 2);

}  // namespace stator
