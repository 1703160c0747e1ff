// Softmax along lines that lie side by side in memory: a block takes a tile of lines, or a part of one, and
// neighbouring threads take neighbouring lines. `wide` threads lie side by side, with column_vector lines each; below
// each other they divide the elements of their lines.
#pragma once

#include "device/fold_columns.cuh"
#include "kernels/nn/softmax_lines.cuh"

namespace stator::STATOR_TARGET::nn {

// Where a thread works.
template <class Io, int Size>
struct ColumnThread {
  using A = typename Io::A;
  static constexpr int V = Io::column_vector;
  int wide, high, x, y;  // threads side by side and below each other, and this one among them
  int64_t line;          // the first of this thread's lines
  bool present;          // its lines exist
  LineOffsets at;

  STATOR_FN ColumnThread(const params::Softmax& p, int rank, int64_t tile, int wide_)
      : wide(wide_),
        high(Size / wide_),
        x(rank & (wide_ - 1)),
        y(rank / wide_),
        line((tile * wide_ + x) * V),
        present(line < p.rows),
        at(present ? line_offsets(p, line) : LineOffsets{}) {}

  // How many of the elements first + y, first + y + high, ... are before `end`, Count at most.
  template <int Count>
  STATOR_FN int count(int64_t first, int64_t end) const {
    const int64_t left = present ? end - first - y : 0, steps = left > 0 ? (left + high - 1) / high : 0;
    return int(steps < Count ? steps : Count);
  }

  // Those elements of the lines; those from `end` on are `fill`.
  template <int Count>
  STATOR_FN void load(A (&value)[Count][V], const void* base, DType dtype, int64_t offset, int64_t step, int64_t first,
                      int64_t end, A fill, A factor = A(1)) const {
    if constexpr (!Io::always_vectors) {
      const int present = count<Count>(first, end);
      constexpr int part = Count < 8 ? Count : 8;  // of a call
      STATOR_UNROLL()
      for (int k = 0; k < Count; k += part) {
        const Items<A, part> in = load_erased<A, part, 1>(base, dtype, offset + (first + y + int64_t(k) * high) * step,
                                                          high * step, present - k, false);
        STATOR_UNROLL()
        for (int i = 0; i < part; ++i) value[k + i][0] = k + i < present ? in[i] * factor : fill;
      }
      return;
    }
    Io::with_type(dtype, [&]<class T>(type_tag<T>) {
      STATOR_UNROLL()
      for (int k = 0; k < Count; ++k) {
        const int64_t i = first + int64_t(k) * high + y;
        Vec<T, V> in;
        const bool taken = present && i < end;
        if (taken) in = load_vector<V>(static_cast<const T*>(base) + offset + i * step);
        STATOR_UNROLL()
        for (int j = 0; j < V; ++j) value[k][j] = taken ? convert<A>(in[j]) * factor : fill;
      }
    });
  }

  template <int Count>
  STATOR_FN void store(const A (&value)[Count][V], void* base, DType dtype, int64_t offset, int64_t step, int64_t first,
                       int64_t end) const {
    if constexpr (!Io::always_vectors) {
      const int present = count<Count>(first, end);
      constexpr int part = Count < 8 ? Count : 8;
      STATOR_UNROLL()
      for (int k = 0; k < Count; k += part) {
        Items<A, part> out;
        STATOR_UNROLL()
        for (int i = 0; i < part; ++i) out[i] = value[k + i][0];
        store_erased<A, part, 1>(base, dtype, offset + (first + y + int64_t(k) * high) * step, high * step, present - k,
                                 false, out);
      }
      return;
    }
    Io::with_type(dtype, [&]<class T>(type_tag<T>) {
      STATOR_UNROLL()
      for (int k = 0; k < Count; ++k) {
        const int64_t i = first + int64_t(k) * high + y;
        Vec<T, V> out;
        STATOR_UNROLL()
        for (int j = 0; j < V; ++j) out[j] = convert<T>(value[k][j]);
        if (present && i < end) store_vector(static_cast<T*>(base) + offset + i * step, out);
      }
    });
  }
};

// Lines of at most Size / wide * Count elements stay in registers, with one read and one write.
template <class Io, int Size, int Count, bool Backward>
STATOR_KERNEL_RESIDENT(Size, 2) void softmax_column_cached_kernel(params::Softmax p, int wide) {
  using A = typename Io::A;
  constexpr int V = Io::column_vector;
  const Group<Size> group;
  const ColumnThread<Io, Size> thread(p, group.rank(), group.block(), wide);
  const LineOffsets& at = thread.at;
  const auto inside = [&](int k) { return int64_t(k) * thread.high < p.n; };  // by any thread
  A value[Count][V], sum[V] = {};
  thread.load(value, p.x, p.dtype, at.x, p.x_step, 0, p.n, Backward ? A(0) : -limits<A>::infinity(), A(p.factor));
  if constexpr (Backward) {
    A saved[Count][V];
    thread.load(saved, p.saved, p.dtype, at.saved, p.saved_step, 0, p.n, A(0));
    STATOR_UNROLL()
    for (int k = 0; k < Count; ++k)
      for (int j = 0; j < V; ++j) sum[j] += p.log ? value[k][j] : value[k][j] * saved[k][j];
    fold_columns(group, sum, wide, Sum{});
    STATOR_UNROLL()
    for (int j = 0; j < V; ++j) {
      A column[Count], other[Count];
      for (int k = 0; k < Count; ++k) {
        column[k] = value[k][j];
        other[k] = saved[k][j];
      }
      finish_line<Io, true>(column, other, A(0), sum[j], p.log, inside);
      for (int k = 0; k < Count; ++k) value[k][j] = column[k];
    }
  } else {
    A largest[V];
    STATOR_UNROLL()
    for (int j = 0; j < V; ++j) largest[j] = value[0][j];
    STATOR_UNROLL()
    for (int k = 1; k < Count; ++k)
      for (int j = 0; j < V; ++j) largest[j] = Max{}(largest[j], value[k][j]);
    fold_columns(group, largest, wide, Max{});
    STATOR_UNROLL()
    for (int k = 0; k < Count; ++k) {
      if (inside(k)) {
        for (int j = 0; j < V; ++j) {
          value[k][j] -= largest[j];
          const A e = Io::exponential(value[k][j]);
          sum[j] += e;
          value[k][j] = p.log ? value[k][j] : e;
        }
      }
    }
    fold_columns(group, sum, wide, Sum{});
    STATOR_UNROLL()
    for (int j = 0; j < V; ++j) {
      const A scale = softmax_scale(sum[j], p.log);
      for (int k = 0; k < Count; ++k) value[k][j] = p.log ? value[k][j] - scale : value[k][j] * scale;
    }
  }
  thread.store(value, p.y, p.out_dtype, at.y, p.y_step, 0, p.n);
}

// Writes the totals of a part; the last block of the tile to do so adds them up.
template <bool Backward, class Io, int Size, class A, int V>
STATOR_FN void join_column_parts(const Group<Size>& group, const params::Softmax& p, const LineCut& cut, int64_t tile,
                                 int64_t split, const ColumnThread<Io, Size>& thread, const LineTotal<A> (&total)[V]) {
  const LineTotals<A> totals(p, cut, tile, cut.wide * V);
  const int column = thread.x * V;
  STATOR_UNROLL()
  for (int j = 0; j < V; ++j)
    if (thread.y == 0) totals.part(split, column + j) = total[j];
  if (!group.last_block(p.counters + tile, uint32_t(cut.splits))) return;
  A largest[V] = {}, sum[V] = {};
  if constexpr (!Backward) {
    STATOR_UNROLL()
    for (int j = 0; j < V; ++j) largest[j] = -limits<A>::infinity();
    STATOR_UNROLL(1)
    for (int s = thread.y; s < cut.splits; s += thread.high) {
      STATOR_UNROLL()
      for (int j = 0; j < V; ++j) largest[j] = Max{}(largest[j], totals.part(s, column + j).largest);
    }
    fold_columns(group, largest, cut.wide, Max{});
  }
  STATOR_UNROLL(1)
  for (int s = thread.y; s < cut.splits; s += thread.high) {
    STATOR_UNROLL()
    for (int j = 0; j < V; ++j) {
      const LineTotal<A> part = totals.part(s, column + j);
      sum[j] += Backward ? part.sum : part.sum * rescaling(part.largest, largest[j]);
    }
  }
  fold_columns(group, sum, cut.wide, Sum{});
  STATOR_UNROLL()
  for (int j = 0; j < V; ++j)
    if (thread.y == 0) totals.of_tile[column + j] = {largest[j], sum[j]};
}

// Lines of any length.
template <class Io, int Size, bool Backward>
STATOR_KERNEL_RESIDENT(Size, 2) void softmax_column_kernel(params::Softmax p, LineCut cut) {
  using A = typename Io::A;
  constexpr int V = Io::column_vector;
  constexpr int batch = V == 1 ? 8 : 4;
  const Group<Size> group;
  const int64_t tile = group.block() / cut.splits, split = group.block() % cut.splits;
  const int64_t begin = split * cut.size, end = begin + cut.size < p.n ? begin + cut.size : p.n;
  const ColumnThread<Io, Size> thread(p, group.rank(), tile, cut.wide);
  const LineOffsets& at = thread.at;
  A value[batch][V], saved[batch][V];
  LineTotal<A> total[V] = {};
  if (cut.phase == LinePhase::result) {
    const LineTotals<A> totals(p, cut, tile, cut.wide * V);
    STATOR_UNROLL()
    for (int j = 0; j < V; ++j) total[j] = totals.of_tile[thread.x * V + j];
  } else {
    LineSums<Io, Backward> sums[V];
    STATOR_UNROLL(1)
    for (int64_t first = begin; first < end; first += int64_t(batch) * thread.high) {
      thread.load(value, p.x, p.dtype, at.x, p.x_step, first, end, Backward ? A(0) : -limits<A>::infinity(),
                  A(p.factor));
      if constexpr (Backward) {
        if (!p.log) {
          thread.load(saved, p.saved, p.dtype, at.saved, p.saved_step, first, end, A(0));
          for (int k = 0; k < batch; ++k)
            for (int j = 0; j < V; ++j) value[k][j] *= saved[k][j];
        }
      }
      STATOR_UNROLL()
      for (int j = 0; j < V; ++j) {
        A column[batch];
        for (int k = 0; k < batch; ++k) column[k] = value[k][j];
        sums[j].add(column);
      }
    }
    A largest[V] = {}, sum[V];
    if constexpr (!Backward) {
      for (int j = 0; j < V; ++j) largest[j] = sums[j].largest;
      fold_columns(group, largest, cut.wide, Max{});
    }
    for (int j = 0; j < V; ++j) sum[j] = sums[j].relative_to(largest[j]);
    fold_columns(group, sum, cut.wide, Sum{});
    for (int j = 0; j < V; ++j) total[j] = {largest[j], sum[j]};
    if (cut.phase == LinePhase::total) {
      join_column_parts<Backward>(group, p, cut, tile, split, thread, total);
      return;
    }
  }
  A scale[V];
  for (int j = 0; j < V; ++j) scale[j] = Backward ? total[j].sum : softmax_scale(total[j].sum, p.log);
  STATOR_UNROLL(1)
  for (int64_t first = begin; first < end; first += int64_t(batch) * thread.high) {
    thread.load(value, p.x, p.dtype, at.x, p.x_step, first, end, A(0), A(p.factor));
    if constexpr (Backward) thread.load(saved, p.saved, p.dtype, at.saved, p.saved_step, first, end, A(0));
    STATOR_UNROLL()
    for (int j = 0; j < V; ++j) {
      A column[batch], other[batch] = {};
      for (int k = 0; k < batch; ++k) {
        column[k] = value[k][j];
        if constexpr (Backward) other[k] = saved[k][j];
      }
      finish_line<Io, Backward>(column, other, total[j].largest, scale[j], p.log, [](int) { return true; });
      for (int k = 0; k < batch; ++k) value[k][j] = column[k];
    }
    thread.store(value, p.y, p.out_dtype, at.y, p.y_step, first, end);
  }
}

}  // namespace stator::STATOR_TARGET::nn
