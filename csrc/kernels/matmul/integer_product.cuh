// What the kernels of integer products share: types, addresses, and stores of sums.
#pragma once

#include "device/bits.cuh"
#include "device/convert.cuh"
#include "device/group.cuh"
#include "device/index.cuh"
#include "host/lanes/lane_product.hpp"
#include "params/matmul.hpp"

namespace stator::STATOR_TARGET::matmul {

struct IntegerTuning {
  static constexpr int block = 256;
  static constexpr int tile = 64, depth = 16, each = 4;           // blocks with threads: 64 x 64 sums, 4 x 4 per thread
  static constexpr int rows = 96, cols = 128, panel_depth = 128;  // fast host: per block, and per packed panel
  static constexpr int micro_rows = 6;
  static constexpr int small_cols = 16, small_work = 512;              // fast host: products that are not packed
  static constexpr int64_t least_work = by_target<1, 1 << 15>::value;  // multiplications per block
  static constexpr int64_t dots = by_target<1, 64>::value;             // inner products per block of integer_dot
};

// The type of the sums of a compute type. float is exact for 128 products of bytes, which are then added to wider sums.
template <class T>
using sum_of = std::conditional_t<std::is_same_v<T, float>, uint32_t, T>;

// The operands and the result of one matrix of the batch.
struct MatrixOf {
  const char *a, *b;
  char* out;
};
STATOR_FN MatrixOf matrix_of(const params::StridedProduct& p, int64_t batch) {
  const int64_t in = itemsize(p.operands), out = itemsize(p.result);
  return {static_cast<const char*>(p.a.data) + offset_of(batch, p.batch_ndim, p.batch_shape, p.a_batch) * in,
          static_cast<const char*>(p.b.data) + offset_of(batch, p.batch_ndim, p.batch_shape, p.b_batch) * in,
          static_cast<char*>(p.out.data) + offset_of(batch, p.batch_ndim, p.batch_shape, p.out_batch) * out};
}

// f(a value of an integer type as wide as the operands), signed if it is widened. T is the compute type.
template <class T, class F>
STATOR_FN void with_operand(DType d, const F& f) {
  if constexpr (sizeof(T) == 8) {
    f(uint64_t{});
  } else {
    if constexpr (std::is_same_v<T, float> || !fast_host) {
      if (d == DType::int8) return f(int8_t{});
      if (itemsize(d) == 1) return f(uint8_t{});
    }
    if constexpr (!std::is_same_v<T, float>) {
      if (itemsize(d) == 2) return f(uint16_t{});
      f(uint32_t{});
    }
  }
}

// Stores one sum. Not a call, which would put the thread's sums in memory.
template <class A>
STATOR_FN void store_sum(char* out, DType d, A sum) {
  if (d == DType::bool_)
    *reinterpret_cast<bool*>(out) = sum != A(0);
  else
    detail::store_integer(out, itemsize(d), 0, int64_t(sum));
}

// out[j * step] = sums[j], truncated to its size; for bool, whether it is not zero.
template <class A>
STATOR_CALL void store_sums(char* out, DType d, int64_t step, const A* sums, int64_t n) {
  const auto store = [&](auto type) {
    using W = decltype(type);
    W* to = reinterpret_cast<W*>(out);
    if (step == 1)
      for (int64_t j = 0; j < n; ++j) to[j] = W(sums[j]);
    else
      for (int64_t j = 0; j < n; ++j) to[j * step] = W(sums[j]);
  };
  if (d == DType::bool_) return store(bool{});
  if constexpr (sizeof(A) == 8)
    store(uint64_t{});
  else
    with_bits<1, 2, 4>(itemsize(d), store);
}

}  // namespace stator::STATOR_TARGET::matmul
