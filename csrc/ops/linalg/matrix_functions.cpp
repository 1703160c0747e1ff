// What follows from decompositions, products and reductions: least squares, ranks, norms, powers, traces.
#include "ops/collapse.hpp"
#include "ops/linalg/operands.hpp"
#include "params/linalg.hpp"

#include <stator/creation.hpp>
#include <stator/elementwise.hpp>
#include <stator/matmul.hpp>
#include <stator/movement.hpp>
#include <stator/reduce.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace stator::linalg {
namespace {

using namespace detail;

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

// The first element of x along an axis, which is removed.
Array without(const Array& x, int axis) {
  Dims shape, strides;
  for (int d = 0; d < x.ndim(); ++d) {
    if (d == axis) continue;
    shape.push_back(x.shape()[d]);
    strides.push_back(x.strides()[d]);
  }
  return Array(x.buffer(), x.dtype(), std::move(shape), std::move(strides), x.offset());
}

double default_rtol(const Array& a) {
  const double eps = real_part(a.dtype()) == DType::float32 ? std::numeric_limits<float>::epsilon()
                                                            : std::numeric_limits<double>::epsilon();
  return double(std::max(rows(a), cols(a))) * eps;
}

params::Spectrum spectrum_of(const Array& s, DType dtype) {
  params::Spectrum p{};
  p.dtype = dtype;
  p.k = s.shape()[s.ndim() - 1];
  p.count = s.size() / p.k;
  p.values = s.data_ptr();
  return p;
}

// The dense tolerances, which must outlive the launch; empty if one number holds for all matrices.
Array set_tolerance(OpCall& call, const Array& a, const Tolerance& tolerance, params::Spectrum& p) {
  p.rtol = tolerance.rtol.value_or(default_rtol(a));
  if (tolerance.each == nullptr) return {};
  const Array& given = *tolerance.each;
  if (!in(given.dtype(), dtypes::floats | dtypes::integers))
    throw DTypeError(std::string(call.name()), "got rtol of " + std::string(name(given.dtype())), "pass real numbers");
  const Dims batch = batch_of(a);
  if (!(broadcast_shapes(call.name(), given.shape(), batch) == batch))
    throw ShapeError(std::string(call.name()),
                     "got rtol of shape " + str(given.shape()) + " for matrices of shape " + str(a.shape()),
                     "it must broadcast to " + str(batch));
  const Array dense = call.empty(batch, real_part(a.dtype()));
  assign(dense, Operand(given), call.on());
  call.reads(dense);
  p.rtols = dense.data_ptr();
  return dense;
}

// A norm of nonempty matrices by their singular values: one launch after theirs.
Array spectral(OpCall& call, const Array& a, params::SpectralNorm norm) {
  const Array s = svdvals(a, {}, call.on()).s;
  const Array out = call.empty(batch_of(a), s.dtype());
  call.reads(s);
  call.writes(out);
  params::Spectrum p = spectrum_of(s, a.dtype());
  p.norm = norm;
  p.norms = out.data_ptr();
  kernels::linalg::spectrum(call.queue(), p);
  return out;
}

// Computes the factors of the pseudo-inverse in place of U and V^H in one launch: conj(U) and conj(V^H), one of them
// divided by the singular values that count and zero for the others. `rank` may be null.
void invert(OpCall& call, const Array& a, const Svd& parts, const Tolerance& tolerance, bool scale_u,
            const Array* rank) {
  const Array& scaled = scale_u ? parts.u : parts.vh;
  const Array& other = scale_u ? parts.vh : parts.u;
  call.reads(parts.s);
  call.writes(parts.u);
  call.writes(parts.vh);
  params::Spectrum p = spectrum_of(parts.s, a.dtype());
  const Array rtols = set_tolerance(call, a, tolerance, p);
  p.by_column = scale_u;
  p.scaled = matrices(scaled);
  p.scaled_rows = rows(scaled);
  p.scaled_cols = cols(scaled);
  if (in(a.dtype(), dtypes::complexes)) {
    p.other = matrices(other);
    p.other_rows = rows(other);
    p.other_cols = cols(other);
  }
  if (rank != nullptr) {
    call.writes(*rank);
    p.rank = static_cast<int64_t*>(rank->data_ptr());
  }
  kernels::linalg::spectrum(call.queue(), p);
}

}  // namespace

LeastSquares lstsq(const Array& given_a, const Array& given_b, const Tolerance& tolerance, const Stream& stream) {
  OpCall call(Op::lstsq, {&given_a, &given_b, tolerance.each}, stream);
  const Stream on = call.on();
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
  // x = V diag(1 / s) U^H b.
  const Svd parts = svd(a, false, {}, on);
  out.singular_values = parts.s;
  out.rank = call.empty(batch_of(a), DType::int64);
  invert(call, a, parts, tolerance, true, &out.rank);
  const Array projected = matmul(matrix_transpose(parts.u), b, {}, on);
  const Array x = matmul(matrix_transpose(parts.vh), projected, {}, on);
  out.x = as_given(x, rhs.vector);
  if (m <= n) return out;
  std::vector<int64_t> ranks(size_t(out.rank.size()));
  out.rank.to_host(ranks.data(), on, call.op());
  if (*std::min_element(ranks.begin(), ranks.end()) == n) {
    ReduceOptions o = over({-2});
    o.parameter = 2;
    out.residuals = square(vector_norm(subtract(matmul(a, x, {}, on), b, {}, on), o, on), {}, on);
  }
  return out;
}

Array pinv(const Array& given, const Tolerance& tolerance, const Stream& stream) {
  OpCall call(Op::pinv, {&given, tolerance.each}, stream);
  const Stream on = call.on();
  const Array a = operand(call, given);
  if (a.size() == 0) return call.empty(matrix_shape(batch_of(a), cols(a), rows(a)), a.dtype());
  const Svd parts = svd(a, false, {}, on);
  invert(call, a, parts, tolerance, false, nullptr);
  return matmul(matrix_transpose(parts.vh), matrix_transpose(parts.u), {}, on);
}

Array matrix_rank(const Array& given, const Tolerance& tolerance, const Stream& stream) {
  OpCall call(Op::matrix_rank, {&given, tolerance.each}, stream);
  const Stream on = call.on();
  const Array a = operand(call, given);
  if (a.size() == 0) return zeros(a.backend(), batch_of(a), DType::int64, on);
  const Array s = svdvals(a, {}, on).s, rank = call.empty(batch_of(a), DType::int64);
  call.reads(s);
  call.writes(rank);
  params::Spectrum p = spectrum_of(s, a.dtype());
  const Array rtols = set_tolerance(call, a, tolerance, p);
  p.rank = static_cast<int64_t*>(rank.data_ptr());
  kernels::linalg::spectrum(call.queue(), p);
  return rank;
}

Array matrix_norm(const Array& given, NormOrder order, bool keepdims, const Stream& stream) {
  OpCall call(Op::matrix_norm, {&given}, stream);
  const Stream on = call.on();
  const Array a = operand(call, given);
  if (a.size() == 0) {
    Dims shape = batch_of(a);
    const int64_t m = a.shape()[a.ndim() - 2], n = a.shape()[a.ndim() - 1];
    const int64_t compared = order.norm == MatrixNorm::rows ? m : order.norm == MatrixNorm::columns ? n : 0;
    if (order.smallest && compared == 0 && product(shape) > 0)
      throw ValueError(std::string(call.name()), "got matrices of shape " + str(a.shape()),
                       "The smallest row sum (-inf) needs a row, the smallest column sum (-1) a column, and the "
                       "smallest singular value (-2) both");
    for (int d = 0; d < 2 && keepdims; ++d) shape.push_back(1);
    return zeros(a.backend(), shape, real_part(a.dtype()), on);
  }
  switch (order.norm) {
    case MatrixNorm::frobenius: {
      ReduceOptions o = over({-2, -1}, keepdims);
      o.parameter = 2;
      return vector_norm(a, o, on);
    }
    case MatrixNorm::rows:
    case MatrixNorm::columns: {
      const int64_t summed = order.norm == MatrixNorm::rows ? -1 : -2;
      ReduceOptions o = over({summed}, true);
      o.parameter = 1;
      const Array sums = vector_norm(a, o, on);
      return order.smallest ? min(sums, over({-2, -1}, keepdims), on) : max(sums, over({-2, -1}, keepdims), on);
    }
    default: break;
  }
  const Array result = spectral(call, a,
                                order.norm == MatrixNorm::nuclear ? params::SpectralNorm::sum
                                : order.smallest                  ? params::SpectralNorm::smallest
                                                                  : params::SpectralNorm::largest);
  return keepdims ? along(along(result, -1), -1) : result;
}

Array cond(const Array& given, NormOrder order, const Stream& stream) {
  OpCall call(Op::cond, {&given}, stream);
  const Stream on = call.on();
  const Array a = operand(call, given);
  if (a.shape()[a.ndim() - 2] == 0 || a.shape()[a.ndim() - 1] == 0)
    throw ShapeError(std::string(call.name()), "got matrices of shape " + str(a.shape()),
                     "pass matrices that are not empty");
  if (order.norm == MatrixNorm::spectral)
    return spectral(call, a,
                    order.smallest ? params::SpectralNorm::inverse_condition : params::SpectralNorm::condition);
  require_square(call, a);
  Solution inverse = inv(a, {false}, on);
  const Array is_singular = not_equal(inverse.info, Operand(0), {}, on);
  if (order.norm == MatrixNorm::nuclear)  // the singular values of a failed inverse would raise
    inverse.x = where(along(along(is_singular, -1), -1), Operand(0), inverse.x, {}, on);
  const Array product_of = multiply(matrix_norm(a, order, false, on), matrix_norm(inverse.x, order, false, on), {}, on);
  return where(is_singular, Operand(std::numeric_limits<double>::infinity()), product_of, {}, on);
}

Array matrix_power(const Array& given, int64_t n, const Stream& stream) {
  OpCall call(Op::matrix_power, {&given}, stream);
  const Stream on = call.on();
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
    throw ShapeError(std::string(call.name()), "got an array of shape " + str(x.shape()),
                     "matrices must have at least two axes: (..., m, n)");
  ReduceOptions o = over({-1});
  o.dtype = dtype;
  return sum(diagonal(x, offset), o, call.on());
}

Array cross(const Array& a, const Array& b, int64_t axis, const Stream& stream) {
  OpCall call(Op::linalg_cross, {&a, &b}, stream);
  const Stream on = call.on();
  const std::string op(call.name());
  const Dims shape = broadcast_shapes(op, a.shape(), b.shape());
  const int at = normalize_axis(op, axis, shape.size());
  // As in the array API standard, the axis has three elements in both and is not broadcast.
  const auto extent = [&](const Array& x) {
    const int own = at - (shape.size() - x.ndim());
    return own < 0 ? int64_t(1) : x.shape()[own];
  };
  if (extent(a) != 3 || extent(b) != 3)
    throw ShapeError(op, "got vectors of shapes " + str(a.shape()) + " and " + str(b.shape()),
                     "the axis must have 3 elements in both");
  const DType dtype = promote(a.dtype(), b.dtype());
  if (!in(dtype, dtypes::numeric))
    throw DTypeError(op, "got vectors of bool", "vectors must be of numbers. Convert them with astype");
  const Array out = call.empty(shape, dtype), x = broadcast_to(a, shape), y = broadcast_to(b, shape);
  if (out.size() == 0) return out;
  call.reads(a);
  call.reads(b);
  call.writes(out);
  const Array first = without(out, at), of_x = without(x, at), of_y = without(y, at);
  const Array* const inputs[] = {&of_x, &of_y};
  params::Cross p{collapse(first, inputs), x.strides()[at], y.strides()[at], out.strides()[at]};
  p.first.compute = in(dtype, dtypes::integers) ? DType::int64 : itemsize(dtype) == 2 ? DType::float32 : dtype;
  kernels::linalg::cross(call.queue(), p);
  return out;
}

}  // namespace stator::linalg
