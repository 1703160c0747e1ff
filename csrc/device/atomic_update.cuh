// Atomic operations that have no instruction: a compare-and-swap loop.
#pragma once

#include "atomic.cuh"

namespace stator::STATOR_TARGET {

// *p = f(*p) as one atomic step, for types of 4 and 8 bytes. Relaxed; f may be called several times.
template <class T, class F>
STATOR_FN void atomic_update(T* p, F f) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  U* const word = reinterpret_cast<U*>(p);
  U seen = *static_cast<volatile U*>(word);
  for (;;) {
    T old;
    memcpy(&old, &seen, sizeof(T));
    const T next = f(old);
    U desired;
    memcpy(&desired, &next, sizeof(T));
    if (desired == seen) return;
    const U found = atomic_cas(word, seen, desired);
    if (found == seen) return;
    seen = found;
  }
}

}  // namespace stator::STATOR_TARGET
