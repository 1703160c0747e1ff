#include "core/op_call.hpp"
#include "ops/collapse.hpp"
#include "ops/scalar.hpp"
#include "params/elementwise.hpp"
#include "params/scan.hpp"

#include <stator/creation.hpp>
#include <stator/scan.hpp>

#include <algorithm>
#include <string>

#include <array>

namespace stator {
namespace {

void require_end(const OpCall& call, const Array& x, const Array* end, int axis) {
  if (!end) return;
  bool fits = end->ndim() == x.ndim();
  for (int d = 0; fits && d < x.ndim(); ++d) fits = d == axis || end->shape()[d] == x.shape()[d];
  if (!fits)
    throw ShapeError(std::string(call.name()),
                     "got an end of shape " + str(end->shape()) + " for shape " + str(x.shape()),
                     "the shape must be that of x except along axis " + std::to_string(axis));
}

// Elements [first, first + count) along the axis.
Array slice_of(const Array& x, int axis, int64_t first, int64_t count) {
  Dims shape = x.shape();
  shape[axis] = count;
  return Array(x.buffer(), x.dtype(), shape, x.strides(), x.offset() + first * x.strides()[axis]);
}

// A first difference of one array is the subtraction of two views of it.
void subtract_neighbours(OpCall& call, const Array& x, int axis, const Array& result) {
  const Array later = slice_of(x, axis, 1, result.shape()[axis]), earlier = slice_of(x, axis, 0, result.shape()[axis]);
  params::Elementwise e = collapse(result, std::array{&later, &earlier});
  e.compute = compute_dtype(x.dtype());
  kernels::elementwise::run(call.queue(), Op::subtract, e);
}

void add_input(params::Difference& p, const Array* x, int axis) {
  if (!x) return;
  params::DifferenceInput& input = p.inputs[p.input_count];
  input.begin = p.input_count > 0 ? p.inputs[p.input_count - 1].end : 0;
  input.end = input.begin + x->shape()[axis];
  input.data = x->data_ptr();
  input.dtype = x->dtype();
  std::copy(x->strides().begin(), x->strides().end(), input.strides);
  ++p.input_count;
}

}  // namespace

Array diff(const Array& x, const DiffOptions& options, const Stream& stream) {
  const std::string op(op_info(Op::diff).call);
  constexpr int64_t most = params::Difference::most_order;
  const Array *const before = options.prepend, *const after = options.append;
  if (options.n < 0) throw ValueError(op, "n=" + std::to_string(options.n), "n must be at least 0");
  OpCall call(Op::diff, {&x, before, after}, stream);
  if (x.ndim() == 0) throw AxisError(op, "got a 0-d array", "reshape it to one axis");
  const int axis = normalize_axis(op, options.axis, x.ndim());
  require_end(call, x, before, axis);
  require_end(call, x, after, axis);
  if (options.n == 0) return copy(x, stream);
  std::vector<DType> dtypes{x.dtype()};
  Dims shape = x.shape();
  for (const Array* end : {before, after}) {
    if (!end) continue;
    dtypes.push_back(end->dtype());
    shape[axis] += end->shape()[axis];
  }
  const DType dtype = promote(dtypes);
  shape[axis] = std::max<int64_t>(shape[axis] - options.n, 0);
  if (checked_size(op, shape, itemsize(dtype)) > 0 && options.n > most) {
    Array result = diff(x, {options.axis, most, before, after}, stream);
    for (int64_t left = options.n - most; left > 0; left -= most)
      result = diff(result, {options.axis, std::min(left, most), nullptr, nullptr}, stream);
    return result;
  }
  const bool plain = options.n == 1 && !before && !after && dtype != DType::bool_;
  Array result = plain ? empty_like(call, shape, dtype, std::array{&x}) : call.empty(shape, dtype);
  if (result.size() == 0) return result;
  for (const Array* operand : {before, &x, after})
    if (operand && operand->size() > 0) call.reads(*operand);
  call.writes(result);
  if (plain) {
    subtract_neighbours(call, x, axis, result);
    return result;
  }
  params::Difference p{};
  for (const Array* operand : {before, &x, after}) add_input(p, operand, axis);
  p.order = int32_t(options.n);
  p.ndim = shape.size();
  p.axis = axis;
  p.compute = compute_dtype(dtype);
  p.out_dtype = dtype;
  p.differs = dtype == DType::bool_;
  p.out = result.data_ptr();
  p.size = result.size();
  std::copy(shape.begin(), shape.end(), p.shape);
  kernels::scan::difference(call.queue(), p);
  return result;
}

}  // namespace stator
