// Recurrent layers, their cells, and their gradients, of namespace nn. Gates lie side by side as in PyTorch: of LSTM
// input, forget, cell and output, of GRU reset, update and new. Asynchronous; equal bits from run to run.
#pragma once

#include <stator/array.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace stator::nn {

// What follows the products of one step, in one launch. Gates are (batch, gates * hidden), states (batch, hidden),
// biases (gates * hidden), all of one floating dtype; a null bias is zero.
struct GruStep {
  Array h, workspace;  // (batch, 5 hidden): reset, update, new, hx, and the hidden part of the new gate
};
STATOR_API GruStep gru_pointwise(const Array& input_gates, const Array& hidden_gates, const Array& hx,
                                 const Array* bias_ih = nullptr, const Array* bias_hh = nullptr, const Stream& = {});
struct GruStepGradients {
  Array input_gates, hidden_gates, hx;  // hx: without what goes through hidden_gates
};
STATOR_API GruStepGradients gru_pointwise_backward(const Array& grad, const Array& workspace, const Stream& = {});

struct LstmStep {
  Array h, c, workspace;  // (batch, 4 hidden): the gates after their activations
};
STATOR_API LstmStep lstm_pointwise(const Array& input_gates, const Array& hidden_gates, const Array& cx,
                                   const Array* bias_ih = nullptr, const Array* bias_hh = nullptr, const Stream& = {});
struct LstmStepGradients {
  Array gates, cx;
};
// A null gradient is zero. ValueError if both are null.
STATOR_API LstmStepGradients lstm_pointwise_backward(const Array* grad_h, const Array* grad_c, const Array& cx,
                                                     const Array& workspace, const Stream& = {});

// nonlinearity: "tanh" or "relu".
STATOR_API Array rnn_pointwise(const Array& input_gates, const Array& hidden_gates, const Array* bias_ih = nullptr,
                               const Array* bias_hh = nullptr, std::string_view nonlinearity = "tanh",
                               const Stream& = {});
// h: the result. The gradient of either kind of gates.
STATOR_API Array rnn_pointwise_backward(const Array& grad, const Array& h, std::string_view nonlinearity = "tanh",
                                        const Stream& = {});

// One step of a layer: two products, and one launch. x is (batch, inputs) or (inputs), states as x; null: zeros.
struct CellWeights {
  const Array &ih, &hh;  // (gates * hidden, inputs) and (gates * hidden, hidden)
  const Array *bias_ih = nullptr, *bias_hh = nullptr;
};
STATOR_API Array rnn_cell(const Array& x, const Array* hx, const CellWeights&, std::string_view nonlinearity = "tanh",
                          const Stream& = {});
STATOR_API Array gru_cell(const Array& x, const Array* hx, const CellWeights&, const Stream& = {});
struct LstmState {
  Array h, c;
};
STATOR_API LstmState lstm_cell(const Array& x, const Array* hx, const Array* cx, const CellWeights&,
                               const Stream& = {});

struct RecurrentOptions {
  int64_t num_layers = 1;
  bool bias = true, bidirectional = false, batch_first = false;
  const Array* lengths = nullptr;                         // (batch), integers: the steps of each sequence, not checked
  std::optional<std::vector<int64_t>> host_lengths = {};  // the same, from 1 to the number of steps
  std::string_view nonlinearity = "tanh";                 // of rnn
};
// x is (steps, batch, inputs), or (batch, steps, inputs) with batch_first, or (steps, inputs). States are (layers *
// directions, batch, hidden), or without the batch; null: zeros. weights: for each layer, and in it each direction,
// those of the input, of the state, and with `bias` the two biases. y has the states of the last layer after each step,
// of both directions side by side, and 0 beyond the length of a sequence; h and c are the states at its end. workspace:
// what the gradient needs, which a call without it does not keep.
struct RecurrentResult {
  Array y, h, c;  // c: LSTM
};
STATOR_API RecurrentResult rnn(const Array& x, const Array* h0, const std::vector<Array>& weights,
                               const RecurrentOptions& = {}, std::vector<Array>* workspace = nullptr,
                               const Stream& = {});
STATOR_API RecurrentResult gru(const Array& x, const Array* h0, const std::vector<Array>& weights,
                               const RecurrentOptions& = {}, std::vector<Array>* workspace = nullptr,
                               const Stream& = {});
STATOR_API RecurrentResult lstm(const Array& x, const Array* h0, const Array* c0, const std::vector<Array>& weights,
                                const RecurrentOptions& = {}, std::vector<Array>* workspace = nullptr,
                                const Stream& = {});

// Gradients of x, of the initial states and of the weights. A null gradient of a result is zero; ValueError if all are
// null.
struct RecurrentGradients {
  Array x, h0, c0;
  std::vector<Array> weights;
};
struct ResultGradients {
  const Array *y = nullptr, *h = nullptr, *c = nullptr;
};
STATOR_API RecurrentGradients rnn_backward(const ResultGradients&, const Array& x, const std::vector<Array>& weights,
                                           const std::vector<Array>& workspace, const RecurrentOptions& = {},
                                           const Stream& = {});
STATOR_API RecurrentGradients gru_backward(const ResultGradients&, const Array& x, const std::vector<Array>& weights,
                                           const std::vector<Array>& workspace, const RecurrentOptions& = {},
                                           const Stream& = {});
STATOR_API RecurrentGradients lstm_backward(const ResultGradients&, const Array& x, const std::vector<Array>& weights,
                                            const std::vector<Array>& workspace, const RecurrentOptions& = {},
                                            const Stream& = {});

}  // namespace stator::nn
