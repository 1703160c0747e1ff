// Conversions to and from the eight-bit floats of the OCP specification (OFP8 1.0, 2023): e4m3 without infinity, e5m2
// as IEEE 754 would define it.
#pragma once

#include "target.cuh"

namespace stator::STATOR_TARGET {

// Bits of the fraction, exponent bias and largest finite value.
struct Float8Format {
  int fraction, bias;
  float largest;
};
STATOR_FN Float8Format float8_format(Float8 f) {
  return f == Float8::e4m3 ? Float8Format{3, 7, 448.0f} : Float8Format{2, 15, 57344.0f};
}

// Rounds to nearest, ties to even, and saturates at the largest finite value. NaN has all bits set in e4m3, and is the
// quiet NaN of e5m2.
STATOR_FN uint8_t float8_encoded(float x, Float8 f) {
  const Float8Format format = float8_format(f);
  const uint32_t bits = bit_cast<uint32_t>(x), sign = bits >> 24 & 0x80;
  uint32_t magnitude = bits & 0x7fffffff;
  const bool nan = magnitude > 0x7f800000;
  const uint32_t most = bit_cast<uint32_t>(format.largest);
  magnitude = magnitude > most ? most : magnitude;
  // Adding this number moves the last bit that a subnormal result keeps to the end of a float's fraction, and so rounds
  // there.
  const float shift = bit_cast<float>(uint32_t(127 + 1 - format.bias + 23 - format.fraction) << 23);
  const uint32_t small = bit_cast<uint32_t>(bit_cast<float>(magnitude) + shift) - bit_cast<uint32_t>(shift);
  const int cut = 23 - format.fraction;
  const uint32_t odd = magnitude >> cut & 1;
  const uint32_t rounded = (magnitude + (uint32_t(1) << (cut - 1)) - 1 + odd) >> cut;
  const uint32_t normal = rounded - (uint32_t(127 - format.bias) << format.fraction);
  const bool is_small = magnitude < uint32_t(127 + 1 - format.bias) << 23;
  const uint32_t quiet = f == Float8::e4m3 ? 0x7f : 0x7e;
  return uint8_t(sign | (nan ? quiet : is_small ? small : normal));
}

STATOR_FN float float8_decoded(uint8_t q, Float8 f) {
  const Float8Format format = float8_format(f);
  const uint32_t sign = uint32_t(q & 0x80) << 24, magnitude = q & 0x7f;
  // The float with these bits, times the power of two between the two biases: exact, also for subnormal numbers.
  const float scale = bit_cast<float>(uint32_t(127 + 127 - format.bias) << 23);
  const float value = bit_cast<float>(magnitude << (23 - format.fraction)) * scale;
  const uint32_t top = f == Float8::e4m3 ? 0x7f : 0x7c;
  uint32_t bits = bit_cast<uint32_t>(value);
  if (magnitude >= top) bits = f == Float8::e5m2 && magnitude == top ? 0x7f800000 : 0x7fc00000;
  return bit_cast<float>(bits | sign);
}

}  // namespace stator::STATOR_TARGET
