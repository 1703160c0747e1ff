// Arithmetic of integers and operations on bits, against C++.
#include "rig.hpp"

#include <bit>

using namespace stator::emulator::test;

namespace {

constexpr size_t count = 512;

template <class T, class F>
void two(const std::string& text, F f) {
  Random random(std::hash<std::string>()(text));
  const auto a = random.bits<T>(count), b = random.bits<T>(count);
  const auto d = map<T>(text, a, b);
  int wrong = 0;
  for (size_t i = 0; i < d.size(); ++i) wrong += d[i] != T(f(a[i], b[i]));
  stator::test::check(d.size() == count && wrong == 0, text, wrong);
}

template <class D, class A, class B, class C, class F>
void three(const std::string& text, F f) {
  Random random(std::hash<std::string>()(text));
  const auto a = random.bits<A>(count);
  const auto b = random.bits<B>(count);
  const auto c = random.bits<C>(count);
  const auto d = map<D>(text, a, b, c);
  int wrong = 0;
  for (size_t i = 0; i < d.size(); ++i) wrong += d[i] != D(f(a[i], b[i], c[i]));
  stator::test::check(d.size() == count && wrong == 0, text, wrong);
}

template <class D, class A, class F>
void one(const std::string& text, F f) {
  Random random(std::hash<std::string>()(text));
  const auto a = random.bits<A>(count);
  const auto d = map<D>(text, a);
  int wrong = 0;
  for (size_t i = 0; i < d.size(); ++i) wrong += d[i] != D(f(a[i]));
  stator::test::check(d.size() == count && wrong == 0, text, wrong);
}

using I = int32_t;
using U = uint32_t;
using L = int64_t;
using W = uint64_t;

void arithmetic() {
  two<uint16_t>("add.u16 %d, %a, %b;", [](auto a, auto b) { return a + b; });
  two<U>("add.s32 %d, %a, %b;", [](auto a, auto b) { return a + b; });
  two<W>("sub.s64 %d, %a, %b;", [](auto a, auto b) { return a - b; });
  two<I>("add.sat.s32 %d, %a, %b;", [](L a, L b) { return std::clamp<L>(a + b, INT32_MIN, INT32_MAX); });
  two<I>("sub.sat.s32 %d, %a, %b;", [](L a, L b) { return std::clamp<L>(a - b, INT32_MIN, INT32_MAX); });
  two<U>("mul.lo.u32 %d, %a, %b;", [](auto a, auto b) { return a * b; });
  two<W>("mul.lo.s64 %d, %a, %b;", [](auto a, auto b) { return a * b; });
  two<I>("mul.hi.s32 %d, %a, %b;", [](L a, L b) { return (a * b) >> 32; });
  two<W>("mul.hi.u64 %d, %a, %b;", [](unsigned __int128 a, unsigned __int128 b) { return W((a * b) >> 64); });
  two<I>("div.s32 %d, %a, %b;", [](L a, L b) { return b ? a / b : -1; });
  two<U>("rem.u32 %d, %a, %b;", [](auto a, auto b) { return b ? a % b : a; });
  two<W>("div.u64 %d, %a, %b;", [](auto a, auto b) { return b ? a / b : ~W(0); });
  two<int16_t>("min.s16 %d, %a, %b;", [](auto a, auto b) { return std::min(a, b); });
  two<W>("max.u64 %d, %a, %b;", [](auto a, auto b) { return std::max(a, b); });
  two<L>("max.s64 %d, %a, %b;", [](auto a, auto b) { return std::max(a, b); });
  one<I, I>("abs.s32 %d, %a;", [](L a) { return a < 0 ? -a : a; });
  one<W, W>("neg.s64 %d, %a;", [](W a) { return 0 - a; });
  three<U, U, U, U>("mad.lo.u32 %d, %a, %b, %c;", [](auto a, auto b, auto c) { return a * b + c; });
  three<I, I, I, I>("mad.hi.s32 %d, %a, %b, %c;", [](L a, L b, U c) { return U(U(W(a * b) >> 32) + c); });
  three<U, U, U, U>("sad.u32 %d, %a, %b, %c;", [](auto a, auto b, auto c) { return c + (a < b ? b - a : a - b); });
  three<W, U, U, W>("mad.wide.u32 %d, %a, %b, %c;", [](W a, W b, W c) { return a * b + c; });
  three<W, I, I, W>("mad.wide.s32 %d, %a, %b, %c;", [](L a, L b, W c) { return W(a * b) + c; });
  three<U, U, U, U>("mad24.lo.u32 %d, %a, %b, %c;",
                    [](W a, W b, U c) { return U((a & 0xffffff) * (b & 0xffffff)) + c; });
}

void carries() {
  // A sum of 96 bits by parts: low, middle and high words of a + b with b twice.
  const std::string text = R"(
    .reg .b32 %x<8>;
    mov.b64 {%x0, %x1}, %a;
    mov.b64 {%x2, %x3}, %b;
    add.cc.u32 %x4, %x0, %x2;
    addc.u32 %x5, %x1, %x3;
    mov.b64 %d, {%x4, %x5};)";
  two<W>(text, [](auto a, auto b) { return a + b; });
  const std::string minus = R"(
    .reg .b32 %x<8>;
    mov.b64 {%x0, %x1}, %a;
    mov.b64 {%x2, %x3}, %b;
    sub.cc.u32 %x4, %x0, %x2;
    subc.u32 %x5, %x1, %x3;
    mov.b64 %d, {%x4, %x5};)";
  two<W>(minus, [](auto a, auto b) { return a - b; });
  const std::string product = R"(
    .reg .b32 %x<8>;
    mov.b64 {%x0, %x1}, %a;
    mov.b64 {%x2, %x3}, %b;
    mul.lo.u32 %x4, %x0, %x2;
    mul.hi.u32 %x5, %x0, %x2;
    mad.lo.cc.u32 %x5, %x0, %x3, %x5;
    madc.hi.u32 %x6, %x0, %x3, 0;
    mad.lo.cc.u32 %x5, %x1, %x2, %x5;
    mov.b64 %d, {%x4, %x5};)";
  two<W>(product, [](auto a, auto b) { return a * b; });
}

void dots() {
  three<U, U, U, U>("dp4a.u32.u32 %d, %a, %b, %c;", [](U a, U b, U c) {
    for (int k = 0; k < 32; k += 8) c += (a >> k & 255) * (b >> k & 255);
    return c;
  });
  three<U, U, U, U>("dp4a.s32.u32 %d, %a, %b, %c;", [](U a, U b, U c) {
    for (int k = 0; k < 32; k += 8) c += U(int(int8_t(a >> k)) * int(b >> k & 255));
    return c;
  });
  three<U, U, U, U>("dp2a.hi.s32.s32 %d, %a, %b, %c;", [](U a, U b, U c) {
    return c + U(int16_t(a) * int8_t(b >> 16)) + U(int16_t(a >> 16) * int8_t(b >> 24));
  });
}

void bits() {
  two<U>("and.b32 %d, %a, %b;", [](auto a, auto b) { return a & b; });
  two<W>("or.b64 %d, %a, %b;", [](auto a, auto b) { return a | b; });
  two<uint16_t>("xor.b16 %d, %a, %b;", [](auto a, auto b) { return a ^ b; });
  one<U, U>("not.b32 %d, %a;", [](auto a) { return ~a; });
  one<U, U>("cnot.b32 %d, %a;", [](auto a) { return a == 0; });
  two<U>("shl.b32 %d, %a, %b;", [](U a, U b) { return b < 32 ? a << b : 0; });
  two<U>("shr.u32 %d, %a, %b;", [](U a, U b) { return b < 32 ? a >> b : 0; });
  two<I>("shr.s32 %d, %a, %b;", [](I a, I b) { return a >> (U(b) < 32 ? b : 31); });
  three<U, U, U, U>("shf.l.wrap.b32 %d, %a, %b, %c;",
                    [](U a, U b, U c) { return U((W(b) << 32 | a) << (c & 31) >> 32); });
  three<U, U, U, U>("shf.r.clamp.b32 %d, %a, %b, %c;",
                    [](U a, U b, U c) { return U((W(b) << 32 | a) >> std::min(c, 32u)); });
  one<U, U>("brev.b32 %d, %a;", [](U a) {
    U r = 0;
    for (int k = 0; k < 32; ++k) r |= (a >> k & 1) << (31 - k);
    return r;
  });
  one<U, W>("popc.b64 %d, %a;", [](W a) { return std::popcount(a); });
  one<U, U>("clz.b32 %d, %a;", [](U a) { return std::countl_zero(a); });
  one<U, I>("bfind.s32 %d, %a;", [](I a) { return 31 - std::countl_zero(U(a < 0 ? ~a : a)); });
  one<U, W>("bfind.shiftamt.u64 %d, %a;", [](W a) { return a ? std::countl_zero(a) : -1; });
  three<U, U, U, U>("prmt.b32 %d, %a, %b, %c;", [](U a, U b, U c) {
    U r = 0;
    for (int k = 0; k < 4; ++k) {
      const U which = c >> (4 * k) & 15, byte = U((W(b) << 32 | a) >> (8 * (which & 7))) & 255;
      r |= (which & 8 ? (byte & 128 ? 255 : 0) : byte) << (8 * k);
    }
    return r;
  });
  three<U, U, U, U>("lop3.b32 %d, %a, %b, %c, 0xca;", [](U a, U b, U c) { return (a & b) | (~a & c); });
}

void fields() {
  // Positions and lengths within 0..63, so that fields hang over the end.
  const auto small = [](const char* op) {
    return std::string(".reg .b32 %x<3>;\nand.b32 %x0, %b, 63;\nshr.u32 %x1, %b, 6;\nand.b32 %x1, %x1, 63;\n") + op;
  };
  const auto extract = [](L a, bool is_signed, U from, U length) {
    L r = 0;
    const int sign_at = int(std::min(from + length - 1, 31u));
    const bool sign = is_signed && length && (a >> sign_at & 1);
    for (U k = 0; k < 32; ++k) {
      const bool bit = k < length && from + k < 32 ? a >> (from + k) & 1 : length ? sign : false;
      r |= L(bit) << k;
    }
    return U(r);
  };
  two<U>(small("bfe.u32 %d, %a, %x0, %x1;"), [&](U a, U b) { return extract(a, false, b & 63, b >> 6 & 63); });
  two<U>(small("bfe.s32 %d, %a, %x0, %x1;"), [&](U a, U b) { return extract(a, true, b & 63, b >> 6 & 63); });
  three<U, U, U, U>(small("bfi.b32 %d, %a, %c, %x0, %x1;"), [](U a, U b, U c) {
    const U from = b & 63, length = b >> 6 & 63;
    for (U k = 0; k < length && from + k < 32; ++k) c = (c & ~(1u << (from + k))) | (a >> k & 1) << (from + k);
    return c;
  });
}

void selections() {
  three<U, U, U, I>("setp.ge.s32 %q0, %c, 0;\nselp.b32 %d, %a, %b, %q0;", [](U a, U b, I c) { return c >= 0 ? a : b; });
  three<U, U, U, I>("slct.u32.s32 %d, %a, %b, %c;", [](U a, U b, I c) { return c >= 0 ? a : b; });
  three<U, U, U, U>(
      "setp.lt.u32 %q0, %a, %b;\nsetp.hi.and.u32 %q1|%q2, %b, %c, %q0;\nselp.u32 %d, 2, 0, %q1;\n@%q2 add.u32 %d, %d, "
      "1;",
      [](U a, U b, U c) { return (a < b && b > c ? 2u : 0u) + (a < b && !(b > c) ? 1u : 0u); });
  two<U>("set.lt.u32.u32 %d, %a, %b;", [](U a, U b) { return a < b ? ~0u : 0u; });
  two<U>("setp.eq.u32 %q0, %a, %b;\nsetp.ne.or.u32 %q1, %a, 0, !%q0;\nnot.pred %q2, %q1;\nselp.u32 %d, 1, 0, %q2;",
         [](U a, U b) { return !(a != 0 || !(a == b)) ? 1u : 0u; });
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {{"sums, products and quotients are those of C++", arithmetic},
                            {"carries go from word to word", carries},
                            {"dot products of bytes", dots},
                            {"logic, shifts and counts of bits", bits},
                            {"fields of bits", fields},
                            {"predicates and selections", selections}});
}
