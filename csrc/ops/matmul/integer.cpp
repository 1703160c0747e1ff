// Products of integers and bool: exact, wrapping around, by one portable kernel.
#include "libs/blas.hpp"
#include "memory/overlap.hpp"
#include "ops/linalg/operands.hpp"
#include "ops/matmul/matmul.hpp"
#include "ops/matmul/plan.hpp"
#include "params/linalg.hpp"
#include "params/matmul.hpp"

#include <stator/creation.hpp>
#include <stator/movement.hpp>

#include <algorithm>
#include <string>

namespace stator {

using namespace matmul_plan;

namespace {

// The dtype that the operands have before they are multiplied, and that of the sums.
struct IntegerTypes {
  DType operands, result;
};

IntegerTypes choose(const OpCall& call, DType a, DType b, const MatmulOptions& options) {
  const DType promoted = promote(a, b), wanted = options.dtype.value_or(promoted);
  if (options.compute_dtype)
    throw DTypeError(std::string(call.name()), "compute_dtype= for operands of " + std::string(name(promoted)),
                     "Products of integers are exact. Pass an integer dtype=, or convert the operands");
  require_result_dtype(call.name(), promoted, wanted);
  if (promoted == DType::int8 && wanted == DType::int32) return {DType::int8, DType::int32};
  return {wanted, wanted};
}

// sums = left right, of int8 in int32, where the rules of the library allow it: its left operand is row-major, its
// right one column-major.
bool by_library(OpCall& call, const Array& left, const Array& right, const Array& sums, const Dims& product) {
  const Plan plan = plan_of(left, right, sums, product);
  if (plan.batch.size() > 1) return false;
  const auto la = layout_of(plan.a), lb = layout_of(plan.b), lc = layout_of(plan.c);
  if (!la || !lb || !lc || lc->transposed) return false;
  libs::Gemm gemm = gemm_of(plan, left, right, sums, DType::int8);
  if (!plan.batch.empty()) {
    gemm.batch = plan.batch[0].extent;
    gemm.stride_a = plan.batch[0].a;
    gemm.stride_b = plan.batch[0].b;
    gemm.stride_c = plan.batch[0].c;
  }
  call.writes(sums);
  return libs::blas(call.context()).gemm_with(call, gemm, {});
}

// As by_library, of copies in its layout, where there is enough to compute for the copies to be worth it: its tensor
// cores are many times as fast as our kernel.
bool by_copies(OpCall& call, const Array& left, const Array& right, const Array& sums, const Dims& product) {
  constexpr int64_t least = 256, multiple = 4;  // the library takes columns and terms in fours
  if (left.ndim() < 2 || right.ndim() < 2) return false;
  const int64_t m = left.shape()[left.ndim() - 2], k = left.shape()[left.ndim() - 1],
                n = right.shape()[right.ndim() - 1];
  if (m < least || n < least || k < least || n % multiple != 0 || k % multiple != 0) return false;
  const Stream on = call.on();
  const Array rows = left.is_contiguous() ? left : copy(left, on),
              columns = matrix_transpose(copy(matrix_transpose(right), on));
  call.reads(rows);
  call.reads(columns);
  return by_library(call, rows, columns, sums, product);
}

}  // namespace

params::StridedProduct strided_of(const Plan& plan, const Array& left, const Array& right, const Array& target,
                                  DType operands) {
  const auto matrix = [](const Array& x, const Matrix& m) {
    return params::Matrices{x.data_ptr(), 0, m.row_stride, m.col_stride};
  };
  params::StridedProduct p{};
  p.operands = operands;
  p.result = target.dtype();
  p.m = plan.a.rows;
  p.n = plan.b.cols;
  p.k = plan.a.cols;
  p.a = matrix(plan.exchanged ? right : left, plan.a);
  p.b = matrix(plan.exchanged ? left : right, plan.b);
  p.out = matrix(target, plan.c);
  for (const BatchDim& dim : plan.batch) {
    const int d = p.batch_ndim++;
    p.batch_shape[d] = dim.extent;
    p.a_batch[d] = dim.a;
    p.b_batch[d] = dim.b;
    p.out_batch[d] = dim.c;
  }
  return p;
}

bool is_small(const OpCall& call, const Plan& plan, int64_t largest) {
  constexpr int64_t least = 4;
  int64_t batches = 1;
  for (const BatchDim& dim : plan.batch) batches *= dim.extent;
  return batches >= least && call.context().runtime().is_host() &&
         std::max({plan.a.rows, plan.b.cols, plan.a.cols}) <= largest;
}

bool is_integer_product(const Array& a, const Array& b) {
  return a && b && in(promote(a.dtype(), b.dtype()), dtypes::integers | dtypes::boolean);
}

Array matmul_integer(const Array& a, const Array& b, const MatmulOptions& options, const Stream& stream) {
  OpCall call(Op::matmul, {&a, &b}, stream);
  const IntegerTypes types = choose(call, a.dtype(), b.dtype(), options);
  const ProductShapes shapes = product_shapes(a, b);
  const Array out = call.output(shapes.result, types.result, options.out);
  if (out.size() == 0) return out;
  const Stream on = call.on();
  if (a.shape()[a.ndim() - 1] == 0) {
    assign(out, out.dtype() == DType::bool_ ? Operand(Scalar(false)) : Operand(0), on);
    return out;
  }
  const Array left = astype_distinct(a, types.operands, on), right = astype_distinct(b, types.operands, on);
  const bool direct = out.dtype() == types.result && !may_overlap(out, left) && !may_overlap(out, right);
  const Array target = direct ? out : call.empty(shapes.result, types.result);
  call.reads(left);
  call.reads(right);
  if (types.operands == DType::int8 && !call.context().runtime().is_host()) {
    const bool wide = types.result == DType::int32;
    const Array sums = wide ? target : call.empty(shapes.result, DType::int32);
    if (by_library(call, left, right, sums, shapes.product) || by_copies(call, left, right, sums, shapes.product)) {
      if (!wide) assign(target, Operand(sums), on);
      if (!direct) assign(out, Operand(target), on);
      return out;
    }
  }
  const Plan plan = plan_of(left, right, target, shapes.product);
  call.writes(target);
  const params::StridedProduct p = strided_of(plan, left, right, target, types.operands);
  call.expect_multiply_adds(target.size() * a.shape()[a.ndim() - 1]);
  const bool wide = itemsize(types.result) >= 4 && types.result != DType::bool_;
  (wide && is_small(call, plan, params::small_product) ? kernels::matmul::small_product
                                                       : kernels::matmul::integer_product)(call.queue(), p);
  if (!direct) assign(out, Operand(target), on);
  return out;
}

}  // namespace stator
