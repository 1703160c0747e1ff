// Atomic operations of device scope, relaxed unless stated otherwise; fence() orders them.
#pragma once

#include "target.cuh"

namespace stator::STATOR_TARGET {

// Every thread of the device sees this thread's earlier writes before its later ones.
STATOR_FN void fence() {
#if defined(STATOR_HOST)
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#else
  __threadfence();
#endif
}

// Stores v so that the host, once it reads v with acquire order, sees this thread's earlier writes too.
template <class T>
STATOR_FN void publish_to_host(T* p, T v) {
#if defined(STATOR_HOST)
  __atomic_store_n(p, v, __ATOMIC_RELEASE);
#else
  __threadfence_system();
  *const_cast<volatile T*>(p) = v;
#endif
}

// Stores `desired` in *p if it equals `expected`; returns the old value. For integers of 4 and 8 bytes.
template <class T>
STATOR_FN T atomic_cas(T* p, T expected, T desired) {
  static_assert(std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
#if defined(STATOR_HOST)
  __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return expected;
#else
  using U = std::conditional_t<sizeof(T) == 4, unsigned int, unsigned long long>;
  return T(atomicCAS(reinterpret_cast<U*>(p), U(expected), U(desired)));
#endif
}

// *p += v; returns the old value. For integers of 4 and 8 bytes (wrapping), float and double, whose sums depend on the
// order.
template <class T>
STATOR_FN T atomic_add(T* p, T v) {
#if defined(STATOR_HOST)
  if constexpr (std::is_integral_v<T>) {
    return __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL);
  } else {
    using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    U* const word = reinterpret_cast<U*>(p);
    U seen = __atomic_load_n(word, __ATOMIC_RELAXED);
    for (;;) {
      T old;
      memcpy(&old, &seen, sizeof(T));
      const T sum = old + v;
      U desired;
      memcpy(&desired, &sum, sizeof(T));
      if (__atomic_compare_exchange_n(word, &seen, desired, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return old;
    }
  }
#else
  if constexpr (std::is_integral_v<T>) {
    using U = std::conditional_t<sizeof(T) == 4, unsigned int, unsigned long long>;
    return T(atomicAdd(reinterpret_cast<U*>(p), U(v)));
  } else {
    return atomicAdd(p, v);
  }
#endif
}

}  // namespace stator::STATOR_TARGET
