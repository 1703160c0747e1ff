// Arithmetic in the two 16-bit formats, of one value and of pairs. Operations are made in double precision, whose
// results are exact or so much finer that one rounding to the format is the correct one.
#include "emulator/machine/level/approximate.hpp"
#include "emulator/machine/level/floats.hpp"
#include "emulator/machine/level/small_float.hpp"

namespace stator::emulator::machine {
namespace {

struct F16 {
  static double read(uint16_t v) { return from_f16(v); }
  static uint16_t write(double v) { return to_f16(v); }
  static constexpr uint16_t nan = 0x7fff, infinity = 0x7c00, one = 0x3c00;
  static constexpr double tanh_error = 0x1.02513p-11, ex2_error = 0x1.125fbp-10;  // 2^-10.987, 2^-9.9
};
struct Bf16 {
  static double read(uint16_t v) { return from_bf16(v); }
  static uint16_t write(double v) { return to_bf16(v); }
  static constexpr uint16_t nan = 0x7fff, infinity = 0x7f80, one = 0x3f80;
  static constexpr double tanh_error = 0x1p-8, ex2_error = 0x1p-7;
};

template <class H>
bool is_nan(uint16_t v) {
  return (v & 0x7fff) > H::infinity;
}
template <class H>
uint16_t flushed(uint16_t v) {  // only binary16 has .ftz
  return (v & H::infinity) ? v : v & 0x8000;
}

enum class Op { add, sub, mul, fma, min, max, min_nan, max_nan, abs, neg, tanh, ex2 };

template <Op O, class H>
__attribute__((noinline)) uint16_t raw(uint16_t a, uint16_t b, uint16_t c) {
  const double x = H::read(a), y = H::read(b);
  switch (O) {
    case Op::add: return H::write(x + y);
    case Op::sub: return H::write(x - y);
    case Op::mul: return H::write(x * y);
    case Op::fma: return H::write(fma_to_odd(x, y, H::read(c)));
    case Op::abs: return a & 0x7fff;
    case Op::neg: return a ^ 0x8000;
    default: break;
  }
  constexpr bool largest = O == Op::max || O == Op::max_nan;
  if (is_nan<H>(a) || is_nan<H>(b)) {
    if (O == Op::min_nan || O == Op::max_nan || (is_nan<H>(a) && is_nan<H>(b))) return H::nan;
    return is_nan<H>(a) ? b : a;
  }
  const bool less = x < y || (x == y && a > b);
  return less == largest ? b : a;
}

template <class H>
uint16_t finished(uint16_t v, const Instruction& i) {
  if (i.ftz) v = flushed<H>(v);
  if (i.relu) return is_nan<H>(v) ? H::nan : v & 0x8000 ? 0 : v;
  if (i.sat) return is_nan<H>(v) || v & 0x8000 ? 0 : v > H::one ? H::one : v;
  return v;
}

template <Op O, class H>
uint16_t apply(uint16_t a, uint16_t b, uint16_t c, const Instruction& i) {
  if (i.ftz) return finished<H>(raw<O, H>(flushed<H>(a), flushed<H>(b), flushed<H>(c)), i);
  return finished<H>(raw<O, H>(a, b, c), i);
}

// The approximate functions: tanh has an absolute error, ex2 a relative one.
template <Op O, class H>
uint16_t moved(const Warp& w, uint16_t a) {
  const double x = H::read(a), exact = O == Op::tanh ? __builtin_tanh(x) : __builtin_exp2(x);
  if (!perturbs(w) || x == 0 || !std::isfinite(x) || !std::isfinite(H::read(H::write(exact)))) return H::write(exact);
  const double distance = O == Op::tanh ? H::tanh_error : H::ex2_error * exact;
  const double n = noise(seed_of(w), O == Op::tanh ? Fn::tanh : Fn::ex2, a);
  return H::write(placed(exact, distance, n, [](double v) { return H::read(H::write(v)); }));
}

template <Op O, class H>
uint16_t apply(const Warp& w, uint16_t a, uint16_t b, uint16_t c, const Instruction& i) {
  if constexpr (O == Op::tanh || O == Op::ex2)
    return finished<H>(moved<O, H>(w, i.ftz ? flushed<H>(a) : a), i);
  else
    return apply<O, H>(a, b, c, i);
}

template <Op O>
constexpr unsigned operands = O == Op::fma   ? 3
                              : O >= Op::abs ? 1
                                             : 2;

template <Op O, class H, bool Packed>
Flow half(Warp& w, const Instruction& i, uint32_t mask) {
  using T = std::conditional_t<Packed, uint32_t, uint16_t>;
  const T* const a = w.lane_values<T>(i.op[1]);
  const T* const b = operands<O> > 1 ? w.lane_values<T>(i.op[2]) : a;
  const T* const c = operands<O> > 2 ? w.lane_values<T>(i.op[3]) : a;
  assign_each(w.lane_values<T>(i.op[0]), mask, [=, &i, &w](unsigned l) {
    const uint16_t low = apply<O, H>(w, uint16_t(a[l]), uint16_t(b[l]), uint16_t(c[l]), i);
    if (!Packed) return T(low);
    return T(low | uint32_t(apply<O, H>(w, uint16_t(a[l] >> 16), uint16_t(b[l] >> 16), uint16_t(c[l] >> 16), i)) << 16);
  });
  return Flow::next;
}

template <Op O>
Handler typed(const Form& f) {
  switch (f.type()) {
    case Type::f16: return half<O, F16, false>;
    case Type::f16x2: return half<O, F16, true>;
    case Type::bf16: return half<O, Bf16, false>;
    case Type::bf16x2: return half<O, Bf16, true>;
    default: return nullptr;
  }
}

Handler find(const Form& f) {
  if (f.rounding != Rounding::none && f.rounding != Rounding::rn) return nullptr;
  if (f.base == "add") return typed<Op::add>(f);
  if (f.base == "sub") return typed<Op::sub>(f);
  if (f.base == "mul") return typed<Op::mul>(f);
  if (f.base == "fma") return typed<Op::fma>(f);
  if (f.base == "abs") return typed<Op::abs>(f);
  if (f.base == "neg") return typed<Op::neg>(f);
  if (f.base == "tanh") return typed<Op::tanh>(f);
  if (f.base == "ex2") return typed<Op::ex2>(f);
  if (f.has("xorsign")) return nullptr;
  if (f.base == "min") return f.has("NaN") ? typed<Op::min_nan>(f) : typed<Op::min>(f);
  if (f.base == "max") return f.has("NaN") ? typed<Op::max_nan>(f) : typed<Op::max>(f);
  return nullptr;
}

}  // namespace

Choice select_half(const Form& f) {
  if (f.type_count != 1) return {};
  return {find(f), f.base == "tanh" || f.base == "ex2" ? Kind::special : Kind::half};
}

}  // namespace stator::emulator::machine
