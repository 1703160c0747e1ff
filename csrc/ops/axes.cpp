#include "ops/axes.hpp"

#include "core/op_call.hpp"

#include <numeric>
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

std::vector<int> memory_order(const Array& x) {
  std::vector<int> order(size_t(x.ndim()));
  std::iota(order.begin(), order.end(), 0);
  if (x.is_contiguous()) return order;
  std::vector<int> sorted = order;
  sort_axes(std::span(sorted), [&](int a, int b) { return x.strides()[a] > x.strides()[b]; });
  int64_t dense = 1;
  for (size_t i = sorted.size(); i-- > 0; dense *= x.shape()[sorted[i]])
    if (x.shape()[sorted[i]] != 1 && x.strides()[sorted[i]] != dense) return order;
  return sorted;
}

Array empty_in_order(OpCall& call, const Dims& shape, DType dtype, const std::vector<int>& order) {
  Dims extents(shape.size()), strides(shape.size());
  for (int i = 0; i < shape.size(); ++i) extents[i] = shape[order[size_t(i)]];
  const Array memory = call.empty(extents, dtype);
  for (int i = 0; i < shape.size(); ++i) strides[order[size_t(i)]] = memory.strides()[i];
  return Array(memory.buffer(), dtype, shape, strides, 0);
}

void require_ndim(std::string_view op, int64_t ndim) {
  if (ndim > Dims::max_size)
    throw ShapeError(std::string(op), "got " + std::to_string(ndim) + " dimensions",
                     "Arrays must have at most 32 dimensions");
}

bool merge_axes(const Array& x, int first, int last, int64_t& extent, int64_t& stride) {
  extent = 1;
  stride = 0;
  for (int d = last - 1; d >= first; --d) {
    if (x.shape()[d] == 1) continue;
    if (extent == 1)
      stride = x.strides()[d];
    else if (x.strides()[d] != extent * stride)
      return false;
    extent *= x.shape()[d];
  }
  return true;
}

}  // namespace stator
