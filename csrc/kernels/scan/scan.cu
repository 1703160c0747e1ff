// Cumulative sums, maxima and minima.
#include "host/launcher.hpp"
#include "kernels/scan/plan.cuh"
#include "params/scan.hpp"

#include <limits>

namespace stator::STATOR_TARGET::scan {
namespace {

// Enough for every scanner: the smaller the chunk of a thread, the more splits.
int64_t scratch(const params::DeviceLimits& limits, const params::Scan& s) {
  int64_t most = 0;
  for (int chunk = ScanTuning::least_chunk; chunk <= ScanTuning::most_chunk; ++chunk)
    most = std::max(most, plan_scan(limits, s, chunk).scratch());
  return most;
}

void sum(const params::Queue& q, const params::Scan& s, void* partials) {
  visit(s.compute, [&]<class T>(type_tag<T>) {
    using C = std::conditional_t<std::is_integral_v<T>, int64_t, opmath_t<T>>;
    run_scan(q, "cumulative_sum", s, partials, SumScan<C>{});
  });
}

// The integer dtype whose sign extension keeps the bits.
DType bits_of(DType d) {
  if (d == DType::bool_) return DType::uint8;
  if (in(d, dtypes::integers)) return d;
  return itemsize(d) == 2 ? DType::int16 : itemsize(d) == 4 ? DType::int32 : DType::int64;
}

void extreme(const params::Queue& q, const params::Scan& given, bool smallest, void* partials) {
  params::Scan s = given;
  s.in_dtype = s.out_dtype = bits_of(given.in_dtype);
  constexpr int64_t highest = std::numeric_limits<int64_t>::max();
  ExtremeScan r{.magnitude = 0,
                .infinity = highest,
                .nan = 0,
                .flip = smallest ? -1 : 0,
                .zeros_tie = 0,
                .first_index = s.first_index,
                .index_step = s.index_step};
  if (in(given.in_dtype, dtypes::floats)) {
    const int width = 8 * itemsize(given.in_dtype);
    const int mantissa = given.in_dtype == DType::bfloat16 ? 7 : width == 16 ? 10 : width == 32 ? 23 : 52;
    r.magnitude = highest >> (64 - width);
    r.infinity = r.magnitude >> mantissa << mantissa;
    r.nan = r.infinity | int64_t(1) << (mantissa - 1);
    r.zeros_tie = 1;
  } else {
    if (given.in_dtype == DType::uint64) r.flip ^= std::numeric_limits<int64_t>::min();
    r.nan = highest ^ r.flip;
  }
  run_scan(q, smallest ? "cumulative_min" : "cumulative_max", s, partials, r);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::scan

STATOR_LAUNCHER(scan, scratch)
STATOR_LAUNCHER(scan, sum)
STATOR_LAUNCHER(scan, extreme)
