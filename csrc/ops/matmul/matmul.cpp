// Matrix products of floating and complex dtypes: preparation, the product, and what follows it.
#include "ops/matmul/matmul.hpp"

#include "core/op_call.hpp"
#include "libs/blas.hpp"
#include "memory/overlap.hpp"
#include "ops/matmul/plan.hpp"
#include "params/matmul.hpp"

#include <stator/creation.hpp>
#include <stator/elementwise.hpp>
#include <stator/matmul.hpp>
#include <stator/movement.hpp>

#include <algorithm>
#include <string>

namespace stator {
namespace {

using namespace matmul_plan;

// What f makes of x, where axes that repeat one slice are made of one slice and repeat it again. `last`: how many of
// the last axes are made in full.
template <class F>
Array of_distinct(const Array& x, int last, F f) {
  Dims shape = x.shape();
  for (int d = 0; d < x.ndim() - last; ++d)
    if (x.strides()[d] == 0 && shape[d] > 1) shape[d] = 1;
  if (shape == x.shape()) return f(x);
  return broadcast_to(f(Array(x.buffer(), x.dtype(), shape, x.strides(), x.offset())), x.shape());
}

// x in the dtype that the library multiplies: x itself wherever possible.
Array converted(const Array& x, const Types& types, const Stream& stream) {
  const bool exact = promote(x.dtype(), types.rounded) == types.rounded;
  return astype_distinct(exact ? x : astype_distinct(x, types.rounded, stream), types.operands, stream);
}

// The same in a layout that BLAS takes.
Array laid_out(const Array& x, bool left, const Stream& stream) {
  if (layout_of(matrix_of(x, left))) return x;
  return of_distinct(x, 2, [&](const Array& y) { return copy(y, stream); });
}

// x with one of the rows, or columns, that repeat it; x itself where they do not.
Array without_repeats(const Array& x, int axis) {
  const int at = x.ndim() + axis;
  if (x.ndim() < 2 || x.shape()[at] <= 1 || x.strides()[at] != 0) return x;
  Dims shape = x.shape();
  shape[at] = 1;
  return Array(x.buffer(), x.dtype(), shape, x.strides(), x.offset());
}

// Removes the longest dimension, which the library iterates over. The batch has one at least.
BatchDim take_longest(std::vector<BatchDim>& batch) {
  const auto longest = std::max_element(batch.begin(), batch.end(),
                                        [](const BatchDim& x, const BatchDim& y) { return x.extent < y.extent; });
  const BatchDim taken = *longest;
  batch.erase(longest);
  return taken;
}

// One library call for each index of all batch dimensions except the two longest.
void call_library(OpCall& call, libs::Gemm gemm, std::vector<BatchDim> batch) {
  if (!batch.empty()) {
    const BatchDim inner = take_longest(batch);
    gemm.batch = inner.extent;
    gemm.stride_a = inner.a;
    gemm.stride_b = inner.b;
    gemm.stride_c = inner.c;
  }
  if (!batch.empty()) {
    const BatchDim outer = take_longest(batch);
    gemm.group = gemm.batch;
    gemm.batch *= outer.extent;
    gemm.outer_a = outer.a;
    gemm.outer_b = outer.b;
    gemm.outer_c = outer.c;
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

Array astype_distinct(const Array& x, DType dtype, const Stream& stream) {
  if (x.dtype() == dtype) return x;
  return of_distinct(x, 0, [&](const Array& y) { return astype(y, dtype, false, stream); });
}

// The library's call for target = left right, except for the batch.
libs::Gemm gemm_of(const Plan& plan, const Array& left, const Array& right, const Array& target, DType operands) {
  libs::Gemm gemm;
  gemm.m = plan.a.rows;
  gemm.n = plan.b.cols;
  gemm.k = plan.a.cols;
  gemm.a = (plan.exchanged ? right : left).data_ptr();
  gemm.b = (plan.exchanged ? left : right).data_ptr();
  gemm.c = target.data_ptr();
  const Layout la = *layout_of(plan.a), lb = *layout_of(plan.b), lc = *layout_of(plan.c);
  gemm.transpose_a = la.transposed;
  gemm.transpose_b = lb.transposed;
  gemm.lda = la.leading;
  gemm.ldb = lb.leading;
  gemm.ldc = lc.leading;
  gemm.operands = operands;
  gemm.result = target.dtype();
  return gemm;
}

namespace {

// The steps of one product.
class Product {
 public:
  Product(OpCall& call, const Array& a, const Array& b, const MatmulOptions& options, const Accumulate& sum,
          const After& after)
      : call_(call),
        sum_(sum),
        after_(after),
        adds_(sum.c != nullptr && !(sum.beta == complex128(0))),
        types_(choose_types(a.dtype(), b.dtype(), options)),
        shapes_(product_shapes(a, b)),
        on_(call.on()),
        out_(call.output(shapes_.result, types_.result, options.out)) {}

  Array run(const Array& a, const Array& b) {
    if (out_.size() > 0) multiply(a, b);
    return out_;
  }

 private:
  void multiply(const Array& a, const Array& b) {
    if (a.shape()[a.ndim() - 1] == 0) return fill();
    left_ = converted(a, types_, on_);
    right_ = converted(b, types_, on_);
    if (!stays_inner()) {
      left_ = laid_out(left_, true, on_);
      right_ = laid_out(right_, false, on_);
    }
    conjugates_ = sum_.conjugate && in(left_.dtype(), dtypes::complexes);
    if (conjugates_ && !is_inner(plan_of(left_, right_, out_, shapes_.product))) {
      // The conjugate may then have an inner plan.
      left_ = of_distinct(left_, 2, [&](const Array& x) { return conj(x, {}, on_); });
      conjugates_ = false;
    }
    call_.reads(left_);
    call_.reads(right_);
    if (adds_) call_.reads(*sum_.c);
    if (after_.bias) call_.reads(*after_.bias);
    if ((adds_ || after_) && in_one_call()) return;
    if (!after_) return plainly();
    const DType wide = promote(types_.product, DType::float32);
    const Array target =
        out_.dtype() == wide && out_.is_contiguous() && !overlaps() ? out_ : call_.empty(shapes_.result, wide);
    multiply_into(target, plan_of(left_, right_, target, shapes_.product));
    finish(target);
  }

  // An inner product reads operands of any layout. Its plan is one for every target.
  bool stays_inner() const {
    const Dims& product = shapes_.product;
    if (after_ || product[product.size() - 2] != 1 || product[product.size() - 1] != 1) return false;
    const Array& c = out_;
    const Array dense(c.buffer(), c.dtype(), c.shape(), contiguous_strides(c.shape()), 0);
    return is_inner(plan_of(left_, right_, c, product)) && is_inner(plan_of(left_, right_, dense, product));
  }

  bool overlaps() const { return may_overlap(out_, left_) || may_overlap(out_, right_); }

  // The result for k = 0, a sum of no products.
  void fill() {
    if (after_) {
      const Array target = call_.empty(shapes_.result, promote(types_.product, DType::float32));
      assign(target, Operand(0.0), on_);
      return finish(target);
    }
    if (!adds_) return assign(out_, Operand(0.0), on_);
    ElementwiseOptions into;
    into.out = &out_;
    const Scalar beta = sum_.beta.im == 0 ? Scalar(sum_.beta.re) : Scalar(sum_.beta);
    stator::multiply(Operand(broadcast_to(*sum_.c, out_.shape())), Operand(beta), into, on_);
  }

  void plainly() {
    Plan plan = plan_of(left_, right_, out_, shapes_.product);
    const bool direct = out_.dtype() == types_.product && layout_of(plan.c) && !overlaps();
    const Array target = direct ? out_ : call_.empty(shapes_.result, types_.product);
    if (!direct) plan = plan_of(left_, right_, target, shapes_.product);
    if (adds_) assign(target, Operand(broadcast_to(*sum_.c, target.shape())), on_);
    multiply_into(target, plan);
    if (!direct) assign(out_, Operand(target), on_);
  }

  libs::Gemm gemm(const Plan& plan, const Array& target) const {
    libs::Gemm gemm = gemm_of(plan, left_, right_, target, types_.operands);
    gemm.alpha = sum_.alpha;
    gemm.beta = adds_ ? sum_.beta : complex128(0);
    gemm.tf32 = call_.context().options().allow_tf32;
    return gemm;
  }

  void multiply_into(const Array& target, const Plan& plan) {
    constexpr int64_t vectors = 8;  // OpenBLAS is as fast for larger ones
    call_.writes(target);
    if (!adds_ && sum_.alpha == complex128(1) && in(types_.operands, dtypes::full_floats) &&
        is_small(call_, plan, vectors)) {
      kernels::matmul::small_product(call_.queue(), strided_of(plan, left_, right_, target, types_.operands));
      return;
    }
    if (is_inner(plan)) return inner_product(target, plan);
    call_.stream().raise_pending(static_cast<uint16_t>(call_.op()));
    call_library(call_, gemm(plan, target), plan.batch);
  }

  // A row times a column: libraries have no function for many of these, nor for a long one on several processors.
  bool is_inner(const Plan& plan) const {
    return plan.a.rows == 1 && plan.b.cols == 1 && !adds_ && sum_.alpha == complex128(1);
  }

  // The operands of the plan are a and b in this order: a product of one element is never exchanged.
  void inner_product(const Array& target, const Plan& plan) {
    params::InnerProduct p{};
    p.of = strided_of(plan, left_, right_, target, types_.operands);
    p.conjugate = conjugates_;
    const int64_t batches = batches_of(p.of);
    p.splits = kernels::matmul::inner_splits(call_.limits(), batches, p.of.k, &p.split_size);
    if (p.splits > 1) {
      p.sums = call_.scratch(size_t(batches) * size_t(p.splits) * 16);
      p.counters = static_cast<uint32_t*>(call_.zeroed_scratch(size_t(batches) * sizeof(uint32_t)));
    }
    kernels::matmul::inner_product(call_.queue(), p);
  }

  // Does everything in one library call that writes to the result; false if the library or the layouts do not allow it.
  bool in_one_call() {
    const Array& out = out_;
    if (call_.context().runtime().is_host() || out.dtype() != types_.product || overlaps()) return false;
    const bool half = in(out.dtype(), dtypes::floats & ~dtypes::full_floats);
    libs::GemmExtra extra;
    switch (after_.activation) {
      case params::Activation::none:
      case params::Activation::relu: break;
      // The library's tanh is an approximation, which is good enough for results with 11 bits of precision.
      case params::Activation::gelu_tanh:
        if (!half) return false;
        break;
      default: return false;
    }
    extra.activation = after_.activation;
    const Plan plan = plan_of(left_, right_, out, shapes_.product);
    if (plan.exchanged || plan.batch.size() > 1 || !layout_of(plan.c)) return false;
    if (after_.bias) {
      const Array& bias = *after_.bias;
      if (bias.dtype() != out.dtype() || (bias.strides()[0] != 1 && bias.size() > 1)) return false;
      extra.bias = bias.data_ptr();
    }
    libs::Gemm one = gemm(plan, out);
    if (!plan.batch.empty()) {
      one.batch = plan.batch[0].extent;
      one.stride_a = plan.batch[0].a;
      one.stride_b = plan.batch[0].b;
      one.stride_c = plan.batch[0].c;
    }
    if (adds_) {
      const Array c = broadcast_to(*sum_.c, out.shape());
      const Plan of_c = plan_of(left_, right_, c, shapes_.product);
      const auto layout = layout_of(of_c.c);
      const bool alike =
          of_c.exchanged == plan.exchanged && of_c.batch.size() == plan.batch.size() && of_c.c.rows == plan.c.rows;
      if (c.dtype() != out.dtype() || !layout || layout->transposed || !alike) return false;
      extra.addend = c.data_ptr();
      extra.addend_leading = layout->leading;
      extra.addend_stride = of_c.batch.empty() ? 0 : of_c.batch[0].c;
    }
    call_.writes(out);
    call_.stream().raise_pending(static_cast<uint16_t>(call_.op()));
    return libs::blas(call_.context()).gemm_with(call_, one, extra);
  }

  // One launch for bias and activation, from the wide product to the result.
  void finish(const Array& product) {
    if (!out_.is_contiguous()) {
      const Array dense = call_.empty(shapes_.result, out_.dtype());
      finish(product, dense);
      return assign(out_, Operand(dense), on_);
    }
    finish(product, out_);
  }
  void finish(const Array& product, const Array& to) {
    call_.reads(product);
    call_.writes(to);
    params::ProductEpilogue p{};
    p.x_dtype = product.dtype();
    p.out_dtype = to.dtype();
    p.activation = after_.activation;
    p.cols = shapes_.result[shapes_.result.size() - 1];
    p.rows = to.size() / p.cols;
    p.out_row = p.cols;
    p.out_col = 1;
    p.x = product.data_ptr();
    p.out = to.data_ptr();
    if (after_.bias) {
      p.bias = after_.bias->data_ptr();
      p.bias_dtype = after_.bias->dtype();
      p.bias_stride = after_.bias->strides()[0];
    }
    kernels::matmul::epilogue(call_.queue(), p);
  }

  OpCall& call_;
  const Accumulate& sum_;
  const After& after_;
  const bool adds_;
  bool conjugates_ = false;  // the left operand is still to be conjugated
  const Types types_;
  const ProductShapes shapes_;
  const Stream on_;
  const Array out_;
  Array left_, right_;
};

}  // namespace

Array matmul(const Array& a, const Array& b, const MatmulOptions& options, const Stream& stream) {
  if (is_integer_product(a, b)) return matmul_integer(a, b, options, stream);
  return product(a, b, options, {}, {}, stream);
}

Array product(const Array& a, const Array& b, const MatmulOptions& options, const Accumulate& sum, const After& after,
              const Stream& stream) {
  if (!sum.c && !after && !options.out) {
    const Array row = without_repeats(a, -2), column = without_repeats(b, -1);
    if (row.size() != a.size() || column.size() != b.size()) {
      const Dims shape = product_shapes(a, b).result;  // throws with the shapes that the caller sees
      return copy(broadcast_to(product(row, column, options, sum, after, stream), shape), stream);
    }
  }
  OpCall call(Op::matmul, {&a, &b, sum.beta == complex128(0) ? nullptr : sum.c, after.bias}, stream);
  return Product(call, a, b, options, sum, after).run(a, b);
}

}  // namespace stator
