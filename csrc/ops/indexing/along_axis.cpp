// Indices along one axis: take_along_axis, put_along_axis, scatter, index_add and segments.
#include "core/op_call.hpp"
#include "memory/overlap.hpp"
#include "ops/checks.hpp"
#include "ops/indexing/plan.hpp"
#include "ops/scalar.hpp"
#include "params/indexing.hpp"

#include <stator/creation.hpp>
#include <stator/elementwise.hpp>
#include <stator/indexing.hpp>
#include <stator/movement.hpp>

#include <cstring>
#include <limits>

namespace stator {
namespace {

// Indices along an axis of x: the iteration space, and the strides of x and of the indices along it.
struct Along {
  Dims shape, x_strides;
  IndexUse use;
};

// As numpy.take_along_axis: all axes but the indexed one broadcast.
Along along_axis(const std::string& op, const Array& x, const Array& indices, int64_t axis) {
  require_indices(op, indices);
  if (x.ndim() == 0) throw AxisError(op, "the array is 0-dimensional", "use an array of at least one axis");
  const int at = normalize_axis(op, axis, x.ndim());
  if (indices.ndim() != x.ndim())
    throw ShapeError(op, "got indices of shape " + str(indices.shape()) + " for an array of shape " + str(x.shape()),
                     "indices must have as many axes as the array");
  Along a{Dims(x.ndim()), x.strides(), {indices, indices.strides(), x.shape()[at], x.strides()[at], false}};
  for (int d = 0; d < x.ndim(); ++d) {
    const int64_t n = x.shape()[d], m = indices.shape()[d];
    if (d != at && n != m && n != 1 && m != 1)
      throw ShapeError(op, "got indices of shape " + str(indices.shape()) + " for an array of shape " + str(x.shape()),
                       "axes other than the indexed one must be equal, or 1 long");
    a.shape[d] = d == at || n == 1 ? m : n;
    if (d == at || n == 1) a.x_strides[d] = 0;
    if (m == 1) a.use.strides[d] = 0;
  }
  return a;
}

// Slice k of the source goes to slice indices[k] of x.
Along along_slices(const std::string& op, const Array& x, const Array& indices, int64_t axis) {
  require_indices(op, indices);
  if (x.ndim() == 0) throw AxisError(op, "the array is 0-dimensional", "use an array of at least one axis");
  const int at = normalize_axis(op, axis, x.ndim());
  if (indices.ndim() != 1)
    throw ShapeError(op, "got indices of shape " + str(indices.shape()), "give indices of one axis");
  Along a{x.shape(), x.strides(), {indices, Dims(x.ndim()), x.shape()[at], x.strides()[at], false}};
  a.shape[at] = indices.size();
  a.x_strides[at] = 0;
  a.use.strides[at] = indices.size() == 1 ? 0 : indices.strides()[0];
  return a;
}

std::string_view reduce_name(Reduce reduce) {
  constexpr std::string_view names[] = {"set", "add", "mul", "min", "max"};
  return names[int(reduce)];
}

void require_reducible(const std::string& op, DType dtype, Reduce reduce) {
  const DTypeSet fine = reduce == Reduce::set        ? dtypes::all
                        : reduce == Reduce::add      ? dtypes::numeric
                        : reduce == Reduce::multiply ? dtypes::reals
                                                     : dtypes::reals | dtypes::boolean;
  if (in(dtype, fine)) return;
  throw DTypeError(op, "reduce=\"" + std::string(reduce_name(reduce)) + "\" of dtype " + std::string(name(dtype)),
                   "the dtype must be " + dtype_names(fine) + ". Convert the array with astype");
}

// The dtype of the array in which sums and extremes of a dtype are accumulated, and the one that the kernels take for
// it.
DType accumulator(DType dtype, bool ordered) {
  switch (dtype) {
    case DType::float16:
    case DType::bfloat16: return DType::float32;
    case DType::uint32: return ordered ? DType::int64 : DType::uint32;
    case DType::int32:
    case DType::int64:
    case DType::uint64:
    case DType::float32:
    case DType::float64:
    case DType::complex64:
    case DType::complex128: return dtype;
    default: return DType::int32;
  }
}
DType kernel_dtype(DType accumulator, bool ordered) {
  if (accumulator == DType::uint32) return DType::int32;
  return accumulator == DType::uint64 && !ordered ? DType::int64 : accumulator;
}

// A complex array as pairs of reals.
Array as_pairs(const Array& x) {
  Dims shape = x.shape(), strides;
  for (int64_t s : x.strides()) strides.push_back(2 * s);
  shape.push_back(2);
  strides.push_back(1);
  return Array(x.buffer(), real_part(x.dtype()), shape, strides, 2 * x.offset());
}
Dims with_pairs(const Dims& strides, int64_t scale, int64_t step) {
  Dims out;
  for (int64_t s : strides) out.push_back(s * scale);
  out.push_back(step);
  return out;
}

// into op= values through the indices, in one launch. The dtype of `into` is an accumulator's.
void launch_accumulate(OpCall& call, const Array& into, const Along& along, const Array* values, const Scalar* number,
                       Reduce reduce, bool in_order) {
  const std::string op(call.name());
  const bool ordered = reduce == Reduce::minimum || reduce == Reduce::maximum;
  Dims shape = along.shape, x_strides = along.x_strides;
  Dims value_strides = values ? broadcast_strides(op, *values, shape) : Dims(shape.size());
  IndexUse use = along.use;
  Array target = into, from = values ? *values : Array();
  if (in(into.dtype(), dtypes::complexes)) {
    target = as_pairs(into);
    from = as_pairs(*values);
    shape.push_back(2);
    x_strides = with_pairs(x_strides, 2, 1);
    value_strides = with_pairs(value_strides, 2, 1);
    use.strides = with_pairs(use.strides, 1, 0);
    use.step *= 2;
  }
  params::Indexed p = make_indexed(shape, target, x_strides, values ? &from : nullptr, value_strides, {&use, 1});
  p.x_dtype = kernel_dtype(target.dtype(), ordered);
  if (number) encode(op, *number, target.dtype(), p.value);
  declare(call, p, target, values ? &from : nullptr, {&use, 1}, true);
  constexpr params::Accumulation how[] = {params::Accumulation::add, params::Accumulation::add,
                                          params::Accumulation::multiply, params::Accumulation::minimum,
                                          params::Accumulation::maximum};
  kernels::indexing::accumulate(call.queue(), p, how[int(reduce)], in_order);
}

// Refuses a number of another kind than the array's, as assign does.
void check_number(const std::string& op, const Scalar& value, DType dtype) {
  unsigned char bytes[16];
  const bool integer = is_integer(value) && in(dtype, dtypes::integers);
  if (!integer && !can_cast_same_kind(default_dtype(value), dtype))
    throw DTypeError(op,
                     "got a number of dtype " + std::string(name(default_dtype(value))) + " for an array of " +
                         std::string(name(dtype)),
                     "use a number of the array's kind");
  encode(op, value, dtype, bytes);
}

// The values in x's dtype. A number stays a number unless x is complex. `keep` owns the array.
Operand checked_values(const std::string& op, const Array& x, const Operand& src, Array& keep, const Stream& stream) {
  const bool complex = in(x.dtype(), dtypes::complexes);
  if (!src.array) {
    check_number(op, src.scalar, x.dtype());
    if (!complex) return src;
    keep = full(x.backend(), Dims(), src.scalar, x.dtype(), stream);
    return keep;
  }
  keep = cast_within_kind(op, *src.array, x.dtype(), stream);
  return keep;
}

// A copy of x with the values accumulated into it.
template <class Plan>
Array accumulate(OpCall& call, const Array& x, const Plan& plan, const Operand& src, Reduce reduce,
                 const std::optional<bool>& asked, const Stream& stream) {
  const std::string op(call.name());
  require_reducible(op, x.dtype(), reduce);
  Along along = plan(x);
  Array keep;
  const Operand values = checked_values(op, x, src, keep, stream);
  if (values.array) broadcast_strides(op, *values.array, along.shape);
  const bool ordered = reduce == Reduce::minimum || reduce == Reduce::maximum;
  const Array sum = astype(x, accumulator(x.dtype(), ordered), true, stream);  // a row-major copy
  if (checked_size(op, along.shape, itemsize(x.dtype())) > 0) {
    along = plan(sum);
    const bool in_order = deterministic(call, asked) && !ordered;
    launch_accumulate(call, sum, along, values.array, values.array ? nullptr : &values.scalar, reduce, in_order);
  }
  Array result = sum.dtype() == x.dtype() ? sum : astype(sum, x.dtype(), true, stream);
  call.finish_indices();
  return result;
}

void put(OpCall& call, const Array& x, const Along& along, const Operand& src, const std::optional<bool>& asked,
         const Stream& stream) {
  const std::string op(call.name());
  require_writable(op, x);
  Array values;
  if (src.array) {
    values = cast_within_kind(op, *src.array, x.dtype(), stream);
    broadcast_strides(op, values, along.shape);
    if (may_overlap(values, x)) values = copy(values, stream);
  } else {
    check_number(op, src.scalar, x.dtype());
  }
  if (checked_size(op, along.shape, 1) == 0) return;
  IndexUse use = along.use;
  if (may_overlap(use.indices, x)) {
    use.indices = copy(use.indices, stream);
    for (int d = 0; d < along.shape.size(); ++d)
      if (use.strides[d] != 0) use.strides[d] = use.indices.ndim() == 1 ? 1 : use.indices.strides()[d];
  }
  const Dims strides = src.array ? broadcast_strides(op, values, along.shape) : Dims(along.shape.size());
  params::Indexed p = make_indexed(along.shape, x, along.x_strides, src.array ? &values : nullptr, strides, {&use, 1});
  if (!src.array) encode(op, src.scalar, x.dtype(), p.value);
  declare(call, p, x, src.array ? &values : nullptr, {&use, 1}, true);
  launch_put(call, p, deterministic(call, asked));
  call.finish_indices();
}

// The largest value of a dtype, the identity of a minimum; or the smallest one.
Scalar extreme(DType dtype, bool largest) {
  if (in(dtype, dtypes::floats)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return Scalar(largest ? infinity : -infinity);
  }
  const int bits = 8 * itemsize(dtype);
  if (in(dtype, dtypes::unsigned_integers)) return Scalar(largest ? ~uint64_t(0) >> (64 - bits) : uint64_t(0));
  const int64_t top = std::numeric_limits<int64_t>::max() >> (64 - bits);
  return Scalar(largest ? top : -top - 1);
}

Array segments(Op op, const Array& src, const Array& index, int64_t count, Reduce reduce,
               const std::optional<bool>& asked, const Stream& stream) {
  OpCall call(op, {&src, &index}, stream);
  const std::string name(call.name());
  if (!in(src.dtype(), op_info(op).dtypes))
    throw DTypeError(name, "got src of dtype " + std::string(stator::name(src.dtype())),
                     "src must be " + dtype_names(op_info(op).dtypes) + ". Convert it with astype");
  require_indices(name, index);
  if (src.ndim() == 0 || index.ndim() != 1 || index.size() != src.shape()[0])
    throw ShapeError(name, "got index of shape " + str(index.shape()) + " for src of shape " + str(src.shape()),
                     "index must have one axis, with one element for each row of src");
  Dims shape = src.shape();
  shape[0] = count;
  checked_size(name, shape, itemsize(src.dtype()));
  const bool ordered = reduce != Reduce::add;
  const DType wide = accumulator(src.dtype(), ordered);
  const Scalar identity = ordered ? extreme(src.dtype(), reduce == Reduce::minimum) : Scalar(0);
  const Array sum = full(src.backend(), shape, identity, wide, stream);
  if (src.size() > 0) {
    const Along along = along_slices(name, sum, index, 0);
    launch_accumulate(call, sum, along, &src, nullptr, reduce, deterministic(call, asked) && !ordered);
  }
  call.finish_indices();
  return sum;
}

Array narrowed(const Array& sum, DType dtype, const Stream& stream) {
  return sum.dtype() == dtype ? sum : astype(sum, dtype, true, stream);
}

}  // namespace

Array take_along_axis(const Array& x, const Array& indices, int64_t axis, const Stream& stream) {
  OpCall call(Op::take_along_axis, {&x, &indices}, stream);
  const std::string op(call.name());
  const Along along = along_axis(op, x, indices, axis);
  checked_size(op, along.shape, itemsize(x.dtype()));
  Array result = call.empty(along.shape, x.dtype());
  if (result.size() == 0) return result;
  const params::Indexed p = make_indexed(along.shape, x, along.x_strides, &result, result.strides(), {&along.use, 1});
  declare(call, p, x, &result, {&along.use, 1}, false);
  kernels::indexing::get(call.queue(), p);
  call.finish_indices();
  return result;
}

void put_along_axis(const Array& x, const Array& indices, const Operand& values, int64_t axis, const Stream& stream) {
  OpCall call(Op::put_along_axis, {&x, &indices, values.array}, stream);
  put(call, x, along_axis(std::string(call.name()), x, indices, axis), values, {}, stream);
}

Array scatter(const Array& x, int64_t axis, const Array& indices, const Operand& src, Reduce reduce,
              std::optional<bool> deterministic, const Stream& stream) {
  OpCall call(Op::scatter, {&x, &indices, src.array}, stream);
  const std::string op(call.name());
  const auto plan = [&](const Array& target) { return along_axis(op, target, indices, axis); };
  if (reduce != Reduce::set) return accumulate(call, x, plan, src, reduce, deterministic, stream);
  plan(x);
  Array result = copy(x, stream);
  put(call, result, plan(result), src, deterministic, stream);
  return result;
}

Array scatter_add(const Array& x, int64_t axis, const Array& indices, const Operand& src,
                  std::optional<bool> deterministic, const Stream& stream) {
  OpCall call(Op::scatter_add, {&x, &indices, src.array}, stream);
  const std::string op(call.name());
  const auto plan = [&](const Array& target) { return along_axis(op, target, indices, axis); };
  return accumulate(call, x, plan, src, Reduce::add, deterministic, stream);
}

Array index_add(const Array& x, int64_t axis, const Array& indices, const Operand& src,
                std::optional<bool> deterministic, const Stream& stream) {
  OpCall call(Op::index_add, {&x, &indices, src.array}, stream);
  const std::string op(call.name());
  const auto plan = [&](const Array& target) { return along_slices(op, target, indices, axis); };
  return accumulate(call, x, plan, src, Reduce::add, deterministic, stream);
}

Array segment_sum(const Array& src, const Array& index, int64_t num_segments, std::optional<bool> deterministic,
                  const Stream& stream) {
  const Array sum = segments(Op::segment_sum, src, index, num_segments, Reduce::add, deterministic, stream);
  return narrowed(sum, src.dtype(), stream);
}

Array segment_mean(const Array& src, const Array& index, int64_t num_segments, std::optional<bool> deterministic,
                   const Stream& stream) {
  const Array sum = segments(Op::segment_mean, src, index, num_segments, Reduce::add, deterministic, stream);
  // Counts are integers in double: exact, in any order of additions.
  Array count = zeros(src.backend(), Dims{num_segments}, DType::float64, stream);
  if (index.size() > 0) {
    OpCall call(Op::segment_mean, {&index}, stream);
    const Scalar one(1.0);
    launch_accumulate(call, count, along_slices(std::string(call.name()), count, index, 0), nullptr, &one, Reduce::add,
                      false);
  }
  Dims shape(sum.ndim(), 1);
  shape[0] = num_segments;
  const int64_t* const extents = shape.data();
  count = reshape(count, {extents, size_t(shape.size())});
  const Operand operands[] = {sum, count};
  return elementwise(Op::divide, operands, {src.dtype(), nullptr}, stream);
}

Array segment_min(const Array& src, const Array& index, int64_t num_segments, const Stream& stream) {
  const Array least = segments(Op::segment_min, src, index, num_segments, Reduce::minimum, {}, stream);
  return narrowed(least, src.dtype(), stream);
}

Array segment_max(const Array& src, const Array& index, int64_t num_segments, const Stream& stream) {
  const Array most = segments(Op::segment_max, src, index, num_segments, Reduce::maximum, {}, stream);
  return narrowed(most, src.dtype(), stream);
}

}  // namespace stator
