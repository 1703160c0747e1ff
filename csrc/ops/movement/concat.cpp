#include "core/op_call.hpp"
#include "memory/overlap.hpp"
#include "ops/creation/copy.hpp"
#include "ops/movement/views.hpp"
#include "params/movement.hpp"

#include <stator/creation.hpp>
#include <stator/movement.hpp>

#include <algorithm>
#include <string>

namespace stator {
namespace {

// Describes x as [outer, n, inner] with one stride per group of axes. False if a group has no single stride.
bool group_axes(const Array& x, int axis, params::ConcatPiece& piece) {
  const auto collapse = [&](int first, int last, int64_t* stride) {
    int64_t extent = 1;
    *stride = 1;
    for (int d = last - 1; d >= first; --d) {
      if (x.shape()[d] == 1) continue;
      if (extent == 1)
        *stride = x.strides()[d];
      else if (x.strides()[d] != extent * *stride)
        return false;
      extent *= x.shape()[d];
    }
    return true;
  };
  piece.axis_stride = x.strides()[axis];
  return collapse(0, axis, &piece.outer_stride) && collapse(axis + 1, x.ndim(), &piece.inner_stride);
}

// Whether x is large and its rows are not contiguous but another axis is: copying it in tiles is then worth a launch of
// its own.
bool is_across(const Array& x) {
  constexpr size_t least = 256 << 10;  // bytes
  if (x.nbytes() < least) return false;
  bool along = false, dense = false;
  for (int d = 0; d < x.ndim(); ++d) {
    if (x.shape()[d] == 1) continue;
    along = x.strides()[d] == 1;  // at the end: of the innermost axis
    dense = dense || along;
  }
  return dense && !along;
}

void copy_each(Op which, const Array& result, const std::vector<Array>& given, int axis, const Stream& stream) {
  int64_t begin = 0;
  for (const Array& x : given) {
    const int64_t offset = result.offset() + begin * result.strides()[axis];
    assign_as(which, Array(result.buffer(), result.dtype(), x.shape(), result.strides(), offset), x, stream);
    begin += x.shape()[axis];
  }
}

Dims joined_shape(const std::string& op, const std::vector<Array>& arrays, int axis) {
  Dims shape = arrays[0].shape();
  shape[axis] = 0;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const Dims& other = arrays[i].shape();
    bool agree = other.size() == shape.size();
    for (int d = 0; agree && d < shape.size(); ++d) agree = d == axis || other[d] == shape[d];
    if (!agree)
      throw ShapeError(op,
                       "array 0 has shape " + str(arrays[0].shape()) + ", array " + std::to_string(i) + " has " +
                           str(other) + ", along axis " + std::to_string(axis),
                       "the other axes must have equal lengths");
    if (__builtin_add_overflow(shape[axis], other[axis], &shape[axis]))
      throw ShapeError(op, "got more than 2^63 elements along the axis", "join fewer arrays");
  }
  return shape;
}

void check_out(const std::string& op, const std::vector<Array>& arrays, const Array* out) {
  for (size_t i = 0; out && i < arrays.size(); ++i)
    if (may_overlap(arrays[i], *out))
      throw ValueError(op, "out shares memory with array " + std::to_string(i), "pass separate memory");
}

DType promoted(const std::vector<Array>& arrays) {
  std::vector<DType> dtypes;
  dtypes.reserve(arrays.size());
  for (const Array& x : arrays) dtypes.push_back(x.dtype());
  return promote(dtypes);
}

Array join(Op which, const std::vector<Array>& given, int axis, const Array* out, const Stream& stream) {
  OpCall call(which, {&given[0], out}, stream);
  const std::string op(call.name());
  for (size_t i = 1; i < given.size(); ++i)
    if (!(given[i].backend() == given[0].backend()))
      throw BackendMismatchError(op, "array " + std::to_string(i) + " is on another backend", "move it with to_device");
  const Dims shape = joined_shape(op, given, axis);
  const DType dtype = promoted(given);
  checked_size(op, shape, itemsize(dtype));
  check_out(op, given, out);
  Array result = call.output(shape, dtype, out);
  if (result.size() == 0) return result;
  if (result.dtype() == dtype && std::any_of(given.begin(), given.end(), is_across)) {
    copy_each(which, result, given, axis, stream);
    return result;
  }
  // The kernel writes dense rows of the promoted dtype. Any other `out` is assigned from them.
  const bool direct = result.is_contiguous() && result.dtype() == dtype;
  Array dense = direct ? result : call.empty(shape, dtype);
  params::Concat p{};
  p.outer = p.inner = 1;
  for (int d = 0; d < axis; ++d) p.outer *= shape[d];
  for (int d = axis + 1; d < shape.size(); ++d) p.inner *= shape[d];
  p.cols = shape[axis] * p.inner;
  std::vector<params::ConcatPiece> pieces;
  std::vector<Array> sources;  // keeps copies until the launch
  pieces.reserve(given.size());
  int64_t begin = 0;
  for (const Array& x : given) {
    if (x.size() == 0) continue;
    Array source = x.dtype() == dtype ? x : astype(x, dtype, true, stream);
    params::ConcatPiece piece{};
    if (!group_axes(source, axis, piece)) {
      source = copy_as(which, source, stream);
      group_axes(source, axis, piece);
    }
    piece.data = source.data_ptr();
    piece.begin = begin;
    begin += source.shape()[axis] * p.inner;
    pieces.push_back(piece);
    call.reads(source);
    sources.push_back(std::move(source));
  }
  p.pieces = pieces.data();
  p.count = int32_t(pieces.size());
  p.itemsize = itemsize(dtype);
  p.out = dense.data_ptr();
  call.writes(dense);
  kernels::movement::concat(call.queue(), p);
  if (!direct) assign_as(which, result, dense, stream);
  return result;
}

void require_some(Op op, const std::vector<Array>& arrays) {
  if (arrays.empty()) throw ValueError(std::string(op_info(op).call), "got no arrays", "pass at least one");
  for (const Array& x : arrays) require_open(x, op);
}

}  // namespace

Array concat(const std::vector<Array>& arrays, std::optional<int64_t> axis, const Array* out, const Stream& stream) {
  require_some(Op::concat, arrays);
  const std::string op(op_info(Op::concat).call);
  if (!axis) {
    std::vector<Array> flat;
    for (const Array& x : arrays) flat.push_back(ravel(x, stream));
    return join(Op::concat, flat, 0, out, stream);
  }
  for (const Array& x : arrays)
    if (x.ndim() == 0) throw ShapeError(op, "an array is 0-dimensional", "join along a new axis with stack");
  return join(Op::concat, arrays, normalize_axis(op, *axis, arrays[0].ndim()), out, stream);
}

Array stack(const std::vector<Array>& arrays, int64_t axis, const Array* out, const Stream& stream) {
  require_some(Op::stack, arrays);
  const std::string op(op_info(Op::stack).call);
  const int at = normalize_axis(op, axis, arrays[0].ndim() + 1);
  std::vector<Array> rows;
  for (const Array& x : arrays) {
    if (!(x.shape() == arrays[0].shape()))
      throw ShapeError(op, "got shapes " + str(arrays[0].shape()) + " and " + str(x.shape()),
                       "the shapes must be equal");
    const int64_t axes[] = {at};
    rows.push_back(expand_dims(x, axes));
  }
  return join(Op::stack, rows, at, out, stream);
}

}  // namespace stator
