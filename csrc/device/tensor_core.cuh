// Products of small matrices by the warps of a block, on the tensor cores of cuda. Elsewhere there are none, and what
// follows is never called.
#pragma once

#include "device/convert.cuh"
#include "device/target.cuh"

namespace stator::STATOR_TARGET {

#if defined(STATOR_HOST)
inline constexpr bool has_tensor_cores = false;
#else
inline constexpr bool has_tensor_cores = true;
#endif

// Four matrices of 8 x 8 halves in shared memory. Lane l gives the address of row l % 8 of matrix l / 8, and gets of
// each matrix the two elements 2 * (l % 4) and 2 * (l % 4) + 1 of row l / 4.
STATOR_FN Items<uint32_t, 4> load_matrices([[maybe_unused]] const void* row) {
  Items<uint32_t, 4> m{};
#if !defined(STATOR_HOST)
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
               : "r"(uint32_t(__cvta_generic_to_shared(row)))
               : "memory");
#endif
  return m;
}

// c += a b for a of 16 x 16 halves, b of 16 x 8, and sums of float32. Lane l has of a the matrices of 8 x 8 (top left,
// bottom left, top right, bottom right) as load_matrices gives them, of b's transpose (left, right), and of c the
// elements 2 * (l % 4) and the next of row l / 4, then those of row 8 + l / 4.
template <class Half>
STATOR_FN void multiply_matrices([[maybe_unused]] float (&c)[4], [[maybe_unused]] const Items<uint32_t, 4>& a,
                                 [[maybe_unused]] uint32_t b0, [[maybe_unused]] uint32_t b1) {
#if !defined(STATOR_HOST)
#define STATOR_MMA(type)                                     \
  asm("mma.sync.aligned.m16n8k16.row.col.f32." type "." type \
      ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "  \
      "{%0, %1, %2, %3};"                                    \
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])       \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))
  if constexpr (std::is_same_v<Half, float16>)
    STATOR_MMA("f16");
  else
    STATOR_MMA("bf16");
#undef STATOR_MMA
#endif
}

}  // namespace stator::STATOR_TARGET
