// Comparisons into predicates and values, and selections.
#include "emulator/machine/level/floats.hpp"
#include "emulator/machine/level/small_float.hpp"

namespace stator::emulator::machine {
namespace {

enum class Cmp { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };

// Three loops for a type, of which every comparison is made: loops of their own would take long to compile.
template <class T>
__attribute__((noinline)) uint32_t equal(const T* a, const T* b) {
  return lanes_where([=](unsigned l) LANE_FN { return a[l] == b[l]; });
}
template <class T>
__attribute__((noinline)) uint32_t less(const T* a, const T* b) {
  return lanes_where([=](unsigned l) LANE_FN { return a[l] < b[l]; });
}
template <class T>
__attribute__((noinline)) uint32_t less_equal(const T* a, const T* b) {
  return lanes_where([=](unsigned l) LANE_FN { return a[l] <= b[l]; });
}

template <Cmp C, class T>
uint32_t where(const T* a, const T* b) {
  switch (C) {
    case Cmp::eq: return equal(a, b);
    case Cmp::ne: return std::is_integral_v<T> ? ~equal(a, b) : less(a, b) | less(b, a);
    case Cmp::lt: return less(a, b);
    case Cmp::le: return less_equal(a, b);
    case Cmp::gt: return less(b, a);
    case Cmp::ge: return less_equal(b, a);
    // With "or unordered": what holds unless the opposite does.
    case Cmp::equ: return ~(less(a, b) | less(b, a));
    case Cmp::neu: return ~equal(a, b);
    case Cmp::ltu: return ~less_equal(b, a);
    case Cmp::leu: return ~less(b, a);
    case Cmp::gtu: return ~less_equal(a, b);
    case Cmp::geu: return ~less(a, b);
    case Cmp::num: return equal(a, a) & equal(b, b);
    case Cmp::nan: return ~(equal(a, a) & equal(b, b));
  }
  return 0;
}

// How the lanes of a type are read.
template <class T>
struct Plain {
  using Stored = T;
  static T read(T v) { return v; }
};
struct Flushed {
  using Stored = float;
  static float read(float v) { return flush(v); }
};
struct F16 {
  using Stored = uint16_t;
  static double read(uint16_t v) { return from_f16(v); }
};
struct F16Flushed {
  using Stored = uint16_t;
  static double read(uint16_t v) { return from_f16(v & 0x7c00 ? v : v & 0x8000); }
};
struct Bf16 {
  using Stored = uint16_t;
  static double read(uint16_t v) { return from_bf16(v); }
};

// With the third operand, if there is one.
uint32_t joined(const Instruction& i, uint32_t bits, uint32_t other) {
  return i.join == 0 ? bits : i.join == 1 ? bits & other : i.join == 2 ? bits | other : bits ^ other;
}

// Operands as the values that they hold.
template <class R>
struct Values {
  using S = typename R::Stored;
  decltype(R::read({})) v[lanes];
  __attribute__((noinline)) explicit Values(const S* from) {
    for (unsigned l = 0; l < lanes; ++l) v[l] = R::read(from[l]);
  }
  // The low ones of pairs, or those `shift` bits up.
  __attribute__((noinline)) Values(const uint32_t* pairs, unsigned shift) {
    for (unsigned l = 0; l < lanes; ++l) v[l] = R::read(S(pairs[l] >> shift));
  }
};

template <class R, Cmp C>
uint32_t compared(const Warp& w, const Operand& x, const Operand& y) {
  using S = typename R::Stored;
  const S* const a = w.lane_values<S>(x);
  const S* const b = w.lane_values<S>(y);
  if constexpr (std::is_same_v<R, Plain<S>>)
    return where<C>(a, b);
  else
    return where<C>(Values<R>(a).v, Values<R>(b).v);
}
template <class R, Cmp C>
uint32_t compared_pairs(const uint32_t* a, const uint32_t* b, unsigned shift) {
  return where<C>(Values<R>(a, shift).v, Values<R>(b, shift).v);
}

// setp d[|e], a, b[, c]: the operands are d, a, b; with an e it comes second, and c last.
template <class R, Cmp C>
Flow set_predicates(Warp& w, const Instruction& i, uint32_t mask) {
  const unsigned second = i.op[1].output ? 1 : 0;
  const uint32_t bits = compared<R, C>(w, i.op[1 + second], i.op[2 + second]);
  const uint32_t other = i.join ? read_predicate(w, i.op[3 + second]) : 0;
  if (second) set_predicate(w.predicate(i.op[1]), mask, joined(i, ~bits, other));
  set_predicate(w.predicate(i.op[0]), mask, joined(i, bits, other));
  return Flow::next;
}

// The zero or `yes` of set for a lane each.
__attribute__((noinline)) void give(Warp& w, const Operand& d, uint32_t mask, uint32_t bits, uint32_t yes) {
  const auto value = [=](unsigned l) LANE_FN { return bits >> l & 1 ? yes : 0; };
  if (d.bytes == 2)
    assign(w.lane_values<uint16_t>(d), mask, [=](unsigned l) LANE_FN { return uint16_t(value(l)); });
  else
    assign(w.lane_values<uint32_t>(d), mask, value);
}

// set.cmp.dtype.stype: zero, or the decoder's last operand, which is 1.0 or all bits.
template <class R, Cmp C>
Flow set_value(Warp& w, const Instruction& i, uint32_t mask) {
  const uint32_t other = i.join ? read_predicate(w, i.op[3]) : 0;
  const uint32_t bits = joined(i, compared<R, C>(w, i.op[1], i.op[2]), other);
  give(w, i.op[0], mask, bits, *w.lane_values<uint32_t>(i.op[i.count - 1]));
  return Flow::next;
}

template <class R, Cmp C>
Handler value_of(const Form& f) {
  if (f.base == "setp") return set_predicates<R, C>;
  return ptx::bytes_of(f.type()) == 2 || ptx::bytes_of(f.type()) == 4 ? set_value<R, C> : nullptr;
}

template <class R>
Handler ordered(const Form& f) {
  if (f.has("eq")) return value_of<R, Cmp::eq>(f);
  if (f.has("ne")) return value_of<R, Cmp::ne>(f);
  if (f.has("lt") || f.has("lo")) return value_of<R, Cmp::lt>(f);
  if (f.has("le") || f.has("ls")) return value_of<R, Cmp::le>(f);
  if (f.has("gt") || f.has("hi")) return value_of<R, Cmp::gt>(f);
  if (f.has("ge") || f.has("hs")) return value_of<R, Cmp::ge>(f);
  return nullptr;
}

template <class R>
Handler real(const Form& f) {
  if (f.has("equ")) return value_of<R, Cmp::equ>(f);
  if (f.has("neu")) return value_of<R, Cmp::neu>(f);
  if (f.has("ltu")) return value_of<R, Cmp::ltu>(f);
  if (f.has("leu")) return value_of<R, Cmp::leu>(f);
  if (f.has("gtu")) return value_of<R, Cmp::gtu>(f);
  if (f.has("geu")) return value_of<R, Cmp::geu>(f);
  if (f.has("num")) return value_of<R, Cmp::num>(f);
  if (f.has("nan")) return value_of<R, Cmp::nan>(f);
  return ordered<R>(f);
}

Choice compare_of(const Form& f) {
  switch (f.last()) {
    case Type::b16:
    case Type::u16: return {ordered<Plain<uint16_t>>(f), Kind::integer};
    case Type::s16: return {ordered<Plain<int16_t>>(f), Kind::integer};
    case Type::b32:
    case Type::u32: return {ordered<Plain<uint32_t>>(f), Kind::integer};
    case Type::s32: return {ordered<Plain<int32_t>>(f), Kind::integer};
    case Type::b64:
    case Type::u64: return {ordered<Plain<uint64_t>>(f), Kind::integer};
    case Type::s64: return {ordered<Plain<int64_t>>(f), Kind::integer};
    case Type::f32: return {f.ftz ? real<Flushed>(f) : real<Plain<float>>(f), Kind::f32};
    case Type::f64: return {real<Plain<double>>(f), Kind::f64};
    case Type::f16: return {f.ftz ? real<F16Flushed>(f) : real<F16>(f), Kind::half};
    case Type::bf16: return {real<Bf16>(f), Kind::half};
    default: return {};
  }
}

// setp of pairs gives a predicate of each half: d of the low, e of the high.
template <class R, Cmp C>
Flow set_pair(Warp& w, const Instruction& i, uint32_t mask) {
  const unsigned second = i.op[1].output ? 1 : 0;
  const uint32_t* const a = w.lane_values<uint32_t>(i.op[1 + second]);
  const uint32_t* const b = w.lane_values<uint32_t>(i.op[2 + second]);
  const uint32_t low = compared_pairs<R, C>(a, b, 0);
  if (second) set_predicate(w.predicate(i.op[1]), mask, compared_pairs<R, C>(a, b, 16));
  set_predicate(w.predicate(i.op[0]), mask, low);
  return Flow::next;
}
// set of pairs: each half by itself.
template <class R, Cmp C>
Flow set_pair_value(Warp& w, const Instruction& i, uint32_t mask) {
  const uint32_t* const a = w.lane_values<uint32_t>(i.op[1]);
  const uint32_t* const b = w.lane_values<uint32_t>(i.op[2]);
  const uint32_t yes = *w.lane_values<uint32_t>(i.op[3]);
  const uint32_t low = compared_pairs<R, C>(a, b, 0), high = compared_pairs<R, C>(a, b, 16);
  assign(w.lane_values<uint32_t>(i.op[0]), mask, [=](unsigned l) LANE_FN {
    return (low >> l & 1 ? yes & 0xffff : 0) | (high >> l & 1 ? yes & 0xffff0000 : 0);
  });
  return Flow::next;
}

template <class R, Cmp C>
Handler pair_value_of(const Form& f) {
  return f.base == "setp" ? set_pair<R, C> : set_pair_value<R, C>;
}

template <class R>
Handler pair_of(const Form& f) {
  if (f.has("eq")) return pair_value_of<R, Cmp::eq>(f);
  if (f.has("ne")) return pair_value_of<R, Cmp::ne>(f);
  if (f.has("lt")) return pair_value_of<R, Cmp::lt>(f);
  if (f.has("le")) return pair_value_of<R, Cmp::le>(f);
  if (f.has("gt")) return pair_value_of<R, Cmp::gt>(f);
  if (f.has("ge")) return pair_value_of<R, Cmp::ge>(f);
  if (f.has("equ")) return pair_value_of<R, Cmp::equ>(f);
  if (f.has("neu")) return pair_value_of<R, Cmp::neu>(f);
  if (f.has("ltu")) return pair_value_of<R, Cmp::ltu>(f);
  if (f.has("leu")) return pair_value_of<R, Cmp::leu>(f);
  if (f.has("gtu")) return pair_value_of<R, Cmp::gtu>(f);
  if (f.has("geu")) return pair_value_of<R, Cmp::geu>(f);
  if (f.has("num")) return pair_value_of<R, Cmp::num>(f);
  return f.has("nan") ? pair_value_of<R, Cmp::nan>(f) : nullptr;
}

template <class T>
Flow select_value(Warp& w, const Instruction& i, uint32_t mask) {
  const T* const a = w.lane_values<T>(i.op[1]);
  const T* const b = w.lane_values<T>(i.op[2]);
  const uint32_t chosen = read_predicate(w, i.op[3]);
  assign(w.lane_values<T>(i.op[0]), mask, [=](unsigned l) LANE_FN {
    const T x = a[l], y = b[l];
    return chosen >> l & 1 ? x : y;
  });
  return Flow::next;
}

template <class T, class S>
Flow select_sign(Warp& w, const Instruction& i, uint32_t mask) {  // slct
  const T* const a = w.lane_values<T>(i.op[1]);
  const T* const b = w.lane_values<T>(i.op[2]);
  const S* const c = w.lane_values<S>(i.op[3]);
  assign(w.lane_values<T>(i.op[0]), mask, [=](unsigned l) LANE_FN { return c[l] >= 0 ? a[l] : b[l]; });
  return Flow::next;
}

template <class S>
Handler sign_of(unsigned bytes) {
  return bytes == 2   ? select_sign<uint16_t, S>
         : bytes == 4 ? select_sign<uint32_t, S>
         : bytes == 8 ? select_sign<uint64_t, S>
                      : nullptr;
}

}  // namespace

Choice select_compare(const Form& f) {
  const unsigned bytes = ptx::bytes_of(f.type());
  if ((f.base == "setp" || f.base == "set") && ptx::bytes_of(f.last()) == 4 && f.last() != Type::f32 &&
      ptx::is_float(f.last())) {
    const bool plain = !f.ftz && !f.has("and") && !f.has("or") && !f.has("xor");
    if (!plain || ptx::bytes_of(f.type()) != 4) return {};
    return {f.last() == Type::f16x2    ? pair_of<F16>(f)
            : f.last() == Type::bf16x2 ? pair_of<Bf16>(f)
                                       : nullptr,
            Kind::half};
  }
  if (f.base == "setp" || f.base == "set") return compare_of(f);
  if (f.base == "selp")
    return {bytes == 2   ? select_value<uint16_t>
            : bytes == 4 ? select_value<uint32_t>
            : bytes == 8 ? select_value<uint64_t>
                         : nullptr,
            Kind::move};
  if (f.base == "slct")
    return {f.last() == Type::s32   ? sign_of<int32_t>(bytes)
            : f.last() == Type::f32 ? sign_of<float>(bytes)
                                    : nullptr,
            Kind::move};
  return {};
}

}  // namespace stator::emulator::machine
