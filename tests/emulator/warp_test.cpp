// Words of a warp, barriers of a block, and what happens when lanes or threads are missing.
#include "rig.hpp"

using namespace stator::emulator;
using namespace stator::emulator::test;

namespace {

std::vector<uint32_t> lanes_of(const std::string& text, uint32_t threads = 32) {
  Rig rig(kernel("ld.param.u64 %d0, [p0];\nmov.u32 %r0, %tid.x;\nadd.u32 %r1, %r0, 100;\n" + text +
                 "\nmul.wide.u32 %d1, %r0, 4;\nadd.u64 %d1, %d0, %d1;\nst.global.u32 [%d1], %r2;"));
  uint32_t* const out = rig.empty<uint32_t>(threads);
  succeed(rig.run(1, threads, out));
  return rig.read(out, threads);
}

void shuffles() {
  const auto down = lanes_of("shfl.sync.down.b32 %r2|%p1, %r1, 4, 31, -1;\n@!%p1 mov.u32 %r2, 0;");
  const auto up = lanes_of("shfl.sync.up.b32 %r2, %r1, 4, 0, 0xffffffff;");
  const auto butterfly = lanes_of("shfl.sync.bfly.b32 %r2, %r1, 5, 31, -1;");
  const auto index = lanes_of("shfl.sync.idx.b32 %r2, %r1, 3, 0x181f, -1;");  // segments of eight
  for (uint32_t l = 0; l < 32; ++l) {
    CHECK(down[l] == (l + 4 < 32 ? l + 104 : 0));
    CHECK(up[l] == (l >= 4 ? l + 96 : l + 100));
    CHECK(butterfly[l] == (l ^ 5) + 100);
    CHECK(index[l] == (l / 8 * 8 + 3) + 100);
  }
}

void votes() {
  const auto ballot = lanes_of("setp.gt.u32 %p1, %r0, 20;\nvote.sync.ballot.b32 %r2, %p1, -1;");
  const auto any = lanes_of("setp.eq.u32 %p1, %r0, 7;\nvote.sync.any.pred %p2, %p1, -1;\nselp.u32 %r2, 1, 0, %p2;");
  const auto all = lanes_of("setp.ne.u32 %p1, %r0, 7;\nvote.sync.all.pred %p2, %p1, -1;\nselp.u32 %r2, 1, 0, %p2;");
  const auto sum = lanes_of("redux.sync.add.s32 %r2, %r0, -1;");
  const auto most = lanes_of("sub.u32 %r3, 10, %r0;\nredux.sync.max.s32 %r2, %r3, -1;");
  const auto match = lanes_of("and.b32 %r3, %r0, 3;\nmatch.any.sync.b32 %r2, %r3, -1;");
  const auto same = lanes_of("match.all.sync.b32 %r2|%p1, %r0, -1;");
  for (uint32_t l = 0; l < 32; ++l) {
    CHECK(ballot[l] == 0xffe00000 && any[l] == 1 && all[l] == 0 && sum[l] == 496 && most[l] == 10 && same[l] == 0);
    CHECK(match[l] == 0x11111111u << (l & 3));
  }
}

void parts_of_a_warp() {
  // Two halves on two ways, each with its own mask; a partial warp; a lane that waits for one that comes later.
  const auto halves = lanes_of(R"(
    setp.lt.u32 %p1, %r0, 16;
    @%p1 bra low;
    redux.sync.add.s32 %r2, %r0, 0xffff0000;
    bra done;
  low:
    redux.sync.add.s32 %r2, %r0, 0x0000ffff;
  done:)");
  for (uint32_t l = 0; l < 32; ++l) CHECK(halves[l] == (l < 16 ? 120u : 376u));
  const auto each = lanes_of(
      "shr.u32 %r3, %r0, 3;\nshl.b32 %r3, %r3, 3;\nshl.b32 %r4, 0xff, %r3;\nredux.sync.min.u32 %r2, %r1, %r4;");
  for (uint32_t l = 0; l < 32; ++l) CHECK(each[l] == l / 8 * 8 + 100);
  const auto partial = lanes_of("redux.sync.add.s32 %r2, %r0, 0x3ff;", 10);
  for (const uint32_t v : partial) CHECK(v == 45);
  const auto apart = lanes_of(R"(
    mov.u32 %r2, 1;
    setp.lt.u32 %p1, %r0, 3;
    @%p1 bra first;
    bar.warp.sync -1;
    bra done;
  first:
    bar.warp.sync -1;
    mov.u32 %r2, 2;
  done:)");
  for (uint32_t l = 0; l < 32; ++l) CHECK(apart[l] == (l < 3 ? 2u : 1u));
}

void broken(const std::string& text, Fault fault, const std::string& says, uint32_t threads = 32,
            std::source_location at = std::source_location::current()) {
  Rig rig(kernel("mov.u32 %r0, %tid.x;\nmov.u32 %r1, 0;\n" + text));
  faults(rig.run(1, threads, 0), fault, says, at);
}
void sound(const std::string& text, uint32_t threads = 32, std::source_location at = std::source_location::current()) {
  Rig rig(kernel("mov.u32 %r0, %tid.x;\nmov.u32 %r1, 0;\n" + text));
  succeed(rig.run(1, threads, 0), at);
}

void missing_lanes() {
  const std::string around = "setp.lt.u32 %p1, %r0, 16;\n@%p1 bra away;\nbar.warp.sync MASK;\naway:\nbar.sync 0;";
  const auto with = [&](const char* mask) { return std::string(around).replace(around.find("MASK"), 4, mask); };
  broken(with("-1"), Fault::missing_lanes, "do not come");
  sound(with("0xffff0000"));
  broken("shfl.sync.idx.b32 %r2, %r0, 0, 31, 0x7fffffff;", Fault::missing_lanes, "does not name it");
  broken("shfl.sync.idx.b32 %r2, %r0, 20, 31, 0xffff;", Fault::inactive_lane, "lane 20", 16);
  sound("shfl.sync.idx.b32 %r2, %r0, 15, 31, 0xffff;", 16);
  broken("setp.eq.u32 %p1, %r0, 3;\n@%p1 exit;\nshfl.sync.idx.b32 %r2, %r0, 3, 31, -1;", Fault::inactive_lane, "ended");
  sound("setp.eq.u32 %p1, %r0, 3;\n@%p1 exit;\nshfl.sync.idx.b32 %r2, %r0, 4, 31, -1;");
}

void block_barriers() {
  broken("setp.lt.u32 %p1, %r0, 32;\n@%p1 bra other;\nbar.sync 0;\nbra done;\nother:\nbar.sync 0;\ndone:",
         Fault::divergent_barrier, "others in line", 64);
  broken("setp.lt.u32 %p1, %r0, 32;\n@%p1 bra other;\nbar.sync 0;\nbra done;\nother:\nbar.sync 1;\ndone:",
         Fault::divergent_barrier, "do not come", 64);
  broken("setp.eq.u32 %p1, %r0, 5;\n@%p1 bra skip;\nbar.sync 0;\nskip:\nbar.sync 1;", Fault::divergent_barrier,
         "1 in PTX line", 64);
  sound("setp.lt.u32 %p1, %r0, 32;\n@%p1 exit;\nbar.sync 0;", 64);
  sound("bar.sync 0;\nbar.sync 1;\nbar.sync 0;", 100);
  // Producers arrive, consumers wait for both; then a named barrier of one warp.
  sound(
      "setp.lt.u32 %p1, %r0, 32;\n@%p1 bra wait;\nbar.arrive 3, 64;\nbra done;\nwait:\nbar.sync 3, 64;\nbar.sync 4, "
      "32;\ndone:",
      64);
  broken("bar.sync 3, 96;", Fault::divergent_barrier, "do not come", 64);
  broken("bar.sync 3, 33;", Fault::divergent_barrier, "multiple of 32", 64);
}

// Threads that ended count as arrived, as PTX says since sm_70; with Settings::strict they are missing.
void ended_threads() {
  const auto run = [](const std::string& text, bool strict) {
    Settings settings;
    settings.strict = strict;
    Rig rig(kernel("mov.u32 %r0, %tid.x;\nsetp.ge.u32 %p1, %r0, 48;\n" + text), settings);
    return rig.run(1, 96, 0);
  };
  const std::string loop = R"(
    mov.u32 %r1, 0;
    selp.u32 %r2, 1, 3, %p1;
  top:
    bar.sync 0;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p2, %r1, %r2;
    @%p2 bra top;)";
  for (const std::string& text :
       {std::string("@%p1 exit;\nbar.sync 0;"), std::string("@%p1 bra end;\nbar.sync 0;\nend:"), loop,
        std::string("@%p1 exit;\nbar.sync 1, 64;")}) {
    succeed(run(text, false));
    faults(run(text, true), Fault::divergent_barrier, "they ended");
  }
  succeed(run("bar.sync 0;\n@%p1 exit;", true));
  succeed(run("setp.ge.u32 %p2, %r0, 64;\n@%p2 exit;\nbar.sync 1, 64;", true));
}

void voting_barriers() {
  const auto count = lanes_of("setp.gt.u32 %p1, %r0, 49;\nbar.red.popc.u32 %r2, 0, %p1;", 64);
  const auto all = lanes_of("setp.gt.u32 %p1, %r0, 49;\nbar.red.and.pred %p2, 0, %p1;\nselp.u32 %r2, 1, 0, %p2;", 64);
  const auto any = lanes_of("setp.gt.u32 %p1, %r0, 49;\nbar.red.or.pred %p2, 0, !%p1;\nselp.u32 %r2, 1, 0, %p2;", 64);
  for (uint32_t i = 0; i < 64; ++i) CHECK(count[i] == 14 && all[i] == 0 && any[i] == 1);
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {{"shuffles", shuffles},
                            {"votes, matches and reductions", votes},
                            {"parts of a warp wait for those that they name", parts_of_a_warp},
                            {"missing lanes are found", missing_lanes},
                            {"missing and divergent barriers are found", block_barriers},
                            {"threads that ended before a barrier", ended_threads},
                            {"barriers that vote", voting_barriers}});
}
