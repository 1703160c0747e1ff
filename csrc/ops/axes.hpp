// Axes that a call names.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace stator {

// One entry an axis of `ndim`: whether it is named. AxisError for an axis out of range or named twice.
std::vector<bool> named_axes(std::string_view op, std::span<const int64_t> axes, int ndim);

// ShapeError for more axes than an array can have.
void require_ndim(std::string_view op, int64_t ndim);

}  // namespace stator
