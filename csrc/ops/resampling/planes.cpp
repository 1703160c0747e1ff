#include "ops/resampling/planes.hpp"

#include "params/resampling.hpp"

#include <stator/creation.hpp>

#include <string>

namespace stator::nn {

int64_t resampled_size(const OpCall& call, const Dims& shape, int first_axis) {
  int64_t size = 1;
  for (int d = first_axis; d < shape.size(); ++d) {
    if (shape[d] > params::max_resampled / size)
      throw ShapeError(
          std::string(call.name()),
          "a plane of an array " + str(shape) + " has more than " + std::to_string(params::max_resampled) + " elements",
          "pass planes of fewer elements");
    size *= shape[d];
  }
  return size;
}

void check_resampled(const OpCall& call, const Array& x, int least_axes, int most_axes) {
  const std::string op(call.name());
  if (!in(x.dtype(), dtypes::floats))
    throw DTypeError(op, "got an array of dtype " + std::string(name(x.dtype())),
                     "pass float16, bfloat16, float32 or float64; astype converts");
  if (x.ndim() < least_axes || x.ndim() > most_axes)
    throw ShapeError(op, "got x " + str(x.shape()),
                     "pass an array of shape (n, channels, spatial...) with " + std::to_string(least_axes - 2) +
                         " to " + std::to_string(most_axes - 2) + " spatial axes");
  for (int d = 2; d < x.ndim(); ++d)
    if (x.shape()[d] == 0)
      throw ShapeError(op, "x " + str(x.shape()) + " has no spatial elements", "pass a larger array");
  resampled_size(call, x.shape(), 2);
}

void check_dtype_of(const OpCall& call, const Array& a, const char* what, const Array& x) {
  if (a.dtype() != x.dtype())
    throw DTypeError(
        std::string(call.name()),
        std::string(what) + " is " + std::string(name(a.dtype())) + ", x is " + std::string(name(x.dtype())),
        "convert one with astype");
}

void check_gradient(const OpCall& call, const Array& grad, const Dims& shape, const Array& x) {
  if (!(grad.shape() == shape))
    throw ShapeError(std::string(call.name()),
                     "grad " + str(grad.shape()) + " where the forward's result is " + str(shape),
                     "pass the gradient of the result");
  check_dtype_of(call, grad, "grad", x);
}

Array dense_planes(OpCall& call, const Array& a) {
  Array found = a.is_contiguous() ? a : copy(a, call.on());
  call.reads(found);
  return found;
}

}  // namespace stator::nn
