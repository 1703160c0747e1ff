// split, ravel and rot90: views, except where ravel must copy.
#include "ops/movement/views.hpp"

#include <stator/creation.hpp>
#include <stator/movement.hpp>

#include <algorithm>
#include <string>

namespace stator {
namespace {

Array part(const Array& x, int axis, int64_t begin, int64_t end) {
  Dims shape = x.shape();
  shape[axis] = std::max<int64_t>(end - begin, 0);
  return Array(x.buffer(), x.dtype(), std::move(shape), x.strides(), x.offset() + begin * x.strides()[axis]);
}

}  // namespace

std::vector<Array> split(const Array& x, int64_t sections, int64_t axis) {
  const std::string op = require_open(x, Op::split);
  const int at = normalize_axis(op, axis, x.ndim());
  if (sections <= 0) throw ValueError(op, "got " + std::to_string(sections) + " sections", "ask for at least one");
  const int64_t n = x.shape()[at], each = n / sections, longer = n % sections;
  std::vector<Array> pieces;
  pieces.reserve(size_t(sections));
  int64_t begin = 0;
  for (int64_t i = 0; i < sections; ++i) {
    const int64_t end = begin + each + (i < longer);
    pieces.push_back(part(x, at, begin, end));
    begin = end;
  }
  return pieces;
}

std::vector<Array> split(const Array& x, std::span<const int64_t> indices, int64_t axis) {
  const std::string op = require_open(x, Op::split);
  const int at = normalize_axis(op, axis, x.ndim());
  const int64_t n = x.shape()[at];
  std::vector<Array> pieces;
  int64_t begin = 0;
  const auto bound = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + n : i, 0, n); };
  for (int64_t index : indices) {
    pieces.push_back(part(x, at, begin, bound(index)));
    begin = bound(index);
  }
  pieces.push_back(part(x, at, begin, n));
  return pieces;
}

Array ravel(const Array& x, const Stream& stream) {
  require_open(x, Op::ravel);
  const int64_t shape[] = {x.size()};
  return reshape(x, shape, {}, stream);
}

Array rot90(const Array& x, int64_t k, int64_t first, int64_t second) {
  const std::string op = require_open(x, Op::rot90);
  if (x.ndim() < 2) throw ShapeError(op, "shape " + str(x.shape()) + " has no two axes", "turn a matrix");
  const int a = normalize_axis(op, first, x.ndim()), b = normalize_axis(op, second, x.ndim());
  if (a == b) throw AxisError(op, "got axis " + std::to_string(a) + " twice", "name two axes");
  Dims shape = x.shape(), strides = x.strides();
  int64_t offset = x.offset();
  const auto reverse = [&](int d) {
    if (shape[d] > 0) offset += (shape[d] - 1) * strides[d];
    strides[d] = -strides[d];
  };
  const auto exchange = [&] {
    std::swap(shape[a], shape[b]);
    std::swap(strides[a], strides[b]);
  };
  switch ((k % 4 + 4) % 4) {
    case 1: reverse(b), exchange(); break;
    case 2: reverse(a), reverse(b); break;
    case 3: exchange(), reverse(b); break;
    default: break;
  }
  if (x.size() == 0) offset = x.offset();
  return Array(x.buffer(), x.dtype(), std::move(shape), std::move(strides), offset);
}

}  // namespace stator
