#include <stator/creation.hpp>
#include <stator/indexing.hpp>
#include <stator/movement.hpp>

#include "core/op_call.hpp"
#include "ops/checks.hpp"
#include "ops/collapse.hpp"
#include "ops/indexing/plan.hpp"
#include "ops/scalar.hpp"
#include "params/elementwise.hpp"
#include "params/indexing.hpp"

#include <array>
#include <cstring>

namespace stator {
namespace {

void require_mask(const std::string& op, const Array& mask) {
  if (mask.dtype() != DType::bool_)
    throw DTypeError(op, "got a mask of dtype " + std::string(name(mask.dtype())),
                     "a mask must be bool. Compare first: x != 0");
}

void require_dtype(const OpCall& call, DType dtype) {
  if (!in(dtype, op_info(call.op()).dtypes))
    throw DTypeError(std::string(call.name()), "got an array of dtype " + std::string(name(dtype)),
                     "the dtype must be " + dtype_names(op_info(call.op()).dtypes) + ". Convert the array with astype");
}

// where(mask, value, x) in x's dtype, in one launch.
Array filled(OpCall& call, const Array& x, const Array& mask, const Operand& value, const Stream& stream) {
  const std::string op(call.name());
  require_mask(op, mask);
  require_dtype(call, x.dtype());
  Array number;
  if (value.array) {
    if (value.array->ndim() != 0)
      throw ShapeError(op, "got a value of shape " + str(value.array->shape()),
                       "pass a number or a 0-d array, or use where");
    number = cast_within_kind(op, *value.array, x.dtype(), stream);
  } else {
    const DType own = default_dtype(value.scalar);
    const bool integer = is_integer(value.scalar) && in(x.dtype(), dtypes::integers);
    if (!integer && !can_cast_same_kind(own, x.dtype()))
      throw DTypeError(
          op, "got a number of dtype " + std::string(name(own)) + " for an array of " + std::string(name(x.dtype())),
          "use a number of the array's kind");
  }
  const Dims shape = broadcast_shapes(op, x.shape(), mask.shape());
  checked_size(op, shape, itemsize(x.dtype()));
  unsigned char bytes[16] = {};
  if (!value.array) {
    encode(op, value.scalar, x.dtype(), bytes);
    widen(x.dtype(), bytes);
  }
  Array result = call.empty(shape, x.dtype());
  if (result.size() == 0) return result;
  const std::array<const Array*, 3> inputs{&mask, value.array ? &number : nullptr, &x};
  params::Elementwise e = collapse(result, inputs);
  e.compute = compute_dtype(x.dtype());
  if (!value.array) {
    e.in[1].dtype = e.compute;
    std::memcpy(e.in[1].value, bytes, sizeof bytes);
  }
  for (const Array* input : inputs)
    if (input) call.reads(*input);
  call.writes(result);
  kernels::elementwise::run(call.queue(), Op::where, e);
  return result;
}

int64_t checked_capacity(const std::string& op, int64_t size, DType dtype) {
  if (size < 0) throw ShapeError(op, "size=" + std::to_string(size), "the size must be at least 0");
  checked_size(op, Dims{size}, itemsize(dtype));
  return size;
}

Array selected(OpCall& call, const Array& x, const Array& mask, const Capacity& capacity, const Stream& stream) {
  const std::string op(call.name());
  require_mask(op, mask);
  const Dims shape = broadcast_shapes(op, x.shape(), mask.shape());
  const int64_t size = checked_size(op, shape, itemsize(x.dtype()));
  unsigned char fill[16] = {};
  if (capacity.size) {
    checked_capacity(op, *capacity.size, x.dtype());
    encode_fill(op, capacity.fill, x.dtype(), fill);
  }
  if (size == 0 && !capacity.size) return call.empty(Dims{0}, x.dtype());
  const Dims mask_strides = broadcast_strides(op, mask, shape), x_strides = broadcast_strides(op, x, shape);
  Ranks ranks = count_true(call, mask, mask_strides, shape, &x_strides, nullptr);
  ranks.p.capacity = capacity.size ? *capacity.size : read_count(call, ranks, stream);
  Array result = call.empty(Dims{ranks.p.capacity}, x.dtype());
  if (result.size() == 0) return result;
  ranks.p.x = x.data_ptr();
  ranks.p.out = result.data_ptr();
  ranks.p.itemsize = itemsize(x.dtype());
  std::memcpy(ranks.p.fill, fill, sizeof fill);
  call.reads(x);
  call.writes(result);
  kernels::indexing::select(call.queue(), ranks.p);
  return result;
}

// A new array with the elements of `source` at the true positions of a mask and x (null: zeros) elsewhere. x and the
// mask broadcast together.
Array spread(OpCall& call, const Array* x, const Array& mask, const Array& source, const Stream& stream) {
  const std::string op(call.name());
  require_mask(op, mask);
  const Dims shape = x ? broadcast_shapes(op, x->shape(), mask.shape()) : mask.shape();
  const DType dtype = x ? x->dtype() : source.dtype();
  const Dims mask_strides = broadcast_strides(op, mask, shape);
  checked_size(op, shape, itemsize(dtype));
  const int64_t flat[] = {-1};
  Array values = cast_within_kind(op, source, dtype, stream);
  if (values.ndim() != 1 && values.size() > 0) values = reshape(values, flat, {}, stream);
  Array result = call.empty(shape, dtype);
  if (result.size() == 0) return result;
  const Dims x_strides = x ? broadcast_strides(op, *x, shape) : Dims(shape.size()), out_strides = result.strides();
  Ranks ranks = count_true(call, mask, mask_strides, shape, &x_strides, &out_strides);
  ranks.p.x = x ? x->data_ptr() : nullptr;
  ranks.p.source = values.data_ptr();
  ranks.p.source_size = values.size();
  ranks.p.source_stride = values.ndim() == 1 ? values.strides()[0] : 1;
  ranks.p.out = result.data_ptr();
  ranks.p.itemsize = itemsize(dtype);
  if (x) call.reads(*x);
  call.reads(values);
  call.writes(result);
  kernels::indexing::spread(call.queue(), ranks.p);
  call.finish_indices();
  return result;
}

}  // namespace

Array masked_fill(const Array& x, const Array& mask, const Operand& value, const Stream& stream) {
  OpCall call(Op::masked_fill, {&x, &mask, value.array}, stream);
  return filled(call, x, mask, value, stream);
}

Array masked_select(const Array& x, const Array& mask, const Capacity& capacity, const Stream& stream) {
  OpCall call(Op::masked_select, {&x, &mask}, stream);
  return selected(call, x, mask, capacity, stream);
}

Array masked_scatter(const Array& x, const Array& mask, const Array& source, const Stream& stream) {
  OpCall call(Op::masked_scatter, {&x, &mask, &source}, stream);
  return spread(call, &x, mask, source, stream);
}

std::vector<Array> nonzero(const Array& x, const Capacity& capacity, const Stream& stream) {
  OpCall call(Op::nonzero, {&x}, stream);
  const std::string op(call.name());
  if (x.ndim() == 0) throw ShapeError(op, "a 0-d array has no coordinates", "reshape it to (1,)");
  unsigned char fill[16] = {};
  if (capacity.size) {
    checked_capacity(op, *capacity.size, DType::int64);
    encode_fill(op, capacity.fill, DType::int64, fill);
  }
  const Array mask = astype(x, DType::bool_, false, stream);
  const auto columns = [&](const Array& all) {
    std::vector<Array> out;
    for (int d = 0; d < x.ndim(); ++d)
      out.emplace_back(all.buffer(), DType::int64, Dims{all.shape()[1]}, Dims{1}, d * all.shape()[1]);
    return out;
  };
  if (x.size() == 0 && !capacity.size) return columns(call.empty(Dims{x.ndim(), 0}, DType::int64));
  Ranks ranks = count_true(call, mask, mask.strides(), x.shape(), nullptr, nullptr, true);
  ranks.p.capacity = capacity.size ? *capacity.size : read_count(call, ranks, stream);
  const Array all = call.empty(Dims{x.ndim(), ranks.p.capacity}, DType::int64);
  if (all.size() == 0) return columns(all);
  ranks.p.out = all.data_ptr();
  std::memcpy(ranks.p.fill, fill, sizeof fill);
  call.writes(all);
  kernels::indexing::nonzero(call.queue(), ranks.p, true);
  return columns(all);
}

Array compress(const Array& condition, const Array& x, std::optional<int64_t> axis, const Stream& stream) {
  OpCall call(Op::compress, {&condition, &x}, stream);
  const std::string op(call.name());
  require_mask(op, condition);
  if (condition.ndim() != 1)
    throw ShapeError(op, "got a condition of shape " + str(condition.shape()), "give a condition of one axis");
  if (axis && x.ndim() == 0) throw AxisError(op, "the array is 0-dimensional", "leave axis out");
  const int64_t extent = axis ? x.shape()[normalize_axis(op, *axis, x.ndim())] : x.size();
  if (condition.size() > extent)
    throw ShapeError(
        op, "got a condition of " + std::to_string(condition.size()) + " for " + std::to_string(extent) + " slices",
        "pass at most one element for each slice");
  return take(x, nonzero(condition, {}, stream)[0], axis, nullptr, stream);
}

namespace nn {

Array masked_fill_backward(const Array& grad, const Array& mask, const Stream& stream) {
  OpCall call(Op::masked_fill_backward, {&grad, &mask}, stream);
  return filled(call, grad, mask, Operand(Scalar(false)), stream);
}

Array masked_select_backward(const Array& grad, const Array& mask, const Stream& stream) {
  OpCall call(Op::masked_select_backward, {&grad, &mask}, stream);
  require_dtype(call, grad.dtype());
  if (grad.ndim() != 1)
    throw ShapeError(std::string(call.name()), "got grad of shape " + str(grad.shape()),
                     "pass the gradient of masked_select's result, which has one axis");
  return spread(call, nullptr, mask, grad, stream);
}

MaskedScatterGradients masked_scatter_backward(const Array& grad, const Array& mask, const Dims& source_shape,
                                               const Stream& stream) {
  OpCall call(Op::masked_scatter_backward, {&grad, &mask}, stream);
  const std::string op(call.name());
  require_dtype(call, grad.dtype());
  require_mask(op, mask);
  broadcast_strides(op, mask, grad.shape());
  const int64_t size = checked_size(op, source_shape, itemsize(grad.dtype()));
  MaskedScatterGradients out;
  out.x = filled(call, grad, mask, Operand(Scalar(false)), stream);
  OpCall second(Op::masked_scatter_backward, {&grad, &mask}, stream);
  const Array flat = selected(second, grad, mask, {size, Scalar(0)}, stream);
  out.source = reshape(flat, {source_shape.data(), size_t(source_shape.size())}, {}, stream);
  return out;
}

}  // namespace nn
}  // namespace stator
