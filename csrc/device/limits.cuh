// Limits of arithmetic types: std::numeric_limits without host functions.
#pragma once

#include "target.cuh"

namespace stator::STATOR_TARGET {

// For integers and bool.
template <class T>
struct limits {
  static constexpr bool is_signed = T(-1) < T(0);
  static constexpr int digits = std::is_same_v<T, bool> ? 1 : 8 * int(sizeof(T)) - int(is_signed);
  STATOR_HD static constexpr T max() { return T(~uint64_t(0) >> (64 - digits)); }
  STATOR_HD static constexpr T lowest() { return is_signed ? T(-max() - 1) : T(0); }
};

template <>
struct limits<float> {
  STATOR_HD static constexpr float lowest() { return -0x1.fffffep127f; }
  STATOR_HD static constexpr float max() { return 0x1.fffffep127f; }
  STATOR_HD static constexpr float infinity() { return bit_cast<float>(uint32_t(0x7f800000)); }
  STATOR_HD static constexpr float nan() { return bit_cast<float>(uint32_t(0x7fc00000)); }
  STATOR_HD static constexpr float epsilon() { return 0x1p-23f; }
  STATOR_HD static constexpr float least_normal() { return 0x1p-126f; }
};

template <>
struct limits<double> {
  STATOR_HD static constexpr double lowest() { return -0x1.fffffffffffffp1023; }
  STATOR_HD static constexpr double max() { return 0x1.fffffffffffffp1023; }
  STATOR_HD static constexpr double infinity() { return bit_cast<double>(uint64_t(0x7ff) << 52); }
  STATOR_HD static constexpr double nan() { return bit_cast<double>(uint64_t(0xfff) << 51); }
  STATOR_HD static constexpr double epsilon() { return 0x1p-52; }
  STATOR_HD static constexpr double least_normal() { return 0x1p-1022; }
};

}  // namespace stator::STATOR_TARGET
