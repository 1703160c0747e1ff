// What a launch did, as numbers.
#pragma once

#include "emulator/export.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace stator::emulator {

enum class Kind : uint8_t {
  integer,  // arithmetic, shifts, comparisons of integers
  f32,      // arithmetic and comparisons in single precision
  f64,
  half,  // of both 16-bit formats
  convert,
  special,  // the approximate functions
  matrix,
  move,       // moves, selections, special registers
  predicate,  // logic of predicates
  control,    // branches, exits
  memory,     // loads, stores, atomics of every space
  warp,       // shuffles, votes, barriers of a warp
  barrier,    // barriers of a block, fences
  count
};

STATOR_EMULATOR_API const char* name_of(Kind kind);

struct STATOR_EMULATOR_API Counters {
  static constexpr std::size_t kinds = std::size_t(Kind::count);
  std::array<uint64_t, kinds> warp_instructions{}, lane_instructions{};
  uint64_t blocks = 0, threads = 0, warps = 0;

  // Of global memory, by any instruction but atomics. A request is one instruction of one warp; its sectors are the
  // 32-byte pieces of memory that it touches; its bytes those that lanes load or store.
  uint64_t global_loads = 0, global_load_sectors = 0, global_load_bytes = 0;
  uint64_t global_load_misses = 0;  // sectors that the first cache did not hold; Settings::cache
  uint64_t global_stores = 0, global_store_sectors = 0, global_store_bytes = 0;
  // A wavefront is a pass through the 32 banks of shared memory: one without conflicts.
  uint64_t shared_loads = 0, shared_load_wavefronts = 0;
  uint64_t shared_stores = 0, shared_store_wavefronts = 0;
  uint64_t local_loads = 0, local_stores = 0;
  uint64_t global_atomics = 0, shared_atomics = 0;  // warp instructions
  uint64_t barriers = 0;                            // barriers of a block that were passed, once per block
  uint64_t registers_bytes = 0;                     // what the emulator keeps per warp

  // Its numbers with names such as "warp_instructions_f32" and "global_loads", in an order that stays.
  struct Value {
    const char* name;
    uint64_t value;
  };
  static constexpr std::size_t count = 2 * kinds + 20;
  std::array<Value, count> values() const;

  uint64_t instructions() const;  // of warps
  uint64_t lanes() const;         // instructions of lanes
  Counters& operator+=(const Counters& other);
};

}  // namespace stator::emulator
