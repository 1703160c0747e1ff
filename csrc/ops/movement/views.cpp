// Views: no kernel and no copy, except in reshape where strides cannot express the shape.
#include "ops/movement/views.hpp"
#include "core/context.hpp"
#include "memory/overlap.hpp"
#include "ops/axes.hpp"

#include <stator/creation.hpp>
#include <stator/elementwise.hpp>
#include <stator/memory/bool_bytes.hpp>
#include <stator/movement.hpp>
#include <stator/op_table.hpp>

#include <algorithm>

namespace stator {

std::string require_open(const Array& x, Op op) {
  const std::string call(op_info(op).call);
  if (!x) throw ValueError(call, "got an array without memory", "Pass an array made by a Backend");
  x.buffer()->context().require_open(uint16_t(op));
  return call;
}

namespace {

// The shape with its -1 inferred.
Dims resolve_shape(const std::string& op, const Array& x, std::span<const int64_t> wanted) {
  const Dims given(wanted);
  Dims shape = given;
  int unknown = -1;
  for (int d = 0; d < shape.size(); ++d) {
    if (shape[d] < -1)
      throw ShapeError(op, "shape " + str(given) + " has a negative extent",
                       "Extents must be at least 0, or -1 for one of them");
    if (shape[d] != -1) continue;
    if (unknown >= 0)
      throw ShapeError(op, "shape " + str(given) + " has more than one -1", "Pass -1 for one extent only");
    unknown = d;
    shape[d] = 1;
  }
  const int64_t known = checked_size(op, shape, 1);
  if (unknown >= 0) {
    if (known == 0 || x.size() % known != 0) {
      throw ShapeError(op,
                       "the -1 of shape " + str(given) + " cannot be inferred: " + std::to_string(x.size()) +
                           " elements do not divide by " + std::to_string(known),
                       "The other extents must divide the size of " + str(x.shape()));
    }
    shape[unknown] = x.size() / known;
  } else if (known != x.size()) {
    throw ShapeError(op,
                     "shape " + str(x.shape()) + " has " + std::to_string(x.size()) + " elements, " + str(shape) +
                         " has " + std::to_string(known),
                     "The sizes must agree");
  }
  return shape;
}

// Strides that give x's elements the new shape without a copy, by splitting and merging groups of axes that step
// evenly; nothing if there are none.
std::optional<Dims> reshaped_strides(const Array& x, const Dims& shape) {
  if (x.size() == 0) return contiguous_strides(shape);
  Dims old_shape, old_strides;
  for (int d = 0; d < x.ndim(); ++d) {
    if (x.shape()[d] == 1) continue;
    old_shape.push_back(x.shape()[d]);
    old_strides.push_back(x.strides()[d]);
  }
  Dims strides(shape.size());
  int from = 0, to = 0;
  while (from < old_shape.size()) {
    int from_end = from + 1, to_end = to;
    int64_t from_size = old_shape[from], to_size = 1;
    while (from_size != to_size) {
      if (to_size < from_size)
        to_size *= shape[to_end++];
      else
        from_size *= old_shape[from_end++];
    }
    for (int d = from; d + 1 < from_end; ++d) {
      if (old_strides[d] != old_shape[d + 1] * old_strides[d + 1]) return {};
    }
    int64_t step = old_strides[from_end - 1];
    for (int d = to_end - 1; d >= to; --d) {
      strides[d] = step;
      step *= shape[d];
    }
    from = from_end;
    to = to_end;
  }
  for (; to < shape.size(); ++to) strides[to] = 1;  // extents of 1
  return strides;
}

}  // namespace

Array permute_dims(const Array& x, std::span<const int64_t> axes) {
  const std::string op = require_open(x, Op::permute_dims);
  if (int(axes.size()) != x.ndim()) {
    throw ShapeError(op, "got " + std::to_string(axes.size()) + " axes for shape " + str(x.shape()),
                     "Name every axis once");
  }
  named_axes(op, axes, x.ndim());  // only for its checks
  Dims shape, strides;
  for (int64_t axis : axes) {
    const int d = normalize_axis(op, axis, x.ndim());
    shape.push_back(x.shape()[d]);
    strides.push_back(x.strides()[d]);
  }
  return Array(x.buffer(), x.dtype(), std::move(shape), std::move(strides), x.offset());
}

Array broadcast_to(const Array& x, const Dims& shape) {
  const std::string op = require_open(x, Op::broadcast_to);
  checked_size(op, shape, itemsize(x.dtype()));
  const int lead = shape.size() - x.ndim();
  Dims strides(shape.size());
  for (int d = 0; d < x.ndim(); ++d) {
    const int64_t extent = x.shape()[d];
    if (lead < 0 || (extent != shape[lead + d] && extent != 1)) {
      throw ShapeError(op, "shape " + str(x.shape()) + " does not broadcast to " + str(shape),
                       "Trailing extents must be equal, or 1 in the array");
    }
    strides[lead + d] = extent == 1 && shape[lead + d] != 1 ? 0 : x.strides()[d];
  }
  return Array(x.buffer(), x.dtype(), shape, std::move(strides), x.offset());
}

Array reshape(const Array& x, std::span<const int64_t> wanted, std::optional<bool> copy, const Stream& stream) {
  const std::string op = require_open(x, Op::reshape);
  Dims shape = resolve_shape(op, x, wanted);
  std::optional<Dims> strides = reshaped_strides(x, shape);
  if (strides && copy != true) return Array(x.buffer(), x.dtype(), std::move(shape), std::move(*strides), x.offset());
  if (copy == false) {
    throw ShapeError(op,
                     "strides " + str(x.strides()) + " of shape " + str(x.shape()) + " cannot show " + str(shape) +
                         " without a copy",
                     "Leave copy out, or pass copy=True");
  }
  const Array dense = stator::copy(x, stream);
  Dims dense_strides = contiguous_strides(shape);
  return Array(dense.buffer(), x.dtype(), std::move(shape), std::move(dense_strides), dense.offset());
}

Array as_strided(const Array& x, const Dims& shape, const Dims& strides, int64_t offset) {
  const std::string op = require_open(x, Op::as_strided);
  if (shape.size() != strides.size()) {
    throw ShapeError(op, "got shape " + str(shape) + " with strides " + str(strides), "Give one stride an axis");
  }
  const int64_t size = checked_size(op, shape, itemsize(x.dtype()));
  const __int128 capacity = int64_t(x.buffer()->bytes()) / itemsize(x.dtype());
  __int128 lowest = offset, highest = offset;
  for (int d = 0; size > 0 && d < shape.size(); ++d) {
    const __int128 reach = __int128(shape[d] - 1) * strides[d];
    (reach < 0 ? lowest : highest) += reach;
  }
  if (lowest < 0 || (size > 0 ? highest >= capacity : highest > capacity)) {
    throw ShapeError(op,
                     "shape " + str(shape) + ", strides " + str(strides) + ", offset " + std::to_string(offset) +
                         " leave the buffer of " + std::to_string(int64_t(capacity)) + " elements",
                     "Every element must lie within the buffer");
  }
  return Array(x.buffer(), x.dtype(), shape, strides, offset);
}

bool any_bytes(const Array& x) noexcept { return x.dtype() == DType::bool_ && x && x.buffer()->has_any_bytes(); }

Array plain_bools(const Array& x, const Stream& stream) {
  return binary(Op::not_equal, view(x, DType::uint8), 0, {}, stream);
}

Array view(const Array& x, DType dtype) {
  const std::string op = require_open(x, Op::view);
  const int64_t from = itemsize(x.dtype()), to = itemsize(dtype);
  Dims shape = x.shape(), strides = x.strides();
  const auto refuse = [&](const std::string& cause) {
    throw ShapeError(op,
                     "got shape " + str(x.shape()) + " of " + std::string(name(x.dtype())) + " as " +
                         std::string(name(dtype)) + ": " + cause,
                     "Copy it first, or view it with a dtype of the same size");
  };
  if ((dtype == DType::bool_) != (x.dtype() == DType::bool_)) x.buffer()->note_any_bytes();
  if (from == to) return Array(x.buffer(), dtype, std::move(shape), std::move(strides), x.offset());
  if (x.ndim() == 0) refuse("a 0-d array has no axis to scale");
  const int last = x.ndim() - 1;
  if (shape[last] != 1 && strides[last] != 1) refuse("the last axis is not dense");
  if (shape[last] * from % to != 0) refuse("the last axis does not divide");
  const bool aligned = x.size() == 0 || reinterpret_cast<uintptr_t>(x.data_ptr()) % size_t(to) == 0;
  if (!aligned || x.offset() * from % to != 0) refuse("the first element is not aligned");
  shape[last] = shape[last] * from / to;
  strides[last] = 1;
  for (int d = 0; d < last; ++d) {
    if (shape[d] > 1 && strides[d] * from % to != 0)
      refuse("axis " + std::to_string(d) + " does not step by whole elements");
    strides[d] = strides[d] * from / to;
  }
  return Array(x.buffer(), dtype, std::move(shape), std::move(strides), x.offset() * from / to);
}

}  // namespace stator
