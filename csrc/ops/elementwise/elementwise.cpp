#include <stator/elementwise.hpp>

#include "core/fault.hpp"
#include "core/op_call.hpp"
#include "memory/overlap.hpp"
#include "ops/checks.hpp"
#include "ops/collapse.hpp"
#include "ops/scalar.hpp"
#include "params/elementwise.hpp"

#include <stator/creation.hpp>

#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace stator {
namespace {

struct Types {
  DType computed;  // operands are in effect converted to it
  DType result;
};

[[noreturn]] void refuse_dtype(const OpInfo& entry, DType seen, const char* what, const std::string& remedy) {
  throw DTypeError(std::string(entry.call), "got " + std::string(what) + " " + std::string(name(seen)), remedy);
}

// From the promoted dtype of the operands, by the result rule of the entry and the dtype= option.
Types resolve(const OpInfo& entry, DType common, const std::optional<DType>& dtype) {
  if (!in(common, entry.dtypes))
    refuse_dtype(entry, common, "operands of dtype",
                 "operands must be " + dtype_names(entry.dtypes) + ". Convert them with astype");
  if (entry.result == ResultRule::boolean) {
    if (dtype && *dtype != DType::bool_)
      refuse_dtype(entry, *dtype, "dtype=", "the dtype must be bool. Convert the result with astype");
    return {common, DType::bool_};
  }
  const DType computed = entry.result == ResultRule::inexact ? to_inexact(common) : common;
  if (entry.result == ResultRule::real) {
    const DType result = real_part(computed);
    if (dtype && *dtype != result && !(in(*dtype, dtypes::floats) && in(result, dtypes::floats)))
      refuse_dtype(entry, *dtype, "dtype=",
                   "the dtype must be " + dtype_names(in(result, dtypes::floats) ? dtypes::floats : dtype_bit(result)) +
                       ". Convert the result with astype");
    return {computed, dtype.value_or(result)};
  }
  if (!dtype || *dtype == computed) return {computed, computed};
  if (!can_cast_same_kind(computed, *dtype) || !in(*dtype, entry.dtypes))
    throw DTypeError(std::string(entry.call),
                     "dtype=" + std::string(name(*dtype)) + " for a result of dtype " + std::string(name(computed)),
                     "use a dtype of the same kind, or convert the result with astype");
  // Floats compute in the wider dtype and are rounded once; integers are cast to the requested dtype and wrap.
  const bool wider = in(*dtype, dtypes::inexact);
  return {wider ? promote(computed, *dtype) : *dtype, *dtype};
}

// A weak scalar as bytes of the type that the kernel computes in.
struct Number {
  DType dtype;
  unsigned char value[16];
};

bool is_comparison(Op op) {
  return op == Op::equal || op == Op::not_equal || op == Op::less || op == Op::less_equal || op == Op::greater ||
         op == Op::greater_equal;
}

// Of two integers that no integer dtype holds both, the index of the one that may be negative; else -1.
int beside_unsigned(std::span<const Operand> operands) {
  bool wide[2], negative[2];
  for (int k = 0; k < 2; ++k) {
    const Operand& x = operands[size_t(k)];
    if (x.array ? !in(x.array->dtype(), dtypes::integers) : !is_integer(x.scalar)) return -1;
    wide[k] = x.array ? x.array->dtype() == DType::uint64 : !fits(x.scalar, DType::int64);
    negative[k] = x.array ? in(x.array->dtype(), dtypes::signed_integers) : !fits(x.scalar, DType::uint64);
  }
  for (int k = 0; k < 2; ++k)  // a number beyond int64 is computed so beside any array but uint64
    if (wide[1 - k] && (negative[k] || (!operands[size_t(1 - k)].array && !wide[k]))) return k;
  return -1;
}

Number make_number(const OpInfo& entry, const Scalar& value, DType computed) {
  Number number{compute_dtype(computed), {}};
  // A comparison with a number that the dtype cannot represent is exact in 64 bits.
  const bool beyond = entry.result == ResultRule::boolean && in(computed, dtypes::integers) && is_integer(value) &&
                      !fits(value, computed);
  encode(entry.call, value, beyond ? number.dtype : computed, number.value);
  if (!beyond) widen(computed, number.value);
  return number;
}

int arity(const OpInfo& entry) {
  switch (entry.shape_class) {
    case ShapeClass::unary: return 1;
    case ShapeClass::binary: return 2;
    case ShapeClass::ternary:
    case ShapeClass::select: return 3;
    case ShapeClass::quaternary: return 4;
    default: return 0;
  }
}

constexpr size_t most_operands = 4;

// The promoted dtype of the operands from `first` on; numbers are weak beside arrays.
DType common_dtype(std::span<const Operand> operands, size_t first) {
  DType dtypes[most_operands];
  size_t count = 0;
  for (size_t k = first; k < operands.size(); ++k)
    if (operands[k].array) dtypes[count++] = operands[k].array->dtype();
  std::optional<DType> common;
  if (count > 0) common = promote({dtypes, count});
  for (size_t k = first; k < operands.size(); ++k) {
    if (operands[k].array) continue;
    common = common ? promote_weak(*common, operands[k].scalar) : default_dtype(operands[k].scalar);
  }
  return *common;
}

Dims common_shape(const OpInfo& entry, std::span<const Operand> operands) {
  const Array* seen = nullptr;
  Dims shape;
  for (const Operand& operand : operands) {
    if (!operand.array) continue;
    if (!seen)
      shape = operand.array->shape();
    else if (!(shape == operand.array->shape()))
      shape = broadcast_shapes(entry.call, shape, operand.array->shape());
    seen = operand.array;
  }
  return shape;
}

[[noreturn]] void refuse_exponent(int64_t exponent, const std::string& where) {
  throw ValueError(std::string(op_info(Op::pow).call),
                   "the exponent " + std::to_string(exponent) + where + " is negative, and the result is of integers",
                   "Integers have no negative powers. Convert the base to a floating dtype, or use dtype=");
}
void refuse_element(const params::FaultRecord& seen) {
  refuse_exponent(seen.value, " at position " + std::to_string(seen.position));
}
const FaultRegistration exponents{params::Fault::negative_exponent, refuse_element};

void require_condition(const OpInfo& entry, const Operand& condition) {
  if (condition.array ? condition.array->dtype() == DType::bool_ : condition.scalar.type == Scalar::Type::boolean)
    return;
  throw DTypeError(std::string(entry.call), "got a condition that is not of dtype bool",
                   "the condition must be bool. Compare first: x != 0");
}

// Whether the two are memory without a common byte, as almost all are.
bool are_apart(const Buffer& a, const Buffer& b) {
  constexpr uint16_t op = uint16_t(Op::data_ptr);
  const auto begin = [](const Buffer& buffer) { return static_cast<const char*>(buffer.memory(op)); };
  return &a != &b && (begin(a) + a.bytes() <= begin(b) || begin(b) + b.bytes() <= begin(a));
}

// As in NumPy, all operands are read before the result is written: those that share a part of its memory are copied.
void set_apart(std::span<const Array*> operands, const Array& out, std::vector<Array>& copies, const Stream& stream) {
  for (const Array*& x : operands) {
    if (!x || x == &out || !*x || !out || &x->buffer()->context() != &out.buffer()->context()) continue;
    if (are_apart(*x->buffer(), *out.buffer()) || same_view(*x, out) || !may_overlap(*x, out)) continue;
    copies.reserve(operands.size());  // so that none moves
    x = &copies.emplace_back(copy(*x, stream));
  }
}

}  // namespace

Array elementwise(Op op, std::span<const Operand> operands, const ElementwiseOptions& options, const Stream& stream) {
  const OpInfo& entry = op_info(op);
  if (arity(entry) == 0 || int(operands.size()) != arity(entry))
    throw ValueError(std::string(entry.call), "got " + std::to_string(operands.size()) + " operands",
                     arity(entry) == 0 ? std::string("it is not an elementwise op: call its own function")
                                       : "pass " + std::to_string(arity(entry)));
  const Array* array[most_operands] = {};
  for (size_t k = 0; k < operands.size(); ++k) array[k] = operands[k].array;
  if (!array[0] && !array[1] && !array[2] && !array[3])
    throw DTypeError(std::string(entry.call), "got only numbers",
                     "at least one operand must be an array. Make one with asarray");
  std::vector<Array> copies;
  if (options.out) set_apart({array, operands.size()}, *options.out, copies, stream);
  OpCall call(op, {array[0], array[1], array[2], array[3], options.out}, stream);
  const bool select = entry.shape_class == ShapeClass::select;
  if (select) require_condition(entry, operands[0]);
  Types types = resolve(entry, common_dtype(operands, select ? 1 : 0), options.dtype);
  const int signed_operand = is_comparison(op) ? beside_unsigned(operands) : -1;
  if (signed_operand >= 0) types.computed = DType::int64;  // in which the kernels know an operand of uint64
  if (options.out && options.out->dtype() != types.result && in(types.result, dtypes::integers)) {
    // Integers wrap in the result's width before they are widened.
    call.output(common_shape(entry, operands), types.result, options.out);
    assign(*options.out, elementwise(op, operands, {types.result, nullptr}, stream), stream);
    return *options.out;
  }
  const Dims shape = common_shape(entry, operands);
  std::vector<Array> narrowed;
  if (options.dtype && in(types.computed, dtypes::integers)) {
    narrowed.reserve(most_operands);
    for (size_t k = 0; k < operands.size(); ++k)  // the kernels would load them in 64 bits, without the cast
      if (array[k] && promote(array[k]->dtype(), types.computed) != types.computed)
        array[k] = &narrowed.emplace_back(astype(*array[k], types.computed, true, stream));
  }
  // Errors in numbers are raised before the result is allocated.
  if (op == Op::pow && !array[1] && in(types.computed, dtypes::integers)) {
    const Scalar& exponent = operands[1].scalar;
    if (exponent.type == Scalar::Type::integer && exponent.i < 0) refuse_exponent(exponent.i, "");
  }
  Number number[most_operands];
  for (size_t k = 0; k < operands.size(); ++k) {
    const bool beyond = signed_operand >= 0 && size_t(signed_operand) != k;
    if (!array[k]) number[k] = make_number(entry, operands[k].scalar, beyond ? DType::uint64 : types.computed);
  }
  const std::span<const Array* const> inputs(array, operands.size());
  Array result = options.out ? call.output(shape, types.result, options.out)
                             : empty_like(call, shape, types.result, select ? inputs.subspan(1) : inputs);
  if (result.size() == 0) return result;
  if (op == Op::greater || op == Op::greater_equal) {  // greater(a, b) is less(b, a), and uses its kernels
    std::swap(array[0], array[1]);
    std::swap(number[0], number[1]);
  }
  params::Elementwise e = collapse(result, inputs);
  for (size_t k = 0; k < operands.size(); ++k) {
    if (array[k]) {
      call.reads(*array[k]);
    } else {
      e.in[k].dtype = number[k].dtype;
      std::memcpy(e.in[k].value, number[k].value, sizeof number[k].value);
    }
  }
  call.writes(result);
  e.operands = types.computed;
  e.compute = compute_dtype(types.computed);
  // The kernels of bitwise_invert compute in 64 bits, where the complement of a bool is not a bool.
  const bool negation = op == Op::bitwise_invert && types.computed == DType::bool_;
  call.expect_elements(result.size());
  kernels::elementwise::run(call.queue(), negation ? Op::logical_not : op, e);
  return result;
}

Array unary(Op op, const Array& x, const ElementwiseOptions& options, const Stream& stream) {
  const Operand operand(x);
  return elementwise(op, {&operand, 1}, options, stream);
}

Array binary(Op op, const Operand& a, const Operand& b, const ElementwiseOptions& options, const Stream& stream) {
  const Operand operands[] = {a, b};
  return elementwise(op, operands, options, stream);
}

}  // namespace stator
