// Products that are one matmul or one multiplication of views of their operands.
#include "core/op_call.hpp"
#include "ops/axes.hpp"
#include "ops/matmul/matmul.hpp"
#include "ops/scalar.hpp"

#include <stator/creation.hpp>
#include <stator/elementwise.hpp>
#include <stator/matmul.hpp>
#include <stator/movement.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace stator {
namespace {

Array with_axis(const Array& x, int64_t axis) {
  const int64_t axes[] = {axis};
  return expand_dims(x, axes);
}

Array last_axis(const Array& x, int64_t axis) {
  if (axis == -1) return x;
  const int64_t from[] = {axis}, to[] = {-1};
  return moveaxis(x, from, to);
}

// x as a matrix: the axes named, in that order, merged into its last (or first) axis, the other axes into the other
// one.
Array as_matrix(const Array& x, std::span<const int64_t> named, bool last, Dims* others, const Stream& on) {
  std::vector<bool> is_named(size_t(x.ndim()), false);
  std::vector<int64_t> order, rest;
  int64_t inside = 1, outside = 1;
  for (const int64_t axis : named) {
    is_named[size_t(axis)] = true;
    inside *= x.shape()[int(axis)];
  }
  for (int d = 0; d < x.ndim(); ++d) {
    if (is_named[size_t(d)]) continue;
    rest.push_back(d);
    others->push_back(x.shape()[d]);
    outside *= x.shape()[d];
  }
  order.insert(order.end(), named.begin(), named.end());
  order.insert(last ? order.begin() : order.end(), rest.begin(), rest.end());
  const int64_t shape[] = {last ? outside : inside, last ? inside : outside};
  return reshape(permute_dims(x, order), shape, {}, on);
}

// beta c + alpha a b
struct ScaledSum {
  const Array &c, &a, &b;
  const Scalar &alpha, &beta;
};

// Of integers, which wraps around. The factors are integers of the result's dtype.
Array accumulate_integers(const std::string& op, const ScaledSum& sum, DType dtype, const Stream& on) {
  const auto& [c, a, b, alpha, beta] = sum;
  for (const auto& [name, factor] : {std::pair{"alpha", &alpha}, {"beta", &beta}}) {
    if (!is_integer(*factor))
      throw DTypeError(
          op, std::string(name) + " that is not an integer, for operands of " + std::string(stator::name(dtype)),
          "pass an integer, or convert the operands to a floating dtype");
    if (!fits(*factor, dtype))
      throw NumberRangeError(op, std::string(name) + " that is out of range for " + std::string(stator::name(dtype)),
                             "pass a number in range, or convert the operands to a wider dtype");
  }
  const Array product = matmul(a, b, {.dtype = dtype}, on);
  const ElementwiseOptions into{.out = &product};
  if (beta.i == 0) return alpha.i == 1 ? product : multiply(product, alpha, into, on);
  const Array addend = beta.i == 1 ? c : multiply(c, beta, {.dtype = dtype}, on);
  return alpha.i == 1 ? add(addend, product, into, on) : add_scaled(addend, product, alpha, into, on);
}

Array accumulate(Op op, const ScaledSum& sum, int ndim, const Stream& stream) {
  const auto& [c, a, b, alpha, beta] = sum;
  const OpCall call(op, {&c, &a, &b}, stream);
  const std::string name(call.name());
  if (a.ndim() != ndim || b.ndim() != ndim)
    throw ShapeError(name, "got operands of shapes " + str(a.shape()) + " and " + str(b.shape()),
                     "both must have " + std::to_string(ndim) + " axes; matmul() takes others");
  const std::string shapes = str(c.shape()) + ", " + str(a.shape()) + " and " + str(b.shape());
  if (a.shape()[ndim - 1] != b.shape()[ndim - 2])
    throw ShapeError(name, "got operands of shapes " + shapes,
                     "the second must have as many columns as the third has rows");
  if (ndim == 3 && a.shape()[0] != b.shape()[0] && a.shape()[0] != 1 && b.shape()[0] != 1)
    throw ShapeError(name, "got operands of shapes " + shapes, "the batches must have equal lengths, or 1");
  Dims result = ndim == 3 ? broadcast_shapes(name, Dims{a.shape()[0]}, Dims{b.shape()[0]}) : Dims();
  result.push_back(a.shape()[ndim - 2]);
  result.push_back(b.shape()[ndim - 1]);
  if (c.ndim() > ndim || !(broadcast_shapes(name, c.shape(), result) == result))
    throw ShapeError(name, "got operands of shapes " + shapes, "the first must broadcast to " + str(result));
  MatmulOptions options;
  options.dtype = promote(std::array{a.dtype(), b.dtype(), c.dtype()});
  if (!in(*options.dtype, op_info(op).dtypes) || (is_integer_product(a, b) && !in(*options.dtype, dtypes::integers)))
    throw DTypeError(name,
                     "operands of " + std::string(stator::name(promote(a.dtype(), b.dtype()))) + " and " +
                         std::string(stator::name(c.dtype())),
                     "convert them to one dtype with astype, to an integer, floating or complex one");
  if (in(*options.dtype, dtypes::integers)) return accumulate_integers(name, sum, *options.dtype, call.on());
  const complex128 of_product = factor_of(name, "alpha", alpha, *options.dtype);
  return product(a, b, options, {&c, of_product, factor_of(name, "beta", beta, *options.dtype)}, {}, call.on());
}

}  // namespace

Array multiply_as(const Array& a, const Array& b, std::optional<DType> dtype, const Stream& stream) {
  // Integers become the dtype first, which is modular like their sums; others are rounded after the product.
  if (dtype && in(*dtype, dtypes::integers))
    return multiply(astype(a, *dtype, false, stream), astype(b, *dtype, false, stream), {}, stream);
  return multiply(a, b, {.dtype = dtype}, stream);
}

Array dot(const Array& a, const Array& b, std::optional<DType> dtype, const Stream& stream) {
  const OpCall call(Op::dot, {&a, &b}, stream);
  const Stream on = call.on();
  if (dtype) matmul_plan::require_result_dtype(call.name(), promote(a.dtype(), b.dtype()), *dtype);
  if (a.ndim() == 0 || b.ndim() == 0) return multiply_as(a, b, dtype, on);
  if (a.shape()[a.ndim() - 1] != b.shape()[std::max(0, b.ndim() - 2)])
    throw ShapeError(std::string(call.name()), "got operands of shapes " + str(a.shape()) + " and " + str(b.shape()),
                     "the last axis of the first must be as long as the last but one of the second");
  if (b.ndim() <= 2) return matmul(a, b, {.dtype = dtype}, on);
  const int64_t left[] = {a.ndim() - 1}, right[] = {b.ndim() - 2};
  return tensordot(a, b, left, right, dtype, on);
}

Array vecdot(const Array& a, const Array& b, int64_t axis, std::optional<DType> dtype, const Stream& stream) {
  const OpCall call(Op::vecdot, {&a, &b}, stream);
  const std::string op(call.name());
  if (dtype) matmul_plan::require_result_dtype(op, promote(a.dtype(), b.dtype()), *dtype);
  const int least = std::min(a.ndim(), b.ndim());
  if (axis >= 0 || axis < -least)
    throw AxisError(op,
                    "got axis " + std::to_string(axis) + " of operands of " + std::to_string(a.ndim()) + " and " +
                        std::to_string(b.ndim()) + " axes",
                    "count the axis from the end: -1 is the last of both");
  const Stream on = call.on();
  const Array x = last_axis(a, axis), y = last_axis(b, axis);
  if (x.shape()[x.ndim() - 1] != y.shape()[y.ndim() - 1])
    throw ShapeError(op, "got operands of shapes " + str(a.shape()) + " and " + str(b.shape()),
                     "the axis must have equal lengths in both");
  try {
    broadcast_shapes(op, x.shape(), y.shape());
  } catch (const ShapeError&) {  // of moved axes, which the caller did not see
    throw ShapeError(op, "got operands of shapes " + str(a.shape()) + " and " + str(b.shape()),
                     "the other axes must broadcast: equal lengths, or 1");
  }
  const Array row = with_axis(x, -2), column = with_axis(y, -1);
  Accumulate sum;
  sum.conjugate = true;
  const MatmulOptions options{.dtype = dtype};
  const Array found =
      is_integer_product(x, y) ? matmul(row, column, options, on) : product(row, column, options, sum, {}, on);
  return squeeze(found, std::vector<int64_t>{-2, -1});
}

Array outer(const Array& a, const Array& b, const Stream& stream) {
  const OpCall call(Op::outer, {&a, &b}, stream);
  if (a.ndim() != 1 || b.ndim() != 1)
    throw ShapeError(std::string(call.name()), "got operands of shapes " + str(a.shape()) + " and " + str(b.shape()),
                     "both must be vectors. Reshape them to (-1,) first");
  return multiply(with_axis(a, 1), with_axis(b, 0), {}, call.on());
}

Array kron(const Array& a, const Array& b, const Stream& stream) {
  const OpCall call(Op::kron, {&a, &b}, stream);
  const int ndim = std::max(a.ndim(), b.ndim());
  if (2 * ndim > Dims::max_size)
    throw UnsupportedError(std::string(call.name()), "got operands of " + std::to_string(ndim) + " dimensions",
                           "at most 16 are supported. Squeeze axes of one element");
  // Axis d of the result is the pair (axis d of a, axis d of b).
  Dims left, right, shape;
  for (int d = 0; d < ndim; ++d) {
    const int own_a = d - (ndim - a.ndim()), own_b = d - (ndim - b.ndim());
    const int64_t m = own_a < 0 ? 1 : a.shape()[own_a], n = own_b < 0 ? 1 : b.shape()[own_b];
    left.push_back(m);
    left.push_back(1);
    right.push_back(1);
    right.push_back(n);
    shape.push_back(m * n);
  }
  const Stream on = call.on();
  const auto shaped = [&](const Array& x, const Dims& dims) {
    return reshape(x, std::span<const int64_t>(dims.data(), size_t(dims.size())), {}, on);
  };
  return shaped(multiply(shaped(a, left), shaped(b, right), {}, on), shape);
}

Array tensordot(const Array& a, const Array& b, std::span<const int64_t> axes_a, std::span<const int64_t> axes_b,
                std::optional<DType> dtype, const Stream& stream) {
  const OpCall call(Op::tensordot, {&a, &b}, stream);
  const std::string op(call.name());
  if (dtype) matmul_plan::require_result_dtype(op, promote(a.dtype(), b.dtype()), *dtype);
  if (axes_a.size() != axes_b.size())
    throw ShapeError(
        op,
        "got " + std::to_string(axes_a.size()) + " axes of one and " + std::to_string(axes_b.size()) + " of the other",
        "name as many of both");
  named_axes(op, axes_a, a.ndim());
  named_axes(op, axes_b, b.ndim());
  std::vector<int64_t> left, right;
  for (size_t k = 0; k < axes_a.size(); ++k) {
    left.push_back(normalize_axis(op, axes_a[k], a.ndim()));
    right.push_back(normalize_axis(op, axes_b[k], b.ndim()));
    if (a.shape()[int(left[k])] != b.shape()[int(right[k])])
      throw ShapeError(op,
                       "got axis " + std::to_string(left[k]) + " of " + str(a.shape()) + " and axis " +
                           std::to_string(right[k]) + " of " + str(b.shape()),
                       "axes summed together must have equal lengths");
  }
  require_ndim(op, a.ndim() + b.ndim() - 2 * int64_t(axes_a.size()));
  const Stream on = call.on();
  Dims shape;
  const Array x = as_matrix(a, left, true, &shape, on), y = as_matrix(b, right, false, &shape, on);
  const Array found = matmul(x, y, {.dtype = dtype}, on);
  return reshape(found, std::span<const int64_t>(shape.data(), size_t(shape.size())), {}, on);
}

Array addmm(const Array& c, const Array& a, const Array& b, const Scalar& alpha, const Scalar& beta,
            const Stream& stream) {
  return accumulate(Op::addmm, {c, a, b, alpha, beta}, 2, stream);
}
Array baddbmm(const Array& c, const Array& a, const Array& b, const Scalar& alpha, const Scalar& beta,
              const Stream& stream) {
  return accumulate(Op::baddbmm, {c, a, b, alpha, beta}, 3, stream);
}

namespace nn {

Array linear(const Array& x, const Array& weight, const Array* bias, std::string_view activation,
             const Stream& stream) {
  const OpCall call(Op::linear, {&x, &weight, bias}, stream);
  const std::string op(call.name());
  if (weight.ndim() != 2 || x.ndim() == 0 || x.shape()[x.ndim() - 1] != weight.shape()[1])
    throw ShapeError(op, "got an array of shape " + str(x.shape()) + " with a weight of shape " + str(weight.shape()),
                     "the weight must be (out, in) and x (..., in)");
  if (bias != nullptr && !(bias->shape() == Dims{weight.shape()[0]}))
    throw ShapeError(op, "got a bias of shape " + str(bias->shape()) + " with a weight of shape " + str(weight.shape()),
                     "the bias must be (out,)");
  struct Known {
    std::string_view name;
    params::Activation value;
  };
  using enum params::Activation;
  static constexpr Known known[] = {{"", none},     {"relu", relu},       {"gelu", gelu}, {"gelu_tanh", gelu_tanh},
                                    {"silu", silu}, {"sigmoid", sigmoid}, {"tanh", tanh}};
  const auto chosen =
      std::find_if(std::begin(known), std::end(known), [&](const Known& k) { return k.name == activation; });
  if (chosen == std::end(known))
    throw ValueError(op, "got activation '" + std::string(activation) + "'",
                     "pass None, 'relu', 'gelu', 'gelu_tanh', 'silu', 'sigmoid' or 'tanh'");
  const DType natural = promote(x.dtype(), weight.dtype()), promoted = bias ? promote(bias->dtype(), natural) : natural;
  if (!in(natural, dtypes::floats) || !in(promoted, dtypes::floats))
    throw DTypeError(op,
                     "got operands of " + std::string(name(natural)) +
                         (bias ? ", a bias of " + std::string(name(bias->dtype())) : ""),
                     "all must be floating. Convert them with astype");
  MatmulOptions options;
  options.dtype = promoted;
  return product(x, matrix_transpose(weight), options, {}, {bias, chosen->value}, call.on());
}

}  // namespace nn
}  // namespace stator
