// Multiplication of lanes (host/lanes/lane_vector.hpp), for matrix products.
#pragma once

#include "host/lanes/lane_vector.hpp"

namespace stator::STATOR_TARGET {

#if defined(STATOR_HOST) && !defined(STATOR_CHECKED)

// A vector of few elements, up to about two native vectors.
template <class T, int Count>
struct FewLanes {
  typedef T type __attribute__((vector_size(Count * sizeof(T))));
};

// Stands before a loop over vectors that are to stay in registers, of which there are 32 at most.
#define STATOR_UNROLL_LANES STATOR_PRAGMA(GCC unroll 32)

// Converts whole numbers to integers.
STATOR_FN typename LaneVector<uint32_t>::type integer_lanes(typename LaneVector<float>::type v) {
  const auto whole = __builtin_convertvector(v, typename LaneVector<int32_t>::type);
  typename LaneVector<uint32_t>::type bits;
  std::memcpy(&bits, &whole, sizeof bits);
  return bits;
}

// a * b + c, fused for floats if the instruction set can. By intrinsics, as compilers do not fuse vectors when
// contraction is off.
template <class T>
STATOR_FN typename LaneVector<T>::type multiply_add_lanes(typename LaneVector<T>::type a,
                                                          typename LaneVector<T>::type b,
                                                          typename LaneVector<T>::type c) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>) return __builtin_ia32_vfmaddps512_mask(a, b, c, 0xffff, 4);
  if constexpr (std::is_same_v<T, double>) return __builtin_ia32_vfmaddpd512_mask(a, b, c, 0xff, 4);
#elif defined(__FMA__)
  if constexpr (std::is_same_v<T, float>) return __builtin_ia32_vfmaddps256(a, b, c);
  if constexpr (std::is_same_v<T, double>) return __builtin_ia32_vfmaddpd256(a, b, c);
#endif
  return a * b + c;
}

#else

#define STATOR_UNROLL_LANES

template <class T, int Count>
struct FewLanes {
  using type = T;
};

STATOR_FN uint32_t integer_lanes(float v) { return uint32_t(int32_t(v)); }

template <class T>
STATOR_FN T multiply_add_lanes(T a, T b, T c) {
  return a * b + c;
}

#endif

}  // namespace stator::STATOR_TARGET
