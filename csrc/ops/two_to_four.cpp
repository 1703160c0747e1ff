// 2:4 sparsity of dense arrays.
#include "core/op_call.hpp"

#include <stator/creation.hpp>
#include <stator/linalg.hpp>
#include <stator/sparse.hpp>

#include <string>

namespace stator::sparse {
namespace {

// [outer, n, inner] with a stride each, or false where a group of axes does not step evenly.
bool group_axes(const Array& x, int axis, abi::TwoToFour& p) {
  const auto collapse = [&](int first, int last, int64_t* extent, int64_t* stride) {
    *extent = 1;
    *stride = 0;
    for (int d = last - 1; d >= first; --d) {
      if (x.shape()[d] == 1) continue;
      if (*extent == 1)
        *stride = x.strides()[d];
      else if (x.strides()[d] != *extent * *stride)
        return false;
      *extent *= x.shape()[d];
    }
    return true;
  };
  p.n = x.shape()[axis];
  p.x_strides[1] = x.strides()[axis];
  return collapse(0, axis, &p.outer, &p.x_strides[0]) && collapse(axis + 1, x.ndim(), &p.inner, &p.x_strides[2]);
}

int checked_axis(const OpCall& call, const Array& x, int64_t axis) {
  const std::string op(call.name());
  if (!in(x.dtype(), dtypes::floats))
    throw DTypeError(op, "dtype " + std::string(name(x.dtype())), "2:4 sparsity is of real floating dtypes");
  if (x.ndim() == 0) throw AxisError(op, "a 0-d array", "pass an array of at least one axis");
  return normalize_axis(op, axis, x.ndim());
}

// The pruned array, or its compressed form.
TwoToFour reduce(const Array& given, int64_t along, bool prune, const Stream& stream) {
  OpCall call(Op::prune_2to4, {&given}, stream);
  const int axis = checked_axis(call, given, along);
  Array x = given;
  abi::TwoToFour p{};
  p.dtype = x.dtype();
  if (!group_axes(x, axis, p)) {
    x = copy(x, stream);
    group_axes(x, axis, p);
  }
  TwoToFour out;
  out.length = p.n;
  out.axis = axis;
  Dims shape = x.shape();
  if (!prune) shape[axis] = (p.n + 3) / 4 * 2;
  out.values = call.empty(shape, x.dtype());
  if (!prune) {
    shape[axis] /= 2;
    out.positions = call.empty(shape, DType::uint8);
    p.positions = static_cast<uint8_t*>(out.positions.data_ptr());
    call.writes(out.positions);
  }
  if (x.size() == 0) return out;
  call.reads(x);
  call.writes(out.values);
  p.x = x.data_ptr();
  (prune ? p.out : p.values) = out.values.data_ptr();
  call.kernels().sparse.two_to_four(call.queue(), p);
  return out;
}

}  // namespace

Array prune_2to4(const Array& x, int64_t axis, const Stream& stream) { return reduce(x, axis, true, stream).values; }
TwoToFour compress_2to4(const Array& x, int64_t axis, const Stream& stream) { return reduce(x, axis, false, stream); }

Array to_dense(const TwoToFour& a, const Stream& stream) {
  OpCall call(Op::prune_2to4, {&a.values, &a.positions}, stream);
  Dims shape = a.values.shape();
  abi::FromTwoToFour p{};
  p.outer = p.inner = 1;
  for (int d = 0; d < shape.size(); ++d)
    if (d != a.axis) (d < a.axis ? p.outer : p.inner) *= shape[d];
  shape[a.axis] = p.n = a.length;
  const Array out = call.empty(shape, a.values.dtype());
  if (out.size() == 0) return out;
  call.reads(a.values);
  call.reads(a.positions);
  call.writes(out);
  p.values = a.values.data_ptr();
  p.positions = static_cast<const uint8_t*>(a.positions.data_ptr());
  p.itemsize = itemsize(out.dtype());
  p.out = out.data_ptr();
  call.kernels().sparse.from_two_to_four(call.queue(), p);
  return out;
}

Array matmul_2to4(const Array& a, const Array& b, const Stream& stream) {
  OpCall call(Op::matmul_2to4, {&a, &b}, stream);
  const std::string op(call.name());
  if (b.ndim() < 2) throw ShapeError(op, "a right operand of shape " + str(b.shape()), "it has at least two axes");
  if (!in(a.dtype(), dtypes::floats))
    throw DTypeError(op, "dtype " + std::string(name(a.dtype())), "2:4 products are of real floating dtypes");
  checked_axis(call, b, -2);
  return matmul(a, prune_2to4(b, -2, stream), {}, stream);
}

}  // namespace stator::sparse
