// The device's memory. Addresses are pointers of the host, so that doubles of vendor libraries use them directly;
// bounds are the bytes asked for, with guard space between allocations that no kernel may touch.
#pragma once

#include "emulator/export.hpp"
#include "emulator/report.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

namespace stator::emulator {

enum class MemoryKind : uint8_t { device, pinned, managed, constant };

namespace memory {

// A bit per byte of memory: whether something wrote it. Several threads may set bits at once; those that are set
// already are only read.
class Bits {
 public:
  Bits() = default;
  explicit Bits(uint64_t bytes) : words_(static_cast<uint64_t*>(std::calloc(bytes / 64 + 2, 8))) {}
  Bits(Bits&& other) noexcept : words_(other.words_) { other.words_ = nullptr; }
  Bits& operator=(Bits&& other) noexcept {
    uint64_t* const mine = words_;
    words_ = other.words_;
    other.words_ = mine;
    return *this;
  }
  ~Bits() { std::free(words_); }

  uint64_t* words() const { return words_; }

 private:
  uint64_t* words_ = nullptr;
};

inline uint64_t low_bits(uint64_t count) { return count >= 64 ? ~uint64_t(0) : (uint64_t(1) << count) - 1; }

// Up to 64 bits from a position on, those after `count` zero.
inline uint64_t get_bits(const uint64_t* words, uint64_t from, uint64_t count) {
  const uint64_t shift = from % 64;
  uint64_t found = __atomic_load_n(words + from / 64, __ATOMIC_RELAXED) >> shift;
  if (shift + count > 64) found |= __atomic_load_n(words + from / 64 + 1, __ATOMIC_RELAXED) << (64 - shift);
  return found & low_bits(count);
}

inline bool all_set(const uint64_t* words, uint64_t from, uint64_t count) {
  for (; count > 64; from += 64, count -= 64)
    if (~get_bits(words, from, 64)) return false;
  return get_bits(words, from, count) == low_bits(count);
}

inline void set_word(uint64_t* word, uint64_t bits) {
  if ((__atomic_load_n(word, __ATOMIC_RELAXED) & bits) != bits) __atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
}

inline void set_bits(uint64_t* words, uint64_t from, uint64_t count) {
  if (count == 0) return;
  uint64_t* word = words + from / 64;
  const uint64_t shift = from % 64;
  if (shift + count <= 64) return set_word(word, low_bits(count) << shift);
  set_word(word, ~uint64_t(0) << shift);
  count -= 64 - shift;
  for (++word; count >= 64; ++word, count -= 64) set_word(word, ~uint64_t(0));
  if (count) set_word(word, low_bits(count));
}

inline void clear_bits(uint64_t* words, uint64_t from, uint64_t count) {
  for (; count && from % 64; ++from, --count) words[from / 64] &= ~(uint64_t(1) << (from % 64));
  std::memset(words + from / 64, 0, count / 64 * 8);
  if (count % 64) words[(from + count) / 64] &= ~low_bits(count % 64);
}

struct Allocation {
  uint64_t base = 0, capacity = 0;
  std::atomic<uint64_t> bytes{0};  // from the base on that may be accessed: the capacity, or what its owner lends of it
  MemoryKind kind = MemoryKind::device;
  std::string label;
  std::atomic<bool> live{true};
  std::atomic<bool> whole{false};  // every byte is initialised
  Bits initialised;

  uint64_t end() const { return base + bytes; }
};

}  // namespace memory

// Thread-safe. Contents of a new allocation are 0xff bytes, which are NaN as any floating type and -1 as integers.
class STATOR_EMULATOR_API Memory {
 public:
  // `capacity` bounds the sum of live bytes of the kinds device and managed; `quarantine` the dead bytes that are kept
  // from reuse.
  explicit Memory(uint64_t capacity, uint64_t quarantine = 64 << 20);
  ~Memory();
  Memory(const Memory&) = delete;

  // At a multiple of 256 bytes; null when the capacity does not suffice. Zero bytes are an allocation of its own
  // address.
  void* allocate(uint64_t bytes, MemoryKind kind = MemoryKind::device, std::string label = {});
  // Makes memory of the host known, as cudaHostRegister does. It counts as initialised, and is forgotten by free.
  Report adopt(void* pointer, uint64_t bytes, std::string label = {});
  // The report is of Fault::invalid_free for what is not the start of a live allocation.
  Report free(void* pointer);
  void set_label(const void* pointer, std::string label);
  // Of the live allocation that begins at the pointer, whose owner hands it out in part, the first `bytes` may be
  // accessed from now on; nothing of it counts as written. The report is of Fault::invalid_free for anything else, and
  // for more than the allocation has.
  Report lend(void* pointer, uint64_t bytes);

  // Accesses of the host, checked as those of a kernel are. A copy carries what is initialised along; `fill` and
  // `write` initialise. A null pointer of zero bytes is fine.
  Report check_read(const void* pointer, uint64_t bytes, bool initialised = true) const;
  Report check_write(const void* pointer, uint64_t bytes) const;
  Report write(void* to, const void* from_host, uint64_t bytes);
  Report read(void* to_host, const void* from, uint64_t bytes) const;
  Report copy(void* to, const void* from, uint64_t bytes);
  Report fill(void* to, int value, uint64_t bytes);
  // The bytes were written by other means, such as a double of a library.
  void mark_initialised(const void* pointer, uint64_t bytes);
  bool is_initialised(const void* pointer, uint64_t bytes) const;

  uint64_t live_bytes() const { return live_bytes_; }
  uint64_t peak_bytes() const { return peak_bytes_; }
  uint64_t capacity() const { return capacity_; }
  // Of the live allocation that contains the address: base, all its bytes, kind and label. False if there is none.
  bool lookup(const void* pointer, uint64_t& base, uint64_t& bytes, MemoryKind& kind,
              std::string* label = nullptr) const;

  // For the executor: the allocation, live or dead, that contains the address. It stays valid until no launch
  // runs.
  memory::Allocation* find(uint64_t address) const;
  // Describes an access of bytes at an address that is not within a live allocation.
  Report describe(uint64_t address, uint64_t bytes, bool write) const;
  uint64_t origin() const { return arena_; }  // the first address that allocate() may return
  bool in_arena(uint64_t address) const { return address - arena_ < arena_bytes_; }
  void begin_launch() { ++launches_; }
  void end_launch();

 private:
  uint64_t take_range(uint64_t bytes);
  bool commit(uint64_t end);
  void release_quarantine(uint64_t limit);
  memory::Allocation* find_locked(uint64_t address) const;
  Report check(const void* pointer, uint64_t bytes, bool write, memory::Allocation** found) const;

  const uint64_t capacity_, quarantine_;
  uint64_t arena_ = 0, arena_bytes_ = 0, used_ = 0, committed_ = 0;
  std::map<uint64_t, std::unique_ptr<memory::Allocation>> allocations_;  // by base; the live and the quarantined
  std::map<uint64_t, uint64_t> holes_;                                   // base to bytes, for reuse
  std::deque<uint64_t> dead_;                                            // bases, the oldest first
  uint64_t dead_bytes_ = 0;
  std::vector<std::unique_ptr<memory::Allocation>> forgotten_;  // may still be known to a launch
  std::atomic<uint64_t> live_bytes_{0}, peak_bytes_{0};
  std::atomic<int> launches_{0};
  mutable std::shared_mutex mutex_;
};

}  // namespace stator::emulator
