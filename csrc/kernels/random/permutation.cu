// Random permutations without a sort: by a cipher on the indices, or by ranking random keys if there are few.
#include "device/group.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/random/unit.cuh"

namespace stator::STATOR_TARGET::random {
namespace {

struct PermutationTuning {
  static constexpr int block = 256;
  static constexpr int tile = by_target<1024, 8192>::value;  // entries of a block
  static constexpr int few = 256;                            // up to this number entries are ranked by random keys
  static constexpr int rounds = 12;
};

// A Feistel network on 2^(left + right) numbers, which is a permutation for every round function. Numbers from n on are
// permuted again until they are below n (Black and Rogaway: Ciphers with arbitrary finite domains, CT-RSA 2002).
struct Cipher {
  uint32_t keys[PermutationTuning::rounds];
  uint32_t left_mask, right_mask;
  int32_t right_bits;

  STATOR_FN constexpr void set_keys(const Start& start) {
    for (int r = 0; r < PermutationTuning::rounds; r += 4) {
      const Philox4 x = philox4x32_10(start.seed, start.offset + uint64_t(r / 4), 0);
      for (int k = 0; k < 4; ++k) keys[r + k] = x.x[k];
    }
  }
  STATOR_FN static uint32_t mix(uint32_t x) {
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    return x ^ (x >> 16);
  }
  STATOR_FN uint64_t operator()(uint64_t at) const {
    uint32_t left = uint32_t(at >> right_bits), right = uint32_t(at) & right_mask;
    STATOR_UNROLL()
    for (int r = 0; r < PermutationTuning::rounds; r += 2) {
      right ^= mix(left ^ keys[r]) & right_mask;
      left ^= mix(right ^ keys[r + 1]) & left_mask;
    }
    return uint64_t(left) << right_bits | right;
  }
};

// In a graph the keys are known only on the device.
template <int Size, bool InGraph>
STATOR_KERNEL(Size) void permutation_kernel(params::Permutation p, Cipher given) {
  Cipher cipher = given;
  if constexpr (InGraph) cipher.set_keys(start_of(p.from));
  const Group<Size> group;
  const int64_t first = group.block() * PermutationTuning::tile, left = p.size - first;
  const int64_t n = left < PermutationTuning::tile ? left : PermutationTuning::tile;
  int64_t* const out = p.out + first;
  const uint64_t bound = uint64_t(p.n);
  if constexpr (fast_host) {
    // The first round in a loop that vectorises.
    group.for_each(n, [=](int64_t i) { out[i] = int64_t(cipher(uint64_t(first + i))); });
    for (int64_t i = 0; i < n; ++i)
      while (uint64_t(out[i]) >= bound) out[i] = int64_t(cipher(uint64_t(out[i])));
  } else {
    group.for_each(n, [=](int64_t i) {
      uint64_t at = cipher(uint64_t(first + i));
      while (at >= bound) at = cipher(at);
      out[i] = int64_t(at);
    });
  }
}

// One block: every entry goes to the rank of its random key.
template <int Size>
STATOR_KERNEL(Size) void rank_kernel(params::Permutation p) {
  const auto [seed, offset] = start_of(p.from);
  struct Keys {
    uint64_t of[PermutationTuning::few];
  };
  const Group<Size> group;
  Keys& keys = group.template shared<Keys>();
  const int n = int(p.n);
  group.for_each(n, [&](int64_t i) {
    const Philox4 x = philox4x32_10(seed, offset + uint64_t(i / 2), 0);
    const uint64_t key = x.x[2 * (i & 1)] | uint64_t(x.x[2 * (i & 1) + 1]) << 32;
    keys.of[i] = (key & ~uint64_t(PermutationTuning::few - 1)) | uint64_t(i);  // no two are equal
  });
  group.sync();
  group.for_each(n, [&](int64_t i) {
    const uint64_t own = keys.of[i];
    int64_t rank = 0;
    for (int k = 0; k < n; ++k) rank += keys.of[k] < own;
    if (rank < p.size) p.out[rank] = i;
  });
}

bool few(int64_t n) { return n <= PermutationTuning::few; }
int64_t permutation_blocks(const params::DeviceLimits&, int64_t n) {
  return few(n) ? (n + 1) / 2 : PermutationTuning::rounds / 4;
}

void permutation(const params::Queue& q, const params::Permutation& p) {
  using Tune = PermutationTuning;
  if (few(p.n)) return launch(q, "permutation", rank_kernel<Tune::block>, {1, Tune::block}, p);
  Cipher cipher{};
  if (!p.from.state) cipher.set_keys({p.from.seed, p.from.offset});
  int bits = 1;
  while (bits < 62 && int64_t(1) << bits < p.n) ++bits;
  cipher.right_bits = (bits + 1) / 2;
  cipher.right_mask = uint32_t((uint64_t(1) << cipher.right_bits) - 1);
  cipher.left_mask = uint32_t((uint64_t(1) << (bits - cipher.right_bits)) - 1);
  launch(q, "permutation",
         p.from.state ? permutation_kernel<Tune::block, true> : permutation_kernel<Tune::block, false>,
         {ceil_div(p.size, Tune::tile), Tune::block}, p, cipher);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::random

STATOR_LAUNCHER(random, permutation_blocks)
STATOR_LAUNCHER(random, permutation)
