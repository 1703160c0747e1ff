// Arithmetic of integers.
#include "emulator/machine/level/lanes.hpp"

namespace stator::emulator::machine {
namespace {

struct Add {
  template <class T>
  static T of(T a, T b) {
    return T(a + b);
  }
};
struct Sub {
  template <class T>
  static T of(T a, T b) {
    return T(a - b);
  }
};
struct MulLow {
  template <class T>
  static T of(T a, T b) {
    return T(uint64_t(a) * uint64_t(b));
  }
  static uint32_t of(uint32_t a, uint32_t b) { return a * b; }
};
struct MadLow {
  template <class T>
  static T of(T a, T b, T c) {
    return T(MulLow::of(a, b) + c);
  }
};
// A quotient by zero has all bits set; so has the remainder the dividend.
struct Div {
  template <class T>
  static T of(T a, T b) {
    if (b == 0) return T(-1);
    if (T(-1) < T(0) && b == T(-1)) return T(0 - std::make_unsigned_t<T>(a));
    return T(a / b);
  }
};
struct Rem {
  template <class T>
  static T of(T a, T b) {
    if (b == 0) return a;
    if (T(-1) < T(0) && b == T(-1)) return 0;
    return T(a % b);
  }
};
struct Min {
  template <class T>
  static T of(T a, T b) {
    return a < b ? a : b;
  }
};
struct Max {
  template <class T>
  static T of(T a, T b) {
    return a < b ? b : a;
  }
};
struct Abs {
  template <class T>
  static T of(T a) {
    return a < 0 ? T(0 - std::make_unsigned_t<T>(a)) : a;
  }
};
struct Neg {
  template <class T>
  static T of(T a) {
    return T(0 - std::make_unsigned_t<T>(a));
  }
};
struct Sad {
  template <class T>
  static T of(T a, T b, T c) {
    using U = std::make_unsigned_t<T>;
    return T(U(c) + (a < b ? U(b) - U(a) : U(a) - U(b)));
  }
};
template <class F>
struct Saturated {  // of 32-bit signed values
  static int32_t of(int32_t a, int32_t b) { return clamp(F::template of<int64_t>(a, b)); }
  static int32_t clamp(int64_t v) { return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : int32_t(v); }
};
template <class T, class F>
struct Pair {  // two 16-bit values in a register
  static uint32_t of(uint32_t a, uint32_t b) {
    const uint16_t low = uint16_t(F::template of<T>(T(a), T(b)));
    const uint16_t high = uint16_t(F::template of<T>(T(a >> 16), T(b >> 16)));
    return uint32_t(high) << 16 | low;
  }
};

// For operations whose result does not depend on the sign.
template <class F>
Handler plain(Type t) {
  switch (ptx::bytes_of(t)) {
    case 2: return binary<uint16_t, F>;
    case 4: return binary<uint32_t, F>;
    case 8: return binary<uint64_t, F>;
    default: return nullptr;
  }
}

template <class F>
Handler by_type(Type t) {
  switch (t) {
    case Type::u16: return binary<uint16_t, F>;
    case Type::u32: return binary<uint32_t, F>;
    case Type::u64: return binary<uint64_t, F>;
    case Type::s16: return binary<int16_t, F>;
    case Type::s32: return binary<int32_t, F>;
    case Type::s64: return binary<int64_t, F>;
    default: return nullptr;
  }
}

template <class F>
Handler signed_unary(Type t) {
  switch (t) {
    case Type::s16: return unary_of<int16_t, F>;
    case Type::s32: return unary_of<int32_t, F>;
    case Type::s64: return unary_of<int64_t, F>;
    default: return nullptr;
  }
}

template <class F>
Handler by_type_three(Type t) {
  switch (t) {
    case Type::u16: return ternary_of<uint16_t, F>;
    case Type::u32: return ternary_of<uint32_t, F>;
    case Type::u64: return ternary_of<uint64_t, F>;
    case Type::s16: return ternary_of<int16_t, F>;
    case Type::s32: return ternary_of<int32_t, F>;
    case Type::s64: return ternary_of<int64_t, F>;
    default: return nullptr;
  }
}

template <class F>
Handler pair(Type t) {
  return t == Type::u16x2 ? binary<uint32_t, Pair<uint16_t, F>> : binary<uint32_t, Pair<int16_t, F>>;
}

Handler find(const Form& f) {
  const Type t = f.type();
  const bool packed = t == Type::u16x2 || t == Type::s16x2;
  const bool carries = f.has("cc");
  if (f.base == "add" && f.sat) return t == Type::s32 ? binary<int32_t, Saturated<Add>> : nullptr;
  if (f.base == "sub" && f.sat) return t == Type::s32 ? binary<int32_t, Saturated<Sub>> : nullptr;
  if (f.base == "add" && !carries) return packed ? pair<Add>(t) : plain<Add>(t);
  if (f.base == "sub" && !carries) return packed ? pair<Sub>(t) : plain<Sub>(t);
  if ((f.base == "mul" || f.base == "mul24") && f.has("lo") && f.base == "mul") return plain<MulLow>(t);
  if (f.base == "mad" && f.has("lo") && !carries && !f.sat) return by_type_three<MadLow>(t);
  if (f.base == "div") return by_type<Div>(t);
  if (f.base == "rem") return by_type<Rem>(t);
  if (f.base == "min") return f.has("relu") ? nullptr : packed ? pair<Min>(t) : by_type<Min>(t);
  if (f.base == "max") return f.has("relu") ? nullptr : packed ? pair<Max>(t) : by_type<Max>(t);
  if (f.base == "abs") return signed_unary<Abs>(t);
  if (f.base == "neg") return signed_unary<Neg>(t);
  if (f.base == "sad") return by_type_three<Sad>(t);
  return nullptr;
}

}  // namespace

Choice select_integer(const Form& f) { return {ptx::is_float(f.type()) ? nullptr : find(f), Kind::integer}; }

}  // namespace stator::emulator::machine
