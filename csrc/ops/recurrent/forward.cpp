// Whole layers: one product for the inputs of all steps of a run, then for each step the product of the state and one
// launch. States and gates are at their addresses in memory from the start.
#include "ops/recurrent/layers.hpp"

#include <stator/creation.hpp>
#include <stator/movement.hpp>

#include <initializer_list>

namespace stator::nn {
namespace {

using params::RecurrentCell;

// The states before and after each step of one run, or the cells of LSTM.
struct Chain {
  Array last;     // (batch, hidden): after the last step
  Array before;   // what the first step begins with, or empty for zeros
  Array between;  // kept: before each step, by its time; else two slots, which the steps take in turns
  bool kept;
};

class Run {
 public:
  Run(const Layers& all, Op op, int64_t run, const Stream& stream, bool keeps)
      : all_(all), op_(op), run_(run), on_(stream), keeps_(keeps) {}

  // x: (steps * batch, inputs). y: (steps, batch, hidden) in any layout with dense rows.
  void operator()(const Factor& x, const Array& h0, const Array& c0, const Array& lengths, const Array& y,
                  const Array& last_h, const Array& last_c) {
    const Factor weight_ih(all_.weight_ih(run_), on_), weight_hh(all_.weight_hh(run_), on_);
    OpCall call(op_, {&x.array}, on_);
    const Factor weight = recurrent_weight(call, weight_hh);
    gates = call.empty({all_.steps, all_.batch, all_.kept()}, all_.wide);
    Chain h = chain(call, h0, last_h), c;
    if (all_.has_cells()) c = chain(call, c0, last_c);
    states = h.between;
    cells = c.between;
    const bool split = all_.kind == RecurrentKind::gru;  // the two kinds of gates stay apart
    Array recurrent;
    if (split) recurrent = call.empty({all_.batch, all_.gates()}, all_.wide);
    Array biases[2];
    for (int i = 0; all_.bias && i < 2; ++i)
      biases[i] = with_dense_rows(*(i == 0 ? all_.bias_ih(run_) : all_.bias_hh(run_)), on_);
    const std::initializer_list<const Array*> reads = {&x.array,   &weight_ih.array, &weight.array, &biases[0],
                                                       &biases[1], &lengths,         &h.before,     &c.before};
    const std::initializer_list<const Array*> writes = {&gates, &recurrent, &states, &cells, &h.last, &c.last, &y};
    for (const Array* a : reads)
      if (*a) call.reads(*a);
    for (const Array* a : writes)
      if (*a) call.writes(*a);
    const params::Queue& queue = call.queue();
    const RecurrentRows zeros{call.zeroed_scratch(size_t(4 * all_.hidden) * 8), 0};
    const int64_t kept = all_.kept(), row = all_.hidden;
    multiply(call, x.array.data_ptr(), x, weight_ih.turned(), {gates.data_ptr(), kept, all_.wide}, false);

    RecurrentCell p{};
    p.kind = all_.kind;
    p.dtype = all_.dtype;
    p.gates_dtype = all_.wide;
    p.batch = all_.batch;
    p.hidden = row;
    p.lengths = lengths ? static_cast<const int64_t*>(lengths.data_ptr()) : nullptr;
    p.bias_ih = all_.bias ? biases[0].data_ptr() : zeros.data;
    p.bias_hh = all_.bias ? biases[1].data_ptr() : zeros.data;
    const RecurrentRows all_gates{gates.data_ptr(), kept}, all_y{y.data_ptr(), y.strides()[1]};
    Factor state = weight_hh;  // of the same dtype; its data are given for each step
    state.rows = all_.batch;
    state.cols = state.leading = row;
    state.transposed = false;
    for (int64_t i = 0; i < all_.steps; ++i) {
      const int64_t time = all_.time(run_, i);
      p.step = time;
      p.input_gates = rows_at(all_gates, time * all_.batch * kept, all_.wide);
      p.h = before(h, i, zeros);
      p.next_h = after(h, i);
      p.hidden_gates = zeros;
      if (i > 0 || h.before) {
        void* const target = split ? recurrent.data_ptr() : p.input_gates.data;
        multiply(call, p.h.data, state, weight, {target, split ? all_.gates() : kept, all_.wide}, !split);
        if (split) p.hidden_gates = {target, all_.gates()};
      }
      if (keeps_) p.gates = p.input_gates;
      if (keeps_ && split) p.hidden_new = rows_at(p.gates, 3 * row, all_.wide);
      p.y = rows_at(all_y, time * y.strides()[0], all_.dtype);
      if (all_.has_cells()) {
        p.c = before(c, i, zeros);
        p.next_c = after(c, i);
      }
      call.expect_bytes(all_.step_bytes());
      kernels::recurrent::forward(queue, p);
    }
  }

  Array gates, states, cells;

 private:
  // The weight that states are multiplied with. OpenBLAS packs it at each step, and columns take twice as long as rows,
  // so that it is turned once where there are many steps.
  Factor recurrent_weight(const OpCall& call, const Factor& weight) const {
    constexpr int64_t many_steps = 8;
    const bool columns = !weight.transposed && call.context().runtime().is_host();
    if (!columns || all_.batch == 1 || all_.steps < many_steps) return weight.turned();
    return Factor(copy(matrix_transpose(weight.array), on_), on_);
  }
  Chain chain(OpCall& call, const Array& start, const Array& last) const {
    Chain chain;
    chain.last = last;
    chain.kept = keeps_;
    chain.between = call.empty({keeps_ ? all_.steps : 2, all_.batch, all_.hidden}, all_.dtype);
    if (start) chain.before = Layers::matrix_at(start, run_);
    if (keeps_) {
      const Array first = Layers::matrix_at(chain.between, all_.time(run_, 0));
      assign(first, start ? Operand(chain.before) : Operand(0.0), on_);
      if (start) chain.before = first;
    }
    return chain;
  }
  RecurrentRows state_at(const Chain& chain, int64_t index) const {
    return rows_at({chain.between.data_ptr(), all_.hidden}, index * all_.batch * all_.hidden, all_.dtype);
  }
  RecurrentRows before(const Chain& chain, int64_t i, const RecurrentRows& zeros) const {
    if (i > 0) return state_at(chain, chain.kept ? all_.time(run_, i) : (i - 1) % 2);
    return chain.before ? RecurrentRows{chain.before.data_ptr(), all_.hidden} : zeros;
  }
  RecurrentRows after(const Chain& chain, int64_t i) const {
    if (i == all_.steps - 1) return {chain.last.data_ptr(), all_.hidden};
    return state_at(chain, chain.kept ? all_.time(run_, i + 1) : i % 2);
  }

  const Layers& all_;
  const Op op_;
  const int64_t run_;
  const Stream on_;
  const bool keeps_;
};

// The part of y (steps, batch, directions * hidden) of one direction.
Array direction_of(const Array& y, int64_t direction, int64_t hidden) {
  return Array(y.buffer(), y.dtype(), {y.shape()[0], y.shape()[1], hidden}, y.strides(),
               y.offset() + direction * hidden * y.strides()[2]);
}

struct InitialStates {
  const Array *h, *c = nullptr;  // null: zeros
};

RecurrentResult run_layers(Op op, const Array& x, const InitialStates& initial, const std::vector<Array>& weights,
                           const RecurrentOptions& options, std::vector<Array>* workspace, const Stream& stream) {
  const auto [h0, c0] = initial;
  OpCall call(op, {&x, h0, c0, options.lengths}, stream);
  for (const Array& w : weights) OpCall(op, {&x, &w}, stream);  // of one backend
  const Layers all(call, x, h0, c0, weights, options);
  const Stream on = call.on();
  const Dims states{all.runs(), all.batch, all.hidden};
  RecurrentResult out;
  out.y = call.empty(all.result_shape(), all.dtype);
  out.h = call.empty(states, all.dtype);
  if (all.has_cells()) out.c = call.empty(states, all.dtype);
  std::vector<Array> parts, results;
  if (all.batch > 0) {
    const Array lengths = all.lengths(call);
    const Array start_h = h0 ? all.states(*h0, on) : Array(), start_c = c0 ? all.states(*c0, on) : Array();
    Array input = all.time_major(x, on);
    for (int64_t layer = 0; layer < all.layers; ++layer) {
      const bool last = layer == all.layers - 1;
      const Factor rows(reshape(input, Dims{all.rows(), all.inputs_of(layer)}, {}, on), on);
      Array y =
          last ? all.time_major(out.y, on) : call.empty({all.steps, all.batch, all.directions * all.hidden}, all.dtype);
      for (int64_t direction = 0; direction < all.directions; ++direction) {
        const int64_t at = layer * all.directions + direction;
        Run run(all, op, at, on, workspace != nullptr);
        run(rows, start_h, start_c, lengths, direction_of(y, direction, all.hidden), Layers::matrix_at(out.h, at),
            out.c ? Layers::matrix_at(out.c, at) : Array());
        for (const Array* part : {&run.gates, &run.states, &run.cells})
          if (*part) parts.push_back(*part);
      }
      if (!last) results.push_back(y);
      input = y;
    }
  }
  out.y = all.to_caller(out.y, all.result_shape(), on);
  out.h = all.to_caller(out.h, all.state_shape(), on);
  if (out.c) out.c = all.to_caller(out.c, all.state_shape(), on);
  if (!workspace) return out;
  if (all.batch == 0)
    for (int64_t i = 0; i < all.workspace_size(); ++i)
      parts.push_back(call.empty(all.workspace_shape(i), all.workspace_dtype(i)));
  workspace->swap(parts);
  workspace->insert(workspace->end(), results.begin(), results.end());
  return out;
}

}  // namespace

RecurrentResult rnn(const Array& x, const Array* h0, const std::vector<Array>& weights, const RecurrentOptions& options,
                    std::vector<Array>* workspace, const Stream& stream) {
  return run_layers(Op::rnn, x, {h0}, weights, options, workspace, stream);
}

RecurrentResult gru(const Array& x, const Array* h0, const std::vector<Array>& weights, const RecurrentOptions& options,
                    std::vector<Array>* workspace, const Stream& stream) {
  return run_layers(Op::gru, x, {h0}, weights, options, workspace, stream);
}

RecurrentResult lstm(const Array& x, const Array* h0, const Array* c0, const std::vector<Array>& weights,
                     const RecurrentOptions& options, std::vector<Array>* workspace, const Stream& stream) {
  return run_layers(Op::lstm, x, {h0, c0}, weights, options, workspace, stream);
}

}  // namespace stator::nn
