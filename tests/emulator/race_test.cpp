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
  racy(own + "bar.warp.sync -1;\n" + other, 1, 64);  // also where the reader runs before the writer
  faults(run("ld.shared.u32 %r5, [tile];\nmov.u32 %r0, %tid.x;\nst.shared.u32 [tile+64], %r0;", 1, 1),
         Fault::uninitialised);  // unwritten memory has no race
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

// Lanes that a third one joined in turn.
void shared_within_parts_of_a_warp() {
  const std::string pairs = own + R"(
    setp.gt.u32 %p1, %r0, 2;
    @%p1 bra done;
    setp.eq.u32 %p1, %r0, 0;
    @%p1 bra first;
    bar.warp.sync 6;
    setp.eq.u32 %p2, %r0, 2;
    @%p2 bra done;
  first:
    JOIN
    @%p1 ld.shared.u32 %r5, [tile+8];
  done:)";
  const auto with = [&](const char* join) { return std::string(pairs).replace(pairs.find("JOIN"), 4, join); };
  ordered(with("bar.warp.sync 3;"), 1, 32);
  racy(with(""), 1, 32);
}

// Warps 0 to 2 access a word that warp 3 has written, then some of them meet warp 3, which accesses it again.
std::string met(const std::string& many, const std::string& one, const std::string& threads) {
  return R"(
    mov.u32 %r0, %tid.x;
    shr.u32 %r1, %r0, 5;
    setp.eq.u32 %p3, %r1, 3;
    setp.eq.u32 %p1, %r0, 96;
    @%p1 st.shared.u32 [tile], 0;
    bar.sync 0;
    @%p3 bra meet;
    )" + many +
         R"(
    setp.eq.u32 %p2, %r1, 0;
  )" + (threads == "128" ? "" : "@%p2 bra done;") +
         R"(
  meet:
    bar.sync 1, )" +
         threads + ";\n@%p1 " + one + "\ndone:";
}

void every_warp_is_remembered() {
  const std::string read = "ld.shared.u32 %r2, [tile];", write = "st.shared.u32 [tile], 5;";
  const std::string add = "red.shared.add.u32 [tile], 1;";
  ordered(met(read, write, "128"), 1, 128);
  racy(met(read, write, "96"), 1, 128);
  ordered(met(add, read, "128"), 1, 128);
  racy(met(add, read, "96"), 1, 128);
  ordered(met(read, read, "96"), 1, 128);
  ordered(met(add, add, "96"), 1, 128);
}

// A thread hands a word to one of the next warp, by a flag.
std::string handed(const std::string& set, const std::string& get, const std::string& behind,
                   const std::string& place = "shared.u32 [tile+64]") {
  const std::string space = place.substr(0, place.find('.'));
  return R"(
    ld.param.u64 %d0, [p0];
    mov.u32 %r0, %tid.x;
    setp.eq.u32 %p1, %r0, 0;
    @%p1 st.shared.u32 [tile], 0;
    bar.sync 0;
    @%p1 bra writer;
    setp.ne.u32 %p2, %r0, 32;
    @%p2 bra done;
  wait:
    )" + get +
         R"(
    setp.eq.u32 %p3, %r1, 0;
    @%p3 bra wait;
    )" + behind +
         "\nld." + space + ".u32 %r2, " + place.substr(place.find('[')) + ";\nbra done;\nwriter:\nst." + place +
         ", 9;\n" + set + "\ndone:";
}

void handed_within_a_block() {
  const std::string exchange = "atom.shared.exch.b32 %r3, [tile], 1;", poll = "atom.shared.add.u32 %r1, [tile], 0;";
  for (const std::string fence : {"membar.cta;", "membar.gl;", "fence.acq_rel.cta;", "fence.sc.gpu;"})
    for (const std::string place : {"shared.u32 [tile+64]", "global.u32 [%d0+64]"})
      ordered(handed(fence + exchange, poll, fence, place), 1, 64);
  ordered(
      handed("membar.cta;\nst.volatile.shared.u32 [tile], 1;", "ld.volatile.shared.u32 %r1, [tile];", "membar.cta;"), 1,
      64);
  ordered(handed("st.release.cta.shared.u32 [tile], 1;", "ld.acquire.cta.shared.u32 %r1, [tile];", ""), 1, 64);
  ordered(
      handed("atom.release.cta.shared.exch.b32 %r3, [tile], 1;", "atom.acquire.cta.shared.add.u32 %r1, [tile], 0;", ""),
      1, 64);
  racy(handed(exchange, poll, "membar.cta;"), 1, 64);
  racy(handed("membar.cta;" + exchange, poll, ""), 1, 64);
  racy(handed(exchange + "membar.cta;", poll, "membar.cta;"), 1, 64);
  racy(handed("membar.cta;\nst.shared.u32 [tile+64], 8;" + exchange, poll, "membar.cta;"), 1, 64);
  racy(handed("st.relaxed.cta.shared.u32 [tile], 1;", "ld.acquire.cta.shared.u32 %r1, [tile];", ""), 1, 64);
}

// The lanes of the first warp write, its first lane hands over; of the second warp the first lane takes, and all read.
std::string handed_to_warps(const std::string& gathered, const std::string& spread) {
  return own + R"(
    setp.eq.u32 %p1, %r0, 0;
    @%p1 st.shared.u32 [tile+512], 0;
    bar.sync 0;
    setp.ge.u32 %p2, %r0, 32;
    @%p2 bra reader;
    st.shared.u32 [%r3], 7;
    )" + gathered +
         R"(
    @!%p1 bra done;
    membar.cta;
    atom.shared.exch.b32 %r4, [tile+512], 1;
    bra done;
  reader:
    setp.ne.u32 %p3, %r0, 32;
    @%p3 bra all;
  wait:
    atom.shared.add.u32 %r4, [tile+512], 0;
    setp.eq.u32 %p4, %r4, 0;
    @%p4 bra wait;
    membar.cta;
  all:
    )" + spread +
         "\nsub.u32 %r5, %r3, 128;\nld.shared.u32 %r6, [%r5];\ndone:";
}

void handed_between_warps() {
  const std::string sync = "bar.warp.sync -1;";
  ordered(handed_to_warps(sync, sync), 1, 64);
  racy(handed_to_warps("", sync), 1, 64);
  racy(handed_to_warps(sync, ""), 1, 64);
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

void scopes() {
  const std::string start = "ld.param.u64 %d0, [p0];\nmov.u32 %r0, %ctaid.x;\n";
  for (const std::string scope : {"cta", "gpu", "sys"})
    for (const std::string access : {"red.SCOPE.global.add.u32 [%d0], 1;", "atom.acq_rel.SCOPE.add.u32 %r1, [%d0], 1;",
                                     "st.relaxed.SCOPE.global.u32 [%d0], %r0;"}) {
      const std::string text = start + std::string(access).replace(access.find("SCOPE"), 5, scope);
      ordered(text, 1, 64);
      if (scope == "cta")
        faults(run(text, 4, 1), Fault::race, "the scope of one of them is its block");
      else
        ordered(text, 4, 1);
    }
  // One of two scopes is enough to be too narrow.
  racy(start + "setp.eq.u32 %p1, %r0, 0;\n@%p1 red.cta.global.add.u32 [%d0], 1;\n@!%p1 red.global.add.u32 [%d0], 1;", 2,
       1);
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

void reset_counters() {
  const std::string fence = "membar.gl;\n";
  for (const std::string thread : {"0", "1"}) {
    const std::string reset = "setp.eq.u32 %p3, %r1, " + thread + ";\n@%p3 st.global.u32 [%d0], 0;\n";
    ordered(last_block(fence, fence + reset), 4, 64);
    racy(last_block(fence, reset + fence), 4, 64);
  }
}

// A block waits for a flag that another one sets after its data.
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
  racy(flags("st.release.cta.global.u32 [%d0], 1;"), 2, 1);
  racy(flags("membar.gl;\nst.relaxed.cta.global.u32 [%d0], 1;"), 2, 1);
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
                            {"shared memory within parts of a warp", shared_within_parts_of_a_warp},
                            {"of each warp the accesses are remembered", every_warp_is_remembered},
                            {"fences and atomics order threads of a block", handed_within_a_block},
                            {"lanes are ordered with one that hands over or takes", handed_between_warps},
                            {"atomics and plain accesses of shared memory", shared_atomics},
                            {"global memory between blocks", global_between_blocks},
                            {"atomics of the block's scope are none among blocks", scopes},
                            {"the last block reads what all wrote, after their fences", last_blocks},
                            {"the last block resets the counter, after its fence", reset_counters},
                            {"flags publish what was written before", published_flags},
                            {"races are looked for when asked", off_by_default}});
}
