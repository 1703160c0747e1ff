// Sums of compressed matrices with sorted rows; for a single matrix, sums of its repeated entries. Each thread merges
// its own rows.
#include "device/cascade.cuh"
#include "host/launcher.hpp"
#include "kernels/sparse/rows.cuh"
#include "params/sparse.hpp"

namespace stator::STATOR_TARGET::sparse {
namespace {

struct SparseMergeTuning {
  static constexpr int block = 128;
  static constexpr int tile = by_target<128, 4096>::value;  // rows per block
};

// Calls emit(n, index, entries of a, entries of b) for the n-th index of row r in ascending order, and returns how many
// there are.
template <class I, class F>
STATOR_FN int64_t merge_row(const params::SparseMerge& p, const I* in_a, const I* in_b, int64_t r, F emit) {
  RowSpan a = row_span(p.a, r), b{0, 0};
  if (p.b.indptr) b = row_span(p.b, r);
  int64_t count = 0;
  // Indices of both, then the rest of a, then the rest of b.
  while (a.begin < a.end && b.begin < b.end) {
    const I of_a = in_a[a.begin], of_b = in_b[b.begin], index = of_a < of_b ? of_a : of_b;
    const RowSpan from{a.begin, b.begin};
    a.begin += of_a == index;
    b.begin += of_b == index;
    while (!p.unique && a.begin < a.end && in_a[a.begin] == index) ++a.begin;
    while (!p.unique && b.begin < b.end && in_b[b.begin] == index) ++b.begin;
    emit(count++, int64_t(index), RowSpan{from.begin, a.begin}, RowSpan{from.end, b.begin});
  }
  while (a.begin < a.end) {
    const int64_t from = a.begin++;
    while (!p.unique && a.begin < a.end && in_a[a.begin] == in_a[from]) ++a.begin;
    emit(count++, int64_t(in_a[from]), RowSpan{from, a.begin}, RowSpan{0, 0});
  }
  while (b.begin < b.end) {
    const int64_t from = b.begin++;
    while (!p.unique && b.begin < b.end && in_b[b.begin] == in_b[from]) ++b.begin;
    emit(count++, int64_t(in_b[from]), RowSpan{0, 0}, RowSpan{from, b.begin});
  }
  return count;
}

// f(a's indices, b's indices) for the index type of the matrices.
template <class F>
STATOR_FN void with_both(const params::SparseMerge& p, F f) {
  with_indices(p.a.indices, p.a.wide, [&]<class I>(const I* in_a) { f(in_a, static_cast<const I*>(p.b.indices)); });
}

template <int Size>
STATOR_KERNEL(Size) void merge_count_kernel(params::SparseMerge p) {
  const Group<Size> group;
  const int64_t first = group.block() * SparseMergeTuning::tile;
  const int64_t n = p.a.rows - first < SparseMergeTuning::tile ? p.a.rows - first : SparseMergeTuning::tile;
  with_both(p, [&](auto* in_a, auto* in_b) {
    group.for_each(n, [=](int64_t i) {
      store_index(p.counts, p.a.wide, first + i,
                  merge_row(p, in_a, in_b, first + i, [](int64_t, int64_t, RowSpan, RowSpan) {}));
    });
  });
}

template <class T, int Size>
STATOR_KERNEL(Size) void merge_fill_kernel(params::SparseMerge p, params::ErrorSlot slot, uint16_t op) {
  using A = opmath_t<T>;
  const Group<Size> group;
  if (group.block() == 0 && group.rank() == 0) {
    const int64_t all = load_index(p.indptr, p.a.wide, p.a.rows);
    if (all != p.capacity) report(slot, op, params::Fault::index_out_of_range, all, p.capacity);
  }
  const int64_t first = group.block() * SparseMergeTuning::tile;
  const int64_t n = p.a.rows - first < SparseMergeTuning::tile ? p.a.rows - first : SparseMergeTuning::tile;
  const auto total = [](const void* values, RowSpan s, complex128 factor) {
    const T* v = static_cast<const T*>(values);
    Cascade<A> repeated{s.begin < s.end ? A(v[s.begin]) : A(0), -A(0)};  // the sum of a single -0 is -0
    for (int64_t k = s.begin + 1; k < s.end; ++k) repeated.add(A(v[k]));
    return scaled(factor, repeated.value());
  };
  with_both(p, [&](auto* in_a, auto* in_b) {
    group.for_each(n, [=](int64_t i) {
      const int64_t begin = load_index(p.indptr, p.a.wide, first + i);
      merge_row(p, in_a, in_b, first + i, [=](int64_t at, int64_t index, RowSpan a, RowSpan b) {
        if (begin + at >= p.capacity) return;
        if (uint64_t(index) >= uint64_t(p.a.cols))
          report_index(slot, op, begin + at, index);  // and the index is kept as it is
        store_index(p.indices, p.a.wide, begin + at, index);
        A value = b.begin < b.end ? total(p.b_values, b, p.beta) : A(0);
        if (a.begin < a.end) {
          const A own = total(p.a_values, a, p.alpha);
          value = b.begin < b.end ? own + value : own;
        }
        static_cast<T*>(p.values)[begin + at] = T(value);
      });
    });
  });
}

void merge_count(const params::Queue& q, const params::SparseMerge& p) {
  launch(q, "sparse_merge_count", merge_count_kernel<SparseMergeTuning::block>,
         {ceil_div(p.a.rows, SparseMergeTuning::tile), SparseMergeTuning::block}, p);
}
void merge_fill(const params::Queue& q, const params::SparseMerge& p) {
  visit<dtypes::inexact>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "sparse_merge", merge_fill_kernel<T, SparseMergeTuning::block>,
           {std::max<int64_t>(1, ceil_div(p.a.rows, SparseMergeTuning::tile)), SparseMergeTuning::block}, p, q.slot,
           q.op);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::sparse

STATOR_LAUNCHER(sparse, merge_count)
STATOR_LAUNCHER(sparse, merge_fill)
