// The state of a launch while it runs: blocks, their warps, and what the workers of the CPU keep.
#pragma once

#include "emulator/counters.hpp"
#include "emulator/export.hpp"
#include "emulator/machine/instruction.hpp"
#include "emulator/machine/level.hpp"
#include "emulator/memory/memory.hpp"
#include "emulator/memory/race.hpp"
#include "emulator/profile.hpp"
#include "emulator/ptx/module.hpp"
#include "emulator/settings.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stator::emulator::machine {

struct Block;
struct Launch;
struct Worker;

// A copy that cp.async began: it takes effect when its lane waits for its group.
struct AsyncCopy {
  uint64_t source = 0;
  uint32_t target = 0;  // offset in shared memory
  uint32_t pc = 0;
  uint8_t lane = 0, bytes = 0, source_bytes = 0;
  uint32_t group = 0;
};

struct Warp {
  std::byte* bank[2] = {nullptr, nullptr};
  uint32_t pc = 0, active = 0;      // the group that runs
  uint32_t alive = 0, waiting = 0;  // lanes that have not ended; those that wait for others
  uint32_t syncing = 0;             // of the waiting, those at a word of the warp rather than at a barrier
  uint32_t existing = 0;            // the lanes that the block has
  uint32_t carry = 0;               // the condition code, a bit per lane
  uint32_t index = 0;
  uint32_t lane_pc[lanes] = {};  // of the lanes outside the group
  uint8_t barrier[lanes] = {};   // of the waiting lanes
  Block* block = nullptr;
  Worker* worker = nullptr;
  const Code* code = nullptr;
  std::byte* local = nullptr;  // lane after lane
  uint64_t local_stride = 0;
  uint64_t* local_bits = nullptr;
  uint64_t local_words = 0;  // of bits, per lane
  uint32_t thread[3][lanes] = {};
  uint32_t loop_first = 0, loop_last = 0;  // of the last jump backwards
  bool rotate = false;                     // the group spent its turn: another one's is next
  uint32_t groups[lanes] = {};             // of asynchronous copies that the lane committed
  std::vector<AsyncCopy> copies;
  std::vector<std::byte> register_storage, local_storage;
  std::vector<uint64_t> local_bit_storage;

  template <class T>
  T* lane_values(const Operand& o) const {
    return reinterpret_cast<T*>(bank[o.bank] + o.offset);
  }
  uint32_t& predicate(const Operand& o) const { return *reinterpret_cast<uint32_t*>(bank[o.bank] + o.offset); }
  uint32_t runnable() const { return alive & ~waiting; }
};

struct Barrier {
  uint32_t expected = 0;  // threads; 0: all of the block
  uint32_t arrived = 0;   // threads that arrived without waiting
  uint32_t pc = 0;        // of the first that waits
  bool used = false;
  uint32_t votes = 0, voters = 0;  // of bar.red
  std::vector<uint32_t> waiting;   // lanes of each warp
  std::vector<uint32_t> arrivers;  // warps that arrived without waiting
};

// A model of the first cache of a multiprocessor: sectors of 32 bytes, in sets of four of which the one longest unused
// gives way. Stores pass through and leave nothing.
class FirstCache {
 public:
  static constexpr unsigned ways = 4, sector_bytes = 32;

  // Of about `bytes`. The origin is the first address of the device's memory, so that what is held does not
  // depend on where the system has put that.
  FirstCache(uint64_t bytes, uint64_t origin) : origin_(origin / sector_bytes) {
    while (bits_ < 16 && (uint64_t(2) << bits_) * ways * sector_bytes <= bytes) ++bits_;
    tags_.assign((uint64_t(1) << bits_) * ways, ~uint64_t(0));
  }

  // Whether the cache lacked the sector, which it has now.
  bool misses(uint64_t sector) {
    // The set is a hash, as in the hardware: else arrays at distances of powers of two would meet in few sets.
    uint64_t* const set = &tags_[((sector - origin_) * 0x9e3779b97f4a7c15 >> (64 - bits_)) * ways];
    unsigned k = 0;
    while (k < ways && set[k] != sector) ++k;
    const bool missing = k == ways;
    for (k = missing ? ways - 1 : k; k > 0; --k) set[k] = set[k - 1];
    set[0] = sector;
    return missing;
  }

 private:
  uint64_t origin_;
  unsigned bits_ = 1;
  std::vector<uint64_t> tags_;
};

struct Block {
  Launch* launch = nullptr;
  Worker* worker = nullptr;
  Dim3 index;
  uint64_t number = 0;  // in the grid
  std::vector<Warp> warps;
  std::vector<uint32_t> order;  // in which warps take turns
  uint32_t live = 0;            // lanes
  std::byte* shared = nullptr;
  uint64_t shared_bytes = 0;
  std::vector<std::byte> shared_storage;
  std::vector<uint64_t> shared_bits;
  Barrier barriers[16];
  std::unique_ptr<memory::BlockClock> clock;  // where races are looked for
  FirstCache* cache = nullptr;                // of its multiprocessor, with Settings::cache
};

struct Launch {
  const Code* code = nullptr;
  const Level* level = nullptr;
  Memory* memory = nullptr;
  const Profile* profile = nullptr;
  Settings settings;
  Dim3 grid, block;
  uint64_t dynamic_shared = 0;
  std::vector<std::byte> parameters;
  std::atomic<uint64_t> spent{0};  // instructions of warps
  std::atomic<bool> stop{false};
  std::unique_ptr<memory::RaceChecker> races;
  Report unwritten;                     // of the first read of what nothing wrote, while races are looked for
  uint64_t resident = 1;                // blocks that the profile holds at once
  uint64_t cache_bytes = 0;             // of each first cache
  bool parallel = false;                // several CPU threads run it
  const ptx::Module* module = nullptr;  // for reports
  bool cooperative = false;
  uint64_t workspace = 0;          // the address of a cooperative grid's
  std::vector<uint64_t> executed;  // by instructions, with Settings::forms
};

// What a thread of the CPU keeps for itself.
struct Worker {
  Launch* launch = nullptr;
  Counters counters;
  std::vector<uint64_t> executed;         // by instructions: how often, where that is counted
  std::vector<memory::Allocation*> last;  // that each instruction accessed
  std::vector<FirstCache> caches;         // by multiprocessors, with Settings::cache
};

// How many times a warp executed pmevent, in all launches of the process.
STATOR_EMULATOR_API extern std::atomic<uint64_t> events;

// Ends the launch with a report.
struct Stopped {
  Report report;
};
[[noreturn]] STATOR_EMULATOR_API void stop(Warp&, const Instruction&, unsigned lane, Report);
[[noreturn]] STATOR_EMULATOR_API void stop(Warp&, const Instruction&, unsigned lane, Fault, std::string sentence,
                                           uint64_t address = 0);

// The lanes wait at a barrier of the block, or pass it if they complete it. The lanes' program counters are set.
enum class BarrierMode : uint8_t { sync, arrive, vote_and, vote_or, vote_count };
STATOR_EMULATOR_API Flow at_barrier(Warp&, const Instruction&, uint32_t mask, uint32_t id, uint32_t threads,
                                    BarrierMode, uint32_t votes);
// After lanes ended: barriers may be complete without them, and words of the warp too.
STATOR_EMULATOR_API void after_exit(Warp&);
// The instructions that all warps executed go beyond the budget.
[[noreturn]] STATOR_EMULATOR_API void budget_spent(Warp&);

// All lanes' addresses checked one by one, with the fault of the first that breaks a rule. Returns the allocation if it
// is the same for all lanes, else null.
STATOR_EMULATOR_API memory::Allocation* check_global(Warp&, const Instruction&, uint32_t mask,
                                                     const uint64_t* addresses, unsigned bytes, bool write);
// Of a read whose bytes are not all initialised: stops, or where races are looked for goes on, since a write that comes
// later without an order is the better report.
STATOR_EMULATOR_API void uninitialised_read(Warp&, const Instruction&, unsigned lane, uint64_t address,
                                            const char* space, const memory::Allocation*);

// What an instruction does with `bytes` bytes at the address of each lane. An atomic operation reads and writes.
struct Access {
  unsigned bytes;
  bool read, write;

  bool atomic() const { return read && write; }
};

// A warp's access to shared or global memory, for the checker of races.
STATOR_EMULATOR_API void note_access(Warp&, const Instruction&, uint32_t mask, const uint64_t* addresses, Access,
                                     bool shared);
STATOR_EMULATOR_API void note_fence(Warp&, const Instruction&, uint32_t mask);
STATOR_EMULATOR_API void note_warp_sync(Warp&, uint32_t mask);

}  // namespace stator::emulator::machine
