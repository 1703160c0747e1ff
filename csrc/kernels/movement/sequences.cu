// Values that follow from their position: linspace, and the positions that a repetition with counts takes.
#include "device/convert.cuh"
#include "device/group.cuh"
#include "device/launch.cuh"
#include "device/math/math.cuh"
#include "kernels/movement/fill.cuh"

namespace stator::STATOR_COLUMN {
namespace {

struct SequenceTuning {
  static constexpr int block = 256;
  static constexpr int tile = by_column<1024, 16384>::value;  // elements a block
};

template <int Size>
STATOR_KERNEL void linspace_kernel(abi::Linspace p) {
  const Group<Size> group;
  const int64_t first = group.block() * SequenceTuning::tile, left = p.count - first;
  const int64_t n = left < SequenceTuning::tile ? left : SequenceTuning::tile;
  const auto part = [=](int64_t i, int k) { return (p.start[k] + double(i) * p.step[k]) * p.scale[k]; };
#define STATOR_CASE(name, type)                                                      \
  case DType::name: {                                                                \
    type* const to = static_cast<type*>(p.out) + first;                              \
    group.for_each(n, [=](int64_t i) {                                               \
      const bool end = first + i == p.count - 1;                                     \
      const double re = end ? p.last[0] : part(first + i, 0);                        \
      if constexpr (is_complex<type>)                                                \
        to[i] = convert<type>(complex128(re, end ? p.last[1] : part(first + i, 1))); \
      else                                                                           \
        to[i] = convert<type>(std::is_integral_v<type> ? floor(re) : re);            \
    });                                                                              \
    return;                                                                          \
  }
  STATOR_DTYPE_SWITCH(p.dtype, STATOR_CASE)
#undef STATOR_CASE
}

template <int Size>
STATOR_KERNEL void runs_kernel(abi::RepeatedCounts p) {
  const Group<Size> group;
  const int64_t first = group.block() * SequenceTuning::tile, left = p.size - first;
  const int64_t n = left < SequenceTuning::tile ? left : SequenceTuning::tile;
  // The run that holds position i: the first whose end is beyond it.
  const auto run_of = [=](int64_t i) {
    int64_t low = 0, high = p.n - 1;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (p.ends[middle] > i)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  };
  if constexpr (fast_host) {
    int64_t run = run_of(first);
    for (int64_t i = first; i < first + n; ++i) {
      while (p.ends[run] <= i) ++run;
      p.out[i] = run;
    }
  } else {
    group.for_each(n, [=](int64_t i) { p.out[first + i] = run_of(first + i); });
  }
}

void linspace(const abi::Queue& q, const abi::Linspace& p) {
  constexpr int block = SequenceTuning::block;
  launch(q, "linspace", linspace_kernel<block>, {ceil_div(p.count, SequenceTuning::tile), block}, p);
}

void runs(const abi::Queue& q, const abi::RepeatedCounts& p) {
  constexpr int block = SequenceTuning::block;
  launch(q, "runs", runs_kernel<block>, {ceil_div(p.size, SequenceTuning::tile), block}, p);
}

}  // namespace

void fill(kernels::MovementTable& table) {
  fill_rows(table);
  fill_concat(table);
  table.linspace = linspace;
  table.runs = runs;
}

}  // namespace stator::STATOR_COLUMN
