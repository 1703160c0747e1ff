// Layout: an iteration space as a kernel parameter. Walk: a range of one operand, on the fast host.
#pragma once

#include "device/convert.cuh"
#include "device/index.cuh"
#include "host/launch.hpp"
#include "params/elementwise.hpp"

namespace stator::STATOR_TARGET::elementwise {

// Operand 0 is the output.
template <int Operands>
struct Layout {
  int64_t shape[params::max_dims];
  int64_t strides[Operands][params::max_dims];
  FastDivmod divisor[params::max_dims];
  int64_t size;
  int32_t ndim;
  bool small;  // linear indices fit FastDivmod

  // Offsets in every operand of the M elements with these row-major indices, if `small`. The loop over dimensions is
  // not unrolled, because it would be most of a kernel's code.
  template <int M>
  STATOR_FN void offsets(const int32_t (&linear)[M], Items<int64_t, M> (&at)[Operands]) const {
    clear(at);
    int32_t rest[M];
    STATOR_UNROLL()
    for (int u = 0; u < M; ++u) rest[u] = linear[u];
    STATOR_UNROLL(1)
    for (int d = ndim - 1; d >= 0; --d) {
      STATOR_UNROLL()
      for (int u = 0; u < M; ++u) {
        int32_t coordinate = rest[u];
        if (d > 0) rest[u] = divisor[d].divmod(rest[u], coordinate);
        step(at, u, d, coordinate);
      }
    }
  }

  // The same for at most one dimension, where strides are 0 or 1: a product each instead of a loop.
  template <int M>
  STATOR_FN void offsets_in_line(const int32_t (&linear)[M], Items<int64_t, M> (&at)[Operands]) const {
    STATOR_UNROLL()
    for (int k = 0; k < Operands; ++k) {
      const int32_t stride = int32_t(strides[k][0]);
      STATOR_UNROLL()
      for (int u = 0; u < M; ++u) at[k][u] = int64_t(linear[u]) * stride;
    }
  }

  // The same for layouts of any size.
  template <int M>
  STATOR_FN void offsets(const int64_t (&linear)[M], Items<int64_t, M> (&at)[Operands]) const {
    if (small) {
      int32_t near[M];
      STATOR_UNROLL()
      for (int u = 0; u < M; ++u) near[u] = int32_t(linear[u]);
      return offsets(near, at);
    }
    clear(at);
    int64_t rest[M];
    STATOR_UNROLL()
    for (int u = 0; u < M; ++u) rest[u] = linear[u];
    STATOR_UNROLL(1)
    for (int d = ndim - 1; d >= 0; --d) {
      STATOR_UNROLL()
      for (int u = 0; u < M; ++u) {
        const int64_t quotient = d > 0 ? rest[u] / shape[d] : 0;
        step(at, u, d, rest[u] - quotient * shape[d]);
        rest[u] = quotient;
      }
    }
  }

 private:
  template <int M>
  STATOR_FN static void clear(Items<int64_t, M> (&at)[Operands]) {
    STATOR_UNROLL()
    for (int k = 0; k < Operands; ++k) STATOR_UNROLL()
    for (int u = 0; u < M; ++u) at[k][u] = 0;
  }
  template <int M>
  STATOR_FN void step(Items<int64_t, M> (&at)[Operands], int u, int d, int64_t coordinate) const {
    STATOR_UNROLL()
    for (int k = 0; k < Operands; ++k) at[k][u] += coordinate * strides[k][d];
  }
};

// The largest size whose linear indices fit FastDivmod, including those of threads past the end.
inline constexpr int64_t largest_small_size = (int64_t(1) << 31) - (int64_t(1) << 16) - 1;

template <int Operands>
void lay_out(Layout<Operands>& l, const params::Elementwise& e) {
  l.size = e.size;
  l.ndim = e.ndim;
  l.small = e.size <= largest_small_size;
  for (int d = 0; d < e.ndim; ++d) {
    l.shape[d] = e.shape[d];
    l.strides[0][d] = e.out.strides[d];
    for (int k = 1; k < Operands; ++k) l.strides[k][d] = e.in[k - 1].strides[d];
    if (l.small) l.divisor[d] = FastDivmod(int32_t(e.shape[d]));
  }
}

template <int Operands>
Layout<Operands> make_layout(const params::Elementwise& e) {
  Layout<Operands> l;
  lay_out(l, e);
  return l;
}

// Calls f(subspace, linear index of its first element) for subspaces of at most `most` elements, which come from
// halving the outermost axis that can be halved.
template <class F>
void for_each_small_subspace(const params::Elementwise& e, int64_t first, const F& f,
                             int64_t most = largest_small_size) {
  if (e.size <= most) return f(e, first);
  int axis = 0;
  while (e.shape[axis] == 1) ++axis;
  const int64_t extent = e.shape[axis], slice = e.size / extent;
  for (const bool upper : {false, true}) {
    params::Elementwise subspace = e;
    const int64_t skipped = upper ? extent / 2 : 0;
    subspace.shape[axis] = upper ? extent - skipped : extent / 2;
    subspace.size = subspace.shape[axis] * slice;
    const auto skip = [=](params::ElementwiseOperand& operand) {
      if (operand.data != nullptr)
        operand.data = static_cast<char*>(operand.data) + skipped * operand.strides[axis] * itemsize(operand.dtype);
    };
    skip(subspace.out);
    for (int k = 0; k < e.input_count; ++k) skip(subspace.in[k]);
    for_each_small_subspace(subspace, first + skipped * slice, f, most);
  }
}

template <int Operands>
STATOR_FN bool is_row_major(const Layout<Operands>& l, int operand) {
  return STATOR_TARGET::is_row_major(l.ndim, l.shape, l.strides[operand]);
}

// The number of elements after which an operand repeats itself: 1 for one value, the last extent for a row, 0 for none.
template <int Operands>
STATOR_FN int64_t period_of(const Layout<Operands>& l, int operand) {
  for (int d = 0; d < l.ndim - 1; ++d)
    if (l.strides[operand][d] != 0) return 0;
  return l.ndim == 0 || l.strides[operand][l.ndim - 1] == 0 ? 1 : l.ndim == 1 ? 0 : l.shape[l.ndim - 1];
}

// Fast host: `count` elements of one operand from linear index `linear` on, as segments along the last dimension.
struct Walk {
  const int64_t* shape;
  const int64_t* strides;
  int ndim;
  int64_t linear;
  int64_t count;

  // Calls f(offset, stride, position, length) for each segment; `position` counts from `linear`.
  template <class F>
  inline void for_each_segment(F f) const {
    int64_t at[params::max_dims];
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

}  // namespace stator::STATOR_TARGET::elementwise
