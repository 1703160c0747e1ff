// Parameters of the scan launchers: cumulative ops, differences, and the gradient of a product.
#pragma once

#include "params/launcher.hpp"

#include <stator/op_table.hpp>

namespace stator::params {

// Lines of n elements along one axis; the other axes, collapsed, index the lines (innermost last). Strides and steps
// are in elements. A reversed scan has negative steps: `in` and `out` point to what comes first.
struct Scan {
  const void* in;
  void* out;         // where the result of the first element goes; the initial value, if any, is one step before
  int64_t* indices;  // of cumulative_max and cumulative_min, laid out as out
  DType in_dtype, compute, out_dtype;
  bool initial;
  int64_t n, in_step, out_step;
  int64_t first_index, index_step;  // of element i along the axis: first_index + i * index_step
  int32_t ndim;
  int64_t lines, shape[max_dims], in_strides[max_dims], out_strides[max_dims];
};

// out = the `order`-th difference along `axis` of up to three arrays one after the other. `shape` is that of out, which
// is row-major; strides are in elements.
struct DifferencePart {
  const void* data;
  DType dtype;
  int64_t begin, end;  // positions along the axis
  int64_t strides[max_dims];
};
struct Difference {
  static constexpr int most_order = 8;
  DifferencePart parts[3];
  int32_t part_count, order, ndim, axis;
  DType compute, out_dtype;
  bool differs;  // of bools: whether neighbours differ
  void* out;
  int64_t size, shape[max_dims];
};

}  // namespace stator::params

namespace stator::kernels::scan {

// A line that is shared by blocks takes two launches: the totals of its parts, which go to scratch of the bytes asked
// for, and the scan itself. No bytes: one launch.
extern Launcher<int64_t(const DeviceLimits&, const params::Scan&)> scratch;
extern Launcher<void(const Queue&, const params::Scan&, void* partials)> sum;
extern Launcher<void(const Queue&, const params::Scan&, void* partials)> product;
extern Launcher<void(const Queue&, const params::Scan&, void* partials)> logsumexp;
extern Launcher<void(const Queue&, const params::Scan&, bool smallest, void* partials)> extreme;
extern Launcher<void(const Queue&, const params::Difference&)> difference;

}  // namespace stator::kernels::scan
