// What the reduction kernels are given, where their elements lie and how a block folds its threads' accumulators.
#pragma once

#include "device/group.cuh"
#include "device/index.cuh"
#include "device/vector.cuh"
#include "kernels/reducers.cuh"
#include "kernels/reduction.hpp"

#include <algorithm>

namespace stator::STATOR_COLUMN {

// Some axes, row-major: the offset of the i-th element. 32-bit division where every extent and index fits.
struct Axes {
  int32_t ndim = 0;
  bool small = true;
  int64_t size = 1;
  FastDivmod fast[abi::max_dims];
  int64_t shape[abi::max_dims], strides[abi::max_dims];

  Axes(int count, const int64_t* extents, const int64_t* steps) : ndim(count) {
    for (int d = 0; d < count; ++d) size *= extents[d];
    small = size <= std::numeric_limits<int32_t>::max();
    for (int d = 0; d < count; ++d) {
      shape[d] = extents[d];
      strides[d] = steps[d];
      if (small && extents[d] > 0) fast[d] = FastDivmod(int32_t(extents[d]));
    }
  }

  STATOR_FN int64_t offset(int64_t i) const {
    if (ndim <= 1) return ndim == 0 ? 0 : i * strides[0];
    if (!small) return offset_of(i, ndim, shape, strides);
    int32_t rest = int32_t(i);
    int64_t sum = 0;
    for (int d = ndim - 1; d > 0; --d) {
      int32_t coordinate;
      rest = fast[d].divmod(rest, coordinate);
      sum += coordinate * strides[d];
    }
    return sum + rest * strides[0];
  }
};

// Output (o, j) is the reduction over (r, i): the offset of an element is kept.offset(o) + j * column_step +
// reduced.offset(r) + i. Rows have one column; columns have runs of one element.
struct ReductionWork {
  const void* in;
  void* out;
  DType in_dtype, out_dtype;
  Axes kept, reduced;
  int64_t columns, column_step;  // the innermost kept axis (columns only)
  int64_t run;                   // elements of the innermost reduced axis (dense rows only)
  int64_t count;                 // elements behind one output
  int32_t threads;               // a power of two: threads along a row, or columns side by side
  int32_t splits;                // blocks that share an output
  int64_t share;                 // what one of them takes: elements, runs or rows
  int64_t tile;                  // outputs of one block
  void* partials;                // [outputs of the grid, splits]
  uint32_t* counters;            // one for each set of `splits` blocks, left zero
};

// Where elements come from: memory of their own type, or of any dtype, converted to C.
template <class T>
struct Typed {
  using Value = T;
  const T* p;
  STATOR_FN Typed(const void* base, DType) : p(static_cast<const T*>(base)) {}
  STATOR_FN T at(int64_t offset) const { return p[offset]; }
};

template <class C>
struct Any {
  using Value = C;
  const void* p;
  DType dtype;
  STATOR_FN Any(const void* base, DType d) : p(base), dtype(d) {}
  STATOR_FN C at(int64_t offset) const { return load_as<C>(p, dtype, offset); }
};

// `count` of N elements `step` apart, for the fast host: dense ones vectorise.
template <class T, int N, class C>
STATOR_FN void load_line_of(C (&out)[N], const T* p, int64_t step, int count) {
  if (step == 1 && count == N)
    for (int k = 0; k < N; ++k) out[k] = convert<C>(p[k]);
  else
    for (int k = 0; k < count; ++k) out[k] = convert<C>(p[k * step]);
}
// A call of its own: inlined, its switch would make most of the code of every kernel.
template <int N, class C>
__attribute__((noinline)) void load_line(C (&out)[N], const void* base, DType d, int64_t offset, int64_t step,
                                         int count) {
#define STATOR_CASE(name, type) \
  case DType::name: return load_line_of(out, static_cast<const type*>(base) + offset, step, count);
  STATOR_DTYPE_SWITCH(d, STATOR_CASE)
#undef STATOR_CASE
}

// Combines the accumulators of the threads rank, rank + apart, rank + 2 * apart, ... below `size`, a power of two, in
// a fixed tree; the threads with rank < apart get the results. Every thread of the block calls it.
template <class R, class G>
STATOR_FN typename R::Acc fold_threads(const G& group, typename R::Acc acc, int apart, int size) {
  using Acc = typename R::Acc;
  if constexpr (G::size > 1) {
    struct Shared {
      Acc acc[G::size];
    };
    Shared& shared = group.template shared<Shared>();
    const int member = group.rank() & (size - 1);
    shared.acc[group.rank()] = acc;
    group.sync();
    for (int half = size / 2; half >= apart; half /= 2) {
      if (member < half)
        shared.acc[group.rank()] = R::combine(shared.acc[group.rank()], shared.acc[group.rank() + half]);
      group.sync();
    }
    acc = shared.acc[group.rank()];
  }
  return acc;
}

template <class R>
STATOR_FN void store_result(const ReductionWork& w, int64_t at, typename R::Acc acc) {
  store_as(w.out, w.out_dtype, at, R::finish(acc, w.count));
}

}  // namespace stator::STATOR_COLUMN
