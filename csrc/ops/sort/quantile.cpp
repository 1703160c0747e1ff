// Quantiles, medians and modes: what is needed of sorted segments goes into a copy, from which the results are read.
#include "core/op_call.hpp"
#include "ops/axes.hpp"
#include "ops/sort/keys.hpp"
#include "params/sort.hpp"

#include <stator/creation.hpp>
#include <stator/movement.hpp>
#include <stator/sort.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace stator {
namespace {

struct Position {
  int64_t index;
  double fraction;  // of the way to index + 1
};

// The position of quantile q among n sorted elements.
Position position_of(double q, int64_t n, QuantileMethod method) {
  const auto interpolated = [&](double alpha, double beta) {
    return double(n) * q + (alpha + q * (1 - alpha - beta)) - 1;
  };
  double at = q * double(n - 1);
  switch (method) {
    case QuantileMethod::lower: at = std::floor(at); break;
    case QuantileMethod::higher: at = std::ceil(at); break;
    case QuantileMethod::midpoint: at = (std::floor(at) + std::ceil(at)) / 2; break;
    case QuantileMethod::nearest: at = std::nearbyint(at); break;
    case QuantileMethod::hazen: at = interpolated(0.5, 0.5); break;
    case QuantileMethod::weibull: at = interpolated(0, 0); break;
    case QuantileMethod::median_unbiased: at = interpolated(1.0 / 3, 1.0 / 3); break;
    case QuantileMethod::normal_unbiased: at = interpolated(3.0 / 8, 3.0 / 8); break;
    case QuantileMethod::linear: break;
  }
  at = std::clamp(at, 0.0, double(n - 1));
  const double whole = std::floor(at);
  return {int64_t(whole), at - whole};
}

// The positions of n sorted elements that are read, ascending: both neighbours of each quantile, and the last one,
// which is NaN if there is any. Empty if there are more than a sort can select.
std::vector<int64_t> ranks_of(const std::vector<Position>& positions, int64_t n) {
  std::vector<int64_t> ranks{n - 1};
  for (const Position& at : positions) {
    ranks.push_back(at.index);
    if (at.index + 1 < n) ranks.push_back(at.index + 1);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  if (ranks.size() > size_t(params::Sort::most_ranks)) ranks.clear();
  return ranks;
}

// x with the named axes joined to one at the end, a view where possible. Appends the results' axes to `rest`.
Array axes_as_last(const OpCall& call, const Array& x, const QuantileOptions& options, Dims& rest,
                   const Stream& stream) {
  std::vector<bool> named(size_t(x.ndim()), !options.axes);
  if (options.axes) named = named_axes(call.name(), *options.axes, x.ndim());
  std::vector<int64_t> order, kept;
  int64_t n = 1;
  for (int d = 0; d < x.ndim(); ++d) {
    if (named[size_t(d)]) {
      n *= x.shape()[d];
      if (options.keepdims) rest.push_back(1);
    } else {
      order.push_back(d);
      kept.push_back(x.shape()[d]);
      rest.push_back(x.shape()[d]);
    }
  }
  for (int d = 0; d < x.ndim(); ++d)
    if (named[size_t(d)]) order.push_back(d);
  kept.push_back(n);
  return reshape(permute_dims(x, order), kept, {}, stream);
}

Array quantiles(Op op, const Array& x, std::span<const double> q, bool scalar, const QuantileOptions& options,
                const Stream& stream) {
  OpCall call(op, {&x}, stream);
  const std::string name(call.name());
  check_order_dtype(call, x);
  for (double level : q)
    if (!(level >= 0 && level <= 1)) throw ValueError(name, "q=" + std::to_string(level), "levels must be from 0 to 1");
  Dims shape;
  if (!scalar) shape.push_back(int64_t(q.size()));
  const Array segments = axes_as_last(call, x, options, shape, stream);
  const int last = segments.ndim() - 1;
  const int64_t n = segments.shape()[last];
  if (shape.size() > Dims::max_size)
    throw ShapeError(name, "got " + std::to_string(shape.size()) + " axes",
                     "at most 32 are possible. Pass fewer levels or axes");
  const Array result = call.empty(shape, to_inexact(x.dtype()));
  if (result.size() == 0) return result;
  if (n == 0)
    throw ValueError(name, "got no element to choose from in shape " + str(x.shape()),
                     "reduced axes must have at least one element");
  std::vector<Position> positions;
  for (double level : q) positions.push_back(position_of(level, n, options.method));
  const std::vector<int64_t> ranks = ranks_of(positions, n);
  const Array sorted = call.empty(with_extent(segments, last, ranks.empty() ? n : int64_t(ranks.size())), x.dtype());
  launch_sort(call, segments, last, false, {0, sorted.shape()[last], ranks}, &sorted, nullptr);
  call.writes(result);
  params::Quantile p{};
  p.sorted = sorted.data_ptr();
  p.dtype = x.dtype();
  p.out_dtype = result.dtype();
  p.n = sorted.shape()[last];
  p.segments = sorted.size() / p.n;
  auto* out = static_cast<char*>(result.data_ptr());
  for (size_t first = 0; first < q.size(); first += params::Quantile::most) {
    p.count = int32_t(std::min<size_t>(params::Quantile::most, q.size() - first));
    for (int k = 0; k < p.count; ++k) {
      const Position& at = positions[first + size_t(k)];
      p.index[k] = ranks.empty() ? at.index : std::lower_bound(ranks.begin(), ranks.end(), at.index) - ranks.begin();
      p.fraction[k] = at.fraction;
    }
    p.out = out + int64_t(first) * p.segments * itemsize(result.dtype());
    kernels::sort::quantile(call.queue(), p);
  }
  return result;
}

}  // namespace

Array quantile(const Array& x, std::span<const double> q, bool scalar, const QuantileOptions& options,
               const Stream& stream) {
  return quantiles(Op::quantile, x, q, scalar, options, stream);
}

Array median(const Array& x, const QuantileOptions& options, const Stream& stream) {
  const double half[] = {0.5};
  QuantileOptions linear = options;
  linear.method = QuantileMethod::linear;
  return quantiles(Op::median, x, half, true, linear, stream);
}

Modes mode(const Array& x, int64_t axis, bool keepdims, const Stream& stream) {
  OpCall call(Op::mode, {&x}, stream);
  check_order_dtype(call, x);
  const int at = order_axis(call, x, axis);
  const int64_t n = x.shape()[at];
  Dims shape;
  for (int d = 0; d < x.ndim(); ++d)
    if (d != at)
      shape.push_back(x.shape()[d]);
    else if (keepdims)
      shape.push_back(1);
  const Modes result{call.empty(shape, x.dtype()), call.empty(shape, DType::int64)};
  if (result.values.size() == 0) return result;
  if (n == 0)
    throw ValueError(std::string(call.name()), "got an empty axis in shape " + str(x.shape()),
                     "the axis must have at least one element");
  const std::vector<int64_t> from{at}, to{-1};
  const Array segments = moveaxis(x, from, to);
  const Array sorted = call.empty(segments.shape(), x.dtype());
  launch_sort(call, segments, segments.ndim() - 1, false, {0, n}, &sorted, nullptr);
  call.writes(result.values);
  call.writes(result.counts);
  kernels::sort::mode(call.queue(), {.sorted = sorted.data_ptr(),
                                     .values = result.values.data_ptr(),
                                     .counts = static_cast<int64_t*>(result.counts.data_ptr()),
                                     .key = key_codec(x.dtype()),
                                     .segments = sorted.size() / n,
                                     .n = n});
  return result;
}

}  // namespace stator
