// Looks for accesses without an order: the happens-before relation of CUDA's barriers, fences and atomics, kept as
// clocks.
#pragma once

#include "emulator/report.hpp"

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace stator::emulator::memory {

// Time within a block. Each warp has a clock that every barrier it takes part in advances; `seen` says up to which of
// another warp's (or lane's) times everything happened before. A block has a time of its own, which its fences advance.
class BlockClock {
 public:
  BlockClock(uint64_t block, uint32_t warps);

  // The warps that a barrier joins, as a list; then all that they did before is before what any of them does.
  void join_warps(const std::vector<uint32_t>& warps);
  // bar.warp.sync.
  void join_lanes(uint32_t warp, uint32_t mask);
  uint32_t now(uint32_t warp) const { return now_[warp]; }
  bool lane_saw(uint32_t thread, uint32_t other, uint32_t time) const;

  const uint64_t block;
  uint32_t time = 1;      // of the block among blocks
  uint32_t released = 0;  // what others may see once they meet a value that the block wrote after its fence
  std::unordered_map<uint64_t, uint32_t> seen_blocks;
  std::unordered_map<uint64_t, uint32_t> met_blocks;  // what the block's next fence makes it see

 private:
  const uint32_t warps_;
  std::vector<uint32_t> now_;
  std::vector<uint32_t> seen_warps_;  // [warp][other]
  std::vector<uint32_t> seen_lanes_;  // [warp][lane][other]
  std::vector<uint32_t> joined_;      // [warp]: what its last barrier of the block showed to all its lanes
};

// One access.
struct Touch {
  uint32_t block = 0;
  uint32_t time = 0;  // of the warp
  uint32_t block_time = 0;
  uint32_t line = 0;    // of the instruction
  uint32_t serial = 0;  // of the warp's access: its lanes do not race among themselves when they write
  uint16_t thread = 0;
  bool strong = false, valid = false;
};

struct Conflict {
  bool found = false;
  Touch other;
  bool other_wrote = false;
  uint64_t address = 0;
};

class RaceChecker {
 public:
  // Strong accesses (atomics, volatile ones and those with a memory order) do not race with each other. The access is
  // aligned to its bytes, a power of two of at most 16. What other blocks did with the same shared memory is past.
  Conflict access(const BlockClock& clock, uint64_t address, unsigned bytes, const Touch& touch, bool shared,
                  bool write);
  // A strong write or atomic of a block that made a fence publishes the block's time. A strong read meets it, and takes
  // it where it acquires or where a fence follows.
  void publish(const BlockClock& clock, uint64_t address);
  void meet(BlockClock& clock, uint64_t address, bool acquires);
  void release(BlockClock& clock);
  void fence(BlockClock& clock);
  uint32_t next_serial() { return ++serial_; }

 private:
  struct Cell {
    Touch writer, readers[2];
  };
  // Of a kilobyte: a cell per word until something smaller than a word is accessed, then one per byte.
  struct Page {
    static constexpr uint64_t bytes = 1024;
    unsigned shift = 2;
    std::vector<Cell> cells{bytes >> 2};
    void divide();
  };
  Page& page(uint64_t address);

  uint32_t serial_ = 0;
  std::unordered_map<uint64_t, Page> pages_;
  // The pages that were used last, by the low bits of their numbers.
  struct Recent {
    uint64_t number = ~uint64_t(0);
    Page* page = nullptr;
  };
  Recent recent_[64];
  std::unordered_map<uint64_t, std::unordered_map<uint64_t, uint32_t>> published_;
};

}  // namespace stator::emulator::memory
