// Parameters of the elementwise, copy, fill and arange launchers.
#pragma once

#include "params/launch.hpp"

#include <stator/op_table.hpp>

namespace stator::abi {

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

struct Arange {
  void* out;
  DType dtype;
  int64_t size;
  double start, step;           // floating
  int64_t start_int, step_int;  // integer dtypes
};

}  // namespace stator::abi

namespace stator::kernels {

using ElementwiseLauncher = void (*)(const abi::Queue&, const abi::Elementwise&);

struct ElementwiseTable {
  ElementwiseLauncher op[op_count];  // elementwise ops by Op; null for others
  ElementwiseLauncher copy;  // in[0] to out, converting as the numerics contract says; tiled where it transposes
  ElementwiseLauncher fill;  // in[0] is an immediate of out's dtype
  void (*arange)(const abi::Queue&, const abi::Arange&);
};

}  // namespace stator::kernels
