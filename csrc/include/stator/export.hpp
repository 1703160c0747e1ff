// STATOR_API marks the public symbols of libstator.so, all others are hidden; STATOR_HD marks functions of host and
// device.
#pragma once

#if defined(__CUDACC__)
#define STATOR_HD __host__ __device__ __forceinline__
#else
#define STATOR_HD inline __attribute__((always_inline))
#endif

#define STATOR_API __attribute__((visibility("default")))
