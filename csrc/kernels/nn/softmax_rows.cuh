// Softmax along lines whose elements are close together in memory: a block takes a line, or a part of one, and
// neighbouring threads take neighbouring elements.
#pragma once

#include "kernels/nn/softmax_lines.cuh"

namespace stator::STATOR_TARGET::nn {

// One operand's line, of which a block of Size threads holds `Count` vectors per thread. Without vectors the same
// number of single elements is in registers.
template <class Io, int Size, int Count>
struct RowAccess {
  using A = typename Io::A;
  static constexpr int V = Io::row_vector, per_thread = Count * V, tile = Size * per_thread;
  int rank;
  bool vectors;

  // Where element i of those that the thread holds is, from `first` on; of a vector, where its first one is. With
  // 64-bit factors nvcc divides a vector store into its elements.
  STATOR_FN int64_t position(int i, int64_t first) const {
    return Io::always_vectors || vectors ? first + (i / V * Size + rank) * V : first + int64_t(i) * Size + rank;
  }

  // Calls f(i) for the elements that the thread holds of those from `first` to `end`.
  template <class F>
  STATOR_FN void for_each(int64_t first, int64_t end, F f) const {
    STATOR_UNROLL()
    for (int k = 0; k < Count; ++k) {
      if (position(k * V, first) >= end) break;
      STATOR_UNROLL()
      for (int j = 0; j < V; ++j)
        if (Io::always_vectors || vectors || position(k * V + j, first) < end) f(k * V + j);
    }
  }

  // The elements of this thread from `first` to `end`, or all of its vectors that begin there.
  STATOR_FN int count(int64_t first, int64_t end) const {
    const int64_t apart = vectors ? int64_t(Size) * V : Size, left = end - position(0, first);
    const int64_t steps = left > 0 ? (left + apart - 1) / apart : 0;
    const int64_t most = vectors ? Count : per_thread;
    return int(steps < most ? steps : most) * (vectors ? V : 1);
  }

  // Elements from `first` on; those from `end` on are `fill`.
  STATOR_FN void load(A (&value)[per_thread], const void* base, DType dtype, int64_t offset, int64_t step,
                      int64_t first, int64_t end, A fill, A factor = A(1)) const {
    if constexpr (!Io::always_vectors) {
      const int present = count(first, end);
      const Items<A, per_thread> in = load_erased<A, per_thread, V>(
          base, dtype, offset + position(0, first) * step, (vectors ? Size * V : Size) * step, present, vectors);
      STATOR_UNROLL()
      for (int i = 0; i < per_thread; ++i) value[i] = i < present ? in[i] * factor : fill;
      return;
    }
    Io::with_type(dtype, [&]<class T>(type_tag<T>) {
      const T* const line = static_cast<const T*>(base) + offset;
      STATOR_UNROLL()
      for (int k = 0; k < Count; ++k) {
        if (position(k * V, first) >= end) {
          STATOR_UNROLL()
          for (int j = 0; j < V; ++j) value[k * V + j] = fill;
        } else {
          const Vec<T, V> in = load_vector<V>(line + position(k * V, first));
          STATOR_UNROLL()
          for (int j = 0; j < V; ++j) value[k * V + j] = convert<A>(in[j]) * factor;
        }
      }
    });
  }

  STATOR_FN void store(const A (&value)[per_thread], void* base, DType dtype, int64_t offset, int64_t step,
                       int64_t first, int64_t end) const {
    if constexpr (!Io::always_vectors) {
      Items<A, per_thread> out;
      STATOR_UNROLL()
      for (int i = 0; i < per_thread; ++i) out[i] = value[i];
      store_erased<A, per_thread, V>(base, dtype, offset + position(0, first) * step,
                                     (vectors ? Size * V : Size) * step, count(first, end), vectors, out);
      return;
    }
    Io::with_type(dtype, [&]<class T>(type_tag<T>) {
      T* const line = static_cast<T*>(base) + offset;
      STATOR_UNROLL()
      for (int k = 0; k < Count; ++k) {
        if (position(k * V, first) >= end) break;
        Vec<T, V> out;
        STATOR_UNROLL()
        for (int j = 0; j < V; ++j) out[j] = convert<T>(value[k * V + j]);
        store_vector(line + position(k * V, first), out);
      }
    });
  }
};

// Vectors that a thread holds of a line that stays in registers, and of a longer one.
inline constexpr int row_cached = 2;
constexpr int row_batch(int width) { return width == 2 ? 4 : 2; }

// Lines of at most Size * row_cached vectors, with one read and one write.
template <class Io, int Size, bool Backward>
STATOR_KERNEL_RESIDENT(Size, 1) void softmax_row_cached_kernel(params::Softmax p, bool vectors) {
  using A = typename Io::A;
  using Row = RowAccess<Io, Size, row_cached>;
  const Group<Size> group;
  const Row row{group.rank(), vectors};
  const LineOffsets at = line_offsets(p, group.block());
  const auto inside = [&](int i) { return row.position(i, 0) < p.n; };
  A value[Row::per_thread];
  row.load(value, p.x, p.dtype, at.x, p.x_step, 0, p.n, Backward ? A(0) : -limits<A>::infinity(), A(p.factor));
  A sum = A(0);
  if constexpr (Backward) {
    A saved[Row::per_thread];
    row.load(saved, p.saved, p.dtype, at.saved, p.saved_step, 0, p.n, A(0));
    row.for_each(0, p.n, [&](int i) { sum += p.log ? value[i] : value[i] * saved[i]; });
    sum = group.reduce(sum, Sum{});
    finish_line<Io, true>(value, saved, A(0), sum, p.log, inside);
  } else {
    A largest = -limits<A>::infinity();
    row.for_each(0, p.n, [&](int i) { largest = Max{}(largest, value[i]); });
    largest = group.reduce(largest, Max{});
    row.for_each(0, p.n, [&](int i) {
      value[i] -= largest;
      const A e = Io::exponential(value[i]);
      sum += e;
      value[i] = p.log ? value[i] : e;
    });
    sum = group.reduce(sum, Sum{});
    const A scale = softmax_scale(sum, p.log);
    row.for_each(0, p.n, [&](int i) { value[i] = p.log ? value[i] - scale : value[i] * scale; });
  }
  row.store(value, p.y, p.out_dtype, at.y, p.y_step, 0, p.n);
}

// Writes the total of a part; the last block of the line to do so adds them up.
template <bool Backward, int Size, class A>
STATOR_FN void join_row_parts(const Group<Size>& group, const params::Softmax& p, const LineCut& cut, int64_t line,
                              int64_t split, LineTotal<A> total) {
  const LineTotals<A> totals(p, cut, line, 1);
  if (group.rank() == 0) totals.part(split, 0) = total;
  if (!group.last_block(p.counters + line, uint32_t(cut.splits))) return;
  if constexpr (!Backward)
    total.largest =
        group.template map_reduce<A>(cut.splits, Max{}, [=](int64_t s) { return totals.part(s, 0).largest; });
  total.sum = group.template map_reduce<A>(cut.splits, Sum{}, [=](int64_t s) {
    const LineTotal<A> part = totals.part(s, 0);
    return Backward ? part.sum : part.sum * rescaling(part.largest, total.largest);
  });
  if (group.rank() == 0) *totals.of_tile = total;
}

// Lines of any length.
template <class Io, int Size, bool Backward>
STATOR_KERNEL_RESIDENT(Size, 2) void softmax_row_kernel(params::Softmax p, LineCut cut, bool vectors) {
  using A = typename Io::A;
  using Row = RowAccess<Io, Size, row_batch(Io::row_vector)>;
  const Group<Size> group;
  const Row row{group.rank(), vectors};
  const int64_t line = group.block() / cut.splits, split = group.block() % cut.splits;
  const int64_t begin = split * cut.size, end = begin + cut.size < p.n ? begin + cut.size : p.n;
  const LineOffsets at = line_offsets(p, line);
  A value[Row::per_thread], saved[Row::per_thread];
  LineTotal<A> total{A(0), A(0)};
  if (cut.phase == LinePhase::result) {
    total = *LineTotals<A>(p, cut, line, 1).of_tile;
  } else {
    LineSums<Io, Backward> sums;
    STATOR_UNROLL(1)
    for (int64_t first = begin; first < end; first += Row::tile) {
      row.load(value, p.x, p.dtype, at.x, p.x_step, first, end, Backward ? A(0) : -limits<A>::infinity(), A(p.factor));
      if constexpr (Backward) {
        if (!p.log) {
          row.load(saved, p.saved, p.dtype, at.saved, p.saved_step, first, end, A(0));
          STATOR_UNROLL()
          for (int i = 0; i < Row::per_thread; ++i) value[i] *= saved[i];
        }
      }
      sums.add(value);
    }
    if constexpr (!Backward) total.largest = group.reduce(sums.largest, Max{});
    total.sum = group.reduce(sums.relative_to(total.largest), Sum{});
    if (cut.phase == LinePhase::total) {
      join_row_parts<Backward>(group, p, cut, line, split, total);
      return;
    }
  }
  const A scale = Backward ? total.sum : softmax_scale(total.sum, p.log);
  STATOR_UNROLL(1)
  for (int64_t first = begin; first < end; first += Row::tile) {
    row.load(value, p.x, p.dtype, at.x, p.x_step, first, end, A(0), A(p.factor));
    if constexpr (Backward) row.load(saved, p.saved, p.dtype, at.saved, p.saved_step, first, end, A(0));
    finish_line<Io, Backward>(value, saved, total.largest, scale, p.log,
                              [&](int i) { return row.position(i, first) < end; });
    row.store(value, p.y, p.out_dtype, at.y, p.y_step, first, end);
  }
}

}  // namespace stator::STATOR_TARGET::nn
