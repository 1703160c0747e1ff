// The indices that repeat() with counts takes.
#include "device/group.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "params/movement.hpp"

namespace stator::STATOR_TARGET::movement {
namespace {

struct RepeatTuning {
  static constexpr int block = 256;
  static constexpr int tile = by_target<1024, 16384>::value;  // elements per block
};

template <int Size>
STATOR_KERNEL(Size) void repeat_indices_kernel(params::RepeatedCounts p) {
  const Group<Size> group;
  const int64_t first = group.block() * RepeatTuning::tile, left = p.size - first;
  const int64_t n = left < RepeatTuning::tile ? left : RepeatTuning::tile;
  // The run of equal indices that has position i: the first one whose end is greater.
  const auto run_of = [=](int64_t i) {
    int64_t low = 0, high = p.n - 1;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (p.ends[middle] > i)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  };
  if constexpr (fast_host) {
    int64_t run = run_of(first);
    for (int64_t i = first; i < first + n; ++i) {
      while (p.ends[run] <= i) ++run;
      p.out[i] = run;
    }
  } else {
    group.for_each(n, [=](int64_t i) { p.out[first + i] = run_of(first + i); });
  }
}

void repeat_indices(const params::Queue& q, const params::RepeatedCounts& p) {
  constexpr int block = RepeatTuning::block;
  launch(q, "repeat_indices", repeat_indices_kernel<block>, {ceil_div(p.size, RepeatTuning::tile), block}, p);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::movement

STATOR_LAUNCHER(movement, repeat_indices)
