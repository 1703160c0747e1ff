// Dims, and what is computed from shapes: strides, sizes, broadcasting, axes.
#include <stator/array.hpp>

#include <algorithm>

namespace stator {

Dims::Dims(int size, int64_t value) : size_(size) {
  if (size < 0 || size > max_size) {
    throw ShapeError("", "got " + std::to_string(size) + " dimensions", "Arrays must have at most 32 dimensions");
  }
  if (size > int(std::size(inline_))) many_ = new Many;
  std::fill_n(data(), size, value);
}

Dims::Dims(std::initializer_list<int64_t> values) : Dims(std::span<const int64_t>(values.begin(), values.size())) {}

Dims::Dims(std::span<const int64_t> values) : Dims(static_cast<int>(std::min<size_t>(values.size(), max_size + 1))) {
  std::copy(values.begin(), values.end(), data());
}

void Dims::own() {
  auto* copy = new Many;
  std::copy_n(many_->values, size_, copy->values);
  drop();
  many_ = copy;
}

void Dims::drop() noexcept {
  if (many_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete many_;
}

void Dims::push_back(int64_t value) {
  if (!many_ && size_ < int(std::size(inline_))) {
    inline_[size_++] = value;
    return;
  }
  Dims longer(size_ + 1, value);
  std::copy(begin(), end(), longer.begin());
  *this = std::move(longer);
}

Dims contiguous_strides(const Dims& shape) {
  Dims strides(shape.size());
  int64_t step = 1;
  for (int i = shape.size() - 1; i >= 0; --i) {
    strides[i] = step;
    step *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

int64_t checked_size(std::string_view op, const Dims& shape, int itemsize) {
  // Extents of 0 count as 1 here, so that the strides of an empty array cannot overflow either.
  int64_t size = 1, extent = 1, bytes = 0;
  for (int64_t n : shape) {
    if (n < 0)
      throw ShapeError(std::string(op), "got a negative extent in shape " + str(shape), "Extents must be at least 0");
    size *= n != 0;
    if (__builtin_mul_overflow(extent, std::max<int64_t>(n, 1), &extent) ||
        __builtin_mul_overflow(extent, int64_t(itemsize), &bytes)) {
      throw ShapeError(std::string(op), "shape " + str(shape) + " is larger than the address space",
                       "The size in bytes must fit in 63 bits");
    }
  }
  return size * extent;
}

Dims broadcast_shapes(std::string_view op, const Dims& a, const Dims& b) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  Dims result = longer;
  const int lead = longer.size() - shorter.size();
  for (int i = 0; i < shorter.size(); ++i) {
    int64_t& extent = result[lead + i];
    if (extent == shorter[i] || shorter[i] == 1) continue;
    if (extent != 1) {
      throw ShapeError(std::string(op), "shapes " + str(a) + " and " + str(b) + " do not broadcast",
                       "Trailing extents must be equal or 1");
    }
    extent = shorter[i];
  }
  return result;
}

int normalize_axis(std::string_view op, int64_t axis, int ndim) {
  if (axis < -ndim || axis >= ndim) {
    throw AxisError(std::string(op),
                    "got axis " + std::to_string(axis) + " for an array of " + std::to_string(ndim) + " dimensions",
                    ndim ? "The axis must be from " + std::to_string(-ndim) + " to " + std::to_string(ndim - 1)
                         : std::string("A 0-d array has no axis"));
  }
  return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

std::string str(const Dims& shape) {
  std::string text = "(";
  for (int i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace stator
