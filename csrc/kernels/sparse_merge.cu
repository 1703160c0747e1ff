// Sums of compressed matrices with sorted rows; of one matrix, its repeated entries. Each thread merges rows of its
// own.
#include "kernels/sparse_fill.cuh"
#include "kernels/sparse_rows.cuh"

#include <limits>

namespace stator::STATOR_COLUMN {
namespace {

struct SparseMergeTuning {
  static constexpr int block = 128;
  static constexpr int tile = by_column<128, 4096>::value;  // rows a block merges
};
using Tune = SparseMergeTuning;

// emit(n, index, entries of a, entries of b) for the n-th index of row r in ascending order; how many there are.
template <class F>
STATOR_FN int64_t merge_row(const abi::SparseMerge& p, int64_t r, F emit) {
  constexpr int64_t none = std::numeric_limits<int64_t>::max();
  RowSpan a = row_span(p.a, r), b{0, 0};
  if (p.b.indptr) b = row_span(p.b, r);
  int64_t count = 0;
  while (a.begin < a.end || b.begin < b.end) {
    const int64_t of_a = a.begin < a.end ? load_index(p.a.indices, p.a.wide, a.begin) : none;
    const int64_t of_b = b.begin < b.end ? load_index(p.b.indices, p.b.wide, b.begin) : none;
    const int64_t index = of_a < of_b ? of_a : of_b;
    const RowSpan from{a.begin, b.begin};
    while (a.begin < a.end && load_index(p.a.indices, p.a.wide, a.begin) == index) ++a.begin;
    while (b.begin < b.end && load_index(p.b.indices, p.b.wide, b.begin) == index) ++b.begin;
    emit(count++, index, RowSpan{from.begin, a.begin}, RowSpan{from.end, b.begin});
  }
  return count;
}

template <int Size>
STATOR_KERNEL void merge_count_kernel(abi::SparseMerge p) {
  const Group<Size> group;
  const int64_t first = group.block() * Tune::tile;
  const int64_t n = p.a.rows - first < Tune::tile ? p.a.rows - first : Tune::tile;
  group.for_each(n, [=](int64_t i) {
    store_index(p.counts, p.a.wide, first + i, merge_row(p, first + i, [](int64_t, int64_t, RowSpan, RowSpan) {}));
  });
}

template <class T, int Size>
STATOR_KERNEL void merge_fill_kernel(abi::SparseMerge p, abi::ErrorSlot slot, uint16_t op) {
  using A = opmath_t<T>;
  const Group<Size> group;
  if (group.block() == 0 && group.rank() == 0) {
    const int64_t all = load_index(p.indptr, p.a.wide, p.a.rows);
    if (all != p.capacity) report(slot, op, abi::Fault::index_out_of_range, all, p.capacity);
  }
  const int64_t first = group.block() * Tune::tile;
  const int64_t n = p.a.rows - first < Tune::tile ? p.a.rows - first : Tune::tile;
  const auto total = [](const void* values, RowSpan s, double scale) {
    const T* v = static_cast<const T*>(values);
    A sum = s.begin < s.end ? A(v[s.begin]) : A(0);
    for (int64_t k = s.begin + 1; k < s.end; ++k) sum = sum + A(v[k]);
    if constexpr (is_complex<A>)
      return A(typename complex_part<A>::type(scale) * sum.re, typename complex_part<A>::type(scale) * sum.im);
    else
      return A(scale) * sum;
  };
  group.for_each(n, [=](int64_t i) {
    const int64_t begin = load_index(p.indptr, p.a.wide, first + i);
    merge_row(p, first + i, [=](int64_t at, int64_t index, RowSpan a, RowSpan b) {
      if (begin + at >= p.capacity) return;
      store_index(p.indices, p.a.wide, begin + at, index);
      A value = total(p.a_values, a, p.alpha);
      if (b.begin < b.end)
        value = a.begin < a.end ? value + total(p.b_values, b, p.beta) : total(p.b_values, b, p.beta);
      static_cast<T*>(p.values)[begin + at] = T(value);
    });
  });
}

void merge_count(const abi::Queue& q, const abi::SparseMerge& p) {
  launch(q, "sparse_merge_count", merge_count_kernel<Tune::block>, {ceil_div(p.a.rows, Tune::tile), Tune::block}, p);
}
void merge_fill(const abi::Queue& q, const abi::SparseMerge& p) {
  for_inexact(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "sparse_merge", merge_fill_kernel<T, Tune::block>, {ceil_div(p.a.rows, Tune::tile), Tune::block}, p,
           q.slot, q.op);
  });
}

}  // namespace

void fill_sparse_merge(kernels::SparseTable& table) {
  table.merge_count = merge_count;
  table.merge_fill = merge_fill;
}

}  // namespace stator::STATOR_COLUMN
