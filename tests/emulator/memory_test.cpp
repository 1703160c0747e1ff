// Every access is checked: each rule has a kernel that breaks it, and a near neighbour that does not.
#include "rig.hpp"

#include <set>

using namespace stator::emulator;
using namespace stator::emulator::test;

namespace {

// out[i + offset] = in[i]: p0 out, p1 in, p2 offset in elements.
const char* copy_body = R"(
  ld.param.u64 %d0, [p0];
  ld.param.u64 %d1, [p1];
  ld.param.u64 %d2, [p2];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %d3, %r0, 4;
  add.u64 %d4, %d1, %d3;
  ld.global.u32 %r1, [%d4];
  add.u64 %d5, %d0, %d3;
  shl.b64 %d6, %d2, 2;
  add.u64 %d5, %d5, %d6;
  st.global.u32 [%d5], %r1;)";

void bounds() {
  Rig rig(kernel(copy_body, 3));
  const std::vector<uint32_t> values(32, 7);
  uint32_t* const in = rig.array(values, "in");
  uint32_t* const out = rig.empty<uint32_t>(32, "out");
  succeed(rig.run(1, 32, out, in, 0));
  CHECK(rig.read(out, 32) == values);
  const Result r = rig.run(1, 32, out, in, 1);
  faults(r, Fault::out_of_bounds, "out");
  CHECK(r.report.thread.x == 31 && r.report.ptx_line > 0);
  CHECK(r.report.instruction == "st.global.u32 [%d5], %r1;");
  CHECK(r.report.allocation == reinterpret_cast<uint64_t>(out) && r.report.allocation_bytes == 128);
  faults(rig.run(1, 32, out, in, -1), Fault::out_of_bounds, "A write of 4 bytes");
  succeed(rig.run(1, 31, out, in, 1));
  faults(rig.run(1, 1, static_cast<uint32_t*>(nullptr), in, 0), Fault::out_of_bounds, "null pointer");
}

// Before, after and between: the nearest allocation is named, whatever lies on the other side.
void nearest() {
  Memory memory(1 << 20);
  auto* const small = static_cast<std::byte*>(memory.allocate(24, MemoryKind::device, "small"));
  auto* const next = static_cast<std::byte*>(memory.allocate(256, MemoryKind::device, "next"));
  const auto says = [&](const std::byte* at, const std::string& sentence) {
    const Report report = memory.check_read(at, 4);
    CHECK(report.fault == Fault::out_of_bounds && report.str().find(sentence) != std::string::npos);
  };
  says(next - 4, "4 bytes before the allocation of 256 bytes (next)");
  says(next - 2, "2 bytes before the allocation of 256 bytes (next)");
  says(next - 256, "256 bytes before the allocation of 256 bytes (next)");
  says(small + 22, "offset 22 of the allocation of 24 bytes (small)");
  says(small + 24, "offset 24 of the allocation of 24 bytes (small)");
  says(small + 256, "offset 256 of the allocation of 24 bytes (small)");
  says(next + 256, "offset 256 of the allocation of 256 bytes (next)");
  says(small - 4, "4 bytes before the allocation of 24 bytes (small)");
  CHECK(!memory.lend(small, 8));
  says(small + 8, "offset 8 of the allocation of 8 bytes (small)");
}

void dead_and_foreign() {
  Rig rig(kernel(copy_body, 3));
  uint32_t* const in = rig.array(std::vector<uint32_t>(32, 7), "first");
  uint32_t* const out = rig.empty<uint32_t>(32);
  CHECK(!rig.device.memory().free(in));
  faults(rig.run(1, 32, out, in, 0), Fault::use_after_free, "first");
  CHECK(rig.device.memory().free(in).fault == Fault::invalid_free);
  CHECK(rig.device.memory().free(out + 1).fault == Fault::invalid_free);
  std::vector<uint32_t> pageable(64, 3);
  faults(rig.run(1, 32, out, pageable.data(), 0), Fault::host_memory, "pinned");
  CHECK(!rig.device.memory().adopt(pageable.data(), 256, "registered"));
  succeed(rig.run(1, 32, out, pageable.data(), 0));
  void* const pinned = rig.device.memory().allocate(128, MemoryKind::pinned);
  std::memset(pinned, 0, 128);
  faults(rig.run(1, 32, out, pinned, 0), Fault::uninitialised);
  rig.device.memory().mark_initialised(pinned, 128);
  succeed(rig.run(1, 32, out, pinned, 0));
}

// What a pool keeps of an allocation, and what was written for an earlier owner, is out of reach.
void lent_in_part() {
  Rig rig(kernel(copy_body, 3));
  const std::vector<uint32_t> values(32, 7);
  uint32_t* const in = rig.array(values, "in");
  uint32_t* const out = rig.empty<uint32_t>(32, "out");
  CHECK(!rig.device.memory().lend(out, 64));
  succeed(rig.run(1, 16, out, in, 0));
  faults(rig.run(1, 17, out, in, 0), Fault::out_of_bounds, "offset 64 of the allocation of 64 bytes");
  CHECK(!rig.device.memory().lend(out, 128));
  faults(rig.run(1, 16, in, out, 0), Fault::uninitialised);
  succeed(rig.run(1, 32, out, in, 0));
  CHECK(rig.device.memory().lend(out, 129).fault == Fault::invalid_free);
  CHECK(rig.device.memory().lend(out + 1, 4).fault == Fault::invalid_free);
  CHECK(rig.device.memory().check_write(out + 8, ~uint64_t(0)).fault == Fault::out_of_bounds);
  CHECK(!rig.device.memory().lend(out, 0));
  faults(rig.run(1, 1, out, in, 0), Fault::out_of_bounds, "out");
  CHECK(!rig.device.memory().free(out));
  CHECK(rig.device.memory().live_bytes() == 128);
}

void alignment() {
  Rig rig(kernel("ld.param.u64 %d0, [p0];\nld.global.v2.u32 {%r1, %r2}, [%d0];"));
  auto* const in = reinterpret_cast<std::byte*>(rig.array(std::vector<uint32_t>(8)));
  succeed(rig.run(1, 1, in + 8));
  faults(rig.run(1, 1, in + 4), Fault::misaligned, "8 bytes");
}

void initialisation() {
  Rig rig(kernel(copy_body, 3));
  uint32_t* const in = rig.empty<uint32_t>(64, "in");
  uint32_t* const out = rig.empty<uint32_t>(64);
  faults(rig.run(1, 32, out, in, 0), Fault::uninitialised, "in");
  rig.device.memory().fill(in, 0, 32 * 4);
  succeed(rig.run(1, 32, out, in, 0));
  faults(rig.run(1, 33, out, in, 0), Fault::uninitialised, "offset 128");
  // A copy carries along what is initialised.
  uint32_t* const third = rig.empty<uint32_t>(64);
  CHECK(!rig.device.memory().copy(third, in, 256));
  succeed(rig.run(1, 32, out, third, 0));
  faults(rig.run(1, 33, out, third, 0), Fault::uninitialised);
  rig.device.settings().uninitialised = false;
  succeed(rig.run(1, 33, out, third, 0));
}

void unused_bytes() {
  const std::string load = "ld.param.u64 %d0, [p0];\n%sld.global.v2.u32 {%r1, %r2}, [%d0];";
  const auto with = [&](const std::string& pragma) { return std::string(load).replace(load.find("%s"), 2, pragma); };
  for (const bool masked : {false, true}) {
    Rig rig(kernel(with(masked ? ".pragma \"used_bytes_mask 15\";\n" : "")));
    uint32_t* const in = rig.empty<uint32_t>(2);
    rig.device.memory().fill(in, 0, 4);
    const Result r = rig.run(1, 1, in);
    if (masked)
      succeed(r);
    else
      faults(r, Fault::uninitialised);
  }
}

void shared_memory() {
  const std::string body = R"(
    ld.param.u64 %d0, [p0];
    mov.u32 %r0, %tid.x;
    shl.b32 %r1, %r0, 2;
    cvt.u32.u64 %r2, %d0;
    add.u32 %r3, %r1, %r2;
    mov.u32 %r4, tile;
    add.u32 %r3, %r3, %r4;
    st.shared.u32 [%r3], %r0;
    bar.sync 0;
    ld.shared.u32 %r5, [tile+64];)";
  Rig rig(kernel(body, 1, ".shared .align 4 .b8 tile[128];\n"));
  succeed(rig.run(1, 32, 0));
  faults(rig.run(1, 32, 4), Fault::out_of_bounds, "128 bytes of shared");
  faults(rig.run(1, 16, 0), Fault::uninitialised, "shared");
  succeed(rig.run(1, 17, 0));
  faults(rig.run(1, 31, 2), Fault::misaligned);
}

void local_memory() {
  const std::string body = R"(
    .local .align 8 .b8 __local_depot0[16];
    .reg .b64 %SP, %SPL;
    mov.u64 %SPL, __local_depot0;
    cvta.local.u64 %SP, %SPL;
    ld.param.u64 %d0, [p0];
    add.u64 %d1, %SP, %d0;
    mov.u32 %r0, %tid.x;
    st.u32 [%d1], %r0;
    cvta.to.local.u64 %d2, %SP;
    ld.local.u32 %r1, [%d2+4];
    setp.ne.u32 %p1, %r0, %r1;
    @%p1 trap;)";
  Rig rig(kernel(body));
  succeed(rig.run(2, 64, 4));
  faults(rig.run(1, 32, 8), Fault::uninitialised, "local");
  faults(rig.run(1, 32, 16), Fault::out_of_bounds);
}

void constants() {
  Rig rig(kernel(R"(
    ld.param.u64 %d0, [p0];
    ld.const.u32 %r0, [table+8];
    st.global.u32 [%d0], %r0;)",
                 1, ".const .align 4 .u32 table[4] = {5, 6, 7, 8};\n.global .align 8 .u64 where = table;\n"));
  uint32_t* const out = rig.empty<uint32_t>(1);
  succeed(rig.run(1, 1, out));
  CHECK(rig.read(out, 1)[0] == 7);
  faults(rig.run(1, 1, rig.program->variable("table")), Fault::read_only, "constant");
  uint64_t pointed = 0;
  rig.device.memory().read(&pointed, rig.program->variable("where"), 8);
  CHECK(pointed == reinterpret_cast<uint64_t>(rig.program->variable("table")));
}

void capacity() {
  Memory memory(1 << 20, 1 << 10);
  void* const a = memory.allocate(1 << 19);
  void* const b = memory.allocate(1 << 19);
  CHECK(a && b && !memory.allocate(1));
  CHECK(memory.allocate(1, MemoryKind::pinned) != nullptr);
  CHECK(!memory.free(a) && memory.allocate(1 << 18) != nullptr);
  CHECK(memory.live_bytes() == (1 << 19) + (1 << 18) && memory.peak_bytes() == 1 << 20);
  const auto* bytes = static_cast<unsigned char*>(b);
  CHECK(bytes[0] == 0xff && bytes[(1 << 19) - 1] == 0xff);
  // Many rounds in little memory: ranges are reused, and never while they are quarantined.
  void* last = nullptr;
  for (int k = 0; k < 10000; ++k) {
    void* const p = memory.allocate(700);
    CHECK(p && p != last);
    memory.free(last = p);
  }
  // What is known of small ones is bounded too.
  Memory large(1 << 24);
  std::set<void*> places;
  for (int k = 0; k < 10000; ++k) {
    void* const p = large.allocate(4);
    places.insert(p);
    large.free(p);
  }
  CHECK(places.size() > 1000 && places.size() < 3000);
}

void host_checks() {
  Memory memory(1 << 20);
  char* const p = static_cast<char*>(memory.allocate(100, MemoryKind::device, "hundred"));
  char out[100] = {};
  CHECK(memory.read(out, p, 1).fault == Fault::uninitialised);
  CHECK(!memory.fill(p, 3, 50) && !memory.read(out, p, 50) && out[49] == 3);
  CHECK(memory.read(out, p, 51).fault == Fault::uninitialised);
  CHECK(memory.write(p + 60, out, 41).str().find("hundred") != std::string::npos);
  CHECK(!memory.write(p + 60, out, 40));
  CHECK(!memory.is_initialised(p, 100) && memory.is_initialised(p + 60, 40));
  CHECK(!memory.write(nullptr, nullptr, 0));
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {{"bounds are the bytes asked for", bounds},
                            {"the nearest allocation is named", nearest},
                            {"dead, foreign and registered memory", dead_and_foreign},
                            {"memory that is lent in part", lent_in_part},
                            {"an access is aligned to its width", alignment},
                            {"reads of what nothing wrote are found", initialisation},
                            {"bytes that are not used need no value", unused_bytes},
                            {"shared memory has bounds and bits", shared_memory},
                            {"local memory has bounds and bits", local_memory},
                            {"constants cannot be written", constants},
                            {"capacity, poison, quarantine and reuse", capacity},
                            {"accesses of the host are checked too", host_checks}});
}
