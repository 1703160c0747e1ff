#include "core/op_call.hpp"
#include "ops/sort/keys.hpp"
#include "params/sets.hpp"

#include <stator/creation.hpp>
#include <stator/elementwise.hpp>
#include <stator/movement.hpp>
#include <stator/reduce.hpp>
#include <stator/scan.hpp>
#include <stator/sets.hpp>

#include <cmath>
#include <limits>
#include <string>

namespace stator {
namespace {

void check_bins(const OpCall& call, int64_t bins) {
  if (bins < 1) throw ValueError(std::string(call.name()), "bins=" + std::to_string(bins), "bins must be at least 1");
  checked_size(call.name(), Dims{bins}, sizeof(int64_t));
}

void check_range(const OpCall& call, double low, double high) {
  if (std::isfinite(low) && std::isfinite(high) && low <= high) return;
  throw ValueError(std::string(call.name()), "got a range from " + std::to_string(low) + " to " + std::to_string(high),
                   "bounds must be finite, the lower one first");
}

void check_weights(const OpCall& call, const Array& x, const Array& weights) {
  if (!(weights.shape() == x.shape()))
    throw ShapeError(std::string(call.name()),
                     "got weights of shape " + str(weights.shape()) + " for " + str(x.shape()),
                     "weights must have the shape of the array");
  if (in(weights.dtype(), dtypes::complexes))
    throw DTypeError(std::string(call.name()), "got weights of dtype " + std::string(name(weights.dtype())),
                     "weights must be real. Pass the real and the imaginary parts in two calls");
}

params::Histogram describe(OpCall& call, const Array& x, params::Binning binning, int64_t bins) {
  params::Histogram p{};
  p.binning = binning;
  p.x = x.data_ptr();
  p.dtype = x.dtype();
  p.elements = segments_of(x, x, -1);
  p.bins = bins;
  if (x.size() > 0) call.reads(x);
  return p;
}

// The extremes of x as bounds, which stay on the device.
void bounds_of_elements(OpCall& call, const Array& x, params::Histogram& p, Array (&kept)[2], double low, double high,
                        const Stream& stream) {
  p.low = low;
  p.high = high;
  if (x.size() == 0) return;
  const Array source = x.dtype() == DType::bool_ ? view(x, DType::uint8) : x;
  kept[0] = reduce(Op::min, source, {}, stream);
  kept[1] = reduce(Op::max, source, {}, stream);
  for (int k = 0; k < 2; ++k) {
    p.bounds[k] = kept[k].data_ptr();
    call.reads(kept[k]);
  }
}

// The counts of the bins in `dtype`.
Array count(OpCall& call, params::Histogram& p, const Array& x, DType dtype, const Stream& stream) {
  const Dims shape{p.bins};
  if (p.bins <= params::Histogram::most_private) {
    const Array result = call.empty(shape, dtype);
    p.counts = static_cast<int64_t*>(call.zeroed_scratch((params::Histogram::most_private + 1) * sizeof(int64_t))) + 1;
    p.counter = reinterpret_cast<uint32_t*>(p.counts - 1);
    p.out = result.data_ptr();
    p.out_dtype = dtype;
    call.writes(result);
    kernels::sets::histogram(call.queue(), p);
    return result;
  }
  const Array counts = zeros(x.backend(), shape, DType::int64, stream);
  p.counts = static_cast<int64_t*>(counts.data_ptr());
  call.writes(counts);
  kernels::sets::histogram(call.queue(), p);
  return astype(counts, dtype, false, stream);
}

// The sums of the weights: finds each element's bin, sorts the elements by bin, and sums the weights of each bin.
Array sums(OpCall& call, params::Histogram& p, const Array& x, const Array& weights, bool floating) {
  if (p.bins >= int64_t(std::numeric_limits<uint32_t>::max()))
    throw UnsupportedError(std::string(call.name()), "got " + std::to_string(p.bins) + " bins with weights",
                           "with weights the number must be less than 2^32 - 1. Use fewer bins");
  const Array result = call.empty(Dims{p.bins}, floating ? DType::float64 : DType::int64);
  const Dims shape{x.size()};
  const Array ids = call.empty(shape, DType::uint32), sorted = call.empty(shape, DType::uint32),
              order = call.empty(shape, DType::int64);
  if (x.size() > 0) {
    call.reads(weights);
    call.writes(ids);
  }
  call.writes(result);
  p.bin_ids = static_cast<uint32_t*>(ids.data_ptr());
  kernels::sets::histogram(call.queue(), p);
  launch_sort(call, ids, 0, false, {0, x.size()}, &sorted, &order);
  params::BinSums b{};
  b.ids = static_cast<const uint32_t*>(sorted.data_ptr());
  b.order = static_cast<const int64_t*>(order.data_ptr());
  b.weights = weights.data_ptr();
  b.weight_dtype = weights.dtype();
  b.elements = segments_of(weights, weights, -1);
  b.out = result.data_ptr();
  b.floating = floating;
  b.n = x.size();
  b.bins = p.bins;
  kernels::sets::bin_sums(call.queue(), b);
  return result;
}

}  // namespace

Array histc(const Array& x, int64_t bins, double low, double high, const Stream& stream) {
  OpCall call(Op::histc, {&x}, stream);
  check_order_dtype(call, x);
  check_bins(call, bins);
  check_range(call, low, high);
  params::Histogram p = describe(call, x, params::Binning::uniform, bins);
  p.widen = 1;
  Array bounds[2];
  if (low == high)
    bounds_of_elements(call, x, p, bounds, low, high, stream);
  else
    p.low = low, p.high = high;
  return count(call, p, x, x.dtype(), stream);
}

Histogram histogram(const Array& x, int64_t bins, const HistogramOptions& options, const Stream& stream) {
  OpCall call(Op::histogram, {&x, options.edges, options.weights}, stream);
  const std::string op(call.name());
  check_order_dtype(call, x);
  if (options.edges) {
    if (options.edges->ndim() != 1 || options.edges->size() < 2)
      throw ShapeError(op, "got edges of shape " + str(options.edges->shape()),
                       "edges must have one axis of at least two elements");
    check_order_dtype(call, *options.edges);
    bins = options.edges->size() - 1;
  }
  check_bins(call, bins);
  if (options.weights) check_weights(call, x, *options.weights);
  if (options.range) check_range(call, options.range->first, options.range->second);
  params::Histogram p = describe(call, x, options.edges ? params::Binning::edges : params::Binning::even, bins);
  Histogram result;
  Array edges, bounds[2];
  if (options.edges) {
    result.edges = *options.edges;
    edges = astype(*options.edges, DType::float64, false, stream);
    if (!edges.is_contiguous()) edges = copy(edges, stream);
    p.edges = static_cast<const double*>(edges.data_ptr());
    call.reads(edges);
  } else {
    p.widen = 0.5;
    p.edge_dtype = to_inexact(x.dtype());
    result.edges = call.empty(Dims{bins + 1}, p.edge_dtype);
    p.out_edges = result.edges.data_ptr();
    call.writes(result.edges);
    if (options.range)
      p.low = options.range->first, p.high = options.range->second;
    else
      bounds_of_elements(call, x, p, bounds, 0, 1, stream);
  }
  if (!options.weights) {
    result.counts = count(call, p, x, DType::int64, stream);
  } else {
    const DType dtype = options.weights->dtype();
    const Array total = sums(call, p, x, *options.weights, in(dtype, dtypes::floats));
    result.counts = astype(total, dtype == DType::bool_ ? DType::int64 : dtype, false, stream);
  }
  if (!options.density) return result;
  const Array counts = astype(result.counts, DType::float64, false, stream);
  const Array width = diff(astype(result.edges, DType::float64, false, stream), {}, stream);
  const Array area = binary(Op::multiply, reduce(Op::sum, counts, {}, stream), width, {}, stream);
  result.counts = binary(Op::divide, counts, area, {}, stream);
  return result;
}

Array bincount(const Array& x, const BincountOptions& options, const Stream& stream) {
  OpCall call(Op::bincount, {&x, options.weights}, stream);
  const std::string op(call.name());
  check_order_dtype(call, x);
  if (options.weights) check_weights(call, x, *options.weights);
  if (options.minlength < 0)
    throw ValueError(op, "minlength=" + std::to_string(options.minlength), "minlength must be at least 0");
  if (options.size && *options.size < 0)
    throw ValueError(op, "size=" + std::to_string(*options.size), "the number of bins must be at least 0");
  int64_t bins = options.size.value_or(options.minlength);
  if (!options.size && x.size() > 0) {
    // Negative elements are the largest ones of the unsigned dtype, so one maximum is enough for both checks.
    const DType dtype = x.dtype();
    const DType bits =
        !in(dtype, dtypes::signed_integers) ? dtype : DType(int(DType::uint8) + int(dtype) - int(DType::int8));
    const Scalar most = reduce(Op::max, view(x, bits), {}, stream).item(stream, call.op());
    const uint64_t seen = uint64_t(most.i), limit = uint64_t(std::numeric_limits<int64_t>::max());
    const uint64_t sign = uint64_t(1) << (8 * itemsize(dtype) - 1);
    if (bits != dtype && seen >= sign)
      throw ValueError(op, "got a negative element", "elements must be integers of at least 0");
    if (seen >= limit)
      throw ValueError(op, "got " + std::to_string(seen) + " as an element",
                       "elements must be less than the number of bins");
    bins = std::max(bins, int64_t(seen) + 1);
  }
  checked_size(op, Dims{bins}, sizeof(int64_t));
  const DType dtype = options.weights ? DType::float64 : DType::int64;
  if (bins == 0 && x.size() == 0) return call.empty(Dims{0}, dtype);
  params::Histogram p = describe(call, x, params::Binning::integers, bins);
  Array result;
  if (options.weights)
    result = sums(call, p, x, *options.weights, true);
  else
    result = count(call, p, x, dtype, stream);
  call.finish_indices();
  return result;
}

}  // namespace stator
