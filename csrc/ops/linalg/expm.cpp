// The matrix exponential: scaling, a Pade approximant, squaring. The steps between the products, with their references,
// are in kernels/linalg/expm.cu.
#include "libs/blas.hpp"
#include "ops/linalg/operands.hpp"
#include "params/linalg.hpp"

#include <stator/creation.hpp>
#include <stator/matmul.hpp>
#include <stator/movement.hpp>

#include <algorithm>
#include <vector>

namespace stator::linalg {
namespace {

using namespace detail;

// The left halves of matrices (..., n, 2 n).
Array left_half(const Array& sums) {
  Dims shape = sums.shape();
  shape[shape.size() - 1] /= 2;
  return Array(sums.buffer(), sums.dtype(), std::move(shape), sums.strides(), sums.offset());
}

// outer += x inner, all dense: x is (count, n, n), the others are (count, n, 2 n).
void accumulate(OpCall& call, const Array& x, const Array& inner, const Array& outer) {
  libs::Gemm g;
  g.m = g.k = rows(x);
  g.n = cols(outer);
  g.batch = product(batch_of(x));
  g.a = x.data_ptr();
  g.b = inner.data_ptr();
  g.c = outer.data_ptr();
  g.lda = g.k;
  g.ldb = g.ldc = g.n;
  g.stride_a = g.m * g.k;
  g.stride_b = g.stride_c = g.k * g.n;
  g.operands = g.result = x.dtype();
  g.beta = 1;
  libs::blas(call.context()).gemm(call, g);
}

// q^-1 p, the solution of q x = p. Where the library would copy a dense result into column-major order, its transpose
// is solved for instead.
Array quotient(const Array& p, const Array& q, const Stream& on) {
  if (small(rows(p))) return solve(q, p, {false}, on).x;
  return matrix_transpose(solve(matrix_transpose(q), matrix_transpose(p), {false}, on).x);
}

}  // namespace

Array expm(const Array& given, const Stream& stream) {
  OpCall call(Op::expm, {&given}, stream);
  const Stream on = call.on();
  Array a = operand(call, given);
  require_square(call, a);
  const Dims batch = batch_of(a);
  const int64_t n = rows(a), count = product(batch);
  if (a.size() == 0) return call.empty(a.shape(), a.dtype());
  a = stepping(a, on);
  const bool twice = real_part(a.dtype()) == DType::float64;  // then the degree is 13
  const auto room = [&] { return call.empty(a.shape(), a.dtype()); };
  const Array x = room(), outer = call.empty(matrix_shape(batch, n, 2 * n), a.dtype()),
              inner = twice ? call.empty(outer.shape(), a.dtype()) : Array(),
              squarings = call.empty(batch, DType::int32);
  auto* const chosen = static_cast<int32_t*>(squarings.data_ptr());
  auto* const exponent = static_cast<int32_t*>(call.scratch(sizeof(int32_t) * size_t(count)));
  void* const vectors = call.scratch(size_t(2 * n * count * itemsize(real_part(a.dtype()))));
  call.reads(a);
  call.writes(x);
  kernels::linalg::expm_scale(
      call.queue(),
      {.dtype = a.dtype(), .count = count, .n = n, .a = matrices(a), .b = x.data_ptr(), .exponent = exponent});
  const Array x2 = matmul(x, x, {}, on), x4 = matmul(x2, x2, {}, on), x6 = matmul(x4, x2, {}, on);
  for (const Array& power : {x2, x4}) call.reads(power);
  for (const Array& written : {x6, outer, squarings}) call.writes(written);
  if (inner) call.writes(inner);
  kernels::linalg::expm_choose(call.queue(), {.dtype = a.dtype(),
                                              .count = count,
                                              .n = n,
                                              .b = x.data_ptr(),
                                              .b4 = x4.data_ptr(),
                                              .b6 = x6.data_ptr(),
                                              .exponent = exponent,
                                              .squarings = chosen,
                                              .vectors = vectors});
  kernels::linalg::expm_terms(call.queue(), {.dtype = a.dtype(),
                                             .count = count,
                                             .n = n,
                                             .b = x.data_ptr(),
                                             .b2 = x2.data_ptr(),
                                             .b4 = x4.data_ptr(),
                                             .b6 = x6.data_ptr(),
                                             .exponent = exponent,
                                             .squarings = chosen,
                                             .outer = outer.data_ptr(),
                                             .inner = inner ? inner.data_ptr() : nullptr});
  if (inner) accumulate(call, x6, inner, outer);
  // The approximant is (v + u) / (v - u), where u holds the odd powers. x becomes v + u, and u becomes v - u.
  const Array u = matmul(x, left_half(outer), {}, on);
  call.writes(u);
  kernels::linalg::expm_fraction(call.queue(), {.dtype = a.dtype(),
                                                .count = count,
                                                .n = n,
                                                .u = u.data_ptr(),
                                                .sums = outer.data_ptr(),
                                                .p = x.data_ptr(),
                                                .q = u.data_ptr()});
  Array result = quotient(x, u, on);
  std::vector<int32_t> times(size_t(count), 0);
  squarings.to_host(times.data(), on, call.op());
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  for (int32_t step = 0; step < *most; ++step) {
    const Array squared = matmul(result, result, {}, on);
    if (step >= *least) {
      OpCall keep(Op::expm, {&result, &squared, &squarings}, on);
      keep.reads(result);
      keep.reads(squarings);
      keep.writes(squared);
      kernels::linalg::expm_keep(keep.queue(), {.itemsize = itemsize(a.dtype()),
                                                .count = count,
                                                .size = n * n,
                                                .step = step,
                                                .squarings = chosen,
                                                .kept = result.data_ptr(),
                                                .squared = squared.data_ptr()});
    }
    result = squared;
  }
  return result;
}

}  // namespace stator::linalg
