#include "ops/norm/operands.hpp"

#include "ops/checks.hpp"

#include <stator/creation.hpp>

#include <cmath>
#include <string>

namespace stator::nn {

void check_input(const OpCall& call, const Array& x, double eps) {
  const std::string op(call.name());
  if (!in(x.dtype(), dtypes::floats))
    throw DTypeError(op, "got an array of dtype " + std::string(name(x.dtype())),
                     "pass float16, bfloat16, float32 or float64; astype converts");
  if (!(eps >= 0) || !std::isfinite(eps))
    throw ValueError(op, "eps=" + number_text(eps), "pass a finite number of at least 0");
}

void check_like(const OpCall& call, const Array& a, const char* what, const Array& x) {
  const std::string op(call.name());
  if (!(a.shape() == x.shape()))
    throw ShapeError(op, "got " + std::string(what) + " " + str(a.shape()) + " for x " + str(x.shape()),
                     "pass an array of x's shape");
  if (a.dtype() != x.dtype())
    throw DTypeError(
        op, std::string(what) + " is " + std::string(name(a.dtype())) + ", x is " + std::string(name(x.dtype())),
        "convert one with astype");
}

void check_weight(const OpCall& call, const Array* a, const char* what, const Dims& shape, const Array& x) {
  if (a == nullptr) return;
  const std::string op(call.name());
  if (!(a->shape() == shape))
    throw ShapeError(op, "got " + std::string(what) + " " + str(a->shape()) + " for x " + str(x.shape()),
                     "pass an array of shape " + str(shape));
  if (a->dtype() != x.dtype())
    throw DTypeError(
        op, std::string(what) + " is " + std::string(name(a->dtype())) + ", x is " + std::string(name(x.dtype())),
        "convert one with astype");
}

void check_channels(const OpCall& call, const Array& x) {
  if (x.ndim() < 2)
    throw ShapeError(std::string(call.name()), "x " + str(x.shape()) + " has no axis of channels",
                     "pass an array of shape (n, channels, ...)");
}

params::NormActivation activation_of(const OpCall& call, std::string_view text) {
  if (text.empty()) return params::NormActivation::none;
  if (text == "relu") return params::NormActivation::relu;
  if (text == "silu") return params::NormActivation::silu;
  if (text == "gelu") return params::NormActivation::gelu;
  throw ValueError(std::string(call.name()), "activation is '" + std::string(text) + "'",
                   "pass 'relu', 'silu', 'gelu' or nothing");
}

const Array* needed_bias(const FusedNormOptions& o) { return o.activation.empty() ? nullptr : o.bias; }

std::optional<Array> dense_operand(OpCall& call, const Array* a) {
  if (a == nullptr) return {};
  Array result = a->is_contiguous() ? *a : copy(*a, call.on());
  call.reads(result);
  return result;
}

const void* address(const std::optional<Array>& a) { return a ? a->data_ptr() : nullptr; }

}  // namespace stator::nn
