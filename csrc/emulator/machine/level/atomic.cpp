// atom and red: read-modify-write in every space, lane after lane. Each is one compare-and-swap of the host, so that it
// is atomic among the CPU's threads too.
#include "emulator/machine/level/addresses.hpp"
#include "emulator/machine/level/floats.hpp"
#include "emulator/machine/level/small_float.hpp"

namespace stator::emulator::machine {
namespace {

template <class T, class F>
T exchange(T* at, F next) {
  T old = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(at, &old, next(old), false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {}
  return old;
}

struct alignas(16) Wide {
  uint64_t low, high;
};

// The operations take and give bits.
struct Add {
  template <class T>
  static T of(T a, T b, T) {
    return T(a + b);
  }
};
struct And {
  template <class T>
  static T of(T a, T b, T) {
    return a & b;
  }
};
struct Or {
  template <class T>
  static T of(T a, T b, T) {
    return a | b;
  }
};
struct Xor {
  template <class T>
  static T of(T a, T b, T) {
    return a ^ b;
  }
};
struct Exch {
  template <class T>
  static T of(T, T b, T) {
    return b;
  }
};
struct Cas {
  template <class T>
  static T of(T a, T b, T c) {
    return a == b ? c : a;
  }
};
struct Inc {
  static uint32_t of(uint32_t a, uint32_t b, uint32_t) { return a >= b ? 0 : a + 1; }
};
struct Dec {
  static uint32_t of(uint32_t a, uint32_t b, uint32_t) { return a == 0 || a > b ? b : a - 1; }
};
template <class S, bool Max>
struct Extreme {
  template <class T>
  static T of(T a, T b, T) {
    return (S(a) < S(b)) == Max ? b : a;
  }
};
struct AddF32 {
  static uint32_t of(uint32_t a, uint32_t b, uint32_t) {
    return std::bit_cast<uint32_t>(canonical(std::bit_cast<float>(a) + std::bit_cast<float>(b)));
  }
};
struct AddF64 {
  static uint64_t of(uint64_t a, uint64_t b, uint64_t) {
    return std::bit_cast<uint64_t>(std::bit_cast<double>(a) + std::bit_cast<double>(b));
  }
};
struct AddF16 {
  static uint16_t of(uint16_t a, uint16_t b, uint16_t) { return to_f16(from_f16(a) + from_f16(b)); }
};
struct AddBf16 {
  static uint16_t of(uint16_t a, uint16_t b, uint16_t) { return to_bf16(from_bf16(a) + from_bf16(b)); }
};
template <class F>
struct Pair {
  static uint32_t of(uint32_t a, uint32_t b, uint32_t) {
    return F::of(uint16_t(a), uint16_t(b), 0) | uint32_t(F::of(uint16_t(a >> 16), uint16_t(b >> 16), 0)) << 16;
  }
};

template <class T, class F, bool Result>
void update(Warp& w, const Instruction& i, uint32_t mask, const uint64_t (&host)[lanes]) {
  const T* const b = w.lane_values<T>(i.op[Result ? 2 : 1]);
  const T* const c = i.count > (Result ? 3 : 2) ? w.lane_values<T>(i.op[Result ? 3 : 2]) : b;
  T old[lanes];
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = first_lane(left);
    T* const at = reinterpret_cast<T*>(host[l]);
    if constexpr (sizeof(T) == 16) {  // rare, and not a lock-free operation of x86-64-v1
      static_assert(std::is_same_v<F, Exch> || std::is_same_v<F, Cas>);
      const bool write = std::is_same_v<F, Exch> || (at->low == b[l].low && at->high == b[l].high);
      old[l] = *at;
      if (write) *at = c[l];
    } else {
      const T x = b[l], y = c[l];
      old[l] = exchange(at, [=](T value) { return T(F::of(value, x, y)); });
    }
  }
  if (!Result) return;
  T* const d = w.lane_values<T>(i.op[0]);
  for (uint32_t left = mask; left; left &= left - 1) d[first_lane(left)] = old[first_lane(left)];
}

template <class T, class F, bool Result>
void in_global(Warp& w, const Instruction& i, uint32_t mask, const uint64_t (&a)[lanes]) {
  constexpr Access access{sizeof(T), true, true};
  check_global_pattern(w, i, mask, a, pattern_of(a, mask, sizeof(T)), access);
  ++w.worker->counters.global_atomics;
  if (w.block->launch->races) note_access(w, i, mask, a, access, false);
  update<T, F, Result>(w, i, mask, a);
}

template <class T, class F, bool Result>
void in_shared(Warp& w, const Instruction& i, uint32_t mask, const uint64_t (&a)[lanes]) {
  constexpr Access access{sizeof(T), true, true};
  check_shared_pattern(w, i, mask, a, pattern_of(a, mask, sizeof(T)), access);
  ++w.worker->counters.shared_atomics;
  if (w.block->launch->races) note_access(w, i, mask, a, access, true);
  uint64_t host[lanes];
  const auto base = reinterpret_cast<uint64_t>(w.block->shared);
  for (unsigned l = 0; l < lanes; ++l) host[l] = base + a[l];
  update<T, F, Result>(w, i, mask, host);
}

template <class T, class F, bool Result, Space S>
Flow atomic(Warp& w, const Instruction& i, uint32_t mask) {
  alignas(64) uint64_t a[lanes];
  read_addresses(w, i.op[Result ? 1 : 0], i.offset, a);
  if constexpr (S == Space::global) {
    in_global<T, F, Result>(w, i, mask, a);
  } else if constexpr (S == Space::shared) {
    in_shared<T, F, Result>(w, i, mask, a);
  } else {
    const Spaces s = spaces_of(w, mask, a);
    if (s.local | s.param)
      stop(w, i, first_lane(s.local | s.param), Fault::out_of_bounds,
           "An atomic operation on local memory or parameters.", a[first_lane(s.local | s.param)]);
    if (s.global) in_global<T, F, Result>(w, i, s.global, a);
    if (s.shared) {
      const auto base = reinterpret_cast<uint64_t>(w.block->shared);
      for (unsigned l = 0; l < lanes; ++l) a[l] -= base;
      in_shared<T, F, Result>(w, i, s.shared, a);
    }
  }
  return Flow::next;
}

template <class T, class F, bool Result>
Handler by_space(const Form& f) {
  switch (f.space) {
    case Space::global: return atomic<T, F, Result, Space::global>;
    case Space::shared: return atomic<T, F, Result, Space::shared>;
    case Space::generic: return atomic<T, F, Result, Space::generic>;
    default: return nullptr;
  }
}

template <class F, bool Result>
Handler of_words(const Form& f) {
  const unsigned bytes = ptx::bytes_of(f.type());
  return bytes == 4 ? by_space<uint32_t, F, Result>(f) : bytes == 8 ? by_space<uint64_t, F, Result>(f) : nullptr;
}

template <bool Max, bool Result>
Handler extreme(const Form& f) {
  switch (f.type()) {
    case Type::u32: return by_space<uint32_t, Extreme<uint32_t, Max>, Result>(f);
    case Type::s32: return by_space<uint32_t, Extreme<int32_t, Max>, Result>(f);
    case Type::u64: return by_space<uint64_t, Extreme<uint64_t, Max>, Result>(f);
    case Type::s64: return by_space<uint64_t, Extreme<int64_t, Max>, Result>(f);
    default: return nullptr;
  }
}

template <bool Result>
Handler sum(const Form& f) {
  switch (f.type()) {
    case Type::f32: return by_space<uint32_t, AddF32, Result>(f);
    case Type::f64: return by_space<uint64_t, AddF64, Result>(f);
    case Type::f16: return by_space<uint16_t, AddF16, Result>(f);
    case Type::bf16: return by_space<uint16_t, AddBf16, Result>(f);
    case Type::f16x2: return by_space<uint32_t, Pair<AddF16>, Result>(f);
    case Type::bf16x2: return by_space<uint32_t, Pair<AddBf16>, Result>(f);
    default: return of_words<Add, Result>(f);
  }
}

template <bool Result>
Handler find(const Form& f) {
  const unsigned bytes = ptx::bytes_of(f.type());
  if (f.vector != 1 || f.has("async")) return nullptr;
  if (f.has("add")) return sum<Result>(f);
  if (f.has("and")) return of_words<And, Result>(f);
  if (f.has("or")) return of_words<Or, Result>(f);
  if (f.has("xor")) return of_words<Xor, Result>(f);
  if (f.has("min")) return extreme<false, Result>(f);
  if (f.has("max")) return extreme<true, Result>(f);
  if (f.has("inc") && f.type() == Type::u32) return by_space<uint32_t, Inc, Result>(f);
  if (f.has("dec") && f.type() == Type::u32) return by_space<uint32_t, Dec, Result>(f);
  if (!Result) return nullptr;
  if (f.has("exch")) return bytes == 16 ? by_space<Wide, Exch, true>(f) : of_words<Exch, true>(f);
  if (f.has("cas"))
    return bytes == 2    ? by_space<uint16_t, Cas, true>(f)
           : bytes == 16 ? by_space<Wide, Cas, true>(f)
                         : of_words<Cas, true>(f);
  return nullptr;
}

}  // namespace

Choice select_atomic(const Form& f) {
  if (f.base == "atom") return {find<true>(f), Kind::memory};
  if (f.base == "red") return {find<false>(f), Kind::memory};
  return {};
}

}  // namespace stator::emulator::machine
