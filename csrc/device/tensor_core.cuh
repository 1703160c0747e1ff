// Tensor cores: products of 16 x 16 by 16 x 8 halves by a warp, summed in float32 (PTX ISA, mma.sync), and asynchronous
// copies to shared memory. Only cuda has them; elsewhere these functions do nothing and are never called.
#pragma once

#include "sublanes.cuh"
#include "vector.cuh"

namespace stator::STATOR_TARGET {

#if !defined(STATOR_HOST)

inline constexpr bool has_tensor_cores = true;

namespace detail {
STATOR_FN uint32_t shared_address(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }
}  // namespace detail

// Copies the first `bytes` of 16 bytes and zeroes the rest, from and to multiples of 16 bytes; complete after
// copies_arrived(). Offset: bytes that the instruction adds to `to`. For 0 bytes, `from` may be any address.
template <int Offset = 0>
STATOR_FN void copy_async(void* to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0 + %3], [%1], 16, %2;" ::"r"(detail::shared_address(to)),
               "l"(__cvta_generic_to_global(from)), "r"(bytes), "n"(Offset)
               : "memory");
}
template <int Offset = 0>
STATOR_FN void copy_async(void* to, const void* from, std::integral_constant<int, 16>) {
  asm volatile("cp.async.cg.shared.global [%0 + %2], [%1], 16;" ::"r"(detail::shared_address(to)),
               "l"(__cvta_generic_to_global(from)), "n"(Offset)
               : "memory");
}
STATOR_FN void copies_arrived() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// Reconverges the lanes of a warp, which must call the functions below together.
STATOR_FN void meet() { __syncwarp(); }

// Four 8 x 8 matrices of 16-bit elements: lane 8 i + r passes the address of row r of matrix i, and lane 4 r + c gets
// elements 2 c and 2 c + 1 of row r of each (transposed: of column r). Offset: bytes that the instruction adds.
template <int Offset = 0>
STATOR_FN void load_matrices(uint32_t (&m)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4 + %5];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
               : "r"(detail::shared_address(row)), "n"(Offset)
               : "memory");
}
template <int Offset = 0>
STATOR_FN void load_transposed_matrices(uint32_t (&m)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4 + %5];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
               : "r"(detail::shared_address(row)), "n"(Offset)
               : "memory");
}

// sum += a b, or with `Fresh` sum = a b. Lane 4 r + c has elements 2 c and 2 c + 1 of rows r and r + 8 of the sum, in
// this order; of a, the same of its left half, then of its right half; and of b, columns r of rows 2 c, 2 c + 1 and
// 2 c + 8, 2 c + 9, which load_matrices returns for b's transpose.
template <class T, bool Fresh = false>
STATOR_FN void multiply_matrices(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  float c[4] = {};
  if constexpr (!Fresh) {
    STATOR_UNROLL()
    for (int e = 0; e < 4; ++e) c[e] = sum[e];
  }
  if constexpr (std::is_same_v<T, float16>)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, "
        "%12, %13};"
        : "=f"(sum[0]), "=f"(sum[1]), "=f"(sum[2]), "=f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, "
        "%12, %13};"
        : "=f"(sum[0]), "=f"(sum[1]), "=f"(sum[2]), "=f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}

// Two numbers rounded to halves and packed into a word, the first one in its lower half.
template <class T>
STATOR_FN uint32_t pack_halves(float low, float high) {
  uint32_t packed;
  if constexpr (std::is_same_v<T, float16>)
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  else
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

#else

inline constexpr bool has_tensor_cores = false;

template <int Offset = 0>
STATOR_FN void copy_async(void*, const void*, int) {}
template <int Offset = 0>
STATOR_FN void copy_async(void*, const void*, std::integral_constant<int, 16>) {}
STATOR_FN void copies_arrived() {}
STATOR_FN void meet() {}
template <int Offset = 0>
STATOR_FN void load_matrices(uint32_t (&)[4], const void*) {}
template <int Offset = 0>
STATOR_FN void load_transposed_matrices(uint32_t (&)[4], const void*) {}
template <class T, bool Fresh = false>
STATOR_FN void multiply_matrices(float (&)[4], const uint32_t (&)[4], uint32_t, uint32_t) {}
template <class T>
STATOR_FN uint32_t pack_halves(float, float) {
  return 0;
}

#endif

// 2^x, by the approximate instruction on cuda, with an error of up to 2 units in the last place of a float.
STATOR_FN float quick_exp2(float x) {
#if !defined(STATOR_HOST)
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return __builtin_exp2f(x);
#endif
}

}  // namespace stator::STATOR_TARGET
