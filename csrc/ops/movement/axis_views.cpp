// Views that add, drop, move or reverse axes: no kernel, no copy.
#include "core/context.hpp"
#include "memory/overlap.hpp"
#include "ops/axes.hpp"
#include "ops/movement/views.hpp"

#include <stator/creation.hpp>
#include <stator/movement.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace stator {
namespace {

Array with(const Array& x, Dims shape, Dims strides, int64_t offset) {
  return Array(x.buffer(), x.dtype(), std::move(shape), std::move(strides), offset);
}

}  // namespace

Array squeeze(const Array& x, const std::optional<std::vector<int64_t>>& axes) {
  const std::string op = require_open(x, Op::squeeze);
  const std::vector<bool> dropped = axes ? named_axes(op, *axes, x.ndim()) : std::vector<bool>();
  Dims shape, strides;
  for (int d = 0; d < x.ndim(); ++d) {
    if (axes ? !dropped[size_t(d)] : x.shape()[d] != 1) {
      shape.push_back(x.shape()[d]);
      strides.push_back(x.strides()[d]);
    } else if (x.shape()[d] != 1) {
      throw ShapeError(op, "axis " + std::to_string(d) + " of shape " + str(x.shape()) + " is not 1 long",
                       "name axes of extent 1, or index the axis");
    }
  }
  return with(x, std::move(shape), std::move(strides), x.offset());
}

Array expand_dims(const Array& x, std::span<const int64_t> axes) {
  const std::string op = require_open(x, Op::expand_dims);
  const int64_t ndim = x.ndim() + int64_t(axes.size());
  require_ndim(op, ndim);
  const std::vector<bool> added = named_axes(op, axes, int(ndim));
  Dims shape, strides;
  int at = 0;
  for (const bool fresh : added) {
    shape.push_back(fresh ? 1 : x.shape()[at]);
    strides.push_back(fresh ? 1 : x.strides()[at]);
    at += !fresh;
  }
  return with(x, std::move(shape), std::move(strides), x.offset());
}

Array moveaxis(const Array& x, std::span<const int64_t> source, std::span<const int64_t> destination) {
  const std::string op = require_open(x, Op::moveaxis);
  if (source.size() != destination.size())
    throw ShapeError(
        op, "got " + std::to_string(source.size()) + " axes to " + std::to_string(destination.size()) + " positions",
        "Name a position for each axis that moves");
  const std::vector<bool> moved = named_axes(op, source, x.ndim()), taken = named_axes(op, destination, x.ndim());
  std::vector<int> from(size_t(x.ndim()), -1);
  for (size_t k = 0; k < source.size(); ++k)
    from[size_t(normalize_axis(op, destination[k], x.ndim()))] = normalize_axis(op, source[k], x.ndim());
  Dims shape, strides;
  int rest = 0;
  for (int d : from) {
    if (d < 0) {
      while (moved[size_t(rest)]) ++rest;
      d = rest++;
    }
    shape.push_back(x.shape()[d]);
    strides.push_back(x.strides()[d]);
  }
  return with(x, std::move(shape), std::move(strides), x.offset());
}

Array flip(const Array& x, const std::optional<std::vector<int64_t>>& axes) {
  const std::string op = require_open(x, Op::flip);
  const std::vector<bool> turned = axes ? named_axes(op, *axes, x.ndim()) : std::vector<bool>(size_t(x.ndim()), true);
  Dims strides = x.strides();
  int64_t offset = x.offset();
  for (int d = 0; d < x.ndim(); ++d) {
    if (!turned[size_t(d)]) continue;
    offset += std::max<int64_t>(x.shape()[d] - 1, 0) * strides[d];
    strides[d] = -strides[d];
  }
  return with(x, x.shape(), std::move(strides), x.size() > 0 ? offset : x.offset());
}

Array matrix_transpose(const Array& x) {
  const std::string op = require_open(x, Op::matrix_transpose);
  const int last = x.ndim() - 1;
  if (last < 1)
    throw ShapeError(op, "shape " + str(x.shape()) + " is not a matrix", "pass an array of at least 2 axes");
  Dims shape = x.shape(), strides = x.strides();
  std::swap(shape[last], shape[last - 1]);
  std::swap(strides[last], strides[last - 1]);
  return with(x, std::move(shape), std::move(strides), x.offset());
}

Array diagonal(const Array& x, int64_t k) {
  const std::string op = require_open(x, Op::diagonal);
  const int col = x.ndim() - 1, row = col - 1;
  if (row < 0) throw ShapeError(op, "shape " + str(x.shape()) + " is not a matrix", "pass an array of at least 2 axes");
  const int64_t rows = x.shape()[row], cols = x.shape()[col];
  // Clamped first: the least int64 has no negation.
  const int64_t shift = std::clamp(k, -rows, cols);
  const int64_t length =
      std::max<int64_t>(std::min(rows + std::min<int64_t>(shift, 0), cols - std::max<int64_t>(shift, 0)), 0);
  Dims shape, strides;
  for (int d = 0; d < row; ++d) {
    shape.push_back(x.shape()[d]);
    strides.push_back(x.strides()[d]);
  }
  shape.push_back(length);
  strides.push_back(x.strides()[row] + x.strides()[col]);
  const int64_t start = shift > 0 ? shift * x.strides()[col] : -shift * x.strides()[row];
  const bool some = length > 0 && x.size() > 0;
  return with(x, std::move(shape), std::move(strides), x.offset() + (some ? start : 0));
}

std::vector<Array> unstack(const Array& x, int64_t axis) {
  const std::string op = require_open(x, Op::unstack);
  const int at = normalize_axis(op, axis, x.ndim());
  std::vector<Array> pieces;
  pieces.reserve(size_t(x.shape()[at]));
  for (int64_t i = 0; i < x.shape()[at]; ++i) {
    Dims shape, strides;
    for (int d = 0; d < x.ndim(); ++d) {
      if (d == at) continue;
      shape.push_back(x.shape()[d]);
      strides.push_back(x.strides()[d]);
    }
    const int64_t offset = x.size() > 0 ? i * x.strides()[at] : 0;
    pieces.push_back(with(x, std::move(shape), std::move(strides), x.offset() + offset));
  }
  return pieces;
}

std::vector<Array> broadcast_arrays(std::span<const Array> arrays) {
  Dims shape;
  for (const Array& x : arrays) shape = broadcast_shapes(require_open(x, Op::broadcast_arrays), shape, x.shape());
  std::vector<Array> views;
  for (const Array& x : arrays) views.push_back(broadcast_to(x, shape));
  return views;
}

std::vector<Array> meshgrid(std::span<const Array> arrays, bool swapped) {
  Dims shape;
  for (const Array& x : arrays) {
    const std::string op = require_open(x, Op::meshgrid);
    if (x.ndim() > 1)
      throw ShapeError(op, "got an array of shape " + str(x.shape()), "pass arrays of at most one axis");
    if (shape.size() == Dims::max_size)
      throw ShapeError(op, "got " + std::to_string(arrays.size()) + " arrays",
                       "at most " + std::to_string(Dims::max_size) + " axes are possible");
    shape.push_back(x.size());
  }
  const int axes = shape.size();
  const auto axis_of = [&](int k) { return swapped && axes > 1 && k < 2 ? 1 - k : k; };
  if (swapped && axes > 1) std::swap(shape[0], shape[1]);
  checked_size(op_info(Op::meshgrid).call, shape, 1);
  std::vector<Array> grids;
  for (int k = 0; k < axes; ++k) {
    const Array& x = arrays[size_t(k)];
    Dims strides(axes);
    strides[axis_of(k)] = x.ndim() > 0 ? x.strides()[0] : 0;
    grids.push_back(with(x, shape, std::move(strides), x.offset()));
  }
  return grids;
}

}  // namespace stator
