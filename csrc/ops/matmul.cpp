#include "ops/matmul.hpp"
#include "core/op_call.hpp"
#include "core/overlap.hpp"
#include "libs/blas.hpp"
#include "ops/matmul_plan.hpp"

#include <stator/creation.hpp>
#include <stator/elementwise.hpp>
#include <stator/linalg.hpp>

#include <algorithm>
#include <string>

namespace stator {
namespace {

using namespace matmul_plan;

// A vector on the left is a row, on the right a column.
void as_matrix(Dims& shape, Dims& strides, bool row) {
  if (shape.size() != 1) return;
  shape = row ? Dims{1, shape[0]} : Dims{shape[0], 1};
  strides = row ? Dims{0, strides[0]} : Dims{strides[0], 0};
}

Dims batch_of(const Dims& shape) { return Dims(std::span<const int64_t>(shape.data(), std::max(0, shape.size() - 2))); }

struct Shapes {
  Dims result;   // as NumPy has it
  Dims product;  // with the ones that vectors stand for
};

Shapes check_shapes(const Array& a, const Array& b) {
  if (a.ndim() == 0 || b.ndim() == 0) {
    throw ShapeError("matmul", "operands of shapes " + str(a.shape()) + " and " + str(b.shape()),
                     "both need at least one dimension; multiply() takes scalars");
  }
  const bool left_vector = a.ndim() == 1, right_vector = b.ndim() == 1;
  const int64_t inner = a.shape()[a.ndim() - 1], other = b.shape()[right_vector ? 0 : b.ndim() - 2];
  if (inner != other) {
    throw ShapeError("matmul",
                     "operands of shapes " + str(a.shape()) + " and " + str(b.shape()) + ": " + std::to_string(inner) +
                         " columns meet " + std::to_string(other) + " rows",
                     "the last axis of the left operand must equal the last but one of the right");
  }
  Shapes shapes;
  shapes.product = broadcast_shapes("matmul", batch_of(a.shape()), batch_of(b.shape()));
  shapes.result = shapes.product;
  shapes.product.push_back(left_vector ? 1 : a.shape()[a.ndim() - 2]);
  shapes.product.push_back(right_vector ? 1 : b.shape()[b.ndim() - 1]);
  if (!left_vector) shapes.result.push_back(a.shape()[a.ndim() - 2]);
  if (!right_vector) shapes.result.push_back(b.shape()[b.ndim() - 1]);
  return shapes;
}

// The strides of `product` for an array of shape `result`: the ones of vectors get stride 0.
Dims product_strides(const Dims& strides, bool left_vector, bool right_vector) {
  Dims out = strides;
  if (left_vector || right_vector) {
    const int kept = strides.size() - (left_vector ? 0 : 1) - (right_vector ? 0 : 1);
    out = Dims(std::span<const int64_t>(strides.data(), kept));
    out.push_back(left_vector ? 0 : strides[kept]);
    out.push_back(right_vector ? 0 : strides[strides.size() - 1]);
  }
  return out;
}

// x in the dtype and a layout that BLAS takes: x itself wherever that is possible.
Array prepare(const Array& x, const Types& types, bool left, const Stream& stream) {
  Array y = x;
  const bool exact = promote(y.dtype(), types.rounded) == types.rounded;
  if (!exact) y = astype(y, types.rounded, false, stream);
  if (y.dtype() != types.operands) y = astype(y, types.operands, false, stream);
  Dims shape = y.shape(), strides = y.strides();
  as_matrix(shape, strides, left);
  const int n = shape.size();
  return layout_of({shape[n - 2], shape[n - 1], strides[n - 2], strides[n - 1]}) ? y : copy(y, stream);
}

// One library call for each index of all batch dimensions but the longest, which the library steps through.
void multiply(OpCall& call, libs::Gemm gemm, std::vector<BatchDim> batch) {
  if (!batch.empty()) {
    const auto longest = std::max_element(batch.begin(), batch.end(),
                                          [](const BatchDim& x, const BatchDim& y) { return x.extent < y.extent; });
    gemm.batch = longest->extent;
    gemm.stride_a = longest->a;
    gemm.stride_b = longest->b;
    gemm.stride_c = longest->c;
    batch.erase(longest);
  }
  int64_t calls = 1;
  for (const BatchDim& dim : batch) calls *= dim.extent;
  const libs::Blas& blas = libs::blas(call.context());
  const int64_t in = itemsize(gemm.operands), out = itemsize(gemm.result);
  for (int64_t i = 0; i < calls; ++i) {
    libs::Gemm one = gemm;
    int64_t rest = i, a = 0, b = 0, c = 0;
    for (auto dim = batch.rbegin(); dim != batch.rend(); ++dim) {
      const int64_t index = rest % dim->extent;
      rest /= dim->extent;
      a += index * dim->a;
      b += index * dim->b;
      c += index * dim->c;
    }
    one.a = static_cast<const char*>(gemm.a) + a * in;
    one.b = static_cast<const char*>(gemm.b) + b * in;
    one.c = static_cast<char*>(gemm.c) + c * out;
    blas.gemm(call, one);
  }
}

}  // namespace

Array matmul(const Array& a, const Array& b, const MatmulOptions& options, const Stream& stream) {
  if (a && b && a.dtype() == DType::int8 && b.dtype() == DType::int8) return matmul_int8(a, b, options, stream);
  return product(a, b, options, {}, stream);
}

Array product(const Array& a, const Array& b, const MatmulOptions& options, const Accumulate& sum,
              const Stream& stream) {
  const bool adds = sum.c != nullptr && sum.beta != 0;
  OpCall call(Op::matmul, {&a, &b, adds ? sum.c : nullptr}, stream);
  const Types types = choose_types(a.dtype(), b.dtype(), options);
  const Shapes shapes = check_shapes(a, b);
  const Array out = call.output(shapes.result, types.result, options.out);
  if (out.size() == 0) return out;
  const Stream on(Ref<StreamBox>(&call.stream()));
  if (a.shape()[a.ndim() - 1] == 0) {
    if (adds) {
      ElementwiseOptions into;
      into.out = &out;
      multiply(Operand(broadcast_to(*sum.c, out.shape())), Operand(sum.beta), into, on);
    } else {
      assign(out, Operand(0.0), on);
    }
    return out;
  }

  const Array left = prepare(a, types, true, on), right = prepare(b, types, false, on);
  Dims a_shape = left.shape(), a_strides = left.strides(), b_shape = right.shape(), b_strides = right.strides();
  as_matrix(a_shape, a_strides, true);
  as_matrix(b_shape, b_strides, false);
  const auto plan_into = [&](const Array& target) {
    return make_plan(a_shape, a_strides, b_shape, b_strides, shapes.product,
                     product_strides(target.strides(), a.ndim() == 1, b.ndim() == 1));
  };
  Plan plan = plan_into(out);
  const bool direct =
      out.dtype() == types.product && layout_of(plan.c) && !may_overlap(out, left) && !may_overlap(out, right);
  const Array target = direct ? out : call.empty(shapes.result, types.product);
  if (!direct) plan = plan_into(target);
  if (adds) assign(target, Operand(broadcast_to(*sum.c, target.shape())), on);

  call.reads(left);
  call.reads(right);
  call.writes(target);
  const bool exchanged = plan.exchanged;
  libs::Gemm gemm;
  gemm.m = plan.a.rows;
  gemm.n = plan.b.cols;
  gemm.k = plan.a.cols;
  gemm.a = (exchanged ? right : left).data_ptr();
  gemm.b = (exchanged ? left : right).data_ptr();
  gemm.c = target.data_ptr();
  const Layout la = *layout_of(plan.a), lb = *layout_of(plan.b), lc = *layout_of(plan.c);
  gemm.transpose_a = la.transposed;
  gemm.transpose_b = lb.transposed;
  gemm.lda = la.leading;
  gemm.ldb = lb.leading;
  gemm.ldc = lc.leading;
  gemm.operands = types.operands;
  gemm.result = types.product;
  gemm.alpha = sum.alpha;
  gemm.beta = adds ? sum.beta : 0;
  gemm.tf32 = call.context().options().allow_tf32;
  call.stream().raise_pending(static_cast<uint16_t>(call.op()));
  multiply(call, gemm, std::move(plan.batch));
  if (!direct) assign(out, Operand(target), on);
  return out;
}

}  // namespace stator
