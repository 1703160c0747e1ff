// Running sums, row pointers, and the grouping of entries by one index.
#include "ops/sparse/parts.hpp"
#include "params/scan.hpp"
#include "params/sparse.hpp"

#include <stator/movement.hpp>

#include <algorithm>
#include <bit>

namespace stator::sparse {

void exclusive_sum(OpCall& call, const Array& counts, const Array& out) {
  params::Scan s{};
  s.n = counts.size();
  s.in_dtype = counts.dtype();
  s.compute = DType::int64;
  s.out_dtype = out.dtype();
  s.initial = true;
  s.in_step = s.out_step = s.index_step = 1;
  s.segments = 1;
  s.in = counts.data_ptr();
  s.out = static_cast<char*>(out.data_ptr()) + itemsize(out.dtype());
  call.reads(counts);
  call.writes(out);
  const int64_t bytes = kernels::scan::scratch(call.limits(), s);
  void* const partials = bytes > 0 ? call.scratch(size_t(bytes)) : nullptr;
  kernels::scan::sum(call.queue(), s, partials);
}

int64_t last_of(const Array& indptr, const Stream& stream, Op reader) {
  return as_strided(indptr, Dims{}, Dims{}, indptr.offset() + indptr.size() - 1).item(stream, reader).i;
}

Grouped group_entries(OpCall& call, const Entries& entries, int64_t bound, const Stream& stream) {
  const DType index = entries.keys.dtype();
  const int64_t n = entries.keys.size();
  const auto like = [&](const Array& x) { return call.empty(Dims{n}, x.dtype()); };
  Grouped out{Array(), like(entries.other), like(entries.values)};
  if (n == 0) {
    out.indptr = pointers(call, entries.keys, bound);
    return out;
  }
  int32_t bits = 0;
  int64_t tile = 0;
  const bool apart = kernels::sparse::sort_plan(call.limits(), n, bound, &bits, &tile);
  const int width = std::max(1, int(std::bit_width(uint64_t(bound))));
  params::SparseSort p{};
  p.n = n;
  p.bound = bound;
  p.tile = tile;
  p.blocks = (n + tile - 1) / tile;
  p.digits = 1 << bits;
  p.wide = index == DType::int64;
  p.itemsize = itemsize(entries.values.dtype());
  const Array counts = call.empty(Dims{p.digits * p.blocks}, DType::int32);
  const Array offsets = call.empty(Dims{p.digits * p.blocks + 1}, DType::int64);
  if (apart) p.work = static_cast<int64_t*>(call.scratch(size_t(p.digits * p.blocks) * sizeof(int64_t)));
  p.counts = static_cast<int32_t*>(counts.data_ptr());
  p.offsets = static_cast<int64_t*>(offsets.data_ptr());
  for (const Array* x : {&entries.keys, &entries.other, &entries.values}) call.reads(*x);
  for (const Array* x : {&out.other, &out.values}) call.writes(*x);
  Array keys = entries.keys, order;
  for (p.shift = 0; p.shift < width; p.shift += bits) {
    const bool last = p.shift + bits >= width, only = last && p.shift == 0;
    const Array next_keys = only ? Array() : like(keys), next_order = last ? Array() : like(keys);
    p.keys = keys.data_ptr();
    p.order = order ? order.data_ptr() : nullptr;
    p.out_keys = next_keys ? next_keys.data_ptr() : nullptr;
    p.out_order = next_order ? next_order.data_ptr() : nullptr;
    if (next_keys) call.writes(next_keys);
    if (next_order) call.writes(next_order);
    if (last) {
      p.other = entries.other.data_ptr();
      p.out_other = out.other.data_ptr();
      p.values = entries.values.data_ptr();
      p.out_values = out.values.data_ptr();
    }
    kernels::sparse::sort_count(call.queue(), p);
    exclusive_sum(call, counts, offsets);
    kernels::sparse::sort_scatter(call.queue(), p);
    keys = next_keys;
    order = next_order;
  }
  // After a single pass the pointers are the offsets at which the digits start.
  out.indptr = keys ? pointers(call, keys, bound)
                    : astype(as_strided(offsets, Dims{bound + 1}, Dims{p.blocks}, 0), index, true, stream);
  return out;
}

Array pointers(OpCall& call, const Array& keys, int64_t rows) {
  const Array indptr = call.empty(Dims{rows + 1}, keys.dtype());
  call.reads(keys);
  call.writes(indptr);
  kernels::sparse::pointers(call.queue(),
                            {keys.data_ptr(), keys.size(), rows, keys.dtype() == DType::int64, indptr.data_ptr()});
  return indptr;
}

}  // namespace stator::sparse
