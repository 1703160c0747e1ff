// Arithmetic in single and double precision, rounded to nearest.
#include "emulator/machine/level/floats.hpp"

namespace stator::emulator::machine {
namespace {

struct Add {
  template <class T>
  static T of(T a, T b) {
    return a + b;
  }
};
struct Sub {
  template <class T>
  static T of(T a, T b) {
    return a - b;
  }
};
struct Mul {
  template <class T>
  static T of(T a, T b) {
    return a * b;
  }
};
struct Div {
  template <class T>
  static T of(T a, T b) {
    return a / b;
  }
};
struct Fma {
  static float of(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
  static double of(double a, double b, double c) { return __builtin_fma(a, b, c); }
};
struct Root {
  static float of(float a) { return __builtin_sqrtf(a); }
  static double of(double a) { return __builtin_sqrt(a); }
};
struct Reciprocal {
  template <class T>
  static T of(T a) {
    return T(1) / a;
  }
};

template <class T>
T as_float(uint64_t bits);
template <>
inline float as_float<float>(uint64_t bits) {
  return std::bit_cast<float>(uint32_t(bits));
}
template <>
inline double as_float<double>(uint64_t bits) {
  return std::bit_cast<double>(bits);
}
inline uint32_t bits_of(float v) { return std::bit_cast<uint32_t>(v); }
inline uint64_t bits_of(double v) { return std::bit_cast<uint64_t>(v); }

struct Abs {
  template <class T>
  static T of(T a) {
    return as_float<T>(bits_of(a) << 1 >> 1);
  }
};
struct Neg {
  template <class T>
  static T of(T a) {
    using B = decltype(bits_of(a));
    return as_float<T>(bits_of(a) ^ (B(1) << (8 * sizeof(T) - 1)));
  }
};
struct CopySign {  // the sign of a with the magnitude of b
  template <class T>
  static T of(T a, T b) {
    using B = decltype(bits_of(a));
    const B sign = B(1) << (8 * sizeof(T) - 1);
    return as_float<T>((bits_of(a) & sign) | (bits_of(b) & ~sign));
  }
};
// The operand that is a number wins over NaN, unless NaN is asked for; -0 is less than +0.
template <bool Max, bool Nan>
struct Extreme {
  template <class T>
  static T of(T a, T b) {
    const bool a_nan = a != a, b_nan = b != b;
    const bool less = a < b || (a == b && bits_of(a) > bits_of(b));  // of equal values only zeros differ in their bits
    const T chosen = less == Max ? b : a;
    if (Nan) return a_nan || b_nan ? as_float<T>(sizeof(T) == 4 ? 0x7fffffff : 0x7ff8000000000000) : chosen;
    return a_nan ? b : b_nan ? a : chosen;
  }
};

template <class T, class F, bool Ftz, bool Sat>
struct Unary {
  static T of(T a) { return result<Ftz, Sat>(F::of(in<Ftz>(a))); }
};
template <class T, class F, bool Ftz, bool Sat>
struct Binary {
  static T of(T a, T b) { return result<Ftz, Sat>(F::of(in<Ftz>(a), in<Ftz>(b))); }
};
template <class T, class F, bool Ftz, bool Sat>
struct Ternary {
  static T of(T a, T b, T c) { return result<Ftz, Sat>(F::of(in<Ftz>(a), in<Ftz>(b), in<Ftz>(c))); }
};
template <class F, bool Ftz>
struct SignOnly {
  static float of(float a) { return in<Ftz>(F::of(a)); }
  static double of(double a) { return F::of(a); }
};

template <class F>
Handler binary_float(const Form& f) {
  if (f.type() == Type::f64) return f.sat || f.ftz ? nullptr : binary<double, Binary<double, F, false, false>>;
  if (f.type() != Type::f32) return nullptr;
  if (f.ftz) return f.sat ? binary<float, Binary<float, F, true, true>> : binary<float, Binary<float, F, true, false>>;
  return f.sat ? binary<float, Binary<float, F, false, true>> : binary<float, Binary<float, F, false, false>>;
}

template <class F>
Handler ternary_float(const Form& f) {
  if (f.type() == Type::f64) return f.sat || f.ftz ? nullptr : ternary_of<double, Ternary<double, F, false, false>>;
  if (f.type() != Type::f32) return nullptr;
  if (f.ftz)
    return f.sat ? ternary_of<float, Ternary<float, F, true, true>> : ternary_of<float, Ternary<float, F, true, false>>;
  return f.sat ? ternary_of<float, Ternary<float, F, false, true>> : ternary_of<float, Ternary<float, F, false, false>>;
}

template <class F>
Handler unary_float(const Form& f) {
  if (f.type() == Type::f64) return unary_of<double, Unary<double, F, false, false>>;
  if (f.type() != Type::f32) return nullptr;
  return f.ftz ? unary_of<float, Unary<float, F, true, false>> : unary_of<float, Unary<float, F, false, false>>;
}

template <class F>
Handler sign_only(const Form& f) {
  if (f.type() == Type::f64) return unary_of<double, SignOnly<F, false>>;
  if (f.type() != Type::f32) return nullptr;
  return f.ftz ? unary_of<float, SignOnly<F, true>> : unary_of<float, SignOnly<F, false>>;
}

// testp: a class of values, into a predicate.
enum class Test { finite, infinite, number, nan, normal, subnormal };
template <class T, Test C>
Flow test_property(Warp& w, const Instruction& i, uint32_t mask) {
  const T* const a = w.lane_values<T>(i.op[1]);
  constexpr T top = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::min();
  const uint32_t bits = lanes_where([=](unsigned l) LANE_FN {
    const T v = Abs::of(a[l]);
    return C == Test::finite     ? v <= top
           : C == Test::infinite ? v > top
           : C == Test::number   ? v == v
           : C == Test::nan      ? v != v
           : C == Test::normal   ? v >= least && v <= top
                                 : v < least && v != 0;
  });
  set_predicate(w.predicate(i.op[0]), mask, bits);
  return Flow::next;
}
template <Test C>
Handler test_of(const Form& f) {
  return f.type() == Type::f64 ? test_property<double, C> : test_property<float, C>;
}

Handler find(const Form& f) {
  const bool nearest = f.rounding == Rounding::none || f.rounding == Rounding::rn;
  if (f.base == "min" || f.base == "max") {
    if (f.has("xorsign")) return nullptr;
    if (f.base == "max")
      return f.has("NaN") ? binary_float<Extreme<true, true>>(f) : binary_float<Extreme<true, false>>(f);
    return f.has("NaN") ? binary_float<Extreme<false, true>>(f) : binary_float<Extreme<false, false>>(f);
  }
  if (f.base == "abs") return sign_only<Abs>(f);
  if (f.base == "neg") return sign_only<Neg>(f);
  if (f.base == "copysign") return f.type() == Type::f64 ? binary<double, CopySign> : binary<float, CopySign>;
  if (f.base == "testp") {
    if (f.has("finite")) return test_of<Test::finite>(f);
    if (f.has("infinite")) return test_of<Test::infinite>(f);
    if (f.has("number")) return test_of<Test::number>(f);
    if (f.has("notanumber")) return test_of<Test::nan>(f);
    return f.has("normal") ? test_of<Test::normal>(f) : test_of<Test::subnormal>(f);
  }
  if (!nearest || f.has("approx") || f.has("full")) return nullptr;
  if (f.base == "add") return binary_float<Add>(f);
  if (f.base == "sub") return binary_float<Sub>(f);
  if (f.base == "mul") return binary_float<Mul>(f);
  if (f.base == "div") return binary_float<Div>(f);
  if (f.base == "fma" || f.base == "mad") return ternary_float<Fma>(f);
  if (f.base == "sqrt") return unary_float<Root>(f);
  if (f.base == "rcp") return unary_float<Reciprocal>(f);
  return nullptr;
}

}  // namespace

Choice select_float(const Form& f) {
  if ((f.type() != Type::f32 && f.type() != Type::f64) || f.type_count != 1) return {};
  return {find(f), f.type() == Type::f64 ? Kind::f64 : Kind::f32};
}

}  // namespace stator::emulator::machine
