// Axes that a call names.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace stator {

// One entry an axis of `ndim`: whether it is named. AxisError for an axis out of range or named twice.
std::vector<bool> named_axes(std::string_view op, std::span<const int64_t> axes, int ndim);

// ShapeError for more axes than an array can have.
void require_ndim(std::string_view op, int64_t ndim);

// Stable, by insertion: there are few axes, and std::stable_sort allocates for two.
template <class T, class Before>
void sort_axes(std::span<T> axes, Before before) {
  for (size_t end = 1; end < axes.size(); ++end)
    for (size_t i = end; i > 0 && before(axes[i], axes[i - 1]); --i) std::swap(axes[i], axes[i - 1]);
}

}  // namespace stator
