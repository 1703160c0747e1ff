// Barriers of a block, and fences.
#include "emulator/machine/level/lanes.hpp"

namespace stator::emulator::machine {
namespace {

uint32_t value_of(const Warp& w, const Operand& o, uint32_t mask) {
  return w.lane_values<uint32_t>(o)[first_lane(mask)];
}

template <BarrierMode M>
Flow barrier(Warp& w, const Instruction& i, uint32_t mask) {
  const uint32_t id = i.count > 0 ? value_of(w, i.op[0], mask) : 0;
  const uint32_t threads = i.count > 1 ? value_of(w, i.op[1], mask) : 0;
  return at_barrier(w, i, mask, id, threads, M, 0);
}

// bar.red d, a{, b}, {!}p.
template <BarrierMode M>
Flow vote(Warp& w, const Instruction& i, uint32_t mask) {
  const uint32_t threads = i.count > 3 ? value_of(w, i.op[2], mask) : 0;
  return at_barrier(w, i, mask, value_of(w, i.op[1], mask), threads, M, read_predicate(w, i.op[i.count - 1]));
}

Flow fence(Warp& w, const Instruction& i, uint32_t mask) {
  if (w.block->launch->races) note_fence(w, i, mask);
  if (w.block->launch->parallel) __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return Flow::next;
}

Handler find(const Form& f) {
  if (f.has("cluster")) return nullptr;
  if (f.base == "membar" || (f.base == "fence" && !f.has("proxy"))) return fence;
  if (f.base != "bar" && f.base != "barrier") return nullptr;
  if (f.has("red"))
    return f.has("popc")  ? vote<BarrierMode::vote_count>
           : f.has("and") ? vote<BarrierMode::vote_and>
                          : vote<BarrierMode::vote_or>;
  if (f.has("arrive")) return barrier<BarrierMode::arrive>;
  return f.has("sync") ? barrier<BarrierMode::sync> : nullptr;
}

}  // namespace

Choice select_barrier(const Form& f) { return {find(f), Kind::barrier}; }

}  // namespace stator::emulator::machine
