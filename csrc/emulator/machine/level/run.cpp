// The loop of the executor, and the entry of its level.
#include "emulator/machine/level/lanes.hpp"

namespace stator::emulator::machine {
namespace {

constexpr uint32_t none = ~uint32_t(0);

// The lanes with the smallest program counter run together, which joins lanes that diverged wherever
// their ways meet. After a spent turn the next group above has one, so that a lane may wait in a loop for another.
void choose_group(Warp& w) {
  const uint32_t runnable = w.runnable();
  uint32_t least = none, above = none;
  for (uint32_t left = runnable; left; left &= left - 1) {
    const uint32_t pc = w.lane_pc[first_lane(left)];
    least = pc < least ? pc : least;
    if (pc > w.pc && pc < above) above = pc;
  }
  w.pc = w.rotate && above != none ? above : least;
  w.rotate = false;
  w.active = 0;
  for (uint32_t left = runnable; left; left &= left - 1) {
    const unsigned l = first_lane(left);
    w.active |= uint32_t(w.lane_pc[l] == w.pc) << l;
  }
}

// The next instruction at which lanes outside the group wait to be joined.
uint32_t next_join(const Warp& w) {
  uint32_t join = none;
  for (uint32_t left = w.runnable() & ~w.active; left; left &= left - 1) {
    const uint32_t pc = w.lane_pc[first_lane(left)];
    if (pc > w.pc && pc < join) join = pc;
  }
  return join;
}

void leave_group(Warp& w, uint32_t pc) {
  for (uint32_t left = w.active; left; left &= left - 1) w.lane_pc[first_lane(left)] = pc;
}

template <bool Counting>
uint64_t run(Warp& w, uint64_t turn) {
  const Instruction* const code = w.code->instructions.data();
  Counters& counters = w.worker->counters;
  const std::byte* const registers = w.bank[0];
  uint64_t left = turn;
  while (left && w.runnable()) {
    choose_group(w);
    uint32_t pc = w.pc, join = next_join(w);
    for (;;) {
      const Instruction& i = code[pc];
      uint32_t mask = w.active;
      if (i.guarded) {
        uint32_t guard;
        __builtin_memcpy(&guard, registers + i.guard, 4);
        mask &= i.guard_negated ? ~guard : guard;
      }
      ++counters.warp_instructions[size_t(i.kind)];
      counters.lane_instructions[size_t(i.kind)] += unsigned(__builtin_popcount(mask));
      if constexpr (Counting) w.worker->executed[pc] += mask != 0;
      --left;
      w.pc = pc;
      const Flow flow = mask ? i.run(w, i, mask) : Flow::next;
      if (flow == Flow::regroup) break;
      pc = flow == Flow::next ? pc + 1 : w.pc;
      if (pc >= join || left == 0) {
        w.pc = pc;
        leave_group(w, pc);
        w.rotate = left == 0 && (w.runnable() & ~w.active);
        break;
      }
    }
  }
  if ((w.block->launch->spent += turn - left) > w.block->launch->settings.budget) budget_spent(w);
  return turn - left;
}

constexpr Choice (*families[])(const Form&) = {
    select_move,    select_integer, select_bits,    select_memory, select_compare, select_float,
    select_control, select_convert, select_wide,    select_half,   select_special, select_rounded,
    select_warp,    select_atomic,  select_barrier, select_async,  select_matrix,
};

Choice select(const Form& f) {
  for (const auto family : families)
    if (const Choice choice = family(f); choice.run) return choice;
  return {};
}

}  // namespace
}  // namespace stator::emulator::machine

const stator::emulator::machine::Level* stator_emulator_level() {
  using namespace stator::emulator::machine;
  static constexpr Level level{STATOR_EMULATOR_ISA, select, run<false>, run<true>};
  return &level;
}
