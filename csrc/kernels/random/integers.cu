// Integers in a range and Bernoulli draws: items that are made of 32 or 64 random bits each. Bits that would favour
// some numbers are rejected and drawn again, with the attempt in the upper half of the counter (Lemire: Fast random
// integer generation in an interval, ACM TOMACS 29, 2019).
#include "device/bits.cuh"
#include "device/group.cuh"
#include "device/vector.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/random/unit.cuh"

#include <cstring>

namespace stator::STATOR_TARGET::random {
namespace {

struct IntegersTuning {
  static constexpr int block = 256;
  static constexpr int counters = by_target<1, 64>::value;  // Philox blocks that a thread draws at a time
};

// Each maps random bits to an item; false means that they are rejected.
template <class Item>
struct Narrow {
  using Draw = uint32_t;
  uint64_t low, range;
  uint32_t threshold;  // 2^32 modulo the range
  STATOR_FN bool operator()(uint32_t draw, Item& item) const {
    const uint64_t product = uint64_t(draw) * range;
    item = Item(low + (product >> 32));
    return uint32_t(product) >= threshold;
  }
};
template <class Item>
struct Wide {
  using Draw = uint64_t;
  uint64_t low, range, threshold;  // 2^64 modulo the range
  STATOR_FN bool operator()(uint64_t draw, Item& item) const {
    const unsigned __int128 product = (unsigned __int128)draw * range;
    item = Item(low + (range == 0 ? draw : uint64_t(product >> 64)));
    return uint64_t(product) >= threshold;
  }
};
template <class Item>
struct Coin {
  using Draw = uint32_t;
  uint64_t threshold;
  Item one;
  STATOR_FN bool operator()(uint32_t draw, Item& item) const {
    item = draw < threshold ? one : Item{};
    return true;
  }
};

template <class Draw>
STATOR_FN Draw draw_of(const uint32_t (&x)[4], int k) {
  if constexpr (sizeof(Draw) == 4)
    return x[k];
  else
    return x[2 * k] | uint64_t(x[2 * k + 1]) << 32;
}

// Item k of a Philox block, from the second attempt on.
template <class Item, class Map>
STATOR_FN Item draw_again(const Map& map, uint64_t seed, uint64_t counter, int k) {
  Item item;
  for (uint64_t attempt = 1;; ++attempt)
    if (map(draw_of<typename Map::Draw>(philox4x32_10(seed, counter, attempt).x, k), item)) return item;
}

template <class Item, class Map, int Size>
STATOR_KERNEL(Size) void integers_kernel(Item* out, int64_t n, params::Draws from, Map map) {
  const auto [seed, offset] = start_of(from);
  constexpr int D = 16 / int(sizeof(typename Map::Draw)), C = IntegersTuning::counters;
  const Group<Size> group;
  const int64_t blocks = (n + D - 1) / D, stride = group.blocks() * group.size * C;
  for (int64_t first = (group.block() * group.size + group.rank()) * C; first < blocks; first += stride) {
    // First attempts, in loops without branches.
    uint32_t bits[4][C];
    for (int c = 0; c < C; ++c) {
      const Philox4 x = philox4x32_10(seed, offset + uint64_t(first + c), 0);
      for (int j = 0; j < 4; ++j) bits[j][c] = x.x[j];
    }
    Item item[D][C];
    uint32_t good = 1;
    for (int c = 0; c < C; ++c) {
      const uint32_t x[4] = {bits[0][c], bits[1][c], bits[2][c], bits[3][c]};
      for (int k = 0; k < D; ++k) good &= uint32_t(map(draw_of<typename Map::Draw>(x, k), item[k][c]));
    }
    // Further attempts for what was rejected.
    if (!good) {
      for (int c = 0; c < C; ++c) {
        const uint32_t x[4] = {bits[0][c], bits[1][c], bits[2][c], bits[3][c]};
        for (int k = 0; k < D; ++k)
          if (Item w; !map(draw_of<typename Map::Draw>(x, k), w))
            item[k][c] = draw_again<Item>(map, seed, offset + uint64_t(first + c), k);
      }
    }
    const int64_t left = n - first * D, count = left < int64_t(C) * D ? left : int64_t(C) * D;
    Item* const to = out + first * D;
    if (count == int64_t(C) * D) {
      for (int c = 0; c < C; ++c)
        for (int k = 0; k < D; ++k) to[c * D + k] = item[k][c];
    } else {
      for (int c = 0; c < C; ++c)
        for (int k = 0; k < D; ++k)
          if (c * D + k < count) to[c * D + k] = item[k][c];
    }
  }
}

template <class Item, template <class> class Map>
void submit_integers(const params::Queue& q, const char* name, void* out, int64_t size, const params::Draws& from,
                     Map<Item> map) {
  using Tune = IntegersTuning;
  const int64_t blocks = ceil_div(size, 16 / int64_t(sizeof(typename Map<Item>::Draw)));
  const int64_t needed = ceil_div(blocks, int64_t(Tune::counters) * (fast_host ? 32 : Tune::block));
  launch(q, name, integers_kernel<Item, Map<Item>, Tune::block>,
         {std::min(needed, waves(*q.limits, Tune::block)), Tune::block}, static_cast<Item*>(out), size, from, map);
}

template <class Item>
void integers_of(const params::Queue& q, const params::RandomIntegers& p) {
  constexpr uint64_t most = uint64_t(1) << 32;
  if (p.range > 0 && p.range <= most)
    return submit_integers(q, "integers", p.out, p.size, p.from,
                           Narrow<Item>{p.low, p.range, uint32_t(most % p.range)});
  if constexpr (sizeof(Item) == 8)  // narrower items have at most 2^32 values
    submit_integers(q, "integers", p.out, p.size, p.from,
                    Wide<Item>{p.low, p.range, p.range == 0 ? 0 : (uint64_t(0) - p.range) % p.range});
}

void integers(const params::Queue& q, const params::RandomIntegers& p) {
  with_bits<1, 2, 4, 8>(p.itemsize, [&]<class Item>(Item) { integers_of<Item>(q, p); });
}

template <class Item>
void bernoulli_of(const params::Queue& q, const params::Bernoulli& p) {
  Coin<Item> coin{p.threshold, {}};
  std::memcpy(&coin.one, p.one, sizeof coin.one);
  submit_integers(q, "bernoulli", p.out, p.size, p.from, coin);
}

void bernoulli(const params::Queue& q, const params::Bernoulli& p) {
  with_bits(p.itemsize, [&]<class Item>(Item) { bernoulli_of<Item>(q, p); });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::random

STATOR_LAUNCHER(random, integers)
STATOR_LAUNCHER(random, bernoulli)
