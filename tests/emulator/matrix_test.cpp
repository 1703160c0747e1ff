// Products of matrices by a warp, against loops, and the loads of their fragments.
#include "rig.hpp"

#include <bit>
#include <cmath>
#include <functional>

using namespace stator::emulator;
using namespace stator::emulator::test;

namespace {

using U = uint32_t;

// Small integers in the formats: every product and sum is exact.
struct Format {
  const char* name;
  unsigned bits;
  std::function<U(int)> encode;
};
U to_half(int v) {
  if (v == 0) return 0;
  const U b = std::bit_cast<U>(float(v));
  return (b >> 16 & 0x8000) | ((((b >> 23 & 255) - 112) << 10) | (b >> 13 & 0x3ff));
}
const Format f16{"f16", 16, to_half}, bf16{"bf16", 16, [](int v) { return std::bit_cast<U>(float(v)) >> 16; }},
    tf32{"tf32", 32, [](int v) { return std::bit_cast<U>(float(v)); }}, s8{"s8", 8, [](int v) { return U(v) & 255; }},
    u8{"u8", 8, [](int v) { return U(v) & 255; }};

// The documented layout: with g = lane / 4 and t = lane % 4, element i of A and B.
struct Position {
  unsigned row, column;
};
Position in_a(unsigned lane, unsigned i, unsigned per) {
  const unsigned g = lane / 4, t = lane % 4, r = i / per;
  return {g + 8 * (r % 2), t * per + i % per + 4 * per * (r / 2)};
}
Position in_b(unsigned lane, unsigned i, unsigned per) {
  return {lane % 4 * per + i % per + 4 * per * (i / per), lane / 4};
}

void product(unsigned k, const Format& a, const Format& b, const std::string& sum) {
  const unsigned per = 32 / a.bits, registers_a = 16 * k / 32 / per, registers_b = k * 8 / 32 / per,
                 registers_d = sum == "f16" ? 2 : 4;
  const bool positive = std::string(a.name) == "u8", whole = sum == "s32";
  std::vector<std::vector<int>> x(16, std::vector<int>(k)), y(k, std::vector<int>(8)), z(16, std::vector<int>(8));
  Random random(k + a.bits);
  const auto some = [&](bool no_sign) { return int(random.next() % 9) - (no_sign ? 0 : 4); };
  for (auto& row : x)
    for (int& v : row) v = some(positive);
  for (auto& row : y)
    for (int& v : row) v = some(std::string(b.name) == "u8");
  for (auto& row : z)
    for (int& v : row) v = some(false);
  std::vector<U> in_registers((registers_a + registers_b + registers_d) * 32);
  const auto put = [&](unsigned r, unsigned lane, unsigned shift, U value) {
    in_registers[r * 32 + lane] |= value << shift;
  };
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < registers_a * per; ++i) {
      const Position p = in_a(lane, i, per);
      put(i / per, lane, a.bits * (i % per), a.encode(x[p.row][p.column]));
    }
    for (unsigned i = 0; i < registers_b * per; ++i) {
      const Position p = in_b(lane, i, per);
      put(registers_a + i / per, lane, a.bits * (i % per), b.encode(y[p.row][p.column]));
    }
    for (unsigned i = 0; i < 4; ++i) {
      const int v = z[lane / 4 + 8 * (i / 2)][lane % 4 * 2 + i % 2];
      if (sum == "f16")
        put(registers_a + registers_b + i / 2, lane, 16 * (i % 2), to_half(v));
      else
        put(registers_a + registers_b + i, lane, 0, whole ? U(v) : std::bit_cast<U>(float(v)));
    }
  }
  std::string body =
      "mov.u32 %r0, %tid.x;\nmul.wide.u32 %d1, %r0, 4;\nld.param.u64 %d0, [p0];\nadd.u64 %d0, %d0, %d1;\nld.param.u64 "
      "%d2, [p1];\nadd.u64 %d2, %d2, %d1;\n";
  const auto list = [&](unsigned from, unsigned n) {
    std::string text = "{";
    for (unsigned i = 0; i < n; ++i) text += (i ? ", %r" : "%r") + std::to_string(from + i);
    return text + "}";
  };
  const unsigned total = registers_a + registers_b + registers_d;
  for (unsigned r = 0; r < total; ++r)
    body += "ld.global.u32 %r" + std::to_string(10 + r) + ", [%d0+" + std::to_string(128 * r) + "];\n";
  const std::string text =
      "mma.sync.aligned.m16n8k" + std::to_string(k) + ".row.col." + sum + "." + a.name + "." + b.name + "." + sum;
  body += text + " " + list(30, registers_d) + ", " + list(10, registers_a) + ", " +
          list(10 + registers_a, registers_b) + ", " + list(10 + registers_a + registers_b, registers_d) + ";\n";
  for (unsigned r = 0; r < registers_d; ++r)
    body += "st.global.u32 [%d2+" + std::to_string(128 * r) + "], %r" + std::to_string(30 + r) + ";\n";
  Rig rig(kernel(body, 2));
  U* const out = rig.empty<U>(registers_d * 32);
  succeed(rig.run(1, 32, rig.array(in_registers), out));
  const auto got = rig.read(out, registers_d * 32);
  int wrong = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
      int v = z[row][column];
      for (unsigned n = 0; n < k; ++n) v += x[row][n] * y[n][column];
      const U seen = sum == "f16" ? got[i / 2 * 32 + lane] >> (16 * (i % 2)) & 0xffff : got[i * 32 + lane];
      wrong += seen != (sum == "f16" ? to_half(v) : whole ? U(v) : std::bit_cast<U>(float(v)));
    }
  stator::test::check(wrong == 0, text, wrong);
}

void products() {
  product(8, f16, f16, "f32");
  product(16, f16, f16, "f32");
  product(16, f16, f16, "f16");
  product(8, bf16, bf16, "f32");
  product(16, bf16, bf16, "f32");
  product(4, tf32, tf32, "f32");
  product(8, tf32, tf32, "f32");
  product(16, s8, s8, "s32");
  product(32, s8, s8, "s32");
  product(32, u8, s8, "s32");
}

// Four matrices of 8 x 8 halves, whose element (row, column) of matrix m is 100 m + 8 row + column.
void fragments() {
  for (const bool transposed : {false, true}) {
    Rig rig(kernel(std::string(R"(
      mov.u32 %r0, %tid.x;
      ld.param.u64 %d0, [p0];
      ld.param.u64 %d1, [p1];
      mul.wide.u32 %d2, %r0, 16;
      add.u64 %d3, %d0, %d2;
      ld.global.v2.u64 {%d4, %d5}, [%d3];
      mov.u32 %r1, tile;
      mad.lo.u32 %r1, %r0, 16, %r1;
      st.shared.v2.u64 [%r1], {%d4, %d5};
      bar.sync 0;
      ldmatrix.sync.aligned.m8n8.x4)") +
                       (transposed ? ".trans" : "") + R"(.shared.b16 {%r2, %r3, %r4, %r5}, [%r1];
      add.u64 %d3, %d1, %d2;
      st.global.v4.u32 [%d3], {%r2, %r3, %r4, %r5};)",
                   2, ".shared .align 16 .b8 tile[512];\n"));
    std::vector<uint16_t> values(256);
    for (unsigned i = 0; i < 256; ++i) values[i] = uint16_t(i / 64 * 100 + i % 64);
    U* const out = rig.empty<U>(128);
    succeed(rig.run(1, 32, rig.array(values), out));
    const auto got = rig.read(out, 128);
    int wrong = 0;
    for (unsigned l = 0; l < 32; ++l)
      for (unsigned m = 0; m < 4; ++m) {
        const unsigned major = l / 4, minor = 2 * (l % 4);
        const U low = transposed ? 8 * minor + major : 8 * major + minor, high = transposed ? low + 8 : low + 1;
        wrong += got[4 * l + m] != ((100 * m + low) | (100 * m + high) << 16);
      }
    CHECK(wrong == 0);
  }
}

void whole_warps() {
  const std::string text =
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, {%r1, %r2}, "
      "{%r1, %r2, %r3, %r4};";
  Rig rig(kernel(text));
  succeed(rig.run(1, 32, 0));
  faults(rig.run(1, 31, 0), Fault::missing_lanes, "31 do");
  Rig refused(kernel("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r1}, [%r2];"));
  faults(refused.run(1, 32, 0), Fault::unsupported, "wmma");
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {{"products of every format", products},
                            {"fragments are loaded as documented", fragments},
                            {"the whole warp takes part", whole_warps}});
}
