// Cumulative products, and logarithms of cumulative sums of exponentials.
#include "host/launcher.hpp"
#include "kernels/scan/plan.cuh"
#include "params/scan.hpp"

namespace stator::STATOR_TARGET::scan {
namespace {

// Narrower dtypes compute in double, so that the products within a chunk have its range.
void product(const params::Queue& q, const params::Scan& s, void* partials) {
  const auto as = [&]<class C>(type_tag<C>) { run_scan(q, "cumulative_prod", s, partials, ProductScan<C>{}); };
  if (in(s.compute, dtypes::floats)) return as(type_tag<double>{});
  if (in(s.compute, dtypes::complexes)) return as(type_tag<complex128>{});
  as(type_tag<int64_t>{});
}

void logsumexp(const params::Queue& q, const params::Scan& s, void* partials) {
  if (s.compute == DType::float64) return run_scan(q, "logcumsumexp", s, partials, LogSumExpScan<double>{});
  run_scan(q, "logcumsumexp", s, partials, LogSumExpScan<float>{});
}

}  // namespace

}  // namespace stator::STATOR_TARGET::scan

STATOR_LAUNCHER(scan, product)
STATOR_LAUNCHER(scan, logsumexp)
