// The reduction launchers. Each compilation of this file has the reducers whose number is STATOR_SHARD modulo
// STATOR_SHARDS.
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/reduce/columns.cuh"
#include "kernels/reduce/rows.cuh"

#include <bit>

namespace stator::STATOR_TARGET::reduce {

// --- plans -----------------------------------------------------------------------------------------------------------

// Plans a reduction: the kernel, the threads per row and the blocks per output. Host code, compiled per target.
//
// A block reduces a tile of outputs, or one split of it. The `splits` blocks of a tile are a group.
//
//   rows:      reduced axes ->                          columns:   innermost kept axis ->
//             split 0   split 1   split 2                            tile 0    tile 1
//   kept    +---------+---------+---------+             reduced    +---------+---------+
//   axes    | block 0 | block 1 | block 2 | group 0     axes       | block 0 | block 2 | split 0
//     |     +---------+---------+---------+               |        +---------+---------+
//     v     | block 3 | block 4 | block 5 | group 1       v        | block 1 | block 3 | split 1
//           +---------+---------+---------+                        +---------+---------+
//   A tile is one row, or several rows if splits == 1.               group 0   group 1   then the other kept axes

struct ReductionTuning {
  static constexpr int block = 256;
  static constexpr int64_t least_split = by_target<8192, 65536>::value;  // elements that are worth a block
  static constexpr int64_t least_segment = by_target<1024, 16>::value;   // shorter ones are read element by element
  static constexpr int64_t least_block = 32768;  // elements of a fast-host block of several rows or tiles
};
inline constexpr int64_t most_accumulator_bytes = 64;  // upper bound for all reducers

enum class ReductionPath { rows, strided, columns };

struct ReductionPlan {
  ReductionPath path;
  int64_t groups;  // of `splits` blocks each
  ReductionWork work;

  int64_t blocks() const { return groups * work.splits; }
  bool split() const { return work.splits > 1; }
  int64_t partials() const { return split() ? blocks() * (path == ReductionPath::columns ? work.tile : 1) : 0; }
};

inline int power_of_two(int64_t n, int most) {
  return n >= most ? most : int(std::bit_ceil(uint64_t(std::max<int64_t>(n, 1))));
}

// The number of blocks that are resident at once, of which the registers of `each` fit a multiprocessor.
inline int64_t resident_blocks(const params::DeviceLimits& limits, int each) {
  const int64_t most = int64_t(std::max(1, limits.multiprocessors)) * each;
  const int64_t fit = waves(limits, ReductionTuning::block);
  return fast_host ? fit : std::min(fit, most);
}

// Splits `extent` so that the blocks of all groups fill the device. A split has at least `least`, and a multiple of
// `grain`.
inline void split_reduction(ReductionWork& w, int64_t groups, int64_t resident, int64_t extent, int64_t least,
                            int64_t grain) {
  const int64_t wanted = std::min(ceil_div(resident, groups), extent / std::max<int64_t>(least, 1));
  w.split_size = extent;
  if (wanted > 1) w.split_size = ceil_div(ceil_div(extent, wanted), grain) * grain;
  w.splits = int32_t(std::max<int64_t>(1, ceil_div(extent, std::max<int64_t>(w.split_size, 1))));
}

inline void plan_rows(ReductionPlan& p, int64_t resident, int64_t step_elements) {
  using Tune = ReductionTuning;
  ReductionWork& w = p.work;
  const int64_t rows = w.kept.size;
  const int64_t along = p.path == ReductionPath::rows ? w.segment_length : w.count;
  // A thread takes two steps if there are many rows, and one step if threads would be idle otherwise.
  const int64_t steps = along / step_elements;
  w.threads = fast_host ? 1 : power_of_two(rows >= resident * 8 ? steps / 2 : steps, Tune::block);
  const int64_t at_once = fast_host ? 1 : Tune::block / w.threads;
  w.split_size = p.path == ReductionPath::rows && w.reduced.size > 1 ? w.reduced.size : along;
  if (rows * 2 <= resident && (fast_host || w.threads == Tune::block)) {
    const bool by_segments = w.split_size != along;
    split_reduction(w, rows, resident, w.split_size,
                    by_segments ? Tune::least_split / w.segment_length : Tune::least_split, by_segments ? 1 : 1024);
  }
  if (w.splits > 1) {
    w.tile = 1;
  } else if (fast_host) {
    w.tile = std::max(std::min(ceil_div(Tune::least_block, std::max<int64_t>(w.count, 1)), ceil_div(rows, resident)),
                      ceil_div(rows, resident * 16));
  } else {
    w.tile = at_once * std::max<int64_t>(1, ceil_div(rows, at_once << 30));
  }
  p.groups = ceil_div(rows, w.tile);
}

inline void plan_columns(ReductionPlan& p, int64_t resident, int itemsize, bool short_rows) {
  using Tune = ReductionTuning;
  ReductionWork& w = p.work;
  int64_t least = 0;  // rows of a split
  if (fast_host) {
    const int64_t near = ColumnTuning::short_tile_bytes / std::max<int64_t>(w.count * itemsize, 1);
    w.tile =
        std::min<int64_t>(w.columns, short_rows ? std::min<int64_t>(near, ColumnTuning::width) : ColumnTuning::width);
    least = ceil_div(Tune::least_split, w.tile);
  } else {
    // A row of the tile is 128 bytes. If columns are short, all threads of the block lie side by side.
    const int wide = w.count < 64 ? Tune::block : std::clamp(128 / itemsize, 32, 128);
    w.threads = power_of_two(w.columns, wide);
    w.tile = w.threads;
    least = Tune::block / w.threads * ColumnTuning::rows * 4;
  }
  p.groups = w.kept.size * ceil_div(w.columns, w.tile);
  split_reduction(w, p.groups, resident, w.count, least, 1);
  if (fast_host && w.splits == 1) {
    const int64_t worth = ceil_div(Tune::least_block, std::max<int64_t>(w.tile * w.count, 1));
    w.batch = std::clamp<int64_t>(p.groups / (resident * 4), 1, worth);
    p.groups = ceil_div(p.groups, w.batch);
  }
}

// `typed`: the kernel with loads of the element type can be used, because it accumulates in the type that the op asks
// for. The fast host has one path for rows, which decides for each segment of a row how to read it. `runs`: there short
// rows are taken one by one, not as columns. `resident`: blocks of a multiprocessor.
inline ReductionPlan plan_reduction(const params::DeviceLimits& limits, const params::Reduction& r, bool typed,
                                    bool runs, int resident) {
  const int k = r.kept_ndim, n = r.reduced_ndim;
  const int64_t segment = n > 0 ? r.reduced_shape[n - 1] : 1, reduced_step = n > 0 ? r.reduced_strides[n - 1] : 0;
  const int64_t columns = k > 0 ? r.kept_shape[k - 1] : 1, kept_step = k > 0 ? r.kept_strides[k - 1] : 0;
  const bool dense = n > 0 && reduced_step == 1 && (n == 1 || segment >= ReductionTuning::least_segment);
  const bool across = k > 0 && (n == 0 || std::abs(kept_step) < std::abs(reduced_step)) &&
                      (fast_host || columns >= 32 || r.reduced_size >= 64);
  const bool short_rows = fast_host && !runs && dense && n == 1 && columns >= 64 &&
                          segment <= ColumnTuning::short_row &&
                          segment * itemsize(r.in_dtype) <= ColumnTuning::short_row_bytes;
  const auto path = dense && typed && !fast_host       ? ReductionPath::rows
                    : (!dense && across) || short_rows ? ReductionPath::columns
                                                       : ReductionPath::strided;
  const bool rows = path == ReductionPath::rows, down = path == ReductionPath::columns;
  ReductionPlan p{.path = path,
                  .groups = 1,
                  .work = {.in = r.in,
                           .mask = r.mask,
                           .out = r.out,
                           .in_dtype = r.in_dtype,
                           .out_dtype = r.out_dtype,
                           .mode = r.mode,
                           .kept = Axes(k - down, r.kept_shape, r.kept_strides, r.kept_mask_strides),
                           .reduced = Axes(n - rows, r.reduced_shape, r.reduced_strides, r.reduced_mask_strides),
                           .columns = down ? columns : 1,
                           .column_step = kept_step,
                           .mask_column_step = k > 0 ? r.kept_mask_strides[k - 1] : 0,
                           .segment_length = rows ? segment : 1,
                           .count = r.reduced_size,
                           .threads = 1,
                           .splits = 1,
                           .split_size = r.reduced_size,
                           .tile = 1,
                           .batch = 1,
                           .partials = nullptr,
                           .counters = nullptr}};
  p.work.mode.bits = 8 * itemsize(r.in_dtype);
  if (down)
    plan_columns(p, resident_blocks(limits, resident), itemsize(r.in_dtype), short_rows);
  else
    plan_rows(p, resident_blocks(limits, resident), rows ? std::max(16 / itemsize(r.in_dtype), 1) : 4);
  return p;
}

// Indexed by Reducer; each shard sets its own entries when it is loaded.
using ReduceFunction = void (*)(const params::Queue&, const params::Reduction&, const kernels::reduce::Scratch&);
extern ReduceFunction by_reducer[kernels::reduce::reducer_count];

namespace {

// What dtypes are widened to when one kernel reduces elements of several dtypes.
constexpr DType widest(DType d) {
  switch (kind_of(d)) {
    case Kind::signed_integer: return DType::int64;
    case Kind::boolean:
    case Kind::unsigned_integer: return DType::uint64;
    case Kind::floating: return d == DType::float64 ? d : DType::float32;
    default: return d;
  }
}

// The dtype whose kernel serves d. On the fast host some kernels serve a second dtype: int64 for unsigned integers that
// wrap as signed ones do, and complex128 for complex64 that is widened element by element.
template <class Spec>
constexpr DType computed_in(DType d) {
  if (!fast_host || !in(d, Spec::shared)) return d;
  return d == DType::uint64 ? DType::int64 : DType::complex128;
}

template <class R, class Source>
void submit(const params::Queue& q, const ReductionPlan& p) {
  using Tune = ReductionTuning;
  static_assert(Reducer<R>);
  static_assert(sizeof(typename R::Acc) <= most_accumulator_bytes);
  const Config config{p.blocks(), Tune::block};
  if (p.path == ReductionPath::columns)
    launch(q, "reduce_columns", reduce_columns<R, Source, Tune::block>, config, p.work);
  else
    launch(q, "reduce_rows", reduce_rows<R, Source, Tune::block>, config, p.work);
}

template <class Spec>
void reduce(const params::Queue& q, const params::Reduction& r, const kernels::reduce::Scratch& scratch) {
  const auto plan = [&](bool typed, bool runs, int resident) {
    ReductionPlan p = plan_reduction(*q.limits, r, typed, runs, resident);
    p.work.partials = scratch.partials;
    p.work.counters = scratch.counters;
    return p;
  };
  bool done = false;
  visit(r.in_dtype, [&]<class T>(type_tag<T>) {
    // On the fast host ErasedLoad reads elements of the dtype that it computes in directly.
    if constexpr (in(dtype_of_v<T>, Spec::typed) && !(fast_host && widest(dtype_of_v<T>) == dtype_of_v<T>)) {
      using C = typename Spec::template Compute<T>;
      if (r.mask != nullptr || widest(r.compute) != widest(dtype_of_v<C>)) return;
      using R = typename Spec::template Of<T, C>;
      const ReductionPlan p = plan(true, short_rows_are_runs<R>, resident<R, TypedLoad<T>>);
      if (!fast_host && p.path == ReductionPath::strided) return;
      submit<R, TypedLoad<T>>(q, p);
      done = true;
    }
  });
  if (done) return;
  visit(computed_in<Spec>(widest(r.compute)), [&]<class W>(type_tag<W>) {
    constexpr DType computed = computed_in<Spec>(widest(dtype_of_v<W>));
    if constexpr (computed == dtype_of_v<W> && in(computed, Spec::computes)) {
      using R = typename Spec::template Of<W, W>;
      submit<R, ErasedLoad<W>>(q, plan(false, short_rows_are_runs<R>, resident<R, ErasedLoad<W>>));
    }
  });
}

template <int Shard>
bool set_reducers() {
  const auto set = [&]<kernels::reduce::Reducer which, class Spec>() {
    if constexpr (int(which) % STATOR_SHARDS == Shard) by_reducer[int(which)] = reduce<Spec>;
  };
  using enum kernels::reduce::Reducer;
  set.template operator()<sum, reducers::sum>();
  set.template operator()<product, reducers::product>();
  set.template operator()<extreme, reducers::extreme>();
  set.template operator()<position, reducers::position>();
  set.template operator()<count, reducers::count>();
  set.template operator()<moments, reducers::moments>();
  set.template operator()<norm, reducers::norm>();
  set.template operator()<logsumexp, reducers::logsumexp>();
  set.template operator()<euclidean, reducers::euclidean>();
  return true;
}
[[maybe_unused]] const bool are_set = set_reducers<STATOR_SHARD>();

}  // namespace

#if STATOR_SHARD == 0
constinit ReduceFunction by_reducer[kernels::reduce::reducer_count] = {};

void run(const params::Queue& q, kernels::reduce::Reducer reducer, const params::Reduction& r,
         const kernels::reduce::Scratch& scratch) {
  by_reducer[int(reducer)](q, r, scratch);
}

// Enough for every kernel that the launcher may choose: fewer resident blocks never split more.
kernels::reduce::Needs needs(const params::DeviceLimits& limits, const params::Reduction& r) {
  kernels::reduce::Needs needs{};
  for (const bool typed : {false, true}) {
    // Rows that are short enough for runs do not split.
    const ReductionPlan p = plan_reduction(limits, r, typed, false, most_resident);
    needs.partial_bytes = std::max(needs.partial_bytes, p.partials() * most_accumulator_bytes);
    needs.counter_bytes = std::max<int64_t>(needs.counter_bytes, p.split() ? p.groups * int64_t(sizeof(uint32_t)) : 0);
  }
  return needs;
}
#endif

}  // namespace stator::STATOR_TARGET::reduce

#if STATOR_SHARD == 0
STATOR_LAUNCHER(reduce, needs)
STATOR_LAUNCHER(reduce, run)
#endif
