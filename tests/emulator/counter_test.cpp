// Counters against counts by hand, on small kernels of different kinds.
#include "rig.hpp"

#include <algorithm>

using namespace stator::emulator;
using namespace stator::emulator::test;

namespace {

uint64_t of(const Counters& c, Kind kind) { return c.warp_instructions[size_t(kind)]; }

// %r0 = the thread's number in the grid, %d1 = 4 times it.
const std::string number = R"(
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r0, %r1, %r2, %r3;
  mul.wide.u32 %d1, %r0, 4;
  ld.param.u64 %d8, [p0];
  ld.param.u64 %d9, [p1];)";

void saxpy() {
  Rig rig(kernel(number + R"(
    add.u64 %d2, %d8, %d1;
    add.u64 %d3, %d9, %d1;
    ld.global.f32 %f1, [%d2];
    ld.global.f32 %f2, [%d3];
    fma.rn.f32 %f3, %f1, 0f40000000, %f2;
    st.global.f32 [%d3], %f3;)",
                 2));
  float* const x = rig.array(std::vector<float>(1024, 3));
  float* const y = rig.array(std::vector<float>(1024, 1));
  const Result r = rig.run(4, 250, x, y);  // 8 warps a block, the last with 26 lanes
  succeed(r);
  const Counters& c = r.counters;
  CHECK(rig.read(y, 1)[0] == 7);
  CHECK(c.blocks == 4 && c.threads == 1000 && c.warps == 32);
  CHECK(of(c, Kind::f32) == 32 && c.lane_instructions[size_t(Kind::f32)] == 1000);
  CHECK(of(c, Kind::integer) == 4 * 32 && of(c, Kind::move) == 3 * 32 && of(c, Kind::memory) == 5 * 32 &&
        of(c, Kind::control) == 32);
  CHECK(c.instructions() == 14 * 32 && c.lanes() == 14 * 1000);
  CHECK(c.global_loads == 64 && c.global_load_bytes == 8000 && c.global_stores == 32 && c.global_store_bytes == 4000);
  // A warp's 128 bytes are four sectors where they begin at one. Blocks begin at bytes 0, 1000, 2000, 3000: 0 and 8
  // (twice), 16 and 24 bytes after a sector, of which the full warps of all but the first touch five.
  CHECK(c.global_store_sectors == (7 * 4 + 4) + 3 * (7 * 5 + 4));
  CHECK(c.global_load_sectors == 2 * c.global_store_sectors);
}

void strided_copy() {
  Rig rig(kernel(number + R"(
    shl.b64 %d4, %d1, 3;
    add.u64 %d2, %d8, %d4;
    add.u64 %d3, %d9, %d1;
    ld.global.u32 %r4, [%d2];
    st.global.u32 [%d3], %r4;)",
                 2));
  uint32_t* const in = rig.array(std::vector<uint32_t>(64 * 8));
  uint32_t* const out = rig.empty<uint32_t>(64);
  const Result r = rig.run(1, 64, in, out);
  succeed(r);
  CHECK(r.counters.global_loads == 2 && r.counters.global_load_sectors == 64 && r.counters.global_load_bytes == 256);
  CHECK(r.counters.global_stores == 2 && r.counters.global_store_sectors == 8);
}

// A tile of 32 x 32 words, whose rows are `pitch` bytes apart, is written by rows and read by columns by one warp.
void transpose() {
  for (const int pitch : {128, 132}) {
    std::string body = R"(
      mov.u32 %r0, %tid.x;
      mov.u32 %r5, tile;
      mad.lo.u32 %r1, %r0, 4, %r5;
      mad.lo.u32 %r2, %r0, PITCH, %r5;
      mov.u32 %r3, 0;
    rows:
      st.shared.u32 [%r1], %r3;
      add.u32 %r1, %r1, PITCH;
      add.u32 %r3, %r3, 1;
      setp.lt.u32 %p1, %r3, 32;
      @%p1 bra rows;
      bar.sync 0;
      ld.shared.u32 %r4, [%r2];
      ld.shared.u32 %r4, [%r2+4];)";
    for (size_t at; (at = body.find("PITCH")) != std::string::npos;) body.replace(at, 5, std::to_string(pitch));
    Rig rig(kernel(body, 1, ".shared .align 16 .b8 tile[4224];\n"));
    const Result r = rig.run(1, 32, 0);
    succeed(r);
    CHECK(r.counters.shared_stores == 32 && r.counters.shared_store_wavefronts == 32 && r.counters.shared_loads == 2);
    CHECK(r.counters.shared_load_wavefronts == (pitch == 128 ? 64u : 2u));
    CHECK(r.counters.barriers == 1 && of(r.counters, Kind::barrier) == 1);
  }
}

// 256 words are summed in shared memory: strides 128, 64, ... 1.
void reduction() {
  Rig rig(kernel(number + R"(
    add.u64 %d2, %d8, %d1;
    ld.global.u32 %r4, [%d2];
    mov.u32 %r5, tile;
    mad.lo.u32 %r6, %r3, 4, %r5;
    st.shared.u32 [%r6], %r4;
    bar.sync 0;
    mov.u32 %r7, 128;
  top:
    setp.ge.u32 %p1, %r3, %r7;
    @%p1 bra skip;
    mad.lo.u32 %r8, %r7, 4, %r6;
    ld.shared.u32 %r9, [%r8];
    ld.shared.u32 %r10, [%r6];
    add.u32 %r9, %r9, %r10;
    st.shared.u32 [%r6], %r9;
  skip:
    bar.sync 0;
    shr.u32 %r7, %r7, 1;
    setp.ne.u32 %p2, %r7, 0;
    @%p2 bra top;
    setp.ne.u32 %p3, %r3, 0;
    @%p3 exit;
    st.global.u32 [%d9], %r9;)",
                 2, ".shared .align 4 .b8 tile[1024];\n"));
  uint32_t* const in = rig.array(std::vector<uint32_t>(256, 3));
  uint32_t* const out = rig.empty<uint32_t>(1);
  Settings& settings = rig.device.settings();
  settings.races = true;
  const Result r = rig.run(1, 256, in, out);
  succeed(r);
  CHECK(rig.read(out, 1)[0] == 768);
  const Counters& c = r.counters;
  CHECK(c.barriers == 9 && of(c, Kind::barrier) == 9 * 8);
  // Warps that load: 4, 2, then one for each of the strides 32, 16, 8, 4, 2, 1; two loads and a store each.
  CHECK(c.shared_loads == 2 * 12 && c.shared_stores == 8 + 12);
  CHECK(c.shared_load_wavefronts == c.shared_loads && c.shared_store_wavefronts == c.shared_stores);
  CHECK(c.global_loads == 8 && c.global_load_sectors == 32 && c.global_stores == 1 && c.global_store_sectors == 1 &&
        c.global_store_bytes == 4);
}

void histogram() {
  Rig rig(kernel(number + R"(
    add.u64 %d2, %d8, %d1;
    ld.global.u32 %r4, [%d2];
    and.b32 %r4, %r4, 7;
    mul.wide.u32 %d3, %r4, 4;
    add.u64 %d3, %d9, %d3;
    red.global.add.u32 [%d3], 1;)",
                 2));
  std::vector<uint32_t> values(500);
  for (uint32_t i = 0; i < 500; ++i) values[i] = i;
  uint32_t* const in = rig.array(values);
  uint32_t* const bins = rig.array(std::vector<uint32_t>(8));
  const Result r = rig.run(4, 125, in, bins);
  succeed(r);
  const auto got = rig.read(bins, 8);
  for (uint32_t b = 0; b < 8; ++b) CHECK(got[b] == (b < 4 ? 63u : 62u));
  CHECK(r.counters.global_atomics == 16 && r.counters.global_loads == 16 && r.counters.global_stores == 0);
}

void local_arrays() {
  Rig rig(kernel(R"(
    .local .align 4 .b8 depot[32];
    mov.u32 %r0, %tid.x;
    and.b32 %r1, %r0, 7;
    mov.u32 %r2, depot;
    mad.lo.u32 %r3, %r1, 4, %r2;
    st.local.u32 [%r3], %r0;
    ld.local.u32 %r4, [%r3];)"));
  const Result r = rig.run(2, 64, 0);
  succeed(r);
  CHECK(r.counters.local_stores == 4 && r.counters.local_loads == 4 && r.counters.global_loads == 0 &&
        r.counters.shared_loads == 0);
  CHECK(r.counters.registers_bytes > 0);
}

// Lanes of 16 bytes: four sectors and four passes for each eight lanes. A word that all lanes read is one of each.
void wide_and_shared_words() {
  Rig rig(kernel(number + R"(
    .reg .b32 %v<4>;
    shl.b64 %d4, %d1, 2;
    add.u64 %d2, %d8, %d4;
    ld.global.v4.u32 {%v0, %v1, %v2, %v3}, [%d2];
    ld.global.u32 %r4, [%d8];
    mov.u32 %r5, tile;
    mad.lo.u32 %r6, %r3, 16, %r5;
    st.shared.v4.u32 [%r6], {%v0, %v1, %v2, %v3};
    mad.lo.u32 %r7, %r3, 8, %r5;
    st.shared.u64 [%r7], %d1;
    ld.shared.u32 %r8, [tile];)",
                 2, ".shared .align 16 .b8 tile[1024];\n"));
  uint32_t* const in = rig.array(std::vector<uint32_t>(256, 1));
  const Result r = rig.run(1, 64, in, 0);
  succeed(r);
  const Counters& c = r.counters;
  CHECK(c.global_loads == 4 && c.global_load_bytes == 64 * 16 + 64 * 4 && c.global_load_sectors == 2 * 16 + 2);
  CHECK(c.shared_stores == 4 && c.shared_store_wavefronts == 2 * 4 + 2 * 2);
  CHECK(c.shared_loads == 2 && c.shared_load_wavefronts == 2);
}

// Lane l goes l + 1 times through a loop of three instructions, and the odd lanes through two more.
void diverging_lanes() {
  Rig rig(kernel(R"(
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, 0;
  top:
    add.u32 %r1, %r1, 1;
    setp.le.u32 %p1, %r1, %r0;
    @%p1 bra top;
    and.b32 %r2, %r0, 1;
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra end;
    cvt.rn.f32.u32 %f1, %r1;
    ex2.approx.f32 %f2, %f1;
  end:)"));
  const Result r = rig.run(1, 32, 0);
  succeed(r);
  const Counters& c = r.counters;
  const auto lanes_of = [&](Kind kind) { return c.lane_instructions[size_t(kind)]; };
  // The loop's branch is guarded: as an instruction of a warp it counts each time, of lanes only where it is taken.
  constexpr uint64_t turns = 32, lane_turns = 32 * 33 / 2, taken = lane_turns - 32;
  CHECK(of(c, Kind::convert) == 1 && lanes_of(Kind::convert) == 16);
  CHECK(of(c, Kind::special) == 1 && lanes_of(Kind::special) == 16);
  CHECK(of(c, Kind::move) == 2 && lanes_of(Kind::move) == 64);
  CHECK(of(c, Kind::control) == turns + 2 && lanes_of(Kind::control) == taken + 16 + 32);
  CHECK(of(c, Kind::integer) == 2 * turns + 2 && lanes_of(Kind::integer) == 2 * lane_turns + 64);
  CHECK(c.instructions() == 3 * turns + 8 && c.local_loads == 0);
}

// Each lane copies 16 bytes to shared memory without a register: a load of global memory and a store to shared.
void asynchronous_copies() {
  Rig rig(kernel(number + R"(
    shl.b64 %d4, %d1, 2;
    add.u64 %d2, %d8, %d4;
    mov.u32 %r5, tile;
    mad.lo.u32 %r6, %r3, 16, %r5;
    cp.async.cg.shared.global [%r6], [%d2], 16;
    cp.async.commit_group;
    cp.async.wait_group 0;
    bar.sync 0;
    atom.shared.add.u32 %r7, [tile], 1;)",
                 2, ".shared .align 16 .b8 tile[1024];\n"));
  uint32_t* const in = rig.array(std::vector<uint32_t>(256, 1));
  const Result r = rig.run(1, 64, in, 0);
  succeed(r);
  const Counters& c = r.counters;
  CHECK(c.global_loads == 2 && c.global_load_bytes == 1024 && c.global_load_sectors == 32);
  CHECK(c.shared_stores == 2 && c.shared_store_wavefronts == 8 && c.shared_loads == 0);
  CHECK(c.shared_atomics == 2 && c.global_atomics == 0 && c.barriers == 1);
}

// Each block reads p1 pieces of 128 bytes, one after the other, and then the first again. The multiprocessor has that
// already, unless more was read in between than its cache holds, and so it has what an earlier block read.
void first_cache() {
  const std::string text = kernel(R"(
    mov.u32 %r3, %tid.x;
    mul.wide.u32 %d1, %r3, 4;
    ld.param.u64 %d8, [p0];
    ld.param.u64 %d9, [p1];
    add.u64 %d2, %d8, %d1;
    mov.u64 %d3, %d2;
  more:
    ld.global.u32 %r4, [%d3];
    add.u64 %d3, %d3, 128;
    sub.u64 %d9, %d9, 1;
    setp.ne.u64 %p1, %d9, 0;
    @%p1 bra more;
    ld.global.u32 %r4, [%d2];)",
                                  2);
  Settings settings;
  settings.cache = true;
  Rig rig(text, settings);
  uint32_t* const in = rig.array(std::vector<uint32_t>(32 * 4096));
  const auto misses = [&](uint32_t blocks, int pieces) {
    const Result r = rig.run(blocks, 32, in, pieces);
    succeed(r);
    CHECK(r.counters.global_load_sectors == uint64_t(blocks) * (pieces + 1) * 4);
    return r.counters.global_load_misses;
  };
  CHECK(misses(1, 4) == 16);
  CHECK(misses(132, 4) == 132 * 16);
  CHECK(misses(133, 4) == 132 * 16);   // the last one follows the first
  CHECK(misses(1, 4096) == 4097 * 4);  // 512 KiB, of 256
  CHECK(misses(1, 1024) < 1025 * 4);
  rig.device.settings().cache = false;
  CHECK(misses(1, 4) == 0);
}

// How often each form is executed, where that is asked for: by warps with a lane at least.
void forms() {
  const std::string text = R"(
    mov.u32 %r0, %tid.x;
    setp.ge.u32 %p1, %r0, 32;
    @%p1 add.u32 %r1, %r0, 1;
    @%p1 add.u32 %r1, %r1, 1;
    setp.ge.u32 %p2, %r0, 1000;
    @%p2 mul.lo.u32 %r1, %r1, %r1;)";
  Rig rig(kernel(text));
  CHECK(rig.run(1, 96, 0).forms.empty());
  rig.device.settings().forms = true;
  rig.device.settings().threads = 2;
  const Result r = rig.run(5, 96, 0);
  succeed(r);
  const auto form = [&](std::string_view name) {
    for (const FormCount& f : r.forms)
      if (f.form == name) return f;
    return FormCount{};
  };
  CHECK(form("setp.ge.u32").instructions == 2 && form("setp.ge.u32").executed == 2 * 3 * 5);
  CHECK(form("add.u32").instructions == 2 && form("add.u32").executed == 2 * 2 * 5);
  CHECK(form("mul.lo.u32").instructions == 1 && form("mul.lo.u32").executed == 0);
  CHECK(form("ret").executed == 3 * 5 && r.forms.size() == 5);
}

// The same whatever the order, and with several threads of the CPU.
void orders() {
  Rig rig(kernel(number + "add.u64 %d2, %d8, %d1;\nst.global.u32 [%d2], %r0;", 2));
  uint32_t* const out = rig.empty<uint32_t>(64 * 100);
  Counters first;
  for (const uint64_t seed : {0, 1, 2, 3})
    for (const uint32_t threads : {1u, 2u}) {
      rig.device.settings().seed = seed;
      rig.device.settings().threads = threads;
      const Result r = rig.run(100, 64, out, 0);
      succeed(r);
      const auto got = rig.read(out, 6400);
      bool good = true;
      for (uint32_t i = 0; i < got.size(); ++i) good &= got[i] == i;
      CHECK(good && r.counters.blocks == 100);
      if (seed == 0 && threads == 1) first = r.counters;
      CHECK(r.counters.warp_instructions == first.warp_instructions &&
            r.counters.global_store_sectors == first.global_store_sectors);
    }
}

// Blocks take tickets: a seed changes who comes first.
void seeds() {
  std::vector<uint32_t> firsts;
  for (const uint64_t seed : {0, 1, 2, 3, 4, 5}) {
    Rig rig(kernel("ld.param.u64 %d0, [p0];\nmov.u32 %r0, %ctaid.x;\natom.global.cas.b32 %r1, [%d0], 1000, %r0;"));
    rig.device.settings().seed = seed;
    uint32_t* const first = rig.array(std::vector<uint32_t>{1000});
    succeed(rig.run(50, 1, first));
    firsts.push_back(rig.read(first, 1)[0]);
  }
  CHECK(firsts[0] == 0);
  CHECK(std::count(firsts.begin(), firsts.end(), 0u) < 4);
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {{"saxpy", saxpy},
                            {"a strided copy", strided_copy},
                            {"a transposition with and without padding", transpose},
                            {"a reduction", reduction},
                            {"a histogram with atomics", histogram},
                            {"local arrays", local_arrays},
                            {"wide and shared words", wide_and_shared_words},
                            {"diverging lanes", diverging_lanes},
                            {"asynchronous copies", asynchronous_copies},
                            {"the first cache", first_cache},
                            {"forms of instructions", forms},
                            {"orders and threads change no counter", orders},
                            {"a seed chooses the order of blocks", seeds}});
}
