// Sums, means and largest elements of bags of rows.
#include "device/bits.cuh"
#include "device/fault.cuh"
#include "device/functional.cuh"
#include "device/index.cuh"
#include "host/launcher.hpp"
#include "kernels/embedding/columns.cuh"

#include <cstring>

namespace stator::STATOR_TARGET::embedding {
namespace {

struct Range {
  int64_t begin, end;
};

// The positions of a bag. Offsets out of order give wrong bags, but no position out of range.
STATOR_FN Range bag_range(const params::Bags& p, int64_t bag) {
  if (p.offsets == nullptr) return {bag * p.length, (bag + 1) * p.length};
  const auto offset = [&](int64_t b) {
    if (b == 0) return int64_t(0);
    if (b == p.count) return p.n;
    const int64_t at = load_as<int64_t>(p.offsets, p.offset_dtype, b);
    return at < 0 ? int64_t(0) : at < p.n ? at : p.n;
  };
  return {offset(bag), offset(bag + 1)};
}

// Offsets begin with 0 and do not decrease.
STATOR_FN void check_offset(const params::Bags& p, int64_t bag, const params::ErrorSlot& slot, uint16_t op) {
  if (p.offsets == nullptr) return;
  const int64_t at = load_as<int64_t>(p.offsets, p.offset_dtype, bag);
  const int64_t before = bag > 0 ? load_as<int64_t>(p.offsets, p.offset_dtype, bag - 1) : 0;
  if (at < before || at > p.n || (bag == 0 && at != 0)) report(slot, op, params::Fault::index_out_of_range, bag, at);
}

template <class T, int Size>
STATOR_KERNEL(Size) void bags_kernel(params::Bags p, params::ErrorSlot slot, uint16_t op) {
  using A = opmath_t<T>;
  constexpr int width = EmbeddingTuning::width;
  const Group<Size> group;
  const Columns columns(group, p.count, p.d);
  if (columns.count == 0) return;
  const bool reports_faults = columns.first == 0;
  if (reports_faults) check_offset(p, columns.item, slot, op);
  const bool largest = p.mode == params::BagMode::max;
  A result[width];
  int64_t winner[width];
  columns.for_each([&](int j) {
    result[j] = A(0);
    winner[j] = -1;
  });
  const Range range = bag_range(p, columns.item);
  int64_t used = 0;
  for (int64_t i = range.begin; i < range.end; ++i) {
    const int64_t index = load_as<int64_t>(p.indices, p.index_dtype, i), at = row_of(index, p.rows);
    if (at < 0 && reports_faults) report_index(slot, op, i, index, p.index_dtype == DType::uint64);
    if (at < 0 || at == p.padding) continue;
    const T* const row = static_cast<const T*>(p.table) + at * p.d + columns.first;
    if (largest) {
      columns.for_each([&](int j) {
        const A value = A(row[j]);
        const bool wins = used == 0 || value > result[j] || (value != value && result[j] == result[j]);
        result[j] = wins ? value : result[j];
        winner[j] = wins ? i : winner[j];
      });
    } else {
      columns.for_each([&](int j) { result[j] += A(row[j]); });
    }
    ++used;
  }
  const A scale = p.mode == params::BagMode::mean && used > 0 ? A(1) / A(used) : A(1);
  const int64_t to = columns.item * p.d + columns.first;
  if (p.out != nullptr) columns.for_each([&](int j) { static_cast<T*>(p.out)[to + j] = T(scale * result[j]); });
  if (p.winners != nullptr) columns.for_each([&](int j) { p.winners[to + j] = winner[j]; });
}

// The bag of each position, and one over the number of rows of each bag.
template <class A, int Size>
STATOR_KERNEL(Size) void bag_map_kernel(params::BagMap map, params::ErrorSlot slot, uint16_t op) {
  const Group<Size> group;
  const params::Bags& p = map.bags;
  const int64_t bag = group.block();
  if (group.rank() == 0) check_offset(p, bag, slot, op);
  const Range range = bag_range(p, bag);
  const int64_t n = range.end > range.begin ? range.end - range.begin : 0;
  int64_t* const of_position = map.of_position + range.begin;
  group.for_each(n, [=](int64_t k) { of_position[k] = bag; });
  if (map.factors == nullptr) return;
  const int64_t used = group.template map_reduce<int64_t>(n, Sum{}, [=](int64_t k) {
    const int64_t at = row_of(load_as<int64_t>(p.indices, p.index_dtype, range.begin + k), p.rows);
    return int64_t(at >= 0 && at != p.padding);
  });
  if (group.rank() == 0) static_cast<A*>(map.factors)[bag] = used > 0 ? A(1) / A(used) : A(0);
}

void bags(const params::Queue& q, const params::Bags& p) {
  constexpr int block = EmbeddingTuning::block;
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "bags", bags_kernel<T, block>, {column_blocks(p.count, p.d), block}, p, q.slot, q.op);
  });
}

void bag_map(const params::Queue& q, const params::BagMap& p) {
  constexpr int block = 64;
  const auto kernel = p.bags.dtype == DType::float64 ? bag_map_kernel<double, block> : bag_map_kernel<float, block>;
  launch(q, "bag_map", kernel, {p.bags.count, block}, p, q.slot, q.op);
}

// --- one hot -----------------------------------------------------------------------------------------------------

template <class Bits, int Size>
STATOR_KERNEL(Size) void one_hot_kernel(params::OneHot p, FastDivmod64 classes, Bits one, int64_t rows_per_block,
                                        params::ErrorSlot slot, uint16_t op) {
  const Group<Size> group;
  const int64_t first = group.block() * rows_per_block;
  const int64_t rows = p.n - first < rows_per_block ? p.n - first : rows_per_block;
  Bits* const out = static_cast<Bits*>(p.out) + first * p.classes;
  if constexpr (fast_host) {  // zeros, and then the ones
    std::memset(out, 0, size_t(rows * p.classes) * sizeof(Bits));
    for (int64_t k = 0; k < rows; ++k) {
      const int64_t index = load_as<int64_t>(p.indices, p.dtype, first + k), at = row_of(index, p.classes);
      if (at < 0)
        report_index(slot, op, first + k, index, p.dtype == DType::uint64);
      else
        out[k * p.classes + at] = one;
    }
    return;
  }
  group.for_each(rows, [=](int64_t k) {
    const int64_t index = load_as<int64_t>(p.indices, p.dtype, first + k);
    if (row_of(index, p.classes) < 0) report_index(slot, op, first + k, index, p.dtype == DType::uint64);
  });
  group.for_each(rows * p.classes, [=](int64_t k) {
    int64_t at;
    const int64_t row = classes.divmod(k, at), index = load_as<int64_t>(p.indices, p.dtype, first + row);
    out[k] = row_of(index, p.classes) == at ? one : Bits(0);
  });
}

// The bits of the number one.
template <class Bits>
Bits one_of(DType dtype) {
  switch (dtype) {
    case DType::float16: return Bits(0x3c00);
    case DType::bfloat16: return Bits(0x3f80);
    case DType::float32: return Bits(0x3f800000);
    case DType::float64: return Bits(uint64_t(0x3ff0000000000000));
    default: return Bits(1);
  }
}

template <class Bits>
void launch_one_hot(const params::Queue& q, const params::OneHot& p) {
  constexpr int block = EmbeddingTuning::block;
  constexpr int64_t elements = by_target<4096, 65536>::value;
  const int64_t rows = p.classes >= elements ? 1 : elements / p.classes;
  launch(q, "one_hot", one_hot_kernel<Bits, block>, {ceil_div(p.n, rows), block}, p, FastDivmod64(p.classes),
         one_of<Bits>(p.out_dtype), rows, q.slot, q.op);
}

void one_hot(const params::Queue& q, const params::OneHot& p) {
  with_bits<1, 2, 4, 8>(itemsize(p.out_dtype), [&]<class Bits>(Bits) { launch_one_hot<Bits>(q, p); });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::embedding

STATOR_LAUNCHER(embedding, bags)
STATOR_LAUNCHER(embedding, bag_map)
STATOR_LAUNCHER(embedding, one_hot)
