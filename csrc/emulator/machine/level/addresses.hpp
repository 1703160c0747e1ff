// A warp's addresses as a whole: their bounds and their pattern, the checks against what they meet, and the counts of
// sectors and of passes through the banks of shared memory.
#pragma once

#include "emulator/machine/level/lanes.hpp"

namespace stator::emulator::machine {

struct Pattern {
  uint64_t low = ~uint64_t(0), high = 0;  // the least and the greatest address
  uint64_t any = 0;                       // all of them, or-ed
  bool linear = false;                    // all lanes take part, one after the other
};

// Of a 64-bit address, or of a 32-bit one in the windows of shared and local memory.
inline void read_addresses(const Warp& w, const Operand& o, int32_t offset, uint64_t (&to)[lanes]) {
  if (o.bytes == 8) {
    const uint64_t* const a = w.lane_values<uint64_t>(o);
    for (unsigned l = 0; l < lanes; ++l) to[l] = a[l] + uint64_t(int64_t(offset));
  } else {
    const uint32_t* const a = w.lane_values<uint32_t>(o);
    for (unsigned l = 0; l < lanes; ++l) to[l] = a[l] + uint32_t(offset);
  }
}

inline Pattern pattern_of(const uint64_t (&a)[lanes], uint32_t mask, unsigned bytes) {
  Pattern p;
  if (mask == all_lanes) {
    uint64_t apart = 0;
    const uint64_t first = a[0];
    for (unsigned l = 0; l < lanes; ++l) {
      apart |= a[l] ^ (first + l * bytes);
      p.any |= a[l];
    }
    if (apart == 0) {
      p.linear = true;
      p.low = first;
      p.high = a[lanes - 1];
      return p;
    }
    for (unsigned l = 0; l < lanes; ++l) {
      p.low = a[l] < p.low ? a[l] : p.low;
      p.high = a[l] > p.high ? a[l] : p.high;
    }
    return p;
  }
  for (uint32_t left = mask; left; left &= left - 1) {
    const uint64_t v = a[first_lane(left)];
    p.low = v < p.low ? v : p.low;
    p.high = v > p.high ? v : p.high;
    p.any |= v;
  }
  return p;
}

// 32-byte pieces of memory that the warp touches; an aligned access of at most 32 bytes is in one.
inline uint64_t sectors(const uint64_t (&a)[lanes], uint32_t mask, unsigned bytes, const Pattern& p) {
  if (p.linear) return ((p.high + bytes - 1) >> 5) - (p.low >> 5) + 1;
  if (p.low >> 5 == p.high >> 5) return 1;
  uint64_t seen[lanes];
  unsigned count = 0;
  for (uint32_t left = mask; left; left &= left - 1) {
    const uint64_t sector = a[first_lane(left)] >> 5;
    unsigned k = count;
    while (k && seen[k - 1] != sector) --k;  // the last ones first: neighbours share
    if (k == 0) seen[count++] = sector;
  }
  return count;
}

// Of those that a load touches, what the first cache does not hold.
inline uint64_t missing_sectors(Block& b, const uint64_t (&a)[lanes], uint32_t mask, unsigned bytes, const Pattern& p) {
  uint64_t count = 0;
  if (p.linear) {
    for (uint64_t s = p.low >> 5; s <= (p.high + bytes - 1) >> 5; ++s) count += b.cache->misses(s);
    return count;
  }
  for (uint32_t left = mask; left; left &= left - 1) count += b.cache->misses(a[first_lane(left)] >> 5);
  return count;
}

// Lanes of 8 bytes go in two halves of the warp, of 16 in four quarters. Within one, each bank serves a word at a time.
inline uint64_t wavefronts(const uint64_t (&a)[lanes], uint32_t mask, unsigned bytes, const Pattern& p) {
  const unsigned words = bytes > 4 ? bytes / 4 : 1;
  if (p.linear) return words;
  const unsigned together = lanes / words;
  const bool one_row = p.high / 4 + words - p.low / 4 <= 32;  // the words are in different banks
  uint64_t passes = 0;
  for (unsigned start = 0; start < lanes; start += together) {
    const uint32_t group = mask >> start & (together == lanes ? all_lanes : (uint32_t(1) << together) - 1);
    if (one_row || !group) {
      passes += group != 0;
      continue;
    }
    // The first word of each bank, and those that found another one there.
    uint64_t first[lanes], others[lanes];
    uint32_t used = 0;
    unsigned count = 0, most = 1;
    uint8_t in_bank[lanes];
    for (uint32_t left = group; left; left &= left - 1) {
      for (unsigned k = 0; k < words; ++k) {
        const uint64_t word = a[start + first_lane(left)] / 4 + k;
        const unsigned bank = word % 32;
        if (!on(used, bank)) {
          used |= uint32_t(1) << bank;
          first[bank] = word;
          in_bank[bank] = 1;
          continue;
        }
        if (first[bank] == word) continue;
        unsigned at = count;
        while (at && others[at - 1] != word) --at;
        if (at) continue;
        others[count++] = word;
        const unsigned load = ++in_bank[bank];
        most = load > most ? load : most;
      }
    }
    passes += most;
  }
  return passes ? passes : 1;
}

[[noreturn]] inline void misaligned(Warp& w, const Instruction& i, uint32_t mask, const uint64_t (&a)[lanes],
                                    unsigned bytes) {
  unsigned l = first_lane(mask);
  for (uint32_t left = mask; left && !(a[l] & (bytes - 1)); left &= left - 1) l = first_lane(left);
  stop(w, i, l, Fault::misaligned,
       "An access of " + std::to_string(bytes) + " bytes is not aligned to them, at address " + std::to_string(a[l]) +
           ".",
       a[l]);
}

// Global and constant memory. Afterwards the accessed bytes are inside live allocations, initialised if they are read,
// and known as initialised if they are written.
inline void check_global_pattern(Warp& w, const Instruction& i, uint32_t mask, const uint64_t (&a)[lanes],
                                 const Pattern& p, Access access) {
  const auto [bytes, read, write] = access;
  memory::Allocation*& last = w.worker->last[i.target];
  memory::Allocation* c = last;
  if (!c || p.low < c->base || p.high + bytes > c->end() || !c->live.load(std::memory_order_relaxed) ||
      (p.any & (bytes - 1)) || (write && c->kind == MemoryKind::constant)) {
    c = check_global(w, i, mask, a, bytes, write);
    last = c;
    if (!c) return;  // several allocations: all is done
  }
  if (c->whole.load(std::memory_order_relaxed)) return;
  uint64_t* const bits = c->initialised.words();
  if (read && w.block->launch->settings.uninitialised) {
    if (!p.linear || !memory::all_set(bits, p.low - c->base, lanes * bytes))
      for (uint32_t left = mask; left; left &= left - 1) {
        const unsigned l = first_lane(left);
        const uint64_t missing =
            ~memory::get_bits(bits, a[l] - c->base, bytes) & memory::low_bits(bytes) & i.used_bytes;
        if (missing) uninitialised_read(w, i, l, a[l] + unsigned(__builtin_ctzll(missing)), "global", c);
      }
  }
  if (!write) return;
  if (p.linear)
    memory::set_bits(bits, p.low - c->base, lanes * bytes);
  else
    for (uint32_t left = mask; left; left &= left - 1) memory::set_bits(bits, a[first_lane(left)] - c->base, bytes);
}

[[noreturn]] inline void outside_window(Warp& w, const Instruction& i, uint32_t mask, const uint64_t (&a)[lanes],
                                        Access access, uint64_t size, const char* space) {
  const unsigned bytes = access.bytes;
  unsigned l = first_lane(mask);
  for (uint32_t left = mask; left; left &= left - 1)
    if (l = first_lane(left); a[l] + bytes > size || a[l] + bytes < bytes) break;
  stop(w, i, l, Fault::out_of_bounds,
       std::string(access.write ? "A write of " : "A read of ") + std::to_string(bytes) + " bytes at offset " +
           std::to_string(int64_t(a[l])) + " of the " + std::to_string(size) + " bytes of " + space + " memory.",
       a[l]);
}

// Shared memory: addresses are offsets.
inline void check_shared_pattern(Warp& w, const Instruction& i, uint32_t mask, const uint64_t (&a)[lanes],
                                 const Pattern& p, Access access) {
  const auto [bytes, read, write] = access;
  Block& b = *w.block;
  if (p.high + bytes > b.shared_bytes || p.high + bytes < bytes)
    outside_window(w, i, mask, a, access, b.shared_bytes, "shared");
  if (p.any & (bytes - 1)) misaligned(w, i, mask, a, bytes);
  uint64_t* const bits = b.shared_bits.data();
  if (p.linear && !read) return memory::set_bits(bits, p.low, lanes * bytes);
  if (p.linear && !write && memory::all_set(bits, p.low, lanes * bytes)) return;
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = first_lane(left);
    if (read) {
      const uint64_t missing = ~memory::get_bits(bits, a[l], bytes) & memory::low_bits(bytes) & i.used_bytes;
      if (missing && b.launch->settings.uninitialised)
        uninitialised_read(w, i, l, a[l] + unsigned(__builtin_ctzll(missing)), "shared", nullptr);
    }
    if (write) memory::set_bits(bits, a[l], bytes);
  }
}

// Local memory: offsets in each lane's own.
inline void check_local_pattern(Warp& w, const Instruction& i, uint32_t mask, const uint64_t (&a)[lanes],
                                const Pattern& p, Access access) {
  const auto [bytes, read, write] = access;
  if (p.high + bytes > w.code->local_bytes || p.high + bytes < bytes)
    outside_window(w, i, mask, a, access, w.code->local_bytes, "local");
  if (p.any & (bytes - 1)) misaligned(w, i, mask, a, bytes);
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = first_lane(left);
    uint64_t* const bits = w.local_bits + l * w.local_words;
    if (read) {
      const uint64_t missing = ~memory::get_bits(bits, a[l], bytes) & memory::low_bits(bytes) & i.used_bytes;
      if (missing && w.block->launch->settings.uninitialised)
        uninitialised_read(w, i, l, a[l] + unsigned(__builtin_ctzll(missing)), "local", nullptr);
    }
    if (write) memory::set_bits(bits, a[l], bytes);
  }
}

// Generic addresses: the lanes whose address is in the window of shared, of local memory, or in the parameters.
struct Spaces {
  uint32_t shared = 0, local = 0, param = 0, global = 0;
};
inline Spaces spaces_of(const Warp& w, uint32_t mask, const uint64_t (&a)[lanes]) {
  const Block& b = *w.block;
  const auto shared = reinterpret_cast<uint64_t>(b.shared), local = reinterpret_cast<uint64_t>(w.local);
  const auto param = reinterpret_cast<uint64_t>(b.launch->parameters.data());
  Spaces s;
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = first_lane(left);
    const uint32_t bit = uint32_t(1) << l;
    if (a[l] - shared < b.shared_bytes)
      s.shared |= bit;
    else if (a[l] - local < w.local_stride * lanes)
      s.local |= bit;
    else if (a[l] - param < b.launch->parameters.size())
      s.param |= bit;
    else
      s.global |= bit;
  }
  return s;
}

}  // namespace stator::emulator::machine
