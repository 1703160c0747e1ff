#include "ops/scalar.hpp"

#include <cstring>
#include <limits>
#include <string>

namespace stator {
namespace {

template <class T>
T saturate(double v) {
  // Both bounds are exact in double when written as powers of two.
  constexpr double end = 2.0 * double(uint64_t(1) << (std::numeric_limits<T>::digits - 1));
  if (v != v) return 0;
  if (v >= end) return std::numeric_limits<T>::max();
  if (v <= double(std::numeric_limits<T>::lowest())) return std::numeric_limits<T>::lowest();
  return T(v);
}

// Rounding to odd is exact enough that the later rounding to the half type gives the result of a single rounding.
float round_to_odd(double v) {
  const float f = float(v);
  if (double(f) == v || v != v) return f;
  uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  const bool away = (f < 0 ? -double(f) : double(f)) > (v < 0 ? -v : v);
  bits = (bits - uint32_t(away)) | 1u;
  float odd;
  std::memcpy(&odd, &bits, sizeof odd);
  return odd;
}

template <class T>
T to_type(const Scalar& s) {
  if constexpr (std::is_same_v<T, bool>) {
    return is_integer(s) ? s.i != 0 : s.re != 0 || s.im != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return is_integer(s) ? T(s.i) : saturate<T>(s.re);
  } else if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
    return T(round_to_odd(s.re));
  } else if constexpr (std::is_floating_point_v<T>) {
    return T(s.re);
  } else {
    return T(complex128(s.re, s.im));
  }
}

std::string text(const Scalar& s) {
  if (s.type == Scalar::Type::unsigned_integer) return std::to_string(uint64_t(s.i));
  return std::to_string(s.i);
}

template <class To, class From>
void rewrite(unsigned char (&bytes)[16]) {
  From from;
  std::memcpy(&from, bytes, sizeof from);
  const To to = To(from);
  std::memcpy(bytes, &to, sizeof to);
}

}  // namespace

DType default_dtype(const Scalar& value) {
  switch (value.type) {
    case Scalar::Type::boolean: return DType::bool_;
    case Scalar::Type::integer: return DType::int64;
    case Scalar::Type::unsigned_integer: return DType::uint64;
    case Scalar::Type::floating: return DType::float64;
    case Scalar::Type::complex_floating: return DType::complex128;
  }
  __builtin_unreachable();
}

DType promote_weak(DType array, const Scalar& value) {
  switch (value.type) {
    case Scalar::Type::boolean: return array;
    case Scalar::Type::integer:
    case Scalar::Type::unsigned_integer: return array == DType::bool_ ? default_dtype(value) : array;
    case Scalar::Type::floating: return to_inexact(array);
    case Scalar::Type::complex_floating:
      if (in(array, dtypes::complexes)) return array;
      return in(array, dtypes::floats) && array != DType::float64 ? DType::complex64 : DType::complex128;
  }
  __builtin_unreachable();
}

bool is_integer(const Scalar& value) {
  return value.type == Scalar::Type::boolean || value.type == Scalar::Type::integer ||
         value.type == Scalar::Type::unsigned_integer;
}

bool fits(const Scalar& value, DType d) {
  return visit(d, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      constexpr uint64_t largest = uint64_t(std::numeric_limits<T>::max());
      if (value.type == Scalar::Type::unsigned_integer) return uint64_t(value.i) <= largest;
      if (value.i < 0) return std::is_signed_v<T> && value.i >= int64_t(std::numeric_limits<T>::lowest());
      return uint64_t(value.i) <= largest;
    } else {
      return true;
    }
  });
}

void encode(std::string_view op, const Scalar& value, DType d, unsigned char (&out)[16]) {
  if (is_integer(value) && !fits(value, d))
    throw NumberRangeError(std::string(op),
                           "the number " + text(value) + " is out of range for " + std::string(name(d)),
                           "use a number in range, or convert the array to a wider dtype");
  if (value.type == Scalar::Type::complex_floating && !in(d, dtypes::complexes | dtypes::boolean))
    throw DTypeError(std::string(op), "a complex number cannot become " + std::string(name(d)),
                     "use a complex dtype, or the number's real part");
  std::memset(out, 0, sizeof out);
  visit(d, [&](auto tag) {
    const auto v = to_type<typename decltype(tag)::type>(value);
    std::memcpy(out, &v, sizeof v);
  });
}

void encode_fill(std::string_view op, const Scalar& value, DType d, unsigned char (&out)[16]) {
  if (value.type == Scalar::Type::floating && !in(d, dtypes::floats | dtypes::complexes))
    throw DTypeError(std::string(op), "got a floating number to fill an array of " + std::string(name(d)),
                     "use a number of the array's kind");
  encode(op, value, d, out);
}

DType compute_dtype(DType d) {
  if (d == DType::uint64) return d;
  if (in(d, dtypes::integers | dtypes::boolean)) return DType::int64;
  return d == DType::float16 || d == DType::bfloat16 ? DType::float32 : d;
}

void widen(DType d, unsigned char (&bytes)[16]) {
  visit(d, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
      rewrite<float, T>(bytes);
    else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, uint64_t>)
      rewrite<int64_t, T>(bytes);
  });
}

complex128 factor_of(const std::string& op, const char* name, const Scalar& value, DType d) {
  if (value.type == Scalar::Type::complex_floating && !in(d, dtypes::complexes))
    throw DTypeError(op, "a complex " + std::string(name) + " for a result of dtype " + std::string(stator::name(d)),
                     "pass a real number, or convert an operand to a complex dtype");
  return {value.re, value.im};
}

}  // namespace stator
