// The ends that a launch does not want: reports with the instruction at which they happened.
#include "emulator/machine/state.hpp"

#include <algorithm>

namespace stator::emulator::machine {

std::atomic<uint64_t> events{0};

namespace {

Report located(const Warp& w, const Instruction& i, unsigned lane, Report report) {
  const Launch& launch = *w.block->launch;
  report.kernel = w.code->name;
  report.ptx_line = i.line;
  if (launch.module) report.instruction = launch.module->line_text(i.line);
  if (w.pc < w.code->sources.size() && launch.module) {
    report.file = launch.module->file(w.code->sources[w.pc].file);
    report.source_line = w.code->sources[w.pc].line;
  }
  report.block = w.block->index;
  report.thread = {w.thread[0][lane], w.thread[1][lane], w.thread[2][lane]};
  return report;
}

}  // namespace

void stop(Warp& w, const Instruction& i, unsigned lane, Report report) {
  throw Stopped{located(w, i, lane, std::move(report))};
}

void stop(Warp& w, const Instruction& i, unsigned lane, Fault fault, std::string sentence, uint64_t address) {
  Report report;
  report.fault = fault;
  report.sentence = std::move(sentence);
  report.address = address;
  stop(w, i, lane, std::move(report));
}

void budget_spent(Warp& w) {
  const Code& code = *w.code;
  const Instruction& first = code.instructions[w.loop_first];
  const Instruction& last = code.instructions[w.loop_last];
  const Launch& launch = *w.block->launch;
  std::string sentence =
      "The launch executed more than " + std::to_string(launch.settings.budget) + " instructions of warps.";
  if (w.loop_last)
    sentence += " The warp was last in the loop of PTX lines " + std::to_string(first.line) + " to " +
                std::to_string(last.line) +
                (code.sources.empty() ? ""
                                      : ", source lines " + std::to_string(code.sources[w.loop_first].line) + " to " +
                                            std::to_string(code.sources[w.loop_last].line)) +
                ".";
  const uint32_t lanes_here = w.alive ? w.alive : 1;
  stop(w, code.instructions[std::min<size_t>(w.pc, code.instructions.size() - 1)], unsigned(__builtin_ctz(lanes_here)),
       Fault::endless, sentence);
}

void uninitialised_read(Warp& w, const Instruction& i, unsigned lane, uint64_t address, const char* space,
                        const memory::Allocation* a) {
  Launch& launch = *w.block->launch;
  if (launch.unwritten) return;
  Report report;
  report.fault = Fault::uninitialised;
  report.address = address;
  report.sentence = std::string("A read of ") + space + " memory meets a byte that nothing wrote";
  if (a) {
    report.allocation = a->base;
    report.allocation_bytes = a->bytes;
    report.allocation_label = a->label;
    report.sentence += ", at offset " + std::to_string(address - a->base) + " of an allocation of " +
                       std::to_string(a->bytes) + " bytes";
  } else {
    report.sentence += ", at offset " + std::to_string(address);
    for (const Symbol& s : w.code->shared_symbols)
      if (std::string_view(space) == "shared" && address - s.offset < s.bytes) report.allocation_label = s.name;
  }
  report.sentence += ".";
  if (!launch.races) stop(w, i, lane, std::move(report));
  launch.unwritten = located(w, i, lane, std::move(report));
}

}  // namespace stator::emulator::machine
