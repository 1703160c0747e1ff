// Parameters of the launchers that create arrays: copies and conversions, constants, ranges, bands of matrices.
#pragma once

#include "params/elementwise.hpp"
#include "params/launcher.hpp"

namespace stator::params {

struct Arange {
  void* out;
  DType dtype;
  int64_t size;
  double start, step;           // floating
  int64_t start_int, step_int;  // integer dtypes
};

// Matrices of which the elements with low <= column - row <= high are in[batch, row, column], or `value` where in is
// null, and the others 0: triu, tril, diag, tri, eye. low and high are within -rows..cols.
struct Band {
  void* out;
  const void* in;
  int32_t itemsize, ndim;  // axes of the batch
  int64_t batch, rows, cols;
  int64_t low, high, row_stride, col_stride;
  alignas(16) unsigned char value[16];
  int64_t shape[max_dims], strides[max_dims];
};

// out[i] = (start + i * step) * scale and out[count - 1] = last, computed in double and rounded once (down for
// integers).
struct Linspace {
  void* out;
  DType dtype;
  int64_t count;
  double start[2], step[2], last[2];  // real and imaginary parts
  double scale[2];
};

}  // namespace stator::params

namespace stator::kernels::creation {

// Copies in[0], which may be an immediate, to out, converting as the numerics contract says. Transposes are tiled.
extern Launcher<void(const Queue&, const params::Elementwise&)> copy;
extern Launcher<void(const Queue&, const params::Arange&)> arange;
extern Launcher<void(const Queue&, const params::Linspace&)> linspace;
extern Launcher<void(const Queue&, const params::Band&)> band;

}  // namespace stator::kernels::creation
