// Stable radix sort of entries by one index (Knuth, TAOCP 3, 5.2.5): counts of each digit per block, their running sum
// (called by ops/), and the move to the destinations that it gives. Entries of equal digits keep their order, so equal
// input gives equal bits.
#include "host/launcher.hpp"
#include "kernels/sparse/rows.cuh"
#include "params/sparse.hpp"

namespace stator::STATOR_TARGET::sparse {
namespace {

struct SparseSortTuning {
  static constexpr int block = 256;
  static constexpr int tile = 4096;                      // entries per block, where blocks have threads
  static constexpr int bits = by_target<11, 24>::value;  // most bits per digit
  static constexpr int64_t least_tile = 1 << 16;         // least entries per fast-host block, which has its own counts
};

STATOR_FN int64_t key_of_entry(const params::SparseSort& p, int64_t k) {
  const int64_t key = load_index(p.keys, p.wide, k);
  return uint64_t(key) < uint64_t(p.bound) ? key : p.bound;
}
STATOR_FN int32_t digit_of(const params::SparseSort& p, int64_t key) {
  return int32_t((key >> p.shift) & int64_t(p.digits - 1));
}

template <int Size>
STATOR_KERNEL(Size) void sort_count_kernel(params::SparseSort p, params::ErrorSlot slot, uint16_t op) {
  const Group<Size> group;
  const int64_t first = group.block() * p.tile;
  const int64_t last = first + p.tile < p.n ? first + p.tile : p.n;
  const auto look = [&](int64_t k) {
    const int64_t key = key_of_entry(p, k);
    if (key == p.bound && p.shift == 0) report_index(slot, op, k, load_index(p.keys, p.wide, k));
    return digit_of(p, key);
  };
  if constexpr (fast_host) {
    int64_t* const count = p.work + group.block() * p.digits;  // not in memory shared with other workers
    for (int64_t d = 0; d < p.digits; ++d) count[d] = 0;
    for (int64_t k = first; k < last; ++k) ++count[look(k)];
    for (int64_t d = 0; d < p.digits; ++d) p.counts[d * p.blocks + group.block()] = int32_t(count[d]);
  } else {
    struct Counts {
      int32_t of[1 << SparseSortTuning::bits];
    };
    Counts& counts = group.template shared<Counts>();
    group.for_each(p.digits, [&](int64_t d) { counts.of[d] = 0; });
    group.sync();
    group.for_each(last - first, [&](int64_t i) { atomic_add(&counts.of[look(first + i)], 1); });
    group.sync();
    group.for_each(p.digits, [&](int64_t d) { p.counts[d * p.blocks + group.block()] = counts.of[d]; });
  }
}

STATOR_FN void move_entry(const params::SparseSort& p, int64_t k, int64_t key, int64_t to) {
  const int64_t from = p.order ? load_index(p.order, p.wide, k) : k;
  if (p.out_keys) store_index(p.out_keys, p.wide, to, key);
  if (p.out_order) store_index(p.out_order, p.wide, to, from);
  if (p.out_other) store_index(p.out_other, p.wide, to, load_index(p.other, p.wide, from));
  if (!p.out_values) return;
  switch (p.itemsize) {
    case 2: static_cast<uint16_t*>(p.out_values)[to] = static_cast<const uint16_t*>(p.values)[from]; return;
    case 4: static_cast<uint32_t*>(p.out_values)[to] = static_cast<const uint32_t*>(p.values)[from]; return;
    case 8: static_cast<uint64_t*>(p.out_values)[to] = static_cast<const uint64_t*>(p.values)[from]; return;
    case 16: static_cast<complex128*>(p.out_values)[to] = static_cast<const complex128*>(p.values)[from]; return;
    default: outside_set();
  }
}

// Fast host: a single pass that moves one index and one value per entry.
template <class I, class W>
STATOR_FN void move_items(const params::SparseSort& p, int64_t* next, int64_t first, int64_t last) {
  const I* keys = static_cast<const I*>(p.keys);
  const I* other = static_cast<const I*>(p.other);
  const W* values = static_cast<const W*>(p.values);
  I* out_other = static_cast<I*>(p.out_other);
  W* out_values = static_cast<W*>(p.out_values);
  const uint64_t bound = uint64_t(p.bound);
  for (int64_t k = first; k < last; ++k) {
    const uint64_t key = uint64_t(int64_t(keys[k])) < bound ? uint64_t(keys[k]) : bound;
    const int64_t to = next[key]++;
    out_other[to] = other[k];
    out_values[to] = values[k];
  }
}
template <class I>
STATOR_FN void move_plainly(const params::SparseSort& p, int64_t* next, int64_t first, int64_t last) {
  switch (p.itemsize) {
    case 2: return move_items<I, uint16_t>(p, next, first, last);
    case 4: return move_items<I, uint32_t>(p, next, first, last);
    case 8: return move_items<I, uint64_t>(p, next, first, last);
    case 16: return move_items<I, complex128>(p, next, first, last);
    default: outside_set();
  }
}

template <int Size>
STATOR_KERNEL(Size) void sort_scatter_kernel(params::SparseSort p) {
  const Group<Size> group;
  const int64_t first = group.block() * p.tile;
  const int64_t last = first + p.tile < p.n ? first + p.tile : p.n;
  if constexpr (fast_host) {
    int64_t* const next = p.work + group.block() * p.digits;
    for (int64_t d = 0; d < p.digits; ++d) next[d] = p.offsets[d * p.blocks + group.block()];
    const bool plain = !p.order && !p.out_keys && !p.out_order && p.out_other && p.out_values;
    if (plain && p.wide) return move_plainly<int64_t>(p, next, first, last);
    if (plain) return move_plainly<int32_t>(p, next, first, last);
    for (int64_t k = first; k < last; ++k) {
      const int64_t key = key_of_entry(p, k);
      move_entry(p, k, key, next[digit_of(p, key)]++);
    }
  } else {
    struct Destinations {
      int64_t next[1 << SparseSortTuning::bits];
      int32_t digit[Size];
    };
    Destinations& destinations = group.template shared<Destinations>();
    group.for_each(p.digits, [&](int64_t d) { destinations.next[d] = p.offsets[d * p.blocks + group.block()]; });
    // One entry per thread and step.
    for (int64_t base = first; base < last; base += Size) {
      const int64_t k = base + group.rank();
      const int count = int(last - base < Size ? last - base : Size);
      const int64_t key = k < last ? key_of_entry(p, k) : 0;
      const int32_t digit = k < last ? digit_of(p, key) : -1;
      destinations.digit[group.rank()] = digit;
      group.sync();
      // Count the entries of this step with the same digit, before and after this one.
      int before = 0, after = 0;
      for (int other = 0; other < count; ++other) {
        const bool same = destinations.digit[other] == digit;
        before += same && other < group.rank();
        after += same && other > group.rank();
      }
      const int64_t to = k < last ? destinations.next[digit] + before : 0;
      group.sync();
      if (k < last) {
        if (after == 0) destinations.next[digit] = to + 1;
        move_entry(p, k, key, to);
      }
      group.sync();
    }
  }
}

bool sort_plan(const params::DeviceLimits& limits, int64_t n, int64_t bound, int32_t* bits, int64_t* tile) {
  const int all = std::max(1, int(std::bit_width(uint64_t(bound))));
  int most = SparseSortTuning::bits;
  if (fast_host)
    most = std::clamp(int(std::bit_width(uint64_t(n))) + 1, 8,
                      int(SparseSortTuning::bits));  // no more counts than entries
  const int passes = int(ceil_div(all, most));
  *bits = int(ceil_div(all, passes));
  *tile = SparseSortTuning::tile;
  if (!fast_host) return false;
  const int64_t counters = int64_t(1) << *bits;
  const int64_t blocks =
      std::min<int64_t>({std::max(1, limits.multiprocessors), ceil_div(n, SparseSortTuning::least_tile),
                         std::max<int64_t>(1, 2 * n / counters)});
  *tile = std::max<int64_t>(1, ceil_div(n, std::max<int64_t>(1, blocks)));
  return true;
}

void sort_count(const params::Queue& q, const params::SparseSort& p) {
  launch(q, "sparse_sort_count", sort_count_kernel<SparseSortTuning::block>, {p.blocks, SparseSortTuning::block}, p,
         q.slot, q.op);
}
void sort_scatter(const params::Queue& q, const params::SparseSort& p) {
  launch(q, "sparse_sort_scatter", sort_scatter_kernel<SparseSortTuning::block>, {p.blocks, SparseSortTuning::block},
         p);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::sparse

STATOR_LAUNCHER(sparse, sort_plan)
STATOR_LAUNCHER(sparse, sort_count)
STATOR_LAUNCHER(sparse, sort_scatter)
