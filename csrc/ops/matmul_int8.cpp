// int8 matrices: exact products, summed in int32, which wraps.
#include "ops/decompositions.hpp"
#include "ops/matmul.hpp"

#include <stator/creation.hpp>

#include <string>
#include <vector>

namespace stator {

using namespace decompositions;

Array matmul_int8(const Array& a, const Array& b, const MatmulOptions& options, const Stream& stream) {
  OpCall call(Op::matmul, {&a, &b}, stream);
  const Stream on = stream_of(call);
  const std::string op(call.name());
  if (options.compute_dtype || options.dtype.value_or(DType::int32) != DType::int32)
    throw DTypeError(op, "dtype= or compute_dtype= for operands of int8", "products of int8 are int32");
  if (a.ndim() == 0 || b.ndim() == 0)
    throw ShapeError(op, "operands of shapes " + str(a.shape()) + " and " + str(b.shape()),
                     "both need at least one dimension; multiply() takes scalars");
  // A vector on the left is a row, on the right a column.
  const int64_t front[] = {0}, back[] = {1};
  Array x = a.ndim() == 1 ? expand_dims(a, front) : a, y = b.ndim() == 1 ? expand_dims(b, back) : b;
  if (cols(x) != rows(y))
    throw ShapeError(op, "operands of shapes " + str(a.shape()) + " and " + str(b.shape()),
                     "the last axis of the left operand must equal the last but one of the right");
  const Dims batch = broadcast_shapes(op, batch_of(x), batch_of(y));
  Dims shape = batch;
  if (a.ndim() > 1) shape.push_back(rows(x));
  if (b.ndim() > 1) shape.push_back(cols(y));
  const Array out = call.output(shape, DType::int32, options.out);
  if (out.size() == 0) return out;
  x = stepping(with_batch(x, batch), on);
  y = stepping(with_batch(y, batch), on);
  const bool direct = out.is_contiguous() && out.dtype() == DType::int32;
  const Array dense = direct ? out : call.empty(shape, DType::int32);
  call.reads(x);
  call.reads(y);
  call.writes(dense);
  const abi::Int8Product p{product(batch), rows(x), cols(y), cols(x), matrices(x), matrices(y), dense.data_ptr()};
  call.kernels().linalg.matmul_int8(call.queue(), p);
  if (!direct) assign(out, Operand(dense), on);
  return out;
}

}  // namespace stator
