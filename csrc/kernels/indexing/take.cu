// Gather along one axis. Items are moved as bits of their size, or 16 bytes at a time where rows allow it.
#include "device/bits.cuh"
#include "device/convert.cuh"
#include "device/fault.cuh"
#include "device/group.cuh"
#include "device/index.cuh"
#include "device/vector.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "params/indexing.hpp"

namespace stator::STATOR_TARGET::indexing {
namespace {

struct TakeTuning {
  static constexpr int block = 256;
  static constexpr int row_tile = by_target<4, 64>::value;            // long rows of a block
  static constexpr int element_tile = by_target<1024, 16384>::value;  // elements of a block when rows are short
  static constexpr int64_t long_row = by_target<64, 4>::value;        // items from which on a row is long
};

// Index k, wrapped once; -1 and a report if it is out of range.
STATOR_FN int64_t checked_index(const params::Take& p, const params::ErrorSlot& slot, uint16_t op, int64_t k) {
  const bool is_unsigned = p.index_dtype == DType::uint64;
  const int64_t value = load_as<int64_t>(p.indices, p.index_dtype, k * p.index_stride);
  const bool too_large =
      is_unsigned && load_as<uint64_t>(p.indices, p.index_dtype, k * p.index_stride) >= uint64_t(p.n);
  const int64_t index = value < 0 && !is_unsigned ? value + p.n : value;
  if (!too_large && index >= 0 && index < p.n) return index;
  report_index(slot, op, k, value, is_unsigned);
  return -1;
}

// The rows of a block together, where it has threads: each loads an item of every row before it stores any.
template <class Bits, int Size>
STATOR_FN void take_rows_together(const Group<Size>& group, const params::Take& p, const params::ErrorSlot& slot,
                                  uint16_t op, int64_t first) {
  constexpr int tile = TakeTuning::row_tile;
  const int64_t rows = p.outer * p.count - first, step = p.x_strides[2];
  Bits* const out = static_cast<Bits*>(p.out) + first * p.inner;
  const Bits* from[tile];
  int64_t o = first / p.count, k = first - o * p.count;
  STATOR_UNROLL()
  for (int r = 0; r < tile; ++r) {
    const int64_t index = r < rows ? checked_index(p, slot, op, k) : -1;
    from[r] = index < 0 ? nullptr : static_cast<const Bits*>(p.x) + o * p.x_strides[0] + index * p.x_strides[1];
    if (++k == p.count) {
      k = 0;
      ++o;
    }
  }
  for (int64_t i = group.rank(); i < p.inner; i += Size) {
    Bits item[tile];
    STATOR_UNROLL()
    for (int r = 0; r < tile; ++r) item[r] = from[r] == nullptr ? Bits{} : from[r][i * step];
    STATOR_UNROLL()
    for (int r = 0; r < tile; ++r)
      if (r < rows) out[r * p.inner + i] = item[r];
  }
}

// On the fast host a block copies row after row.
template <class Bits, int Size>
STATOR_FN void take_rows_in_turn(const Group<Size>& group, const params::Take& p, const params::ErrorSlot& slot,
                                 uint16_t op, int64_t first) {
  const int64_t rows = p.outer * p.count;
  for (int64_t r = first; r < first + TakeTuning::row_tile && r < rows; ++r) {
    const int64_t o = r / p.count, k = r - o * p.count;
    const int64_t index = checked_index(p, slot, op, k);
    Bits* out = static_cast<Bits*>(p.out) + r * p.inner;
    if (index < 0) {
      group.for_each(p.inner, [=](int64_t i) { out[i] = Bits{}; });
      continue;
    }
    const Bits* row = static_cast<const Bits*>(p.x) + o * p.x_strides[0] + index * p.x_strides[1];
    const int64_t step = p.x_strides[2];
    if (step == 1)
      group.for_each(p.inner, [=](int64_t i) { out[i] = row[i]; });
    else
      group.for_each(p.inner, [=](int64_t i) { out[i] = row[i * step]; });
  }
}

// Long rows, of `inner` items.
template <class Bits, int Size>
STATOR_KERNEL(Size) void take_rows_kernel(params::Take p, params::ErrorSlot slot, uint16_t op) {
  const Group<Size> group;
  const int64_t first = group.block() * TakeTuning::row_tile;
  if constexpr (fast_host)
    take_rows_in_turn<Bits>(group, p, slot, op, first);
  else
    take_rows_together<Bits>(group, p, slot, op, first);
}

// Fast host, inner == 1: gathers elements [first, first + n) at one outer index, in a loop that vectorises. A second
// loop reports an index out of range if there is one.
template <class Bits, class I>
STATOR_FN void take_singles(const params::Take& p, const params::ErrorSlot& slot, uint16_t op, int64_t outer,
                            int64_t first, int64_t n) {
  const I* indices = static_cast<const I*>(p.indices) + first * p.index_stride;
  const Bits* x = static_cast<const Bits*>(p.x) + outer * p.x_strides[0];
  Bits* out = static_cast<Bits*>(p.out) + outer * p.count + first;
  const int64_t bound = p.n, step = p.x_strides[1], index_step = p.index_stride;
  int64_t bad = 0;
  for (int64_t k = 0; k < n; ++k) {
    const int64_t value = int64_t(indices[k * index_step]);
    const int64_t index = value < 0 ? value + bound : value;
    const bool good = (index >= 0) & (index < bound);
    const Bits item = x[good ? index * step : 0];
    out[k] = good ? item : Bits{};
    bad += !good;
  }
  for (int64_t k = 0; bad > 0 && k < n; ++k)
    if (checked_index(p, slot, op, first + k) < 0) bad = 0;
}

// From elements of the output to their rows, and from rows to positions in `indices`.
template <class Index>
struct TakeCut {
  LaunchDivmod<Index> inner, count;
};

// Short rows: each thread takes elements of the output.
template <class Bits, class Index, int Size>
STATOR_KERNEL(Size) void take_elements_kernel(params::Take p, TakeCut<Index> cut, params::ErrorSlot slot, uint16_t op) {
  const Group<Size> group;
  const int64_t total = p.outer * p.count * p.inner;
  const int64_t first = group.block() * TakeTuning::element_tile;
  const int64_t n = total - first < TakeTuning::element_tile ? total - first : TakeTuning::element_tile;
  if constexpr (fast_host) {
    const bool narrow = p.index_dtype == DType::int32;
    if (p.inner == 1 && p.n > 0 && (narrow || p.index_dtype == DType::int64)) {
      for (int64_t i = first; i < first + n;) {
        const int64_t outer = i / p.count, k = i - outer * p.count, rest = first + n - i;
        const int64_t length = p.count - k < rest ? p.count - k : rest;
        if (narrow)
          take_singles<Bits, int32_t>(p, slot, op, outer, k, length);
        else
          take_singles<Bits, int64_t>(p, slot, op, outer, k, length);
        i += length;
      }
      return;
    }
  }
  group.for_each(n, [=](int64_t at) {
    Index row = Index(first + at), i = 0, o = 0;
    if (p.inner > 1) row = cut.inner.divmod(row, i);
    Index k = row;
    if (p.outer > 1) o = cut.count.divmod(row, k);
    const int64_t index = checked_index(p, slot, op, k);
    static_cast<Bits*>(p.out)[first + at] =
        index < 0 ? Bits{}
                  : static_cast<const Bits*>(p.x)[o * p.x_strides[0] + index * p.x_strides[1] + i * p.x_strides[2]];
  });
}

template <class Bits>
void take_bits(const params::Queue& q, const params::Take& p) {
  using Tune = TakeTuning;
  const int64_t total = p.outer * p.count * p.inner;
  if (p.inner >= Tune::long_row)
    return launch(q, "take_rows", take_rows_kernel<Bits, Tune::block>,
                  {ceil_div(p.outer * p.count, Tune::row_tile), Tune::block}, p, q.slot, q.op);
  const auto launch_with = [&]<class Index>(Index) {
    const TakeCut<Index> cut{LaunchDivmod<Index>(Index(p.inner)), LaunchDivmod<Index>(Index(p.count))};
    launch(q, "take_elements", take_elements_kernel<Bits, Index, Tune::block>,
           {ceil_div(total, Tune::element_tile), Tune::block}, p, cut, q.slot, q.op);
  };
  if (total < (int64_t(1) << 31))
    launch_with(int32_t());
  else
    launch_with(int64_t());
}

// Makes rows of dense elements rows of 16-byte items if sizes, strides and addresses are multiples of 16 bytes.
bool widen(params::Take& p) {
  const int64_t per_item = 16 / p.itemsize;
  const int64_t steps = p.inner | p.x_strides[0] | p.x_strides[1];
  if (per_item < 2 || p.x_strides[2] != 1 || steps % per_item != 0 || !is_aligned(p.x) || !is_aligned(p.out))
    return false;
  p.inner /= per_item;
  p.x_strides[0] /= per_item;
  p.x_strides[1] /= per_item;
  return true;
}

void take(const params::Queue& q, const params::Take& params) {
  params::Take p = params;
  if (p.inner == 1) p.x_strides[2] = 1;
  if (widen(p)) return take_bits<Bits128>(q, p);
  with_bits(p.itemsize, [&]<class Bits>(Bits) { take_bits<Bits>(q, p); });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::indexing

STATOR_LAUNCHER(indexing, take)
