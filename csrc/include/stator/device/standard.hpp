// What headers that kernels include take of the standard library. NVRTC has none of it: its parts are written here,
// inside stator, so that they meet neither those of a user nor those of another library.
#pragma once

#include <stator/export.hpp>

#if !defined(__CUDACC_RTC__)

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#else

namespace stator {

using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long;
using uintptr_t = unsigned long;

namespace std {

template <class T, T Value>
struct integral_constant {
  static constexpr T value = Value;
  __host__ __device__ constexpr operator T() const { return Value; }
};

template <class T, T... I>
struct integer_sequence {};
template <class T, int Count, T... I>
struct count_down : count_down<T, Count - 1, T(Count - 1), I...> {};
template <class T, T... I>
struct count_down<T, 0, I...> {
  using type = integer_sequence<T, I...>;
};
template <class T, T Count>
using make_integer_sequence = typename count_down<T, int(Count)>::type;

template <bool Condition, class T, class F>
struct conditional {
  using type = T;
};
template <class T, class F>
struct conditional<false, T, F> {
  using type = F;
};
template <bool Condition, class T, class F>
using conditional_t = typename conditional<Condition, T, F>::type;

template <bool Condition>
struct enable_if {};
template <>
struct enable_if<true> {
  using type = void;
};
template <bool Condition>
using enable_if_t = typename enable_if<Condition>::type;

template <class T, class U>
inline constexpr bool is_same_v = false;
template <class T>
inline constexpr bool is_same_v<T, T> = true;

template <class T>
inline constexpr bool is_floating_point_v = is_same_v<T, float> || is_same_v<T, double>;

// Those of cv-unqualified types, which is all that the headers ask for.
template <class T>
inline constexpr bool is_integral_v = false;
template <class T>
struct sign_of {};
#define STATOR_INTEGERS(Signed, Unsigned)               \
  template <>                                           \
  inline constexpr bool is_integral_v<Signed> = true;   \
  template <>                                           \
  inline constexpr bool is_integral_v<Unsigned> = true; \
  template <>                                           \
  struct sign_of<Signed> {                              \
    using without = Unsigned;                           \
    using with = Signed;                                \
  };                                                    \
  template <>                                           \
  struct sign_of<Unsigned> : sign_of<Signed> {};
STATOR_INTEGERS(signed char, unsigned char)
STATOR_INTEGERS(short, unsigned short)
STATOR_INTEGERS(int, unsigned int)
STATOR_INTEGERS(long, unsigned long)
STATOR_INTEGERS(long long, unsigned long long)
#undef STATOR_INTEGERS
template <>
inline constexpr bool is_integral_v<bool> = true;
template <>
inline constexpr bool is_integral_v<char> = true;

template <class T>
using make_signed_t = typename sign_of<T>::with;
template <class T>
using make_unsigned_t = typename sign_of<T>::without;

template <class T, bool = (is_integral_v<T> || is_floating_point_v<T>)>
inline constexpr bool is_signed_v = false;
template <class T>
inline constexpr bool is_signed_v<T, true> = T(-1) < T(0);

template <class T>
inline constexpr bool is_trivially_copyable_v = __is_trivially_copyable(T);
template <class T>
inline constexpr bool is_trivially_default_constructible_v = __is_trivially_constructible(T);

}  // namespace std

// g++'s and nvcc's functions of <cmath>.
#define STATOR_BUILTIN(name)                                                             \
  __device__ __forceinline__ float __builtin_##name##f(float x) { return ::name##f(x); } \
  __device__ __forceinline__ double __builtin_##name(double x) { return ::name(x); }
#define STATOR_BUILTIN2(name)                                                                        \
  __device__ __forceinline__ float __builtin_##name##f(float x, float y) { return ::name##f(x, y); } \
  __device__ __forceinline__ double __builtin_##name(double x, double y) { return ::name(x, y); }
STATOR_BUILTIN(fabs)
STATOR_BUILTIN(rint)
STATOR_BUILTIN(sqrt)
STATOR_BUILTIN(trunc)
STATOR_BUILTIN2(copysign)
STATOR_BUILTIN2(fmod)
#undef STATOR_BUILTIN
#undef STATOR_BUILTIN2
__device__ __forceinline__ float __builtin_fmaf(float x, float y, float z) { return ::fmaf(x, y, z); }
__device__ __forceinline__ double __builtin_fma(double x, double y, double z) { return ::fma(x, y, z); }
__device__ __forceinline__ int __builtin_clzll(unsigned long long x) { return __clzll(long(x)); }

}  // namespace stator

#endif

namespace stator {

// std::bit_cast, which nvcc takes to be a function of the host: kernels would do nothing in its place.
template <class To, class From>
STATOR_HD constexpr To bit_cast(const From& value) {
  return __builtin_bit_cast(To, value);
}

}  // namespace stator
