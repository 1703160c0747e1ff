// Differences of an order up to params::Difference::most_order along one axis of up to three concatenated arrays.
#include "device/index.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/scan/work.cuh"
#include "params/scan.hpp"

namespace stator::STATOR_TARGET::scan {
namespace {

struct DifferenceTuning {
  static constexpr int block = 256;
  static constexpr int width = by_target<1, 64>::value;   // neighbouring results of a thread, all in one row
  static constexpr int tiles = by_target<1, 256>::value;  // of a fast-host block
};

template <class C>
STATOR_FN C subtract(C a, C b, bool differs) {
  if constexpr (std::is_integral_v<C>)
    return differs ? a ^ b : C(uint64_t(a) - uint64_t(b));
  else
    return a - b;
}

// Where the results of one thread find their elements. A row is the innermost axis of the output.
template <class C>
struct DifferenceRow {
  static constexpr int most_inputs = 3;
  static constexpr DTypeSet loads = is_complex<C>           ? dtypes::all
                                    : std::is_integral_v<C> ? dtypes::all & ~dtypes::inexact
                                                            : dtypes::all & ~dtypes::complexes;
  const params::Difference& p;
  int64_t offset[most_inputs];  // of the row in each input, at position 0 along the axis
  int64_t at;                   // of the first result along the axis
  int inner;
  bool along;  // the row lies along the axis

  STATOR_FN DifferenceRow(const params::Difference& d, const ShapeDivisors& divisors, int64_t row, int64_t first)
      : p(d), inner(d.ndim - 1) {
    along = p.axis == inner;
    at = along ? first : 0;
    STATOR_UNROLL()
    for (int k = 0; k < most_inputs; ++k) offset[k] = along ? 0 : first * p.inputs[k].strides[inner];
    for (int d = inner - 1; d >= 0; --d) {
      int64_t i = row;
      if (d > 0) row = divisors(d, row, i);
      const bool other = d != p.axis;
      at = other ? at : i;
      STATOR_UNROLL()
      for (int k = 0; k < most_inputs; ++k) offset[k] += other ? i * p.inputs[k].strides[d] : 0;
    }
  }

  // The elements that are `ahead` positions after those of `count` neighbouring results.
  STATOR_FN void load(C* value, int ahead, int count) const {
    const int64_t begin = at + ahead;
    if constexpr (fast_host) {
      const int64_t end = along ? begin + count : begin + 1;
      for (int k = 0; k < p.input_count; ++k) {
        const params::DifferenceInput& input = p.inputs[k];
        const int64_t low = begin > input.begin ? begin : input.begin, high = end < input.end ? end : input.end;
        if (low >= high) continue;
        const int64_t from = offset[k] + (low - input.begin) * input.strides[p.axis];
        scan_load_segment<C, loads>(value + (low - begin), input.data, input.dtype, from, input.strides[inner],
                                    along ? int(high - low) : count);
      }
    } else {
      const void* data = p.inputs[0].data;
      DType dtype = p.inputs[0].dtype;
      int64_t from = offset[0] + (begin - p.inputs[0].begin) * p.inputs[0].strides[p.axis];
      STATOR_UNROLL()
      for (int k = 1; k < most_inputs; ++k) {
        if (k >= p.input_count || begin < p.inputs[k].begin) break;
        data = p.inputs[k].data;
        dtype = p.inputs[k].dtype;
        from = offset[k] + (begin - p.inputs[k].begin) * p.inputs[k].strides[p.axis];
      }
      *value = load_as<C>(data, dtype, from);
    }
  }
};

template <class C, int Size>
STATOR_KERNEL(Size) void difference_kernel(params::Difference p, ShapeDivisors divisors, FastDivmod64 per_row,
                                           int64_t all) {
  using Tune = DifferenceTuning;
  constexpr int W = Tune::width, N = params::Difference::most_order + 1;
  const Group<Size> group;
  const int64_t extent = p.shape[p.ndim - 1];
  const int64_t first = group.block() * Tune::tiles * group.size, last = first + int64_t(Tune::tiles) * group.size;
  for (int64_t tile = first + group.rank(); tile < last && tile < all; tile += group.size) {
    int64_t column;
    const int64_t row = per_row.divmod(tile, column);
    column *= W;
    const int count = extent - column < W ? int(extent - column) : W;
    const DifferenceRow<C> source(p, divisors, row, column);
    C value[N][W];
    STATOR_UNROLL()
    for (int k = 0; k < N; ++k)
      if (k <= p.order) source.load(value[k], k, count);
    STATOR_UNROLL()
    for (int round = 1; round < N; ++round) {
      if (round > p.order) break;
      STATOR_UNROLL()
      for (int k = 0; k < N - round; ++k)
        if (k <= p.order - round)
          for (int j = 0; j < W; ++j) value[k][j] = subtract(value[k + 1][j], value[k][j], p.differs);
    }
    if constexpr (fast_host)
      scan_store_segment<C, scan_dtypes<C>>(value[0], p.out, p.out_dtype, row * extent + column, 1, count);
    else
      store_as(p.out, p.out_dtype, row * extent + column, value[0][0]);
  }
}

void difference(const params::Queue& q, const params::Difference& p) {
  using Tune = DifferenceTuning;
  const int64_t extent = p.shape[p.ndim - 1], per_row = ceil_div(extent, Tune::width), all = p.size / extent * per_row;
  const Config config{ceil_div(all, Tune::tiles * (fast_host ? 1 : Tune::block)), Tune::block};
  visit<dtypes::blas | dtype_bit(DType::int64) | dtype_bit(DType::uint64)>(p.compute, [&]<class T>(type_tag<T>) {
    using C = std::conditional_t<std::is_integral_v<T>, int64_t, T>;
    launch(q, "diff", difference_kernel<C, Tune::block>, config, p, ShapeDivisors(p.ndim, p.shape),
           FastDivmod64(per_row), all);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::scan

STATOR_LAUNCHER(scan, difference)
