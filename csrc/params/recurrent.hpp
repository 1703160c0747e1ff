// Parameters of the launchers of recurrent layers: one step of a layer, without its products.
#pragma once

#include "params/launcher.hpp"

namespace stator::params {

enum class RecurrentKind : int32_t { tanh, relu, lstm, gru };

// A matrix of dense rows, `row` elements apart; 0: one row for the whole batch.
struct RecurrentRows {
  void* data = nullptr;
  int64_t row = 0;
};

// One step. Gates lie side by side in a row: of LSTM input, forget, cell and output, of GRU reset, update and new.
// `dtype` is that of states, biases and gradients of gates; `gates_dtype`, which is the same or float32 for halves,
// that of gates and running gradients. What a row reads of an element is read before the element is written, so that
// results may be operands too. A row whose length is up to `step` keeps its states, and its result is 0.
struct RecurrentCell {
  RecurrentKind kind;
  DType dtype, gates_dtype;
  int64_t batch, hidden, step;
  const int64_t* lengths;  // of the rows, or null
  // Forward. The two kinds of gates are added, and so are the biases.
  RecurrentRows input_gates, hidden_gates;
  const void *bias_ih, *bias_hh;
  RecurrentRows h, c;            // states before the step; backward too
  RecurrentRows next_h, next_c;  // after it
  RecurrentRows y;               // next_h again, or null
  RecurrentRows gates;           // after their activations; null forward where not asked for; backward an operand
  RecurrentRows hidden_new;      // GRU: the hidden part of the new gate; with `gates`
  RecurrentRows saved_h;         // GRU: a copy of h in the gates' dtype, or null
  // Backward.
  RecurrentRows grad_y;             // of dtype
  RecurrentRows grad_h, grad_c;     // of gates_dtype: after the step
  RecurrentRows before_h;           // gets what of grad_h does not go through the gates; or null
  RecurrentRows before_c;           // gets the gradient of c
  RecurrentRows grad_input_gates;   // of dtype
  RecurrentRows grad_hidden_gates;  // GRU
};

}  // namespace stator::params

namespace stator::kernels::recurrent {

extern Launcher<void(const Queue&, const params::RecurrentCell&)> forward;
extern Launcher<void(const Queue&, const params::RecurrentCell&)> backward;

}  // namespace stator::kernels::recurrent
