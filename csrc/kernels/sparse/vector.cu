// A compressed matrix times vectors, and sums of rows.
#include "kernels/sparse/product.cuh"

namespace stator::STATOR_TARGET::sparse {
namespace {

// Fast host: the sum of term(k) over a row, of long ones in four accumulators and short chunks.
template <class A, class F>
STATOR_FN A sum_row(RowSpan s, F term) {
  A total = A(0);
  if (s.end - s.begin < SparseProductTuning::short_row) {
    for (int64_t k = s.begin; k < s.end; ++k) total = total + term(k);
    return total;
  }
  for (int64_t k = s.begin; k < s.end;) {
    const int64_t end = s.end - k < SparseProductTuning::entry_chunk ? s.end : k + SparseProductTuning::entry_chunk;
    A partial[4] = {A(0), A(0), A(0), A(0)};
    for (; k + 4 <= end; k += 4)
      for (int j = 0; j < 4; ++j) partial[j] = partial[j] + term(k + j);
    for (; k < end; ++k) partial[0] = partial[0] + term(k);
    total = total + ((partial[0] + partial[1]) + (partial[2] + partial[3]));
  }
  return total;
}

// Fast host: a row whose entries are checked one by one. A call, because it is rare.
template <class T>
STATOR_CALL opmath_t<T> sum_checked(const ProductView<T>& view, int64_t r, int64_t column) {
  return sum_row<opmath_t<T>>(row_span(view.p.a, r), [&](int64_t k) { return view.term(k, column); });
}

// Fast host: the rows of a block. Indices and pointers are checked first, in loops that vectorise. The products check
// again only if an index is out of range, or where a row has entries that were not checked because the pointers
// descend.
template <class T, class I>
STATOR_FN void dot_rows(const ProductView<T>& view, const I* indices, RowSpan rows, int64_t column, T* out) {
  using A = opmath_t<T>;
  using U = std::make_unsigned_t<I>;
  const params::SparseProduct& p = view.p;
  const T* values = static_cast<const T*>(p.values);
  const T* x = static_cast<const T*>(p.x) + column;
  const I* indptr = static_cast<const I*>(p.a.indptr);
  const int64_t step = p.x_row, out_step = p.out_row;
  const U cols = U(p.a.cols);
  const RowSpan seen{row_begin(p.a, rows.begin), row_begin(p.a, rows.end)};
  U bad = 0, descends = U(indptr[rows.begin] < 0) | U(indptr[rows.end] > p.a.nnz);
  for (int64_t k = p.x || !p.valid ? seen.begin : seen.end; k < seen.end; ++k) bad |= U(U(indices[k]) >= cols);
  for (int64_t r = rows.begin; r < rows.end; ++r) descends |= U(indptr[r + 1] < indptr[r]);
  const auto each_row = [&](auto term) {
    if (bad == 0 && descends == 0) {
      for (int64_t r = rows.begin; r < rows.end; ++r)
        out[r * out_step] = T(sum_row<A>(RowSpan{indptr[r], indptr[r + 1]}, term));
      return;
    }
    for (int64_t r = rows.begin; r < rows.end; ++r) {
      const RowSpan s{indptr[r], indptr[r + 1]};
      const bool known = bad == 0 && s.begin >= seen.begin && s.end <= seen.end;
      out[r * out_step] = T(known ? sum_row<A>(s, term) : sum_checked(view, r, column));
    }
  };
  if (p.x)
    each_row([=](int64_t k) { return A(values[k]) * A(x[int64_t(indices[k]) * step]); });
  else
    each_row([=](int64_t k) { return A(values[k]); });
}

template <class T, int Size>
STATOR_KERNEL(Size) void spmv_kernel(params::SparseProduct p, params::ErrorSlot slot, uint16_t op, int lanes) {
  using A = opmath_t<T>;
  using Tune = SparseProductTuning;
  const Group<Size> group;
  const int64_t t = group.block() / p.n, c = group.block() - t * p.n;
  const RowSpan rows = rows_of_tile(p.a, t, Tune::tile);
  const ProductView<T> view{p, slot, op};
  const int64_t column = c * p.x_col;
  T* out = static_cast<T*>(p.out) + c * p.out_col;
  if constexpr (fast_host) {
    with_indices(p.a.indices, p.a.wide, [&](auto* indices) { dot_rows<T>(view, indices, rows, column, out); });
  } else {
    LongRows& rest = group.template shared<LongRows>();
    if (group.rank() == 0) rest.count = 0;
    group.sync();
    const int lane = group.rank() & (lanes - 1), mine = group.rank() / lanes, at_once = Size / lanes;
    // Each group of lanes sums a short row; long rows are noted.
    for (int64_t first = rows.begin; first < rows.end; first += at_once) {
      const int64_t r = first + mine;
      A sum = A(0);
      bool whole = r < rows.end;
      if (whole) {
        const RowSpan s = row_span(p.a, r);
        whole = s.end - s.begin <= int64_t(Tune::long_row) * lanes;
        STATOR_UNROLL(4)
        for (int64_t k = whole ? s.begin + lane : s.end; k < s.end; k += lanes) sum = sum + view.term(k, column);
        if (!whole && lane == 0) rest.add(r);
      }
      sum = sum_sublanes(sum, lanes);
      if (whole && lane == 0) out[r * p.out_row] = T(sum);
    }
    group.sync();
    // The whole block sums each long row.
    for (uint32_t i = 0; i < rest.count; ++i) {
      const int64_t r = rest.row[i];
      const RowSpan s = row_span(p.a, r);
      A sum = A(0);
      for (int64_t k = s.begin + group.rank(); k < s.end; k += Size) sum = sum + view.term(k, column);
      sum = group.reduce(sum, Sum{});
      if (group.rank() == 0) out[r * p.out_row] = T(sum);
    }
  }
}

}  // namespace

void multiply_vectors(const params::Queue& q, const params::SparseProduct& p) {
  using Tune = SparseProductTuning;
  visit<dtypes::inexact>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "spmv", spmv_kernel<T, Tune::block>, {row_tiles(p.a, Tune::tile) * p.n, Tune::block}, p, q.slot, q.op,
           lanes_for(p.a.nnz, p.a.rows));
  });
}

}  // namespace stator::STATOR_TARGET::sparse
