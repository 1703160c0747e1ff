// The mathematical functions that kernels use, for float, double and in part complex numbers, under the same names on
// every target.
#pragma once

#include "../limits.cuh"
#include "../target.cuh"
#include "libm.cuh"

namespace stator::STATOR_TARGET {

// The type that arithmetic on T uses: float for half types, else T.
template <class T>
struct opmath {
  using type = T;
};
template <>
struct opmath<float16> {
  using type = float;
};
template <>
struct opmath<bfloat16> {
  using type = float;
};
template <class T>
using opmath_t = typename opmath<T>::type;

STATOR_FN constexpr bool isnan(float x) { return x != x; }
STATOR_FN constexpr bool isnan(double x) { return x != x; }
STATOR_FN float abs(float x) { return __builtin_fabsf(x); }
STATOR_FN double abs(double x) { return __builtin_fabs(x); }
template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
STATOR_FN constexpr T abs(T x) {
  if constexpr (std::is_signed_v<T>) {
    using U = std::make_unsigned_t<T>;
    return x < T(0) ? T(U(U(0) - U(x))) : x;
  } else {
    return x;
  }
}
STATOR_FN bool isinf(float x) { return abs(x) == limits<float>::infinity(); }
STATOR_FN bool isinf(double x) { return abs(x) == limits<double>::infinity(); }
STATOR_FN bool isfinite(float x) { return abs(x) < limits<float>::infinity(); }
STATOR_FN bool isfinite(double x) { return abs(x) < limits<double>::infinity(); }

#define STATOR_UNARY(name)                                   \
  STATOR_FN float name(float x) { return libm::name##f(x); } \
  STATOR_FN double name(double x) { return libm::name(x); }
STATOR_UNARY(exp)
STATOR_UNARY(exp2)
STATOR_UNARY(expm1)
STATOR_UNARY(log)
STATOR_UNARY(log2)
STATOR_UNARY(log10)
STATOR_UNARY(log1p)
STATOR_UNARY(sqrt)
STATOR_UNARY(rsqrt)
STATOR_UNARY(cbrt)
STATOR_UNARY(sin)
STATOR_UNARY(cos)
STATOR_UNARY(tan)
STATOR_UNARY(asin)
STATOR_UNARY(acos)
STATOR_UNARY(atan)
STATOR_UNARY(sinh)
STATOR_UNARY(cosh)
STATOR_UNARY(tanh)
STATOR_UNARY(asinh)
STATOR_UNARY(acosh)
STATOR_UNARY(atanh)
STATOR_UNARY(floor)
STATOR_UNARY(ceil)
#undef STATOR_UNARY

#define STATOR_BINARY(name)                                              \
  STATOR_FN float name(float x, float y) { return libm::name##f(x, y); } \
  STATOR_FN double name(double x, double y) { return libm::name(x, y); }
STATOR_BINARY(pow)
STATOR_BINARY(atan2)
#undef STATOR_BINARY

STATOR_FN float fma(float x, float y, float z) { return libm::fmaf(x, y, z); }
STATOR_FN double fma(double x, double y, double z) { return libm::fma(x, y, z); }
STATOR_FN void sincos(float x, float& sine, float& cosine) { libm::sincos(x, sine, cosine); }
STATOR_FN void sincos(double x, double& sine, double& cosine) { libm::sincos(x, sine, cosine); }

}  // namespace stator::STATOR_TARGET

#include "complex_math.cuh"
