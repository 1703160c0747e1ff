#include "ops/losses/operands.hpp"

#include <string>

namespace stator::nn {

void check_floating(const OpCall& call, const Array& x) {
  if (!in(x.dtype(), dtypes::floats))
    throw DTypeError(std::string(call.name()), "got an array of dtype " + std::string(name(x.dtype())),
                     "pass float16, bfloat16, float32 or float64; astype converts");
}

void check_dtype(const OpCall& call, const Array& a, const char* what, const Array& input) {
  if (a.dtype() != input.dtype())
    throw DTypeError(std::string(call.name()),
                     std::string(what) + " is " + std::string(name(a.dtype())) + ", the input is " +
                         std::string(name(input.dtype())),
                     "convert one with astype");
}

void check_same(const OpCall& call, const Array& a, const char* what, const Array& input) {
  if (!(a.shape() == input.shape()))
    throw ShapeError(std::string(call.name()),
                     "got " + std::string(what) + " " + str(a.shape()) + " for an input " + str(input.shape()),
                     "pass arrays of one shape; broadcast_to repeats elements");
  check_dtype(call, a, what, input);
}

void check_grad(const OpCall& call, const Array& grad, const Dims& result, const Array& input) {
  if (!(grad.shape() == result))
    throw ShapeError(std::string(call.name()),
                     "got grad " + str(grad.shape()) + " for a result of shape " + str(result),
                     "pass the gradient of the loss, with its reduction");
  check_dtype(call, grad, "grad", input);
}

Reduction reduction_of(const OpCall& call, std::string_view text, bool batches) {
  if (text == "none") return Reduction::none;
  if (text == "mean") return Reduction::mean;
  if (text == "sum") return Reduction::sum;
  if (batches && text == "batchmean") return Reduction::batchmean;
  throw ValueError(std::string(call.name()), "reduction is '" + std::string(text) + "'",
                   batches ? "pass 'mean', 'batchmean', 'sum' or 'none'" : "pass 'mean', 'sum' or 'none'");
}

}  // namespace stator::nn
