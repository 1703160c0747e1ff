// The product of two compressed matrices by rows (Gustavson, ACM TOMS 4, 1978). A block has a mark and a sum for each
// column of the result. The rows of b are added one after the other, so that equal input gives equal sums.
#include "host/launcher.hpp"
#include "kernels/sparse/rows.cuh"
#include "params/sparse.hpp"

namespace stator::STATOR_TARGET::sparse {
namespace {

struct SparseTimesTuning {
  static constexpr int block = 32;  // rows of b are short
};

struct RowCount {
  int32_t of_row;
};

// see(entry of a, entry of b, index) for each product of row r; those of one entry of a in parallel.
template <class G, class F>
STATOR_FN void for_products(const G& group, const params::SparseTimesSparse& p, int64_t r,
                            const params::ErrorSlot& slot, uint16_t op, F see) {
  const RowSpan s = row_span(p.a, r);
  for (int64_t k = s.begin; k < s.end; ++k) {
    const int64_t middle = load_index(p.a.indices, p.a.wide, k);
    if (uint64_t(middle) >= uint64_t(p.a.cols)) {
      if (group.rank() == 0) report_index(slot, op, k, middle);
      continue;
    }
    const RowSpan t = row_span(p.b, middle);
    for (int64_t e = t.begin + group.rank(); e < t.end; e += G::size) {
      const int64_t index = column_of(p.b, e, slot, op);
      if (index >= 0) see(k, e, index);
    }
    group.sync();
  }
}

template <int Size>
STATOR_KERNEL(Size) void times_count_kernel(params::SparseTimesSparse p, params::ErrorSlot slot, uint16_t op) {
  const Group<Size> group;
  int64_t* const marks = p.marks + group.block() * p.b.cols;
  for (int64_t r = group.block(); r < p.a.rows; r += group.blocks()) {
    int32_t mine = 0;
    for_products(group, p, r, slot, op, [&](int64_t, int64_t, int64_t index) {
      mine += marks[index] != r + 1;
      marks[index] = r + 1;
    });
    const int32_t total = group.reduce(mine, Sum{});  // its barriers part the rows
    if (group.rank() == 0) store_index(p.counts, p.a.wide, r, total);
  }
}

template <class T, int Size>
STATOR_KERNEL(Size) void times_fill_kernel(params::SparseTimesSparse p, params::ErrorSlot slot, uint16_t op) {
  using A = opmath_t<T>;
  const Group<Size> group;
  RowCount& count = group.template shared<RowCount>();
  int64_t* const marks = p.marks + group.block() * p.b.cols;
  A* const sums = static_cast<A*>(p.sums) + group.block() * p.b.cols;
  const T* a_values = static_cast<const T*>(p.a_values);
  const T* b_values = static_cast<const T*>(p.b_values);
  for (int64_t r = group.block(); r < p.a.rows; r += group.blocks()) {
    const int64_t begin = load_index(p.indptr, p.a.wide, r);
    const int64_t stamp = p.a.rows + r + 1;  // different from all marks of times_count
    if (group.rank() == 0) count.of_row = 0;
    group.sync();
    // Add the products; the first at an index notes the index.
    for_products(group, p, r, slot, op, [&](int64_t k, int64_t e, int64_t index) {
      const A product = A(a_values[k]) * A(b_values[e]);
      if (marks[index] == stamp) {
        sums[index] = sums[index] + product;
        return;
      }
      marks[index] = stamp;
      sums[index] = product;
      int64_t at;
      if constexpr (fast_host)
        at = begin + count.of_row++;
      else
        at = begin + atomic_add(&count.of_row, 1);
      if (at < p.capacity) store_index(p.indices, p.a.wide, at, index);
    });
    group.sync();
    const int64_t n = begin + count.of_row <= p.capacity ? count.of_row : p.capacity - begin;
    // Sort the indices, on the fast host only.
    if constexpr (fast_host) {
      if (p.a.wide)
        std::sort(static_cast<int64_t*>(p.indices) + begin, static_cast<int64_t*>(p.indices) + begin + n);
      else
        std::sort(static_cast<int32_t*>(p.indices) + begin, static_cast<int32_t*>(p.indices) + begin + n);
    }
    // Gather the sums in the order of the indices.
    group.for_each(n, [=](int64_t i) {
      static_cast<T*>(p.values)[begin + i] = T(sums[load_index(p.indices, p.a.wide, begin + i)]);
    });
    group.sync();
  }
}

int64_t times_blocks(const params::DeviceLimits& limits, const params::SparseTimesSparse& p, int64_t bytes) {
  const int64_t each = std::max<int64_t>(1, p.b.cols) * (8 + 16);
  return std::max<int64_t>(1, std::min({p.a.rows, waves(limits, SparseTimesTuning::block), bytes / each}));
}

void times_count(const params::Queue& q, const params::SparseTimesSparse& p) {
  launch(q, "sparse_times_count", times_count_kernel<SparseTimesTuning::block>, {p.blocks, SparseTimesTuning::block}, p,
         q.slot, q.op);
}
void times_fill(const params::Queue& q, const params::SparseTimesSparse& p) {
  visit<dtypes::inexact>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "sparse_times", times_fill_kernel<T, SparseTimesTuning::block>, {p.blocks, SparseTimesTuning::block}, p,
           q.slot, q.op);
  });
}

bool times_sorts(const params::DeviceLimits&) { return fast_host; }

}  // namespace

}  // namespace stator::STATOR_TARGET::sparse

STATOR_LAUNCHER(sparse, times_sorts)
STATOR_LAUNCHER(sparse, times_blocks)
STATOR_LAUNCHER(sparse, times_count)
STATOR_LAUNCHER(sparse, times_fill)
