// Parameters of the elementwise launchers.
#pragma once

#include "params/launcher.hpp"

#include <stator/op_table.hpp>

namespace stator::params {

// One side of an elementwise op. Strides are in elements, 0 where broadcast. An immediate is a weak scalar already
// converted to the compute dtype; `data` is null then.
struct ElementwiseOperand {
  void* data;
  int64_t strides[max_dims];
  alignas(16) unsigned char value[16];
  DType dtype;
  bool immediate;
};

// An iteration space after collapsing: dimensions of extent 1 are gone, neighbours that step together are merged,
// axes are ordered by the output's strides (innermost last), size > 0. ndim is 0 for a single element.
struct Elementwise {
  int64_t shape[max_dims];
  int64_t size;
  int32_t ndim;
  int32_t input_count;  // 0 (fill) to 4
  DType compute;        // what the functor computes in (float16 and bfloat16: loaded and stored so, computed in float)
  ElementwiseOperand out;
  ElementwiseOperand in[4];
};

}  // namespace stator::params

namespace stator::kernels::elementwise {

// The op, of which in[...] are as many as the table says.
extern Launcher<void(const Queue&, Op, const params::Elementwise&)> run;

}  // namespace stator::kernels::elementwise
