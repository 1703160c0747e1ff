// cudaDataType and its values.
#pragma once

#include <complex>
#include <cstdint>
#include <cstring>

namespace stator::emulator::vendor {

// Values of cudaDataType.
enum class Type : int {
  r32f = 0,
  r64f = 1,
  r16f = 2,
  r8i = 3,
  c32f = 4,
  c64f = 5,
  c16f = 6,
  c8i = 7,
  r8u = 8,
  r32i = 10,
  r16bf = 14,
  c16bf = 15,
  r64i = 24,
  e4m3 = 28,
  e5m2 = 29
};

// libraryPropertyType.
enum class Property : int { major = 0, minor = 1, patch = 2 };

// Bytes of an element; 0 for a type that no double knows.
constexpr uint64_t size_of(Type type) {
  switch (type) {
    case Type::r8i:
    case Type::r8u:
    case Type::e4m3:
    case Type::e5m2: return 1;
    case Type::r16f:
    case Type::r16bf:
    case Type::c8i: return 2;
    case Type::r32f:
    case Type::r32i:
    case Type::c16f:
    case Type::c16bf: return 4;
    case Type::r64f:
    case Type::c32f:
    case Type::r64i: return 8;
    case Type::c64f: return 16;
  }
  return 0;
}
constexpr bool is_complex(Type type) {
  return type == Type::c32f || type == Type::c64f || type == Type::c16f || type == Type::c16bf || type == Type::c8i;
}
constexpr bool is_float8(Type type) { return type == Type::e4m3 || type == Type::e5m2; }

// The element at an index as a complex number in double, and back with one rounding to nearest even. Integers saturate.
std::complex<double> load(Type type, const void* start, int64_t index);
void store(Type type, void* start, int64_t index, std::complex<double> value);

template <class T>
T narrow(std::complex<double> value) {
  if constexpr (requires { typename T::value_type; })
    return T(value);
  else
    return T(value.real());
}
template <class T>
T load_as(Type type, const void* start, int64_t index) {
  return narrow<T>(load(type, start, index));
}

// 10 bits of mantissa, as TF32 keeps them.
float to_tf32(float value);

// The sixteen-bit format of a float, rounded to nearest even.
uint16_t half_bits(double value);
double half_value(uint16_t bits);

// Products without the recovery of infinities of C's complex multiplication.
template <class T>
T times(T a, T b) {
  return a * b;
}
template <class R>
std::complex<R> times(std::complex<R> a, std::complex<R> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
template <class T>
T conjugate(T a) {
  if constexpr (requires { a.imag(); })
    return std::conj(a);
  else
    return a;
}

}  // namespace stator::emulator::vendor
