// The first cache of a multiprocessor, as a model: which sectors that loads touch it holds already.
#pragma once

#include <cstdint>
#include <vector>

namespace stator::emulator::machine {

// Sectors of 32 bytes, in sets of four of which the one longest unused gives way. Stores pass through and leave
// nothing.
class FirstCache {
 public:
  static constexpr unsigned ways = 4, sector_bytes = 32;

  // Of about `bytes`. The origin is the first address of the device's memory, so that what is held does not
  // depend on where the system has put that.
  FirstCache(uint64_t bytes, uint64_t origin) : origin_(origin / sector_bytes) {
    while (bits_ < 16 && (uint64_t(2) << bits_) * ways * sector_bytes <= bytes) ++bits_;
    tags_.assign((uint64_t(1) << bits_) * ways, ~uint64_t(0));
  }

  // Whether the sector had to be loaded.
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

}  // namespace stator::emulator::machine
