// From arrays to the parameters of the launchers that sort.
#pragma once

#include "core/op_call.hpp"

#include "params/sort.hpp"

#include <stator/array.hpp>

#include <span>

namespace stator {

// For bool, integers and floating dtypes.
params::KeyCodec key_codec(DType dtype, bool descending = false);

// DTypeError unless the op's entry in the table has the dtype.
void check_order_dtype(const OpCall& call, const Array& x);

// AxisError for 0-d arrays and axes out of range.
int order_axis(const OpCall& call, const Array& x, int64_t axis);

// x's shape with `extent` elements along the axis.
Dims with_extent(const Array& x, int axis, int64_t extent);

// The segments of x and `out` along an axis; axis -1: each element is a segment. Axes of extent 1 are dropped, and
// neighbouring axes that step together are merged.
params::Segments segments_of(const Array& x, const Array& out, int axis);

// What is wanted of a sort.
struct SortWindow {
  int64_t first = 0, count = 0;         // positions [first, first + count) of each sorted segment
  std::span<const int64_t> ranks = {};  // or these positions, ascending, at most params::Sort::most_ranks
  bool whole = false;                   // with ranks: writes the whole segment, partitioned at these positions
};
// Launches the sort of x along the axis. `values` and `indices` are from call.empty, in the window's shape; one of them
// may be null. Declares the accesses.
void launch_sort(OpCall& call, const Array& x, int axis, bool descending, const SortWindow& window, const Array* values,
                 const Array* indices);

// The same for complex numbers, without a window and with accesses already declared: ops/sort/complex.cpp.
void launch_complex_sort(OpCall& call, const Array& x, int axis, bool descending, const Array* values,
                         const Array* indices);

}  // namespace stator
