// Checks of memory that are not on the fast way, and what the checker of races receives.
#include "emulator/machine/state.hpp"

namespace stator::emulator::machine {
namespace {

template <class F>
void each_lane(uint32_t mask, F f) {
  for (; mask; mask &= mask - 1) f(unsigned(__builtin_ctz(mask)));
}

}  // namespace

memory::Allocation* check_global(Warp& w, const Instruction& i, uint32_t mask, const uint64_t* addresses,
                                 unsigned bytes, bool write) {
  const Launch& launch = *w.block->launch;
  memory::Allocation *common = nullptr, *found[lanes];
  bool same = true;
  each_lane(mask, [&](unsigned l) {
    const uint64_t a = addresses[l];
    found[l] = launch.memory->find(a);
    if (!found[l] || !found[l]->live || a + bytes > found[l]->end())
      stop(w, i, l, launch.memory->describe(a, bytes, write));
    if (a & (bytes - 1))
      stop(w, i, l, Fault::misaligned, "An access of " + std::to_string(bytes) + " bytes is not aligned to them.", a);
    if (write && found[l]->kind == MemoryKind::constant)
      stop(w, i, l, Fault::read_only, "A write to constant memory.", a);
    same &= !common || common == found[l];
    common = found[l];
  });
  if (same) return common;
  each_lane(mask, [&](unsigned l) {
    memory::Allocation& a = *found[l];
    if (a.whole) return;
    const uint64_t offset = addresses[l] - a.base;
    if (write) return memory::set_bits(a.initialised.words(), offset, bytes);
    const uint64_t missing =
        ~memory::get_bits(a.initialised.words(), offset, bytes) & memory::low_bits(bytes) & i.used_bytes;
    if (missing && launch.settings.uninitialised)
      uninitialised_read(w, i, l, addresses[l] + unsigned(__builtin_ctzll(missing)), "global", &a);
  });
  return nullptr;
}

void note_access(Warp& w, const Instruction& i, uint32_t mask, const uint64_t* addresses, Access access, bool shared) {
  Block& b = *w.block;
  memory::RaceChecker& races = *b.launch->races;
  memory::BlockClock& clock = *b.clock;
  const uint64_t base = shared ? reinterpret_cast<uint64_t>(b.shared) : 0;
  const bool strong = access.atomic() || i.strong, wide = strong && !i.block_scope;
  memory::Touch touch;
  touch.block = clock.block;
  touch.time = clock.now(w.index);
  touch.block_time = clock.time;
  touch.line = i.line;
  touch.serial = races.next_serial();
  touch.strong = strong;
  touch.wide = wide;
  touch.valid = true;
  const bool among_blocks = !shared && wide;
  if (among_blocks && i.release) races.release(clock);
  each_lane(mask, [&](unsigned l) {
    const uint64_t a = base + addresses[l];
    touch.thread = uint16_t(w.index * lanes + l);
    if (strong && access.read) {
      clock.meet(touch.thread, a, i.acquire);
      if (among_blocks) races.meet(clock, a, i.acquire);
    }
    const memory::Conflict c = races.access(clock, a, access.bytes, touch, shared, access.write);
    if (strong && access.write) {
      clock.publish(touch.thread, a, i.release);
      if (among_blocks) races.publish(clock, a);
    }
    if (!c.found) return;
    Report report;
    report.fault = Fault::race;
    report.address = shared ? c.address - base : c.address;
    report.sentence = std::string("A ") + (access.write ? "write" : "read") + " of byte " +
                      std::to_string(report.address) + " of " + (shared ? "shared" : "global") + " memory and a " +
                      (c.other_wrote ? "write" : "read") + " by thread " + std::to_string(c.other.thread) +
                      " of block " + std::to_string(c.other.block) + " in PTX line " + std::to_string(c.other.line) +
                      " have no order: " +
                      (strong && c.other.strong ? "the scope of one of them is its block."
                                                : "no barrier, or fence and atomic, is between them.");
    if (const memory::Allocation* a = shared ? nullptr : b.launch->memory->find(c.address)) {
      report.allocation = a->base;
      report.allocation_bytes = a->bytes;
      report.allocation_label = a->label;
    }
    stop(w, i, l, std::move(report));
  });
  if (i.release) clock.advance(w.index);
}

void note_fence(Warp& w, const Instruction& i, uint32_t mask) {
  memory::BlockClock& clock = *w.block->clock;
  clock.fence(w.index, mask);
  if (!i.block_scope) w.block->launch->races->fence(clock);
}

void note_warp_sync(Warp& w, uint32_t mask) {
  if (w.block->clock) w.block->clock->join_lanes(w.index, mask);
}

}  // namespace stator::emulator::machine
