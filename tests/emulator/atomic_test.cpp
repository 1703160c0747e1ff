// Atomic operations in every space, and asynchronous copies.
#include "rig.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

using namespace stator::emulator;
using namespace stator::emulator::test;

namespace {

using U = uint32_t;

// Applies the instruction once per thread, with %r1 = 1 + tid, to one element that begins as `first`.
template <class T>
T applied(const std::string& text, T first, U threads = 64, U blocks = 1) {
  Rig rig(kernel("ld.param.u64 %d0, [p0];\nmov.u32 %r0, %tid.x;\nadd.u32 %r1, %r0, 1;\n" + text));
  rig.device.settings().threads = blocks > 1 ? 2 : 1;
  T* const at = rig.array(std::vector<T>{first});
  succeed(rig.run(blocks, threads, at));
  return rig.read(at, 1)[0];
}

void integers() {
  CHECK(applied<U>("red.global.add.u32 [%d0], %r1;", 10) == 10 + 64 * 65 / 2);
  CHECK(applied<U>("atom.global.add.u32 %r2, [%d0], %r1;", 0, 64, 50) == 50 * 64 * 65 / 2);
  CHECK(applied<uint64_t>("cvt.u64.u32 %d1, %r1;\natom.add.u64 %d2, [%d0], %d1;", 1ull << 40) == (1ull << 40) + 2080);
  CHECK(applied<U>("atom.global.min.s32 %r2, [%d0], %r1;", 50) == 1);
  CHECK(applied<U>("atom.global.max.u32 %r2, [%d0], %r1;", 50) == 64);
  CHECK(applied<int>("neg.s32 %r1, %r1;\natom.global.min.s32 %r2, [%d0], %r1;", 50) == -64);
  CHECK(applied<U>("atom.global.inc.u32 %r2, [%d0], 9;", 0) == 64 % 10);
  CHECK(applied<U>("atom.global.dec.u32 %r2, [%d0], 9;", 3) == (3 + 100 - 64) % 10);
  CHECK(applied<U>("atom.global.or.b32 %r2, [%d0], %r1;", 0) == 127);
  CHECK(applied<U>("atom.global.and.b32 %r2, [%d0], %r1;", 0xff) == 0);
  CHECK(applied<U>("atom.global.xor.b32 %r2, [%d0], %r1;", 0) == 64);
  CHECK(applied<U>("atom.global.exch.b32 %r2, [%d0], %r1;", 0) == 64);
  CHECK(applied<U>("sub.u32 %r3, %r1, 1;\natom.global.cas.b32 %r2, [%d0], %r3, %r1;", 0) == 64);
  CHECK(applied<uint16_t>("cvt.u16.u32 %h1, %r1;\nsub.u16 %h0, %h1, 1;\natom.global.cas.b16 %h2, [%d0], %h0, %h1;",
                          0) == 64);
}

void floats() {
  CHECK(applied<float>("cvt.rn.f32.u32 %f0, %r1;\natom.global.add.f32 %f1, [%d0], %f0;", 0.5f) == 2080.5f);
  CHECK(applied<double>("cvt.rn.f64.u32 %g0, %r1;\nred.global.add.f64 [%d0], %g0;", 0.25) == 2080.25);
  CHECK(applied<uint16_t>("mov.b16 %h0, 0x3c00;\natom.global.add.noftz.f16 %h1, [%d0], %h0;", 0) == 0x5400);
  CHECK(applied<U>("mov.b32 %r2, 0x3f804000;\nred.global.add.noftz.bf16x2 [%d0], %r2;", 0) == 0x42804300);
}

void results_and_shared() {
  Rig rig(kernel(R"(
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, counter;
    setp.eq.u32 %p1, %r0, 0;
    @%p1 st.shared.u32 [counter], 0;
    bar.sync 0;
    atom.shared.add.u32 %r2, [%r1], 1;
    bar.sync 0;
    ld.shared.u32 %r3, [counter];
    ld.param.u64 %d0, [p0];
    mul.wide.u32 %d1, %r0, 8;
    add.u64 %d1, %d0, %d1;
    st.global.v2.u32 [%d1], {%r2, %r3};)",
                 1, ".shared .align 4 .u32 counter;\n"));
  U* const out = rig.empty<U>(256);
  const Result r = rig.run(1, 128, out);
  succeed(r);
  auto got = rig.read(out, 256);
  std::vector<U> tickets;
  for (U i = 0; i < 128; ++i) {
    tickets.push_back(got[2 * i]);
    CHECK(got[2 * i + 1] == 128);
  }
  std::sort(tickets.begin(), tickets.end());
  for (U i = 0; i < 128; ++i) CHECK(tickets[i] == i);
  CHECK(r.counters.shared_atomics == 4 && r.counters.global_atomics == 0);
}

void checks() {
  Rig rig(kernel("ld.param.u64 %d0, [p0];\nred.global.add.u32 [%d0], 1;"));
  U* const fresh = rig.empty<U>(2, "fresh");
  faults(rig.run(1, 1, fresh), Fault::uninitialised, "fresh");
  rig.device.memory().fill(fresh, 0, 8);
  succeed(rig.run(1, 1, fresh));
  faults(rig.run(1, 1, reinterpret_cast<std::byte*>(fresh) + 2), Fault::misaligned);
  faults(rig.run(1, 1, fresh + 2), Fault::out_of_bounds);
}

// Every thread copies 16 bytes into shared memory, waits or does not, and reads them.
std::string copies(const std::string& wait) {
  return kernel(R"(
    ld.param.u64 %d0, [p0];
    ld.param.u64 %d1, [p1];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %d2, %r0, 16;
    add.u64 %d3, %d0, %d2;
    shl.b32 %r1, %r0, 4;
    mov.u32 %r2, tile;
    add.u32 %r2, %r2, %r1;
    cp.async.cg.shared.global [%r2], [%d3], 16;
    cp.async.commit_group;
    cp.async.ca.shared.global [%r2+1024], [%d3], 8, 4;
    cp.async.commit_group;
    )" + wait + R"(
    ld.shared.v2.u64 {%d4, %d5}, [%r2];
    add.u64 %d6, %d1, %d2;
    st.global.v2.u64 [%d6], {%d4, %d5};
    cp.async.wait_all;
    ld.shared.u64 %d4, [%r2+1024];
    st.global.u64 [%d6], %d4;)",
                2, ".shared .align 16 .b8 tile[2048];\n");
}

void asynchronous() {
  std::vector<uint64_t> values(128);
  std::iota(values.begin(), values.end(), uint64_t(5) << 40 | 1);
  const auto run = [&](const std::string& wait, std::vector<uint64_t>* got) {
    Rig rig(copies(wait));
    uint64_t* const in = rig.array(values, "in");
    uint64_t* const out = rig.empty<uint64_t>(128);
    const Result r = rig.run(1, 64, in, out);
    if (r.ok() && got) *got = rig.read(out, 128);
    return r;
  };
  std::vector<uint64_t> got;
  succeed(run("cp.async.wait_group 1;", &got));
  for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == (i % 2 ? values[i] : uint64_t(uint32_t(values[i]))));
  faults(run("cp.async.wait_group 2;", nullptr), Fault::uninitialised, "shared");
  faults(run("", nullptr), Fault::uninitialised, "shared");
  Rig rig(copies("cp.async.wait_group 0;"));
  uint64_t* const in = rig.array(values, "in");
  uint64_t* const out = rig.empty<uint64_t>(128);
  faults(rig.run(1, 64, in + 2, out), Fault::out_of_bounds, "in");
  faults(rig.run(1, 64, in + 1, out), Fault::misaligned);
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {{"integers, also by several threads of the CPU", integers},
                            {"floating sums", floats},
                            {"results, and shared memory", results_and_shared},
                            {"atomic operations are checked as other accesses", checks},
                            {"asynchronous copies take effect at their wait", asynchronous}});
}
