// Plans a scan (how segments are divided among blocks and threads) and launches it. Host code, compiled per target.
#pragma once

#include "host/launch.hpp"
#include "kernels/scan/host.cuh"
#include "kernels/scan/threads.cuh"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace stator::STATOR_TARGET::scan {

struct ScanTuning {
  static constexpr int block = 256;
  static constexpr int resident = 3;                     // blocks of a multiprocessor
  static constexpr int least_chunk = 3, most_chunk = 9;  // bounds of thread_chunk for all scanners
  static constexpr int wide = 32, narrow = 8;            // segments of a block if in_across or out_across
  static constexpr int64_t least_iterations = 2;         // of a block per split
  static constexpr int64_t least_split = 65536;          // elements of a fast-host split, over all segments of the tile
  static constexpr int64_t least_block = 32768;          // elements of a fast-host block
};
inline constexpr int64_t most_scan_accumulator_bytes = 48;

struct ScanPlan {
  ScanWork work;
  int64_t groups;  // tiles of segments; each has `splits` blocks

  int64_t scratch() const {
    return work.splits > 1 ? work.segments.size * work.splits * most_scan_accumulator_bytes : 0;
  }
};

inline ScanWork scan_work(const params::Scan& s) {
  const int inner = s.ndim - 1;
  const bool many = s.segments > 1;
  return {.in = s.in,
          .out = s.out,
          .indices = s.indices,
          .in_dtype = s.in_dtype,
          .out_dtype = s.out_dtype,
          .initial = s.initial,
          .totals = false,
          .in_across = many && std::abs(s.in_strides[inner]) < std::abs(s.in_step),
          .out_across = many && std::abs(s.out_strides[inner]) < std::abs(s.out_step),
          .columns = 0,
          .segments = ScanSegments(s),
          .n = s.n,
          .in_step = s.in_step,
          .out_step = s.out_step,
          .along = 0,
          .tile = 1,
          .split_size = s.n,
          .splits = 1,
          .partials = nullptr};
}

inline void split_segments(ScanWork& w, int64_t wanted, int64_t grain) {
  if (wanted <= 1) return;
  w.split_size = ceil_div(ceil_div(w.n, wanted), grain) * grain;
  w.splits = int32_t(ceil_div(w.n, w.split_size));
}

inline ScanPlan plan_threads(const params::DeviceLimits& limits, const params::Scan& s, int chunk) {
  using Tune = ScanTuning;
  ScanPlan p{scan_work(s), 0};
  ScanWork& w = p.work;
  const int64_t wanted = std::min<int64_t>(ceil_div(s.n, chunk), Tune::block);
  const int full = 2 * std::max(1, limits.multiprocessors);  // blocks: two per multiprocessor hide each other's latency
  int segments = 1;
  if (w.in_across || w.out_across) {
    segments = Tune::wide;
    while (segments > Tune::narrow && (s.segments < segments || s.segments / segments < full)) segments /= 2;
  }
  const int64_t threads = std::min<int64_t>(wanted, Tune::block / segments);
  w.along = int(std::bit_width(uint64_t(std::max<int64_t>(threads, 1) - 1)));
  w.tile = Tune::block >> w.along;
  p.groups = ceil_div(s.segments, w.tile);
  const int64_t at_once = (int64_t(1) << w.along) * chunk;
  if (p.groups < full)
    split_segments(w,
                   std::min(ceil_div(waves(limits, Tune::block), std::max<int64_t>(p.groups, 1)),
                            s.n / (at_once * Tune::least_iterations)),
                   at_once);
  return p;
}

inline ScanPlan plan_host(const params::DeviceLimits& limits, const params::Scan& s) {
  using Tune = ScanTuning;
  using Host = HostScanTuning;
  ScanPlan p{scan_work(s), 0};
  ScanWork& w = p.work;
  const int64_t inner = s.ndim > 0 ? s.shape[s.ndim - 1] : 1, n = std::max<int64_t>(s.n, 1);
  const int64_t workers = std::max(1, limits.multiprocessors);
  const bool short_segments = n < Host::short_segment && inner >= 4 * Host::narrow;
  if (short_segments || (w.in_across && w.out_across && inner >= Host::narrow)) {
    w.columns = inner;
    w.tile = std::min<int64_t>(inner, Host::columns);
    p.groups = s.segments / inner * ceil_div(inner, w.tile);
  } else {
    const bool across = w.in_across || w.out_across;
    const int64_t least = across ? Host::together : 1;
    w.tile = std::max(least, std::min(ceil_div(Tune::least_block, n), ceil_div(s.segments, waves(limits, 1))));
    p.groups = ceil_div(s.segments, w.tile);
  }
  if (p.groups < workers)
    split_segments(w, std::min(ceil_div(2 * workers, p.groups), n * std::min(w.tile, s.segments) / Tune::least_split),
                   Host::chunk);
  return p;
}

inline ScanPlan plan_scan(const params::DeviceLimits& limits, const params::Scan& s, int chunk) {
  return fast_host ? plan_host(limits, s) : plan_threads(limits, s, chunk);
}

template <class R, int Size>
STATOR_KERNEL_RESIDENT(Size, ScanTuning::resident) void scan_segments(ScanWork w, R r) {
  const Group<Size> group;
  if constexpr (fast_host) {
    const ScanTile t = scan_tile(w, group.block());
    if (w.columns > 0)
      scan_segments_across(r, w, t);
    else
      scan_segments_along(r, w, t);
  } else {
    using Shared = ScanShared<R, Size>;
    ThreadScan<R, Group<Size>>(group, w, r, group.template shared<Shared>()).run();
  }
}

template <class R>
void run_scan(const params::Queue& q, const char* name, const params::Scan& s, void* partials, const R& r) {
  static_assert(sizeof(typename R::Acc) <= most_scan_accumulator_bytes);
  static_assert(R::thread_chunk >= ScanTuning::least_chunk && R::thread_chunk <= ScanTuning::most_chunk);
  ScanPlan p = plan_scan(*q.limits, s, R::thread_chunk);
  ScanWork& w = p.work;
  w.partials = partials;
  if (w.splits > 1) {
    w.totals = true;
    launch(q, name, scan_segments<R, ScanTuning::block>, {p.groups * (w.splits - 1), ScanTuning::block}, w, r);
    w.totals = false;
  }
  launch(q, name, scan_segments<R, ScanTuning::block>, {p.groups * w.splits, ScanTuning::block}, w, r);
}

}  // namespace stator::STATOR_TARGET::scan
