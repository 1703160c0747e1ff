// Barriers of a block. Lanes are counted, not warps, so that a lane which took another way is missed.
#include "emulator/machine/state.hpp"

namespace stator::emulator::machine {
namespace {

uint32_t count(uint32_t mask) { return uint32_t(__builtin_popcount(mask)); }

void vote(const Barrier& barrier, const Warp& w, const Instruction& i, unsigned lane) {
  const Operand& d = i.op[0];
  if (!i.count || !d.output) return;
  if (d.bytes) {
    w.lane_values<uint32_t>(d)[lane] = barrier.votes;
    return;
  }
  const bool result = i.join == 1 ? barrier.votes == barrier.voters : barrier.votes != 0;
  uint32_t& p = w.predicate(d);
  p = (p & ~(uint32_t(1) << lane)) | uint32_t(result) << lane;
}

bool complete(const Block& b, const Barrier& barrier) {
  uint32_t threads = barrier.arrived;
  for (size_t k = 0; k < b.warps.size(); ++k) {
    if (barrier.expected == 0)
      threads += count(barrier.waiting[k]);
    else if (barrier.waiting[k] && barrier.waiting[k] == b.warps[k].alive)
      threads += lanes;
  }
  return barrier.expected == 0 ? threads == b.live && threads != 0 : threads >= barrier.expected;
}

// PTX waits for the threads that have not ended. With Settings::strict none may have, as on devices before sm_70.
void check_all_came(Block& b, const Barrier& barrier) {
  uint32_t missing = 0;
  Warp* first = nullptr;
  for (Warp& w : b.warps) {
    const uint32_t waiting = barrier.waiting[w.index];
    if (waiting && !first) first = &w;
    if (waiting || barrier.expected == 0) missing += count(w.existing & ~w.alive);
  }
  if (!missing || !first) return;
  first->pc = barrier.pc;
  stop(*first, first->code->instructions[barrier.pc], unsigned(__builtin_ctz(barrier.waiting[first->index])),
       Fault::divergent_barrier,
       "Threads pass a barrier to which " + std::to_string(missing) +
           " of their block do not come, because they ended.");
}

void release(Block& b, Barrier& barrier) {
  if (b.launch->settings.strict) check_all_came(b, barrier);
  std::vector<uint32_t> joined = barrier.arrivers;
  for (Warp& w : b.warps) {
    const uint32_t mask = barrier.waiting[w.index];
    if (mask) joined.push_back(w.index);
    for (uint32_t left = mask; left; left &= left - 1) {
      const unsigned l = unsigned(__builtin_ctz(left));
      vote(barrier, w, w.code->instructions[w.lane_pc[l]], l);
      ++w.lane_pc[l];
    }
    w.waiting &= ~mask;
  }
  if (b.clock) b.clock->join_warps(joined);
  ++b.worker->counters.barriers;
  barrier = {};
  barrier.waiting.assign(b.warps.size(), 0);
}

}  // namespace

Flow at_barrier(Warp& w, const Instruction& i, uint32_t mask, uint32_t id, uint32_t threads, BarrierMode mode,
                uint32_t votes) {
  Block& b = *w.block;
  const unsigned lane = unsigned(__builtin_ctz(mask));
  if (id >= 16)
    stop(w, i, lane, Fault::divergent_barrier, "There are 16 barriers; " + std::to_string(id) + " is none.");
  if (threads % lanes)
    stop(w, i, lane, Fault::divergent_barrier,
         "A barrier takes a multiple of 32 threads, not " + std::to_string(threads) + ".");
  Barrier& barrier = b.barriers[id];
  if (barrier.used && barrier.expected != threads)
    stop(w, i, lane, Fault::divergent_barrier,
         "Barrier " + std::to_string(id) + " expects " + std::to_string(barrier.expected) + " threads for some and " +
             std::to_string(threads) + " for others.");
  if (barrier.used && threads == 0 && barrier.pc != w.pc)
    stop(w, i, lane, Fault::divergent_barrier,
         "Some threads wait at barrier " + std::to_string(id) + " in PTX line " +
             std::to_string(w.code->instructions[barrier.pc].line) + ", others in line " + std::to_string(i.line) +
             ".");
  barrier.used = true;
  barrier.expected = threads;
  barrier.pc = w.pc;
  for (uint32_t left = w.active; left; left &= left - 1) {
    const unsigned l = unsigned(__builtin_ctz(left));
    w.lane_pc[l] = w.pc + ((mode == BarrierMode::arrive || !(mask >> l & 1)) ? 1 : 0);
    w.barrier[l] = uint8_t(id);
  }
  if (mode == BarrierMode::arrive) {
    barrier.arrived += lanes;
    barrier.arrivers.push_back(w.index);
  } else {
    barrier.waiting[w.index] |= mask;
    barrier.votes += count(votes & mask);
    barrier.voters += count(mask);
    w.waiting |= mask;
  }
  if (complete(b, barrier)) release(b, barrier);
  return Flow::regroup;
}

void after_exit(Warp& w) {
  // Lanes that wait for words of the warp look again who is left.
  w.waiting &= ~w.syncing;
  w.syncing = 0;
  Block& b = *w.block;
  for (Barrier& barrier : b.barriers)
    if (barrier.used && complete(b, barrier)) release(b, barrier);
}

}  // namespace stator::emulator::machine
