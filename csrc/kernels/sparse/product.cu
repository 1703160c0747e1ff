// A compressed matrix times a dense one.
#include "device/cascade.cuh"
#include "device/vector.cuh"
#include "host/launcher.hpp"
#include "kernels/sparse/product.cuh"

namespace stator::STATOR_TARGET::sparse {
namespace {

// Adds V adjacent elements of row `index` of x, times the value of entry k, to acc.
template <class T, int V>
STATOR_FN void add_term(const ProductView<T>& view, int64_t k, int64_t c, Items<opmath_t<T>, V>& acc) {
  using A = opmath_t<T>;
  const int64_t index = column_of(view.p.a, k, view.slot, view.op);
  if (index < 0) return;
  const A value = view.value(k);
  const T* x = static_cast<const T*>(view.p.x) + index * view.p.x_row + c * view.p.x_col;
  if constexpr (V == 1) {
    acc[0] = acc[0] + value * A(*x);
  } else {
    const Vec<T, V> v = load_vector<V>(x);
    STATOR_UNROLL()
    for (int j = 0; j < V; ++j) acc[j] = acc[j] + value * A(v[j]);
  }
}

template <class T, int V>
STATOR_FN void store_row(const params::SparseProduct& p, int64_t r, int64_t c, const Items<opmath_t<T>, V>& acc) {
  T* out = static_cast<T*>(p.out) + r * p.out_row + c * p.out_col;
  if constexpr (V == 1) {
    *out = T(acc[0]);
  } else {
    Vec<T, V> v;
    STATOR_UNROLL()
    for (int j = 0; j < V; ++j) v[j] = T(acc[j]);
    store_vector(out, v);
  }
}

// Fast host: acc = the sums of the products of some entries with n columns of x from c on.
template <class T, class I>
STATOR_FN void sum_entries(const params::SparseProduct& p, const I* indices, RowSpan s, int64_t c, int64_t n,
                           opmath_t<T>* acc, const params::ErrorSlot& slot, uint16_t op) {
  using A = opmath_t<T>;
  for (int64_t j = 0; j < n; ++j) acc[j] = A(0);
  for (int64_t k = s.begin; k < s.end; ++k) {
    const int64_t index = int64_t(indices[k]);
    if (uint64_t(index) >= uint64_t(p.a.cols)) {
      report_index(slot, op, k, index);
      continue;
    }
    const A value = A(static_cast<const T*>(p.values)[k]);
    const T* STATOR_RESTRICT x = static_cast<const T*>(p.x) + index * p.x_row + c * p.x_col;
    const int64_t step = p.x_col;
    if (step == 1)
      for (int64_t j = 0; j < n; ++j) acc[j] = acc[j] + value * A(x[j]);
    else
      for (int64_t j = 0; j < n; ++j) acc[j] = acc[j] + value * A(x[j * step]);
  }
}

// Fast host: the same for many entries, in chunks. A call, because few rows are that long.
template <int64_t Most, class T, class I>
STATOR_CALL void sum_chunks(const params::SparseProduct& p, const I* indices, RowSpan s, int64_t c, int64_t count,
                            opmath_t<T>* acc, const params::ErrorSlot& slot, uint16_t op) {
  constexpr int64_t chunk = SparseProductTuning::wide_entry_chunk;
  const int64_t n = Most <= 16 ? Most : count;
  Cascade<opmath_t<T>> total[Most];
  for (int64_t k = s.begin; k < s.end; k += chunk) {
    sum_entries<T>(p, indices, {k, s.end - k < chunk ? s.end : k + chunk}, c, n, acc, slot, op);
    for (int64_t j = 0; j < n; ++j) total[j].add(acc[j]);
  }
  for (int64_t j = 0; j < n; ++j) acc[j] = total[j].value();
}

// Fast host: n columns from c on of one row, at most Most. The sums stay in registers if n is Most and small.
template <int64_t Most, class T, class I>
STATOR_FN void host_row(const params::SparseProduct& p, const I* indices, int64_t r, int64_t c, int64_t count,
                        const params::ErrorSlot& slot, uint16_t op) {
  const int64_t n = Most <= 16 ? Most : count;
  const RowSpan s = row_span(p.a, r);
  opmath_t<T> acc[Most];
  if (s.end - s.begin <= SparseProductTuning::wide_entry_chunk)
    sum_entries<T>(p, indices, s, c, n, acc, slot, op);
  else
    sum_chunks<Most, T>(p, indices, s, c, n, acc, slot, op);
  T* STATOR_RESTRICT out = static_cast<T*>(p.out) + r * p.out_row + c * p.out_col;
  for (int64_t j = 0; j < n; ++j) out[j * p.out_col] = T(acc[j]);
}

template <class T, class I>
STATOR_FN void host_rows(const params::SparseProduct& p, const I* indices, RowSpan rows, const params::ErrorSlot& slot,
                         uint16_t op) {
  constexpr int64_t chunk = SparseProductTuning::column_chunk;
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    int64_t c = 0;
    if (p.n > 32)
      for (; c < p.n; c += chunk) host_row<chunk, T>(p, indices, r, c, p.n - c < chunk ? p.n - c : chunk, slot, op);
    else
      for (; c + 4 <= p.n; c += 4) host_row<4, T>(p, indices, r, c, 4, slot, op);
    for (; c < p.n; ++c) host_row<1, T>(p, indices, r, c, 1, slot, op);
  }
}

// `lanes` adjacent threads handle the columns, V each; the other threads of the block handle other rows.
template <class T, int V, int Size>
STATOR_KERNEL(Size) void spmm_kernel(params::SparseProduct p, params::ErrorSlot slot, uint16_t op, int lanes,
                                     int64_t tile, int64_t column_tiles) {
  using A = opmath_t<T>;
  using Tune = SparseProductTuning;
  const Group<Size> group;
  const int64_t t = group.block() / column_tiles;
  const RowSpan rows = rows_of_tile(p.a, t, tile);
  if constexpr (fast_host) {
    with_indices(p.a.indices, p.a.wide, [&](auto* indices) { host_rows<T>(p, indices, rows, slot, op); });
  } else {
    struct Partials {
      A of[Size * V];
    };
    LongRows& rest = group.template shared<LongRows>();
    Partials& partials = group.template shared<Partials>();
    const ProductView<T> view{p, slot, op};
    const int lane = group.rank() & (lanes - 1), mine = group.rank() / lanes, at_once = Size / lanes;
    const int64_t c = ((group.block() - t * column_tiles) * lanes + lane) * V;
    const bool inside = c < p.n;
    if (group.rank() == 0) rest.count = 0;
    group.sync();
    // Each group of lanes sums a short row; long rows are noted.
    for (int64_t r = rows.begin + mine; r < rows.end; r += at_once) {
      const RowSpan s = row_span(p.a, r);
      if (s.end - s.begin > Tune::long_wide) {
        if (lane == 0) rest.add(r);
        continue;
      }
      Items<A, V> acc{};
      if (!inside) continue;
      STATOR_UNROLL(4)
      for (int64_t k = s.begin; k < s.end; ++k) add_term<T, V>(view, k, c, acc);
      store_row<T, V>(p, r, c, acc);
    }
    group.sync();
    // The whole block sums each long row: partial sums per group of lanes, then their sum.
    for (uint32_t i = 0; i < rest.count; ++i) {
      const int64_t r = rest.row[i];
      const RowSpan s = row_span(p.a, r);
      Items<Cascade<A>, V> total{};
      for (int64_t k = inside ? s.begin + mine : s.end; k < s.end;) {
        Items<A, V> acc{};
        for (int taken = 0; taken < Tune::wide_entry_chunk && k < s.end; ++taken, k += at_once)
          add_term<T, V>(view, k, c, acc);
        STATOR_UNROLL()
        for (int j = 0; j < V; ++j) total[j].add(acc[j]);
      }
      STATOR_UNROLL()
      for (int j = 0; j < V; ++j) partials.of[group.rank() * V + j] = total[j].value();
      group.sync();
      if (mine == 0 && inside) {
        for (int other = 1; other < at_once; ++other) {
          STATOR_UNROLL()
          for (int j = 0; j < V; ++j) total[j].add(partials.of[(other * lanes + lane) * V + j]);
        }
        Items<A, V> acc{};
        STATOR_UNROLL()
        for (int j = 0; j < V; ++j) acc[j] = total[j].value();
        store_row<T, V>(p, r, c, acc);
      }
      group.sync();
    }
  }
}

template <class T>
void product_typed(const params::Queue& q, const params::SparseProduct& p) {
  using Tune = SparseProductTuning;
  constexpr int width = fast_host ? 1 : vector_width<T>;
  const bool wide = width > 1 && p.x_col == 1 && p.out_col == 1 && is_aligned(p.x) && is_aligned(p.out) &&
                    (p.n | p.x_row | p.out_row) % width == 0;
  const int64_t columns = ceil_div(p.n, wide ? width : 1);
  const int lanes = fast_host ? 1 : int(std::min<int64_t>(32, std::bit_ceil(uint64_t(columns))));
  const int64_t tile = fast_host ? std::max<int64_t>(64, Tune::tile * 8 / std::min<int64_t>(p.n, Tune::column_chunk))
                                 : std::clamp(64 * Tune::block / lanes, 512, 4096);
  const int64_t column_tiles = fast_host ? 1 : ceil_div(columns, lanes);
  launch(q, "spmm", wide ? spmm_kernel<T, width, Tune::block> : spmm_kernel<T, 1, Tune::block>,
         {row_tiles(p.a, tile) * column_tiles, Tune::block}, p, q.slot, q.op, lanes, tile, column_tiles);
}

void product(const params::Queue& q, const params::SparseProduct& p) {
  // Columns that are each dense but not adjacent are handled as vectors.
  if (p.n < SparseProductTuning::few || (p.x_col != 1 && p.x_row == 1)) return multiply_vectors(q, p);
  visit<dtypes::inexact>(p.dtype, [&]<class T>(type_tag<T>) { product_typed<T>(q, p); });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::sparse

STATOR_LAUNCHER(sparse, product)
