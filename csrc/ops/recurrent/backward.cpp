// Gradients of whole layers: for each step one launch and the product of the gates' gradients, then one product over
// all steps for each weight.
#include "ops/recurrent/layers.hpp"

#include <stator/creation.hpp>
#include <stator/elementwise.hpp>
#include <stator/movement.hpp>
#include <stator/reduce.hpp>

#include <array>
#include <initializer_list>
#include <string>

namespace stator::nn {
namespace {

using params::RecurrentCell;

// Of the gates and the states at the beginning of one run.
struct GatesGradients {
  Array input, hidden;  // (steps * batch, gates); the same array where the two kinds of gates are added
};

class RunBackward {
 public:
  RunBackward(const Layers& all, Op op, int64_t run, const std::vector<Array>& workspace, const Stream& stream)
      : all_(all),
        op_(op),
        run_(run),
        on_(stream),
        gates_(workspace[size_t(run * all.parts())]),
        states_(workspace[size_t(run * all.parts() + 1)]),
        cells_(all.has_cells() ? workspace[size_t(run * all.parts() + 2)] : Array()) {}

  // grad_y: (steps, batch, hidden) with dense rows, or empty for zeros. h and c have the gradients of the last states,
  // and get those of the first ones.
  GatesGradients operator()(const Array& grad_y, const Array& lengths, const Array& h, const Array& c) {
    const Factor weight(all_.weight_hh(run_), on_);
    OpCall call(op_, {&gates_}, on_);
    const bool split = all_.kind == RecurrentKind::gru;
    GatesGradients out;
    out.input = call.empty({all_.rows(), all_.gates()}, all_.dtype);
    out.hidden = split ? call.empty({all_.rows(), all_.gates()}, all_.dtype) : out.input;
    for (const Array* a : {&gates_, &states_, &cells_, &weight.array, &lengths, &grad_y})
      if (*a) call.reads(*a);
    const std::initializer_list<const Array*> writes = {&out.input, &out.hidden, &h, &c};
    for (const Array* a : writes)
      if (*a) call.writes(*a);
    const params::Queue& queue = call.queue();
    const int64_t n = all_.hidden, rows = all_.batch;
    const RecurrentRows running{h.data_ptr(), n};
    RecurrentCell p{};
    p.kind = all_.kind;
    p.dtype = all_.dtype;
    p.gates_dtype = all_.wide;
    p.batch = rows;
    p.hidden = n;
    p.lengths = lengths ? static_cast<const int64_t*>(lengths.data_ptr()) : nullptr;
    p.grad_h = p.before_h = running;
    if (c) p.grad_c = p.before_c = {c.data_ptr(), n};
    const RecurrentRows zeros{call.zeroed_scratch(size_t(4 * n) * 8), 0};
    Factor grads = weight;  // of the same dtype; its data are given for each step
    grads.rows = rows;
    grads.cols = grads.leading = all_.gates();
    grads.transposed = false;
    for (int64_t i = all_.steps - 1; i >= 0; --i) {
      const int64_t time = all_.time(run_, i);
      const auto at = [&](const Array& x, int64_t width) {
        return rows_at({x.data_ptr(), width}, time * rows * width, x.dtype());
      };
      p.step = time;
      p.gates = at(gates_, all_.kept());
      p.h = at(states_, n);
      if (cells_) p.c = at(cells_, n);
      p.grad_y =
          grad_y ? rows_at({grad_y.data_ptr(), grad_y.strides()[1]}, time * grad_y.strides()[0], all_.dtype) : zeros;
      p.grad_input_gates = at(out.input, all_.gates());
      if (split) {
        p.hidden_new = rows_at(p.gates, 3 * n, all_.wide);
        p.grad_hidden_gates = at(out.hidden, all_.gates());
      }
      call.expect_bytes(all_.step_bytes());
      kernels::recurrent::backward(queue, p);
      multiply(call, at(out.hidden, all_.gates()).data, grads, weight, {running.data, n, all_.wide}, true);
    }
    return out;
  }

  // Those of the weights and biases, appended; x: (steps * batch, inputs).
  void weights(const GatesGradients& grads, const Factor& x, std::vector<Array>& to) {
    to.push_back(product(Factor(grads.input, on_).turned(), x));
    const Factor before(reshape(states_, Dims{all_.rows(), all_.hidden}, {}, on_), on_);
    to.push_back(product(Factor(grads.hidden, on_).turned(), before));
    if (!all_.bias) return;
    ReduceOptions rows;
    rows.axes = {0};
    to.push_back(sum(grads.input, rows, on_));
    to.push_back(all_.kind == RecurrentKind::gru ? sum(grads.hidden, rows, on_) : copy(to.back(), on_));
  }

  // Adds to, or makes, the gradient of the inputs.
  void inputs(const GatesGradients& grads, const Array& to, bool add) {
    const Factor left(grads.input, on_), weight(all_.weight_ih(run_), on_);
    into(left, weight, to, add);
  }

 private:
  Array product(const Factor& left, const Factor& right) {
    OpCall call(op_, {&left.array}, on_);
    const Array out = call.empty({left.rows, right.cols}, all_.dtype);
    into(left, right, out, false);
    return out;
  }
  void into(const Factor& left, const Factor& right, const Array& to, bool add) {
    OpCall call(op_, {&left.array}, on_);
    call.reads(left.array);
    call.reads(right.array);
    call.writes(to);
    call.stream().raise_pending(uint16_t(op_));
    multiply(call, left.array.data_ptr(), left, right, {to.data_ptr(), right.cols, all_.dtype}, add);
  }

  const Layers& all_;
  const Op op_;
  const int64_t run_;
  const Stream on_;
  const Array gates_, states_, cells_;
};

void check_workspace(const OpCall& call, const Layers& all, const std::vector<Array>& workspace) {
  const std::string op(call.name()),
      remedy = "pass the workspace that the forward function returned for these arguments";
  if (int64_t(workspace.size()) != all.workspace_size())
    throw ValueError(op,
                     "got a workspace of " + std::to_string(workspace.size()) + " arrays, not of " +
                         std::to_string(all.workspace_size()),
                     remedy);
  for (int64_t i = 0; i < all.workspace_size(); ++i) {
    const Array& part = workspace[size_t(i)];
    const DType dtype = all.workspace_dtype(i);
    if (!(part.shape() == all.workspace_shape(i)) || part.dtype() != dtype || !part.is_contiguous())
      throw ShapeError(op,
                       "got workspace[" + std::to_string(i) + "] " + str(part.shape()) + " of " +
                           std::string(name(part.dtype())) + ", not " + str(all.workspace_shape(i)) + " of " +
                           std::string(name(dtype)),
                       remedy);
  }
}

void check_grad(const OpCall& call, const Array* grad, const char* what, const Layers& all, const Dims& shape) {
  if (!grad) return;
  check_dtype(call, *grad, what, all.given, "x");
  check_shape(call, *grad, what, shape);
}

// The gradients of the last states, in an array that may be changed; zeros where there is none.
Array running(OpCall& call, const Layers& all, const Array* grad) {
  const Array out = call.empty({all.runs(), all.batch, all.hidden}, all.wide);
  assign(out, grad ? Operand(all.states(*grad, call.on())) : Operand(0.0), call.on());
  return out;
}

// x (steps, batch, n) with zeros after the end of each sequence, where 0 times what is there may be NaN.
Array without_padding(const Layers& all, const Array& x, const Array& lengths, const Stream& on) {
  const Array steps = arange(x.backend(), 0, all.steps, 1, DType::int64, on);
  const Array taken =
      less(reshape(steps, Dims{all.steps, 1, 1}, {}, on), reshape(lengths, Dims{1, all.batch, 1}, {}, on), {}, on);
  return where(taken, x, 0.0, {}, on);
}

// Makes an array of zeros where nothing is written.
void clear_empty(const std::vector<Array>& arrays, const Stream& stream) {
  for (const Array& a : arrays) assign(a, Operand(0.0), stream);
}

RecurrentGradients run_backward(Op op, const ResultGradients& grads, const Array& x, const std::vector<Array>& weights,
                                const std::vector<Array>& workspace, const RecurrentOptions& options,
                                const Stream& stream) {
  OpCall call(op, {&x, grads.y, grads.h, grads.c, options.lengths}, stream);
  for (const std::vector<Array>* list : {&weights, &workspace})
    for (const Array& a : *list) OpCall(op, {&x, &a}, stream);  // of one backend
  const Layers all(call, x, nullptr, nullptr, weights, options);
  if (!grads.y && !grads.h && !grads.c)
    throw ValueError(std::string(call.name()), "got no gradient of a result", "pass that of y or of the last states");
  check_grad(call, grads.y, "grad_y", all, all.result_shape());
  check_grad(call, grads.h, "grad_h", all, all.state_shape());
  check_grad(call, grads.c, "grad_c", all, all.state_shape());
  check_workspace(call, all, workspace);
  const Stream on = call.on();
  RecurrentGradients out;
  Array grad_x = call.empty({all.steps, all.batch, all.inputs}, all.dtype);
  const Array h = running(call, all, grads.h), c = all.has_cells() ? running(call, all, grads.c) : Array();
  if (all.batch == 0) {
    for (const Array& w : weights) out.weights.push_back(call.empty(w.shape(), all.given));
    clear_empty(out.weights, on);
  } else {
    const Array lengths = all.lengths(call);
    std::vector<std::vector<Array>> found;
    Array grad_y = grads.y ? with_dense_rows(all.time_major(*grads.y, on), on) : Array();
    for (int64_t layer = all.layers - 1; layer >= 0; --layer) {
      Array input = layer == 0 ? all.time_major(x, on) : workspace[size_t(all.result_at(layer - 1))];
      if (layer == 0 && lengths) input = without_padding(all, input, lengths, on);
      const Factor rows(reshape(input, Dims{all.rows(), all.inputs_of(layer)}, {}, on), on);
      const Array grad_input =
          layer == 0 ? grad_x : call.empty({all.steps, all.batch, all.inputs_of(layer)}, all.dtype);
      std::vector<Array>& of_layer = found.emplace_back();
      for (int64_t direction = 0; direction < all.directions; ++direction) {
        const int64_t at = layer * all.directions + direction;
        RunBackward run(all, op, at, workspace, on);
        Array part;
        if (grad_y)
          part = Array(grad_y.buffer(), grad_y.dtype(), {all.steps, all.batch, all.hidden}, grad_y.strides(),
                       grad_y.offset() + direction * all.hidden);
        const GatesGradients gates =
            run(part, lengths, Layers::matrix_at(h, at), c ? Layers::matrix_at(c, at) : Array());
        run.weights(gates, rows, of_layer);
        run.inputs(gates, grad_input, direction > 0);
      }
      grad_y = grad_input;
    }
    for (auto layer = found.rbegin(); layer != found.rend(); ++layer)
      for (const Array& w : *layer) out.weights.push_back(astype(w, all.given, false, on));
  }
  grad_x = astype(grad_x, all.given, false, on);
  const std::array<int64_t, 3> exchanged = {1, 0, 2};
  out.x = all.single ? reshape(grad_x, x.shape(), {}, on) : all.batch_first ? permute_dims(grad_x, exchanged) : grad_x;
  out.h0 = all.to_caller(h, all.state_shape(), on);
  if (c) out.c0 = all.to_caller(c, all.state_shape(), on);
  return out;
}

}  // namespace

RecurrentGradients rnn_backward(const ResultGradients& grads, const Array& x, const std::vector<Array>& weights,
                                const std::vector<Array>& workspace, const RecurrentOptions& options,
                                const Stream& stream) {
  return run_backward(Op::rnn_backward, grads, x, weights, workspace, options, stream);
}

RecurrentGradients gru_backward(const ResultGradients& grads, const Array& x, const std::vector<Array>& weights,
                                const std::vector<Array>& workspace, const RecurrentOptions& options,
                                const Stream& stream) {
  return run_backward(Op::gru_backward, grads, x, weights, workspace, options, stream);
}

RecurrentGradients lstm_backward(const ResultGradients& grads, const Array& x, const std::vector<Array>& weights,
                                 const std::vector<Array>& workspace, const RecurrentOptions& options,
                                 const Stream& stream) {
  return run_backward(Op::lstm_backward, grads, x, weights, workspace, options, stream);
}

}  // namespace stator::nn
