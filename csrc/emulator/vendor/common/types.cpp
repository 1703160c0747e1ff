#include "emulator/vendor/common/types.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace stator::emulator::vendor {

namespace {

// A small floating format: sign, exponent, mantissa.
struct Form {
  int exponent, mantissa;
  bool infinities;  // else the largest code is NaN, and what is too large saturates
};
constexpr Form half{5, 10, true}, brain{8, 7, true}, e4m3{4, 3, false}, e5m2{5, 2, true};

uint32_t encode(Form form, double value, bool saturate = false) {
  const int bias = (1 << (form.exponent - 1)) - 1, all = (1 << form.exponent) - 1;
  const uint32_t sign = std::signbit(value) ? 1u << (form.exponent + form.mantissa) : 0;
  const uint32_t infinity = uint32_t(all) << form.mantissa;
  const uint32_t nan = form.infinities ? infinity | 1u << (form.mantissa - 1) : infinity | ((1u << form.mantissa) - 1);
  const uint32_t largest = form.infinities ? infinity - 1 : nan - 1;
  const uint32_t beyond = saturate ? largest : form.infinities ? infinity : nan;
  if (std::isnan(value)) return sign | nan;
  const double magnitude = std::fabs(value);
  if (std::isinf(value)) return sign | beyond;
  if (magnitude == 0) return sign;
  const int power = std::max(std::ilogb(magnitude), 1 - bias);
  const double scaled = std::nearbyint(std::ldexp(magnitude, form.mantissa - power));  // to even
  uint32_t code = uint32_t(scaled);
  if (code >> form.mantissa) code += uint32_t(power + bias - 1) << form.mantissa;
  return sign | std::min(code > largest ? beyond : code, nan);
}

double decode(Form form, uint32_t code) {
  const int bias = (1 << (form.exponent - 1)) - 1, all = (1 << form.exponent) - 1;
  const bool negative = code >> (form.exponent + form.mantissa) & 1;
  const int power = int(code >> form.mantissa) & all;
  const uint32_t fraction = code & ((1u << form.mantissa) - 1);
  double value;
  if (power == all && form.infinities)
    value = fraction ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  else if (power == all && fraction == (1u << form.mantissa) - 1)
    value = std::numeric_limits<double>::quiet_NaN();
  else if (power == 0)
    value = std::ldexp(fraction, 1 - bias - form.mantissa);
  else
    value = std::ldexp(fraction + (1u << form.mantissa), power - bias - form.mantissa);
  return negative ? -value : value;
}

template <class T>
T at(const void* start, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(start) + index * int64_t(sizeof(T)), sizeof(T));
  return value;
}
template <class T>
void put(void* start, int64_t index, T value) {
  std::memcpy(static_cast<char*>(start) + index * int64_t(sizeof(T)), &value, sizeof(T));
}
template <class T>
T saturated(double value) {
  constexpr double low = double(std::numeric_limits<T>::min()), high = double(std::numeric_limits<T>::max());
  if (std::isnan(value)) return 0;
  return value <= low    ? std::numeric_limits<T>::min()
         : value >= high ? std::numeric_limits<T>::max()
                         : T(std::nearbyint(value));
}

}  // namespace

uint16_t half_bits(double value) { return uint16_t(encode(half, value)); }
double half_value(uint16_t bits) { return decode(half, bits); }

std::complex<double> load(Type type, const void* start, int64_t i) {
  switch (type) {
    case Type::r32f: return double(at<float>(start, i));
    case Type::r64f: return at<double>(start, i);
    case Type::r16f: return decode(half, at<uint16_t>(start, i));
    case Type::r16bf: return double(std::bit_cast<float>(uint32_t(at<uint16_t>(start, i)) << 16));
    case Type::e4m3: return decode(e4m3, at<uint8_t>(start, i));
    case Type::e5m2: return decode(e5m2, at<uint8_t>(start, i));
    case Type::r8i: return double(at<int8_t>(start, i));
    case Type::r8u: return double(at<uint8_t>(start, i));
    case Type::r32i: return double(at<int32_t>(start, i));
    case Type::r64i: return double(at<int64_t>(start, i));
    case Type::c32f: return {double(at<float>(start, 2 * i)), double(at<float>(start, 2 * i + 1))};
    case Type::c64f: return {at<double>(start, 2 * i), at<double>(start, 2 * i + 1)};
    case Type::c16f: return {decode(half, at<uint16_t>(start, 2 * i)), decode(half, at<uint16_t>(start, 2 * i + 1))};
    case Type::c16bf: return {load(Type::r16bf, start, 2 * i).real(), load(Type::r16bf, start, 2 * i + 1).real()};
    case Type::c8i: return {double(at<int8_t>(start, 2 * i)), double(at<int8_t>(start, 2 * i + 1))};
  }
  return std::numeric_limits<double>::quiet_NaN();
}

void store(Type type, void* start, int64_t i, std::complex<double> value) {
  const double real = value.real(), imag = value.imag();
  switch (type) {
    case Type::r32f: return put(start, i, float(real));
    case Type::r64f: return put(start, i, real);
    case Type::r16f: return put(start, i, uint16_t(encode(half, real)));
    case Type::r16bf: return put(start, i, uint16_t(encode(brain, real)));
    case Type::e4m3: return put(start, i, uint8_t(encode(e4m3, real, true)));
    case Type::e5m2: return put(start, i, uint8_t(encode(e5m2, real, true)));
    case Type::r8i: return put(start, i, saturated<int8_t>(real));
    case Type::r8u: return put(start, i, saturated<uint8_t>(real));
    case Type::r32i: return put(start, i, saturated<int32_t>(real));
    case Type::r64i: return put(start, i, saturated<int64_t>(real));
    case Type::c32f: return put(start, 2 * i, float(real)), put(start, 2 * i + 1, float(imag));
    case Type::c64f: return put(start, 2 * i, real), put(start, 2 * i + 1, imag);
    case Type::c16f: return put(start, 2 * i, half_bits(real)), put(start, 2 * i + 1, half_bits(imag));
    case Type::c16bf: return store(Type::r16bf, start, 2 * i, real), store(Type::r16bf, start, 2 * i + 1, imag);
    case Type::c8i: return put(start, 2 * i, saturated<int8_t>(real)), put(start, 2 * i + 1, saturated<int8_t>(imag));
  }
}

float to_tf32(float value) {
  if (!std::isfinite(value)) return value;
  uint32_t bits = std::bit_cast<uint32_t>(value);
  bits += 0xfff + (bits >> 13 & 1);
  return std::bit_cast<float>(bits & ~uint32_t(0x1fff));
}

}  // namespace stator::emulator::vendor
