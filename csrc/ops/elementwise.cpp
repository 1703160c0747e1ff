#include <stator/elementwise.hpp>

#include "core/op_call.hpp"
#include "ops/collapse.hpp"
#include "ops/scalar.hpp"

#include <cstring>
#include <string>

namespace stator {
namespace {

struct Types {
  DType computed;  // operands are converted to it, in effect
  DType result;
};

[[noreturn]] void refuse_dtype(const OpInfo& row, DType seen, const char* what, const char* remedy) {
  throw DTypeError(std::string(row.call), std::string(what) + " " + std::string(name(seen)), remedy);
}

// From the promoted dtype of the operands, by the row's rule and the dtype= option.
Types resolve(const OpInfo& row, DType common, const std::optional<DType>& dtype) {
  if (!in(common, row.dtypes)) refuse_dtype(row, common, "operands of dtype", "convert them with astype");
  if (row.result == ResultRule::boolean) {
    if (dtype && *dtype != DType::bool_)
      refuse_dtype(row, *dtype, "dtype=", "the result is bool: convert it with astype");
    return {common, DType::bool_};
  }
  const DType computed = row.result == ResultRule::inexact ? to_inexact(common) : common;
  if (!dtype || *dtype == computed) return {computed, computed};
  if (!can_cast_same_kind(computed, *dtype) || !in(*dtype, row.dtypes))
    throw DTypeError(std::string(row.call),
                     "dtype=" + std::string(name(*dtype)) + " for a result of dtype " + std::string(name(computed)),
                     "use a dtype of the same kind, or convert the result with astype");
  // Floats compute in the wider of the two, and are rounded once; integers compute in what was asked for.
  const bool wider = in(*dtype, dtypes::inexact);
  return {wider ? promote(computed, *dtype) : *dtype, *dtype};
}

// A weak scalar as bytes of what the kernel computes in.
struct Number {
  DType dtype;
  unsigned char value[16];
};

Number make_number(const OpInfo& row, const Scalar& value, DType computed) {
  Number number{compute_dtype(computed), {}};
  // A comparison is exact with a number that the dtype cannot hold, as long as 64 bits can.
  const bool beyond = row.result == ResultRule::boolean && in(computed, dtypes::integers) && is_integer(value) &&
                      !fits(value, computed);
  encode(row.call, value, beyond ? number.dtype : computed, number.value);
  if (!beyond) widen(computed, number.value);
  return number;
}

void set_operand(OpCall& call, abi::ElementwiseOperand& in, const Operand& operand, const Number& number) {
  if (operand.array) return call.reads(*operand.array);
  in.dtype = number.dtype;
  std::memcpy(in.value, number.value, sizeof number.value);
}

void require_class(const OpInfo& row, ShapeClass shape_class) {
  if (row.shape_class != shape_class)
    throw ValueError(std::string(row.call), "it takes another number of operands", "see the op table");
}

Array output(OpCall& call, const Dims& shape, DType dtype, const Array* out,
             std::initializer_list<const Array*> inputs) {
  return out ? call.output(shape, dtype, out) : empty_like(call, shape, dtype, inputs);
}

Array launch(OpCall& call, abi::Elementwise& e, const Array& result, DType computed) {
  call.writes(result);
  e.compute = compute_dtype(computed);
  call.kernels().elementwise.op[int(call.op())](call.queue(), e);
  return result;
}

}  // namespace

Array unary(Op op, const Array& x, const ElementwiseOptions& options, const Stream& stream) {
  const OpInfo& row = op_info(op);
  require_class(row, ShapeClass::unary);
  OpCall call(op, {&x, options.out}, stream);
  const Types types = resolve(row, x.dtype(), options.dtype);
  Array result = output(call, x.shape(), types.result, options.out, {&x});
  if (result.size() == 0) return result;
  abi::Elementwise e = collapse(result, {&x});
  call.reads(x);
  return launch(call, e, result, types.computed);
}

Array binary(Op op, const Operand& a, const Operand& b, const ElementwiseOptions& options, const Stream& stream) {
  const OpInfo& row = op_info(op);
  require_class(row, ShapeClass::binary);
  if (!a.array && !b.array)
    throw DTypeError(std::string(row.call), "both operands are numbers", "make one of them an array");
  OpCall call(op, {a.array, b.array, options.out}, stream);
  const DType common = !a.array   ? promote_weak(b.array->dtype(), a.scalar)
                       : !b.array ? promote_weak(a.array->dtype(), b.scalar)
                                  : promote(a.array->dtype(), b.array->dtype());
  const Types types = resolve(row, common, options.dtype);
  const Dims shape = !a.array   ? b.array->shape()
                     : !b.array ? a.array->shape()
                                : broadcast_shapes(row.call, a.array->shape(), b.array->shape());
  checked_size(row.call, shape, itemsize(types.result));
  // An error in a number comes before the result exists.
  const Number first = a.array ? Number{} : make_number(row, a.scalar, types.computed);
  const Number second = b.array ? Number{} : make_number(row, b.scalar, types.computed);
  Array result = output(call, shape, types.result, options.out, {a.array, b.array});
  if (result.size() == 0) return result;
  abi::Elementwise e = collapse(result, {a.array, b.array});
  set_operand(call, e.in[0], a, first);
  set_operand(call, e.in[1], b, second);
  return launch(call, e, result, types.computed);
}

}  // namespace stator
