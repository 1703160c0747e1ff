// What handlers are written with: loops over the lanes of a warp that the compiler turns into vector instructions.
#pragma once

#include "emulator/machine/state.hpp"

#include <cstdint>

// Lambdas of handlers are parts of their loops, never calls.
#define LANE_FN __attribute__((always_inline))

namespace stator::emulator::machine {

inline bool on(uint32_t mask, unsigned lane) { return mask >> lane & 1; }
inline unsigned first_lane(uint32_t mask) { return unsigned(__builtin_ctz(mask)); }

// d[l] = f(l) for the lanes of the mask; f is evaluated for all, so it may not fail. An operand may be d itself.
template <class D, class F>
inline void assign(D* d, uint32_t mask, F f) {
  if (mask == all_lanes) {
#pragma GCC ivdep
    for (unsigned l = 0; l < lanes; ++l) d[l] = f(l);
  } else {
#pragma GCC ivdep
    for (unsigned l = 0; l < lanes; ++l) {
      const D value = f(l);
      d[l] = (mask >> l & 1) ? value : d[l];
    }
  }
}

// The same where f is slow: it is evaluated only for the lanes of the mask.
template <class D, class F>
inline void assign_each(D* d, uint32_t mask, F f) {
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = first_lane(left);
    d[l] = f(l);
  }
}

// The lanes for which f holds, as bits.
template <class F>
inline uint32_t lanes_where(F f) {
  alignas(32) int8_t flags[lanes];
#pragma GCC ivdep
  for (unsigned l = 0; l < lanes; ++l) flags[l] = f(l) ? -1 : 0;
  uint32_t bits = 0;
  using Bytes = char __attribute__((vector_size(16)));
  for (unsigned half = 0; half < 2; ++half) {
    Bytes v;
    __builtin_memcpy(&v, flags + 16 * half, 16);
    bits |= uint32_t(__builtin_ia32_pmovmskb128(v)) << (16 * half);
  }
  return bits;
}

inline void set_predicate(uint32_t& d, uint32_t mask, uint32_t value) { d = (d & ~mask) | (value & mask); }

// A predicate as an operand, which may be negated.
inline uint32_t read_predicate(const Warp& w, const Operand& o) { return o.negated ? ~w.predicate(o) : w.predicate(o); }

template <class D, class S, class F>
Flow unary(Warp& w, const Instruction& i, uint32_t mask) {
  const S* const a = w.lane_values<S>(i.op[1]);
  assign(w.lane_values<D>(i.op[0]), mask, [=](unsigned l) LANE_FN { return F::of(a[l]); });
  return Flow::next;
}

template <class T, class F>
Flow binary(Warp& w, const Instruction& i, uint32_t mask) {
  const T* const a = w.lane_values<T>(i.op[1]);
  const T* const b = w.lane_values<T>(i.op[2]);
  assign(w.lane_values<T>(i.op[0]), mask, [=](unsigned l) LANE_FN { return F::of(a[l], b[l]); });
  return Flow::next;
}

template <class D, class A, class B, class C, class F>
Flow ternary(Warp& w, const Instruction& i, uint32_t mask) {
  const A* const a = w.lane_values<A>(i.op[1]);
  const B* const b = w.lane_values<B>(i.op[2]);
  const C* const c = w.lane_values<C>(i.op[3]);
  assign(w.lane_values<D>(i.op[0]), mask, [=](unsigned l) LANE_FN { return F::of(a[l], b[l], c[l]); });
  return Flow::next;
}

template <class T, class F>
constexpr Handler unary_of = unary<T, T, F>;
template <class T, class F>
constexpr Handler ternary_of = ternary<T, T, T, T, F>;

// The families of instructions. Each answers with a null handler where the form is not one of its own.
Choice select_integer(const Form&);
Choice select_wide(const Form&);
Choice select_bits(const Form&);
Choice select_float(const Form&);
Choice select_rounded(const Form&);
Choice select_half(const Form&);
Choice select_special(const Form&);
Choice select_compare(const Form&);
Choice select_move(const Form&);
Choice select_convert(const Form&);
Choice select_control(const Form&);
Choice select_memory(const Form&);
Choice select_atomic(const Form&);
Choice select_warp(const Form&);
Choice select_barrier(const Form&);
Choice select_async(const Form&);
Choice select_matrix(const Form&);

}  // namespace stator::emulator::machine
