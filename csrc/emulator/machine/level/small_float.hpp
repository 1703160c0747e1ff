// The small floating formats: their values as double, and the rounding of a double to them.
#pragma once

#include "emulator/machine/form.hpp"

#include <bit>
#include <cstdint>

namespace stator::emulator::machine {

struct SmallFormat {
  int exponent_bits, mantissa_bits;
  bool infinity;  // e4m3 has none: the highest exponent holds numbers, and all bits set are NaN
  uint32_t nan;   // the one that operations give
};
constexpr SmallFormat f16_format{5, 10, true, 0x7fff};
constexpr SmallFormat bf16_format{8, 7, true, 0x7fff};
constexpr SmallFormat tf32_format{8, 10, true, 0x3ffff};
constexpr SmallFormat e5m2_format{5, 2, true, 0x7f};
constexpr SmallFormat e4m3_format{4, 3, false, 0x7f};

inline double decode_small(uint32_t bits, SmallFormat f) {
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const uint32_t sign = bits >> (f.exponent_bits + f.mantissa_bits) & 1;
  const int exponent = int(bits >> f.mantissa_bits & ((1u << f.exponent_bits) - 1));
  const uint32_t mantissa = bits & ((1u << f.mantissa_bits) - 1);
  const int top = (1 << f.exponent_bits) - 1;
  uint64_t wide;
  if (exponent == top && (f.infinity || mantissa == (1u << f.mantissa_bits) - 1))
    wide = uint64_t(0x7ff) << 52 | (f.infinity ? uint64_t(mantissa) << (52 - f.mantissa_bits) : uint64_t(1) << 51);
  else if (exponent)
    wide = uint64_t(exponent - bias + 1023) << 52 | uint64_t(mantissa) << (52 - f.mantissa_bits);
  else
    wide = std::bit_cast<uint64_t>(double(mantissa) *
                                   std::bit_cast<double>(uint64_t(1 - bias - f.mantissa_bits + 1023) << 52));
  return std::bit_cast<double>(wide | uint64_t(sign) << 63);
}

// rna rounds halves away from zero. Beyond the largest number is infinity (or that number, where the direction or
// `finite` says so); a format without infinities gives its NaN.
inline uint32_t encode_small(double value, SmallFormat f, Rounding rounding, bool finite = false) {
  const auto wide = std::bit_cast<uint64_t>(value);
  const uint32_t sign = uint32_t(wide >> 63) << (f.exponent_bits + f.mantissa_bits);
  if (value != value) return f.nan;
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const uint32_t top = (1u << f.exponent_bits) - 1;
  const uint32_t largest =
      f.infinity ? (top << f.mantissa_bits) - 1 : (top << f.mantissa_bits | ((1u << f.mantissa_bits) - 2));
  const uint32_t infinite = f.infinity ? top << f.mantissa_bits : f.nan;
  const int exponent = int(wide >> 52 & 0x7ff) - 1023;
  if (exponent == 1024) return finite ? sign | largest : f.infinity ? sign | infinite : f.nan | sign;
  if (wide << 1 == 0) return sign;
  // The value is significand * 2^(exponent - 52); a subnormal double is far below every format.
  const uint64_t significand = (wide & ((uint64_t(1) << 52) - 1)) | (exponent > -1023 ? uint64_t(1) << 52 : 0);
  const int lowest = 1 - bias;
  const int drop = 52 - f.mantissa_bits + (exponent < lowest ? lowest - exponent : 0);
  uint64_t kept = drop < 64 ? significand >> drop : 0;
  const uint64_t rest = drop < 64 ? significand & ((uint64_t(1) << drop) - 1) : significand;
  const uint64_t half = drop < 64 ? uint64_t(1) << (drop - 1) : ~uint64_t(0);
  bool up = false;
  switch (rounding) {
    case Rounding::rz: break;
    case Rounding::rm: up = sign && rest; break;
    case Rounding::rp: up = !sign && rest; break;
    case Rounding::rna: up = rest >= half; break;
    default: up = rest > half || (rest == half && kept & 1); break;
  }
  kept += up;
  // A normal number's hidden bit counts as one exponent step, so that carries run into the exponent.
  const uint64_t bits = exponent < lowest ? kept : kept + (uint64_t(exponent + bias - 1) << f.mantissa_bits);
  if (bits > largest) {
    const bool towards_zero =
        rounding == Rounding::rz || (rounding == Rounding::rm && !sign) || (rounding == Rounding::rp && sign);
    return sign | (finite || towards_zero ? largest : infinite);
  }
  return sign | uint32_t(bits);
}

inline double from_f16(uint16_t v) { return decode_small(v, f16_format); }
inline uint16_t to_f16(double v) { return uint16_t(encode_small(v, f16_format, Rounding::rn)); }
inline double from_bf16(uint16_t v) { return std::bit_cast<float>(uint32_t(v) << 16); }
inline uint16_t to_bf16(double v) { return uint16_t(encode_small(v, bf16_format, Rounding::rn)); }

// a * b + c with the last bit set where the sum is not exact, so that rounding it once more is right. The product of
// two small numbers is exact.
inline double fma_to_odd(double a, double b, double c) {
  const double product = a * b, sum = product + c;
  const double part = sum - product, error = (product - (sum - part)) + (c - part);
  const auto bits = std::bit_cast<uint64_t>(sum);
  if (error == 0 || error != error || (bits & 1)) return sum;
  // The sum was rounded to an even last bit: the exact value lies towards the error, and its odd neighbour is there.
  const bool away = (error > 0) == (sum > 0);
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

}  // namespace stator::emulator::machine
