#include <stator/creation.hpp>
#include <stator/nn/resampling.hpp>

#include "core/op_call.hpp"

#include <string>

namespace stator::nn {
namespace {

// Copies x to a new array of that shape. Both are read in the order of the axes (..., c, r, r, h, w), of which shuffled
// arrays have the positions h r + i and w r + j on two axes.
Array shuffled(OpCall& call, const Array& x, Dims shape, int64_t r, bool shuffle) {
  Array out = call.empty(shape, x.dtype());
  if (out.size() == 0) return out;
  const auto split = [&](const Array& a, bool fine) {
    const int lead = a.ndim() - 3;
    const Dims &s = a.shape(), &t = a.strides();
    Dims extents(lead + 5), strides(lead + 5);
    for (int d = 0; d < lead; ++d) {
      extents[d] = s[d];
      strides[d] = t[d];
    }
    const int64_t c = fine ? s[lead] : s[lead] / (r * r), h = fine ? s[lead + 1] / r : s[lead + 1],
                  w = fine ? s[lead + 2] / r : s[lead + 2];
    const int64_t each[] = {c, r, r, h, w};
    const int64_t coarse_step[] = {t[lead] * r * r, t[lead] * r, t[lead], t[lead + 1], t[lead + 2]};
    const int64_t fine_step[] = {t[lead], t[lead + 1], t[lead + 2], t[lead + 1] * r, t[lead + 2] * r};
    for (int d = 0; d < 5; ++d) {
      extents[lead + d] = each[d];
      strides[lead + d] = fine ? fine_step[d] : coarse_step[d];
    }
    return Array(a.buffer(), a.dtype(), extents, strides, a.offset());
  };
  assign(split(out, shuffle), split(x, !shuffle), call.on());
  return out;
}

void check_factor(const OpCall& call, const Array& x, int64_t factor) {
  const std::string op(call.name());
  if (x.ndim() < 3)
    throw ShapeError(op, "x " + str(x.shape()) + " has fewer than three axes",
                     "pass an array of shape (..., channels, h, w)");
  // A square of it fits into 64 bits.
  if (factor < 1 || factor > (int64_t(1) << 31))
    throw ValueError(op, "got a factor of " + std::to_string(factor), "pass a positive integer");
}

}  // namespace

Array pixel_shuffle(const Array& x, int64_t factor, const Stream& stream) {
  OpCall call(Op::pixel_shuffle, {&x}, stream);
  check_factor(call, x, factor);
  Dims shape = x.shape();
  const int lead = x.ndim() - 3;
  if (shape[lead] % (factor * factor) != 0)
    throw ShapeError(std::string(call.name()),
                     "got " + std::to_string(shape[lead]) + " channels of x " + str(x.shape()) +
                         " with upscale_factor " + std::to_string(factor),
                     "pass a number of channels that the factor's square divides");
  const int64_t channels = shape[lead] / (factor * factor);
  shape[lead] = channels;
  for (int d = lead + 1; d < x.ndim(); ++d) {
    if (__builtin_mul_overflow(x.shape()[d], factor, &shape[d]))
      throw ShapeError(std::string(call.name()), "the result is too large", "pass a smaller factor");
  }
  checked_size(call.name(), shape, itemsize(x.dtype()));
  return shuffled(call, x, shape, factor, true);
}

Array pixel_unshuffle(const Array& x, int64_t factor, const Stream& stream) {
  OpCall call(Op::pixel_unshuffle, {&x}, stream);
  check_factor(call, x, factor);
  Dims shape = x.shape();
  const int lead = x.ndim() - 3;
  for (int d = lead + 1; d < x.ndim(); ++d) {
    if (shape[d] % factor != 0)
      throw ShapeError(std::string(call.name()),
                       "got x " + str(x.shape()) + " with downscale_factor " + std::to_string(factor),
                       "pass a height and a width that the factor divides");
    shape[d] /= factor;
  }
  if (__builtin_mul_overflow(x.shape()[lead], factor * factor, &shape[lead]))
    throw ShapeError(std::string(call.name()), "the result is too large", "pass a smaller factor");
  checked_size(call.name(), shape, itemsize(x.dtype()));
  return shuffled(call, x, shape, factor, false);
}

}  // namespace stator::nn
