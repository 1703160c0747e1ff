// Looks for accesses without an order: the happens-before relation of CUDA's barriers, fences and atomics, kept as
// clocks.
#pragma once

#include "emulator/report.hpp"

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stator::emulator::memory {

constexpr uint32_t warp_lanes = 32;

// Times by the numbers of threads or blocks, in ascending order of these.
using Times = std::vector<std::pair<uint32_t, uint32_t>>;
uint32_t time_of(const Times& times, uint32_t number);  // 0 if there is none
void take_latest(Times& into, const Times& other);

// Up to which times of the block's threads everything happened before something.
struct View {
  std::vector<uint32_t> warps;  // of all lanes of a warp; empty where nothing is known
  Times threads;                // of single threads

  bool empty() const { return warps.empty() && threads.empty(); }
  bool covers(uint32_t thread, uint32_t time) const;
  void take(const View& other);
};

// Time within a block. Each warp has a clock that every barrier it takes part in advances, and every fence and release
// of a lane; `seen` says up to which of another warp's (or lane's) times everything happened before. A block has a time
// of its own among blocks, which its fences advance.
class BlockClock {
 public:
  BlockClock(uint32_t block, uint32_t warps);

  // The warps that a barrier joins, as a list; then all that they did before is before what any of them does.
  void join_warps(const std::vector<uint32_t>& warps);
  // bar.warp.sync.
  void join_lanes(uint32_t warp, uint32_t mask);
  uint32_t now(uint32_t warp) const { return now_[warp]; }
  bool saw(uint32_t thread, uint32_t other, uint32_t time) const;
  // Whether all lanes of a warp saw all of another one's; of their own, those of a barrier of the block.
  bool warp_saw(uint32_t warp, uint32_t other, uint32_t time) const {
    return time <= (warp == other ? joined_[warp] : seen_warps_[warp * warps_ + other]);
  }

  // Order by memory within the block. A strong write after a fence, or one that releases, leaves at its address what
  // its thread knows (of the time of the fence); a strong read meets it, and its thread knows it where the read
  // acquires, else from its next fence on.
  void fence(uint32_t warp, uint32_t mask);
  // Whether the thread made a fence after that.
  bool fenced(uint32_t thread, uint32_t other, uint32_t time) const {
    return !threads_.empty() && threads_[thread].released.covers(other, time);
  }
  void publish(uint32_t thread, uint64_t address, bool releases);
  void meet(uint32_t thread, uint64_t address, bool acquires);
  void advance(uint32_t warp) { ++now_[warp]; }

  const uint32_t block;
  uint32_t time = 1;      // of the block among blocks
  uint32_t released = 0;  // what others may see once they meet a value that the block wrote after its fence
  Times seen_blocks;
  Times met_blocks;  // what the block's next fence makes it see

 private:
  struct Thread {
    View seen, met, released;
  };
  View view_of(uint32_t thread) const;
  Thread& thread(uint32_t number);

  const uint32_t warps_;
  std::vector<uint32_t> now_;
  std::vector<uint32_t> seen_warps_;  // [warp][other]
  std::vector<uint32_t> seen_lanes_;  // [warp][lane][other]
  std::vector<uint32_t> joined_;      // [warp]: what its last barrier of the block showed to all its lanes
  std::vector<Thread> threads_;       // empty until one makes a fence, or acquires
  std::unordered_map<uint64_t, View> published_;
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
  bool wide = false;  // strong among blocks too: its scope is more than the block
};

struct Conflict {
  bool found = false;
  Touch other;
  bool other_wrote = false;
  uint64_t address = 0;
};

class RaceChecker {
 public:
  // Strong accesses (atomics, volatile ones and those with a memory order) whose scopes include each other do not race.
  // The access is aligned to its bytes, a power of two of at most 16. What other blocks did with the same shared memory
  // is past.
  Conflict access(const BlockClock& clock, uint64_t address, unsigned bytes, const Touch& touch, bool shared,
                  bool write);
  // Among blocks: a strong write or atomic of a block that made a fence publishes the block's time. A strong read meets
  // it, and takes it where it acquires or where a fence follows.
  void publish(const BlockClock& clock, uint64_t address);
  void meet(BlockClock& clock, uint64_t address, bool acquires);
  void release(BlockClock& clock);
  void fence(BlockClock& clock);
  uint32_t next_serial() { return ++serial_; }

 private:
  // Accesses of lanes of a warp at one time.
  struct Mark {
    uint32_t time = 0, block_time = 0, serial = 0, line = 0;
    uint32_t lanes = 0;
    uint8_t warp = 0;
    bool wrote = false, strong = false, wide = false;

    // Whether they are alike, so that one mark can stand for both.
    bool joins(const Mark& m) const {
      return warp == m.warp && time == m.time && wrote == m.wrote && strong == m.strong && wide == m.wide &&
             (!wrote || strong || serial == m.serial);
    }
  };
  // The last writer, and the accesses that a later one may race with though it does not with the last writer: reads,
  // and writes of which none comes before the other (of atomics, or of one instruction). Of one block they are all
  // kept, of those before it the last one.
  struct Cell {
    static constexpr uint32_t none = ~uint32_t(0);
    static constexpr int most_of_a_warp =
        4;  // times that are kept, so that a loop of fences and reads does not pile up

    Touch writer;
    uint32_t block = none, other_block = none;
    bool wrote = false;  // one of the marks did
    Mark last, other;
    std::vector<Mark> more;

    bool repeats(const Touch& touch) const;
    void enter(uint32_t block);
    void add(const Mark& mark);
    void drop_superseded(const BlockClock& clock, const Mark& by);
  };
  // Of a kilobyte: a cell per word until something smaller than a word is accessed, then one per byte.
  struct Page {
    static constexpr uint64_t bytes = 1024;
    unsigned shift = 2;
    std::vector<Cell> cells{bytes >> 2};
    void divide();
  };
  Page& page(uint64_t address);
  static Mark mark_of(const Touch& touch, bool write);
  static bool find(const BlockClock& clock, const Mark& before, uint32_t block, const Touch& now, Conflict& conflict);
  static bool find(const BlockClock& clock, const Cell& cell, const Touch& now, bool write, Conflict& conflict);

  uint32_t serial_ = 0;
  std::unordered_map<uint64_t, Page> pages_;
  // The pages that were used last, by the low bits of their numbers.
  struct Recent {
    uint64_t number = ~uint64_t(0);
    Page* page = nullptr;
  };
  Recent recent_[64];
  std::unordered_map<uint64_t, Times> published_;
};

}  // namespace stator::emulator::memory
