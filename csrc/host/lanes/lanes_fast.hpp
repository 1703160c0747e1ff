// Fast host: four accumulators of the instruction set's vector width, which hide the latency of an addition. They are
// compiler vectors, because arrays of accumulators do not stay in registers.
#pragma once

#include "device/cascade.cuh"
#include "device/functional.cuh"

#include <cstring>
#include <type_traits>

namespace stator::STATOR_TARGET {

// Operations whose operator() also takes compiler vectors.
template <class Op>
inline constexpr bool is_lanewise =
    std::is_same_v<Op, Sum> || std::is_same_v<Op, Product> || std::is_same_v<Op, Max> || std::is_same_v<Op, Min>;

#if defined(__AVX512F__)
inline constexpr int native_bytes = 64;
#elif defined(__AVX2__)
inline constexpr int native_bytes = 32;
#else
inline constexpr int native_bytes = 16;
#endif

template <class A>
struct Lanes {
  typedef A Vector __attribute__((vector_size(native_bytes)));
  static constexpr int width = native_bytes / int(sizeof(A));
  static constexpr int step = 4 * width;

  Vector a, b, c, d;

  STATOR_FN explicit Lanes(A value) : a(Vector{} + value), b(a), c(a), d(a) {}

  // Accumulates f(i) to f(i + step - 1).
  template <class Op, class F>
  STATOR_FN void take(Op op, const F& f, int64_t i) {
    a = op(a, load(f, i));
    b = op(b, load(f, i + width));
    c = op(c, load(f, i + 2 * width));
    d = op(d, load(f, i + 3 * width));
  }

  // Accumulates f(i) to f(i + width - 1): what is left of a line, and lines that are shorter than a step.
  template <class Op, class F>
  STATOR_FN void take_one(Op op, const F& f, int64_t i) {
    a = op(a, load(f, i));
  }

  template <class Op>
  STATOR_FN A fold(Op op) const {
    return fold_halves(op, op(op(a, b), op(c, d)));
  }

  // Adds these accumulators to a compensated sum.
  STATOR_FN void carry(Lanes& sum, Lanes& error) const {
    add_exactly(sum.a, error.a, a);
    add_exactly(sum.b, error.b, b);
    add_exactly(sum.c, error.c, c);
    add_exactly(sum.d, error.d, d);
  }

 private:
  // In registers: what is stored to be loaded in parts waits for memory at each step.
  template <class Op, class V>
  STATOR_FN static A fold_halves(Op op, V all) {
    if constexpr (sizeof(V) == 2 * sizeof(A)) {
      return op(A(all[0]), A(all[1]));
    } else {
      typedef A Half __attribute__((vector_size(sizeof(V) / 2)));
      Half half[2];
      std::memcpy(half, &all, sizeof(all));
      return fold_halves(op, op(half[0], half[1]));
    }
  }
  template <class F>
  STATOR_FN static Vector load(const F& f, int64_t i) {
    A loaded[width];
    for (int k = 0; k < width; ++k) loaded[k] = A(f(i + k));
    Vector v;
    std::memcpy(&v, loaded, sizeof(v));
    return v;
  }
};

// Real and imaginary parts in separate accumulators.
template <class R>
struct Lanes<complex<R>> {
  using Vector = typename Lanes<R>::Vector;
  static constexpr int width = Lanes<R>::width;
  static constexpr int step = Lanes<R>::step;

  Lanes<R> re, im;

  STATOR_FN explicit Lanes(complex<R> value) : re(value.re), im(value.im) {}

  template <class Op, class F>
  STATOR_FN void take(Op op, const F& f, int64_t i) {
    take(op, f, i, re.a, im.a);
    take(op, f, i + width, re.b, im.b);
    take(op, f, i + 2 * width, re.c, im.c);
    take(op, f, i + 3 * width, re.d, im.d);
  }

  template <class Op, class F>
  STATOR_FN void take_one(Op op, const F& f, int64_t i) {
    take(op, f, i, re.a, im.a);
  }

  template <class Op>
  STATOR_FN complex<R> fold(Op op) const {
    return {re.fold(op), im.fold(op)};
  }

  STATOR_FN void carry(Lanes& sum, Lanes& error) const {
    re.carry(sum.re, error.re);
    im.carry(sum.im, error.im);
  }

 private:
  template <class Op, class F>
  STATOR_FN static void take(Op op, const F& f, int64_t i, Vector& real, Vector& imaginary) {
    R loaded[2][width];
    for (int k = 0; k < width; ++k) {
      const complex<R> z(f(i + k));
      loaded[0][k] = z.re;
      loaded[1][k] = z.im;
    }
    Vector v[2];
    std::memcpy(v, loaded, sizeof(v));
    real = op(real, v[0]);
    imaginary = op(imaginary, v[1]);
  }
};

template <class A, class Op, class F>
STATOR_FN A reduce_lanes(int64_t n, Op op, const F& f) {
  Lanes<A> partial(op.template identity<A>());
  int64_t i = 0;
  for (; i + Lanes<A>::step <= n; i += Lanes<A>::step) partial.take(op, f, i);
  for (; i + Lanes<A>::width <= n; i += Lanes<A>::width) partial.take_one(op, f, i);
  A total = partial.fold(op);
  for (; i < n; ++i) total = op(total, A(f(i)));
  return total;
}

// Adds up short chunks without compensation, and the sums of chunks with it.
template <class A, class F>
STATOR_FN A sum_lanes(int64_t n, const F& f) {
  constexpr int64_t run = 8 * Lanes<A>::step;
  Lanes<A> sum(A(0)), error(A(0));
  int64_t i = 0;
  while (i + Lanes<A>::step <= n) {
    Lanes<A> partial(A(0));
    const int64_t last = (n - i < run ? n : i + run) - Lanes<A>::step;
    for (; i <= last; i += Lanes<A>::step) partial.take(Sum{}, f, i);
    partial.carry(sum, error);
  }
  Lanes<A> left(A(0));
  for (; i + Lanes<A>::width <= n; i += Lanes<A>::width) left.take_one(Sum{}, f, i);
  A rest = left.fold(Sum{});
  for (; i < n; ++i) rest = rest + A(f(i));
  return n < Lanes<A>::step ? rest : compensated(sum.fold(Sum{}), error.fold(Sum{})) + rest;
}

}  // namespace stator::STATOR_TARGET
