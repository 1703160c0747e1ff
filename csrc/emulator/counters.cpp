#include "emulator/counters.hpp"

#include <numeric>

namespace stator::emulator {

const char* name_of(Kind kind) {
  constexpr const char* names[] = {"integer", "f32",       "f64",     "half",   "convert", "special", "matrix",
                                   "move",    "predicate", "control", "memory", "warp",    "barrier"};
  static_assert(std::size(names) == Counters::kinds);
  return names[std::size_t(kind)];
}

uint64_t Counters::instructions() const {
  return std::accumulate(warp_instructions.begin(), warp_instructions.end(), uint64_t(0));
}

uint64_t Counters::lanes() const {
  return std::accumulate(lane_instructions.begin(), lane_instructions.end(), uint64_t(0));
}

double Counters::average_lanes() const { return instructions() ? double(lanes()) / double(instructions()) : 0; }

Counters& Counters::operator+=(const Counters& other) {
  for (std::size_t i = 0; i < kinds; ++i) {
    warp_instructions[i] += other.warp_instructions[i];
    lane_instructions[i] += other.lane_instructions[i];
  }
  blocks += other.blocks;
  threads += other.threads;
  warps += other.warps;
  global_loads += other.global_loads;
  global_load_sectors += other.global_load_sectors;
  global_load_bytes += other.global_load_bytes;
  global_stores += other.global_stores;
  global_store_sectors += other.global_store_sectors;
  global_store_bytes += other.global_store_bytes;
  shared_loads += other.shared_loads;
  shared_load_wavefronts += other.shared_load_wavefronts;
  shared_stores += other.shared_stores;
  shared_store_wavefronts += other.shared_store_wavefronts;
  local_loads += other.local_loads;
  local_stores += other.local_stores;
  global_atomics += other.global_atomics;
  shared_atomics += other.shared_atomics;
  barriers += other.barriers;
  registers_bytes = registers_bytes > other.registers_bytes ? registers_bytes : other.registers_bytes;
  return *this;
}

}  // namespace stator::emulator
