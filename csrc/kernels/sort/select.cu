// Blocks with threads: some positions of long sorted segments without sorting them. Each pass counts one digit of 8
// bits, most significant first, of the elements that still may be at a wanted position, and the last block of a segment
// finds the digit there (Alabi, Blanchard, Gordon and Steinbach, "Fast k-selection algorithms for graphics processing
// units", 2012). Then the elements are looked up, stably: of equal elements the first one has the lowest position.
#include "device/atomic.cuh"
#include "kernels/sort/sort.cuh"
#include "params/sort.hpp"

#include <utility>

namespace stator::STATOR_TARGET::sort {
namespace {

constexpr int select_block = SortTuning::block;
constexpr int most = params::Sort::most_ranks;
constexpr int64_t most_best = 1024;  // longest result that one block then sorts

// What is known about the element at a wanted position: the leading digits of its ordinal, and its rank among the
// elements that have them too.
struct Target {
  uint64_t prefix;
  int64_t rank;
};

struct Selection {
  params::Sort s;
  Target* targets;  // [segments, count]
  // [segments, tiles, count, 256], digits; then [segments, tiles, count, 2]: elements below the target and equal to it
  uint32_t* counts;
  uint32_t* counters;  // [segments]: zero, and left zero
  void* best;          // [segments, s.count]: the elements up to the target, if all of them are wanted; else null
  uint32_t* indices;   // [segments, s.count]: of `best`
  int64_t tile;        // elements of a tile
  int32_t tiles, count, shift;  // count: of targets
};

// What one block handles: elements [begin, end) of a segment.
struct SelectTile {
  int64_t segment, begin, end;
  int32_t number;  // of the tile in its segment
};
STATOR_FN SelectTile select_tile(const Selection& p, int64_t block) {
  const int64_t segment = block / p.tiles;
  const int32_t number = int32_t(block - segment * p.tiles);
  const int64_t begin = number * p.tile;
  return {segment, begin, begin + p.tile < p.s.n ? begin + p.tile : p.s.n, number};
}

STATOR_FN int64_t wanted_rank(const params::Sort& s, int t) {
  return s.rank_count > 0 ? s.rank[t] : s.first + s.count - 1;
}

struct DigitTallies {
  uint32_t of[most][256];
  uint64_t prefix[most];
  int32_t same[most];  // the first target with this prefix
};

template <int Size>
STATOR_KERNEL(Size) void select_digit_kernel(Selection p) {
  const Group<Size> group;
  const Codec<uint64_t> codec(p.s.key);
  const SelectTile tile = select_tile(p, group.block());
  const int64_t start = segment_start(p.s.segments, tile.segment).x;
  const bool first_pass = p.shift + 8 == 8 * codec.itemsize;
  Target* const targets = p.targets + tile.segment * p.count;
  DigitTallies& tally = group.template shared<DigitTallies>();
  // Clear the counts, and find targets with equal prefixes: those need one count.
  const int d = group.rank();
  for (int t = 0; t < p.count; ++t) tally.of[t][d] = 0;
  if (d < p.count) tally.prefix[d] = first_pass ? 0 : targets[d].prefix;
  group.sync();
  if (d < p.count) {
    int same = d;
    while (same > 0 && tally.prefix[same - 1] == tally.prefix[d]) --same;
    tally.same[d] = same;
  }
  group.sync();
  // Count the digits of this block's tile.
  group.for_each(tile.end - tile.begin, [&](int64_t i) {
    const uint64_t shifted = codec.ordinal(codec.load(p.s.x, start + (tile.begin + i) * p.s.x_step)) >> p.shift;
    for (int t = 0; t < p.count; ++t)
      if (tally.same[t] == t && shifted >> 8 == tally.prefix[t]) atomic_add(&tally.of[t][shifted & 255], uint32_t(1));
  });
  group.sync();
  uint32_t* const counts = p.counts + tile.segment * p.tiles * p.count * 256;
  for (int t = 0; t < p.count; ++t)
    if (tally.same[t] == t) counts[(int64_t(tile.number) * p.count + t) * 256 + d] = tally.of[t][d];
  // The last block of the segment adds the tiles up and finds the digit of each target.
  if (!group.last_block(p.counters + tile.segment, uint32_t(p.tiles))) return;
  const volatile uint32_t* const seen = counts;
  for (int t = 0; t < p.count; ++t) {
    int64_t total = 0;
    for (int32_t k = 0; k < p.tiles; ++k) total += seen[(int64_t(k) * p.count + tally.same[t]) * 256 + d];
    const int64_t through = group.inclusive_scan(total, Sum{});
    const int64_t rank = first_pass ? wanted_rank(p.s, t) : targets[t].rank;
    group.sync();  // all threads have read the target that one of them writes
    if (rank >= through - total && rank < through)
      targets[t] = {tally.prefix[t] << 8 | uint64_t(d), rank - (through - total)};
  }
}

// Counts the elements of each tile that are below each target, and those equal to it.
template <int Size>
STATOR_KERNEL(Size) void select_tally_kernel(Selection p) {
  const Group<Size> group;
  const Codec<uint64_t> codec(p.s.key);
  const SelectTile tile = select_tile(p, group.block());
  const int64_t start = segment_start(p.s.segments, tile.segment).x;
  for (int t = 0; t < p.count; ++t) {
    const uint64_t wanted = p.targets[tile.segment * p.count + t].prefix;
    const auto ordinal = [=](int64_t i) {
      return codec.ordinal(codec.load(p.s.x, start + (tile.begin + i) * p.s.x_step));
    };
    const int64_t length = tile.end - tile.begin;
    const uint32_t before =
        group.template map_reduce<uint32_t>(length, Sum{}, [=](int64_t i) { return uint32_t(ordinal(i) < wanted); });
    const uint32_t equal =
        group.template map_reduce<uint32_t>(length, Sum{}, [=](int64_t i) { return uint32_t(ordinal(i) == wanted); });
    if (group.rank() != 0) continue;
    uint32_t* const out = p.counts + (group.block() * p.count + t) * 2;
    out[0] = before;
    out[1] = equal;
  }
}

// Finds the targets among the elements equal to them and writes them to the results; or, if `best` is set, writes all
// elements up to the target there.
template <int Size>
STATOR_KERNEL(Size) void select_write_kernel(Selection p) {
  const Group<Size> group;
  const Codec<uint64_t> codec(p.s.key);
  const SelectTile tile = select_tile(p, group.block());
  const SegmentStart at = segment_start(p.s.segments, tile.segment);
  const bool all = p.best != nullptr;
  for (int t = 0; t < p.count; ++t) {
    const Target target = p.targets[tile.segment * p.count + t];
    // Add up the counts of earlier tiles.
    const uint32_t* const counts = p.counts + tile.segment * p.tiles * p.count * 2;
    const auto tiles_before = [&](int which) {
      return group.template map_reduce<int64_t>(
          tile.number, Sum{}, [=](int64_t k) { return int64_t(counts[(k * p.count + t) * 2 + which]); });
    };
    int64_t less = all ? tiles_before(0) : 0, equal = tiles_before(1);
    const int64_t own = counts[(int64_t(tile.number) * p.count + t) * 2 + 1];
    if (!all && (target.rank < equal || target.rank >= equal + own)) continue;
    const int64_t below = p.s.count - 1 - target.rank;  // all: how many elements are below the target
    // Rank the elements of the tile by a scan, chunk by chunk, and write those that are wanted.
    for (int64_t begin = tile.begin; begin < tile.end; begin += Size) {
      const int64_t i = begin + group.rank();
      const uint64_t key = i < tile.end ? codec.load(p.s.x, at.x + i * p.s.x_step) : 0;
      const uint64_t ordinal = codec.ordinal(key);
      const bool is_less = i < tile.end && ordinal < target.prefix, is_equal = i < tile.end && ordinal == target.prefix;
      // Both counts in one integer: a chunk has fewer than 2^16 elements.
      const int32_t mine = int32_t(is_less) << 16 | int32_t(is_equal);
      const int32_t through = group.inclusive_scan(mine, Sum{}), sum = group.reduce(mine, Sum{});
      const int64_t rank = equal + (through & 0xffff) - 1;
      if (!all && is_equal && rank == target.rank) {
        const int64_t to = at.out + t * p.s.out_step;
        if (p.s.values) codec.store(p.s.values, to, key);
        if (p.s.indices) p.s.indices[to] = i;
      }
      if (all && (is_less || (is_equal && rank <= target.rank))) {
        const int64_t to = tile.segment * p.s.count + (is_less ? less + (through >> 16) - 1 : below + rank);
        codec.store(p.best, to, key);
        p.indices[to] = uint32_t(i);
      }
      less += sum >> 16;
      equal += sum & 0xffff;
    }
  }
}

struct SelectPlan {
  Selection pass;
  int64_t targets, counts, counters, best, indices;  // bytes
  int64_t total() const { return targets + counts + counters + best + indices; }
};

SelectPlan plan_select(const params::DeviceLimits& limits, const params::Sort& s) {
  const auto padded = [](int64_t bytes) { return (bytes + 255) & ~int64_t(255); };
  SelectPlan plan{};
  Selection& p = plan.pass;
  p.s = s;
  p.count = std::max<int32_t>(s.rank_count, 1);
  const int64_t wanted = ceil_div(waves(limits, select_block), s.segments.count);
  const int64_t tiles = std::clamp<int64_t>(wanted, 1, ceil_div(s.n, 16 * select_block));
  p.tile = ceil_div(s.n, tiles);
  p.tiles = int32_t(ceil_div(s.n, p.tile));
  const bool all = s.rank_count == 0 && s.count > 1;
  plan.targets = padded(s.segments.count * p.count * int64_t(sizeof(Target)));
  plan.counts = padded(s.segments.count * p.tiles * p.count * 256 * int64_t(sizeof(uint32_t)));
  plan.counters = padded(s.segments.count * int64_t(sizeof(uint32_t)));
  plan.best = all ? padded(s.segments.count * s.count * s.key.itemsize) : 0;
  plan.indices = all ? padded(s.segments.count * s.count * int64_t(sizeof(uint32_t))) : 0;
  return plan;
}

template <int Size>
STATOR_KERNEL(Size) void clear_counters_kernel(uint32_t* counters, int64_t n) {
  const Group<Size> group;
  const int64_t first = group.block() * Size;
  group.for_each(n - first < Size ? n - first : Size, [=](int64_t i) { counters[first + i] = 0; });
}

template <bool Threads>
void select_segments(const params::Queue& q, const params::Sort& s, void* scratch) {
  if constexpr (Threads) {
    SelectPlan plan = plan_select(*q.limits, s);
    unsigned char* memory = static_cast<unsigned char*>(scratch);
    const auto take = [&](int64_t bytes) { return bytes == 0 ? nullptr : std::exchange(memory, memory + bytes); };
    Selection& p = plan.pass;
    p.targets = reinterpret_cast<Target*>(take(plan.targets));
    p.counts = reinterpret_cast<uint32_t*>(take(plan.counts));
    p.counters = reinterpret_cast<uint32_t*>(take(plan.counters));
    p.best = take(plan.best);
    p.indices = reinterpret_cast<uint32_t*>(take(plan.indices));
    const int64_t blocks = s.segments.count * p.tiles;
    launch(q, "clear_counters", clear_counters_kernel<select_block>,
           {ceil_div(s.segments.count, select_block), select_block}, p.counters, s.segments.count);
    for (p.shift = 8 * (s.key.itemsize - 1); p.shift >= 0; p.shift -= 8)
      launch(q, "select_digit", select_digit_kernel<select_block>, {blocks, select_block}, p);
    launch(q, "select_tally", select_tally_kernel<select_block>, {blocks, select_block}, p);
    launch(q, "select_write", select_write_kernel<select_block>, {blocks, select_block}, p);
    if (!p.best) return;
    // Sort the elements up to the target.
    params::Sort rest = s;
    rest.x = p.best;
    rest.n = s.count;
    rest.x_step = 1;
    rest.source_indices = p.indices;
    int64_t step = s.count;
    for (int d = s.segments.ndim - 1; d >= 0; step *= s.segments.shape[d--]) rest.segments.x_strides[d] = step;
    sort_short_segments(q, rest);
  }
}

}  // namespace

bool selects(const params::Sort& s) {
  const bool best = s.first == 0 && s.count <= most_best;
  return !fast_host && !s.whole && (s.rank_count > 0 || s.count == 1 || best);
}

int64_t select_scratch(const params::DeviceLimits& limits, const params::Sort& s) {
  return plan_select(limits, s).total();
}

void sort_selected(const params::Queue& q, const params::Sort& s, void* scratch) {
  select_segments<!fast_host>(q, s, scratch);
}

}  // namespace stator::STATOR_TARGET::sort
