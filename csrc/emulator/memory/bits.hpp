// A bit per byte of memory: whether something wrote it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace stator::emulator::memory {

// Several threads may set bits at once; those that are set already are only read.
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

}  // namespace stator::emulator::memory
