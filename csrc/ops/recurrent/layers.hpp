// The extents of a call of a recurrent layer, its operands in the layout that the steps take, and its checks.
#pragma once

#include "ops/recurrent/steps.hpp"

#include <vector>

namespace stator::nn {

// Arrays are time-major: (steps, batch, ...). Halves are computed in float32 on the host, whose libraries have no
// products of halves; elsewhere the operands of products are halves, and their sums float32.
class Layers {
 public:
  // Checks all operands but those of a gradient.
  Layers(const OpCall& call, const Array& x, const Array* h0, const Array* c0, const std::vector<Array>& weights,
         const RecurrentOptions& options);

  RecurrentKind kind;
  DType given, dtype, wide;  // of the operands, of what the steps compute with, and of their sums
  bool single, batch_first, bias;
  int64_t steps, batch, inputs, hidden, layers, directions;

  bool has_cells() const { return kind == RecurrentKind::lstm; }
  int64_t rows() const { return steps * batch; }
  int64_t gates() const { return gates_of(kind) * hidden; }
  // Columns of the gates that are kept: of GRU also the hidden part of the new gate.
  int64_t kept() const { return kind == RecurrentKind::gru ? 4 * hidden : gates(); }
  int64_t inputs_of(int64_t layer) const { return layer == 0 ? inputs : directions * hidden; }
  int64_t runs() const { return layers * directions; }  // of all steps

  // Arrays of the workspace: for each run the gates, the states and of LSTM the cells before each step, then the
  // results of all layers but the last.
  int64_t parts() const { return has_cells() ? 3 : 2; }
  int64_t workspace_size() const { return runs() * parts() + layers - 1; }
  int64_t result_at(int64_t layer) const { return runs() * parts() + layer; }
  Dims workspace_shape(int64_t index) const;
  DType workspace_dtype(int64_t index) const { return index < runs() * parts() && index % parts() == 0 ? wide : dtype; }

  const Array& weight_ih(int64_t run) const { return weights_[run * per_run()]; }
  const Array& weight_hh(int64_t run) const { return weights_[run * per_run() + 1]; }
  const Array* bias_ih(int64_t run) const { return bias ? &weights_[run * per_run() + 2] : nullptr; }
  const Array* bias_hh(int64_t run) const { return bias ? &weights_[run * per_run() + 3] : nullptr; }
  int64_t per_run() const { return bias ? 4 : 2; }

  Dims state_shape() const { return single ? Dims{runs(), hidden} : Dims{runs(), batch, hidden}; }
  Dims result_shape() const;  // of y as the caller has it
  // An array as the caller has it, (steps, batch, n) in any layout, in `dtype`.
  Array time_major(const Array& x, const Stream& stream) const;
  // The same of initial or last states, and the matrix of one run.
  Array states(const Array& x, const Stream& stream) const;
  static Array matrix_at(const Array& x, int64_t index);
  // (batch) of int64, or empty.
  Array lengths(const OpCall& call) const;
  // For results in the caller's shape and dtype.
  Array to_caller(const Array& x, const Dims& shape, const Stream& stream) const;

  // Step number `i` of a run, in its order.
  int64_t time(int64_t run, int64_t i) const { return directions == 2 && run % 2 == 1 ? steps - 1 - i : i; }
  // What the kernel of one step touches.
  int64_t step_bytes() const { return batch * hidden * (2 * gates_of(kind) + 4) * itemsize(wide); }

 private:
  std::vector<Array> weights_;  // in `dtype`
  const RecurrentOptions& options_;
};

}  // namespace stator::nn
