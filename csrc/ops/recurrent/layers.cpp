#include "ops/recurrent/layers.hpp"

#include <stator/creation.hpp>
#include <stator/movement.hpp>

#include <array>
#include <string>

namespace stator::nn {
namespace {

constexpr std::array<int64_t, 3> exchanged = {1, 0, 2};

std::string numbered(const char* what, int64_t layer, int64_t direction) {
  return std::string(what) + "_l" + std::to_string(layer) + (direction == 1 ? "_reverse" : "");
}

void check_state(const OpCall& call, const Array* state, const char* what, DType dtype, const Dims& wanted) {
  if (!state) return;
  check_dtype(call, *state, what, dtype, "x");
  check_shape(call, *state, what, wanted);
}

}  // namespace

Layers::Layers(const OpCall& call, const Array& x, const Array* h0, const Array* c0, const std::vector<Array>& weights,
               const RecurrentOptions& o)
    : kind(kind_of(call, o.nonlinearity)),
      given(x.dtype()),
      single(x.ndim() == 2),
      batch_first(o.batch_first),
      bias(o.bias),
      layers(o.num_layers),
      directions(o.bidirectional ? 2 : 1),
      options_(o) {
  const std::string op(call.name());
  check_floating(call, x, "x");
  dtype = call.context().runtime().is_host() ? wide_of(given) : given;
  wide = wide_of(given);
  if (x.ndim() != 2 && x.ndim() != 3)
    throw ShapeError(op, "got x " + str(x.shape()),
                     batch_first ? "pass x (batch, steps, inputs) or (steps, inputs)"
                                 : "pass x (steps, batch, inputs) or (steps, inputs)");
  steps = single ? x.shape()[0] : x.shape()[batch_first ? 1 : 0];
  batch = single ? 1 : x.shape()[batch_first ? 0 : 1];
  inputs = x.shape()[x.ndim() - 1];
  if (steps == 0)
    throw ShapeError(op, "got x " + str(x.shape()) + ", a sequence of no steps", "pass at least one step");
  if (inputs == 0) throw ShapeError(op, "got x " + str(x.shape()) + ", of no inputs", "pass at least one input");
  if (layers < 1) throw ValueError(op, "num_layers=" + std::to_string(layers), "pass at least 1");
  const int64_t wanted = layers * directions * per_run();
  if (int64_t(weights.size()) != wanted)
    throw ValueError(op,
                     "got " + std::to_string(weights.size()) + " weights for " + std::to_string(layers) +
                         " layers of " + std::to_string(directions) + " directions " + (bias ? "with" : "without") +
                         " biases",
                     "pass " + std::to_string(wanted) +
                         ": for each layer and direction weight_ih, weight_hh and, with biases, bias_ih and bias_hh");
  const Array& first = weights[1];
  if (first.ndim() != 2 || first.shape()[1] == 0 || first.shape()[0] != gates_of(kind) * first.shape()[1])
    throw ShapeError(op, "got weight_hh_l0 " + str(first.shape()),
                     "pass weight_hh (" + std::to_string(gates_of(kind)) + " * hidden, hidden)");
  hidden = first.shape()[1];
  for (int64_t run = 0; run < runs(); ++run) {
    const int64_t layer = run / directions, direction = run % directions;
    const auto check = [&](int64_t which, const char* what, const Dims& shape) {
      const Array& w = weights[size_t(run * per_run() + which)];
      const std::string text = numbered(what, layer, direction);
      check_dtype(call, w, text.c_str(), given, "x");
      check_shape(call, w, text.c_str(), shape);
    };
    check(0, "weight_ih", {gates(), inputs_of(layer)});
    check(1, "weight_hh", {gates(), hidden});
    if (bias) check(2, "bias_ih", {gates()});
    if (bias) check(3, "bias_hh", {gates()});
  }
  check_state(call, h0, "hx", given, state_shape());
  check_state(call, c0, "cx", given, state_shape());
  if (!o.lengths && !o.host_lengths) {
    // All sequences have all steps.
  } else if (single) {
    throw ValueError(op, "got lengths of one sequence without a batch", "pass x with a batch, or the steps that count");
  } else if (o.lengths) {
    if (!in(o.lengths->dtype(), dtypes::integers))
      throw DTypeError(op, "lengths have dtype " + std::string(name(o.lengths->dtype())), "pass an integer dtype");
    check_shape(call, *o.lengths, "lengths", {batch});
  } else {
    if (int64_t(o.host_lengths->size()) != batch)
      throw ShapeError(op, "got " + std::to_string(o.host_lengths->size()) + " lengths for x " + str(x.shape()),
                       "pass a length for each of the " + std::to_string(batch) + " sequences");
    for (const int64_t length : *o.host_lengths)
      if (length < 1 || length > steps)
        throw ValueError(op, "got a length of " + std::to_string(length) + " for " + std::to_string(steps) + " steps",
                         "pass lengths from 1 to the number of steps");
  }
  for (const Array& w : weights) weights_.push_back(astype(w, dtype, false, call.on()));
}

Dims Layers::workspace_shape(int64_t index) const {
  if (index >= runs() * parts()) return {steps, batch, directions * hidden};
  return {steps, batch, index % parts() == 0 ? kept() : hidden};
}

Dims Layers::result_shape() const {
  const int64_t width = directions * hidden;
  if (single) return {steps, width};
  return batch_first ? Dims{batch, steps, width} : Dims{steps, batch, width};
}

Array Layers::time_major(const Array& x, const Stream& stream) const {
  const Array y = astype(x, dtype, false, stream);
  if (single) return reshape(y, Dims{steps, 1, y.shape()[1]}, {}, stream);
  return batch_first ? permute_dims(y, exchanged) : y;
}

Array Layers::states(const Array& x, const Stream& stream) const {
  Array y = astype(x, dtype, false, stream);
  if (!y.is_contiguous()) y = copy(y, stream);
  return reshape(y, Dims{runs(), batch, hidden}, {}, stream);
}

Array Layers::matrix_at(const Array& x, int64_t index) {
  return Array(x.buffer(), x.dtype(), {x.shape()[1], x.shape()[2]}, {x.strides()[1], x.strides()[2]},
               x.offset() + index * x.strides()[0]);
}

Array Layers::lengths(const OpCall& call) const {
  const Stream on = call.on();
  if (options_.host_lengths)
    return from_host(weights_.front().backend(), options_.host_lengths->data(), DType::int64, {batch}, {1}, false, on);
  if (!options_.lengths) return {};
  Array x = astype(*options_.lengths, DType::int64, false, on);
  return x.is_contiguous() ? x : copy(x, on);
}

Array Layers::to_caller(const Array& x, const Dims& shape, const Stream& stream) const {
  return reshape(astype(x, given, false, stream), shape, {}, stream);
}

}  // namespace stator::nn
