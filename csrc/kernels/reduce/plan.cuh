// Which kernel takes a reduction, with how many threads a row and blocks an output. Host code of a column.
#pragma once

#include "device/launch.cuh"
#include "kernels/reduce/columns.cuh"
#include "kernels/reduce/rows.cuh"

#include <bit>

namespace stator::STATOR_TARGET::reduce {

struct ReductionTuning {
  static constexpr int block = 256;
  static constexpr int64_t least_share = by_target<8192, 65536>::value;  // elements worth a block of their own
  static constexpr int64_t least_run = by_target<1024, 16>::value;       // shorter runs go by offsets
  static constexpr int64_t least_block = 32768;                          // elements of a fast-host block of rows
};
inline constexpr int64_t most_accumulator_bytes = 64;  // of every reducer

enum class ReductionPath { rows, strided, columns };

struct ReductionPlan {
  ReductionPath path;
  int64_t groups;  // sets of `splits` blocks
  ReductionWork work;

  int64_t blocks() const { return groups * work.splits; }
  bool split() const { return work.splits > 1; }
  int64_t partials() const { return split() ? blocks() * (path == ReductionPath::columns ? work.tile : 1) : 0; }
};

inline int power_of_two(int64_t n, int most) {
  return n >= most ? most : int(std::bit_ceil(uint64_t(std::max<int64_t>(n, 1))));
}

// Blocks for one output so that the device is full, each with at least `least` of `extent`.
inline void share_out(ReductionWork& w, int64_t groups, int64_t resident, int64_t extent, int64_t least,
                      int64_t grain) {
  const int64_t wanted = std::min(ceil_div(resident, groups), extent / std::max<int64_t>(least, 1));
  w.share = extent;
  if (wanted > 1) w.share = ceil_div(ceil_div(extent, wanted), grain) * grain;
  w.splits = int32_t(std::max<int64_t>(1, ceil_div(extent, std::max<int64_t>(w.share, 1))));
}

inline void plan_rows(const params::DeviceLimits& limits, ReductionPlan& p, int64_t step_elements) {
  using Tune = ReductionTuning;
  ReductionWork& w = p.work;
  const int64_t rows = w.kept.size, resident = waves(limits, Tune::block);
  const int64_t along = p.path == ReductionPath::rows ? w.run : w.count;
  // Two steps a thread where rows are many, one where threads would idle otherwise.
  const int64_t steps = along / step_elements;
  w.threads = fast_host ? 1 : power_of_two(rows >= resident * 8 ? steps / 2 : steps, Tune::block);
  const int64_t at_once = fast_host ? 1 : Tune::block / w.threads;
  w.share = p.path == ReductionPath::rows && w.reduced.size > 1 ? w.reduced.size : along;
  if (rows * 2 <= resident && (fast_host || w.threads == Tune::block)) {
    const bool by_runs = w.share != along;
    share_out(w, rows, resident, w.share, by_runs ? Tune::least_share / w.run : Tune::least_share, by_runs ? 1 : 1024);
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

inline void plan_columns(const params::DeviceLimits& limits, ReductionPlan& p, int itemsize) {
  using Tune = ReductionTuning;
  ReductionWork& w = p.work;
  const int64_t resident = waves(limits, Tune::block);
  int64_t least = 0;  // rows of a share
  if (fast_host) {
    w.tile = std::min<int64_t>(w.columns, ColumnTuning::width);
    least = ceil_div(Tune::least_share, w.tile);
  } else {
    // A warp's row of the tile is 128 bytes; short columns leave no further rows to the other threads.
    const int wide = w.count < 64 ? Tune::block : std::clamp(128 / itemsize, 32, 128);
    w.threads = power_of_two(w.columns, wide);
    w.tile = w.threads;
    least = Tune::block / w.threads * ColumnTuning::rows * 4;
  }
  p.groups = w.kept.size * ceil_div(w.columns, w.tile);
  share_out(w, p.groups, resident, w.count, least, 1);
}

// `typed`: elements are accumulated in what the op computes their dtype in, so that a kernel of that dtype serves. The
// fast host looks at every line of a row: it has one path for rows.
inline ReductionPlan plan_reduction(const params::DeviceLimits& limits, const params::Reduction& r, bool typed) {
  const int k = r.kept_ndim, n = r.reduced_ndim;
  const int64_t run = n > 0 ? r.reduced_shape[n - 1] : 1, reduced_step = n > 0 ? r.reduced_strides[n - 1] : 0;
  const int64_t columns = k > 0 ? r.kept_shape[k - 1] : 1, kept_step = k > 0 ? r.kept_strides[k - 1] : 0;
  const bool dense = n > 0 && reduced_step == 1 && (n == 1 || run >= ReductionTuning::least_run);
  const bool across = k > 0 && (n == 0 || std::abs(kept_step) < std::abs(reduced_step)) &&
                      (fast_host || columns >= 32 || r.reduced_size >= 64);
  const auto path = dense && typed && !fast_host ? ReductionPath::rows
                    : !dense && across           ? ReductionPath::columns
                                                 : ReductionPath::strided;
  const bool rows = path == ReductionPath::rows, down = path == ReductionPath::columns;
  ReductionPlan p{path,
                  1,
                  {r.in, r.mask, r.out, r.in_dtype, r.out_dtype, r.mode,
                   Axes(k - down, r.kept_shape, r.kept_strides, r.kept_mask_strides),
                   Axes(n - rows, r.reduced_shape, r.reduced_strides, r.reduced_mask_strides), down ? columns : 1,
                   kept_step, k > 0 ? r.kept_mask_strides[k - 1] : 0, rows ? run : 1, r.reduced_size, 1, 1,
                   r.reduced_size, 1, nullptr, nullptr}};
  p.work.mode.bits = 8 * itemsize(r.in_dtype);
  if (down)
    plan_columns(limits, p, itemsize(r.in_dtype));
  else
    plan_rows(limits, p, rows ? std::max(16 / itemsize(r.in_dtype), 1) : 4);
  return p;
}

}  // namespace stator::STATOR_TARGET::reduce
