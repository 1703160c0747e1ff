// How a scan is laid over blocks, and its launches. Host code of a target.
#pragma once

#include "device/launch.cuh"
#include "kernels/scan/host.cuh"
#include "kernels/scan/threads.cuh"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace stator::STATOR_TARGET::scan {

struct ScanTuning {
  static constexpr int block = 256;
  static constexpr int resident = 3;                 // blocks of a multiprocessor
  static constexpr int least_run = 3, most_run = 9;  // of the scanners
  static constexpr int wide = 32, narrow = 8;        // lines of a block where neighbours are across the lines
  static constexpr int64_t least_tiles = 2;          // of a part of a line, in elements of a block at once
  static constexpr int64_t least_part = 65536;       // elements of a fast-host part
  static constexpr int64_t least_block = 32768;      // elements of a fast-host block
};
inline constexpr int64_t most_scan_accumulator_bytes = 48;

struct ScanPlan {
  ScanWork work;
  int64_t groups;  // of lines

  int64_t scratch() const { return work.parts > 1 ? work.lines.size * work.parts * most_scan_accumulator_bytes : 0; }
};

inline ScanWork scan_work(const params::Scan& s) {
  const int inner = s.ndim - 1;
  const bool many = s.lines > 1;
  return {s.in,
          s.out,
          s.indices,
          s.in_dtype,
          s.out_dtype,
          s.initial,
          false,
          many && std::abs(s.in_strides[inner]) < std::abs(s.in_step),
          many && std::abs(s.out_strides[inner]) < std::abs(s.out_step),
          0,
          ScanLines(s),
          s.n,
          s.in_step,
          s.out_step,
          0,
          1,
          s.n,
          1,
          nullptr};
}

inline void split_lines(ScanWork& w, int64_t wanted, int64_t grain) {
  if (wanted <= 1) return;
  w.share = ceil_div(ceil_div(w.n, wanted), grain) * grain;
  w.parts = int32_t(ceil_div(w.n, w.share));
}

inline ScanPlan plan_threads(const params::DeviceLimits& limits, const params::Scan& s, int run) {
  using Tune = ScanTuning;
  ScanPlan p{scan_work(s), 0};
  ScanWork& w = p.work;
  const int64_t wanted = std::min<int64_t>(ceil_div(s.n, run), Tune::block);
  const int full = 2 * std::max(1, limits.multiprocessors);  // blocks that hide each other's waiting
  int lines = 1;
  if (w.in_across || w.out_across) {
    lines = Tune::wide;
    while (lines > Tune::narrow && (s.lines < lines || s.lines / lines < full)) lines /= 2;
  }
  const int64_t threads = std::min<int64_t>(wanted, Tune::block / lines);
  w.along = int(std::bit_width(uint64_t(std::max<int64_t>(threads, 1) - 1)));
  w.tile = Tune::block >> w.along;
  p.groups = ceil_div(s.lines, w.tile);
  const int64_t at_once = (int64_t(1) << w.along) * run;
  if (p.groups < full)
    split_lines(w,
                std::min(ceil_div(waves(limits, Tune::block), std::max<int64_t>(p.groups, 1)),
                         s.n / (at_once * Tune::least_tiles)),
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
  const bool short_lines = n < Host::short_line && inner >= 4 * Host::narrow;
  if (short_lines || (w.in_across && w.out_across && inner >= Host::narrow)) {
    w.columns = inner;
    w.tile = std::min<int64_t>(inner, Host::columns);
    p.groups = s.lines / inner * ceil_div(inner, w.tile);
  } else {
    const bool across = w.in_across || w.out_across;
    const int64_t least = across ? Host::together : 1;
    w.tile = std::max(least, std::min(ceil_div(Tune::least_block, n), ceil_div(s.lines, waves(limits, 1))));
    p.groups = ceil_div(s.lines, w.tile);
  }
  if (p.groups < workers)
    split_lines(w, std::min(ceil_div(2 * workers, p.groups), n * std::min(w.tile, s.lines) / Tune::least_part),
                Host::piece);
  return p;
}

inline ScanPlan plan_scan(const params::DeviceLimits& limits, const params::Scan& s, int run) {
  return fast_host ? plan_host(limits, s) : plan_threads(limits, s, run);
}

template <class R, int Size>
STATOR_KERNEL STATOR_RESIDENT(Size, ScanTuning::resident) void scan_lines(ScanWork w, R r) {
  const Group<Size> group;
  if constexpr (fast_host) {
    const ScanTile t = scan_tile(w, group.block());
    if (w.columns > 0)
      scan_lines_across(r, w, t);
    else
      scan_lines_along(r, w, t);
  } else {
    using Shared = ScanShared<R, Size>;
    ThreadScan<R, Group<Size>>(group, w, r, group.template shared<Shared>()).run();
  }
}

template <class R>
void run_scan(const params::Queue& q, const char* name, const params::Scan& s, void* partials, const R& r) {
  static_assert(sizeof(typename R::Acc) <= most_scan_accumulator_bytes);
  static_assert(R::run >= ScanTuning::least_run && R::run <= ScanTuning::most_run);
  ScanPlan p = plan_scan(*q.limits, s, R::run);
  ScanWork& w = p.work;
  w.partials = partials;
  if (w.parts > 1) {
    w.totals = true;
    launch(q, name, scan_lines<R, ScanTuning::block>, {p.groups * (w.parts - 1), ScanTuning::block}, w, r);
    w.totals = false;
  }
  launch(q, name, scan_lines<R, ScanTuning::block>, {p.groups * w.parts, ScanTuning::block}, w, r);
}

}  // namespace stator::STATOR_TARGET::scan
