// Index computations on compressed matrices: the rows of entries, pointers from sorted keys, the check of a structure.
#include "host/launcher.hpp"
#include "kernels/sparse/rows.cuh"
#include "params/sparse.hpp"

namespace stator::STATOR_TARGET::sparse {
namespace {

struct SparseStructureTuning {
  static constexpr int block = 256;
  static constexpr int tile = by_target<4096, 65536>::value;
};

template <int Size>
STATOR_KERNEL(Size) void expand_kernel(params::SparseExpand p) {
  const Group<Size> group;
  const int64_t first = group.block() * SparseStructureTuning::tile;
  const int64_t last = first + SparseStructureTuning::tile < p.a.nnz ? first + SparseStructureTuning::tile : p.a.nnz;
  const int64_t low = row_of_entry(p.a, first, 0, p.a.rows), begin = row_begin(p.a, 0);
  if constexpr (fast_host) {
    int64_t k = first;
    for (; k < last && k < begin; ++k) store_index(p.out, p.a.wide, k, p.a.rows);
    for (int64_t r = low; r < p.a.rows && k < last; ++r) {
      const int64_t end = row_begin(p.a, r + 1) < last ? row_begin(p.a, r + 1) : last;
      if (p.a.wide)
        for (; k < end; ++k) static_cast<int64_t*>(p.out)[k] = r;
      else
        for (; k < end; ++k) static_cast<int32_t*>(p.out)[k] = int32_t(r);
    }
    for (; k < last; ++k) store_index(p.out, p.a.wide, k, p.a.rows);
  } else {
    const int64_t high = row_of_entry(p.a, last - 1, low, p.a.rows) + 1, end = row_begin(p.a, p.a.rows);
    group.for_each(last - first, [=](int64_t i) {
      const int64_t k = first + i;
      store_index(p.out, p.a.wide, k, k >= begin && k < end ? row_of_entry(p.a, k, low, high) : p.a.rows);
    });
  }
}

void expand(const params::Queue& q, const params::SparseExpand& p) {
  launch(q, "sparse_expand", expand_kernel<SparseStructureTuning::block>,
         {ceil_div(p.a.nnz, SparseStructureTuning::tile), SparseStructureTuning::block}, p);
}

STATOR_FN int64_t keys_below(const params::SparsePointers& p, int64_t r, int64_t low) {
  // Exponential search from the previous result, then binary search.
  int64_t step = 1, high = low;
  while (high < p.n && load_index(p.keys, p.wide, high) < r) {
    low = high + 1;
    high = low + step;
    step *= 2;
  }
  high = high < p.n ? high : p.n;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (load_index(p.keys, p.wide, middle) < r)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

template <int Size>
STATOR_KERNEL(Size) void pointers_kernel(params::SparsePointers p, params::ErrorSlot slot, uint16_t op) {
  const Group<Size> group;
  const auto look = [&](int64_t k) {
    const int64_t key = load_index(p.keys, p.wide, k);
    if (uint64_t(key) >= uint64_t(p.rows)) report_index(slot, op, k, key);
  };
  if (group.block() == 0 && group.rank() == 0 && p.n > 0) {
    look(0);
    look(p.n - 1);
  }
  const int64_t first = group.block() * SparseStructureTuning::tile;
  const int64_t n = p.rows + 1 - first < SparseStructureTuning::tile ? p.rows + 1 - first : SparseStructureTuning::tile;
  if constexpr (fast_host) {
    int64_t at = 0;
    for (int64_t i = 0; i < n; ++i) {
      at = keys_below(p, first + i, at);
      store_index(p.indptr, p.wide, first + i, at);
    }
  } else {
    group.for_each(n, [=](int64_t i) { store_index(p.indptr, p.wide, first + i, keys_below(p, first + i, 0)); });
  }
}

void pointers(const params::Queue& q, const params::SparsePointers& p) {
  launch(q, "sparse_pointers", pointers_kernel<SparseStructureTuning::block>,
         {ceil_div(p.rows + 1, SparseStructureTuning::tile), SparseStructureTuning::block}, p, q.slot, q.op);
}

template <int Size>
STATOR_KERNEL(Size) void check_kernel(params::SparseCheck p, int lanes) {
  const Group<Size> group;
  const int lane = fast_host ? 0 : group.rank() & (lanes - 1), at_once = Group<Size>::size / lanes;
  const int64_t first = group.block() * SparseStructureTuning::tile;
  const int64_t last = first + SparseStructureTuning::tile < p.a.rows ? first + SparseStructureTuning::tile : p.a.rows;
  int64_t found[4] = {0, 0, 0, 0};
  for (int64_t r = first + group.rank() / lanes; r < last; r += at_once) {
    const int64_t begin = load_index(p.a.indptr, p.a.wide, r), end = load_index(p.a.indptr, p.a.wide, r + 1);
    const bool good =
        begin >= 0 && end >= begin && end <= p.a.nnz && (r > 0 || begin == 0) && (r + 1 < p.a.rows || end == p.a.nnz);
    found[0] += !good && lane == 0;
    for (int64_t k = begin + lane; good && k < end; k += lanes) {
      const int64_t index = load_index(p.a.indices, p.a.wide, k);
      found[1] += uint64_t(index) >= uint64_t(p.a.cols);
      if (k == begin) continue;
      const int64_t before = load_index(p.a.indices, p.a.wide, k - 1);
      found[2] += before > index;
      found[3] += before == index;
    }
  }
  for (int i = 0; i < 4; ++i) {
    const int64_t total = group.reduce(found[i], Sum{});
    if (group.rank() == 0 && total != 0) atomic_add(p.found + i, total);
  }
}

void check(const params::Queue& q, const params::SparseCheck& p) {
  launch(q, "sparse_check", check_kernel<SparseStructureTuning::block>,
         {ceil_div(p.a.rows, SparseStructureTuning::tile), SparseStructureTuning::block}, p,
         lanes_for(p.a.nnz, p.a.rows));
}

}  // namespace

}  // namespace stator::STATOR_TARGET::sparse

STATOR_LAUNCHER(sparse, expand)
STATOR_LAUNCHER(sparse, pointers)
STATOR_LAUNCHER(sparse, check)
