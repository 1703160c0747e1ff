// Checks and helpers for axes.
#pragma once

#include <stator/array.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace stator {

class OpCall;

// Per axis of `ndim`: whether it is in `axes`. AxisError for an axis out of range or named twice.
std::vector<bool> named_axes(std::string_view op, std::span<const int64_t> axes, int ndim);

// The axes from the outermost to the innermost in memory, where the elements lie there without gaps in the order of
// some axes; else as they are. Results in that order are written as the operand is read.
std::vector<int> memory_order(const Array& x);
// A new array of that shape whose axes lie in memory in the given order.
Array empty_in_order(OpCall& call, const Dims& shape, DType dtype, const std::vector<int>& order);

// ShapeError if an array cannot have that many axes.
void require_ndim(std::string_view op, int64_t ndim);

// The extent and the stride, in elements, of axes [first, last) as one axis; a stride of 0 for one element. False where
// they have several strides.
bool merge_axes(const Array& x, int first, int last, int64_t& extent, int64_t& stride);

// Describes x as [outer, n, inner] with one stride each, n along the axis. False where it has more.
template <class P>
bool group_axes(const Array& x, int axis, P& p) {
  p.n = x.shape()[axis];
  p.x_strides[1] = x.strides()[axis];
  return merge_axes(x, 0, axis, p.outer, p.x_strides[0]) && merge_axes(x, axis + 1, x.ndim(), p.inner, p.x_strides[2]);
}

// A stable insertion sort: there are few axes, and std::stable_sort allocates even for two.
template <class T, class Before>
void sort_axes(std::span<T> axes, Before before) {
  for (size_t end = 1; end < axes.size(); ++end)
    for (size_t i = end; i > 0 && before(axes[i], axes[i - 1]); --i) std::swap(axes[i], axes[i - 1]);
}

}  // namespace stator
