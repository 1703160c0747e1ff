// What a kernel source is written with in place of CUDA keywords. One source, a compilation for each target: cuda
// (nvcc), host_v2 to host_v4 (fast: a block is one thread of execution), host_checked (a block is its CUDA threads).
#pragma once

#include "params/launch.hpp"

#if !defined(STATOR_TARGET)
#error "device/ headers belong to one target: compile with -DSTATOR_COLUMN=<cuda|host_v2|host_v3|host_v4|host_checked>"
#endif

#define STATOR_RESTRICT __restrict__

// Before a loop: STATOR_UNROLL() or STATOR_UNROLL(4), on cuda; the host compiler decides by itself.
#define STATOR_PRAGMA(text) _Pragma(#text)
#if defined(STATOR_HOST)
#define STATOR_UNROLL(...)
#else
#define STATOR_UNROLL(...) STATOR_PRAGMA(unroll __VA_ARGS__)
#endif

// After STATOR_KERNEL: registers for `blocks` blocks of `threads` threads on a multiprocessor at once, on cuda.
#if defined(STATOR_HOST)
#define STATOR_RESIDENT(threads, blocks)
#else
#define STATOR_RESIDENT(threads, blocks) __launch_bounds__(threads, blocks)
#endif

// STATOR_FN is inlined; STATOR_CALL stays a call: a dtype switch in every kernel would be most of its code. STATOR_PART
// is inlined, but in the checked target a call: what kernels of several functors share is compiled once there.
// STATOR_COLD is inlined, but on the fast host a call: what kernels do outside their inner loops, often in several
// places.
#if !defined(STATOR_HOST)
#define STATOR_KERNEL __global__
#define STATOR_FN __device__ __forceinline__
#define STATOR_CALL inline __device__ __noinline__
#define STATOR_PART STATOR_FN
#define STATOR_COLD STATOR_FN
#elif defined(STATOR_CHECKED)
#define STATOR_KERNEL
#define STATOR_FN inline
#define STATOR_CALL inline
#define STATOR_PART inline __attribute__((noinline))
#define STATOR_COLD inline
#else
// flatten: a lambda that a word calls in its main loop and in its tail must be inlined in both to vectorise.
#define STATOR_KERNEL __attribute__((flatten))
#define STATOR_FN inline __attribute__((always_inline))
#define STATOR_CALL inline __attribute__((noinline))
#define STATOR_PART STATOR_FN
#define STATOR_COLD STATOR_CALL
#endif

// What launchers of one family share, once in a unit: inlined into each of them it would be half of the host code.
#define STATOR_COMMON __attribute__((noinline))

namespace stator::STATOR_TARGET {

#if defined(STATOR_HOST) && !defined(STATOR_CHECKED)
inline constexpr bool fast_host = true;
#else
inline constexpr bool fast_host = false;
#endif

// A tuning number: the first where blocks have threads (cuda, checked), the second on the fast host.
template <int Threaded, int Fast>
struct by_target {
  static constexpr int value = fast_host ? Fast : Threaded;
};

}  // namespace stator::STATOR_TARGET
