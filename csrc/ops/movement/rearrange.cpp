// roll, pad, tile and repeat.
#include "core/op_call.hpp"
#include "ops/axes.hpp"
#include "ops/creation/copy.hpp"
#include "ops/movement/views.hpp"
#include "ops/scalar.hpp"
#include "params/movement.hpp"

#include <stator/creation.hpp>
#include <stator/indexing.hpp>
#include <stator/movement.hpp>

#include <cstring>
#include <string>

namespace stator {
namespace {

using params::AxisMap;
using params::AxisRule;

bool is_identity(const AxisMap& a) { return a.shift == 0 && a.extent == a.n; }

// Merges axes that do not change into the axis before them, so that the kernel copies longer spans.
int collapse(const std::vector<AxisMap>& given, AxisMap* axes) {
  std::vector<AxisMap> joined;  // innermost first
  for (size_t i = given.size(); i-- > 0;) {
    AxisMap a = given[i];
    if (is_identity(a)) a.rule = AxisRule::inside;
    if (is_identity(a) && a.n == 1) continue;
    if (!joined.empty()) {
      AxisMap& inner = joined.back();
      const bool scales = a.rule == AxisRule::inside || a.rule == AxisRule::wrap;
      if (scales && is_identity(inner) && a.stride == inner.n * inner.stride) {
        inner = {a.rule, a.extent * inner.n, a.n * inner.n, inner.stride, a.shift * inner.n};
        continue;
      }
    }
    joined.push_back(a);
  }
  if (joined.empty()) joined.push_back({AxisRule::inside, 1, 1, 1, 0});
  const int count = int(joined.size());
  for (int d = 0; d < count; ++d) axes[d] = joined[size_t(count - 1 - d)];
  return count;
}

Array rearrange(OpCall& call, const Array& x, const std::vector<AxisMap>& axes, const unsigned char* fill) {
  Dims shape;
  for (const AxisMap& a : axes) shape.push_back(a.extent);
  checked_size(call.name(), shape, itemsize(x.dtype()));
  const std::vector<int> order = memory_order(x);
  Array result = empty_in_order(call, shape, x.dtype(), order);
  if (result.size() == 0) return result;
  std::vector<AxisMap> ordered;
  for (const int axis : order) ordered.push_back(axes[size_t(axis)]);
  params::Rearrange p{};
  p.out = result.data_ptr();
  p.in = x.size() > 0 ? x.data_ptr() : nullptr;
  p.itemsize = itemsize(x.dtype());
  p.size = result.size();
  p.ndim = collapse(ordered, p.axes);
  if (fill) std::memcpy(p.fill, fill, sizeof p.fill);
  call.reads(x);
  call.writes(result);
  kernels::movement::rearrange(call.queue(), p);
  return result;
}

// A dense copy of a view, in another shape of as many elements.
Array dense_in_shape(Op op, const Array& view, const Dims& shape, const Stream& stream) {
  const Array dense = copy_as(op, view, stream);
  return Array(dense.buffer(), dense.dtype(), shape, contiguous_strides(shape), 0);
}

// Repeats along the last axis: concatenates x, as a column, with itself.
Array repeat_as_concat(const Array& x, int64_t count, const Stream& stream) {
  OpCall call(Op::repeat, {&x}, stream);
  Dims shape = x.shape();
  shape[shape.size() - 1] *= count;
  Array result = call.empty(shape, x.dtype());
  params::ConcatPiece pieces[16];
  for (int64_t i = 0; i < count; ++i) pieces[i] = {x.data_ptr(), i, 1, 1, 1};
  const params::Concat p{.out = result.data_ptr(),
                         .pieces = pieces,
                         .count = int32_t(count),
                         .itemsize = itemsize(x.dtype()),
                         .outer = x.size(),
                         .inner = 1,
                         .cols = count};
  call.reads(x);
  call.writes(result);
  kernels::movement::concat(call.queue(), p);
  return result;
}

AxisRule rule_of(const std::string& op, std::string_view mode) {
  if (mode == "constant") return AxisRule::inside;
  if (mode == "edge") return AxisRule::edge;
  if (mode == "reflect") return AxisRule::reflect;
  if (mode == "symmetric") return AxisRule::symmetric;
  if (mode == "wrap") return AxisRule::wrap;
  throw ValueError(op, "mode=\"" + std::string(mode) + "\"",
                   "use \"constant\", \"edge\", \"reflect\", \"symmetric\" or \"wrap\"");
}

}  // namespace

Array roll(const Array& x, std::span<const int64_t> shifts, const std::optional<std::vector<int64_t>>& axes,
           const Stream& stream) {
  const std::string op = require_open(x, Op::roll);
  if (!axes) {
    const Array flat = x.ndim() == 1 ? x : ravel(x, stream);
    const Array rolled = roll(flat, shifts, std::vector<int64_t>(shifts.size() == 1 ? 1 : shifts.size(), 0), stream);
    return x.ndim() == 1 ? rolled : Array(rolled.buffer(), x.dtype(), x.shape(), contiguous_strides(x.shape()), 0);
  }
  const size_t count = std::max(shifts.size(), axes->size());
  if ((shifts.size() != count && shifts.size() != 1) || (axes->size() != count && axes->size() != 1))
    throw ShapeError(op,
                     "got " + std::to_string(shifts.size()) + " shifts for " + std::to_string(axes->size()) + " axes",
                     "give one shift an axis");
  OpCall call(Op::roll, {&x}, stream);
  std::vector<AxisMap> maps;
  for (int d = 0; d < x.ndim(); ++d) maps.push_back({AxisRule::wrap, x.shape()[d], x.shape()[d], x.strides()[d], 0});
  for (size_t i = 0; i < count; ++i) {
    AxisMap& a = maps[size_t(normalize_axis(op, (*axes)[axes->size() == 1 ? 0 : i], x.ndim()))];
    if (a.n == 0) continue;
    const int64_t shift = shifts[shifts.size() == 1 ? 0 : i] % a.n;
    a.shift = (a.shift + shift + a.n) % a.n;
  }
  return rearrange(call, x, maps, nullptr);
}

Array pad(const Array& x, const std::vector<std::pair<int64_t, int64_t>>& widths, std::string_view mode, Scalar value,
          const Stream& stream) {
  OpCall call(Op::pad, {&x}, stream);
  const std::string op(call.name());
  AxisRule rule = rule_of(op, mode);
  if (int(widths.size()) != x.ndim())
    throw ShapeError(op, "got " + std::to_string(widths.size()) + " widths for shape " + str(x.shape()),
                     "give one pair an axis");
  unsigned char fill[16];
  encode(op, value, x.dtype(), fill);
  std::vector<AxisMap> maps;
  for (int d = 0; d < x.ndim(); ++d) {
    const auto [before, after] = widths[size_t(d)];
    const int64_t n = x.shape()[d];
    if (before < 0 || after < 0)
      throw ValueError(op, "got widths (" + std::to_string(before) + ", " + std::to_string(after) + ")",
                       "widths must be at least 0");
    if (n == 0 && before + after > 0 && rule != AxisRule::inside)
      throw ShapeError(op, "axis " + std::to_string(d) + " of shape " + str(x.shape()) + " is empty",
                       "an empty axis must be padded with a constant");
    int64_t extent;
    if (__builtin_add_overflow(n, before, &extent) || __builtin_add_overflow(extent, after, &extent))
      throw ShapeError(op, "got more than 2^63 elements along axis " + std::to_string(d), "pad less");
    // The mirror image of a single element is itself.
    maps.push_back({rule == AxisRule::reflect && n == 1 ? AxisRule::edge : rule, extent, n, x.strides()[d], before});
  }
  return rearrange(call, x, maps, fill);
}

Array tile(const Array& x, std::span<const int64_t> repetitions, const Stream& stream) {
  const std::string op = require_open(x, Op::tile);
  const int count = int(repetitions.size()), ndim = std::max(count, x.ndim());
  require_ndim(op, ndim);
  Dims shape, wide_shape, wide_strides;
  for (int d = 0; d < ndim; ++d) {
    const int own = d - (ndim - x.ndim()), at = d - (ndim - count);
    const int64_t n = own < 0 ? 1 : x.shape()[own], times = at < 0 ? 1 : repetitions[size_t(at)];
    if (times < 0)
      throw ValueError(op, "got " + std::to_string(times) + " repetitions", "repetitions must be at least 0");
    int64_t extent;
    if (__builtin_mul_overflow(n, times, &extent))
      throw ShapeError(op, "got more than 2^63 elements along axis " + std::to_string(d), "repeat less");
    shape.push_back(extent);
    const auto add = [&](int64_t length, int64_t stride) {
      if (length == 1) return;
      if (wide_shape.size() == Dims::max_size)
        throw UnsupportedError(op, "got more than 32 axes and repetitions together", "repeat fewer axes at a time");
      wide_shape.push_back(length);
      wide_strides.push_back(stride);
    };
    add(times, 0);
    if (own >= 0) add(n, x.strides()[own]);
  }
  checked_size(op, shape, itemsize(x.dtype()));
  return dense_in_shape(Op::tile, Array(x.buffer(), x.dtype(), wide_shape, wide_strides, x.offset()), shape, stream);
}

Array repeat(const Array& x, int64_t count, std::optional<int64_t> axis, const Stream& stream) {
  const std::string op = require_open(x, Op::repeat);
  if (count < 0) throw ValueError(op, "got " + std::to_string(count) + " repeats", "repeats must be at least 0");
  if (!axis) return repeat(ravel(x, stream), count, 0, stream);
  const int at = normalize_axis(op, *axis, x.ndim());
  // A few repeats along dense rows are a concatenation.
  if (count > 1 && count <= 16 && at == x.ndim() - 1 && x.is_contiguous() && x.size() > 0)
    return repeat_as_concat(x, count, stream);
  Dims shape = x.shape(), wide_shape, wide_strides;
  if (__builtin_mul_overflow(shape[at], count, &shape[at]))
    throw ShapeError(op, "got more than 2^63 elements along axis " + std::to_string(at), "repeat less");
  checked_size(op, shape, itemsize(x.dtype()));
  for (int d = 0; d < x.ndim(); ++d) {
    wide_shape.push_back(x.shape()[d]);
    wide_strides.push_back(x.strides()[d]);
    if (d != at) continue;
    if (x.ndim() == Dims::max_size) throw UnsupportedError(op, "got an array of 32 axes", "reshape it first");
    wide_shape.push_back(count);
    wide_strides.push_back(0);
  }
  return dense_in_shape(Op::repeat, Array(x.buffer(), x.dtype(), wide_shape, wide_strides, x.offset()), shape, stream);
}

Array repeat(const Array& x, const Array& counts, std::optional<int64_t> axis, const Stream& stream) {
  const std::string op = require_open(x, Op::repeat);
  require_open(counts, Op::repeat);
  if (!axis) return repeat(ravel(x, stream), counts, 0, stream);
  const int at = normalize_axis(op, *axis, x.ndim());
  if (!in(counts.dtype(), dtypes::integers))
    throw DTypeError(op, "repeats have dtype " + std::string(name(counts.dtype())), "pass integers");
  const int64_t n = x.shape()[at];
  if (counts.ndim() > 1 || (counts.size() != n && counts.size() != 1))
    throw ShapeError(op, "got repeats of shape " + str(counts.shape()) + " for " + std::to_string(n) + " elements",
                     "give one for each element, or one for all");
  const Array wide = counts.dtype() == DType::int64 ? counts : astype(counts, DType::int64, true, stream);
  std::vector<int64_t> ends(size_t(counts.size()));
  wide.to_host(ends.data(), stream, Op::repeat);
  if (counts.size() == 1) ends.assign(size_t(n), ends[0]);
  int64_t total = 0;
  for (int64_t& end : ends) {
    if (end < 0) throw ValueError(op, "got " + std::to_string(end) + " repeats", "repeats must be at least 0");
    if (__builtin_add_overflow(total, end, &total))
      throw ShapeError(op, "got more than 2^63 elements along the axis", "repeat less");
    end = total;
  }
  OpCall call(Op::repeat, {&x, &counts}, stream);
  checked_size(op, Dims{total}, 8);
  const Array positions = call.empty(Dims{total}, DType::int64);
  if (total > 0) {
    const Array on_device = from_host(x.backend(), ends.data(), DType::int64, Dims{n}, Dims{1}, false, call.on());
    const params::RepeatedCounts p{static_cast<const int64_t*>(on_device.data_ptr()),
                                   static_cast<int64_t*>(positions.data_ptr()), n, total};
    call.reads(on_device);
    call.writes(positions);
    kernels::movement::repeat_indices(call.queue(), p);
  }
  return take(x, positions, at, nullptr, call.on());
}

}  // namespace stator
