// Products of full width, dot products of bytes, and arithmetic with a carry.
#include "emulator/machine/level/lanes.hpp"

namespace stator::emulator::machine {
namespace {

template <class T>
struct Twice;
template <>
struct Twice<uint16_t> {
  using type = uint32_t;
};
template <>
struct Twice<int16_t> {
  using type = int32_t;
};
template <>
struct Twice<uint32_t> {
  using type = uint64_t;
};
template <>
struct Twice<int32_t> {
  using type = int64_t;
};
template <>
struct Twice<uint64_t> {
  using type = unsigned __int128;
};
template <>
struct Twice<int64_t> {
  using type = __int128;
};

template <class T>
T high_of(T a, T b) {
  using W = typename Twice<T>::type;
  return T((W(a) * W(b)) >> (8 * sizeof(T)));
}

struct MulHigh {
  template <class T>
  static T of(T a, T b) {
    return high_of(a, b);
  }
};
struct MadHigh {
  template <class T>
  static T of(T a, T b, T c) {
    using U = std::make_unsigned_t<T>;  // the sum wraps
    return T(U(U(high_of(a, b)) + U(c)));
  }
};
struct MadHighSaturated {
  static int32_t of(int32_t a, int32_t b, int32_t c) {
    const int64_t v = int64_t(high_of(a, b)) + c;
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : int32_t(v);
  }
};

template <class T>
Flow mul_wide(Warp& w, const Instruction& i, uint32_t mask) {
  using W = typename Twice<T>::type;
  const T* const a = w.lane_values<T>(i.op[1]);
  const T* const b = w.lane_values<T>(i.op[2]);
  // The result is wider than the operands, whose slot it may share.
  alignas(64) W product[lanes];
  for (unsigned l = 0; l < lanes; ++l) product[l] = W(a[l]) * W(b[l]);
  assign(w.lane_values<W>(i.op[0]), mask, [&](unsigned l) LANE_FN { return product[l]; });
  return Flow::next;
}

template <class T>
Flow mad_wide(Warp& w, const Instruction& i, uint32_t mask) {
  using W = typename Twice<T>::type;
  using U = std::make_unsigned_t<W>;
  const T* const a = w.lane_values<T>(i.op[1]);
  const T* const b = w.lane_values<T>(i.op[2]);
  const W* const c = w.lane_values<W>(i.op[3]);
  alignas(64) W sum[lanes];
  for (unsigned l = 0; l < lanes; ++l) sum[l] = W(U(W(a[l]) * W(b[l])) + U(c[l]));
  assign(w.lane_values<W>(i.op[0]), mask, [&](unsigned l) LANE_FN { return sum[l]; });
  return Flow::next;
}

template <class T, bool High>
struct Mul24 {  // of the low 24 bits; the low or the high 32 of the 48-bit product
  static T of(T a, T b) {
    const auto cut = [](T v) {
      return T(-1) < T(0) ? int64_t(int32_t(uint32_t(v) << 8) >> 8) : int64_t(uint32_t(v) & 0xffffff);
    };
    return T(cut(a) * cut(b) >> (High ? 16 : 0));
  }
  static T of(T a, T b, T c) { return T(uint32_t(of(a, b)) + uint32_t(c)); }
};

template <class A, class B>
Flow dp4a(Warp& w, const Instruction& i, uint32_t mask) {
  const uint32_t* const a = w.lane_values<uint32_t>(i.op[1]);
  const uint32_t* const b = w.lane_values<uint32_t>(i.op[2]);
  const uint32_t* const c = w.lane_values<uint32_t>(i.op[3]);
  assign(w.lane_values<uint32_t>(i.op[0]), mask, [=](unsigned l) LANE_FN {
    uint32_t sum = c[l];
    for (unsigned k = 0; k < 32; k += 8) sum += uint32_t(int32_t(A(a[l] >> k)) * int32_t(B(b[l] >> k)));
    return sum;
  });
  return Flow::next;
}

template <class A, class B, bool High>
Flow dp2a(Warp& w, const Instruction& i, uint32_t mask) {
  using A16 = std::conditional_t<(A(-1) < A(0)), int16_t, uint16_t>;
  const uint32_t* const a = w.lane_values<uint32_t>(i.op[1]);
  const uint32_t* const b = w.lane_values<uint32_t>(i.op[2]);
  const uint32_t* const c = w.lane_values<uint32_t>(i.op[3]);
  assign(w.lane_values<uint32_t>(i.op[0]), mask, [=](unsigned l) LANE_FN {
    const uint32_t bytes = b[l] >> (High ? 16 : 0);
    return c[l] + uint32_t(int32_t(A16(a[l])) * int32_t(B(bytes))) +
           uint32_t(int32_t(A16(a[l] >> 16)) * int32_t(B(bytes >> 8)));
  });
  return Flow::next;
}

// a + b + carry in; a borrow is a carry of the complement, as PTX has it: set when nothing is borrowed is not, so the
// bit itself says "borrow".
template <class T, bool Subtract, bool In, bool Out>
Flow carry_add(Warp& w, const Instruction& i, uint32_t mask) {
  const T* const a = w.lane_values<T>(i.op[1]);
  const T* const b = w.lane_values<T>(i.op[2]);
  T* const d = w.lane_values<T>(i.op[0]);
  uint32_t carry = 0;
  for (unsigned l = 0; l < lanes; ++l) {
    const T in = In ? T(w.carry >> l & 1) : 0;
    T partial, result;
    bool over;
    if (Subtract) {
      over = __builtin_sub_overflow(a[l], b[l], &partial);
      over |= __builtin_sub_overflow(partial, in, &result);
    } else {
      over = __builtin_add_overflow(a[l], b[l], &partial);
      over |= __builtin_add_overflow(partial, in, &result);
    }
    if (!on(mask, l)) continue;
    d[l] = result;
    carry |= uint32_t(over) << l;
  }
  if (Out) set_predicate(w.carry, mask, carry);
  return Flow::next;
}

template <class T, bool High, bool In, bool Out>
Flow carry_mad(Warp& w, const Instruction& i, uint32_t mask) {
  using U = std::make_unsigned_t<T>;
  const T* const a = w.lane_values<T>(i.op[1]);
  const T* const b = w.lane_values<T>(i.op[2]);
  const U* const c = w.lane_values<U>(i.op[3]);
  U* const d = w.lane_values<U>(i.op[0]);
  uint32_t carry = 0;
  for (unsigned l = 0; l < lanes; ++l) {
    const U product = High ? U(high_of(a[l], b[l])) : U(U(a[l]) * U(b[l]));
    U partial, result;
    bool over = __builtin_add_overflow(product, c[l], &partial);
    over |= __builtin_add_overflow(partial, U(In ? w.carry >> l & 1 : 0), &result);
    if (!on(mask, l)) continue;
    d[l] = result;
    carry |= uint32_t(over) << l;
  }
  if (Out) set_predicate(w.carry, mask, carry);
  return Flow::next;
}

template <template <class> class F>
Handler by_type(Type t) {
  switch (t) {
    case Type::u16: return F<uint16_t>::run;
    case Type::s16: return F<int16_t>::run;
    case Type::u32: return F<uint32_t>::run;
    case Type::s32: return F<int32_t>::run;
    case Type::u64: return F<uint64_t>::run;
    case Type::s64: return F<int64_t>::run;
    default: return nullptr;
  }
}
template <class T>
struct HighProduct {
  static constexpr Handler run = binary<T, MulHigh>;
};
template <class T>
struct HighSum {
  static constexpr Handler run = ternary_of<T, MadHigh>;
};

Handler mul_wide_of(Type t) {
  switch (t) {
    case Type::u16: return mul_wide<uint16_t>;
    case Type::s16: return mul_wide<int16_t>;
    case Type::u32: return mul_wide<uint32_t>;
    case Type::s32: return mul_wide<int32_t>;
    default: return nullptr;
  }
}

Handler mad_wide_of(Type t) {
  switch (t) {
    case Type::u16: return mad_wide<uint16_t>;
    case Type::s16: return mad_wide<int16_t>;
    case Type::u32: return mad_wide<uint32_t>;
    case Type::s32: return mad_wide<int32_t>;
    default: return nullptr;
  }
}

template <bool Subtract, bool In>
Handler carry_of(Type t, bool out) {
  if (ptx::bytes_of(t) == 4)
    return out ? carry_add<uint32_t, Subtract, In, true> : carry_add<uint32_t, Subtract, In, false>;
  if (ptx::bytes_of(t) == 8)
    return out ? carry_add<uint64_t, Subtract, In, true> : carry_add<uint64_t, Subtract, In, false>;
  return nullptr;
}

template <class T, bool High>
Handler carry_mad_typed(bool in, bool out) {
  if (in) return out ? carry_mad<T, High, true, true> : carry_mad<T, High, true, false>;
  return out ? carry_mad<T, High, false, true> : nullptr;
}

Handler carry_mad_of(const Form& f, bool in) {
  const bool high = f.has("hi"), out = f.has("cc");
  switch (f.type()) {
    case Type::u32: return high ? carry_mad_typed<uint32_t, true>(in, out) : carry_mad_typed<uint32_t, false>(in, out);
    case Type::s32: return high ? carry_mad_typed<int32_t, true>(in, out) : carry_mad_typed<int32_t, false>(in, out);
    case Type::u64: return high ? carry_mad_typed<uint64_t, true>(in, out) : carry_mad_typed<uint64_t, false>(in, out);
    case Type::s64: return high ? carry_mad_typed<int64_t, true>(in, out) : carry_mad_typed<int64_t, false>(in, out);
    default: return nullptr;
  }
}

template <bool High>
Handler mul24_of(Type t, bool add) {
  if (t == Type::u32)
    return add ? ternary_of<uint32_t, Mul24<uint32_t, High>> : binary<uint32_t, Mul24<uint32_t, High>>;
  if (t == Type::s32) return add ? ternary_of<int32_t, Mul24<int32_t, High>> : binary<int32_t, Mul24<int32_t, High>>;
  return nullptr;
}

Handler dot_of(const Form& f) {
  const bool a = f.types[0] == Type::s32, b = f.types[1] == Type::s32;
  if (f.base == "dp4a")
    return a ? (b ? dp4a<int8_t, int8_t> : dp4a<int8_t, uint8_t>)
             : (b ? dp4a<uint8_t, int8_t> : dp4a<uint8_t, uint8_t>);
  if (f.has("hi"))
    return a ? (b ? dp2a<int8_t, int8_t, true> : dp2a<int8_t, uint8_t, true>)
             : (b ? dp2a<uint8_t, int8_t, true> : dp2a<uint8_t, uint8_t, true>);
  return a ? (b ? dp2a<int8_t, int8_t, false> : dp2a<int8_t, uint8_t, false>)
           : (b ? dp2a<uint8_t, int8_t, false> : dp2a<uint8_t, uint8_t, false>);
}

Handler find(const Form& f) {
  const Type t = f.type();
  if (f.base == "mul") return f.has("wide") ? mul_wide_of(t) : f.has("hi") ? by_type<HighProduct>(t) : nullptr;
  if (f.base == "mad" && f.has("wide")) return mad_wide_of(t);
  if (f.base == "mad" && f.has("cc")) return carry_mad_of(f, false);
  if (f.base == "madc") return carry_mad_of(f, true);
  if (f.base == "mad" && f.has("hi"))
    return !f.sat ? by_type<HighSum>(t) : t == Type::s32 ? ternary_of<int32_t, MadHighSaturated> : nullptr;
  if (f.base == "mul24" || f.base == "mad24")
    return f.has("hi") ? mul24_of<true>(t, f.base == "mad24") : mul24_of<false>(t, f.base == "mad24");
  if (f.base == "add") return carry_of<false, false>(t, true);
  if (f.base == "addc") return carry_of<false, true>(t, f.has("cc"));
  if (f.base == "sub") return carry_of<true, false>(t, true);
  if (f.base == "subc") return carry_of<true, true>(t, f.has("cc"));
  if ((f.base == "dp4a" || f.base == "dp2a") && f.type_count == 2) return dot_of(f);
  return nullptr;
}

}  // namespace

Choice select_wide(const Form& f) { return {ptx::is_float(f.type()) ? nullptr : find(f), Kind::integer}; }

}  // namespace stator::emulator::machine
