// Reductions over columns of threads, for targets whose blocks have threads.
#pragma once

#include "group.cuh"
#include "vector.cuh"

namespace stator::STATOR_TARGET {

template <class A, int V, int Size>
struct ColumnFold {
  Vec<A, V> of_warp[Size / 32][32];
};

// Reduces value j over each column of threads with op, for all threads of the column. The block has rows of `wide`
// threads, a power of two up to 32. All must call it; the order of operations depends on Size and wide only.
template <int Size, int V, class A, class Op>
STATOR_FN void fold_columns(const Group<Size>& group, A (&value)[V], int wide, Op op) {
  const int warp = group.rank() / 32, lane = group.rank() % 32;
#if !defined(STATOR_HOST) || defined(STATOR_CHECKED)
  STATOR_UNROLL(1)
  for (int delta = 16; delta >= wide; delta /= 2) {
    STATOR_UNROLL()
    for (int j = 0; j < V; ++j) value[j] = op(value[j], simt::shuffle_down(value[j], delta, 0xffffffffu, Site::here()));
  }
#endif
  ColumnFold<A, V, Size>& fold = group.template shared<ColumnFold<A, V, Size>>();
  group.sync();  // the previous fold is over
  if (lane < wide) {
    Vec<A, V>& mine = fold.of_warp[warp][lane];
    STATOR_UNROLL()
    for (int j = 0; j < V; ++j) mine[j] = value[j];
  }
  group.sync();
  const int x = lane & (wide - 1);
  STATOR_UNROLL()
  for (int w = 0; w < Size / 32; ++w) {
    const Vec<A, V> other = fold.of_warp[w][x];
    STATOR_UNROLL()
    for (int j = 0; j < V; ++j) value[j] = w == 0 ? other[j] : op(value[j], other[j]);
  }
}

}  // namespace stator::STATOR_TARGET
