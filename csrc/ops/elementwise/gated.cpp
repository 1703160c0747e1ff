#include "core/op_call.hpp"
#include "ops/axes.hpp"
#include "ops/collapse.hpp"
#include "ops/scalar.hpp"
#include "params/elementwise.hpp"

#include <stator/elementwise.hpp>
#include <stator/movement.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace stator::nn {
namespace {

using params::Gate;

void check_dtype(const OpCall& call, const Array& x) {
  if (!in(x.dtype(), dtypes::floats))
    throw DTypeError(std::string(call.name()), "got an array of dtype " + std::string(name(x.dtype())),
                     "convert it to a floating dtype with astype");
}

// `b`, called `what`, must have the shape and dtype of `a`.
void check_like(const OpCall& call, const Array& a, const Array& b, const char* what) {
  const std::string op(call.name());
  if (!(a.shape() == b.shape()))
    throw ShapeError(op, "got " + std::string(what) + " " + str(b.shape()) + " beside an array " + str(a.shape()),
                     "pass arrays of one shape");
  if (a.dtype() != b.dtype())
    throw DTypeError(op,
                     "got " + std::string(what) + " of dtype " + std::string(name(b.dtype())) +
                         " beside an array of dtype " + std::string(name(a.dtype())),
                     "convert one with astype");
}

// Views of the halves along an axis; `sigmoid` units have their gate second.
struct Halves {
  Array gate, up;
};
Halves halves_of(const OpCall& call, Gate gate, const Array& x, int64_t axis) {
  const std::string op(call.name());
  if (x.ndim() == 0) throw AxisError(op, "the array is 0-dimensional", "pass an array of at least one axis");
  const int at = normalize_axis(op, axis, x.ndim());
  if (x.shape()[at] % 2 != 0)
    throw ShapeError(op, "axis " + std::to_string(at) + " of " + str(x.shape()) + " has an odd extent",
                     "the extent must be even: the halves are two operands");
  std::vector<Array> parts = split(x, int64_t(2), at);
  if (gate == Gate::sigmoid) std::swap(parts[0], parts[1]);
  return {parts[0], parts[1]};
}

template <size_t N>
params::Elementwise space_of(const Array& out, const std::array<const Array*, N>& inputs) {
  params::Elementwise e = collapse(out, inputs);
  e.operands = out.dtype();
  e.compute = compute_dtype(out.dtype());
  return e;
}

Array forward(OpCall& call, Gate kind, const Array& gate, const Array& up) {
  check_dtype(call, gate);
  check_like(call, gate, up, "up");
  const std::array<const Array*, 2> inputs{&gate, &up};
  Array out = empty_like(call, gate.shape(), gate.dtype(), inputs);
  if (out.size() == 0) return out;
  call.reads(gate);
  call.reads(up);
  call.writes(out);
  call.expect_elements(out.size());
  kernels::elementwise::gated(call.queue(), kind, space_of(out, inputs));
  return out;
}

void backward(OpCall& call, Gate kind, const Array& grad, const Halves& x, const Halves& out) {
  check_dtype(call, x.gate);
  check_like(call, x.gate, x.up, "up");
  check_like(call, x.gate, grad, "grad");
  if (grad.size() == 0) return;
  for (const Array* a : {&grad, &x.gate, &x.up}) call.reads(*a);
  call.writes(out.gate);
  call.writes(out.up);
  call.expect_elements(grad.size());
  const std::array<const Array*, 4> operands{&grad, &x.gate, &x.up, &out.up};
  kernels::elementwise::gated_backward(call.queue(), kind, space_of(out.gate, operands));
}

Array of_two(Op op, Gate kind, const Array& gate, const Array& up, const Stream& stream) {
  OpCall call(op, {&gate, &up}, stream);
  return forward(call, kind, gate, up);
}
Array of_one(Op op, Gate kind, const Array& x, int64_t axis, const Stream& stream) {
  OpCall call(op, {&x}, stream);
  check_dtype(call, x);
  const Halves parts = halves_of(call, kind, x, axis);
  return forward(call, kind, parts.gate, parts.up);
}
GatedGradients gradients_of_two(Op op, Gate kind, const Array& grad, const Array& gate, const Array& up,
                                const Stream& stream) {
  OpCall call(op, {&grad, &gate, &up}, stream);
  const std::array<const Array*, 3> like{&grad, &gate, &up};
  const Halves out{empty_like(call, gate.shape(), gate.dtype(), like), empty_like(call, up.shape(), up.dtype(), like)};
  backward(call, kind, grad, {gate, up}, out);
  return {out.gate, out.up};
}
Array gradient_of_one(Op op, Gate kind, const Array& grad, const Array& x, int64_t axis, const Stream& stream) {
  OpCall call(op, {&grad, &x}, stream);
  check_dtype(call, x);
  const Halves parts = halves_of(call, kind, x, axis);
  const Array out = call.empty(x.shape(), x.dtype());
  backward(call, kind, grad, parts, halves_of(call, kind, out, axis));
  return out;
}

Gate gelu_of(bool tanh) { return tanh ? Gate::gelu_tanh : Gate::gelu; }

}  // namespace

Array glu(const Array& x, int64_t axis, const Stream& stream) {
  return of_one(Op::glu, Gate::sigmoid, x, axis, stream);
}
Array glu_backward(const Array& grad, const Array& x, int64_t axis, const Stream& stream) {
  return gradient_of_one(Op::glu_backward, Gate::sigmoid, grad, x, axis, stream);
}
Array swiglu(const Array& gate, const Array& up, const Stream& stream) {
  return of_two(Op::swiglu, Gate::silu, gate, up, stream);
}
Array swiglu(const Array& x, int64_t axis, const Stream& stream) {
  return of_one(Op::swiglu, Gate::silu, x, axis, stream);
}
GatedGradients swiglu_backward(const Array& grad, const Array& gate, const Array& up, const Stream& stream) {
  return gradients_of_two(Op::swiglu_backward, Gate::silu, grad, gate, up, stream);
}
Array swiglu_backward(const Array& grad, const Array& x, int64_t axis, const Stream& stream) {
  return gradient_of_one(Op::swiglu_backward, Gate::silu, grad, x, axis, stream);
}
Array geglu(const Array& gate, const Array& up, bool tanh, const Stream& stream) {
  return of_two(Op::geglu, gelu_of(tanh), gate, up, stream);
}
Array geglu(const Array& x, int64_t axis, bool tanh, const Stream& stream) {
  return of_one(Op::geglu, gelu_of(tanh), x, axis, stream);
}
GatedGradients geglu_backward(const Array& grad, const Array& gate, const Array& up, bool tanh, const Stream& stream) {
  return gradients_of_two(Op::geglu_backward, gelu_of(tanh), grad, gate, up, stream);
}
Array geglu_backward(const Array& grad, const Array& x, int64_t axis, bool tanh, const Stream& stream) {
  return gradient_of_one(Op::geglu_backward, gelu_of(tanh), grad, x, axis, stream);
}

}  // namespace stator::nn
