// Weight and spectral normalisation: of the weights of a layer rather than of what passes through it.
#include <stator/nn/norm.hpp>

#include "ops/axes.hpp"
#include "ops/norm/operands.hpp"
#include "params/norm.hpp"
#include "runtime/waiting/waiting.hpp"

#include <stator/creation.hpp>
#include <stator/elementwise.hpp>
#include <stator/matmul.hpp>
#include <stator/movement.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace stator::nn {
namespace {

Array moved(const Array& x, int from, int to) {
  if (from == to) return x;
  const std::array<int64_t, 1> source{from}, destination{to};
  return moveaxis(x, source, destination);
}

Array shaped(const Array& x, const Dims& shape, const Stream& on) {
  return reshape(x, std::span<const int64_t>(shape.data(), size_t(shape.size())), {}, on);
}

// How v is divided into rows that have a length each.
struct Rows {
  int axis;  // 0 also for one row of everything
  int64_t count, n;
};
Rows rows_of(const OpCall& call, const Array& v, const Array& g, std::optional<int64_t> axis) {
  const std::string op(call.name());
  check_input(call, v, 0);
  if (v.ndim() == 0) throw ShapeError(op, "v has no axes", "pass an array of at least one axis");
  const int at = axis ? normalize_axis(op, *axis, v.ndim()) : 0;
  const int64_t count = axis ? v.shape()[at] : 1;
  Dims kept(v.ndim());
  for (int d = 0; d < v.ndim(); ++d) kept[d] = axis && d == at ? count : 1;
  const bool fits = g.shape() == kept || g.shape() == (axis ? Dims{count} : Dims{});
  if (!fits)
    throw ShapeError(op, "got g " + str(g.shape()) + " for v " + str(v.shape()), "pass an array of shape " + str(kept));
  if (g.dtype() != v.dtype())
    throw DTypeError(op, "g is " + std::string(name(g.dtype())) + ", v is " + std::string(name(v.dtype())),
                     "convert one with astype");
  return {at, count, count > 0 ? v.size() / count : 0};
}

params::RowNorm parameters_of(const Array& v, const Rows& rows) {
  params::RowNorm p{};
  p.dtype = v.dtype();
  p.total = true;
  p.rows = p.groups = rows.count;
  p.channels = 1;
  p.n = p.inner = rows.n;
  return p;
}

// x over its length, or over eps.
Array over_length(Op op, const Array& x, double eps, const Stream& on) {
  OpCall call(op, {&x}, on);
  const auto operand = dense_operand(call, &x);
  Array out = call.empty(x.shape(), x.dtype());
  if (x.size() == 0) return out;
  call.writes(out);
  params::RowNorm p{};
  p.dtype = x.dtype();
  p.total = true;
  p.eps = eps;
  p.rows = p.groups = p.inner = 1;
  p.n = p.channels = x.size();
  p.x = address(operand);
  p.y = out.data_ptr();
  kernels::norm::row_norm(call.queue(), p);
  return out;
}

void check_vector(const OpCall& call, const Array& a, const char* what, int64_t n, const Array& weight) {
  const std::string op(call.name());
  if (!(a.shape() == Dims{n}))
    throw ShapeError(op, "got " + std::string(what) + " " + str(a.shape()) + " for a weight " + str(weight.shape()),
                     "pass an array of shape " + str(Dims{n}));
  if (a.dtype() != weight.dtype())
    throw DTypeError(op,
                     std::string(what) + " is " + std::string(name(a.dtype())) + ", the weight is " +
                         std::string(name(weight.dtype())),
                     "convert one with astype");
}

// The weight with the axis of rows first, and as a matrix.
struct Matrix {
  int axis;
  Array turned, flat;
};
Matrix matrix_of(const OpCall& call, const Array& weight, int64_t axis) {
  const std::string op(call.name());
  if (weight.ndim() < 2)
    throw ShapeError(op, "got a weight " + str(weight.shape()),
                     "pass two axes at least; divide a vector by its length");
  const int at = normalize_axis(op, axis, weight.ndim());
  const int64_t rows = weight.shape()[at];
  if (weight.size() == 0)
    throw ShapeError(op, "got a weight " + str(weight.shape()) + " without elements", "pass one that has elements");
  const Array turned = moved(weight, at, 0);
  return {at, turned, shaped(turned, {rows, weight.size() / rows}, call.on())};
}

}  // namespace

WeightNormalized weight_norm(const Array& v, const Array& g, std::optional<int64_t> axis, const Stream& stream) {
  OpCall call(Op::weight_norm, {&v, &g}, stream);
  const Rows rows = rows_of(call, v, g, axis);
  const Array turned = moved(v, rows.axis, 0);
  const auto from = dense_operand(call, &turned), factors = dense_operand(call, &g);
  const Array w = call.empty(turned.shape(), v.dtype());
  WeightNormalized out{moved(w, 0, rows.axis), call.empty(g.shape(), v.dtype())};
  if (rows.count == 0) return out;
  call.writes(w);
  call.writes(out.lengths);
  params::RowNorm p = parameters_of(v, rows);
  p.x = address(from);
  p.weight = address(factors);
  p.y = w.data_ptr();
  p.lengths = out.lengths.data_ptr();
  kernels::norm::row_norm(call.queue(), p);
  return out;
}

WeightNormGradients weight_norm_backward(const Array& grad, const Array& v, const Array& g, std::optional<int64_t> axis,
                                         const Stream& stream) {
  OpCall call(Op::weight_norm_backward, {&grad, &v, &g}, stream);
  const Rows rows = rows_of(call, v, g, axis);
  check_like(call, grad, "grad", v);
  const Array turned = moved(v, rows.axis, 0), turned_grad = moved(grad, rows.axis, 0);
  const auto from = dense_operand(call, &turned), slope = dense_operand(call, &turned_grad);
  const auto factors = dense_operand(call, &g);
  const Array dv = call.empty(turned.shape(), v.dtype());
  WeightNormGradients out{moved(dv, 0, rows.axis), call.empty(g.shape(), v.dtype())};
  if (rows.count == 0) return out;
  if (turned.size() == 0) {  // there is no weight that g could change
    out.g = zeros(v.backend(), g.shape(), v.dtype(), call.on());
    return out;
  }
  call.writes(dv);
  call.writes(out.g);
  params::RowNorm p = parameters_of(v, rows);
  p.x = address(from);
  p.grad = address(slope);
  p.weight = address(factors);
  p.y = dv.data_ptr();
  p.dweight = out.g.data_ptr();
  p.partials = call.scratch(size_t(std::max<int64_t>(kernels::norm::row_norm_scratch(call.limits(), p), 1)));
  kernels::norm::row_norm_backward(call.queue(), p);
  return out;
}

SpectralNormalized spectral_norm(const Array& weight, const Array& u, const SpectralNormOptions& o,
                                 const Stream& stream) {
  constexpr Op op = Op::spectral_norm;
  const OpCall call(op, {&weight, &u, o.v}, stream);
  check_input(call, weight, o.eps);
  const Matrix m = matrix_of(call, weight, o.axis);
  check_vector(call, u, "u", m.flat.shape()[0], weight);
  if (o.v) check_vector(call, *o.v, "v", m.flat.shape()[1], weight);
  if (o.iterations < 0)
    throw ValueError(std::string(call.name()), "n_iterations=" + std::to_string(o.iterations), "pass 0 or more");
  const Stream on = call.on();
  const Array across = matrix_transpose(m.flat);
  // u of any length has the same v; of a long one the products with the weight could overflow.
  const auto first = [&] { return over_length(op, matmul(across, over_length(op, u, o.eps, on), {}, on), o.eps, on); };
  Array left = u, right = o.v ? *o.v : first();
  constexpr int64_t polled = 256;  // iterations between two questions whether the call is to end early
  for (int64_t i = 0; i < o.iterations; ++i) {
    if (i % polled == polled - 1) runtime::poll_interrupt(uint16_t(op));
    left = over_length(op, matmul(m.flat, right, {}, on), o.eps, on);
    right = over_length(op, matmul(across, left, {}, on), o.eps, on);
  }
  const Array sigma = vecdot(left, matmul(m.flat, right, {}, on), -1, {}, on);
  return {divide(weight, sigma, {}, on), left, right, sigma};
}

Array spectral_norm_backward(const Array& grad, const Array& w, const Array& u, const Array& v, const Array& sigma,
                             int64_t axis, const Stream& stream) {
  const OpCall call(Op::spectral_norm_backward, {&grad, &w, &u, &v, &sigma}, stream);
  check_input(call, w, 0);
  check_like(call, grad, "grad", w);
  const Matrix m = matrix_of(call, w, axis), g = matrix_of(call, grad, axis);
  const int64_t rows = m.flat.shape()[0], columns = m.flat.shape()[1];
  check_vector(call, u, "u", rows, w);
  check_vector(call, v, "v", columns, w);
  if (sigma.ndim() != 0 || sigma.dtype() != w.dtype())
    throw ShapeError(std::string(call.name()),
                     "got sigma of shape " + str(sigma.shape()) + " and dtype " + std::string(name(sigma.dtype())),
                     "pass the 0-dimensional array that spectral_norm returned");
  const Stream on = call.on();
  const Array along = vecdot(shaped(g.flat, {w.size()}, on), shaped(m.flat, {w.size()}, on), -1, {}, on);
  const Array left = shaped(multiply(u, along, {}, on), {rows, 1}, on), right = shaped(v, {1, columns}, on);
  const Array result = divide(addmm(g.flat, left, right, -1, 1, on), sigma, {}, on);
  return moved(shaped(result, m.turned.shape(), on), 0, m.axis);
}

}  // namespace stator::nn
