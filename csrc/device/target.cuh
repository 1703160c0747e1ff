// What kernel sources use in place of CUDA keywords. One source is compiled for each target: cuda (nvcc), host_v2 to
// host_v4 (the fast host, where a block is one thread of execution), and host_checked (where a block runs all of its
// CUDA threads). The build of stator names the target; in another project it is called `device`, and is CUDA if the
// compiler is nvcc or NVRTC, else the host.
#pragma once

#include <stator/device/element_types.hpp>

#if !defined(STATOR_TARGET)
#define STATOR_TARGET device
#if !defined(__CUDACC__)
#define STATOR_HOST 1
#endif
#endif

#define STATOR_RESTRICT __restrict__

// STATOR_UNROLL() or STATOR_UNROLL(4) stands before a loop. Only for cuda; the host compiler decides by itself.
#define STATOR_PRAGMA(text) _Pragma(#text)
#if defined(STATOR_HOST)
#define STATOR_UNROLL(...)
#else
#define STATOR_UNROLL(...) STATOR_PRAGMA(unroll __VA_ARGS__)
#endif

// STATOR_KERNEL(threads) begins a kernel for blocks of that size. On cuda it limits registers so that a block fits a
// multiprocessor, whichever compiler makes the machine code. Up to 256 threads any block does, with 255 registers each
// of 65536; a limit would only make ptxas spill some of them to fit one more block.
// STATOR_KERNEL_RESIDENT(threads, blocks) limits registers so that `blocks` blocks fit.
// STATOR_FN is inlined. STATOR_CALL stays a call, because an inlined dtype switch would be most of a kernel's code.
// STATOR_PART is inlined, but a call in the checked target, where kernels of several functors then share one copy.
// STATOR_COLD is inlined, but a call on the fast host; it is for code outside of inner loops, which is often used
// several times.
#if !defined(STATOR_HOST)
#define STATOR_KERNEL(threads) STATOR_KERNEL_RESIDENT((threads) > 256 ? (threads) : 0, (threads) > 256)
#define STATOR_KERNEL_RESIDENT(threads, blocks) __global__ __launch_bounds__(threads, blocks)
#define STATOR_FN __device__ __forceinline__
#define STATOR_CALL inline __device__ __noinline__
#define STATOR_PART STATOR_FN
#define STATOR_COLD STATOR_FN
#elif defined(STATOR_CHECKED)
#define STATOR_KERNEL(threads)
#define STATOR_KERNEL_RESIDENT(threads, blocks)
#define STATOR_FN inline
#define STATOR_CALL inline
#define STATOR_PART inline __attribute__((noinline))
#define STATOR_COLD inline
#else
// flatten, because a lambda that is called in a main loop and in its remainder must be inlined in both to vectorise.
#define STATOR_KERNEL(threads) __attribute__((flatten))
#define STATOR_KERNEL_RESIDENT(threads, blocks) STATOR_KERNEL(threads)
#define STATOR_FN inline __attribute__((always_inline))
#define STATOR_CALL inline __attribute__((noinline))
#define STATOR_PART STATOR_FN
#define STATOR_COLD STATOR_CALL
#endif

// Host code that the launchers of one family share. Inlined into each of them it would be half of the host code.
#define STATOR_COMMON __attribute__((noinline))

namespace stator::STATOR_TARGET {

#if defined(STATOR_HOST) && !defined(STATOR_CHECKED)
inline constexpr bool fast_host = true;
#else
inline constexpr bool fast_host = false;
#endif

// A tuning number: Threaded where blocks have threads (cuda and the checked target), Fast on the fast host.
template <int Threaded, int Fast>
struct by_target {
  static constexpr int value = fast_host ? Fast : Threaded;
};

}  // namespace stator::STATOR_TARGET
