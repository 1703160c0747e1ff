// Conversions between dense and compressed matrices.
#include "device/cascade.cuh"
#include "host/launcher.hpp"
#include "kernels/sparse/rows.cuh"
#include "params/sparse.hpp"

namespace stator::STATOR_TARGET::sparse {
namespace {

struct SparseDenseTuning {
  static constexpr int block = 256;
  static constexpr int tile = by_target<2048, 16384>::value;  // rows and entries per block of scatter
  static constexpr int narrow = 32;                           // threads per row for few columns
  static constexpr int64_t wide_row = 1024;                   // number of columns from which on a block handles one row
  static constexpr int host_elements = 16384;                 // elements per fast-host block
  static constexpr int64_t chunk = 1 << 30;                   // columns that are counted in 32 bits
};

// Fast host: the entries of a row.
template <class T, class I>
STATOR_FN void scatter_row(const params::SparseScatter& p, const I* indices, int64_t r, const params::ErrorSlot& slot,
                           uint16_t op) {
  using A = opmath_t<T>;
  const RowSpan s = row_span(p.a, r);
  const T* values = static_cast<const T*>(p.values);
  T* out = static_cast<T*>(p.out) + r * p.out_row;
  int64_t next;
  for (int64_t k = s.begin; k < s.end; k = next) {
    const int64_t index = indices[k];
    T value = values[k];
    next = k + 1;
    if (next < s.end && indices[next] == index) {
      Cascade<A> sum{A(value), -A(0)};
      for (; next < s.end && indices[next] == index; ++next) sum.add(A(values[next]));
      value = T(sum.value());
    }
    if (uint64_t(index) < uint64_t(p.a.cols))
      out[index * p.out_col] = value;
    else
      report_index(slot, op, k, index);
  }
}

template <class T, int Size>
STATOR_KERNEL(Size) void scatter_kernel(params::SparseScatter p, params::ErrorSlot slot, uint16_t op, int lanes) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const RowSpan rows = rows_of_tile(p.a, group.block(), SparseDenseTuning::tile);
  if constexpr (fast_host) {
    with_indices(p.a.indices, p.a.wide, [&](auto* indices) {
      for (int64_t r = rows.begin; r < rows.end; ++r) scatter_row<T>(p, indices, r, slot, op);
    });
    return;
  }
  const int lane = group.rank() & (lanes - 1), at_once = Group<Size>::size / lanes;
  const T* values = static_cast<const T*>(p.values);
  for (int64_t r = rows.begin + group.rank() / lanes; r < rows.end; r += at_once) {
    const RowSpan s = row_span(p.a, r);
    T* out = static_cast<T*>(p.out) + r * p.out_row;
    for (int64_t k = s.begin + lane; k < s.end; k += lanes) {
      const int64_t index = column_of(p.a, k, slot, op);
      if (index < 0) continue;
      if (k > s.begin && load_index(p.a.indices, p.a.wide, k - 1) == index) continue;
      Cascade<A> sum{A(values[k]), -A(0)};  // the sum of a single -0 is -0
      for (int64_t next = k + 1; next < s.end && load_index(p.a.indices, p.a.wide, next) == index; ++next)
        sum.add(A(values[next]));
      out[index * p.out_col] = T(sum.value());
    }
  }
}

void scatter(const params::Queue& q, const params::SparseScatter& p) {
  visit<dtypes::inexact>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "sparse_scatter", scatter_kernel<T, SparseDenseTuning::block>,
           {row_tiles(p.a, SparseDenseTuning::tile), SparseDenseTuning::block}, p, q.slot, q.op,
           lanes_for(p.a.nnz, p.a.rows));
  });
}

// -0 is zero, NaN is not. Both half dtypes are tested by their bits alike.
STATOR_FN bool is_entry(uint16_t v) { return (v & 0x7fffu) != 0; }
STATOR_FN bool is_entry(float v) { return v != 0; }
STATOR_FN bool is_entry(double v) { return v != 0; }
template <class T>
STATOR_FN bool is_entry(complex<T> v) {
  return v.re != 0 || v.im != 0;
}

template <class T, int Size>
STATOR_KERNEL(Size) void gather_count_kernel(params::SparseGather p, int64_t rows_per_block) {
  const Group<Size> group;
  const int64_t first = group.block() * rows_per_block;
  for (int64_t r = first; r < first + rows_per_block && r < p.rows; ++r) {
    const T* row = static_cast<const T*>(p.x) + r * p.x_row;
    const int64_t step = p.x_col;
    int64_t count = 0, strided = 0;
    for (int64_t c = 0; c < p.cols; c += SparseDenseTuning::chunk) {
      const int64_t n = p.cols - c < SparseDenseTuning::chunk ? p.cols - c : SparseDenseTuning::chunk;
      const T* from = row + c * step;
      if (step == 1)
        count += group.template map_reduce<int32_t>(n, Sum{}, [=](int64_t i) { return int32_t(is_entry(from[i])); });
      else
        for (int64_t i = group.rank(); i < n; i += Group<Size>::size) strided += is_entry(from[i * step]);
    }
    if (step != 1) count = group.reduce(strided, Sum{});
    if (group.rank() == 0) store_index(p.counts, p.wide, r, count);
  }
}

template <class T, int Size>
STATOR_KERNEL(Size) void gather_fill_kernel(params::SparseGather p, int64_t rows_per_block, params::ErrorSlot slot,
                                            uint16_t op) {
  const Group<Size> group;
  T* values = static_cast<T*>(p.values);
  if (group.block() == 0 && group.rank() == 0) {  // the caller may have given the number of entries
    const int64_t all = load_index(p.indptr, p.wide, p.rows);
    if (all != p.capacity) report(slot, op, params::Fault::index_out_of_range, all, p.capacity);
  }
  const int64_t first = group.block() * rows_per_block;
  for (int64_t r = first; r < first + rows_per_block && r < p.rows; ++r) {
    const T* row = static_cast<const T*>(p.x) + r * p.x_row;
    int64_t at = load_index(p.indptr, p.wide, r);
    const auto put = [&](int64_t to, int64_t c) {
      if (to >= p.capacity) return;
      store_index(p.indices, p.wide, to, c);
      values[to] = row[c * p.x_col];
    };
    if constexpr (fast_host) {
      for (int64_t c = 0; c < p.cols; ++c)
        if (is_entry(row[c * p.x_col])) put(at++, c);
    } else {
      for (int64_t base = 0; base < p.cols; base += Size) {
        const int64_t c = base + group.rank();
        const int32_t entry = c < p.cols && is_entry(row[c * p.x_col]);
        const int32_t upto = group.inclusive_scan(entry, Sum{});
        if (entry) put(at + upto - 1, c);
        at += group.reduce(entry, Sum{});
      }
    }
  }
}

struct GatherGrid {
  int64_t blocks, rows;
  bool wide;
};
GatherGrid gather_grid(const params::SparseGather& p) {
  const bool wide = p.cols >= SparseDenseTuning::wide_row;
  const int64_t rows = fast_host ? std::max<int64_t>(1, SparseDenseTuning::host_elements / std::max<int64_t>(p.cols, 1))
                       : wide    ? 1
                                 : 4;
  return {std::max<int64_t>(1, ceil_div(p.rows, rows)), rows, wide || fast_host};
}

void gather_count(const params::Queue& q, const params::SparseGather& p) {
  const GatherGrid g = gather_grid(p);
  visit<dtypes::inexact>(p.dtype, [&]<class V>(type_tag<V>) {
    using T = std::conditional_t<is_half<V>, uint16_t, V>;
    if (g.wide)
      launch(q, "sparse_gather_count", gather_count_kernel<T, SparseDenseTuning::block>,
             {g.blocks, SparseDenseTuning::block}, p, g.rows);
    else
      launch(q, "sparse_gather_count", gather_count_kernel<T, SparseDenseTuning::narrow>,
             {g.blocks, SparseDenseTuning::narrow}, p, g.rows);
  });
}
void gather_fill(const params::Queue& q, const params::SparseGather& p) {
  const GatherGrid g = gather_grid(p);
  visit<dtypes::inexact>(p.dtype, [&]<class V>(type_tag<V>) {
    using T = std::conditional_t<is_half<V>, uint16_t, V>;
    if (g.wide)
      launch(q, "sparse_gather", gather_fill_kernel<T, SparseDenseTuning::block>, {g.blocks, SparseDenseTuning::block},
             p, g.rows, q.slot, q.op);
    else
      launch(q, "sparse_gather", gather_fill_kernel<T, SparseDenseTuning::narrow>,
             {g.blocks, SparseDenseTuning::narrow}, p, g.rows, q.slot, q.op);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::sparse

STATOR_LAUNCHER(sparse, scatter)
STATOR_LAUNCHER(sparse, gather_count)
STATOR_LAUNCHER(sparse, gather_fill)
