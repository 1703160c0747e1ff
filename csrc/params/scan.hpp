// Parameters of the scan launchers: cumulative ops and differences.
#pragma once

#include "params/launcher.hpp"

#include <stator/op_table.hpp>

namespace stator::params {

// Segments of n elements along one axis; the other axes, collapsed, index the segments (innermost last). Strides and
// steps are in elements. A reversed scan has negative steps: `in` and `out` point to the element that is scanned first.
struct Scan {
  const void* in;
  void* out;         // where the result of the first element goes; the initial value, if any, is one step before
  int64_t* indices;  // of cumulative_max and cumulative_min, with the layout of out
  DType in_dtype, compute, out_dtype;
  bool initial;
  int64_t n, in_step, out_step;
  int64_t first_index, index_step;  // of element i along the axis: first_index + i * index_step
  int32_t ndim;
  int64_t segments, shape[max_dims], in_strides[max_dims], out_strides[max_dims];
};

// One of the arrays that are concatenated along the axis before the difference.
struct DifferenceInput {
  const void* data;
  DType dtype;
  int64_t begin, end;  // positions along the axis
  int64_t strides[max_dims];
};
// out is the `order`-th difference along `axis` of the concatenation of up to three arrays. `shape` is that of out,
// which is row-major; strides are in elements.
struct Difference {
  static constexpr int most_order = 8;
  DifferenceInput inputs[3];
  int32_t input_count, order, ndim, axis;
  DType compute, out_dtype;
  bool differs;  // for bools: the difference is whether neighbours differ
  void* out;
  int64_t size, shape[max_dims];
};

}  // namespace stator::params

namespace stator::kernels::scan {

// If segments are split over blocks there are two launches: the first writes the totals of the splits to `partials`,
// the second scans. scratch() says how many bytes `partials` needs; 0 means one launch without splits.
extern Launcher<int64_t(const DeviceLimits&, const params::Scan&)> scratch;
extern Launcher<void(const Queue&, const params::Scan&, void* partials)> sum;
extern Launcher<void(const Queue&, const params::Scan&, void* partials)> product;
extern Launcher<void(const Queue&, const params::Scan&, void* partials)> logsumexp;
extern Launcher<void(const Queue&, const params::Scan&, bool smallest, void* partials)> extreme;
extern Launcher<void(const Queue&, const params::Difference&)> difference;

}  // namespace stator::kernels::scan
