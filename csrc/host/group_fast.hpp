// Group on the fast host: a block is one thread of execution. Loops are contiguous so that they vectorise, and
// reductions have many accumulators for the same reason.
#pragma once

#include "device/atomic.cuh"
#include "device/cascade.cuh"
#include "device/functional.cuh"
#include "host/block_fast.hpp"
#include "host/lanes/lanes_fast.hpp"

namespace stator::STATOR_TARGET {

template <int Size>
struct Group {
  static constexpr int size = 1;

  STATOR_FN Group() : block_(current_block->index), blocks_(current_block->count) {}

  STATOR_FN constexpr int rank() const { return 0; }
  STATOR_FN int64_t block() const { return block_; }
  STATOR_FN int64_t blocks() const { return blocks_; }
  STATOR_FN void sync() const {}

  // The calls for different i must be independent of each other.
  template <class F>
  STATOR_FN void for_each(int64_t n, F f) const {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) f(i);
  }

  template <class A, class Op>
  STATOR_FN A reduce(A value, Op) const {
    return value;
  }

  template <class A, class Op, class F>
  STATOR_FN A map_reduce(int64_t n, Op op, F f) const {
    if constexpr (std::is_arithmetic_v<A> && !std::is_same_v<A, bool> && is_lanewise<Op>) {
      return reduce_lanes<A>(n, op, f);
    } else {
      A lane[lanes];
      for (int k = 0; k < lanes; ++k) lane[k] = op.template identity<A>();
      int64_t i = 0;
      for (; i + lanes <= n; i += lanes)
        for (int k = 0; k < lanes; ++k) lane[k] = op(lane[k], A(f(i + k)));
      A total = fold(lane, op);
      for (; i < n; ++i) total = op(total, A(f(i)));
      return total;
    }
  }

  template <class A, class F>
  STATOR_FN A map_sum(int64_t n, F f) const {
    if constexpr (std::is_integral_v<A>) {
      return map_reduce<A>(n, Sum{}, f);
    } else {
      return sum_lanes<A>(n, f);
    }
  }

  template <class A, class Op>
  STATOR_FN A inclusive_scan(A value, Op) const {
    return value;
  }

  template <class S>
  STATOR_FN S& shared() const {
    static_assert(std::is_trivially_default_constructible_v<S> && std::is_trivially_copyable_v<S>);
    static_assert(sizeof(S) <= static_shared_limit, "static shared memory ends at 48 KiB: use dynamic<T>()");
    return *static_cast<S*>(shared_object(&key_of<S>, sizeof(S)));
  }

  template <class T>
  STATOR_FN T* dynamic(int64_t) const {
    return reinterpret_cast<T*>(current_block->dynamic);
  }

  STATOR_FN bool last_block(uint32_t* counter, uint32_t total) const {
    if (__atomic_add_fetch(counter, 1u, __ATOMIC_ACQ_REL) != total) return false;
    __atomic_store_n(counter, 0u, __ATOMIC_RELAXED);
    return true;
  }

 private:
  static constexpr int lanes = 8;
  template <class S>
  static constexpr char key_of = 0;

  template <class A, class Op>
  STATOR_FN static A fold(A (&lane)[lanes], Op op) {
    for (int width = lanes / 2; width > 0; width /= 2)
      for (int k = 0; k < width; ++k) lane[k] = op(lane[k], lane[k + width]);
    return lane[0];
  }

  int64_t block_, blocks_;
};

}  // namespace stator::STATOR_TARGET
