// Softmax and log-softmax, forward and backward, along any axis. The maximum of a line is subtracted first, so that no
// exponential overflows.
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/nn/softmax_columns.cuh"
#include "kernels/nn/softmax_fast.cuh"
#include "kernels/nn/softmax_rows.cuh"
#include "kernels/nn/softmax_shared.cuh"
#include "kernels/nn/softmax_vectors.cuh"

#include <bit>

namespace stator::STATOR_TARGET::nn {

// --- blocks with threads ---------------------------------------------------------------------------------------------

// Which softmax kernel takes a call where blocks have threads, and how a launch cuts the lines.

struct SoftmaxTuning {
  static constexpr int block = 256;                      // threads for lines of medium length, and for columns
  static constexpr int warp = 32;                        // and for short ones
  static constexpr int shared = 512;                     // and for those that fit shared memory
  static constexpr int64_t other_shared = 1024;          // at most, that a kernel has beside a row
  static constexpr int64_t whole_bytes = 32 << 10;       // of a row that one block has, even if others are idle
  static constexpr int64_t least_part = 2048;            // elements of a line that are worth a block
  static constexpr int least_below = 8;                  // of a column that are worth a thread
  static constexpr int full_request = 128, sector = 32;  // bytes of neighbours: of a good request, and the least
};

// Threads for long lines that fit registers. With 512, two blocks and more are resident, so that one computes while
// another waits for memory. Doubles have 1024, since softmax_shared.cuh does not take their longer lines.
constexpr int large_block(int computed) { return computed == 8 ? 1024 : 512; }

// The elements of a column that a thread holds, in few and in many registers; a gradient holds two operands.
template <bool Backward>
inline constexpr int few_cached = Backward ? 4 : 8;
template <bool Backward>
inline constexpr int many_cached = 2 * few_cached<Backward>;

struct SoftmaxPlan {
  bool rows;                // along lines whose elements are close together, else across them
  bool typed;               // by the kernels of one dtype
  bool vectors;             // rows: vector accesses are possible
  bool cached;              // lines stay in registers
  bool shared;              // lines stay in shared memory
  int threads, per_thread;  // per_thread: elements of a column in registers
  int64_t tiles;            // blocks but for the splits
  LineCut cut;
  int64_t lines, total_bytes;  // of a tile; of a LineTotal

  int64_t blocks() const { return tiles * cut.splits; }
  params::SoftmaxNeeds needs() const {
    if (cut.splits == 1) return {0, 0};
    return {tiles * (cut.splits + 1) * lines * total_bytes, tiles * int64_t(sizeof(uint32_t))};
  }
};

// Divides lines of p.n elements among as many blocks as fill the device, in parts of a multiple of `grain`.
inline void cut_lines(const params::DeviceLimits& limits, SoftmaxPlan& plan, int64_t n, int64_t least, int64_t grain) {
  const int64_t wanted = std::min(waves(limits, plan.threads) / plan.tiles, n / least);
  plan.cut.size = wanted > 1 ? ceil_div(ceil_div(n, wanted), grain) * grain : std::max<int64_t>(n, 1);
  plan.cut.splits = int32_t(std::max<int64_t>(1, ceil_div(n, plan.cut.size)));
}

// Whether rows that do not fit registers are kept in shared memory, which takes as many of them as fill the device, or
// rows that are too short to be cut.
inline bool fits_shared(const params::DeviceLimits& limits, const params::Softmax& p) {
  const int item = itemsize(p.dtype), operands = p.saved == nullptr ? 1 : 2;
  const bool side_by_side = p.x_step == 1 && p.y_step == 1 && (p.saved == nullptr || p.saved_step == 1);
  return side_by_side && item <= 4 && itemsize(p.out_dtype) <= 4 &&
         (p.rows >= limits.multiprocessors || p.n * item <= SoftmaxTuning::whole_bytes) &&
         p.n <= limits.shared_bytes_per_block &&
         operands * shared_row_bytes(p.n, item) + SoftmaxTuning::other_shared <= limits.shared_bytes_per_block;
}

inline void plan_rows(const params::DeviceLimits& limits, const params::Softmax& p, SoftmaxPlan& plan, int width,
                      int computed) {
  using Tune = SoftmaxTuning;
  const int64_t reach = int64_t(width) * row_cached;
  plan.tiles = p.rows;
  plan.lines = 1;
  const int large = large_block(computed);
  plan.cached = p.n <= large * reach;
  plan.threads = p.n <= Tune::warp * reach                    ? Tune::warp
                 : p.n <= Tune::block * reach || !plan.cached ? Tune::block
                                                              : large;
  plan.shared = !plan.cached && fits_shared(limits, p);
  if (!plan.cached && !plan.shared)
    cut_lines(limits, plan, p.n, Tune::least_part, Tune::block * row_batch(width) * width);
}

template <bool Backward>
void plan_columns(const params::DeviceLimits& limits, const params::Softmax& p, SoftmaxPlan& plan, int width) {
  using Tune = SoftmaxTuning;
  const int bytes = width * itemsize(p.dtype);  // of a thread
  const int64_t groups = ceil_div(p.rows, width);
  // A tile is as wide as a good request, wider where threads below each other would have nothing to do, narrower where
  // there are few lines.
  int wide = p.n <= Tune::block / 32 * few_cached<Backward> ? 32 : std::clamp(Tune::full_request / bytes, 1, 32);
  if (groups < wide) wide = int(std::bit_ceil(uint64_t(groups)));
  const int least = std::min(wide, std::clamp(Tune::sector / bytes, 1, 32));
  plan.threads = Tune::block;
  // The widest tile that fits registers and gives every multiprocessor a block, else the narrowest that fits.
  const auto fits = [&](int w) { return p.n <= int64_t(Tune::block / w) * many_cached<Backward>; };
  int chosen = wide;
  while (chosen > least && (!fits(chosen) || ceil_div(groups, chosen) < limits.multiprocessors)) chosen /= 2;
  plan.cached = fits(chosen);
  plan.cut.wide = plan.cached ? chosen : wide;
  plan.tiles = ceil_div(groups, plan.cut.wide);
  plan.lines = int64_t(plan.cut.wide) * width;
  const int64_t high = Tune::block / plan.cut.wide;
  plan.per_thread = p.n <= high * few_cached<Backward> ? few_cached<Backward> : many_cached<Backward>;
  if (!plan.cached) cut_lines(limits, plan, p.n, high * Tune::least_below, high);
}

template <bool Backward>
SoftmaxPlan plan_softmax(const params::DeviceLimits& limits, const params::Softmax& p) {
  SoftmaxPlan plan{};
  plan.cut = {LinePhase::whole, 1, 1, p.n};
  // Lines are taken along if their elements are closer together than those of neighbouring lines.
  plan.rows = p.ndim == 0 || std::abs(p.y_step) < std::abs(p.y_strides[p.ndim - 1]);
  const bool wide = p.dtype == DType::float64 || p.out_dtype == DType::float64;
  const int computed = wide ? 8 : 4;
  plan.total_bytes = 2 * computed;
  const int typed_width = 16 / itemsize(p.dtype);
  const int width = plan.rows ? typed_width : std::min(4, typed_width);
  plan.typed = p.dtype == p.out_dtype && in_vectors(p, plan.rows, width);
  if (plan.rows) {
    plan.vectors = plan.typed || in_vectors(p, true, 16 / computed);
    plan_rows(limits, p, plan, plan.typed ? width : 16 / computed, computed);
  } else {
    plan_columns<Backward>(limits, p, plan, plan.typed ? width : 1);
  }
  return plan;
}

// One launch, or one for the totals and one for the results.
template <class Launch>
void launch_phases(SoftmaxPlan& plan, Launch launch_phase) {
  if (plan.cut.splits == 1) return launch_phase(plan.cut);
  plan.cut.phase = LinePhase::total;
  launch_phase(plan.cut);
  plan.cut.phase = LinePhase::result;
  launch_phase(plan.cut);
}

template <class Io, bool Backward>
void launch_rows(const params::Queue& q, const params::Softmax& p, SoftmaxPlan& plan) {
  using Tune = SoftmaxTuning;
  if (!plan.cached)
    return launch_phases(plan, [&](const LineCut& cut) {
      launch(q, "softmax_row", softmax_row_kernel<Io, Tune::block, Backward>, {plan.blocks(), Tune::block}, p, cut,
             plan.vectors);
    });
  constexpr int large = large_block(sizeof(typename Io::A));
  const auto kernel = plan.threads == Tune::warp    ? softmax_row_cached_kernel<Io, Tune::warp, Backward>
                      : plan.threads == Tune::block ? softmax_row_cached_kernel<Io, Tune::block, Backward>
                                                    : softmax_row_cached_kernel<Io, large, Backward>;
  launch(q, "softmax_row_cached", kernel, {plan.tiles, plan.threads}, p, plan.vectors);
}

template <class Io, bool Backward>
void launch_columns(const params::Queue& q, const params::Softmax& p, SoftmaxPlan& plan) {
  constexpr int block = SoftmaxTuning::block, few = few_cached<Backward>, many = many_cached<Backward>;
  if (!plan.cached)
    return launch_phases(plan, [&](const LineCut& cut) {
      launch(q, "softmax_column", softmax_column_kernel<Io, block, Backward>, {plan.blocks(), block}, p, cut);
    });
  const auto kernel = plan.per_thread == few ? softmax_column_cached_kernel<Io, block, few, Backward>
                                             : softmax_column_cached_kernel<Io, block, many, Backward>;
  launch(q, "softmax_column_cached", kernel, {plan.tiles, block}, p, plan.cut.wide);
}

template <bool Backward>
void launch_shared_rows(const params::Queue& q, const params::Softmax& p) {
  constexpr int block = SoftmaxTuning::shared;
  const int64_t bytes = shared_row_bytes(p.n, itemsize(p.dtype));
  launch(q, "softmax_row_shared", softmax_row_shared_kernel<block, Backward>,
         {p.rows, block, int(Backward ? 2 * bytes : bytes)}, p, itemsize(p.dtype), bytes);
}

template <bool Backward>
void run_planned_softmax(const params::Queue& q, const params::Softmax& p) {
  SoftmaxPlan plan = plan_softmax<Backward>(*q.limits, p);
  if (plan.shared) return launch_shared_rows<Backward>(q, p);
  const auto with = [&]<class Io>(type_tag<Io>) {
    plan.rows ? launch_rows<Io, Backward>(q, p, plan) : launch_columns<Io, Backward>(q, p, plan);
  };
  if (!plan.typed)
    return plan.total_bytes == 16 ? with(type_tag<ErasedAccess<double>>{}) : with(type_tag<ErasedAccess<float>>{});
  visit<dtypes::floats>(
      p.dtype, [&]<class T>(type_tag<T>) { with(type_tag<TypedAccess<std::conditional_t<is_half<T>, Half, T>>>{}); });
}

// --- launchers
// ---------------------------------------------------------------------------------------------------------

namespace {

params::SoftmaxNeeds softmax_needs(const params::DeviceLimits& limits, const params::Softmax& p) {
  if (fast_host) return {0, 0};
  return (p.saved ? plan_softmax<true>(limits, p) : plan_softmax<false>(limits, p)).needs();
}

template <bool Backward>
void run_softmax(const params::Queue& q, const params::Softmax& p) {
  if constexpr (fast_host)
    run_fast_softmax<Backward>(q, p);
  else
    run_planned_softmax<Backward>(q, p);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::nn

STATOR_LAUNCHER(nn, softmax_needs)
STATOR_LAUNCHER(nn, softmax, run_softmax<false>)
STATOR_LAUNCHER(nn, softmax_backward, run_softmax<true>)
