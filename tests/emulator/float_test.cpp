// Floating arithmetic: roundings, the 16-bit formats, conversions and approximations.
#include "rig.hpp"

#include <bit>
#include <cfenv>
#include <cmath>

using namespace stator::emulator;
using namespace stator::emulator::test;

namespace {

using U = uint32_t;
using H = uint16_t;

float f32(U bits) { return std::bit_cast<float>(bits); }
U bits(float v) { return std::bit_cast<U>(v); }
uint64_t bits(double v) { return std::bit_cast<uint64_t>(v); }
double f64(uint64_t v) { return std::bit_cast<double>(v); }

constexpr size_t count = 2048;

// Floats whose exponents are near enough to one another that sums and products meet every case.
std::vector<U> floats(Random& random, size_t n, U lowest = 100, U span = 60) {
  auto values = random.bits<U>(n);
  for (size_t i = 0; i < n; ++i)
    if (i % 16 > 3) values[i] = (values[i] & 0x807fffff) | (lowest + values[i] / 7 % span) << 23;
  return values;
}

bool same(float a, float b) { return bits(a) == bits(b) || (a != a && b != b); }

struct Direction {
  const char* name;
  int mode;
};
constexpr Direction directions[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

void directed_roundings() {
  Random random(1);
  const auto a = floats(random, count), b = floats(random, count), c = floats(random, count);
  struct Op {
    const char* text;
    float (*f)(float, float, float);
  };
  const Op ops[] = {{"add.R.f32 %d, %a, %b;", [](float x, float y, float) { return x + y; }},
                    {"sub.R.f32 %d, %a, %b;", [](float x, float y, float) { return x - y; }},
                    {"mul.R.f32 %d, %a, %b;", [](float x, float y, float) { return x * y; }},
                    {"div.R.f32 %d, %a, %b;", [](float x, float y, float) { return x / y; }},
                    {"fma.R.f32 %d, %a, %b, %c;", [](float x, float y, float z) { return std::fma(x, y, z); }},
                    {"sqrt.R.f32 %d, %a;", [](float x, float, float) { return std::sqrt(x); }},
                    {"rcp.R.f32 %d, %a;", [](float x, float, float) { return 1.0f / x; }}};
  for (const Op& op : ops)
    for (const Direction& r : directions) {
      std::string text = op.text;
      text.replace(text.find('R'), 1, r.name);
      const auto d = map<U>(text, a, b, c);
      int wrong = 0;
      std::fesetround(r.mode);
      for (size_t i = 0; i < d.size(); ++i) {
        const volatile float x = f32(a[i]), y = f32(b[i]), z = f32(c[i]);
        wrong += !same(f32(d[i]), op.f(x, y, z));
        wrong += f32(d[i]) != f32(d[i]) && d[i] != 0x7fffffff;
      }
      std::fesetround(FE_TONEAREST);
      stator::test::check(wrong == 0 && d.size() == count, text, wrong);
    }
  const auto wide = map<uint64_t>("fma.rm.f64 %d, %a, %b, %a;", std::vector<uint64_t>{bits(1.0 / 3)},
                                  std::vector<uint64_t>{bits(1.0 / 7)});
  std::fesetround(FE_DOWNWARD);
  const volatile double third = 1.0 / 3, seventh = 1.0 / 7;  // constants are rounded downwards here too
  std::fesetround(FE_TONEAREST);
  CHECK(wide.size() == 1 && std::abs(f64(wide[0]) - (third * seventh + third)) < 1e-16);
}

void flushing_and_limits() {
  const std::vector<U> a{1, 0x80000001, 0x007fffff, 0x00800000, 0x3f800000, 0x7fc12345, 0xff800000};
  const std::vector<U> b{bits(1.0f), bits(1.0f), bits(1.0f), bits(0.5f), bits(2.0f), bits(1.0f), bits(1.0f)};
  CHECK(map<U>("mul.ftz.f32 %d, %a, %b;", a, b) ==
        std::vector<U>{0, 0x80000000, 0, 0, bits(2.0f), 0x7fffffff, 0xff800000});
  CHECK(map<U>("mul.f32 %d, %a, %b;", a, b) ==
        std::vector<U>{1, 0x80000001, 0x007fffff, 0x00400000, bits(2.0f), 0x7fffffff, 0xff800000});
  CHECK(map<U>("add.sat.f32 %d, %a, %b;", a, b) ==
        std::vector<U>(std::vector<U>{bits(1.0f), bits(1.0f), bits(1.0f), bits(0.5f), bits(1.0f), 0, 0}));
  const std::vector<U> x{0x7fc00000, bits(1.0f), 0x80000000, 0, 0x7fc00000},
      y{bits(2.0f), 0x7fc00000, 0, 0x80000000, 0x7fc00001};
  CHECK(map<U>("min.f32 %d, %a, %b;", x, y) ==
        std::vector<U>{bits(2.0f), bits(1.0f), 0x80000000, 0x80000000, 0x7fffffff});
  CHECK(map<U>("max.f32 %d, %a, %b;", x, y) == std::vector<U>{bits(2.0f), bits(1.0f), 0, 0, 0x7fffffff});
  CHECK(map<U>("max.NaN.f32 %d, %a, %b;", x, y) == std::vector<U>{0x7fffffff, 0x7fffffff, 0, 0, 0x7fffffff});
  CHECK(map<U>("copysign.f32 %d, %a, %b;", std::vector<U>{0x80000000}, std::vector<U>{bits(3.0f)})[0] == bits(-3.0f));
  CHECK(map<U>("testp.subnormal.f32 %q0, %a;\nselp.u32 %d, 1, 0, %q0;", a) == std::vector<U>{1, 1, 1, 0, 0, 0, 0});
  CHECK(map<U>("setp.ltu.f32 %q0, %a, %b;\nselp.u32 %d, 1, 0, %q0;", x, y) == std::vector<U>{1, 1, 0, 0, 1});
  CHECK(map<U>("set.lt.f32.f32 %d, %a, %b;", std::vector<U>{bits(1.0f), bits(2.0f)},
               std::vector<U>{bits(2.0f), bits(1.0f)}) == std::vector<U>{bits(1.0f), 0});
  CHECK(map<H>("set.ge.f16.f16 %d, %a, %b;", std::vector<H>{0x3c00, 0x4000}, std::vector<H>{0x4000, 0x3c00}) ==
        std::vector<H>{0, 0x3c00});
  CHECK(map<U>("set.eq.f16x2.f16x2 %d, %a, %b;", std::vector<U>{0x3c004000}, std::vector<U>{0x3c003c00})[0] ==
        0x3c000000);
  CHECK(map<U>("setp.num.f32 %q0, %a, %b;\nselp.u32 %d, 1, 0, %q0;", x, y) == std::vector<U>{0, 0, 1, 1, 0});
}

// Every comparison, of operands that are less, equal, zeros of two signs, greater, and NaN on either side.
template <class T>
void comparisons(const std::string& type, const std::vector<T>& numbers) {
  const T one = numbers[0], two = numbers[1], zero = numbers[2], minus = numbers[3], nan = numbers[4];
  const std::vector<T> a{one, two, zero, two, nan, one, nan}, b{two, two, minus, one, one, nan, nan};
  const std::pair<const char*, std::vector<U>> holds[] = {
      {"eq", {0, 1, 1, 0, 0, 0, 0}},  {"ne", {1, 0, 0, 1, 0, 0, 0}},  {"lt", {1, 0, 0, 0, 0, 0, 0}},
      {"le", {1, 1, 1, 0, 0, 0, 0}},  {"gt", {0, 0, 0, 1, 0, 0, 0}},  {"ge", {0, 1, 1, 1, 0, 0, 0}},
      {"equ", {0, 1, 1, 0, 1, 1, 1}}, {"neu", {1, 0, 0, 1, 1, 1, 1}}, {"ltu", {1, 0, 0, 0, 1, 1, 1}},
      {"leu", {1, 1, 1, 0, 1, 1, 1}}, {"gtu", {0, 0, 0, 1, 1, 1, 1}}, {"geu", {0, 1, 1, 1, 1, 1, 1}},
      {"num", {1, 1, 1, 1, 0, 0, 0}}, {"nan", {0, 0, 0, 0, 1, 1, 1}}};
  for (const auto& [name, expected] : holds) {
    CHECK(map<U>("setp." + std::string(name) + type + " %q0, %a, %b;\nselp.u32 %d, 1, 0, %q0;", a, b) == expected);
    if constexpr (sizeof(T) == 2) {  // as both halves of pairs, of which the other one is always equal
      std::vector<U> low_a, low_b, high_a, high_b;
      for (size_t i = 0; i < a.size(); ++i) {
        low_a.push_back(U(one) << 16 | a[i]), low_b.push_back(U(one) << 16 | b[i]);
        high_a.push_back(U(a[i]) << 16 | one), high_b.push_back(U(b[i]) << 16 | one);
      }
      const std::string both = "setp." + std::string(name) + type + "x2 %q0|%q1, %a, %b;\nselp.u32 %d, 1, 0, ";
      CHECK(map<U>(both + "%q0;", low_a, low_b) == expected);
      CHECK(map<U>(both + "%q1;", high_a, high_b) == expected);
    }
  }
}

void every_comparison() {
  comparisons<U>(".f32", {bits(1.0f), bits(2.0f), 0, 0x80000000, 0x7fc00000});
  comparisons<uint64_t>(".f64", {0x3ff0000000000000, 0x4000000000000000, 0, 0x8000000000000000, 0x7ff8000000000000});
  comparisons<H>(".f16", {0x3c00, 0x4000, 0, 0x8000, 0x7e00});
  comparisons<H>(".bf16", {0x3f80, 0x4000, 0, 0x8000, 0x7fc0});
}

// All values of a small format, as exact numbers.
struct Format {
  int exponent_bits, mantissa_bits;
  bool infinite;
  double value(U v) const {
    const int bias = (1 << (exponent_bits - 1)) - 1, e = int(v >> mantissa_bits & ((1 << exponent_bits) - 1));
    const int m = int(v & ((1 << mantissa_bits) - 1)), top = (1 << exponent_bits) - 1;
    const double sign = v >> (exponent_bits + mantissa_bits) & 1 ? -1 : 1;
    if (e == top && infinite) return m ? NAN : sign * INFINITY;
    if (e == top && m == (1 << mantissa_bits) - 1) return NAN;
    return sign *
           (e ? std::ldexp(1 + std::ldexp(m, -mantissa_bits), e - bias) : std::ldexp(m, 1 - bias - mantissa_bits));
  }
  U top() const {  // the largest number
    return infinite ? (((1u << exponent_bits) - 1) << mantissa_bits) - 1 : (1u << (exponent_bits + mantissa_bits)) - 2;
  }
  // By comparison with neighbours; the result of a value beyond the largest number is `over`.
  U rounded(double v, const char* mode, U over) const {
    const U sign = std::signbit(v) ? 1u << (exponent_bits + mantissa_bits) : 0;
    const double x = std::abs(v);
    U low = 0, high = top();
    while (low < high) {
      const U middle = (low + high + 1) / 2;
      if (value(middle) <= x)
        low = middle;
      else
        high = middle - 1;
    }
    if (value(low) == x) return sign | low;
    const double next = low < top() ? value(low + 1) : 2 * value(low) - value(low - 1);
    const double below = x - value(low), above = next - x;
    const bool nearest_up = above < below || (above == below && low & 1);
    const bool up = mode[1] == 'z' ? false : mode[1] == 'm' ? sign != 0 : mode[1] == 'p' ? sign == 0 : nearest_up;
    return sign | (!up ? low : low == top() ? over : low + 1);
  }
};
constexpr Format half{5, 10, true}, brain{8, 7, true}, e4m3{4, 3, false}, e5m2{5, 2, true};

// Numbers around every value of the format and around the middles between them.
std::vector<U> around(const Format& f) {
  std::vector<U> values;
  const U last = f.top();
  const U step = std::max(1u, last / 700);
  for (U v = 0; v <= last; v += step)
    for (const double x : {f.value(v), v < last ? (f.value(v) + f.value(v + 1)) / 2 : f.value(v) * 1.1}) {
      const U b = bits(float(x));
      for (const U near : {b - 1, b, b + 1})
        if (near < 0x7f800000) values.insert(values.end(), {near, near | 0x80000000});
    }
  return values;
}

void to_small_formats() {
  const auto infinity = [](const Format& f) { return f.top() + 1; };
  struct Row {
    const char* text;
    Format format;
    const char* mode;
  };
  for (const Row& row : {Row{"cvt.rn.f16.f32 %d, %a;", half, "rn"}, Row{"cvt.rz.f16.f32 %d, %a;", half, "rz"},
                         Row{"cvt.rm.f16.f32 %d, %a;", half, "rm"}, Row{"cvt.rp.f16.f32 %d, %a;", half, "rp"},
                         Row{"cvt.rn.bf16.f32 %d, %a;", brain, "rn"}, Row{"cvt.rz.bf16.f32 %d, %a;", brain, "rz"}}) {
    const auto a = around(row.format);
    const auto d = map<H>(row.text, a);
    int wrong = 0;
    for (size_t i = 0; i < d.size(); ++i)
      wrong += d[i] != row.format.rounded(f32(a[i]), row.mode, infinity(row.format));
    stator::test::check(wrong == 0 && d.size() == a.size(), row.text, wrong);
  }
  for (const auto& [name, format] : {std::pair{"e4m3x2", e4m3}, std::pair{"e5m2x2", e5m2}}) {
    const auto a = around(format);
    auto b = a;
    std::reverse(b.begin(), b.end());
    const auto d = map<H>(std::string("cvt.rn.satfinite.") + name + ".f32 %d, %a, %b;", a, b);
    int wrong = 0;
    for (size_t i = 0; i < d.size(); ++i)
      wrong +=
          d[i] != (format.rounded(f32(a[i]), "rn", format.top()) << 8 | format.rounded(f32(b[i]), "rn", format.top()));
    stator::test::check(wrong == 0 && d.size() == a.size(), name, wrong);
  }
  CHECK(map<H>("cvt.rn.f16.f32 %d, %a;", std::vector<U>{0x7fc00000, 0x7f800000}) == std::vector<H>{0x7fff, 0x7c00});
  CHECK(map<H>("cvt.rn.relu.bf16.f32 %d, %a;", std::vector<U>{bits(-2.0f), bits(2.0f)}) == std::vector<H>{0, 0x4000});
  CHECK(map<U>("cvt.rn.f16x2.f32 %d, %a, %b;", std::vector<U>{bits(1.0f)}, std::vector<U>{bits(2.0f)})[0] ==
        0x3c004000);
  CHECK(map<U>("cvt.rna.tf32.f32 %d, %a;", std::vector<U>{0x3f801000, 0x3f800fff}) ==
        std::vector<U>{0x3f802000, 0x3f800000});
}

void from_small_formats() {
  std::vector<H> all(65536);
  for (U i = 0; i < 65536; ++i) all[i] = H(i);
  const auto wide = map<U>("cvt.f32.f16 %d, %a;", all), brains = map<U>("cvt.f32.bf16 %d, %a;", all);
  const auto pairs = map<U>("cvt.rn.f16x2.e4m3x2 %d, %a;", all);
  int wrong = 0;
  for (U i = 0; i < 65536 && wide.size() == 65536; ++i) {
    wrong += !same(f32(wide[i]), float(half.value(i)));
    wrong += !same(f32(brains[i]), float(brain.value(i)));
    const double low = e4m3.value(i & 255), high = e4m3.value(i >> 8);
    const auto equal = [](double x, U h) { return x != x ? half.value(h) != half.value(h) : half.value(h) == x; };
    wrong += !equal(low, pairs[i] & 0xffff) || !equal(high, pairs[i] >> 16);
  }
  CHECK(wrong == 0 && wide.size() == 65536);
}

void integers() {
  const std::vector<U> a{bits(2.5f),  bits(-2.5f), bits(3.7f), bits(3e9f),
                         bits(-3e9f), bits(5e9f),  0x7fc00000, bits(-0.5f)};
  using I = int32_t;
  CHECK(map<I>("cvt.rni.s32.f32 %d, %a;", a) == std::vector<I>{2, -2, 4, INT32_MAX, INT32_MIN, INT32_MAX, 0, 0});
  CHECK(map<I>("cvt.rzi.s32.f32 %d, %a;", a) == std::vector<I>{2, -2, 3, INT32_MAX, INT32_MIN, INT32_MAX, 0, 0});
  CHECK(map<I>("cvt.rmi.s32.f32 %d, %a;", a) == std::vector<I>{2, -3, 3, INT32_MAX, INT32_MIN, INT32_MAX, 0, -1});
  CHECK(map<U>("cvt.rpi.u32.f32 %d, %a;", a) == std::vector<U>{3, 0, 4, 3000000000, 0, UINT32_MAX, 0, 0});
  const std::vector<uint64_t> w{bits(1e19), bits(-1e19), bits(1.8446744073709550e19), bits(2e19), bits(-1.5)};
  CHECK(map<uint64_t>("cvt.rzi.u64.f64 %d, %a;", w) ==
        std::vector<uint64_t>{10000000000000000000u, 0, 18446744073709549568u, UINT64_MAX, 0});
  CHECK(map<int64_t>("cvt.rzi.s64.f64 %d, %a;", w) ==
        std::vector<int64_t>{INT64_MAX, INT64_MIN, INT64_MAX, INT64_MAX, -1});
  Random random(3);
  const auto n = random.bits<uint64_t>(count);
  for (const Direction& r : directions) {
    const auto u = map<U>(std::string("cvt.") + r.name + ".f32.u64 %d, %a;", n);
    const auto s = map<uint64_t>(std::string("cvt.") + r.name + ".f64.s64 %d, %a;", n);
    int wrong = 0;
    std::fesetround(r.mode);
    for (size_t i = 0; i < u.size(); ++i) {
      const volatile uint64_t v = n[i];
      wrong += u[i] != bits(float(v)) || s[i] != bits(double(int64_t(v)));
    }
    std::fesetround(FE_TONEAREST);
    stator::test::check(wrong == 0 && u.size() == count, r.name, wrong);
  }
  const auto narrow = map<U>("cvt.sat.u8.s64 %d, %a;", std::vector<uint64_t>{300, uint64_t(-5), 77});
  CHECK(narrow == std::vector<U>{255, 0, 77});
  CHECK(map<U>("cvt.s32.s8 %d, %a;", std::vector<U>{0x1ff, 0x17f}) == std::vector<U>{0xffffffff, 0x7f});
  CHECK(map<uint64_t>("cvt.u64.s8 %d, %a;", std::vector<H>{0x80})[0] == 0xffffffffffffff80);
}

void half_arithmetic() {
  Random random(4);
  const auto a = random.bits<H>(count), b = random.bits<H>(count), c = random.bits<H>(count);
  for (const auto& [name, f] : {std::pair{"f16", half}, std::pair{"bf16", brain}}) {
    const std::string type = name;
    const auto sum = map<H>("add.rn." + type + " %d, %a, %b;", a, b),
               product = map<H>("mul.rn." + type + " %d, %a, %b;", a, b);
    const auto fused = map<H>("fma.rn." + type + " %d, %a, %b, %c;", a, b, c);
    int wrong = 0;
    const auto is = [&, f = f](H got, long double exact, long double rest = 0) {
      if (exact != exact) return got == 0x7fff;
      if (std::isinf(exact)) return got == ((std::signbit(exact) ? 0x8000 : 0) | (f.top() + 1));
      if (exact == 0) return (got & 0x7fff) == 0;
      // Where the exact value needs more than a double, its last bit says that something is left.
      double d = double(exact);
      const bool beyond = std::abs(static_cast<long double>(d)) > std::abs(exact) ||
                          (d == exact && rest != 0 && (rest > 0) != (exact > 0));
      if (beyond) d = std::nextafter(d, 0);
      if (d != exact || rest != 0) d = f64(bits(d) | 1);
      return got == f.rounded(d, "rn", f.top() + 1);
    };
    for (size_t i = 0; i < sum.size(); ++i) {
      const long double x = f.value(a[i]), y = f.value(b[i]), z = f.value(c[i]);
      wrong += !is(sum[i], x + y) + !is(product[i], x * y);
      const long double p = x * y, fused_sum = p + z, part = fused_sum - p;
      const long double rest = std::isfinite(fused_sum) ? (p - (fused_sum - part)) + (z - part) : 0;
      wrong += !is(fused[i], fused_sum, rest);
    }
    stator::test::check(wrong == 0 && sum.size() == count, type, wrong);
  }
  const std::vector<U> x{0x3c00bc00}, y{0x40004000};
  CHECK(map<U>("fma.rn.relu.f16x2 %d, %a, %b, %b;", x, y)[0] == 0x44000000);
  CHECK(map<U>("add.sat.f16x2 %d, %a, %b;", x, y)[0] == 0x3c003c00);
  CHECK(map<U>("min.bf16x2 %d, %a, %b;", std::vector<U>{0x7fc03f80}, std::vector<U>{0x40004000})[0] == 0x40003f80);
}

void approximations() {
  Random random(5);
  const auto a = floats(random, count, 110, 30);
  struct Row {
    const char* text;
    double (*f)(double);
    double relative, absolute;
  };
  const Row rows[] = {{"rcp.approx.f32 %d, %a;", [](double x) { return 1 / x; }, 1.2e-7, 0},
                      {"rsqrt.approx.f32 %d, %a;", [](double x) { return 1 / std::sqrt(x); }, 2e-7, 0},
                      {"sqrt.approx.f32 %d, %a;", [](double x) { return std::sqrt(x); }, 2e-7, 0},
                      {"ex2.approx.ftz.f32 %d, %a;", [](double x) { return std::exp2(x); }, 2.5e-7, 1e-38},
                      {"lg2.approx.f32 %d, %a;", [](double x) { return std::log2(x); }, 1.2e-7, 2.4e-7},
                      {"sin.approx.f32 %d, %a;", [](double x) { return std::sin(x); }, 0, 8e-7},
                      {"tanh.approx.f32 %d, %a;", [](double x) { return std::tanh(x); }, 5e-4, 0}};
  for (const Row& row : rows) {
    const auto d = map<U>(row.text, a);
    int wrong = 0;
    for (size_t i = 0; i < d.size(); ++i) {
      const double exact = row.f(f32(a[i])), got = f32(d[i]);
      if (exact != exact)
        wrong += got == got;
      else if (std::isfinite(float(exact)))
        wrong += !(std::abs(got - exact) <= row.relative * std::abs(exact) + row.absolute + 1e-45);
    }
    stator::test::check(wrong == 0 && d.size() == count, row.text, wrong);
  }
  const auto rough = map<uint64_t>("rcp.approx.ftz.f64 %d, %a;", std::vector<uint64_t>{bits(3.0)});
  CHECK(uint32_t(rough[0]) == 0 && std::abs(f64(rough[0]) * 3 - 1) < 1e-6);
}

Settings perturbed(uint64_t seed) {
  Settings settings;
  settings.perturb = true;
  settings.seed = seed;
  return settings;
}

// The result of one instruction, executed in two functions, for the bits of an operand.
struct Twice {
  uint32_t first, second;
};
Twice twice(const std::string& instruction, uint32_t operand, uint64_t seed) {
  const std::string use =
      "mov.b32 %r1, " + std::to_string(operand) + ";\nmov.b32 {%h1, %h2}, %r1;\nmov.b32 %f1, %r1;\n";
  const bool half = instruction.find("16") != std::string::npos;
  const std::string to = half ? "mov.b32 %r2, {%h3, %h3};\n" : "mov.b32 %r2, %f2;\n";
  const std::string store = to + "st.global.u32 [%d0], %r2;\n", line = instruction + "\n";
  Rig rig(kernel("ld.param.u64 %d0, [p0];\n" + use + line + store + line + to + "st.global.u32 [%d0+4], %r2;"),
          perturbed(seed));
  uint32_t* const out = rig.empty<uint32_t>(2);
  succeed(rig.run(1, 1, out));
  const auto both = rig.read(out, 2);
  return {both[0], both[1]};
}

void perturbation() {
  std::vector<uint32_t> seen;
  for (const uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 8, 1}) {
    const Twice t = twice("rcp.approx.f32 %f2, %f1;", bits(3.0f), seed);
    CHECK(t.first == t.second);  // a function of the operand
    CHECK(std::abs(double(f32(t.first)) * 3 - 1) < 2.5e-7);
    seen.push_back(t.first);
  }
  CHECK(seen.front() == seen.back());
  CHECK(std::count(seen.begin(), seen.end(), seen[0]) < 9);
}

void perturbed_values_that_are_stated() {
  for (const uint64_t seed : {1, 2, 3, 4}) {
    CHECK(f32(twice("ex2.approx.f32 %f2, %f1;", bits(0.0f), seed).first) == 1);
    CHECK(f32(twice("cos.approx.f32 %f2, %f1;", bits(-0.0f), seed).first) == 1);
    CHECK(twice("tanh.approx.f32 %f2, %f1;", bits(-0.0f), seed).first == bits(-0.0f));
    CHECK(uint16_t(twice("ex2.approx.f16 %h3, %h1;", 0, seed).first) == 0x3c00);
  }
}

void perturbed_units_in_the_last_place() {
  int64_t most = 0;
  for (uint64_t seed = 1; seed < 40; ++seed)
    for (const float x : {0.99f, -3.3f, 17.7f}) {
      const U nearest = bits(float(std::exp2(double(x))));
      const int64_t steps = int64_t(twice("ex2.approx.ftz.f32 %f2, %f1;", bits(x), seed).first) - int64_t(nearest);
      most = std::max(most, std::abs(steps));
    }
  CHECK(most == 2);
}

void perturbed_halves() {
  struct Row {
    const char* text;
    bool brain;
    double relative, absolute;
    double (*f)(double);
  };
  const auto exp2 = [](double x) { return std::exp2(x); };
  const auto tanh = [](double x) { return std::tanh(x); };
  const Row rows[] = {{"ex2.approx.f16 %h3, %h1;", false, 0x1.13p-10, 0, exp2},
                      {"ex2.approx.ftz.bf16 %h3, %h1;", true, 0x1p-7, 0, exp2},
                      {"tanh.approx.f16 %h3, %h1;", false, 0, 0x1.03p-11, tanh},
                      {"tanh.approx.bf16 %h3, %h1;", true, 0, 0x1p-8, tanh}};
  for (const Row& row : rows) {
    const Format& format = row.brain ? brain : half;
    const U operand = format.rounded(0.7, "rn", 0);
    const double exact = row.f(format.value(operand));
    std::vector<uint16_t> seen;
    for (uint64_t seed = 1; seed < 12; ++seed) {
      seen.push_back(uint16_t(twice(row.text, operand, seed).first));
      CHECK(std::abs(format.value(seen.back()) - exact) <= row.relative * exact + row.absolute);
    }
    CHECK(std::count(seen.begin(), seen.end(), seen[0]) < 11);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {{"every direction of rounding is exact", directed_roundings},
                            {"flushing, saturation, extremes and comparisons", flushing_and_limits},
                            {"every comparison of floating numbers and pairs", every_comparison},
                            {"conversions to small formats round as documented", to_small_formats},
                            {"conversions from small formats are exact", from_small_formats},
                            {"conversions between integers and floats", integers},
                            {"arithmetic in 16 bits is rounded once", half_arithmetic},
                            {"approximations stay within their bounds", approximations},
                            {"perturbations stay within the bounds and follow the seed", perturbation},
                            {"perturbations leave the values that are stated", perturbed_values_that_are_stated},
                            {"perturbations go to the documented units", perturbed_units_in_the_last_place},
                            {"approximations in 16 bits are perturbed too", perturbed_halves}});
}
