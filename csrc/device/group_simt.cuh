// Group for targets whose blocks have Size threads: the same source for cuda and the checked target.
#pragma once

#include "atomic.cuh"
#include "cascade.cuh"
#include "functional.cuh"
#include "simt_cuda.cuh"

#if !defined(STATOR_HOST) || defined(STATOR_BLOCKS)

namespace stator::STATOR_TARGET {

template <int Size>
struct Group {
  static_assert(Size > 0 && Size <= 1024 && (Size & (Size - 1)) == 0, "a block is a power of two of threads");
  static constexpr int size = Size;

  STATOR_FN Group() { simt::check_block_size(Size); }

  STATOR_FN int rank() const { return simt::rank(); }
  STATOR_FN int64_t block() const { return simt::block(); }
  STATOR_FN int64_t blocks() const { return simt::blocks(); }
  STATOR_FN void sync(Site site = Site::here()) const { simt::barrier(site); }

  // Calls f(i) for every i in [0, n), in no particular order; neighbouring threads take neighbouring i.
  template <class F>
  STATOR_FN void for_each(int64_t n, F f) const {
    for (int64_t i = rank(); i < n; i += Size) f(i);
  }

  // The block-wide result, in every thread.
  template <class A, class Op>
  STATOR_FN A reduce(A value, Op op, Site site = Site::here()) const {
    value = reduce_warp(value, op, lanes, site);
    if constexpr (warps > 1) {
      struct Partials {
        A of_warp[warps];
      };
      Partials& partials = simt::shared_object<Partials>(site);
      sync(site);  // the previous use of the partials is over
      if (lane() == 0) partials.of_warp[warp()] = value;
      sync(site);
      value = reduce_warp(partials.of_warp[lane() & (warps - 1)], op, warps, site);
    }
    return simt::broadcast(value, 0, mask, site);
  }

  // Reduces f(i) over i in [0, n) with op, from op.identity<A>(); the result is in every thread.
  template <class A, class Op, class F>
  STATOR_FN A map_reduce(int64_t n, Op op, F f, Site site = Site::here()) const {
    A total = op.template identity<A>();
    STATOR_UNROLL(4)
    for (int64_t i = rank(); i < n; i += Size) total = op(total, A(f(i)));
    return reduce(total, op, site);
  }

  // Sums f(i) over i in [0, n), in every thread; long floating sums are compensated.
  template <class A, class F>
  STATOR_FN A map_sum(int64_t n, F f, Site site = Site::here()) const {
    if constexpr (std::is_integral_v<A>) {
      return map_reduce<A>(n, Sum{}, f, site);
    } else {
      constexpr int run = 8;
      Cascade<A> total;
      int64_t i = rank();
      for (; i + int64_t(run - 1) * Size < n; i += int64_t(run) * Size) {
        A partial = A(0);
        STATOR_UNROLL()
        for (int k = 0; k < run; ++k) partial = partial + A(f(i + int64_t(k) * Size));
        total.add(partial);
      }
      A partial = A(0);
      for (; i < n; i += Size) partial = partial + A(f(i));
      total.add(partial);
      return reduce(total.value(), Sum{}, site);
    }
  }

  // op over the values of all ranks up to and including this one, in the order of ranks.
  template <class A, class Op>
  STATOR_FN A inclusive_scan(A value, Op op, Site site = Site::here()) const {
    STATOR_UNROLL()
    for (int delta = 1; delta < lanes; delta *= 2) {
      const A before = simt::shuffle_up(value, delta, mask, site);
      if (lane() >= delta) value = op(before, value);
    }
    if constexpr (warps > 1) {
      struct Totals {
        A of_warp[warps];
      };
      Totals& totals = simt::shared_object<Totals>(site);
      sync(site);
      if (lane() == lanes - 1) totals.of_warp[warp()] = value;
      sync(site);
      if (warp() > 0) {
        A before = totals.of_warp[0];
        for (int w = 1; w < warp(); ++w) before = op(before, totals.of_warp[w]);
        value = op(before, value);
      }
    }
    return value;
  }

  // One object of type S for the block, uninitialised.
  template <class S>
  STATOR_FN S& shared(Site site = Site::here()) const {
    static_assert(std::is_trivially_default_constructible_v<S> && std::is_trivially_copyable_v<S>);
    static_assert(sizeof(S) <= 48 * 1024, "static shared memory ends at 48 KiB: use dynamic<T>()");
    return simt::shared_object<S>(site);
  }

  // The launch's dynamic shared memory, which must hold n elements of T; every call returns the same memory.
  template <class T>
  STATOR_FN T* dynamic(int64_t n, Site site = Site::here()) const {
    return reinterpret_cast<T*>(simt::dynamic_shared(size_t(n) * sizeof(T), site));
  }

  // True in every thread of the last of `total` blocks to call this; that block sees what the others wrote before, and
  // resets the counter to 0. A block may call it once per launch and counter.
  STATOR_FN bool last_block(uint32_t* counter, uint32_t total, Site site = Site::here()) const {
    struct Arrival {
      bool last;
    };
    Arrival& arrival = simt::shared_object<Arrival>(site);
    sync(site);
    if (rank() == 0) {
      fence();  // one is enough for all threads: barriers order them before it and after the next
      const bool last = atomic_add(counter, 1u) == total - 1;
      if (last) {
        fence();
        *counter = 0;  // after the fence, like all accesses that follow the others' writes
      }
      arrival.last = last;
    }
    sync(site);
    return arrival.last;
  }

  // The value of the thread `delta` ranks above, which must be in the same warp. All threads of a warp must call it.
  template <class T>
  STATOR_FN T shuffle_down(T value, int delta, Site site = Site::here()) const {
    return simt::shuffle_down(value, delta, mask, site);
  }

 private:
  static constexpr int lanes = Size < 32 ? Size : 32;
  static constexpr int warps = Size / lanes;
  static constexpr uint32_t mask = uint32_t((uint64_t(1) << lanes) - 1);

  STATOR_FN static int lane() { return simt::rank() % lanes; }
  STATOR_FN static int warp() { return simt::rank() / lanes; }

  // Lane 0 gets the result over the first `width` lanes.
  template <class A, class Op>
  STATOR_FN static A reduce_warp(A value, Op op, int width, Site site) {
    STATOR_UNROLL()
    for (int delta = width / 2; delta > 0; delta /= 2) value = op(value, simt::shuffle_down(value, delta, mask, site));
    return value;
  }
};

}  // namespace stator::STATOR_TARGET

#endif
