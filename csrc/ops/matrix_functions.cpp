// What is made of decompositions, products and reductions: least squares, ranks, norms, powers, traces.
#include "ops/decompositions.hpp"

#include <stator/creation.hpp>
#include <stator/elementwise.hpp>
#include <stator/linalg.hpp>
#include <stator/reductions.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace stator::linalg {
namespace {

using namespace decompositions;

Array along(const Array& x, int64_t axis) {
  const int64_t axes[] = {axis};
  return expand_dims(x, axes);
}

ReduceOptions over(std::vector<int64_t> axes, bool keepdims = false) {
  ReduceOptions o;
  o.axes = std::move(axes);
  o.keepdims = keepdims;
  return o;
}

double default_rtol(const Array& a) {
  const double eps = real_part(a.dtype()) == DType::float32 ? std::numeric_limits<float>::epsilon()
                                                            : std::numeric_limits<double>::epsilon();
  return double(std::max(rows(a), cols(a))) * eps;
}

// Which singular values [..., k] count.
Array significant(const Array& s, double rtol, const Stream& on) {
  const Array largest = max(s, over({-1}, true), on);
  return greater(s, multiply(largest, Operand(rtol), {}, on), {}, on);
}

// 1 / s where it counts, else 0.
Array inverted(const Array& s, const Array& counts, const Stream& on) {
  return where(counts, reciprocal(s, {}, on), Operand(0.0), {}, on);
}

Array adjoint(const Array& x, const Stream& on) {
  return matrix_transpose(in(x.dtype(), dtypes::complexes) ? conj(x, {}, on) : x);
}

}  // namespace

LeastSquares lstsq(const Array& given_a, const Array& given_b, std::optional<double> rtol, const Stream& stream) {
  OpCall call(Op::lstsq, {&given_a, &given_b}, stream);
  const Stream on = stream_of(call);
  Array a = operand(call, given_a);
  const Rhs rhs = right_hand_side(call, a, given_b);
  const DType dtype = promote(a.dtype(), rhs.b.dtype());
  a = astype(a, dtype, false, on);
  const Array b = astype(rhs.b, dtype, false, on);
  const Dims batch = broadcast_shapes(call.name(), batch_of(a), batch_of(b));
  const int64_t m = rows(a), n = cols(a), columns = cols(b);
  const Dims solution = matrix_shape(batch, n, columns);
  LeastSquares out;
  out.residuals = call.empty(rhs.vector || batch.empty() ? Dims{0} : matrix_shape(batch, 0, columns), real_part(dtype));
  if (m == 0 || n == 0 || product(batch) == 0 || columns == 0) {
    out.x = as_given(zeros(a.backend(), solution, dtype, on), rhs.vector);
    out.rank = zeros(a.backend(), batch_of(a), DType::int64, on);
    out.singular_values = zeros(a.backend(), vector_shape(batch_of(a), std::min(m, n)), real_part(dtype), on);
    if (m != 0 && n != 0) out.singular_values = svdvals(a, {}, on).s;
    return out;
  }
  const Svd parts = svd(a, false, {}, on);
  const Array counts = significant(parts.s, rtol.value_or(default_rtol(a)), on);
  // x = V diag(1 / s) U^H b
  const Array projected = matmul(adjoint(parts.u, on), b, {}, on);
  const Array scaled = multiply(projected, along(inverted(parts.s, counts, on), -1), {}, on);
  const Array x = matmul(adjoint(parts.vh, on), scaled, {}, on);
  out.x = as_given(x, rhs.vector);
  out.singular_values = parts.s;
  out.rank = count_nonzero(counts, over({-1}), on);
  const Array least = min(out.rank, {}, on);
  if (m > n && least.item(on, Op::lstsq).i == n) {
    const Array off = abs(subtract(matmul(a, x, {}, on), b, {}, on), {}, on);
    out.residuals = sum(square(off, {}, on), over({-2}), on);
  }
  return out;
}

Array pinv(const Array& given, std::optional<double> rtol, const Stream& stream) {
  OpCall call(Op::pinv, {&given}, stream);
  const Stream on = stream_of(call);
  const Array a = operand(call, given);
  if (a.size() == 0) return call.empty(matrix_shape(batch_of(a), cols(a), rows(a)), a.dtype());
  const Svd parts = svd(a, false, {}, on);
  const Array counts = significant(parts.s, rtol.value_or(default_rtol(a)), on);
  const Array scaled = multiply(adjoint(parts.vh, on), along(inverted(parts.s, counts, on), -2), {}, on);
  return matmul(scaled, adjoint(parts.u, on), {}, on);
}

Array matrix_rank(const Array& given, std::optional<double> rtol, const Stream& stream) {
  OpCall call(Op::matrix_rank, {&given}, stream);
  const Stream on = stream_of(call);
  const Array a = operand(call, given);
  if (a.size() == 0) return zeros(a.backend(), batch_of(a), DType::int64, on);
  const Array s = svdvals(a, {}, on).s;
  return count_nonzero(significant(s, rtol.value_or(default_rtol(a)), on), over({-1}), on);
}

Array matrix_norm(const Array& given, NormOrder order, bool keepdims, const Stream& stream) {
  OpCall call(Op::matrix_norm, {&given}, stream);
  const Stream on = stream_of(call);
  const Array a = operand(call, given);
  const auto extreme = [&](const Array& x, std::vector<int64_t> axes) {
    return order.smallest ? min(x, over(std::move(axes), keepdims), on) : max(x, over(std::move(axes), keepdims), on);
  };
  switch (order.norm) {
    case MatrixNorm::frobenius: {
      ReduceOptions o = over({-2, -1}, keepdims);
      o.parameter = 2;
      return vector_norm(a, o, on);
    }
    case MatrixNorm::rows:
    case MatrixNorm::columns: {
      const int64_t summed = order.norm == MatrixNorm::rows ? -1 : -2;
      const Array sums = sum(abs(a, {}, on), over({summed}, true), on);
      const Array found = extreme(sums, {-2, -1});
      return found;
    }
    default: break;
  }
  const Array s = svdvals(a, {}, on).s;
  const bool nuclear = order.norm == MatrixNorm::nuclear;
  const Array found = nuclear ? sum(s, over({-1}, keepdims), on) : extreme(s, {-1});
  return keepdims ? along(found, -1) : found;
}

Array cond(const Array& given, NormOrder order, const Stream& stream) {
  OpCall call(Op::cond, {&given}, stream);
  const Stream on = stream_of(call);
  const Array a = operand(call, given);
  if (a.size() == 0)
    throw ShapeError(std::string(call.name()), "matrices of shape " + str(a.shape()),
                     "an empty matrix has no condition number");
  if (order.norm == MatrixNorm::spectral) {
    const Array s = svdvals(a, {}, on).s;
    const Array most = max(s, over({-1}), on), least = min(s, over({-1}), on);
    // 0 / 0 of a zero matrix is no number, its condition is infinite; for -2 it is the other way round.
    if (order.smallest) return divide(least, most, {}, on);
    const Array infinite = equal(least, Operand(0.0), {}, on);
    return where(infinite, Operand(std::numeric_limits<double>::infinity()), divide(most, least, {}, on), {}, on);
  }
  require_square(call, a);
  const Solution inverse = inv(a, {false}, on);
  const Array product_of = multiply(matrix_norm(a, order, false, on), matrix_norm(inverse.x, order, false, on), {}, on);
  const Array is_singular = not_equal(inverse.info, Operand(0), {}, on);
  return where(is_singular, Operand(std::numeric_limits<double>::infinity()), product_of, {}, on);
}

Array matrix_power(const Array& given, int64_t n, const Stream& stream) {
  OpCall call(Op::matrix_power, {&given}, stream);
  const Stream on = stream_of(call);
  Array a = operand(call, given);
  require_square(call, a);
  if (n == 0) {
    const Array out = call.empty(a.shape(), a.dtype());
    fill_identity(out, on);
    return out;
  }
  if (n < 0) a = inv(a, {}, on).x;
  uint64_t power = n < 0 ? uint64_t(0) - uint64_t(n) : uint64_t(n);
  Array out;
  for (Array base = a;; base = matmul(base, base, {}, on)) {
    if (power & 1) out = out ? matmul(out, base, {}, on) : base;
    power >>= 1;
    if (power == 0) break;
  }
  return n == 1 ? copy(out, on) : out;
}

Array trace(const Array& x, int64_t offset, std::optional<DType> dtype, const Stream& stream) {
  OpCall call(Op::linalg_trace, {&x}, stream);
  if (x.ndim() < 2)
    throw ShapeError(std::string(call.name()), "an array of shape " + str(x.shape()),
                     "matrices have at least two axes: (..., m, n)");
  ReduceOptions o = over({-1});
  o.dtype = dtype;
  return sum(diagonal(x, offset), o, stream_of(call));
}

Array cross(const Array& a, const Array& b, int64_t axis, const Stream& stream) {
  OpCall call(Op::linalg_cross, {&a, &b}, stream);
  const Stream on = stream_of(call);
  const std::string op(call.name());
  const Dims shape = broadcast_shapes(op, a.shape(), b.shape());
  const int at = normalize_axis(op, axis, shape.size());
  // As the array API has it: the axis has three elements in both, it is not broadcast.
  const auto extent = [&](const Array& x) {
    const int own = at - (shape.size() - x.ndim());
    return own < 0 ? int64_t(1) : x.shape()[own];
  };
  if (extent(a) != 3 || extent(b) != 3)
    throw ShapeError(op, "vectors of shapes " + str(a.shape()) + " and " + str(b.shape()),
                     "the axis must have 3 elements in both");
  const Array x = broadcast_to(a, shape), y = broadcast_to(b, shape);
  const auto component = [&](const Array& v, int64_t k) {
    std::vector<Index> index(size_t(at) + 1);
    for (int d = 0; d < at; ++d) index[size_t(d)].type = Index::Type::slice;
    index[size_t(at)].type = Index::Type::integer;
    index[size_t(at)].start = k % 3;
    return getitem(v, index);
  };
  const Array out = call.empty(shape, promote(a.dtype(), b.dtype()));
  for (int64_t k = 0; k < 3; ++k) {
    const Array target = component(out, k);
    ElementwiseOptions into;
    into.out = &target;
    const Array back = multiply(component(x, k + 2), component(y, k + 1), {}, on);
    subtract(multiply(component(x, k + 1), component(y, k + 2), {}, on), back, into, on);
  }
  return out;
}

}  // namespace stator::linalg
