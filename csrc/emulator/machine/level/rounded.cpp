// Arithmetic in single and double precision with a directed rounding: the CPU's own, set around the loop.
#include "emulator/machine/level/floats.hpp"

namespace stator::emulator::machine {
namespace {

enum class Op { add, sub, mul, div, fma, sqrt, rcp };

template <Op O, class T>
T apply(T a, T b, T c) {
  if (O == Op::add) return a + b;
  if (O == Op::sub) return a - b;
  if (O == Op::mul) return a * b;
  if (O == Op::div) return a / b;
  if (O == Op::fma) return sizeof(T) == 4 ? T(__builtin_fmaf(float(a), float(b), float(c))) : T(__builtin_fma(a, b, c));
  if (O == Op::sqrt) return sizeof(T) == 4 ? T(__builtin_sqrtf(float(a))) : T(__builtin_sqrt(a));
  return T(1) / a;
}

template <Op O>
constexpr unsigned operands = O == Op::fma                    ? 3
                              : O == Op::sqrt || O == Op::rcp ? 1
                                                              : 2;

template <Op O, class T, bool Ftz, bool Sat, Rounding R>
Flow rounded(Warp& w, const Instruction& i, uint32_t mask) {
  const T* const a = w.lane_values<T>(i.op[1]);
  const T* const b = operands<O> > 1 ? w.lane_values<T>(i.op[2]) : a;
  const T* const c = operands<O> > 2 ? w.lane_values<T>(i.op[3]) : a;
  const RoundingScope scope(R);
  assign(w.lane_values<T>(i.op[0]), mask, [=](unsigned l) LANE_FN {
    return result<Ftz, Sat>(apply<O, T>(in<Ftz>(a[l]), in<Ftz>(b[l]), in<Ftz>(c[l])));
  });
  return Flow::next;
}

template <Op O, Rounding R>
Handler typed(const Form& f) {
  if (f.type() == Type::f64) return rounded<O, double, false, false, R>;
  if (f.ftz) return f.sat ? rounded<O, float, true, true, R> : rounded<O, float, true, false, R>;
  return f.sat ? rounded<O, float, false, true, R> : rounded<O, float, false, false, R>;
}

template <Op O>
Handler directed(const Form& f) {
  switch (f.rounding) {
    case Rounding::rz: return typed<O, Rounding::rz>(f);
    case Rounding::rm: return typed<O, Rounding::rm>(f);
    case Rounding::rp: return typed<O, Rounding::rp>(f);
    default: return nullptr;
  }
}

Handler find(const Form& f) {
  if (f.base == "add") return directed<Op::add>(f);
  if (f.base == "sub") return directed<Op::sub>(f);
  if (f.base == "mul") return directed<Op::mul>(f);
  if (f.base == "div") return directed<Op::div>(f);
  if (f.base == "fma" || f.base == "mad") return directed<Op::fma>(f);
  if (f.base == "sqrt") return directed<Op::sqrt>(f);
  if (f.base == "rcp") return directed<Op::rcp>(f);
  return nullptr;
}

}  // namespace

Choice select_rounded(const Form& f) {
  if ((f.type() != Type::f32 && f.type() != Type::f64) || f.type_count != 1) return {};
  return {find(f), f.type() == Type::f64 ? Kind::f64 : Kind::f32};
}

}  // namespace stator::emulator::machine
