// The approximate functions. They are computed in double precision, and rounded to the result's; with Settings::perturb
// they are moved within the error that PTX documents.
#include "emulator/machine/level/approximate.hpp"
#include "emulator/machine/level/floats.hpp"

namespace stator::emulator::machine {
namespace {

template <Fn F>
double exact(double a, double b) {
  switch (F) {
    case Fn::rcp: return 1 / a;
    case Fn::rsqrt: return 1 / std::sqrt(a);
    case Fn::sqrt: return std::sqrt(a);
    case Fn::sin: return std::sin(a);
    case Fn::cos: return std::cos(a);
    case Fn::lg2: return std::log2(a);
    case Fn::ex2: return std::exp2(a);
    case Fn::tanh: return std::tanh(a);
    case Fn::div: return a / b;
  }
  return 0;
}

template <Fn F>
Bound bound(float a) {
  constexpr double pi = 3.14159265358979323846;
  const double size = std::abs(a);
  switch (F) {
    case Fn::rcp: return {.ulps = 1};
    case Fn::rsqrt: return {.relative = 0x1.125fbep-23};  // 2^-22.9
    case Fn::sqrt: return {.relative = 0x1p-23};
    case Fn::sin:
    case Fn::cos: return {.absolute = size <= 2 * pi ? 0x1.6a09ep-21 : 0x1.3b2c4p-15};  // 2^-20.5, 2^-14.7
    case Fn::lg2:
      if (size > 0.5 && size < 2) return {.absolute = 0x1p-22};
      return {.relative = 0x1p-22};
    case Fn::ex2: return {.ulps = 2, .from_rounded = true};
    case Fn::tanh: return {.relative = 0x1p-11};
    case Fn::div: return {.ulps = 2};
  }
  return {};
}

// Zeros and infinities as operands have results that are stated as numbers.
template <Fn F>
double moved(const Warp& w, double exact, float a, float b) {
  if (!perturbs(w) || a == 0 || !std::isfinite(a) || !std::isfinite(exact)) return exact;
  const Bound by = bound<F>(a);
  const double from = by.from_rounded ? double(float(exact)) : exact;
  if (!std::isfinite(from)) return exact;
  // Of errors that are parts of a result none changes its sign.
  const double parts = std::min(by.relative * std::abs(from) + by.ulps * unit_of(from, 23, -126), std::abs(from));
  const uint64_t operands = uint64_t(std::bit_cast<uint32_t>(a)) << 32 | std::bit_cast<uint32_t>(b);
  const auto round = [](double v) { return double(float(v)); };
  return placed(from, parts + by.absolute, noise(seed_of(w), F, operands), round);
}

template <Fn F, bool Ftz>
Flow single(Warp& w, const Instruction& i, uint32_t mask) {
  const float* const a = w.lane_values<float>(i.op[1]);
  const float* const b = F == Fn::div ? w.lane_values<float>(i.op[2]) : a;
  assign_each(w.lane_values<float>(i.op[0]), mask, [&](unsigned l) {
    const float x = in<Ftz>(a[l]), y = in<Ftz>(b[l]);
    // Divisors of 2^126 and above may give zero; the emulator's quotient stays within the error.
    return result<Ftz, false>(float(moved<F>(w, exact<F>(x, y), x, y)));
  });
  return Flow::next;
}

// No error is documented in double precision, where software refines the result.
double moved_double(const Warp& w, Fn function, double exact, double from) {
  if (!perturbs(w) || !std::isfinite(exact)) return exact;
  return exact * (1 + 1e-7 * noise(seed_of(w), function, std::bit_cast<uint64_t>(from)));
}

// In double precision there are the reciprocal and its square root, of the upper half of the operand: the lower half of
// the result is zero.
template <Fn F>
Flow upper_half(Warp& w, const Instruction& i, uint32_t mask) {
  const double* const a = w.lane_values<double>(i.op[1]);
  assign_each(w.lane_values<double>(i.op[0]), mask, [&](unsigned l) {
    auto bits = std::bit_cast<uint64_t>(a[l]);
    if ((bits & 0x7ff0000000000000) == 0) bits &= 0x8000000000000000;  // subnormal operands are zeros
    const double v = exact<F>(std::bit_cast<double>(bits & 0xffffffff00000000), 0);
    if (v != v) return std::bit_cast<double>(uint64_t(0x7fffffff00000000));
    uint64_t rounded = std::bit_cast<uint64_t>(moved_double(w, F, v, a[l]));
    if ((rounded & 0x7ff0000000000000) == 0) rounded &= 0x8000000000000000;
    return std::bit_cast<double>(rounded & 0xffffffff00000000);
  });
  return Flow::next;
}

// It is CUDA's rsqrt of double precision, for which one unit in the last place is documented.
double moved_rsqrt(const Warp& w, double a) {
  const double exact = 1 / std::sqrt(a);
  if (!perturbs(w) || !(a > 0) || !std::isfinite(a)) return exact;
  // The root's error, by which the reciprocal errs half as much, and the quotient's.
  const double n = noise(seed_of(w), Fn::rsqrt, std::bit_cast<uint64_t>(a)), rest = std::fma(-(a * exact), exact, 1.0);
  return n > 0.25 && rest > 0   ? std::nextafter(exact, 1e300)
         : n > 0.25 && rest < 0 ? std::nextafter(exact, 0.0)
                                : exact;
}

Flow rsqrt_double(Warp& w, const Instruction& i, uint32_t mask) {
  const double* const a = w.lane_values<double>(i.op[1]);
  assign_each(w.lane_values<double>(i.op[0]), mask, [&](unsigned l) { return moved_rsqrt(w, a[l]); });
  return Flow::next;
}

template <Fn F>
Handler of(const Form& f) {
  return f.ftz ? single<F, true> : single<F, false>;
}

Handler find(const Form& f) {
  if (f.type() == Type::f64) {
    if (f.base == "rcp" && f.ftz) return upper_half<Fn::rcp>;
    if (f.base == "rsqrt") return f.ftz ? upper_half<Fn::rsqrt> : rsqrt_double;
    return nullptr;
  }
  if (f.type() != Type::f32) return nullptr;
  if (f.base == "rcp") return of<Fn::rcp>(f);
  if (f.base == "rsqrt") return of<Fn::rsqrt>(f);
  if (f.base == "sqrt") return of<Fn::sqrt>(f);
  if (f.base == "sin") return of<Fn::sin>(f);
  if (f.base == "cos") return of<Fn::cos>(f);
  if (f.base == "lg2") return of<Fn::lg2>(f);
  if (f.base == "ex2") return of<Fn::ex2>(f);
  if (f.base == "tanh") return of<Fn::tanh>(f);
  if (f.base == "div") return of<Fn::div>(f);
  return nullptr;
}

}  // namespace

Choice select_special(const Form& f) {
  const bool approximate = f.has("approx") || (f.base == "div" && f.has("full"));
  return {approximate && f.type_count == 1 ? find(f) : nullptr, Kind::special};
}

}  // namespace stator::emulator::machine
