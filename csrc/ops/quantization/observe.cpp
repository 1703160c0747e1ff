// Observers: ranges and histograms that accumulate on the device, and the numbers that follow from them.
#include "ops/quantization/operands.hpp"

#include "memory/overlap.hpp"

#include <stator/creation.hpp>
#include <stator/movement.hpp>

#include <cmath>

namespace stator::nn {
namespace {

constexpr int64_t least_inner = 32;  // elements side by side below which channels are moved apart first

// What is changed in place: dense, writable, and float32 or, beside float64, float64.
void check_state(const OpCall& call, const Array& state, const char* what, const Dims& shape, DType beside) {
  const std::string op(call.name());
  if (state.dtype() != DType::float32 && !(state.dtype() == DType::float64 && beside == DType::float64))
    throw DTypeError(op, "got " + std::string(what) + " of " + std::string(name(state.dtype())),
                     "pass float32, or float64 beside float64");
  if (!(state.shape() == shape))
    throw ShapeError(op, "got " + std::string(what) + " of shape " + str(state.shape()),
                     "pass an array of shape " + str(shape));
  if (!state.is_contiguous())
    throw ShapeError(op, std::string(what) + " of shape " + str(state.shape()) + " is not contiguous", "pass copy(x)");
  require_writable(op, state, what);
}

void check_range(const OpCall& call, const Array& min, const Array& max, const Dims& shape, DType beside) {
  check_state(call, min, "min", shape, beside);
  check_state(call, max, "max", shape, beside);
  if (min.dtype() != max.dtype())
    throw DTypeError(std::string(call.name()),
                     "min is " + std::string(name(min.dtype())) + ", max is " + std::string(name(max.dtype())),
                     "pass two arrays of one dtype");
}

void plan_observation(OpCall& call, params::Observation& p) {
  const int64_t all = p.outer * p.inner, wanted = kernels::quantization::observe_splits(call.limits(), p);
  p.split_size = ((all + wanted - 1) / wanted + 15) / 16 * 16;
  p.splits = (all + p.split_size - 1) / p.split_size;
  if (p.splits > 1) p.partials = call.scratch(size_t(p.channels * p.splits * 2) * sizeof(double));
}

}  // namespace

QuantizationParameters quantization_parameters(const Array& min, const Array& max, const ParameterOptions& o,
                                               const Stream& stream) {
  OpCall call(Op::quantization_parameters, {&min, &max}, stream);
  const std::string op(call.name());
  const Limits limits = byte_limits(call, o.dtype, o.quant_min, o.quant_max);
  check_floating(call, min, "min");
  if (!(min.shape() == max.shape()))
    throw ShapeError(op, "got min " + str(min.shape()) + " and max " + str(max.shape()), "pass arrays of one shape");
  if (min.dtype() != max.dtype())
    throw DTypeError(op, "min is " + std::string(name(min.dtype())) + ", max is " + std::string(name(max.dtype())),
                     "pass two arrays of one dtype");
  if (!(o.eps > 0) || !std::isfinite(o.eps))
    throw ValueError(op, "eps=" + number_text(o.eps), "pass a positive finite number");
  std::vector<Array> operands;
  QuantizationParameters out{call.empty(min.shape(), DType::float32), call.empty(min.shape(), DType::int32)};
  if (min.size() == 0) return out;
  params::ParameterChoice p{};
  p.min = dense(call, min, operands);
  p.max = dense(call, max, operands);
  p.dtype = min.dtype();
  p.count = min.size();
  p.symmetric = o.symmetric;
  p.low = int32_t(limits.low);
  p.high = int32_t(limits.high);
  // Of int8 the middle is 0, whatever the limits; of uint8 128, or with limits their middle, rounded down.
  if (o.dtype == DType::uint8) p.middle = o.quant_min || o.quant_max ? (p.low + p.high) / 2 : 128;
  p.eps = float(o.eps);
  call.writes(out.scale);
  call.writes(out.zero_point);
  p.scale = static_cast<float*>(out.scale.data_ptr());
  p.zero = static_cast<int32_t*>(out.zero_point.data_ptr());
  kernels::quantization::choose(call.queue(), p);
  return out;
}

void observe_range(const Array& x, const Array& min, const Array& max, std::optional<int64_t> axis,
                   std::optional<double> averaging, const Stream& stream) {
  OpCall call(Op::observe_range, {&x, &min, &max}, stream);
  const std::string op(call.name());
  check_floating(call, x, "x");
  if (averaging && !(*averaging > 0 && *averaging <= 1))
    throw ValueError(op, "averaging_constant=" + number_text(*averaging), "pass a number above 0, at most 1");
  params::Observation p{};
  p.outer = p.channels = 1;
  p.inner = x.size();
  Dims shape;
  Array source = x;
  if (axis) {
    const int along = normalize_axis(op, *axis, x.ndim());
    p.channels = x.shape()[along];
    shape = Dims{p.channels};
    p.inner = 1;
    for (int d = 0; d < along; ++d) p.outer *= x.shape()[d];
    for (int d = along + 1; d < x.ndim(); ++d) p.inner *= x.shape()[d];
    if (p.outer > 1 && p.inner < least_inner) {
      const int64_t from[] = {along}, to[] = {0};
      source = moveaxis(x, from, to);
      p.inner *= p.outer;
      p.outer = 1;
    }
  }
  check_range(call, min, max, shape, x.dtype());
  if (x.size() == 0) return;
  std::vector<Array> operands;
  p.x = dense(call, source, operands);
  p.dtype = x.dtype();
  p.state_dtype = min.dtype();
  p.min = min.data_ptr();
  p.max = max.data_ptr();
  p.averages = averaging.has_value();
  p.averaging = averaging.value_or(0);
  call.writes(min);
  call.writes(max);
  plan_observation(call, p);
  if (p.splits > 1) p.counters = static_cast<uint32_t*>(call.zeroed_scratch(size_t(p.channels) * sizeof(uint32_t)));
  kernels::quantization::observe(call.queue(), p);
}

void observe_histogram(const Array& x, const Array& histogram, const Array& min, const Array& max,
                       const Stream& stream) {
  OpCall call(Op::observe_histogram, {&x, &histogram, &min, &max}, stream);
  check_floating(call, x, "x");
  if (histogram.ndim() != 1 || histogram.size() == 0)
    throw ShapeError(std::string(call.name()), "got a histogram of shape " + str(histogram.shape()),
                     "pass an array of one axis with a bin at least");
  check_state(call, histogram, "the histogram", histogram.shape(), DType::float32);
  check_range(call, min, max, {}, x.dtype());
  if (x.size() == 0) return;
  std::vector<Array> operands;
  params::Observation p{};
  p.x = dense(call, x, operands);
  p.dtype = x.dtype();
  p.state_dtype = min.dtype();
  p.outer = p.channels = 1;
  p.inner = x.size();
  p.min = min.data_ptr();
  p.max = max.data_ptr();
  const int64_t bins = histogram.size();
  double* const range = static_cast<double*>(call.scratch(2 * sizeof(double)));
  float* const next = static_cast<float*>(call.scratch(size_t(bins) * sizeof(float)));
  // Counters of the observation come first in memory that is zero before and after.
  uint32_t* const zeros = static_cast<uint32_t*>(call.zeroed_scratch(size_t(bins + 1) * sizeof(uint32_t)));
  p.to = range;
  plan_observation(call, p);
  p.counters = zeros;
  call.writes(histogram);
  call.writes(min);
  call.writes(max);
  kernels::quantization::observe(call.queue(), p);
  kernels::quantization::histogram_count(call.queue(), {p.x, p.dtype, p.inner, bins, range, zeros + 1});
  kernels::quantization::histogram_update(call.queue(), {static_cast<float*>(histogram.data_ptr()), zeros + 1, next,
                                                         range, p.min, p.max, p.state_dtype, bins});
}

Range histogram_range(const Array& histogram, const Array& min, const Array& max, int64_t levels,
                      const Stream& stream) {
  OpCall call(Op::histogram_range, {&histogram, &min, &max}, stream);
  const std::string op(call.name());
  if (histogram.ndim() != 1 || histogram.size() == 0)
    throw ShapeError(op, "got a histogram of shape " + str(histogram.shape()),
                     "pass an array of one axis with a bin at least");
  if (histogram.dtype() != DType::float32)
    throw DTypeError(op, "got a histogram of " + std::string(name(histogram.dtype())), "pass float32");
  check_range(call, min, max, {}, DType::float64);
  if (levels < 2 || levels > 65536)
    throw ValueError(op, "levels=" + std::to_string(levels), "pass a number from 2 to 65536");
  std::vector<Array> operands;
  params::HistogramSearch p{};
  p.histogram = static_cast<const float*>(dense(call, histogram, operands));
  p.min = dense(call, min, operands);
  p.max = dense(call, max, operands);
  p.state_dtype = min.dtype();
  p.bins = histogram.size();
  p.levels = levels;
  p.sums = static_cast<double*>(call.scratch(size_t(p.bins) * sizeof(double)));
  Range out{call.empty({}, DType::float32), call.empty({}, DType::float32)};
  call.writes(out.min);
  call.writes(out.max);
  p.out_min = static_cast<float*>(out.min.data_ptr());
  p.out_max = static_cast<float*>(out.max.data_ptr());
  kernels::quantization::histogram_search(call.queue(), p);
  return out;
}

}  // namespace stator::nn
