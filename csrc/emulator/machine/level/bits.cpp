// Logic, shifts, fields and counts of bits.
#include "emulator/machine/level/lanes.hpp"

namespace stator::emulator::machine {
namespace {

struct And {
  template <class T>
  static T of(T a, T b) {
    return T(a & b);
  }
};
struct Or {
  template <class T>
  static T of(T a, T b) {
    return T(a | b);
  }
};
struct Xor {
  template <class T>
  static T of(T a, T b) {
    return T(a ^ b);
  }
};
struct Not {
  template <class T>
  static T of(T a) {
    return T(~a);
  }
};
struct Cnot {
  template <class T>
  static T of(T a) {
    return T(a == 0);
  }
};
// Shifts by the width and more give zeros, or copies of the sign.
struct ShiftLeft {
  template <class T>
  static T of(T a, uint32_t b) {
    return b < 8 * sizeof(T) ? T(a << b) : T(0);
  }
};
struct ShiftRight {
  template <class T>
  static T of(T a, uint32_t b) {
    constexpr uint32_t top = 8 * sizeof(T) - 1;
    if (T(-1) < T(0)) return T(a >> (b < top ? b : top));
    return b <= top ? T(a >> b) : T(0);
  }
};

template <class T, class F>
Flow shift(Warp& w, const Instruction& i, uint32_t mask) {
  const T* const a = w.lane_values<T>(i.op[1]);
  const uint32_t* const b = w.lane_values<uint32_t>(i.op[2]);
  alignas(64) T result[lanes];
  for (unsigned l = 0; l < lanes; ++l) result[l] = F::of(a[l], b[l]);
  assign(w.lane_values<T>(i.op[0]), mask, [&](unsigned l) LANE_FN { return result[l]; });
  return Flow::next;
}

template <bool Left, bool Wrap>
struct Funnel {
  static uint32_t of(uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t n = Wrap ? c & 31 : c < 32 ? c : 32;
    const uint64_t both = uint64_t(b) << 32 | a;
    return Left ? uint32_t(both << n >> 32) : uint32_t(both >> n);
  }
};

struct Reverse {
  static uint32_t of(uint32_t v) {
    v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
    v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
    v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(v);
  }
  static uint64_t of(uint64_t v) { return uint64_t(of(uint32_t(v))) << 32 | of(uint32_t(v >> 32)); }
};
struct Population {
  static uint32_t of(uint32_t v) { return uint32_t(__builtin_popcount(v)); }
  static uint32_t of(uint64_t v) { return uint32_t(__builtin_popcountll(v)); }
};
struct LeadingZeros {
  static uint32_t of(uint32_t v) { return v ? uint32_t(__builtin_clz(v)) : 32; }
  static uint32_t of(uint64_t v) { return v ? uint32_t(__builtin_clzll(v)) : 64; }
};
template <bool Amount>
struct FindHighest {  // the highest bit that differs from the sign
  template <class T>
  static uint32_t of(T v) {
    using U = std::make_unsigned_t<T>;
    const U u = U(v < 0 ? ~v : v);
    if (u == 0) return ~uint32_t(0);
    const uint32_t zeros = LeadingZeros::of(u);
    return Amount ? zeros : uint32_t(8 * sizeof(T) - 1) - zeros;
  }
};

template <class D, class S, class F>
Flow narrow(Warp& w, const Instruction& i, uint32_t mask) {  // source and result of two widths
  const S* const a = w.lane_values<S>(i.op[1]);
  alignas(64) D result[lanes];
  for (unsigned l = 0; l < lanes; ++l) result[l] = F::of(a[l]);
  assign(w.lane_values<D>(i.op[0]), mask, [&](unsigned l) LANE_FN { return result[l]; });
  return Flow::next;
}

template <class T>
Flow extract_field(Warp& w, const Instruction& i, uint32_t mask) {
  constexpr uint32_t width = 8 * sizeof(T);
  const T* const a = w.lane_values<T>(i.op[1]);
  const uint32_t* const position = w.lane_values<uint32_t>(i.op[2]);
  const uint32_t* const length = w.lane_values<uint32_t>(i.op[3]);
  assign_each(w.lane_values<T>(i.op[0]), mask, [&](unsigned l) {
    const uint32_t from = position[l] & 255, count = length[l] & 255;
    const T sign =
        T(-1) < T(0) && count ? T(a[l] >> (from + count - 1 < width ? from + count - 1 : width - 1) & 1) : T(0);
    if (count == 0) return T(0);
    using U = std::make_unsigned_t<T>;
    const U low = from < width ? U(a[l]) >> from : U(0);
    const uint32_t kept = from < width ? (count < width - from ? count : width - from) : 0;
    if (kept >= width) return T(low);
    const U field = low & ((U(1) << kept) - 1);
    return T(sign ? field | U(-1) << kept : field);
  });
  return Flow::next;
}

template <class T>
Flow insert_field(Warp& w, const Instruction& i, uint32_t mask) {
  constexpr uint32_t width = 8 * sizeof(T);
  const T* const a = w.lane_values<T>(i.op[1]);
  const T* const b = w.lane_values<T>(i.op[2]);
  const uint32_t* const position = w.lane_values<uint32_t>(i.op[3]);
  const uint32_t* const length = w.lane_values<uint32_t>(i.op[4]);
  assign_each(w.lane_values<T>(i.op[0]), mask, [&](unsigned l) {
    const uint32_t from = position[l] & 255, count = length[l] & 255;
    if (from >= width || count == 0) return b[l];
    const T field = T((count >= width ? T(-1) : T((T(1) << count) - 1)) << from);
    return T((b[l] & ~field) | (a[l] << from & field));
  });
  return Flow::next;
}

uint32_t permuted(uint32_t a, uint32_t b, uint32_t selector) {
  const uint64_t bytes = uint64_t(b) << 32 | a;
  uint32_t result = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const uint32_t which = selector >> (4 * k) & 15;
    uint32_t byte = uint32_t(bytes >> (8 * (which & 7)) & 255);
    if (which & 8) byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * k);
  }
  return result;
}
struct Permute {
  static uint32_t of(uint32_t a, uint32_t b, uint32_t c) { return permuted(a, b, c); }
};
enum class Pattern { f4e, b4e, rc8, ecl, ecr, rc16 };
template <Pattern P>
struct PermuteBy {
  static uint32_t of(uint32_t a, uint32_t b, uint32_t c) {
    constexpr uint16_t table[6][4] = {{0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
                                      {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
                                      {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};
    return permuted(a, b, table[int(P)][c & 3]);
  }
};

Flow logic_of_three(Warp& w, const Instruction& i, uint32_t mask) {
  const uint32_t* const a = w.lane_values<uint32_t>(i.op[1]);
  const uint32_t* const b = w.lane_values<uint32_t>(i.op[2]);
  const uint32_t* const c = w.lane_values<uint32_t>(i.op[3]);
  const uint32_t table = *w.lane_values<uint32_t>(i.op[4]);
  uint32_t term[8];
  for (unsigned k = 0; k < 8; ++k) term[k] = 0 - (table >> k & 1);
  assign(w.lane_values<uint32_t>(i.op[0]), mask, [=](unsigned l) LANE_FN {
    const uint32_t x = a[l], y = b[l], z = c[l];
    return (~x & ~y & ~z & term[0]) | (~x & ~y & z & term[1]) | (~x & y & ~z & term[2]) | (~x & y & z & term[3]) |
           (x & ~y & ~z & term[4]) | (x & ~y & z & term[5]) | (x & y & ~z & term[6]) | (x & y & z & term[7]);
  });
  return Flow::next;
}

struct NthSet {  // the position of the offset-th set bit of mask, from base upwards or downwards
  static uint32_t of(uint32_t bits, uint32_t base, int32_t offset) {
    if (offset == 0) return bits >> (base & 31) & 1 ? base & 31 : ~uint32_t(0);
    const int step = offset > 0 ? 1 : -1;
    for (int at = int(base & 31); at >= 0 && at < 32; at += step)
      if (bits >> at & 1 && (offset -= step) == 0) return uint32_t(at);
    return ~uint32_t(0);
  }
};

template <bool Signed, bool Wrap>
struct Extend {  // szext: the low n bits, extended
  static uint32_t of(uint32_t a, uint32_t n) {
    const uint32_t count = Wrap ? n & 31 : n > 32 ? 32 : n;
    if (count == 0) return 0;
    const uint32_t up = a << (32 - count);
    return Signed ? uint32_t(int32_t(up) >> (32 - count)) : up >> (32 - count);
  }
};
template <bool Wrap>
struct MakeMask {  // bmsk
  static uint32_t of(uint32_t from, uint32_t count) {
    const uint32_t a = Wrap ? from & 31 : from, b = Wrap ? count & 31 : count;
    if (a >= 32 || b == 0) return 0;
    return (b >= 32 ? ~uint32_t(0) : (uint32_t(1) << b) - 1) << a;
  }
};

template <class F>
Flow of_predicates(Warp& w, const Instruction& i, uint32_t mask) {
  set_predicate(w.predicate(i.op[0]), mask, F::of(read_predicate(w, i.op[1]), read_predicate(w, i.op[2])));
  return Flow::next;
}
Flow not_predicate(Warp& w, const Instruction& i, uint32_t mask) {
  set_predicate(w.predicate(i.op[0]), mask, ~read_predicate(w, i.op[1]));
  return Flow::next;
}

template <class F>
Choice logic(Type t) {
  switch (ptx::bytes_of(t)) {
    case 0: return {of_predicates<F>, Kind::predicate};
    case 2: return {binary<uint16_t, F>, Kind::integer};
    case 4: return {binary<uint32_t, F>, Kind::integer};
    case 8: return {binary<uint64_t, F>, Kind::integer};
    default: return {};
  }
}
template <class F>
Handler unary_logic(Type t) {
  const unsigned bytes = ptx::bytes_of(t);
  return bytes == 2   ? unary_of<uint16_t, F>
         : bytes == 4 ? unary_of<uint32_t, F>
         : bytes == 8 ? unary_of<uint64_t, F>
                      : nullptr;
}
template <class F>
Handler count_of(Type t) {
  return ptx::bytes_of(t) == 4   ? unary<uint32_t, uint32_t, F>
         : ptx::bytes_of(t) == 8 ? narrow<uint32_t, uint64_t, F>
                                 : nullptr;
}

Handler right_shift(Type t) {
  switch (t) {
    case Type::s16: return shift<int16_t, ShiftRight>;
    case Type::s32: return shift<int32_t, ShiftRight>;
    case Type::s64: return shift<int64_t, ShiftRight>;
    default:
      return ptx::bytes_of(t) == 2   ? shift<uint16_t, ShiftRight>
             : ptx::bytes_of(t) == 4 ? shift<uint32_t, ShiftRight>
             : ptx::bytes_of(t) == 8 ? shift<uint64_t, ShiftRight>
                                     : nullptr;
  }
}

Handler highest_of(const Form& f) {
  const bool amount = f.has("shiftamt");
  switch (f.type()) {
    case Type::u32:
      return amount ? narrow<uint32_t, uint32_t, FindHighest<true>> : narrow<uint32_t, uint32_t, FindHighest<false>>;
    case Type::s32:
      return amount ? narrow<uint32_t, int32_t, FindHighest<true>> : narrow<uint32_t, int32_t, FindHighest<false>>;
    case Type::u64:
      return amount ? narrow<uint32_t, uint64_t, FindHighest<true>> : narrow<uint32_t, uint64_t, FindHighest<false>>;
    case Type::s64:
      return amount ? narrow<uint32_t, int64_t, FindHighest<true>> : narrow<uint32_t, int64_t, FindHighest<false>>;
    default: return nullptr;
  }
}

Handler permute_of(const Form& f) {
  if (f.has("f4e")) return ternary_of<uint32_t, PermuteBy<Pattern::f4e>>;
  if (f.has("b4e")) return ternary_of<uint32_t, PermuteBy<Pattern::b4e>>;
  if (f.has("rc8")) return ternary_of<uint32_t, PermuteBy<Pattern::rc8>>;
  if (f.has("ecl")) return ternary_of<uint32_t, PermuteBy<Pattern::ecl>>;
  if (f.has("ecr")) return ternary_of<uint32_t, PermuteBy<Pattern::ecr>>;
  if (f.has("rc16")) return ternary_of<uint32_t, PermuteBy<Pattern::rc16>>;
  return ternary_of<uint32_t, Permute>;
}

Handler find(const Form& f) {
  const Type t = f.type();
  const bool wraps = f.has("wrap");
  if (f.base == "not") return unary_logic<Not>(t);
  if (f.base == "cnot") return unary_logic<Cnot>(t);
  if (f.base == "shl")
    return ptx::bytes_of(t) == 2   ? shift<uint16_t, ShiftLeft>
           : ptx::bytes_of(t) == 4 ? shift<uint32_t, ShiftLeft>
           : ptx::bytes_of(t) == 8 ? shift<uint64_t, ShiftLeft>
                                   : nullptr;
  if (f.base == "shr") return right_shift(t);
  if (f.base == "shf" && f.has("l"))
    return wraps ? ternary_of<uint32_t, Funnel<true, true>> : ternary_of<uint32_t, Funnel<true, false>>;
  if (f.base == "shf")
    return wraps ? ternary_of<uint32_t, Funnel<false, true>> : ternary_of<uint32_t, Funnel<false, false>>;
  if (f.base == "brev") return ptx::bytes_of(t) == 4 ? unary_of<uint32_t, Reverse> : unary_of<uint64_t, Reverse>;
  if (f.base == "popc") return count_of<Population>(t);
  if (f.base == "clz") return count_of<LeadingZeros>(t);
  if (f.base == "bfind") return highest_of(f);
  if (f.base == "bfe")
    return t == Type::u32   ? extract_field<uint32_t>
           : t == Type::s32 ? extract_field<int32_t>
           : t == Type::u64 ? extract_field<uint64_t>
           : t == Type::s64 ? extract_field<int64_t>
                            : nullptr;
  if (f.base == "bfi") return ptx::bytes_of(t) == 4 ? insert_field<uint32_t> : insert_field<uint64_t>;
  if (f.base == "prmt") return permute_of(f);
  if (f.base == "lop3") return f.count == 1 ? logic_of_three : nullptr;
  if (f.base == "fns") return ternary<uint32_t, uint32_t, uint32_t, int32_t, NthSet>;
  if (f.base == "szext" && t == Type::s32)
    return wraps ? binary<uint32_t, Extend<true, true>> : binary<uint32_t, Extend<true, false>>;
  if (f.base == "szext") return wraps ? binary<uint32_t, Extend<false, true>> : binary<uint32_t, Extend<false, false>>;
  if (f.base == "bmsk") return wraps ? binary<uint32_t, MakeMask<true>> : binary<uint32_t, MakeMask<false>>;
  return nullptr;
}

}  // namespace

Choice select_bits(const Form& f) {
  if (f.base == "and") return logic<And>(f.type());
  if (f.base == "or") return logic<Or>(f.type());
  if (f.base == "xor") return logic<Xor>(f.type());
  if (f.base == "not" && f.type() == Type::pred) return {not_predicate, Kind::predicate};
  return {find(f), Kind::integer};
}

}  // namespace stator::emulator::machine
