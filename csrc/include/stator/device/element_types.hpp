// The fifteen element types, their traits, and the one switch from a DType to a C++ type; for kernels too.
#pragma once

#include <stator/complex.hpp>
#include <stator/device/standard.hpp>
#include <stator/half.hpp>

namespace stator {

// X(enumerator, C++ type): the order is the value and is part of the compiled op table.
#define STATOR_DTYPES(X)                 \
  X(bool_, bool)                         \
  X(int8, int8_t)                        \
  X(int16, int16_t)                      \
  X(int32, int32_t)                      \
  X(int64, int64_t)                      \
  X(uint8, uint8_t)                      \
  X(uint16, uint16_t)                    \
  X(uint32, uint32_t)                    \
  X(uint64, uint64_t)                    \
  X(float16, ::stator::float16)          \
  X(bfloat16, ::stator::bfloat16)        \
  X(float32, float)                      \
  X(float64, double)                     \
  X(complex64, ::stator::complex<float>) \
  X(complex128, ::stator::complex<double>)

#if !defined(__CUDACC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"  // g++ means that the enumerators hide types
#endif
enum class DType : uint8_t {
#define STATOR_X(name, type) name,
  STATOR_DTYPES(STATOR_X)
#undef STATOR_X
};
#if !defined(__CUDACC__)
#pragma GCC diagnostic pop
#endif

inline constexpr int dtype_count = 0
#define STATOR_X(name, type) +1
    STATOR_DTYPES(STATOR_X);
#undef STATOR_X

enum class Kind : uint8_t { boolean, signed_integer, unsigned_integer, floating, complex_floating };
template <class T>
inline constexpr Kind kind_of_type = std::is_same_v<T, bool>  ? Kind::boolean
                                     : is_complex<T>          ? Kind::complex_floating
                                     : !std::is_integral_v<T> ? Kind::floating
                                     : std::is_signed_v<T>    ? Kind::signed_integer
                                                              : Kind::unsigned_integer;

// The eight-bit formats of the OCP specification (OFP8, 2023). e4m3 has no infinity.
enum class Float8 : int32_t { e4m3, e5m2 };

// Sets of dtypes, one bit each.
using DTypeSet = uint32_t;
STATOR_HD constexpr DTypeSet dtype_bit(DType d) { return DTypeSet(1) << static_cast<int>(d); }
namespace dtypes {
STATOR_HD constexpr DTypeSet of_kind(Kind kind) {
  return 0
#define STATOR_X(name, type) | (kind_of_type<type> == kind ? dtype_bit(DType::name) : 0)
      STATOR_DTYPES(STATOR_X);
#undef STATOR_X
}
inline constexpr DTypeSet boolean = of_kind(Kind::boolean), signed_integers = of_kind(Kind::signed_integer),
                          unsigned_integers = of_kind(Kind::unsigned_integer),
                          integers = signed_integers | unsigned_integers, floats = of_kind(Kind::floating),
                          full_floats = dtype_bit(DType::float32) | dtype_bit(DType::float64),
                          halves = floats & ~full_floats, complexes = of_kind(Kind::complex_floating),
                          blas = full_floats | complexes, reals = integers | floats, inexact = floats | complexes,
                          numeric = reals | complexes, all = numeric | boolean;
}  // namespace dtypes

template <class T>
struct dtype_of;
#define STATOR_X(name, type) \
  template <>                \
  struct dtype_of<type> : std::integral_constant<DType, DType::name> {};
STATOR_DTYPES(STATOR_X)
#undef STATOR_X
template <class T>
inline constexpr DType dtype_of_v = dtype_of<T>::value;

STATOR_HD constexpr int itemsize(DType d) {
  // The base-2 logarithms of the sizes, packed in one 64-bit word: the look-up is a shift, in kernels too.
  constexpr uint64_t logarithms = 0
#define STATOR_LOG2(n) uint64_t((n > 1) + (n > 2) + (n > 4) + (n > 8))
#define STATOR_X(name, type) | STATOR_LOG2(sizeof(type)) << (3 * static_cast<int>(DType::name))
      STATOR_DTYPES(STATOR_X);
#undef STATOR_X
#undef STATOR_LOG2
  return 1 << (logarithms >> (3 * static_cast<int>(d)) & 7);
}

STATOR_HD constexpr Kind kind_of(DType d) {
  const DTypeSet b = dtype_bit(d);
  if (b & dtypes::boolean) return Kind::boolean;
  if (b & dtypes::signed_integers) return Kind::signed_integer;
  if (b & dtypes::unsigned_integers) return Kind::unsigned_integer;
  return b & dtypes::floats ? Kind::floating : Kind::complex_floating;
}
STATOR_HD constexpr bool in(DType d, DTypeSet set) { return (dtype_bit(d) & set) != 0; }

// The result dtype of exp, divide, mean, ...: float64 for bool and integers, the dtype itself otherwise. (NumPy gives
// float16 and float32 for int8 and int16; the array API leaves it open; stator's default float is float64.)
STATOR_HD constexpr DType to_inexact(DType d) { return in(d, dtypes::inexact) ? d : DType::float64; }

// complex64 -> float32, complex128 -> float64, others unchanged.
STATOR_HD constexpr DType real_part(DType d) {
  return d == DType::complex64 ? DType::float32 : d == DType::complex128 ? DType::float64 : d;
}

template <class T>
struct type_tag {
  using type = T;
};

// After a switch whose cases are all values that callers may pass: another value aborts on the host. Kernels do not
// check.
[[noreturn]] STATOR_HD void outside_set() {
#if defined(__CUDA_ARCH__)
  __builtin_unreachable();
#else
  __builtin_trap();
#endif
}

// Calls f(type_tag<T>{}) for the C++ type of d, which must be in Set. On the host any other dtype aborts; kernels do
// not check.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable  // f is host or device code as its caller is
#endif
template <DTypeSet Set = dtypes::all, class F>
STATOR_HD constexpr decltype(auto) visit(DType d, F&& f) {
  switch (d) {
#define STATOR_X(name, ctype)                                        \
  case DType::name:                                                  \
    if constexpr (in(DType::name, Set)) return f(type_tag<ctype>{}); \
    break;
    STATOR_DTYPES(STATOR_X)
#undef STATOR_X
  }
  outside_set();
}

}  // namespace stator
