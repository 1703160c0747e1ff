// The last launch of a gradient: sums of partial gradients of weights and biases.
#pragma once

#include "device/cascade.cuh"
#include "device/convert.cuh"
#include "device/fold_columns.cuh"
#include "device/math/math.cuh"
#include "host/launch.hpp"

namespace stator::STATOR_TARGET::norm {

struct ColumnSumTuning {
  static constexpr int block = 256;
  static constexpr int tile = by_target<32, 512>::value;  // columns of a block
};

// partials: rows of n partial gradients of weights and, if there is `dbias`, n of biases.
template <class T>
struct ColumnSums {
  const opmath_t<T>* partials;
  T *dweight, *dbias;
  int64_t rows, n;

  STATOR_FN int64_t width() const { return dbias != nullptr ? 2 * n : n; }
  STATOR_FN void store(int64_t column, opmath_t<T> value) const {
    if (column < n)
      dweight[column] = convert<T>(value);
    else
      dbias[column - n] = convert<T>(value);
  }
};

// In threads, the sum of f(row) over the rows that a thread takes, and over those of the threads below it. Every thread
// of the block gets the sum of its column.
template <class A, int Size, class F>
STATOR_FN A sum_of_column(const Group<Size>& group, int64_t rows, bool inside, F f) {
  Cascade<A> mine;
  if (inside) {
    STATOR_UNROLL(4)
    for (int64_t row = group.rank() / 32; row < rows; row += Size / 32) mine.add(f(row));
  }
  A total[1] = {mine.value()};
  fold_columns(group, total, 32, Sum{});
  return total[0];
}

template <class T, int Size>
STATOR_KERNEL(Size) void column_sums_kernel(ColumnSums<T> s) {
  using A = opmath_t<T>;
  constexpr int tile = ColumnSumTuning::tile;
  const Group<Size> group;
  const int64_t width = s.width(), first = group.block() * tile;
  if constexpr (fast_host) {
    A sum[tile] = {};
    const int count = int(width - first < tile ? width - first : tile);
    for (int64_t row = 0; row < s.rows; ++row) {
      const A* STATOR_RESTRICT const from = s.partials + row * width + first;
      for (int j = 0; j < count; ++j) sum[j] += from[j];
    }
    for (int j = 0; j < count; ++j) s.store(first + j, sum[j]);
  } else {
    const int64_t column = first + group.rank() % 32;
    const A total =
        sum_of_column<A>(group, s.rows, column < width, [&](int64_t row) { return s.partials[row * width + column]; });
    if (group.rank() < 32 && column < width) s.store(column, total);
  }
}

template <class T>
void launch_column_sums(const params::Queue& q, const ColumnSums<T>& s) {
  const int64_t width = s.dbias != nullptr ? 2 * s.n : s.n;
  launch(q, "norm_column_sums", column_sums_kernel<T, ColumnSumTuning::block>,
         {ceil_div(width, ColumnSumTuning::tile), ColumnSumTuning::block}, s);
}

}  // namespace stator::STATOR_TARGET::norm
