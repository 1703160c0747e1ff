// cvt between floating formats, and of pairs of them.
#include "emulator/machine/level/floats.hpp"
#include "emulator/machine/level/small_float.hpp"

#include <cmath>

namespace stator::emulator::machine {

Choice select_float_convert(const Form&);

namespace {

enum class Format { f16, bf16, tf32, f32, f64, e4m3, e5m2 };

constexpr SmallFormat small(Format f) {
  return f == Format::f16    ? f16_format
         : f == Format::bf16 ? bf16_format
         : f == Format::tf32 ? tf32_format
         : f == Format::e4m3 ? e4m3_format
                             : e5m2_format;
}

template <Format F>
double value_of(uint64_t bits) {
  if (F == Format::f64) return std::bit_cast<double>(bits);
  if (F == Format::f32) return std::bit_cast<float>(uint32_t(bits));
  return decode_small(uint32_t(bits), small(F));
}

double integral(double v, Rounding r) {
  switch (r) {
    case Rounding::rni: return std::nearbyint(v);
    case Rounding::rzi: return std::trunc(v);
    case Rounding::rmi: return std::floor(v);
    case Rounding::rpi: return std::ceil(v);
    default: return v;
  }
}

template <Format F>
uint64_t bits_of(double v, Rounding r, bool finite) {
  if (F == Format::f64) return std::bit_cast<uint64_t>(v);
  if (F == Format::f32) {
    // The compiler may not move the conversion across the change of direction.
    double from = v;
    float to;
    const RoundingScope scope(r);
    asm volatile("cvtsd2ss %1, %0" : "=x"(to) : "x"(from));
    return std::bit_cast<uint32_t>(canonical(to));
  }
  // tf32 is kept in the upper bits of a single.
  const uint32_t bits = encode_small(v, small(F), r, finite);
  return F == Format::tf32 ? bits << 13 : bits;
}

template <Format D, Format S>
__attribute__((noinline)) uint64_t converted(uint64_t bits, const Instruction& i) {
  double v = value_of<S>(bits);
  if (i.ftz && S == Format::f32) v = flush(float(v));
  v = integral(v, i.rounding);
  if (i.sat) v = saturate(v);
  if (i.relu && v <= 0) v = 0;
  const uint64_t result = bits_of<D>(v, i.rounding, i.finite);
  return i.ftz && D == Format::f32 ? std::bit_cast<uint32_t>(flush(std::bit_cast<float>(uint32_t(result)))) : result;
}

template <Format D, Format S>
Flow convert(Warp& w, const Instruction& i, uint32_t mask) {
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = first_lane(left);
    uint64_t bits = 0;
    std::memcpy(&bits, w.bank[i.op[1].bank] + i.op[1].offset + l * i.op[1].bytes, i.op[1].bytes);
    const uint64_t result = converted<D, S>(bits, i);
    std::memcpy(w.bank[0] + i.op[0].offset + l * i.op[0].bytes, &result, i.op[0].bytes);
  }
  return Flow::next;
}

// Widening, and f32 to the 16-bit formats, are what kernels do all day.
template <class D, class S>
Flow widen(Warp& w, const Instruction& i, uint32_t mask) {
  const S* const a = w.lane_values<S>(i.op[1]);
  alignas(64) D result[lanes];
  for (unsigned l = 0; l < lanes; ++l) result[l] = canonical(D(a[l]));
  assign(w.lane_values<D>(i.op[0]), mask, [&](unsigned l) LANE_FN { return result[l]; });
  return Flow::next;
}

Flow f16_to_f32(Warp& w, const Instruction& i, uint32_t mask) {
  const uint16_t* const a = w.lane_values<uint16_t>(i.op[1]);
  alignas(64) float result[lanes];
  for (unsigned l = 0; l < lanes; ++l) {
    const uint32_t magnitude = uint32_t(a[l] & 0x7fff) << 13;
    const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
    const uint32_t top = (a[l] & 0x7c00) == 0x7c00 ? 0x7f800000 | magnitude : std::bit_cast<uint32_t>(scaled);
    result[l] = canonical(std::bit_cast<float>(top | uint32_t(a[l] & 0x8000) << 16));
  }
  assign(w.lane_values<float>(i.op[0]), mask, [&](unsigned l) LANE_FN { return result[l]; });
  return Flow::next;
}

Flow bf16_to_f32(Warp& w, const Instruction& i, uint32_t mask) {
  const uint16_t* const a = w.lane_values<uint16_t>(i.op[1]);
  alignas(64) float result[lanes];
  for (unsigned l = 0; l < lanes; ++l) result[l] = canonical(std::bit_cast<float>(uint32_t(a[l]) << 16));
  assign(w.lane_values<float>(i.op[0]), mask, [&](unsigned l) LANE_FN { return result[l]; });
  return Flow::next;
}

template <Format D>
Handler from(const Form& f) {
  switch (f.types[1]) {
    case Type::f16: return convert<D, Format::f16>;
    case Type::bf16: return convert<D, Format::bf16>;
    case Type::f32: return convert<D, Format::f32>;
    case Type::f64: return convert<D, Format::f64>;
    default: return nullptr;
  }
}

// d = {a, b}: a into the upper half. Of a packed source, which is one operand, each half.
template <Format D, Format S>
Flow pack(Warp& w, const Instruction& i, uint32_t mask) {
  constexpr unsigned bits = D == Format::e4m3 || D == Format::e5m2 ? 8 : 16;
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = first_lane(left);
    uint32_t high, low;
    if (S == Format::f32) {
      high = w.lane_values<uint32_t>(i.op[1])[l];
      low = w.lane_values<uint32_t>(i.op[2])[l];
    } else {
      constexpr unsigned from = S == Format::e4m3 || S == Format::e5m2 ? 8 : 16;
      const uint32_t both = from == 8 ? w.lane_values<uint16_t>(i.op[1])[l] : w.lane_values<uint32_t>(i.op[1])[l];
      high = both >> from;
      low = both & ((1u << from) - 1);
    }
    const auto d = uint32_t(converted<D, S>(high, i) << bits | converted<D, S>(low, i));
    if (bits == 8)
      w.lane_values<uint16_t>(i.op[0])[l] = uint16_t(d);
    else
      w.lane_values<uint32_t>(i.op[0])[l] = d;
  }
  return Flow::next;
}

Handler packed(const Form& f) {
  const Type d = f.types[0], s = f.types[1];
  if (d == Type::f16x2 && s == Type::f32) return pack<Format::f16, Format::f32>;
  if (d == Type::bf16x2 && s == Type::f32) return pack<Format::bf16, Format::f32>;
  if (d == Type::e4m3x2 && s == Type::f32) return pack<Format::e4m3, Format::f32>;
  if (d == Type::e5m2x2 && s == Type::f32) return pack<Format::e5m2, Format::f32>;
  if (d == Type::e4m3x2 && s == Type::f16x2) return pack<Format::e4m3, Format::f16>;
  if (d == Type::e5m2x2 && s == Type::f16x2) return pack<Format::e5m2, Format::f16>;
  if (d == Type::f16x2 && s == Type::e4m3x2) return pack<Format::f16, Format::e4m3>;
  if (d == Type::f16x2 && s == Type::e5m2x2) return pack<Format::f16, Format::e5m2>;
  return nullptr;
}

Handler find(const Form& f) {
  const Type d = f.types[0], s = f.types[1];
  const bool plain = !f.ftz && !f.sat && !f.has("relu") && !f.has("satfinite");
  if (plain && d == Type::f64 && s == Type::f32) return widen<double, float>;
  if (plain && d == Type::f32 && s == Type::f64 && f.rounding == Rounding::rn) return widen<float, double>;
  if (plain && d == Type::f32 && s == Type::f16) return f16_to_f32;
  if (plain && d == Type::f32 && s == Type::bf16) return bf16_to_f32;
  switch (d) {
    case Type::f16: return from<Format::f16>(f);
    case Type::bf16: return from<Format::bf16>(f);
    case Type::tf32: return s == Type::f32 ? convert<Format::tf32, Format::f32> : nullptr;
    case Type::f32: return from<Format::f32>(f);
    case Type::f64: return from<Format::f64>(f);
    default: return packed(f);
  }
}

}  // namespace

Choice select_float_convert(const Form& f) { return {find(f), Kind::convert}; }

}  // namespace stator::emulator::machine
