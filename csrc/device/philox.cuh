// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers, SC 2011): equal bits on every target.
#pragma once

#include "target.cuh"

namespace stator::STATOR_TARGET {

struct Philox4 {
  uint32_t x[4];
};

// Block `counter` of four random 32-bit words for the key: a pure function.
STATOR_FN constexpr Philox4 philox4x32_10(uint64_t key, uint64_t counter_lo, uint64_t counter_hi) {
  uint32_t k0 = uint32_t(key), k1 = uint32_t(key >> 32);
  uint32_t x0 = uint32_t(counter_lo), x1 = uint32_t(counter_lo >> 32);
  uint32_t x2 = uint32_t(counter_hi), x3 = uint32_t(counter_hi >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t(0xD2511F53u) * x0;
    const uint64_t p1 = uint64_t(0xCD9E8D57u) * x2;
    x0 = uint32_t(p1 >> 32) ^ x1 ^ k0;
    x1 = uint32_t(p1);
    x2 = uint32_t(p0 >> 32) ^ x3 ^ k1;
    x3 = uint32_t(p0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{x0, x1, x2, x3}};
}

}  // namespace stator::STATOR_TARGET
