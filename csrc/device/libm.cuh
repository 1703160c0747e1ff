// The float and double functions under math.cuh, by column.
#pragma once

#include "device/column.cuh"

#if defined(STATOR_HOST)
#include "device/elementary.cuh"
#endif

#include <cmath>

namespace stator::STATOR_COLUMN::libm {

#if defined(STATOR_HOST)

// The vector forms of glibc's libmvec (since 2.22; at most 4 ULP), which loops over these calls use.
#if defined(STATOR_FAITHFUL)
#define STATOR_VECTOR_FORM
#else
#define STATOR_VECTOR_FORM __attribute__((simd("notinbranch"), const))
#endif
extern "C" {
STATOR_VECTOR_FORM float sinf(float) noexcept;
STATOR_VECTOR_FORM double sin(double) noexcept;
STATOR_VECTOR_FORM float cosf(float) noexcept;
STATOR_VECTOR_FORM double cos(double) noexcept;
STATOR_VECTOR_FORM float powf(float, float) noexcept;
STATOR_VECTOR_FORM double pow(double, double) noexcept;
}
#undef STATOR_VECTOR_FORM

#define STATOR_OWN(name)                                     \
  STATOR_FN float name##f(float x) { return own_##name(x); } \
  STATOR_FN double name(double x) { return own_##name(x); }
STATOR_OWN(exp)
STATOR_OWN(exp2)
STATOR_OWN(expm1)
STATOR_OWN(log)
STATOR_OWN(log1p)
STATOR_OWN(tanh)
#undef STATOR_OWN

STATOR_FN float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
STATOR_FN double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }

#define STATOR_BUILTIN(name)                                          \
  STATOR_FN float name##f(float x) { return __builtin_##name##f(x); } \
  STATOR_FN double name(double x) { return __builtin_##name(x); }
STATOR_BUILTIN(sqrt)
STATOR_BUILTIN(floor)
STATOR_BUILTIN(ceil)
#undef STATOR_BUILTIN

STATOR_FN float atan2f(float y, float x) { return __builtin_atan2f(y, x); }
STATOR_FN double atan2(double y, double x) { return __builtin_atan2(y, x); }
STATOR_FN float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
STATOR_FN double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }

#else

#define STATOR_CUDA(name)                                   \
  STATOR_FN float name##f(float x) { return ::name##f(x); } \
  STATOR_FN double name(double x) { return ::name(x); }
STATOR_CUDA(exp)
STATOR_CUDA(exp2)
STATOR_CUDA(log)
STATOR_CUDA(log1p)
STATOR_CUDA(expm1)
STATOR_CUDA(tanh)
STATOR_CUDA(sqrt)
STATOR_CUDA(rsqrt)
STATOR_CUDA(sin)
STATOR_CUDA(cos)
STATOR_CUDA(floor)
STATOR_CUDA(ceil)
#undef STATOR_CUDA

STATOR_FN float powf(float x, float y) { return ::powf(x, y); }
STATOR_FN double pow(double x, double y) { return ::pow(x, y); }
STATOR_FN float atan2f(float y, float x) { return ::atan2f(y, x); }
STATOR_FN double atan2(double y, double x) { return ::atan2(y, x); }
STATOR_FN float fmaf(float x, float y, float z) { return ::fmaf(x, y, z); }
STATOR_FN double fma(double x, double y, double z) { return ::fma(x, y, z); }

#endif

}  // namespace stator::STATOR_COLUMN::libm
