#include "core/op_call.hpp"

#include <stator/elementwise.hpp>
#include <stator/matmul.hpp>
#include <stator/movement.hpp>
#include <stator/reduce.hpp>

#include <array>
#include <string>

namespace stator::nn {
namespace {

// The gradient of an activation: its op, and whether it is computed from the result rather than from what the
// activation was applied to.
struct Slope {
  std::string_view activation;
  Op op;
  bool from_result;
};
constexpr Slope slopes[] = {{"relu", Op::relu_backward, true},       {"gelu", Op::gelu_backward, false},
                            {"silu", Op::silu_backward, false},      {"gelu_tanh", Op::gelu_tanh_backward, false},
                            {"sigmoid", Op::sigmoid_backward, true}, {"tanh", Op::tanh_backward, true}};

Array as_matrix(const Array& x, const Stream& on) {
  const int64_t columns = x.shape()[x.ndim() - 1];
  int64_t rows = 1;
  for (int d = 0; d + 1 < x.ndim(); ++d) rows *= x.shape()[d];
  const std::array<int64_t, 2> shape{rows, columns};
  return reshape(x, shape, {}, on);
}

void check_shape(const OpCall& call, const Array& a, const char* what, const Dims& shape) {
  if (a.shape() == shape) return;
  throw ShapeError(std::string(call.name()), std::string(what) + " has shape " + str(a.shape()),
                   "pass an array of shape " + str(shape));
}

}  // namespace

LinearGradients linear_backward(const Array& grad, const Array& x, const Array& weight, const LinearGradientOptions& o,
                                const Stream& stream) {
  const OpCall call(Op::linear_backward, {&grad, &x, &weight, o.saved}, stream);
  const std::string op(call.name());
  if (weight.ndim() != 2 || x.ndim() == 0 || x.shape()[x.ndim() - 1] != weight.shape()[1])
    throw ShapeError(op, "got an array of shape " + str(x.shape()) + " with a weight of shape " + str(weight.shape()),
                     "the weight must be (out, in) and x (..., in)");
  Dims result = x.shape();
  result[x.ndim() - 1] = weight.shape()[0];
  check_shape(call, grad, "grad", result);
  for (const Array* a : {&grad, &x, &weight, o.saved})
    if (a && (!in(a->dtype(), dtypes::floats) || a->dtype() != x.dtype()))
      throw DTypeError(
          op, "got an array of " + std::string(name(a->dtype())) + " beside x of " + std::string(name(x.dtype())),
          "all arrays must have one floating dtype. Convert them with astype");
  const Slope* slope = nullptr;
  for (const Slope& s : slopes)
    if (s.activation == o.activation) slope = &s;
  if (!slope && !o.activation.empty())
    throw ValueError(op, "got activation '" + std::string(o.activation) + "'",
                     "pass None, 'relu', 'gelu', 'gelu_tanh', 'silu', 'sigmoid' or 'tanh'");
  if (slope && !o.saved)
    throw ValueError(op, "got activation '" + std::string(o.activation) + "' without saved",
                     slope->from_result ? "pass the result of linear" : "pass x @ weight.T + bias");
  if (o.saved) check_shape(call, *o.saved, "saved", result);
  const Stream on = call.on();
  const Array through = slope ? binary(slope->op, grad, *o.saved, {}, on) : grad;
  const Array rows = as_matrix(through, on);
  LinearGradients out{matmul(through, weight, {}, on), matmul(matrix_transpose(rows), as_matrix(x, on), {}, on), {}};
  if (o.bias) out.bias = sum(rows, {.axes = std::vector<int64_t>{0}}, on);
  return out;
}

}  // namespace stator::nn
