// The float and double functions that math.cuh calls, by target.
#pragma once

#include "../target.cuh"
#include "elementary_exp.cuh"

#if defined(STATOR_HOST)
#include "elementary.cuh"
#endif

namespace stator::STATOR_TARGET::libm {

#if defined(STATOR_HOST)

// Declarations that let loops use the vector versions in glibc's libmvec (since 2.22; at most 4 ULP, correct for
// special values). Those that libmvec has only since 2.35 are not used: wheels would not load on older systems.
#if defined(STATOR_CHECKED)
#define STATOR_VECTOR_FORM
#else
#define STATOR_VECTOR_FORM __attribute__((simd("notinbranch"), const))
#endif
extern "C" {
STATOR_VECTOR_FORM float sinf(float) noexcept;
STATOR_VECTOR_FORM double sin(double) noexcept;
STATOR_VECTOR_FORM float cosf(float) noexcept;
STATOR_VECTOR_FORM double cos(double) noexcept;
}
#undef STATOR_VECTOR_FORM

#define STATOR_OWN(name)                                     \
  STATOR_FN float name##f(float x) { return own_##name(x); } \
  STATOR_FN double name(double x) { return own_##name(x); }
STATOR_OWN(exp)
STATOR_OWN(exp2)
STATOR_OWN(expm1)
STATOR_OWN(log)
STATOR_OWN(log2)
STATOR_OWN(log10)
STATOR_OWN(log1p)
STATOR_OWN(cbrt)
STATOR_OWN(asin)
STATOR_OWN(acos)
STATOR_OWN(atan)
STATOR_OWN(sinh)
STATOR_OWN(cosh)
STATOR_OWN(tanh)
STATOR_OWN(asinh)
STATOR_OWN(acosh)
STATOR_OWN(atanh)
#undef STATOR_OWN

// near_tan for numbers near zero, else glibc's scalar function.
STATOR_FN float tanf(float x) {
  return UsualTan<float>::rank(x) <= UsualTan<float>::last ? near_tan(x) : __builtin_tanf(x);
}
STATOR_FN double tan(double x) {
  return UsualTan<double>::rank(x) <= UsualTan<double>::last ? near_tan(x) : __builtin_tan(x);
}
STATOR_FN float atan2f(float y, float x) { return own_atan2(y, x); }
STATOR_FN double atan2(double y, double x) { return own_atan2(y, x); }
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
STATOR_CUDA(log)
STATOR_CUDA(log2)
STATOR_CUDA(log10)
STATOR_CUDA(log1p)
STATOR_CUDA(sqrt)
STATOR_CUDA(cbrt)
STATOR_CUDA(sin)
STATOR_CUDA(cos)
STATOR_CUDA(tan)
STATOR_CUDA(asin)
STATOR_CUDA(acos)
STATOR_CUDA(atan)
STATOR_CUDA(asinh)
STATOR_CUDA(acosh)
STATOR_CUDA(atanh)
STATOR_CUDA(floor)
STATOR_CUDA(ceil)
STATOR_CUDA2(pow)
STATOR_CUDA2(atan2)
#undef STATOR_CUDA
#undef STATOR_CUDA2

// CUDA's single-precision functions use approximate instructions, whose documented errors are larger than the ops
// allow: two units in the last place for ex2.approx, 2^-22.9 for rsqrt.approx.
#define STATOR_OWN_FLOAT(name)                               \
  STATOR_FN float name##f(float x) { return own_##name(x); } \
  STATOR_FN double name(double x) { return ::name(x); }
STATOR_OWN_FLOAT(expm1)
STATOR_OWN_FLOAT(sinh)
STATOR_OWN_FLOAT(cosh)
#undef STATOR_OWN_FLOAT
// In double precision too: CUDA's tanh computes a power of two by ex2.approx.
STATOR_FN float tanhf(float x) { return own_tanh(x); }
STATOR_FN double tanh(double x) { return own_tanh(x); }

// With one Newton step. If that gives NaN, the approximation is 0, infinity or NaN, and is the result.
STATOR_FN float rsqrtf(float x) {
  const float y = ::rsqrtf(x), rest = __builtin_fmaf(-(x * y), y, 1.0f);
  return rest == rest ? __builtin_fmaf(0.5f * y, rest, y) : y;
}
STATOR_FN double rsqrt(double x) { return ::rsqrt(x); }

STATOR_FN float fmaf(float x, float y, float z) { return ::fmaf(x, y, z); }
STATOR_FN double fma(double x, double y, double z) { return ::fma(x, y, z); }
STATOR_FN void sincos(float x, float& sine, float& cosine) { ::sincosf(x, &sine, &cosine); }
STATOR_FN void sincos(double x, double& sine, double& cosine) { ::sincos(x, &sine, &cosine); }

#endif

// exp without an approximate instruction, for functions that multiply its error.
STATOR_FN float polynomial_exp(float x) { return own_exp(x); }
STATOR_FN double polynomial_exp(double x) { return exp(x); }

}  // namespace stator::STATOR_TARGET::libm
