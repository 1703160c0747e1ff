// Elementwise rows, copies, fills and arange of the checked target: see kernel_support.hpp.
#include <optional>

#include "kernel_support.hpp"
#include "kernels/elementwise/elementwise.cuh"
#include "ops/scalar.hpp"

namespace {

using namespace stator;

// How operands lie in a space of rows x cols; the output is row-major.
//   dense       side by side, as one row
//   transposed  columns side by side
//   rows        every other row of twice as many; the second operand is one row, the third a number, the fourth one
//               value a row
enum class Layout { dense, transposed, rows };

struct Operand {
  Bytes memory;
  int64_t strides[2];
  bool immediate = false;

  int64_t at(int64_t i, int64_t cols) const { return i / cols * strides[0] + i % cols * strides[1]; }
};

// Operand k of an op: where others divide by it or shift by it, integers are not zero, and as exponents not negative.
Value value_of(Op op, DType dtype, int k, int64_t i) {
  const Value v = varied(dtype, i, 4 * k + 1);
  if (k == 0 || !in(dtype, dtypes::integers)) return v;
  return v == 0.0 || (op == Op::pow && v.real() < 0) ? 3 : v;
}

Operand operand(Op op, DType dtype, int k, int64_t rows, int64_t cols, Layout layout) {
  Operand o{Bytes(dtype, 0), {layout == Layout::transposed ? 1 : cols, layout == Layout::transposed ? rows : 1}};
  int64_t size = rows * cols;
  if (layout == Layout::rows) {
    o.strides[0] = k == 0 ? 2 * cols : k == 3 ? 1 : 0;
    o.strides[1] = k < 2 ? 1 : 0;
    o.immediate = k == 2;
    size = k == 0 ? 2 * size - cols : k == 1 ? cols : k == 2 ? 1 : rows;
  }
  o.memory = Bytes(dtype, size);
  // What stands at position i of the space is the same in every layout that does not broadcast.
  for (int64_t i = 0; i < rows * cols; ++i) write(o.memory, o.at(i, cols), value_of(op, dtype, k, i));
  return o;
}

params::Elementwise space(int64_t rows, int64_t cols, Layout layout, Bytes& out, std::vector<Operand>& in,
                          DType compute) {
  params::Elementwise e{};
  const bool flat = layout == Layout::dense;
  e.ndim = flat ? 1 : 2;
  e.size = rows * cols;
  e.shape[0] = flat ? e.size : rows;
  e.shape[1] = cols;
  e.operands = compute;
  e.compute = compute_dtype(compute);
  e.input_count = int32_t(in.size());
  e.out.data = out.get();
  e.out.dtype = out.dtype;
  e.out.strides[0] = flat ? 1 : cols;
  e.out.strides[1] = 1;
  for (size_t k = 0; k < in.size(); ++k) {
    params::ElementwiseOperand& to = e.in[k];
    to.immediate = in[k].immediate;
    to.dtype = to.immediate ? e.compute : in[k].memory.dtype;
    if (to.immediate) {
      // As ops/ hands it over: a value of the dtype, in what the functor computes in.
      Bytes wide(e.compute, 1);
      write(wide, 0, read(in[k].memory, 0));
      std::memcpy(to.value, wide.get(), wide.data.size());
    } else {
      to.data = in[k].memory.get();
      to.strides[0] = flat ? 1 : in[k].strides[0];
      to.strides[1] = in[k].strides[1];
    }
  }
  return e;
}

int arity(ShapeClass c) {
  switch (c) {
    case ShapeClass::unary: return 1;
    case ShapeClass::binary: return 2;
    case ShapeClass::ternary:
    case ShapeClass::select: return 3;
    case ShapeClass::quaternary: return 4;
    default: return 0;
  }
}

struct Types {
  DType compute, result;
};
Types types_of(const OpInfo& row, DType d) {
  if (row.result == ResultRule::boolean) return {d, DType::bool_};
  if (row.result == ResultRule::real) return {d, real_part(d)};
  return row.result == ResultRule::inexact ? Types{to_inexact(d), to_inexact(d)} : Types{d, d};
}

// Of real operands. What has no formula here is compared with itself in other layouts, and with NumPy elsewhere.
std::optional<double> reference(Op op, double a, double b, double c) {
  switch (op) {
    case Op::add: return a + b;
    case Op::add_scaled: return a + c * b;
    case Op::subtract: return a - b;
    case Op::multiply: return a * b;
    case Op::divide: return a / b;
    case Op::negative: return -a;
    case Op::positive: return a;
    case Op::abs: return std::abs(a);
    case Op::square: return a * a;
    case Op::sign: return double((a > 0) - (a < 0));
    case Op::sqrt: return std::sqrt(a);
    case Op::reciprocal: return 1 / a;
    case Op::hypot: return std::hypot(a, b);
    case Op::lerp: return a + c * (b - a);
    case Op::clip: return std::min(std::max(a, b), c);
    case Op::where: return a != 0 ? b : c;
    case Op::maximum:
    case Op::fmax: return std::max(a, b);
    case Op::minimum:
    case Op::fmin: return std::min(a, b);
    case Op::floor: return std::floor(a);
    case Op::ceil: return std::ceil(a);
    case Op::trunc: return std::trunc(a);
    case Op::round: return std::nearbyint(a);
    case Op::floor_divide: return std::floor(a / b);
    case Op::fmod: return std::fmod(a, b);
    case Op::remainder: return a - b * std::floor(a / b);
    case Op::equal: return a == b;
    case Op::not_equal: return a != b;
    // greater is less of the operands swapped, which is for ops/ to do.
    case Op::less:
    case Op::greater: return a < b;
    case Op::less_equal:
    case Op::greater_equal: return a <= b;
    case Op::logical_and: return a != 0 && b != 0;
    case Op::logical_or: return a != 0 || b != 0;
    case Op::logical_xor: return (a != 0) != (b != 0);
    case Op::logical_not: return a == 0;
    case Op::isnan:
    case Op::isinf: return 0;
    case Op::isfinite: return 1;
    case Op::exp: return std::exp(a);
    case Op::expm1: return std::expm1(a);
    case Op::log: return std::log(a);
    case Op::log2: return std::log2(a);
    case Op::sin: return std::sin(a);
    case Op::cos: return std::cos(a);
    case Op::tanh: return std::tanh(a);
    case Op::atan: return std::atan(a);
    case Op::sinh: return std::sinh(a);
    case Op::asin: return std::asin(a);
    case Op::acosh: return std::acosh(a);
    case Op::erf: return std::erf(a);
    case Op::relu: return std::max(a, 0.0);
    case Op::relu_backward: return b > 0 ? a : 0;
    case Op::leaky_relu: return a > 0 ? a : a * b;
    case Op::sigmoid:
    case Op::expit: return 1 / (1 + std::exp(-a));
    case Op::softsign: return a / (1 + std::abs(a));
    default: return {};
  }
}

// Unsigned results wrap and bool saturates: their values are compared with NumPy's elsewhere.
bool has_reference(const OpInfo& row, DType d) {
  return !in(d, dtypes::complexes) &&
         (row.result == ResultRule::boolean || !in(d, dtypes::unsigned_integers | dtypes::boolean));
}

// Rows that are exact have kernels of single dtypes; others are computed in these, and loaded from any.
constexpr DTypeSet computed = dtypes::full_floats | dtypes::complexes | dtype_bit(DType::int64) |
                              dtype_bit(DType::uint64) | dtype_bit(DType::uint8) | dtype_bit(DType::bfloat16);

Bytes run_row(const std::string& name, Op op, DType dtype, int64_t rows, int64_t cols, Layout layout) {
  const OpInfo& row = op_info(op);
  const Types types = types_of(row, dtype);
  std::vector<Operand> in;
  for (int k = 0; k < arity(row.shape_class); ++k) {
    const bool condition = row.shape_class == ShapeClass::select && k == 0;
    in.push_back(operand(op, condition ? DType::bool_ : dtype, k, rows, cols, layout));
  }
  Bytes got = run(name, op, Bytes(types.result, rows * cols), [&](const params::Queue& q, Bytes& out) {
    kernels::elementwise::run(q, op, space(rows, cols, layout, out, in, types.compute));
  });
  if (!has_reference(row, dtype)) return got;
  const auto value = [&](size_t k, int64_t i) { return k < in.size() ? real(in[k].memory, in[k].at(i, cols)) : 0; };
  if (!reference(op, 1, 1, 1)) return got;
  expect(
      name, got, [&](int64_t i) { return *reference(op, value(0, i), value(1, i), value(2, i)); },
      4 * tolerance(types.result));
  return got;
}

void test_op(Op op) {
  const OpInfo& row = op_info(op);
  check(host_checked::elementwise::by_op[int(op)] != nullptr, row.name.data());
  const DTypeSet light = row.tolerance.float64 == 0 ? dtypes::all : computed;
  for (int d = 0; d < dtype_count; ++d) {
    const DType dtype = DType(d);
    if (!in(dtype, row.dtypes & light)) continue;
    if (op == Op::bitwise_invert && dtype == DType::bool_) continue;  // launched as logical_not
    const std::string name = std::string(row.name) + " " + std::string(stator::name(dtype));
    // A block of the dense kernel has 16 KiB of a single operand: one and some, with a warp and a vector in part.
    const int64_t rows = 37, cols = 41, operands = row.shape_class == ShapeClass::unary ? 1 : 2;
    const int64_t block = 16384 / itemsize(dtype) / operands, dense_rows = std::max(block * 5 / 4 / cols, rows);
    const Bytes dense = run_row(name + " dense", op, dtype, dense_rows, cols, Layout::dense);
    const Bytes moved = run_row(name + " transposed", op, dtype, rows, cols, Layout::transposed);
    check(std::memcmp(dense.data.data(), moved.data.data(), moved.data.size()) == 0, name + ": equal bits transposed");
    run_row(name + " rows", op, dtype, 9, 64 + 64 * (d % 2), Layout::rows);
  }
}

// One bad element among good ones: its result is 0, and the error slot has the fault and its position.
void test_fault(Op op, double value, params::Fault fault, std::initializer_list<DType> faulting, DType other) {
  const auto expect_fault = [&](DType dtype, Layout layout, params::Fault expected) {
    const int64_t rows = 37, cols = 41, bad = 1234;
    std::vector<Operand> in{operand(op, dtype, 0, rows, cols, layout), operand(op, dtype, 1, rows, cols, layout)};
    write(in[1].memory, in[1].at(bad, cols), value);
    Recorder device;
    Bytes out(dtype, rows * cols);
    kernels::elementwise::run(device.queue(op), op, space(rows, cols, layout, out, in, dtype));
    const params::FaultRecord& seen = device.record;
    check(seen.fault == int32_t(expected), "a fault: the error slot", int(op), int(dtype));
    if (expected == params::Fault::none) return;
    check(real(out, bad) == 0, "a fault: the result", int(op), int(dtype));
    check(seen.position == bad && seen.op == int(op) && seen.value == int64_t(value), "a fault: where", int(op));
  };
  for (Layout layout : {Layout::dense, Layout::transposed}) {
    for (DType dtype : faulting) expect_fault(dtype, layout, fault);
    expect_fault(other, layout, params::Fault::none);
  }
}

void test_division_by_zero() {
  for (Op op : {Op::floor_divide, Op::remainder, Op::fmod})
    test_fault(op, 0, params::Fault::division_by_zero, {DType::int8, DType::uint16, DType::int32, DType::uint64},
               DType::float32);
}

void test_negative_exponents() {
  test_fault(Op::pow, -3, params::Fault::negative_exponent, {DType::int8, DType::int16, DType::int32, DType::int64},
             DType::float32);
}

void test_copies() {
  for (int d = 0; d < dtype_count; ++d)
    for (int t = 0; t < dtype_count; ++t)
      for (Layout layout : {Layout::dense, Layout::transposed}) {
        if (layout == Layout::transposed && d != t && t % 3) continue;
        const int64_t rows = 69, cols = 71;
        std::vector<Operand> in{operand(Op::copy, DType(d), 0, rows, cols, layout)};
        in[0].memory = numbers(DType(d), rows * cols, d);
        const std::string name =
            "copy " + std::string(stator::name(DType(d))) + " to " + std::string(stator::name(DType(t)));
        const Bytes got = run(name, Op::copy, Bytes(DType(t), rows * cols), [&](const params::Queue& q, Bytes& out) {
          kernels::creation::copy(q, space(rows, cols, layout, out, in, DType(t)));
        });
        expect(
            name, got,
            [&](int64_t i) {
              const double v = real(in[0].memory, in[0].at(i, cols));
              return DType(t) == DType::bool_ ? v != 0 : v;
            },
            0);
      }
}

void test_fills() {
  for (int d = 0; d < dtype_count; ++d) {
    const Bytes filled = run("fill", Op::full, Bytes(DType(d), 3001), [&](const params::Queue& q, Bytes& out) {
      std::vector<Operand> none;
      params::Elementwise e = space(3001, 1, Layout::dense, out, none, DType(d));
      Bytes one(DType(d), 1);
      write(one, 0, 1);
      std::memcpy(e.in[0].value, one.get(), one.data.size());
      e.in[0].dtype = DType(d);
      e.in[0].immediate = true;
      kernels::creation::copy(q, e);
    });
    expect("fill", filled, [](int64_t) { return 1.0; }, 0);
    if (!in(DType(d), dtypes::reals)) continue;
    const Bytes counted = run("arange", Op::arange, Bytes(DType(d), 101), [&](const params::Queue& q, Bytes& out) {
      kernels::creation::arange(q, {out.get(), DType(d), 101, 2, 1, 2, 1});
    });
    expect("arange", counted, [](int64_t i) { return double(i + 2); }, 0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<stator::test::Case> cases = {{"division_by_zero", test_division_by_zero},
                                           {"negative_exponents", test_negative_exponents},
                                           {"copies", test_copies},
                                           {"fills", test_fills}};
  for (int i = 0; i < op_count; ++i)
    if (arity(op_info(Op(i)).shape_class) != 0)
      cases.push_back({std::string(op_info(Op(i)).name), [i] { test_op(Op(i)); }});
  return stator::test::run(argc, argv, cases);
}
