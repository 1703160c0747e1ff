#include <stator/creation.hpp>
#include <stator/indexing.hpp>
#include <stator/movement.hpp>

#include "core/op_call.hpp"
#include "memory/overlap.hpp"
#include "ops/axes.hpp"
#include "params/indexing.hpp"

namespace stator {
namespace {

Dims take_shape(const Dims& x, const Dims& indices, int axis) {
  Dims shape;
  for (int d = 0; d < axis; ++d) shape.push_back(x[d]);
  for (int64_t extent : indices) shape.push_back(extent);
  for (int d = axis + 1; d < x.size(); ++d) shape.push_back(x[d]);
  return shape;
}

}  // namespace

Array take(const Array& x, const Array& indices, std::optional<int64_t> axis, const Array* out, const Stream& stream) {
  const std::string op(op_info(Op::take).call);
  if (!axis) {
    const int64_t flat[] = {-1};
    return take(reshape(x, flat, {}, stream), indices, 0, out, stream);
  }
  OpCall call(Op::take, {&x, &indices, out}, stream);
  if (!in(indices.dtype(), dtypes::integers))
    throw DTypeError(op, "indices have dtype " + std::string(name(indices.dtype())), "pass an integer dtype");
  if (x.ndim() == 0) throw AxisError(op, "the array is 0-dimensional", "take from an array of at least one axis");
  const int at = normalize_axis(op, *axis, x.ndim());
  require_ndim(op, x.ndim() - 1 + indices.ndim());
  const Dims shape = take_shape(x.shape(), indices.shape(), at);
  checked_size(op, shape, itemsize(x.dtype()));
  Array result = call.output(shape, x.dtype(), out);
  if (result.size() == 0) return result;
  params::Take p{};
  // Outer or inner axes, or axes of the indices, that have no single stride are rare: the array is copied.
  const Array source = group_axes(x, at, p) ? x : copy(x, stream);
  if (source.buffer().get() != x.buffer().get()) group_axes(source, at, p);
  const bool even = indices.ndim() <= 1 || indices.is_contiguous();
  const Array positions = even ? indices : copy(indices, stream);
  // The kernel writes dense rows of x's dtype. Any other `out`, or one that overlaps an input, is assigned from them.
  const bool direct = result.is_contiguous() && result.dtype() == x.dtype() &&
                      (!out || (!may_overlap(result, source) && !may_overlap(result, positions)));
  Array dense = direct ? result : call.empty(shape, x.dtype());
  p.count = indices.size();
  p.index_stride = positions.ndim() == 1 ? positions.strides()[0] : 1;
  p.index_dtype = positions.dtype();
  p.itemsize = itemsize(x.dtype());
  p.x = source.data_ptr();
  p.indices = positions.data_ptr();
  p.out = dense.data_ptr();
  call.reads(source);
  call.reads(positions);
  call.writes(dense);
  kernels::indexing::take(call.queue(), p);
  if (!direct) assign(result, dense, stream);
  call.finish_indices();
  return result;
}

}  // namespace stator
