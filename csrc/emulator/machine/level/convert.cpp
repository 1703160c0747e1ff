// cvt. A conversion is three loops: the source's lanes are widened, converted, and stored with the destination's width.
#include "emulator/machine/level/floats.hpp"
#include "emulator/machine/level/small_float.hpp"

#include <cmath>

namespace stator::emulator::machine {
namespace {

template <class T>
struct Lanes {
  alignas(64) T v[lanes];
};

// A lane's value as the type says, from a register that may be wider. This and store are calls, since each conversion
// would compile their loops again.
template <class T>
__attribute__((noinline)) void widen(const Warp& w, const Operand& o, Lanes<T>& to) {
  switch (o.bytes) {
    case 1:
      for (unsigned l = 0; l < lanes; ++l) to.v[l] = T(w.lane_values<uint8_t>(o)[l]);
      break;
    case 2:
      for (unsigned l = 0; l < lanes; ++l) to.v[l] = T(w.lane_values<uint16_t>(o)[l]);
      break;
    case 4:
      for (unsigned l = 0; l < lanes; ++l) to.v[l] = T(w.lane_values<uint32_t>(o)[l]);
      break;
    default:
      for (unsigned l = 0; l < lanes; ++l) to.v[l] = T(w.lane_values<uint64_t>(o)[l]);
      break;
  }
}

// The value extended to the register's width.
template <class T>
__attribute__((noinline)) void store(const Warp& w, const Operand& o, uint32_t mask, const Lanes<T>& from) {
  switch (o.bytes) {
    case 2: assign(w.lane_values<uint16_t>(o), mask, [&](unsigned l) LANE_FN { return uint16_t(from.v[l]); }); break;
    case 4: assign(w.lane_values<uint32_t>(o), mask, [&](unsigned l) LANE_FN { return uint32_t(from.v[l]); }); break;
    default: assign(w.lane_values<uint64_t>(o), mask, [&](unsigned l) LANE_FN { return uint64_t(from.v[l]); }); break;
  }
}

template <class D, class S>
Flow between_integers(Warp& w, const Instruction& i, uint32_t mask) {
  Lanes<S> a;
  Lanes<D> d;
  widen(w, i.op[1], a);
  using Limits = std::numeric_limits<D>;
  if (!i.sat)
    for (unsigned l = 0; l < lanes; ++l) d.v[l] = D(a.v[l]);
  else
    for (unsigned l = 0; l < lanes; ++l) {
      const __int128 v = a.v[l];
      d.v[l] = v < Limits::min() ? Limits::min() : v > Limits::max() ? Limits::max() : D(v);
    }
  store(w, i.op[0], mask, d);
  return Flow::next;
}

template <class S>
Handler integer_to(const Form& f) {
  switch (f.types[0]) {
    case Type::u8: return between_integers<uint8_t, S>;
    case Type::u16: return between_integers<uint16_t, S>;
    case Type::u32: return between_integers<uint32_t, S>;
    case Type::u64: return between_integers<uint64_t, S>;
    case Type::s8: return between_integers<int8_t, S>;
    case Type::s16: return between_integers<int16_t, S>;
    case Type::s32: return between_integers<int32_t, S>;
    case Type::s64: return between_integers<int64_t, S>;
    default: return nullptr;
  }
}

// Floating formats as the values that they hold: f64 and f32 as themselves, the 16-bit ones as double.
struct AsF64 {
  using Value = double;
  static void read(const Warp& w, const Operand& o, Lanes<double>& to) {
    std::memcpy(to.v, w.lane_values<double>(o), sizeof to.v);
  }
};
struct AsF32 {
  using Value = float;
  static void read(const Warp& w, const Operand& o, Lanes<float>& to) {
    std::memcpy(to.v, w.lane_values<float>(o), sizeof to.v);
  }
};
struct AsF16 {
  using Value = float;  // exact
  __attribute__((noinline)) static void read(const Warp& w, const Operand& o, Lanes<float>& to) {
    const uint16_t* const a = w.lane_values<uint16_t>(o);
    for (unsigned l = 0; l < lanes; ++l) {
      // The exponent is rebiased by a product, which makes subnormal numbers normal too.
      const uint32_t magnitude = uint32_t(a[l] & 0x7fff) << 13;
      const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
      const uint32_t top = (a[l] & 0x7c00) == 0x7c00 ? 0x7f800000 | magnitude : std::bit_cast<uint32_t>(scaled);
      to.v[l] = std::bit_cast<float>(top | uint32_t(a[l] & 0x8000) << 16);
    }
  }
};
struct AsBf16 {
  using Value = float;
  static void read(const Warp& w, const Operand& o, Lanes<float>& to) {
    const uint16_t* const a = w.lane_values<uint16_t>(o);
    for (unsigned l = 0; l < lanes; ++l) to.v[l] = std::bit_cast<float>(uint32_t(a[l]) << 16);
  }
};

template <class T>
T to_integral(T v, Rounding r) {
  switch (r) {
    case Rounding::rzi: return std::trunc(v);
    case Rounding::rmi: return std::floor(v);
    case Rounding::rpi: return std::ceil(v);
    default: return std::nearbyint(v);
  }
}

template <class R, class D, Rounding I>
Flow float_to_integer(Warp& w, const Instruction& i, uint32_t mask) {
  Lanes<typename R::Value> a;
  Lanes<D> d;
  R::read(w, i.op[1], a);
  if (i.ftz)
    for (unsigned l = 0; l < lanes; ++l) a.v[l] = flush(a.v[l]);
  using T = typename R::Value;
  // The limits as floating values: the upper one is the first that does not fit.
  constexpr T low = T(std::numeric_limits<D>::min());
  const T high = std::ldexp(T(1), std::numeric_limits<D>::digits);
  for (unsigned l = 0; l < lanes; ++l) {
    const T v = to_integral<T>(a.v[l], I);
    d.v[l] = v != v ? D(0) : v < low ? std::numeric_limits<D>::min() : v >= high ? std::numeric_limits<D>::max() : D(v);
  }
  store(w, i.op[0], mask, d);
  return Flow::next;
}

template <class R, class D>
Handler integral_rounding(const Form& f) {
  switch (f.rounding) {
    case Rounding::rni: return float_to_integer<R, D, Rounding::rni>;
    case Rounding::rzi: return float_to_integer<R, D, Rounding::rzi>;
    case Rounding::rmi: return float_to_integer<R, D, Rounding::rmi>;
    case Rounding::rpi: return float_to_integer<R, D, Rounding::rpi>;
    default: return nullptr;
  }
}

template <class R>
Handler float_to(const Form& f) {
  switch (f.types[0]) {
    case Type::u8: return integral_rounding<R, uint8_t>(f);
    case Type::u16: return integral_rounding<R, uint16_t>(f);
    case Type::u32: return integral_rounding<R, uint32_t>(f);
    case Type::u64: return integral_rounding<R, uint64_t>(f);
    case Type::s8: return integral_rounding<R, int8_t>(f);
    case Type::s16: return integral_rounding<R, int16_t>(f);
    case Type::s32: return integral_rounding<R, int32_t>(f);
    case Type::s64: return integral_rounding<R, int64_t>(f);
    default: return nullptr;
  }
}

template <class T, class S>
Flow integer_to_float(Warp& w, const Instruction& i, uint32_t mask) {
  Lanes<S> a;
  widen(w, i.op[1], a);
  const RoundingScope scope(i.rounding);
  assign(w.lane_values<T>(i.op[0]), mask, [&](unsigned l) LANE_FN { return T(a.v[l]); });
  return Flow::next;
}

// To a 16-bit format, by way of a value whose one rounding is the format's.
template <class S, bool Brain>
Flow integer_to_half(Warp& w, const Instruction& i, uint32_t mask) {
  Lanes<S> a;
  widen(w, i.op[1], a);
  assign_each(w.lane_values<uint16_t>(i.op[0]), mask, [&](unsigned l) {
    // A double holds 53 bits: of wider integers the rest is folded into the last one.
    using U = std::make_unsigned_t<S>;
    const bool negative = a.v[l] < 0;
    U u = negative ? U(0) - U(a.v[l]) : U(a.v[l]);
    if (sizeof(S) == 8 && uint64_t(u) >> 53) u = U((u & ~U(0xfff)) | ((u & 0xfff) ? U(0x1000) : U(0)));
    const double v = negative ? -double(u) : double(u);
    return uint16_t(encode_small(v, Brain ? bf16_format : f16_format, i.rounding));
  });
  return Flow::next;
}

template <class S>
Handler from_integer(const Form& f) {
  switch (f.types[0]) {
    case Type::f32: return f.sat ? nullptr : integer_to_float<float, S>;
    case Type::f64: return f.sat ? nullptr : integer_to_float<double, S>;
    case Type::f16: return f.sat ? nullptr : integer_to_half<S, false>;
    case Type::bf16: return f.sat ? nullptr : integer_to_half<S, true>;
    default: return integer_to<S>(f);
  }
}

Handler find(const Form& f) {
  switch (f.types[1]) {
    case Type::u8: return from_integer<uint8_t>(f);
    case Type::u16: return from_integer<uint16_t>(f);
    case Type::u32: return from_integer<uint32_t>(f);
    case Type::u64: return from_integer<uint64_t>(f);
    case Type::s8: return from_integer<int8_t>(f);
    case Type::s16: return from_integer<int16_t>(f);
    case Type::s32: return from_integer<int32_t>(f);
    case Type::s64: return from_integer<int64_t>(f);
    case Type::f16: return float_to<AsF16>(f);
    case Type::bf16: return float_to<AsBf16>(f);
    case Type::f32: return float_to<AsF32>(f);
    case Type::f64: return float_to<AsF64>(f);
    default: return nullptr;
  }
}

}  // namespace

Choice select_float_convert(const Form&);

Choice select_convert(const Form& f) {
  if (f.base != "cvt" || f.type_count != 2) return {};
  if (ptx::is_float(f.types[0]) && ptx::is_float(f.types[1])) return select_float_convert(f);
  return {find(f), Kind::convert};
}

}  // namespace stator::emulator::machine
