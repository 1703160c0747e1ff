// What the reduction kernels share: their parameters (ReductionWork), loads of elements, and the tree that combines the
// accumulators of a block's threads.
#pragma once

#include "device/bits.cuh"
#include "device/group.cuh"
#include "device/index.cuh"
#include "device/vector.cuh"
#include "kernels/elementwise/segments.cuh"
#include "kernels/reduce/runs.cuh"
#include "params/reduce.hpp"

#include <algorithm>

namespace stator::STATOR_TARGET::reduce {

using elementwise::load_strided;

// A group of axes in row-major order; offset(i) is where the i-th element lies.
struct Axes {
  int32_t ndim = 0;
  int64_t size = 1;
  FastDivmod64 divisor[params::max_dims];
  int64_t shape[params::max_dims], strides[params::max_dims], mask_strides[params::max_dims];

  Axes(int count, const int64_t* extents, const int64_t* steps, const int64_t* mask_steps) : ndim(count) {
    for (int d = 0; d < count; ++d) {
      size *= extents[d];
      shape[d] = extents[d];
      strides[d] = steps[d];
      mask_strides[d] = mask_steps[d];
      if (extents[d] > 0) divisor[d] = FastDivmod64(extents[d]);
    }
  }

  STATOR_FN int64_t offset(int64_t i) const { return fast_host && ndim == 1 ? i * strides[0] : along(i, strides); }
  STATOR_FN int64_t mask_offset(int64_t i) const { return along(i, mask_strides); }

 private:
  STATOR_COLD int64_t along(int64_t i, const int64_t* steps) const {
    if (ndim == 0) return 0;
    int64_t sum = 0;
    STATOR_UNROLL(1)
    for (int d = ndim - 1; d > 0; --d) {
      int64_t coordinate;
      i = divisor[d].divmod(i, coordinate);
      sum += coordinate * steps[d];
    }
    return sum + i * steps[0];
  }
};

// Output (o, j) is the reduction over (r, i): the offset of an element is kept.offset(o) + j * column_step +
// reduced.offset(r) + i. Kernels of rows have columns == 1, the kernel of columns has segment_length == 1.
struct ReductionWork {
  const void* in;
  const bool* mask;  // null, or which elements are counted
  void* out;
  DType in_dtype, out_dtype;
  ReductionMode mode;
  Axes kept, reduced;
  int64_t columns, column_step, mask_column_step;  // the innermost kept axis (columns only)
  int64_t segment_length;                          // elements of the innermost reduced axis (dense rows only)
  int64_t count;                                   // elements of one output
  int32_t threads;                                 // a power of two: threads along a row, or columns side by side
  int32_t splits;                                  // blocks that work on the same outputs
  int64_t split_size;                              // what one of them reduces: elements, segments or rows
  int64_t tile;                                    // outputs of one block
  int64_t batch;                                   // tiles of columns of a fast-host block, if it does not split them
  void* partials;                                  // [outputs of the grid, splits]
  uint32_t* counters;                              // one per group of `splits` blocks, left zero
};

// Elements that the fast host loads at a time: one call and one dtype switch per chunk, which stays in the L1 cache.
inline constexpr int64_t chunk_length = 512;

// Loads from memory of the element type T. ErasedLoad below loads from memory of any dtype and converts to C. On the
// fast host chunk() returns `count` contiguous elements, those from `offset` on that are `step` apart: in place if they
// are contiguous there, else copied to the buffer, and then `count` becomes at most its length.
template <class T>
struct TypedLoad {
  static constexpr bool erased = false;
  const T* p;
  STATOR_FN TypedLoad(const void* base, DType) : p(static_cast<const T*>(base)) {}
  STATOR_FN T at(int64_t offset) const { return p[offset]; }
  template <int N>
  STATOR_FN Items<T, N> many(const Items<int64_t, N>& offset) const {
    Items<T, N> out;
    STATOR_UNROLL()
    for (int j = 0; j < N; ++j) out[j] = p[offset[j]];
    return out;
  }
  STATOR_FN const T* chunk(T* buffer, int64_t offset, int64_t step, int64_t& count) const {
    if (step == 1) return p + offset;
    count = std::min(count, chunk_length);
    gather(buffer, p + offset, step, int(count));
    return buffer;
  }

 private:
  STATOR_COLD static void gather(T* STATOR_RESTRICT to, const T* from, int64_t step, int count) {
    if (step == 2)  // a constant stride compiles to shuffles instead of single loads
      for (int i = 0; i < count; ++i) to[i] = from[2 * i];
    else
      for (int i = 0; i < count; ++i) to[i] = from[i * step];
  }
};

// The first element of i, i + apart, ... below `end` that the mask selects; `end` or more if there is none.
STATOR_COLD int64_t next_counted(const ReductionWork& w, const bool* mask, int64_t i, int64_t end, int64_t apart) {
  STATOR_UNROLL(1)
  while (i < end && !mask[w.reduced.mask_offset(i)]) i += apart;
  return i;
}

// The dtypes that a thread converts several elements of at a time, those that sums, means and counts usually have.
// Elements of other dtypes are converted one by one.
template <class C>
inline constexpr DTypeSet read_together =
    dtype_bit(dtype_of_v<C>) |
    (std::is_same_v<C, float>     ? dtypes::floats & ~dtypes::full_floats
     : std::is_same_v<C, double>  ? dtypes::integers | dtype_bit(DType::float32)
     : std::is_same_v<C, int64_t> ? (dtypes::integers | dtypes::boolean) & ~dtype_bit(DType::uint64)
                                  : 0);

template <class C>
struct ErasedLoad {
  static constexpr bool erased = true;
  const void* p;
  DType dtype;
  STATOR_FN ErasedLoad(const void* base, DType d) : p(base), dtype(d) {}
  STATOR_FN C at(int64_t offset) const { return load_one<C>(p, dtype, offset); }
  template <int N>
  STATOR_FN Items<C, N> many(const Items<int64_t, N>& offset) const {
    return load_many<C, read_together<C>>(p, dtype, offset, N);
  }
  STATOR_FN const C* chunk(C* buffer, int64_t offset, int64_t step, int64_t& count) const {
    constexpr DType other = std::is_same_v<C, int64_t> ? DType::uint64 : dtype_of_v<C>;  // has the same bits
    if ((dtype == dtype_of_v<C> || dtype == other) && step == 1) return static_cast<const C*>(p) + offset;
    count = std::min(count, chunk_length);
    load_strided(buffer, p, dtype, offset, step, count);
    return buffer;
  }
};

// Accumulates one element; for masks, which leave few elements side by side.
template <class R>
STATOR_COLD void take_one(const R& r, typename R::Acc& acc, const ErasedLoad<typename R::In>& source, int64_t offset,
                          int64_t position) {
  acc = r.combine(acc, r.single(source.at(offset), position));
}

// How many blocks of 256 threads a reduction plans for on a multiprocessor: those that the registers of its kernels let
// in, which grow with the state of a lane, and no more than hide the latency of memory. On cuda a constant, and no
// query of the device, so that neither a capture nor a driver changes how a reduction is split, and so its bits.
inline constexpr int most_resident = 4;
template <class R>
inline constexpr int lane_bytes = int(sizeof(typename R::template Lanes<1>));
template <class R, class Source>
inline constexpr int resident =
    fast_host                                                                     ? most_resident
    : lane_bytes<R> >= 24                                                         ? 2
    : (Source::erased ? lane_bytes<R> >= 16 : vector_width<typename R::In> >= 16) ? 3
                                                                                  : most_resident;
template <class In, class Source>
inline constexpr int resident<NormOf<In>, Source> = fast_host ? most_resident : 3;  // powers are inlined

// Combines the accumulators of the threads rank, rank + apart, rank + 2 * apart, ... of each `size` threads (a power of
// two) in a fixed tree; those with rank % size < apart get the results. Every thread of the block must call it.
template <class R, class G>
STATOR_FN typename R::Acc fold_threads(const R& r, const G& group, typename R::Acc acc, int apart, int size) {
  using Acc = typename R::Acc;
  if constexpr (G::size > 1) {
    struct Shared {
      Acc acc[G::size];
    };
    constexpr int lanes = 32;
    Shared& shared = group.template shared<Shared>();
    const int member = group.rank() & (size - 1);
    int half = size / 2;
    if (half >= lanes) {
      shared.acc[group.rank()] = acc;
      group.sync();
    }
    STATOR_UNROLL(1)
    for (; half >= apart && half >= lanes; half /= 2) {
      if (member < half) shared.acc[group.rank()] = acc = r.combine(acc, shared.acc[group.rank() + half]);
      group.sync();
    }
    // Within a warp no thread waits for the block. Lanes beyond `half` get values that nothing reads.
    if (member < lanes) {
      STATOR_UNROLL(1)
      for (; half >= apart; half /= 2) acc = r.combine(acc, group.shuffle_down(acc, half));
    }
  }
  return acc;
}

template <class R>
STATOR_FN void store_result(const R& r, const ReductionWork& w, int64_t at, typename R::Acc acc) {
  store_one(w.out, w.out_dtype, at, r.finish(acc, w.count));
}

// Fast host: the results of `count` accumulators, stored from output `at` on.
template <class R>
STATOR_FN void store_results(const R& r, const ReductionWork& w, int64_t at, const typename R::Acc* acc, int count) {
  using Result = decltype(r.finish(*acc, w.count));
  using Stored = std::conditional_t<std::is_same_v<Result, int32_t>, int64_t, Result>;
  Stored results[chunk_length];
  for (int done = 0; done < count; done += int(chunk_length)) {
    const int n = std::min(count - done, int(chunk_length));
    for (int j = 0; j < n; ++j) results[j] = Stored(r.finish(acc[done + j], w.count));
    elementwise::store_strided(results, w.out, w.out_dtype, at + done, 1, n);
  }
}

}  // namespace stator::STATOR_TARGET::reduce
