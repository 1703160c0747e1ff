// Blocks with threads: some places of long sorted lines without sorting them. A byte a pass, from the most significant
// on, blocks count the digits of what still may be wanted and the last block of a line says which digit it is
// (Alabi, Blanchard, Gordon and Steinbach, "Fast k-selection algorithms for graphics processing units", 2012); then
// what was found is looked up, stably: of equal elements the one that stands first has the lower place.
#include "device/atomic.cuh"
#include "params/sort.hpp"
#include "kernels/sort/sort.cuh"

#include <utility>

namespace stator::STATOR_TARGET::sort {
namespace {

constexpr int select_block = SortTuning::block;
constexpr int most = params::Sort::most_ranks;
constexpr int64_t most_best = 1024;  // elements that are then sorted in one select_block

// What is known of a wanted place: the leading digits of the ordinal there, and its place among those that share them.
struct Target {
  uint64_t prefix;
  int64_t place;
};

struct Selection {
  params::Sort s;
  Target* targets;     // [lines, count]
  uint32_t* counts;    // [lines, parts, count, 256]; then [lines, parts, count, 2]: before the target, and equal to it
  uint32_t* counters;  // [lines]: zero, and left so
  void* best;          // [lines, s.count]: elements up to the target, when all of them are wanted
  uint32_t* places;    // [lines, s.count]: where they stood
  int64_t share;
  int32_t parts, count, shift;
};

struct SelectPart {
  int64_t line, begin, end;
  int32_t index;
};
STATOR_FN SelectPart select_part(const Selection& p, int64_t at) {
  const int64_t line = at / p.parts;
  const int32_t index = int32_t(at - line * p.parts);
  const int64_t begin = index * p.share;
  return {line, begin, begin + p.share < p.s.n ? begin + p.share : p.s.n, index};
}

STATOR_FN int64_t wanted_place(const params::Sort& s, int t) {
  return s.rank_count > 0 ? s.rank[t] : s.first + s.count - 1;
}

struct DigitTallies {
  uint32_t of[most][256];
  uint64_t prefix[most];
  int32_t same[most];  // the first target with this prefix
};

template <int Size>
STATOR_KERNEL void select_digit_kernel(Selection p) {
  const Group<Size> group;
  const Codec<uint64_t> codec(p.s.key);
  const SelectPart part = select_part(p, group.block());
  const int64_t start = line_start(p.s.lines, part.line).x;
  const bool first_pass = p.shift + 8 == 8 * codec.itemsize;
  Target* const targets = p.targets + part.line * p.count;
  DigitTallies& tally = group.template shared<DigitTallies>();
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
  group.for_each(part.end - part.begin, [&](int64_t i) {
    const uint64_t shifted = codec.ordinal(codec.load(p.s.x, start + (part.begin + i) * p.s.x_step)) >> p.shift;
    for (int t = 0; t < p.count; ++t)
      if (tally.same[t] == t && shifted >> 8 == tally.prefix[t]) atomic_add(&tally.of[t][shifted & 255], uint32_t(1));
  });
  group.sync();
  uint32_t* const counts = p.counts + part.line * p.parts * p.count * 256;
  for (int t = 0; t < p.count; ++t)
    if (tally.same[t] == t) counts[(int64_t(part.index) * p.count + t) * 256 + d] = tally.of[t][d];
  if (!group.last_block(p.counters + part.line, uint32_t(p.parts))) return;
  const volatile uint32_t* const seen = counts;
  for (int t = 0; t < p.count; ++t) {
    int64_t total = 0;
    for (int32_t k = 0; k < p.parts; ++k) total += seen[(int64_t(k) * p.count + tally.same[t]) * 256 + d];
    const int64_t through = group.inclusive_scan(total, Sum{});
    const int64_t place = first_pass ? wanted_place(p.s, t) : targets[t].place;
    group.sync();  // before one thread writes what all have read
    if (place >= through - total && place < through)
      targets[t] = {tally.prefix[t] << 8 | uint64_t(d), place - (through - total)};
  }
}

// Counts what stands before each target, and what equals it.
template <int Size>
STATOR_KERNEL void select_tally_kernel(Selection p) {
  const Group<Size> group;
  const Codec<uint64_t> codec(p.s.key);
  const SelectPart part = select_part(p, group.block());
  const int64_t start = line_start(p.s.lines, part.line).x;
  for (int t = 0; t < p.count; ++t) {
    const uint64_t wanted = p.targets[part.line * p.count + t].prefix;
    const auto ordinal = [=](int64_t i) {
      return codec.ordinal(codec.load(p.s.x, start + (part.begin + i) * p.s.x_step));
    };
    const int64_t length = part.end - part.begin;
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

template <int Size>
STATOR_KERNEL void select_write_kernel(Selection p) {
  const Group<Size> group;
  const Codec<uint64_t> codec(p.s.key);
  const SelectPart part = select_part(p, group.block());
  const LineStart at = line_start(p.s.lines, part.line);
  const bool all = p.best != nullptr;
  for (int t = 0; t < p.count; ++t) {
    const Target target = p.targets[part.line * p.count + t];
    const uint32_t* const counts = p.counts + part.line * p.parts * p.count * 2;
    const auto parts_before = [&](int which) {
      return group.template map_reduce<int64_t>(
          part.index, Sum{}, [=](int64_t k) { return int64_t(counts[(k * p.count + t) * 2 + which]); });
    };
    int64_t less = all ? parts_before(0) : 0, equal = parts_before(1);
    const int64_t own = counts[(int64_t(part.index) * p.count + t) * 2 + 1];
    if (!all && (target.place < equal || target.place >= equal + own)) continue;
    const int64_t below = p.s.count - 1 - target.place;  // all: how many stand before the target
    for (int64_t begin = part.begin; begin < part.end; begin += Size) {
      const int64_t i = begin + group.rank();
      const uint64_t key = i < part.end ? codec.load(p.s.x, at.x + i * p.s.x_step) : 0;
      const uint64_t ordinal = codec.ordinal(key);
      const bool is_less = i < part.end && ordinal < target.prefix, is_equal = i < part.end && ordinal == target.prefix;
      const int32_t mine = int32_t(is_less) << 16 | int32_t(is_equal);
      const int32_t through = group.inclusive_scan(mine, Sum{}), sum = group.reduce(mine, Sum{});
      const int64_t rank = equal + (through & 0xffff) - 1;
      if (!all && is_equal && rank == target.place) {
        const int64_t to = at.out + t * p.s.out_step;
        if (p.s.values) codec.store(p.s.values, to, key);
        if (p.s.indices) p.s.indices[to] = i;
      }
      if (all && (is_less || (is_equal && rank <= target.place))) {
        const int64_t to = part.line * p.s.count + (is_less ? less + (through >> 16) - 1 : below + rank);
        codec.store(p.best, to, key);
        p.places[to] = uint32_t(i);
      }
      less += sum >> 16;
      equal += sum & 0xffff;
    }
  }
}

struct SelectPlan {
  Selection pass;
  int64_t targets, counts, counters, best, places;  // bytes
  int64_t total() const { return targets + counts + counters + best + places; }
};

SelectPlan plan_select(const params::DeviceLimits& limits, const params::Sort& s) {
  const auto padded = [](int64_t bytes) { return (bytes + 255) & ~int64_t(255); };
  SelectPlan plan{};
  Selection& p = plan.pass;
  p.s = s;
  p.count = std::max<int32_t>(s.rank_count, 1);
  const int64_t wanted = ceil_div(waves(limits, select_block), s.lines.count);
  const int64_t parts = std::clamp<int64_t>(wanted, 1, ceil_div(s.n, 16 * select_block));
  p.share = ceil_div(s.n, parts);
  p.parts = int32_t(ceil_div(s.n, p.share));
  const bool all = s.rank_count == 0 && s.count > 1;
  plan.targets = padded(s.lines.count * p.count * int64_t(sizeof(Target)));
  plan.counts = padded(s.lines.count * p.parts * p.count * 256 * int64_t(sizeof(uint32_t)));
  plan.counters = padded(s.lines.count * int64_t(sizeof(uint32_t)));
  plan.best = all ? padded(s.lines.count * s.count * s.key.itemsize) : 0;
  plan.places = all ? padded(s.lines.count * s.count * int64_t(sizeof(uint32_t))) : 0;
  return plan;
}

template <int Size>
STATOR_KERNEL void clear_counters_kernel(uint32_t* counters, int64_t n) {
  const Group<Size> group;
  const int64_t first = group.block() * Size;
  group.for_each(n - first < Size ? n - first : Size, [=](int64_t i) { counters[first + i] = 0; });
}

template <bool Threads>
void select_lines(const params::Queue& q, const params::Sort& s, void* scratch) {
  if constexpr (Threads) {
    SelectPlan plan = plan_select(*q.limits, s);
    unsigned char* memory = static_cast<unsigned char*>(scratch);
    const auto take = [&](int64_t bytes) { return bytes == 0 ? nullptr : std::exchange(memory, memory + bytes); };
    Selection& p = plan.pass;
    p.targets = reinterpret_cast<Target*>(take(plan.targets));
    p.counts = reinterpret_cast<uint32_t*>(take(plan.counts));
    p.counters = reinterpret_cast<uint32_t*>(take(plan.counters));
    p.best = take(plan.best);
    p.places = reinterpret_cast<uint32_t*>(take(plan.places));
    const int64_t blocks = s.lines.count * p.parts;
    launch(q, "clear_counters", clear_counters_kernel<select_block>,
           {ceil_div(s.lines.count, select_block), select_block}, p.counters, s.lines.count);
    for (p.shift = 8 * (s.key.itemsize - 1); p.shift >= 0; p.shift -= 8)
      launch(q, "select_digit", select_digit_kernel<select_block>, {blocks, select_block}, p);
    launch(q, "select_tally", select_tally_kernel<select_block>, {blocks, select_block}, p);
    launch(q, "select_write", select_write_kernel<select_block>, {blocks, select_block}, p);
    if (!p.best) return;
    params::Sort rest = s;
    rest.x = p.best;
    rest.n = s.count;
    rest.x_step = 1;
    rest.places = p.places;
    int64_t step = s.count;
    for (int d = s.lines.ndim - 1; d >= 0; step *= s.lines.shape[d--]) rest.lines.x_strides[d] = step;
    sort_short_lines(q, rest);
  }
}

}  // namespace

bool selects(const params::Sort& s) {
  const bool best = s.first == 0 && s.count <= most_best;
  return !fast_host && !s.whole && (s.rank_count > 0 || s.count == 1 || best);
}

int64_t select_scratch(const params::DeviceLimits& limits, const params::Sort& s) { return plan_select(limits, s).total(); }

void sort_selected(const params::Queue& q, const params::Sort& s, void* scratch) { select_lines<!fast_host>(q, s, scratch); }

}  // namespace stator::STATOR_TARGET::sort
