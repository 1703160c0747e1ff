// Cumulative products, and logarithms of cumulative sums of exponentials.
#include "kernels/scan/fill.cuh"
#include "kernels/scan/plan.cuh"

namespace stator::STATOR_COLUMN {
namespace {

// Narrower dtypes compute in double: their products have its range within a run.
void product(const abi::Queue& q, const abi::Scan& s, void* partials) {
  const auto as = [&]<class C>(type_tag<C>) { run_scan(q, "cumulative_prod", s, partials, ProductScan<C>{}); };
  if (in(s.compute, dtypes::floats)) return as(type_tag<double>{});
  if (in(s.compute, dtypes::complexes)) return as(type_tag<complex128>{});
  as(type_tag<int64_t>{});
}

void logsumexp(const abi::Queue& q, const abi::Scan& s, void* partials) {
  if (s.compute == DType::float64) return run_scan(q, "logcumsumexp", s, partials, LogSumExpScan<double>{});
  run_scan(q, "logcumsumexp", s, partials, LogSumExpScan<float>{});
}

}  // namespace

void fill_scan_products(kernels::ScanTable& table) {
  table.product = product;
  table.logsumexp = logsumexp;
}

}  // namespace stator::STATOR_COLUMN
