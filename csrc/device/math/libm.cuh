// The float and double functions that math.cuh calls, by target.
#pragma once

#include "device/target.cuh"

#if defined(STATOR_HOST)
#include "device/math/elementary.cuh"
#endif

#include <cmath>

namespace stator::STATOR_TARGET::libm {

#if defined(STATOR_HOST)

// Declarations that let loops use the vector versions in glibc's libmvec (since 2.35; at most 4 ULP, correct for
// special values).
#if defined(STATOR_CHECKED)
#define STATOR_VECTOR_FORM
#else
#define STATOR_VECTOR_FORM __attribute__((simd("notinbranch"), const))
#endif
#define STATOR_GLIBC(name)                          \
  STATOR_VECTOR_FORM float name##f(float) noexcept; \
  STATOR_VECTOR_FORM double name(double) noexcept;
#define STATOR_GLIBC2(name)                                \
  STATOR_VECTOR_FORM float name##f(float, float) noexcept; \
  STATOR_VECTOR_FORM double name(double, double) noexcept;
extern "C" {
STATOR_GLIBC(sin)
STATOR_GLIBC(cos)
STATOR_GLIBC(tan)
STATOR_GLIBC(asin)
STATOR_GLIBC(acos)
STATOR_GLIBC(atan)
STATOR_GLIBC(sinh)
STATOR_GLIBC(cbrt)
STATOR_GLIBC(exp2)
STATOR_GLIBC(log2)
STATOR_GLIBC(log10)
STATOR_GLIBC2(atan2)
STATOR_VECTOR_FORM float log1pf(float) noexcept;
}
#undef STATOR_GLIBC
#undef STATOR_GLIBC2
#undef STATOR_VECTOR_FORM

#define STATOR_OWN(name)                                     \
  STATOR_FN float name##f(float x) { return own_##name(x); } \
  STATOR_FN double name(double x) { return own_##name(x); }
STATOR_OWN(exp)
STATOR_OWN(expm1)
STATOR_OWN(cosh)
STATOR_OWN(tanh)
STATOR_OWN(asinh)
STATOR_OWN(acosh)
STATOR_OWN(atanh)
#undef STATOR_OWN

STATOR_FN double log(double x) { return own_log(x); }
STATOR_FN double log1p(double x) { return own_log1p(x); }
// At most 2.4 ULP, while the vector version of logf has 3.8.
STATOR_FN float logf(float x) { return log2f(x) * 0x1.62e43p-1f; }
STATOR_FN float powf(float x, float y) { return own_pow(x, y); }
STATOR_FN double pow(double x, double y) { return own_pow(x, y); }
STATOR_FN float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
STATOR_FN double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }

#define STATOR_BUILTIN(name)                                          \
  STATOR_FN float name##f(float x) { return __builtin_##name##f(x); } \
  STATOR_FN double name(double x) { return __builtin_##name(x); }
STATOR_BUILTIN(sqrt)
STATOR_BUILTIN(floor)
STATOR_BUILTIN(ceil)
#undef STATOR_BUILTIN

STATOR_FN float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
STATOR_FN double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
template <class T>
STATOR_FN void sincos(T x, T& sine, T& cosine) {
  if constexpr (sizeof(T) == 4) {
    sine = sinf(x);
    cosine = cosf(x);
  } else {
    sine = sin(x);
    cosine = cos(x);
  }
}

#else

#define STATOR_CUDA(name)                                   \
  STATOR_FN float name##f(float x) { return ::name##f(x); } \
  STATOR_FN double name(double x) { return ::name(x); }
#define STATOR_CUDA2(name)                                              \
  STATOR_FN float name##f(float x, float y) { return ::name##f(x, y); } \
  STATOR_FN double name(double x, double y) { return ::name(x, y); }
STATOR_CUDA(exp)
STATOR_CUDA(exp2)
STATOR_CUDA(expm1)
STATOR_CUDA(log)
STATOR_CUDA(log2)
STATOR_CUDA(log10)
STATOR_CUDA(log1p)
STATOR_CUDA(sqrt)
STATOR_CUDA(rsqrt)
STATOR_CUDA(cbrt)
STATOR_CUDA(sin)
STATOR_CUDA(cos)
STATOR_CUDA(tan)
STATOR_CUDA(asin)
STATOR_CUDA(acos)
STATOR_CUDA(atan)
STATOR_CUDA(sinh)
STATOR_CUDA(cosh)
STATOR_CUDA(tanh)
STATOR_CUDA(asinh)
STATOR_CUDA(acosh)
STATOR_CUDA(atanh)
STATOR_CUDA(floor)
STATOR_CUDA(ceil)
STATOR_CUDA2(pow)
STATOR_CUDA2(atan2)
#undef STATOR_CUDA
#undef STATOR_CUDA2

STATOR_FN float fmaf(float x, float y, float z) { return ::fmaf(x, y, z); }
STATOR_FN double fma(double x, double y, double z) { return ::fma(x, y, z); }
STATOR_FN void sincos(float x, float& sine, float& cosine) { ::sincosf(x, &sine, &cosine); }
STATOR_FN void sincos(double x, double& sine, double& cosine) { ::sincos(x, &sine, &cosine); }

#endif

}  // namespace stator::STATOR_TARGET::libm
