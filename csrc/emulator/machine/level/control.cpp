// Branches and ends.
#include "emulator/machine/level/lanes.hpp"

namespace stator::emulator::machine {
namespace {

void note_loop(Warp& w, uint32_t target) {
  if (target > w.pc) return;
  w.loop_first = target;
  w.loop_last = w.pc;
}

// The lanes of the group that the guard turned away go on after the instruction.
void leave_behind(Warp& w, uint32_t mask) {
  for (uint32_t left = w.active & ~mask; left; left &= left - 1) w.lane_pc[first_lane(left)] = w.pc + 1;
}

Flow branch(Warp& w, const Instruction& i, uint32_t mask) {
  note_loop(w, i.target);
  if (mask == w.active) {
    w.pc = i.target;
    return Flow::jump;
  }
  leave_behind(w, mask);
  for (uint32_t left = mask; left; left &= left - 1) w.lane_pc[first_lane(left)] = i.target;
  return Flow::regroup;
}

Flow indirect_branch(Warp& w, const Instruction& i, uint32_t mask) {
  const std::vector<uint32_t>& table = w.code->tables[i.target];
  const uint32_t* const index = w.lane_values<uint32_t>(i.op[0]);
  leave_behind(w, mask);
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = first_lane(left);
    if (index[l] >= table.size())
      stop(w, i, l, Fault::trap,
           "The index " + std::to_string(index[l]) + " of a branch is beyond its table of " +
               std::to_string(table.size()) + " targets.");
    note_loop(w, table[index[l]]);
    w.lane_pc[l] = table[index[l]];
  }
  return Flow::regroup;
}

Flow end(Warp& w, const Instruction&, uint32_t mask) {
  leave_behind(w, mask);
  w.alive &= ~mask;
  w.block->live -= uint32_t(__builtin_popcount(mask));
  after_exit(w);
  return Flow::regroup;
}

Flow trap(Warp& w, const Instruction& i, uint32_t mask) {
  stop(w, i, first_lane(mask), Fault::trap,
       "The kernel executed a " + std::string(i.vector == 1 ? "trap." : "breakpoint."));
}

Flow performance_event(Warp&, const Instruction&, uint32_t) {
  events.fetch_add(1, std::memory_order_relaxed);
  return Flow::next;
}

Flow nothing(Warp&, const Instruction&, uint32_t) { return Flow::next; }

Handler find(const Form& f) {
  if (f.base == "bra") return branch;
  if (f.base == "brx") return indirect_branch;
  if (f.base == "exit") return end;
  if (f.base == "trap" || f.base == "brkpt") return trap;
  if (f.base == "pmevent") return performance_event;
  if (f.base == "nanosleep" || f.base == "@nothing") return nothing;
  return nullptr;
}

}  // namespace

Choice select_control(const Form& f) { return {find(f), Kind::control}; }

}  // namespace stator::emulator::machine
