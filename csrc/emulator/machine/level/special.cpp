// The approximate functions. They are computed in double precision, and rounded to the result's; with Settings::perturb
// they are moved within the error that PTX documents, so that code which relies on more is found.
#include "emulator/machine/level/floats.hpp"

#include <cmath>

namespace stator::emulator::machine {
namespace {

enum class Fn { rcp, rsqrt, sqrt, sin, cos, lg2, ex2, tanh, div };

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

// The documented error: relative, but absolute for the sines and for logarithms near zero.
struct Bound {
  double relative, absolute;
};
template <Fn F>
constexpr Bound bound() {
  constexpr double bit = 1.0 / (1 << 20);  // 2^-20
  switch (F) {
    case Fn::rcp: return {bit / 8, 0};      // 1 ulp
    case Fn::rsqrt: return {bit / 7.5, 0};  // 2^-22.9
    case Fn::sqrt: return {bit / 8, 0};     // 2^-23
    case Fn::sin: return {0, bit * 0.7};    // 2^-20.5
    case Fn::cos: return {0, bit * 0.7};
    case Fn::lg2: return {0, bit / 4};     // 2^-22
    case Fn::ex2: return {bit / 5.7, 0};   // 2^-22.5
    case Fn::tanh: return {bit * 512, 0};  // 2^-11
    case Fn::div: return {bit / 4, 0};     // 2 ulp
  }
  return {};
}

// In [-1, 1], the same for the same place, lane and seed.
double noise(uint64_t seed, uint64_t place, uint64_t bits) {
  uint64_t v = (seed + 1) * 0x9e3779b97f4a7c15 ^ place * 0xbf58476d1ce4e5b9 ^ bits * 0x94d049bb133111eb;
  v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9;
  v = (v ^ v >> 27) * 0x94d049bb133111eb;
  v ^= v >> 31;
  return double(int64_t(v) >> 11) / double(uint64_t(1) << 52);
}

double moved(const Warp& w, const Instruction& i, double v, double from, Bound by) {
  if (!w.block->launch->settings.perturb || !std::isfinite(v)) return v;
  const double n = noise(w.block->launch->settings.seed, i.line, std::bit_cast<uint64_t>(from)) * 0.9;
  return v * (1 + n * by.relative) + n * by.absolute;
}

template <Fn F, bool Ftz>
Flow single(Warp& w, const Instruction& i, uint32_t mask) {
  const float* const a = w.lane_values<float>(i.op[1]);
  const float* const b = F == Fn::div ? w.lane_values<float>(i.op[2]) : a;
  assign_each(w.lane_values<float>(i.op[0]), mask, [&](unsigned l) {
    const float x = in<Ftz>(a[l]), y = in<Ftz>(b[l]);
    double v = exact<F>(x, y);
    // Divisors of 2^126 and above may give zero; the emulator's quotient stays within the error.
    if (v != 0) v = moved(w, i, v, x, bound<F>());
    return result<Ftz, false>(float(v));
  });
  return Flow::next;
}

// In double precision there are the reciprocal and its square root, of the upper half of the operand: the lower half of
// the result is zero, and software refines it.
template <Fn F>
Flow upper_half(Warp& w, const Instruction& i, uint32_t mask) {
  const double* const a = w.lane_values<double>(i.op[1]);
  assign_each(w.lane_values<double>(i.op[0]), mask, [&](unsigned l) {
    auto bits = std::bit_cast<uint64_t>(a[l]);
    if ((bits & 0x7ff0000000000000) == 0) bits &= 0x8000000000000000;  // subnormal operands are zeros
    const double v = exact<F>(std::bit_cast<double>(bits & 0xffffffff00000000), 0);
    if (v != v) return std::bit_cast<double>(uint64_t(0x7fffffff00000000));
    uint64_t rounded = std::bit_cast<uint64_t>(moved(w, i, v, a[l], {1e-7, 0}));
    if ((rounded & 0x7ff0000000000000) == 0) rounded &= 0x8000000000000000;
    return std::bit_cast<double>(rounded & 0xffffffff00000000);
  });
  return Flow::next;
}

Flow rsqrt_double(Warp& w, const Instruction& i, uint32_t mask) {
  const double* const a = w.lane_values<double>(i.op[1]);
  assign_each(w.lane_values<double>(i.op[0]), mask,
              [&](unsigned l) { return moved(w, i, exact<Fn::rsqrt>(a[l], 0), a[l], {1e-7, 0}); });
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
