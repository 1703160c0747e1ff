// An iteration space that travels to a strided kernel, and the walk over a range of it.
#pragma once

#include "device/index.cuh"
#include "device/launch.cuh"
#include "kernels/elementwise.hpp"

namespace stator::STATOR_COLUMN {

// Operand 0 is the output.
template <int Operands>
struct Layout {
  int64_t shape[abi::max_dims];
  int64_t strides[Operands][abi::max_dims];
  FastDivmod divisor[abi::max_dims];
  int64_t size;
  int32_t ndim;
  bool small;  // linear indices fit FastDivmod

  // Offsets of every operand at the element `linear` of the row-major order.
  STATOR_FN void offsets(int64_t linear, int64_t (&out)[Operands]) const {
    for (int k = 0; k < Operands; ++k) out[k] = 0;
    if (small) {
      int32_t rest = int32_t(linear);
      for (int d = ndim - 1; d > 0; --d) {
        int32_t coordinate;
        rest = divisor[d].divmod(rest, coordinate);
        step(out, d, coordinate);
      }
      if (ndim > 0) step(out, 0, rest);
    } else {
      for (int d = ndim - 1; d > 0; --d) {
        const int64_t rest = linear / shape[d];
        step(out, d, linear - rest * shape[d]);
        linear = rest;
      }
      if (ndim > 0) step(out, 0, linear);
    }
  }

 private:
  STATOR_FN void step(int64_t (&out)[Operands], int d, int64_t coordinate) const {
    STATOR_UNROLL()
    for (int k = 0; k < Operands; ++k) out[k] += coordinate * strides[k][d];
  }
};

template <int Operands>
Layout<Operands> make_layout(const abi::Elementwise& e) {
  Layout<Operands> l;
  l.size = e.size;
  l.ndim = e.ndim;
  l.small = e.size + (int64_t(1) << 16) < int64_t(1) << 31;
  for (int d = 0; d < e.ndim; ++d) {
    l.shape[d] = e.shape[d];
    l.strides[0][d] = e.out.strides[d];
    for (int k = 1; k < Operands; ++k) l.strides[k][d] = e.in[k - 1].strides[d];
    if (l.small) l.divisor[d] = FastDivmod(int32_t(e.shape[d]));
  }
  return l;
}

// Whether an operand is dense in row-major order.
template <int Operands>
STATOR_FN bool is_row_major(const Layout<Operands>& l, int operand) {
  int64_t expected = 1;
  for (int d = l.ndim - 1; d >= 0; --d) {
    if (l.strides[operand][d] != expected) return false;
    expected *= l.shape[d];
  }
  return true;
}

// After how many elements an operand repeats itself: 1 for one value, the last extent for a row, 0 for never.
template <int Operands>
STATOR_FN int64_t period_of(const Layout<Operands>& l, int operand) {
  for (int d = 0; d < l.ndim - 1; ++d)
    if (l.strides[operand][d] != 0) return 0;
  return l.ndim == 0 || l.strides[operand][l.ndim - 1] == 0 ? 1 : l.ndim == 1 ? 0 : l.shape[l.ndim - 1];
}

// Fast host: `count` elements of one operand from `linear` on, as runs along the last dimension.
struct Walk {
  const int64_t* shape;
  const int64_t* strides;
  int ndim;
  int64_t linear;
  int64_t count;

  // f(offset, stride, position, length) for each run.
  template <class F>
  inline void for_each_run(F f) const {
    int64_t at[abi::max_dims];
    int64_t offset = 0, rest = linear;
    for (int d = ndim - 1; d >= 0; --d) {
      at[d] = rest % shape[d];
      rest /= shape[d];
      offset += at[d] * strides[d];
    }
    const int inner = ndim - 1;
    const int64_t stride = ndim > 0 ? strides[inner] : 0, extent = ndim > 0 ? shape[inner] : 1;
    int64_t start = ndim > 0 ? at[inner] : 0;
    for (int64_t done = 0; done < count;) {
      const int64_t left = count - done, length = extent - start < left ? extent - start : left;
      f(offset, stride, done, length);
      done += length;
      offset -= start * stride;
      start = 0;
      for (int d = inner - 1; d >= 0; --d) {
        offset += strides[d];
        if (++at[d] < shape[d]) break;
        offset -= at[d] * strides[d];
        at[d] = 0;
      }
    }
  }
};

}  // namespace stator::STATOR_COLUMN
