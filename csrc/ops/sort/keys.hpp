// From arrays to the parameters of sorts.
#pragma once

#include "core/op_call.hpp"

#include "params/sort.hpp"

#include <stator/array.hpp>

#include <span>

namespace stator {

// bool, integers, floating dtypes.
params::KeyCodec key_codec(DType dtype, bool descending = false);

// DTypeError unless the dtype is in the op's row.
void check_order_dtype(const OpCall& call, const Array& x);

// AxisError for 0-d arrays and axes out of range.
int order_axis(const OpCall& call, const Array& x, int64_t axis);

// x's shape with `extent` elements along the axis.
Dims with_extent(const Array& x, int axis, int64_t extent);

// Fills in the axes other than `axis`: those of extent 1 go, neighbours that step together merge.
params::Lines lines_of(const Array& x, const Array& out, int axis);

struct SortWindow {
  int64_t first = 0, count = 0;         // of each sorted line
  std::span<const int64_t> ranks = {};  // or so many places of it, ascending: at most params::Sort::most_ranks
  bool whole = false;                   // with ranks: the line is parted at them, and all of it written
};
// Launches the sort of x along the axis. `values` and `indices` are made by call.empty in the window's shape; either
// may be null. Declares the accesses.
void launch_sort(OpCall& call, const Array& x, int axis, bool descending, const SortWindow& window, const Array* values,
                 const Array* indices);

// The same for complex numbers, whole lines: ops/sort/complex.cpp. Operands are declared.
void launch_complex_sort(OpCall& call, const Array& x, int axis, bool descending, const Array* values,
                         const Array* indices);

}  // namespace stator
