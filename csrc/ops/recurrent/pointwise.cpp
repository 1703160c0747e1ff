// What follows the products of one step, and single steps.
#include "ops/recurrent/steps.hpp"

#include <stator/creation.hpp>
#include <stator/matmul.hpp>
#include <stator/movement.hpp>

#include <array>
#include <string>

namespace stator::nn {
namespace {

using params::RecurrentCell;

// What a step adds: the products of the inputs and of the states, and the biases if there are any.
struct GateOperands {
  const Array &input, &hidden;
  const Array *bias_ih, *bias_hh;
};

// The operands of a step, checked and with dense rows.
class Step {
 public:
  Step(OpCall& call, RecurrentKind kind, DType dtype, DType gates) : call_(call), on_(call.on()) {
    cell_.kind = kind;
    cell_.dtype = dtype;
    cell_.gates_dtype = gates;
  }

  void set_size(int64_t batch, int64_t hidden) {
    cell_.batch = batch;
    cell_.hidden = hidden;
  }
  RecurrentRows read(const Array& x) {
    kept_.push_back(with_dense_rows(x, on_));
    call_.reads(kept_.back());
    return rows_of(kept_.back());
  }
  RecurrentRows write(Array& to, const Dims& shape, DType dtype) {
    to = call_.empty(shape, dtype);
    call_.writes(to);
    return rows_of(to);
  }
  const void* bias(const Array* x) {
    if (x == nullptr) return zeros().data;
    kept_.push_back(with_dense_rows(*x, on_));
    call_.reads(kept_.back());
    return kept_.back().data_ptr();
  }
  // One row for all.
  RecurrentRows zeros() { return {call_.zeroed_scratch(size_t(4 * cell_.hidden) * 8), 0}; }

  void forward(const GateOperands& gates) {
    cell_.input_gates = read(gates.input);
    cell_.hidden_gates = read(gates.hidden);
    cell_.bias_ih = bias(gates.bias_ih);
    cell_.bias_hh = bias(gates.bias_hh);
  }
  RecurrentCell& cell() { return cell_; }

 private:
  OpCall& call_;
  const Stream on_;
  RecurrentCell cell_{};
  std::vector<Array> kept_;
};

// Checks the operands of a step; the gates may be wider than the biases.
Dims check_step(const OpCall& call, RecurrentKind kind, const GateOperands& gates, const Array* state,
                const char* state_name) {
  const std::string op(call.name());
  const auto& [input, hidden, bias_ih, bias_hh] = gates;
  check_floating(call, input, "input_gates");
  check_dtype(call, hidden, "hidden_gates", input.dtype(), "input_gates");
  if (input.ndim() != 2 || !(hidden.shape() == input.shape()))
    throw ShapeError(op, "got input_gates " + str(input.shape()) + " and hidden_gates " + str(hidden.shape()),
                     "pass both as (batch, " + std::to_string(gates_of(kind)) + " * hidden)");
  const int64_t batch = input.shape()[0], width = input.shape()[1], hidden_size = width / gates_of(kind);
  if (width == 0 || width % gates_of(kind) != 0)
    throw ShapeError(op, "got input_gates " + str(input.shape()),
                     "pass " + std::to_string(gates_of(kind)) + " gates of hidden >= 1 columns each");
  if (state) {
    check_dtype(call, *state, state_name, input.dtype(), "input_gates");
    check_shape(call, *state, state_name, {batch, hidden_size});
  }
  if ((bias_ih == nullptr) != (bias_hh == nullptr))
    throw ValueError(op, bias_ih ? "got bias_ih without bias_hh" : "got bias_hh without bias_ih",
                     "pass both biases, or none");
  if (bias_ih) {
    check_dtype(call, *bias_ih, "bias_ih", input.dtype(), "input_gates");
    check_dtype(call, *bias_hh, "bias_hh", input.dtype(), "input_gates");
    check_shape(call, *bias_ih, "bias_ih", {width});
    check_shape(call, *bias_hh, "bias_hh", {width});
  }
  return {batch, hidden_size};
}

// A gradient of a state, of the workspace's dtype.
void check_grad(const OpCall& call, const Array& grad, const char* what, const Array& workspace, const Dims& shape) {
  check_dtype(call, grad, what, workspace.dtype(), "workspace");
  check_shape(call, grad, what, shape);
}

// (batch, hidden) of a workspace of that many parts.
Dims of_workspace(const OpCall& call, const Array& workspace, int64_t parts) {
  check_floating(call, workspace, "workspace");
  if (workspace.ndim() != 2 || workspace.shape()[1] == 0 || workspace.shape()[1] % parts != 0)
    throw ShapeError(std::string(call.name()), "got workspace " + str(workspace.shape()),
                     "pass what the forward function returned, (batch, " + std::to_string(parts) + " * hidden)");
  return {workspace.shape()[0], workspace.shape()[1] / parts};
}

}  // namespace

GruStep gru_pointwise(const Array& input_gates, const Array& hidden_gates, const Array& hx, const Array* bias_ih,
                      const Array* bias_hh, const Stream& stream) {
  OpCall call(Op::gru_pointwise, {&input_gates, &hidden_gates, &hx, bias_ih, bias_hh}, stream);
  const GateOperands gates{input_gates, hidden_gates, bias_ih, bias_hh};
  const Dims shape = check_step(call, RecurrentKind::gru, gates, &hx, "hx");
  const DType dtype = hx.dtype();
  const int64_t n = shape[1];
  Step step(call, RecurrentKind::gru, dtype, dtype);
  step.set_size(shape[0], n);
  step.forward(gates);
  GruStep out;
  params::RecurrentCell& p = step.cell();
  p.h = step.read(hx);
  p.next_h = step.write(out.h, shape, dtype);
  p.gates = step.write(out.workspace, {shape[0], 5 * n}, dtype);
  p.saved_h = rows_at(p.gates, 3 * n, dtype);
  p.hidden_new = rows_at(p.gates, 4 * n, dtype);
  if (shape[0] > 0) kernels::recurrent::forward(call.queue(), p);
  return out;
}

GruStepGradients gru_pointwise_backward(const Array& grad, const Array& workspace, const Stream& stream) {
  OpCall call(Op::gru_pointwise_backward, {&grad, &workspace}, stream);
  const Dims shape = of_workspace(call, workspace, 5);
  check_grad(call, grad, "grad", workspace, shape);
  const DType dtype = grad.dtype();
  const int64_t n = shape[1];
  Step step(call, RecurrentKind::gru, dtype, dtype);
  step.set_size(shape[0], n);
  GruStepGradients out;
  params::RecurrentCell& p = step.cell();
  p.gates = step.read(workspace);
  p.h = rows_at(p.gates, 3 * n, dtype);
  p.hidden_new = rows_at(p.gates, 4 * n, dtype);
  p.grad_y = step.read(grad);
  p.grad_h = step.zeros();
  p.before_h = step.write(out.hx, shape, dtype);
  p.grad_input_gates = step.write(out.input_gates, {shape[0], 3 * n}, dtype);
  p.grad_hidden_gates = step.write(out.hidden_gates, {shape[0], 3 * n}, dtype);
  if (shape[0] > 0) kernels::recurrent::backward(call.queue(), p);
  return out;
}

LstmStep lstm_pointwise(const Array& input_gates, const Array& hidden_gates, const Array& cx, const Array* bias_ih,
                        const Array* bias_hh, const Stream& stream) {
  OpCall call(Op::lstm_pointwise, {&input_gates, &hidden_gates, &cx, bias_ih, bias_hh}, stream);
  const GateOperands gates{input_gates, hidden_gates, bias_ih, bias_hh};
  const Dims shape = check_step(call, RecurrentKind::lstm, gates, &cx, "cx");
  const DType dtype = cx.dtype();
  Step step(call, RecurrentKind::lstm, dtype, dtype);
  step.set_size(shape[0], shape[1]);
  step.forward(gates);
  LstmStep out;
  params::RecurrentCell& p = step.cell();
  p.c = step.read(cx);
  p.next_h = step.write(out.h, shape, dtype);
  p.next_c = step.write(out.c, shape, dtype);
  p.gates = step.write(out.workspace, {shape[0], 4 * shape[1]}, dtype);
  if (shape[0] > 0) kernels::recurrent::forward(call.queue(), p);
  return out;
}

LstmStepGradients lstm_pointwise_backward(const Array* grad_h, const Array* grad_c, const Array& cx,
                                          const Array& workspace, const Stream& stream) {
  OpCall call(Op::lstm_pointwise_backward, {grad_h, grad_c, &cx, &workspace}, stream);
  if (!grad_h && !grad_c)
    throw ValueError(std::string(call.name()), "got neither grad_h nor grad_c", "pass at least one of them");
  const Dims shape = of_workspace(call, workspace, 4);
  if (grad_h) check_grad(call, *grad_h, "grad_h", workspace, shape);
  if (grad_c) check_grad(call, *grad_c, "grad_c", workspace, shape);
  check_grad(call, cx, "cx", workspace, shape);
  const DType dtype = cx.dtype();
  Step step(call, RecurrentKind::lstm, dtype, dtype);
  step.set_size(shape[0], shape[1]);
  LstmStepGradients out;
  params::RecurrentCell& p = step.cell();
  p.gates = step.read(workspace);
  p.c = step.read(cx);
  p.grad_y = grad_h ? step.read(*grad_h) : step.zeros();
  p.grad_h = step.zeros();
  p.grad_c = grad_c ? step.read(*grad_c) : step.zeros();
  p.before_c = step.write(out.cx, shape, dtype);
  p.grad_input_gates = step.write(out.gates, {shape[0], 4 * shape[1]}, dtype);
  if (shape[0] > 0) kernels::recurrent::backward(call.queue(), p);
  return out;
}

Array rnn_pointwise(const Array& input_gates, const Array& hidden_gates, const Array* bias_ih, const Array* bias_hh,
                    std::string_view nonlinearity, const Stream& stream) {
  OpCall call(Op::rnn_pointwise, {&input_gates, &hidden_gates, bias_ih, bias_hh}, stream);
  const RecurrentKind kind = kind_of(call, nonlinearity);
  const GateOperands gates{input_gates, hidden_gates, bias_ih, bias_hh};
  const Dims shape = check_step(call, kind, gates, nullptr, "");
  Step step(call, kind, input_gates.dtype(), input_gates.dtype());
  step.set_size(shape[0], shape[1]);
  step.forward(gates);
  Array h;
  step.cell().next_h = step.write(h, shape, input_gates.dtype());
  if (shape[0] > 0) kernels::recurrent::forward(call.queue(), step.cell());
  return h;
}

Array rnn_pointwise_backward(const Array& grad, const Array& h, std::string_view nonlinearity, const Stream& stream) {
  OpCall call(Op::rnn_pointwise_backward, {&grad, &h}, stream);
  const RecurrentKind kind = kind_of(call, nonlinearity);
  check_floating(call, h, "h");
  if (h.ndim() != 2 || h.shape()[1] == 0)
    throw ShapeError(std::string(call.name()), "got h " + str(h.shape()), "pass h (batch, hidden)");
  check_dtype(call, grad, "grad", h.dtype(), "h");
  check_shape(call, grad, "grad", h.shape());
  Step step(call, kind, h.dtype(), h.dtype());
  step.set_size(h.shape()[0], h.shape()[1]);
  Array out;
  params::RecurrentCell& p = step.cell();
  p.gates = step.read(h);
  p.grad_y = step.read(grad);
  p.grad_h = step.zeros();
  p.grad_input_gates = step.write(out, h.shape(), h.dtype());
  if (h.shape()[0] > 0) kernels::recurrent::backward(call.queue(), p);
  return out;
}

namespace {

struct CellStates {
  const Array *h, *c = nullptr;  // null: zeros
};

// One step of a layer. next_c: LSTM.
Array cell_step(Op op, std::string_view nonlinearity, const Array& x, const CellStates& states_in, const CellWeights& w,
                Array* next_c, const Stream& stream) {
  const auto [hx, cx] = states_in;
  OpCall call(op, {&x, hx, cx, &w.ih, &w.hh, w.bias_ih, w.bias_hh}, stream);
  const std::string name(call.name());
  const RecurrentKind kind = kind_of(call, nonlinearity);
  check_floating(call, x, "x");
  const DType dtype = x.dtype();
  const bool single = x.ndim() == 1;
  if (x.ndim() != 1 && x.ndim() != 2)
    throw ShapeError(name, "got x " + str(x.shape()), "pass x (batch, inputs) or (inputs,)");
  const int64_t gates = gates_of(kind);
  check_dtype(call, w.ih, "weight_ih", dtype, "x");
  check_dtype(call, w.hh, "weight_hh", dtype, "x");
  if (w.hh.ndim() != 2 || w.hh.shape()[1] == 0 || w.hh.shape()[0] != gates * w.hh.shape()[1])
    throw ShapeError(name, "got weight_hh " + str(w.hh.shape()),
                     "pass weight_hh (" + std::to_string(gates) + " * hidden, hidden)");
  const int64_t hidden = w.hh.shape()[1], inputs = x.shape()[x.ndim() - 1];
  check_shape(call, w.ih, "weight_ih", {gates * hidden, inputs});
  const Dims rows = single ? Dims{1, inputs} : x.shape(), states = {rows[0], hidden};
  for (const Array* state : {hx, cx})
    if (state) {
      const char* const what = state == hx ? "hx" : "cx";
      check_dtype(call, *state, what, dtype, "x");
      check_shape(call, *state, what, single ? Dims{hidden} : states);
    }
  if ((w.bias_ih == nullptr) != (w.bias_hh == nullptr))
    throw ValueError(name, w.bias_ih ? "got bias_ih without bias_hh" : "got bias_hh without bias_ih",
                     "pass both biases, or none");
  for (const Array* bias : {w.bias_ih, w.bias_hh})
    if (bias) {
      check_dtype(call, *bias, bias == w.bias_ih ? "bias_ih" : "bias_hh", dtype, "x");
      check_shape(call, *bias, bias == w.bias_ih ? "bias_ih" : "bias_hh", {gates * hidden});
    }
  const DType wide = wide_of(dtype);
  const Stream on = call.on();
  const auto as_rows = [&](const Array& a) { return single ? reshape(a, Dims{1, a.shape()[0]}, {}, on) : a; };
  MatmulOptions options;
  options.dtype = wide;
  const auto times = [&](const Array& a, const Array& weight) {
    return matmul(as_rows(a), permute_dims(weight, std::array<int64_t, 2>{1, 0}), options, on);
  };
  const Array input = times(x, w.ih);
  std::optional<Array> recurrent;
  if (hx) recurrent = times(*hx, w.hh);
  Step step(call, kind, dtype, wide);
  step.set_size(states[0], hidden);
  params::RecurrentCell& p = step.cell();
  p.input_gates = step.read(input);
  p.hidden_gates = recurrent ? step.read(*recurrent) : step.zeros();
  p.bias_ih = step.bias(w.bias_ih);
  p.bias_hh = step.bias(w.bias_hh);
  p.h = hx ? step.read(as_rows(*hx)) : step.zeros();
  if (kind == RecurrentKind::lstm) p.c = cx ? step.read(as_rows(*cx)) : step.zeros();
  Array h;
  p.next_h = step.write(h, states, dtype);
  if (next_c) p.next_c = step.write(*next_c, states, dtype);
  if (states[0] > 0) kernels::recurrent::forward(call.queue(), p);
  if (!single) return h;
  if (next_c) *next_c = reshape(*next_c, Dims{hidden}, {}, on);
  return reshape(h, Dims{hidden}, {}, on);
}

}  // namespace

Array rnn_cell(const Array& x, const Array* hx, const CellWeights& w, std::string_view nonlinearity,
               const Stream& stream) {
  return cell_step(Op::rnn_cell, nonlinearity, x, {hx}, w, nullptr, stream);
}

Array gru_cell(const Array& x, const Array* hx, const CellWeights& w, const Stream& stream) {
  return cell_step(Op::gru_cell, {}, x, {hx}, w, nullptr, stream);
}

LstmState lstm_cell(const Array& x, const Array* hx, const Array* cx, const CellWeights& w, const Stream& stream) {
  LstmState out;
  out.h = cell_step(Op::lstm_cell, {}, x, {hx, cx}, w, &out.c, stream);
  return out;
}

}  // namespace stator::nn
