#include "ops/axes.hpp"

#include <stator/array.hpp>

#include <string>

namespace stator {

std::vector<bool> named_axes(std::string_view op, std::span<const int64_t> axes, int ndim) {
  std::vector<bool> named(size_t(ndim), false);
  for (const int64_t axis : axes) {
    const auto d = size_t(normalize_axis(op, axis, ndim));
    if (named[d])
      throw AxisError(std::string(op), "axis " + std::to_string(axis) + " is named twice", "name each axis once");
    named[d] = true;
  }
  return named;
}

void require_ndim(std::string_view op, int64_t ndim) {
  if (ndim > Dims::max_size)
    throw ShapeError(std::string(op), std::to_string(ndim) + " dimensions", "Arrays have at most 32 dimensions");
}

}  // namespace stator
