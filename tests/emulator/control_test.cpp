// Branches, loops, calls, and what cannot be run.
#include "rig.hpp"

using namespace stator::emulator;
using namespace stator::emulator::test;

namespace {

void diverging_loops() {
  // Lanes leave a loop after tid rounds and meet again: a vote counts all of them.
  Rig rig(kernel(R"(
    ld.param.u64 %d0, [p0];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, 0;
    mov.u32 %r2, 0;
  top:
    setp.ge.u32 %p1, %r1, %r0;
    @%p1 bra out;
    add.u32 %r2, %r2, %r1;
    add.u32 %r1, %r1, 1;
    bra.uni top;
  out:
    activemask.b32 %r3;
    mul.wide.u32 %d1, %r0, 8;
    add.u64 %d1, %d0, %d1;
    st.global.v2.u32 [%d1], {%r2, %r3};)"));
  uint32_t* const out = rig.empty<uint32_t>(80);
  succeed(rig.run(1, 40, out));
  const auto got = rig.read(out, 80);
  for (uint32_t i = 0; i < 40; ++i) CHECK(got[2 * i] == i * (i - 1) / 2 && got[2 * i + 1] == (i < 32 ? ~0u : 0xffu));
}

void branches() {
  const std::vector<uint32_t> x{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const auto y = map<uint32_t>(R"(
    and.b32 %r1, %a, 3;
    setp.gt.u32 %q0, %a, 9;
    @%q0 bra big;
    brx.idx %r1, table;
  table: .branchtargets zero, one, two, three;
  zero: mov.u32 %d, 100; bra done;
  one: mov.u32 %d, 101; bra done;
  two: mov.u32 %d, 102;
  three: mov.u32 %d, 103; bra done;
  big: mov.u32 %d, 99;
  done:)",
                               x);
  for (size_t i = 0; i < x.size(); ++i) CHECK(y[i] == (x[i] > 9 ? 99u : x[i] % 4 == 2 ? 103u : 100 + x[i] % 4));
}

const char* functions = R"(
.func (.param .b32 result) twice(.param .b32 x) {
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [x];
  add.u32 %r2, %r1, %r1;
  st.param.b32 [result], %r2;
  ret;
}
.func (.param .align 8 .b8 result[16]) swap(.param .align 8 .b8 pair[16], .param .b32 odd) {
  .reg .b64 %rd<5>; .reg .b32 %r<4>; .reg .pred %p<2>;
  ld.param.v2.u64 {%rd1, %rd2}, [pair];
  ld.param.u32 %r1, [odd];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra straight;
  st.param.b64 [result], %rd2;
  st.param.b64 [result+8], %rd1;
  ret;
straight:
  mov.b64 %rd3, pair;
  ld.param.u64 %rd4, [%rd3+8];
  st.param.v2.b64 [result], {%rd1, %rd4};
  ret;
}
.func (.param .b32 result) endless(.param .b32 x) {
  .reg .b32 %r<3>;
  { .param .b32 param0; .param .b32 retval0;
    ld.param.u32 %r1, [x];
    st.param.b32 [param0], %r1;
    call.uni (retval0), endless, (param0);
    ld.param.b32 %r2, [retval0]; }
  st.param.b32 [result], %r2;
  ret;
}
.extern .func (.param .b32 result) elsewhere(.param .b32 x);
)";

std::string calling(const std::string& name) {
  return kernel(
      "{ .param .b32 param0; .param .b32 retval0;\nmov.u32 %r0, 5;\nst.param.b32 [param0+0], %r0;\ncall.uni "
      "(retval0), " +
          name + ", (param0);\nld.param.b32 %r1, [retval0+0]; }\nld.param.u64 %d0, [p0];\nst.global.u32 [%d0], %r1;",
      1, functions);
}

void calls() {
  Rig rig(calling("twice"));
  uint32_t* const out = rig.empty<uint32_t>(1);
  succeed(rig.run(1, 1, out));
  CHECK(rig.read(out, 1)[0] == 10);
  Rig pairs(kernel(R"(
    mov.u32 %r0, %tid.x;
    and.b32 %r1, %r0, 1;
    cvt.u64.u32 %d1, %r0;
    add.u64 %d2, %d1, 100;
    { .param .align 8 .b8 param0[16]; .param .b32 param1; .param .align 8 .b8 retval0[16];
      st.param.b64 [param0], %d1;
      st.param.b64 [param0+8], %d2;
      st.param.b32 [param1], %r1;
      call (retval0), swap, (param0, param1);
      ld.param.v2.b64 {%d3, %d4}, [retval0]; }
    ld.param.u64 %d0, [p0];
    mul.wide.u32 %d5, %r0, 16;
    add.u64 %d0, %d0, %d5;
    st.global.v2.u64 [%d0], {%d3, %d4};)",
                   1, functions));
  uint64_t* const both = pairs.empty<uint64_t>(64);
  succeed(pairs.run(1, 32, both));
  const auto got = pairs.read(both, 64);
  for (uint64_t i = 0; i < 32; ++i)
    CHECK(got[2 * i] == (i % 2 ? i + 100 : i) && got[2 * i + 1] == (i % 2 ? i : i + 100));
}

void refused(const std::string& text, Fault fault, const std::string& says,
             std::source_location at = std::source_location::current()) {
  Rig rig(text);
  if (!rig.program) return;
  faults(rig.run(1, 1, 0), fault, says, at);
}

void refusals() {
  Rig close(kernel("{.reg.b32 x; mov.b32 x, 1;}"));  // directives without a blank between them
  succeed(close.run(1, 1, 0));
  refused(calling("endless"), Fault::unsupported, "recursion of endless");
  refused(calling("elsewhere"), Fault::syntax, "has no body");
  refused(calling("nowhere"), Fault::syntax, "nowhere is not defined");
  refused(kernel("frobnicate.u32 %r0, %r1;"), Fault::unsupported, "frobnicate.u32");
  refused(kernel("add.u32 %r0, %r1, %d2;"), Fault::syntax, "%d2 has 64 bits, not 32");
  refused(kernel("add.u32 %r0, %r1, %nothing;"), Fault::syntax, "%nothing");
  refused(kernel("bra nowhere;"), Fault::syntax, "nowhere is not defined");
  refused(kernel("wgmma.fence.sync.aligned;"), Fault::unsupported, "wgmma");
  refused(kernel("barrier.cluster.arrive;"), Fault::unsupported, "barrier.cluster.arrive");
  refused(kernel("cp.async.bulk.commit_group;"), Fault::unsupported, "bulk");
  refused(kernel("add.u32 %r0, %r1"), Fault::syntax, "expected");
  refused(kernel("trap;"), Fault::trap, "trap");
  refused(std::string(head) + ".visible .entry k(.param .u64 p0) .reqnctapercluster 2, 1, 1 { ret; }",
          Fault::unsupported, "Clusters");
  Report report;
  Device device(*find_profile("a100"));
  CHECK(!device.load(".version 8.0\n.bogus", &report) && report.fault == Fault::syntax && report.ptx_line == 2);
  CHECK(!device.load(".version 8.0\n.entry k() { ret;", &report) && report.fault == Fault::syntax);
  CHECK(find_profile("b9000") == nullptr && profile_names().find("laptop") != std::string::npos);
}

void bad_launches() {
  Rig rig(std::string(head) + ".visible .entry k(.param .u64 p0) .maxntid 64, 1, 1 { ret; }");
  succeed(rig.run(1, 64, 0));
  faults(rig.run(1, 65, 0), Fault::launch_limit, "64");
  faults(rig.run(1, 0, 0), Fault::launch_limit, "empty");
  faults(rig.launch({}), Fault::parameters, "1 parameters, not 0");
  const std::byte bytes[7]{};
  faults(rig.device.launch_bytes(*rig.program, "k", {}, bytes), Fault::parameters, "8 bytes of parameters, not 7");
  faults(rig.device.launch(*rig.program, "other", {}, {}), Fault::missing_entry, "other");
  LaunchConfig config;
  config.dynamic_shared = 48 * 1024 + 1;
  faults(rig.launch(config, 0), Fault::launch_limit, "opting in");
  config.dynamic_shared_limit = 100 * 1024;
  succeed(rig.launch(config, 0));
  config = {};
  config.block.x = 64;
  config.registers = 255;
  succeed(rig.launch(config, 0));
  config.grid.y = 65536;
  faults(rig.launch(config, 0), Fault::launch_limit, "grid");
  config = {};
  config.cooperative = true;
  config.grid.x = 33;
  Rig small(std::string(head) + ".visible .entry k(.param .u64 p0) { ret; }", {}, "one_sm");
  faults(small.launch(config, 0), Fault::launch_limit, "cooperative");
  config.grid.x = 32;
  succeed(small.launch(config, 0));
  Rig large(std::string(head) + ".visible .entry k(.param .align 8 .b8 p0[4104]) { ret; }", {}, "one_sm");
  faults(large.device.launch_bytes(*large.program, "k", {}, std::vector<std::byte>(4104)), Fault::launch_limit,
         "4104 bytes of parameters");
}

void endless_kernels() {
  Settings settings;
  settings.budget = 100000;
  Rig rig(kernel(".loc 1 10 0\nmov.u32 %r0, 0;\ntop:\n.loc 1 11 0\nadd.u32 %r0, %r0, 1;\nsetp.ne.u32 %p1, %r0, "
                 "0;\n@%p1 bra top;",
                 1, ".file 1 \"loop.cu\"\n"),
          settings);
  const Result r = rig.run(1, 32, 0);
  faults(r, Fault::endless, "source lines 11 to 11");
  CHECK(r.report.file == "loop.cu" && r.report.source_line == 11);
}

// A block waits for the next one, and a lane for another of its warp: all make progress.
void progress() {
  Rig rig(kernel(R"(
    ld.param.u64 %d0, [p0];
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %p1, %r0, 0;
    @%p1 bra wait;
    atom.global.exch.b32 %r2, [%d0], 1;
    bra join;
  wait:
    ld.volatile.global.u32 %r3, [%d0];
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra wait;
  join:
    and.b32 %r4, %r1, 1;
    setp.eq.u32 %p3, %r4, 0;
    @%p3 bra spin;
    mov.u32 %r5, 1;
    st.volatile.global.u32 [%d0+4], %r5;
    bra end;
  spin:
    ld.volatile.global.u32 %r6, [%d0+4];
    setp.eq.u32 %p4, %r6, 0;
    @%p4 bra spin;
  end:)"));
  uint32_t* const flags = rig.array(std::vector<uint32_t>(2));
  for (const uint32_t threads : {1u, 2u}) {
    rig.device.settings().threads = threads;
    rig.device.memory().fill(flags, 0, 8);
    succeed(rig.run(2, 64, flags));
  }
}

void special_registers() {
  Rig rig(kernel(R"(
    ld.param.u64 %d0, [p0];
    mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %ntid.x; mov.u32 %r3, %ctaid.y; mov.u32 %r4, %nctaid.y;
    mad.lo.u32 %r5, %r1, %r2, %r0;
    mad.lo.u32 %r6, %r3, 64, %r5;
    mul.wide.u32 %d1, %r6, 16;
    add.u64 %d1, %d0, %d1;
    mov.u32 %r7, %laneid; mov.u32 %r8, %warpid; mov.u32 %r9, %lanemask_lt; add.u32 %r10, %nsmid, 0;
    shl.b32 %r4, %r4, 8;
    or.b32 %r8, %r8, %r4;
    st.global.v4.u32 [%d1], {%r7, %r8, %r9, %r10};)"),
          {}, "laptop");
  uint32_t* const out = rig.empty<uint32_t>(64 * 2 * 4);
  LaunchConfig config;
  config.grid = {1, 2, 1};
  config.block = {16, 4, 1};
  succeed(rig.launch(config, out));
  const auto got = rig.read(out, 512);
  for (uint32_t i = 0; i < 128; ++i) {
    const uint32_t lane = i % 32;
    CHECK(got[4 * i] == lane && got[4 * i + 1] == (i % 64 / 32 | 2 << 8) && got[4 * i + 2] == (1u << lane) - 1 &&
          got[4 * i + 3] == 24);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {{"lanes that part meet again", diverging_loops},
                            {"branches, also through a table", branches},
                            {"functions are put in where they are called", calls},
                            {"what is not supported is refused by name", refusals},
                            {"launches beyond a limit are refused", bad_launches},
                            {"a kernel that never ends is stopped", endless_kernels},
                            {"blocks and lanes that wait do not starve others", progress},
                            {"special registers", special_registers}});
}
