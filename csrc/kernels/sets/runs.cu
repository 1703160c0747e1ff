// Runs of equal neighbours. One launch counts the runs that start in each tile, a second one writes the results. The
// runs of sorted elements are the distinct elements.
#include "device/bits.cuh"
#include "device/convert.cuh"
#include "device/group.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/sort/keys.cuh"
#include "params/sets.hpp"

#include <type_traits>

namespace stator::STATOR_TARGET::sets {

using sort::Codec;
using sort::segment_start;
using sort::SegmentDivisors;
using sort::with_items;

namespace {

struct RunTuning {
  static constexpr int block = 256;
  static constexpr int64_t least_tile = by_target<4096, 16384>::value;
  static constexpr int chunk = 512;  // fast host: elements that are compared together
};

// Elements of any dtype and layout.
struct RunReader {
  const params::Runs& p;
  const SegmentDivisors& divisors;
  Codec<uint64_t> codec;

  STATOR_FN RunReader(const params::Runs& runs, const SegmentDivisors& by) : p(runs), divisors(by), codec(runs.key) {}
  STATOR_FN uint64_t key(int64_t i) const { return codec.load(p.x, segment_start(p.elements, i, divisors).x); }
  STATOR_FN bool is_complex() const { return in(p.complex, dtypes::complexes); }
  STATOR_FN complex128 number(int64_t i) const {
    return load_one<complex128>(p.x, p.complex, segment_start(p.elements, i, divisors).x);
  }
  // Writes element i as the value of a run.
  STATOR_FN void put(int64_t run, int64_t i) const {
    if (is_complex())
      store_one(p.values, p.complex, run, number(i));
    else
      codec.store(p.values, run, key(i));
  }
  // Whether a run starts at i.
  STATOR_FN bool head(int64_t i) const {
    if (i == 0) return true;
    if (is_complex()) {
      const complex128 a = number(i), b = number(i - 1);
      return !((a.re == b.re) & (a.im == b.im));
    }
    const uint64_t own = key(i);
    return codec.ordinal(own) != codec.ordinal(key(i - 1)) || codec.is_nan(own);
  }
  STATOR_FN bool is_dense() const {
    return !is_complex() && (p.elements.ndim == 0 || (p.elements.ndim == 1 && p.elements.x_strides[0] == 1));
  }
};

// Fast host: dense elements as unsigned integers of their size, in loops that vectorise.
template <class Item>
struct RunItems {
  using K = std::conditional_t<sizeof(Item) == 8, uint64_t, uint32_t>;
  const Item* x;
  Codec<K> codec;

  // head[j]: whether a run starts at element first + j. Compares bits, without a branch: elements are the same if they
  // are equal and not NaN, or both zero whatever their signs.
  STATOR_FN void heads(uint8_t* head, int64_t first, int n) const {
    const K magnitude = codec.sign - 1, infinity = codec.infinity;
    const K nonzero = codec.alias != codec.canonical ? magnitude : ~K(0);
    const Item* const at = x + first;
    if (first == 0) head[0] = 1;
    for (int j = first == 0; j < n; ++j) {
      const K own = at[j], before = at[j - 1];
      const bool same = (own == before) & ((own & magnitude) <= infinity), zeros = ((own | before) & nonzero) == 0;
      head[j] = uint8_t(!(same | zeros));
    }
  }
  STATOR_FN void put(void* values, int64_t run, const int64_t* starts, int n) const {
    Item* const out = static_cast<Item*>(values) + run;
    for (int k = 0; k < n; ++k) out[k] = Item(codec.decode(codec.encode(x[starts[k]])));
  }
};
// Fast host: any other elements.
struct RunElements {
  const RunReader& reader;

  STATOR_FN void heads(uint8_t* head, int64_t first, int n) const {
    for (int j = 0; j < n; ++j) head[j] = reader.head(first + j);
  }
  STATOR_FN void put(void*, int64_t run, const int64_t* starts, int n) const {
    for (int k = 0; k < n; ++k) reader.put(run + k, starts[k]);
  }
};

// Calls f with RunItems where x allows it, and else with RunElements.
template <class F>
STATOR_FN void with_runs(const RunReader& reader, F f) {
  if (!reader.is_dense()) return f(RunElements{reader});
  with_items(reader.p.x, reader.codec.itemsize,
             [&]<class Item>(const Item* x) { f(RunItems<Item>{x, Codec<typename RunItems<Item>::K>(reader.p.key)}); });
}

template <class Elements>
STATOR_FN int64_t count_heads(const Elements& elements, int64_t begin, int64_t end) {
  uint8_t head[RunTuning::chunk];
  int64_t count = 0;
  for (int64_t first = begin; first < end; first += RunTuning::chunk) {
    const int n = int(end - first < RunTuning::chunk ? end - first : RunTuning::chunk);
    elements.heads(head, first, n);
    int heads = 0;
    for (int j = 0; j < n; ++j) heads += head[j];
    count += heads;
  }
  return count;
}

// Writes the runs that start in [begin, end); `before` runs start earlier.
template <class Elements>
STATOR_FN void write_heads(const Elements& elements, const params::Runs& p, int64_t begin, int64_t end,
                           int64_t before) {
  uint8_t head[RunTuning::chunk];
  int64_t starts[RunTuning::chunk + 1];
  for (int64_t first = begin; first < end; first += RunTuning::chunk) {
    const int n = int(end - first < RunTuning::chunk ? end - first : RunTuning::chunk);
    elements.heads(head, first, n);
    if (p.inverse) {
      int64_t run = before - 1;
      for (int j = 0; j < n; ++j) {
        run += head[j];
        p.inverse[p.order ? p.order[first + j] : first + j] = run;
      }
    }
    // List the starts, then write what the results have room for.
    int count = 0;
    for (int j = 0; j < n; ++j) {
      starts[count] = first + j;
      count += head[j];
    }
    const int64_t room = before < p.capacity ? p.capacity - before : 0;
    const int kept = int(count < room ? count : room);
    if (p.starts) {
      for (int k = 0; k < kept; ++k) p.starts[before + k] = starts[k];
      if (kept < count && before + kept == p.capacity) p.starts[p.capacity] = starts[kept];
    }
    if (p.values) elements.put(p.values, before, starts, kept);
    if (p.indices)
      for (int k = 0; k < kept; ++k) p.indices[before + k] = p.order ? p.order[starts[k]] : starts[k];
    before += count;
  }
}

template <int Size>
STATOR_KERNEL(Size) void count_runs_kernel(params::Runs p, SegmentDivisors divisors) {
  const Group<Size> group;
  const RunReader reader(p, divisors);
  const int64_t begin = group.block() * p.tile, end = begin + p.tile < p.n ? begin + p.tile : p.n;
  int64_t count = 0;
  if constexpr (fast_host)
    with_runs(reader, [&](const auto& elements) { count = count_heads(elements, begin, end); });
  else
    count = group.template map_reduce<int64_t>(end - begin, Sum{}, [&](int64_t i) { return reader.head(begin + i); });
  if (group.rank() == 0) p.tile_counts[group.block()] = count;
  // The last block adds the counts up.
  if (!group.last_block(p.counter, uint32_t(p.tiles))) return;
  const volatile int64_t* const counts = p.tile_counts;
  const int64_t total = group.template map_reduce<int64_t>(p.tiles, Sum{}, [=](int64_t i) { return counts[i]; });
  if (group.rank() == 0) *p.total = total;
}

// Writes what element i, of run `run`, gives; `head`: the run starts at i.
STATOR_FN void write_run(const RunReader& reader, int64_t i, bool head, int64_t run) {
  const params::Runs& p = reader.p;
  if (p.inverse) p.inverse[p.order ? p.order[i] : i] = run;
  if (!head || run > p.capacity) return;
  if (p.starts) p.starts[run] = i;
  if (run == p.capacity) return;
  if (p.values) reader.put(run, i);
  if (p.indices) p.indices[run] = p.order ? p.order[i] : i;
}

template <int Size>
STATOR_KERNEL(Size) void write_runs_kernel(params::Runs p, SegmentDivisors divisors) {
  const Group<Size> group;
  const RunReader reader(p, divisors);
  const int64_t begin = group.block() * p.tile, end = begin + p.tile < p.n ? begin + p.tile : p.n;
  const int64_t* const counts = p.tile_counts;
  int64_t before = group.template map_reduce<int64_t>(group.block(), Sum{}, [=](int64_t i) { return counts[i]; });
  if constexpr (fast_host) {
    with_runs(reader, [&](const auto& elements) { write_heads(elements, p, begin, end, before); });
  } else {
    for (int64_t first = begin; first < end; first += Size) {
      const int64_t i = first + group.rank();
      const bool head = i < end && reader.head(i);
      const int64_t through = group.inclusive_scan(int64_t(head), Sum{});
      if (i < end) write_run(reader, i, head, before + through - 1);
      before += group.reduce(int64_t(head), Sum{});
    }
  }
}

template <int Size>
STATOR_KERNEL(Size) void finish_runs_kernel(params::Runs p, int64_t tile) {
  const Group<Size> group;
  const int64_t total = *p.total, first = group.block() * tile;
  uint64_t fill[2] = {};
  STATOR_UNROLL()
  for (int b = 0; b < 16; ++b) fill[b / 8] |= uint64_t(p.fill[b]) << b % 8 * 8;
  group.for_each(p.capacity - first < tile ? p.capacity - first : tile, [&](int64_t k) {
    const int64_t run = first + k;
    if (p.counts) p.counts[run] = run >= total ? 0 : (run + 1 < total ? p.starts[run + 1] : p.n) - p.starts[run];
    if (run < total) return;
    const Codec<uint64_t> codec(p.key);
    if (p.values && p.complex == DType::complex128)
      static_cast<Bits128*>(p.values)[run] = {fill[0], fill[1]};
    else if (p.values && p.complex == DType::complex64)
      static_cast<uint64_t*>(p.values)[run] = fill[0];
    else if (p.values)
      codec.store(p.values, run, codec.encode(fill[0]));
    if (p.indices) p.indices[run] = -1;
  });
}

int32_t run_tiles(const params::DeviceLimits& limits, int64_t n, int64_t* tile) {
  const int64_t tiles =
      std::clamp<int64_t>(ceil_div(n, RunTuning::least_tile), 1, std::max<int64_t>(waves(limits, RunTuning::block), 1));
  *tile = std::max<int64_t>(ceil_div(n, tiles), 1);
  return int32_t(ceil_div(n, *tile));
}

void count_runs(const params::Queue& q, const params::Runs& p) {
  launch(q, "count_runs", count_runs_kernel<RunTuning::block>, {p.tiles, RunTuning::block}, p,
         SegmentDivisors(p.elements));
}
void write_runs(const params::Queue& q, const params::Runs& p) {
  launch(q, "write_runs", write_runs_kernel<RunTuning::block>, {p.tiles, RunTuning::block}, p,
         SegmentDivisors(p.elements));
}
void finish_runs(const params::Queue& q, const params::Runs& p) {
  const int64_t tile = by_target<RunTuning::block, 16384>::value;
  launch(q, "finish_runs", finish_runs_kernel<RunTuning::block>, {ceil_div(p.capacity, tile), RunTuning::block}, p,
         tile);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::sets

STATOR_LAUNCHER(sets, run_tiles)
STATOR_LAUNCHER(sets, count_runs)
STATOR_LAUNCHER(sets, write_runs)
STATOR_LAUNCHER(sets, finish_runs)
