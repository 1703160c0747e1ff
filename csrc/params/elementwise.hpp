// Parameters of the elementwise launchers.
#pragma once

#include "params/launcher.hpp"

#include <stator/op_table.hpp>

namespace stator::params {

// An operand or the output of an elementwise op. Strides are in elements, 0 where it is broadcast. An immediate is a
// weak scalar that is already converted to the compute dtype; `data` is null then.
struct ElementwiseOperand {
  void* data;
  int64_t strides[max_dims];
  alignas(16) unsigned char value[16];
  DType dtype;
  bool immediate;
};

// An iteration space after collapsing: dimensions of extent 1 are dropped, neighbours that step together are merged,
// axes are ordered by the output's strides (innermost last), size > 0. ndim is 0 for a single element.
struct Elementwise {
  int64_t shape[max_dims];
  int64_t size;
  int32_t ndim;
  int32_t input_count;  // 0 (fill) to 4
  DType operands;       // the common dtype that operands are in effect converted to
  DType compute;        // what the functor computes in; float16 and bfloat16 mean float, rounded at the store
  ElementwiseOperand out;
  ElementwiseOperand in[4];
};

// What a gated unit multiplies its other operand by.
enum class Gate : int32_t { sigmoid, silu, gelu, gelu_tanh };

}  // namespace stator::params

namespace stator::kernels::elementwise {

// Runs the op; in[...] has as many operands as its entry in the op table says.
extern Launcher<void(const Queue&, Op, const params::Elementwise&)> run;

// Mantissas to e.out and exponents of two to `exponents`, which has the shape and the order of memory of e.out; both
// are dense. The operand has the dtype of e.out, and any strides.
extern Launcher<void(const Queue&, const params::Elementwise& e, int32_t* exponents)> frexp;

// out = activation(gate) * up, of the operands gate and up; all have one dtype.
extern Launcher<void(const Queue&, params::Gate, const params::Elementwise&)> gated;
// Of the operands grad, gate, up and the gradient of up, which is a result as e.out is, the gradient of gate.
extern Launcher<void(const Queue&, params::Gate, const params::Elementwise&)> gated_backward;

}  // namespace stator::kernels::elementwise
