// Conversions between element types, and loads and stores by dtype.
// Float to integer truncates and saturates, and NaN gives 0; integers wrap; complex to real keeps the real part; to
// bool is "!= 0"; every conversion to a half type rounds once.
#pragma once

#include "limits.cuh"
#include "target.cuh"

namespace stator::STATOR_TARGET {

template <class T>
inline constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

namespace detail {

// Rounds to odd, so that a following rounding to a half type gives the same result as a single rounding.
STATOR_FN float to_float_odd(double v) {
  const float f = float(v);
  uint32_t bits = bit_cast<uint32_t>(f);
  const bool inexact = double(f) != v;
  const bool away = (f < 0 ? -double(f) : double(f)) > (v < 0 ? -v : v);
  bits = inexact ? ((bits - uint32_t(away)) | 1u) : bits;
  return bit_cast<float>(bits);
}

// The value with its lower bits replaced by a sticky bit, so that 53 significant bits are enough.
STATOR_FN double to_double_sticky(uint64_t v) {
  const uint64_t sticky = (v & ~uint64_t(0x7ff)) | (uint64_t((v & 0x7ff) != 0) << 11);
  return double(v >> 53 ? sticky : v);
}

template <class From>
STATOR_FN float to_float_for_half(From v) {
  if constexpr (std::is_same_v<From, double>) {
    return to_float_odd(v);
  } else if constexpr (std::is_integral_v<From> && sizeof(From) == 8) {
    if constexpr (std::is_signed_v<From>) {
      const double magnitude = to_double_sticky(v < 0 ? uint64_t(0) - uint64_t(v) : uint64_t(v));
      return to_float_odd(v < 0 ? -magnitude : magnitude);
    } else {
      return to_float_odd(to_double_sticky(v));
    }
  } else if constexpr (std::is_integral_v<From> && sizeof(From) == 4) {
    return to_float_odd(double(v));
  } else {
    return float(v);
  }
}

template <class To, class From>
STATOR_FN To saturate(From v) {
  // 2^digits is exact in From, but To's maximum may not be. An out-of-range conversion is undefined, so compare first.
  constexpr From end = From(2) * From(uint64_t(1) << (limits<To>::digits - 1));
  constexpr From begin = From(limits<To>::lowest());
  const bool high = v >= end;
  const bool in_range = (v > begin) & !high;
  const To inside = static_cast<To>(in_range ? v : From(0));
  const To low = v <= begin ? limits<To>::lowest() : To(0);
  return high ? limits<To>::max() : To(inside | low);
}

}  // namespace detail

template <class To, class From>
STATOR_FN To convert(From v) {
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (is_half<From>) {
    return convert<To>(float(v));
  } else if constexpr (is_complex<To>) {
    using R = real_t<To>;
    if constexpr (is_complex<From>)
      return To(R(v.re), R(v.im));
    else
      return To(convert<R>(v), R(0));
  } else if constexpr (is_complex<From>) {
    if constexpr (std::is_same_v<To, bool>)
      return (v.re != 0) | (v.im != 0);
    else
      return convert<To>(v.re);
  } else if constexpr (std::is_same_v<To, bool>) {
    return v != From(0);
  } else if constexpr (is_half<To>) {
    return To(detail::to_float_for_half(v));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return detail::saturate<To>(v);
  } else {
    return static_cast<To>(v);
  }
}

// X(enumerator, C++ type) for each case of a dtype switch.
#define STATOR_DTYPE_SWITCH(dtype, CASE) \
  switch (dtype) { STATOR_DTYPES(CASE) }

// Element i of `base`, which holds dtype d.
template <class C>
STATOR_FN C load_as(const void* base, DType d, int64_t i) {
#define STATOR_CASE(name, type) \
  case DType::name: return convert<C>(static_cast<const type*>(base)[i]);
  STATOR_DTYPE_SWITCH(d, STATOR_CASE)
#undef STATOR_CASE
  __builtin_unreachable();
}

template <class C>
STATOR_FN void store_as(void* base, DType d, int64_t i, C value) {
#define STATOR_CASE(name, type) \
  case DType::name: static_cast<type*>(base)[i] = convert<type>(value); return;
  STATOR_DTYPE_SWITCH(d, STATOR_CASE)
#undef STATOR_CASE
}

// load_one and store_one do the same in calls with little code, because every kernel has its own copy of what it calls.
// Integers move as 64 bits and are extended or truncated by their size; they wrap and saturate as in convert.
namespace detail {

STATOR_FN int64_t load_integer(const void* base, DType d, int64_t i) {
  uint64_t bits;
  const int size = itemsize(d);
  switch (size) {
    case 1: bits = static_cast<const uint8_t*>(base)[i]; break;
    case 2: bits = static_cast<const uint16_t*>(base)[i]; break;
    case 4: bits = static_cast<const uint32_t*>(base)[i]; break;
    case 8: return static_cast<const int64_t*>(base)[i];
    default: outside_set();
  }
  const int unused = 64 - 8 * size;
  return in(d, dtypes::signed_integers) ? int64_t(bits << unused) >> unused : int64_t(bits);
}

STATOR_FN void store_integer(void* base, int size, int64_t i, int64_t bits) {
  switch (size) {
    case 1: static_cast<uint8_t*>(base)[i] = uint8_t(bits); break;
    case 2: static_cast<uint16_t*>(base)[i] = uint16_t(bits); break;
    case 4: static_cast<uint32_t*>(base)[i] = uint32_t(bits); break;
    case 8: static_cast<int64_t*>(base)[i] = bits; break;
    default: outside_set();
  }
}

// The bits of an integer dtype narrower than uint64 for a value that may not fit.
template <class C>
STATOR_FN int64_t narrowed(DType d, C value) {
  int64_t v = convert<int64_t>(value);
  if constexpr (!std::is_integral_v<C>) {
    const bool is_signed = in(d, dtypes::signed_integers);
    const int64_t high = int64_t(~uint64_t(0) >> (64 - 8 * itemsize(d) + int(is_signed)));
    const int64_t low = is_signed ? -high - 1 : 0;
    v = v < low ? low : v > high ? high : v;
  }
  return v;
}

}  // namespace detail

template <class C>
STATOR_CALL C load_one(const void* base, DType d, int64_t i) {
  switch (d) {
    case DType::uint64: return convert<C>(static_cast<const uint64_t*>(base)[i]);
    case DType::float16: return convert<C>(static_cast<const float16*>(base)[i]);
    case DType::bfloat16: return convert<C>(static_cast<const bfloat16*>(base)[i]);
    case DType::float32: return convert<C>(static_cast<const float*>(base)[i]);
    case DType::float64: return convert<C>(static_cast<const double*>(base)[i]);
    case DType::complex64: return convert<C>(static_cast<const complex64*>(base)[i]);
    case DType::complex128: return convert<C>(static_cast<const complex128*>(base)[i]);
    default: return convert<C>(detail::load_integer(base, d, i));
  }
}

template <class C>
STATOR_CALL void store_one(void* base, DType d, int64_t i, C value) {
  switch (d) {
    case DType::bool_: static_cast<bool*>(base)[i] = convert<bool>(value); return;
    case DType::uint64: static_cast<uint64_t*>(base)[i] = convert<uint64_t>(value); return;
    case DType::float16: static_cast<float16*>(base)[i] = convert<float16>(value); return;
    case DType::bfloat16: static_cast<bfloat16*>(base)[i] = convert<bfloat16>(value); return;
    case DType::float32: static_cast<float*>(base)[i] = convert<float>(value); return;
    case DType::float64: static_cast<double*>(base)[i] = convert<double>(value); return;
    case DType::complex64: static_cast<complex64*>(base)[i] = convert<complex64>(value); return;
    case DType::complex128: static_cast<complex128*>(base)[i] = convert<complex128>(value); return;
    default: detail::store_integer(base, itemsize(d), i, detail::narrowed(d, value));
  }
}

// N elements or N offsets, which are passed in registers even through a call.
template <class T, int N>
struct Items {
  T value[N];
  STATOR_FN T& operator[](int k) { return value[k]; }
  STATOR_FN const T& operator[](int k) const { return value[k]; }
};

namespace detail {
template <class C, class T, int N>
STATOR_FN Items<C, N> load_each(const T* base, const Items<int64_t, N>& at, int count) {
  Items<C, N> out;
  STATOR_UNROLL()
  for (int k = 0; k < N; ++k) out[k] = k < count ? convert<C>(base[at[k]]) : C(0);
  return out;
}
template <class T, int N, class C>
STATOR_FN void store_each(const Items<C, N>& value, T* base, const Items<int64_t, N>& at, int count) {
  STATOR_UNROLL()
  for (int k = 0; k < N; ++k)
    if (k < count) base[at[k]] = convert<T>(value[k]);
}
}  // namespace detail

// Loads and stores the first `count` of N elements of dtype d: at once if d is in Together, else one by one.
template <class C, DTypeSet Together, int N>
STATOR_CALL Items<C, N> load_many(const void* base, DType d, Items<int64_t, N> at, int count) {
#define STATOR_CASE(name, type)                                                                                      \
  case DType::name:                                                                                                  \
    if constexpr (in(DType::name, Together)) return detail::load_each<C>(static_cast<const type*>(base), at, count); \
    break;
  STATOR_DTYPE_SWITCH(d, STATOR_CASE)
#undef STATOR_CASE
  Items<C, N> out;
  STATOR_UNROLL()
  for (int k = 0; k < N; ++k) out[k] = k < count ? load_one<C>(base, d, at[k]) : C(0);
  return out;
}

template <class C, DTypeSet Together, int N>
STATOR_CALL void store_many(void* base, DType d, Items<int64_t, N> at, Items<C, N> value, int count) {
#define STATOR_CASE(name, type)                                                                                     \
  case DType::name:                                                                                                 \
    if constexpr (in(DType::name, Together)) return detail::store_each(value, static_cast<type*>(base), at, count); \
    break;
  STATOR_DTYPE_SWITCH(d, STATOR_CASE)
#undef STATOR_CASE
  STATOR_UNROLL()
  for (int k = 0; k < N; ++k)
    if (k < count) store_one(base, d, at[k], value[k]);
}

}  // namespace stator::STATOR_TARGET
