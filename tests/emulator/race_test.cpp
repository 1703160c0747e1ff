// Races: each has a near neighbour with the barrier, fence or atomic that it lacks.
#include "rig.hpp"

using namespace stator::emulator;
using namespace stator::emulator::test;

namespace {

Settings looking() {
  Settings settings;
  settings.races = true;
  return settings;
}

Result run(const std::string& body, uint32_t blocks, uint32_t threads,
           const std::string& before = ".shared .align 8 .b8 tile[1024];\n") {
  Rig rig(kernel(body, 1, before), looking());
  uint32_t* const data = rig.array(std::vector<uint32_t>(1024), "data");
  return rig.run(blocks, threads, data);
}
void racy(const std::string& body, uint32_t blocks, uint32_t threads,
          std::source_location at = std::source_location::current()) {
  faults(run(body, blocks, threads), Fault::race, "no order", at);
}
void ordered(const std::string& body, uint32_t blocks, uint32_t threads,
             std::source_location at = std::source_location::current()) {
  succeed(run(body, blocks, threads), at);
}

const std::string own =
    "mov.u32 %r0, %tid.x;\nshl.b32 %r1, %r0, 2;\nmov.u32 %r2, tile;\nadd.u32 %r3, %r2, %r1;\nst.shared.u32 [%r3], "
    "%r0;\n";

// Every thread reads the word of its neighbour in the next warp, or in its own.
void shared_between_warps() {
  const std::string other = "xor.b32 %r4, %r1, 128;\nadd.u32 %r4, %r4, %r2;\nld.shared.u32 %r5, [%r4];\n";
  ordered(own + "bar.sync 0;\n" + other, 1, 64);
  faults(run(own + "bar.warp.sync -1;\n" + other, 1, 64),
         Fault::uninitialised);  // before the race: the neighbour has not run
  racy("mov.u32 %r0, %tid.x;\nst.shared.u32 [tile], %r0;", 1, 64);
  ordered(
      "mov.u32 %r0, %tid.x;\nshr.u32 %r1, %r0, 5;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [tile], %r0;\nbar.sync "
      "0;\n@!%p1 st.shared.u32 [tile], %r0;",
      1, 64);
  // A second round needs a barrier before it writes again.
  racy(own + "bar.sync 0;\n" + other + "st.shared.u32 [%r3], %r5;", 1, 64);
  ordered(own + "bar.sync 0;\n" + other + "bar.sync 0;\nst.shared.u32 [%r3], %r5;", 1, 64);
  // Bytes beside each other are not the same.
  ordered("mov.u32 %r0, %tid.x;\nmov.u32 %r2, tile;\nadd.u32 %r3, %r2, %r0;\nst.shared.u8 [%r3], %r0;", 1, 64);
}

void shared_within_a_warp() {
  const std::string other = "xor.b32 %r4, %r1, 4;\nadd.u32 %r4, %r4, %r2;\nld.shared.u32 %r5, [%r4];\n";
  racy(own + other, 1, 32);
  ordered(own + "bar.warp.sync -1;\n" + other, 1, 32);
  racy(own + "bar.warp.sync -1;\n" + other + "st.shared.u32 [%r3], %r5;", 1, 32);
  ordered(own + "bar.warp.sync -1;\n" + other + "bar.warp.sync -1;\nst.shared.u32 [%r3], %r5;", 1, 32);
}

void shared_atomics() {
  const std::string zero =
      "mov.u32 %r0, %tid.x;\nsetp.eq.u32 %p1, %r0, 0;\n@%p1 st.shared.u32 [tile], 0;\nbar.sync 0;\n";
  ordered(zero + "atom.shared.add.u32 %r1, [tile], 1;\nbar.sync 0;\nld.shared.u32 %r2, [tile];", 1, 64);
  racy(zero + "atom.shared.add.u32 %r1, [tile], 1;\nld.shared.u32 %r2, [tile];", 1, 64);
}

void global_between_blocks() {
  const std::string start =
      "ld.param.u64 %d0, [p0];\nmov.u32 %r0, %ctaid.x;\nmul.wide.u32 %d1, %r0, 4;\nadd.u64 %d1, %d0, %d1;\n";
  ordered(start + "st.global.u32 [%d1], %r0;", 4, 1);
  racy(start + "st.global.u32 [%d0], %r0;", 4, 1);
  racy(start + "st.global.u32 [%d1], %r0;\nld.global.u32 %r1, [%d0];", 4, 1);
  ordered(start + "red.global.add.u32 [%d0], %r0;", 4, 1);
  racy(start + "red.global.add.u32 [%d0], %r0;\nld.global.u32 %r1, [%d0];", 4, 1);
  ordered(start + "ld.global.u32 %r1, [%d0+64];", 4, 1);
}

// The last block to finish sums what all wrote.
std::string last_block(const std::string& fence, const std::string& behind = "membar.gl;") {
  return R"(
    ld.param.u64 %d0, [p0];
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %nctaid.x;
    mad.lo.u32 %r3, %r0, 64, %r1;
    mul.wide.u32 %d1, %r3, 4;
    add.u64 %d2, %d0, %d1;
    st.global.u32 [%d2+64], %r3;
    )" + fence +
         R"(
    bar.sync 0;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra wait;
    atom.global.add.u32 %r4, [%d0], 1;
    st.shared.u32 [tile], %r4;
  wait:
    bar.sync 0;
    ld.shared.u32 %r5, [tile];
    sub.u32 %r6, %r2, 1;
    setp.ne.u32 %p2, %r5, %r6;
    @%p2 exit;
    )" + behind +
         R"(
    mul.wide.u32 %d3, %r1, 4;
    add.u64 %d3, %d0, %d3;
    ld.global.u32 %r7, [%d3+64];
    ld.global.u32 %r8, [%d3+320];)";
}

void last_blocks() {
  ordered(last_block("membar.gl;"), 4, 64);
  ordered(last_block("fence.acq_rel.gpu;"), 4, 64);
  racy(last_block(""), 4, 64);
  racy(last_block("membar.cta;"), 4, 64);
  racy(last_block("membar.gl;", ""), 4, 64);
}

// A block waits for a flag that another one sets behind its data.
std::string flags(const std::string& set) {
  return R"(
    ld.param.u64 %d0, [p0];
    mov.u32 %r0, %ctaid.x;
    setp.ne.u32 %p1, %r0, 0;
    @%p1 bra reader;
    st.global.u32 [%d0+64], 9;
    )" + set +
         R"(
    exit;
  reader:
    ld.acquire.gpu.global.u32 %r1, [%d0];
    setp.eq.u32 %p2, %r1, 0;
    @%p2 bra reader;
    ld.global.u32 %r2, [%d0+64];)";
}

void published_flags() {
  ordered(flags("st.release.gpu.global.u32 [%d0], 1;"), 2, 1);
  ordered(flags("membar.gl;\nst.volatile.global.u32 [%d0], 1;"), 2, 1);
  racy(flags("st.volatile.global.u32 [%d0], 1;"), 2, 1);
}

void off_by_default() {
  Rig rig(kernel("ld.param.u64 %d0, [p0];\nmov.u32 %r0, %ctaid.x;\nst.global.u32 [%d0], %r0;"));
  succeed(rig.run(4, 1, rig.array(std::vector<uint32_t>(1))));
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {{"shared memory between warps", shared_between_warps},
                            {"shared memory within a warp", shared_within_a_warp},
                            {"atomics and plain accesses of shared memory", shared_atomics},
                            {"global memory between blocks", global_between_blocks},
                            {"the last block reads what all wrote, behind their fences", last_blocks},
                            {"flags publish what was written before", published_flags},
                            {"races are looked for when asked", off_by_default}});
}
