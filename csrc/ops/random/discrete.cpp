#include "core/op_call.hpp"
#include "ops/random/blocks.hpp"
#include "ops/scalar.hpp"
#include "params/random.hpp"

#include <stator/indexing.hpp>
#include <stator/random.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace stator::random {
namespace {

uint64_t integer_bits(std::string_view op, const Scalar& value, DType dtype) {
  unsigned char bytes[16];
  encode(op, value, dtype, bytes);  // ValueError when it does not fit
  return uint64_t(value.i);
}

}  // namespace

Array integers(const Backend& backend, State& state, const Dims& shape, Scalar low, Scalar last, DType dtype,
               const Stream& stream) {
  OpCall call(Op::integers, backend, stream);
  const std::string op(call.name());
  if (!in(dtype, dtypes::integers))
    throw DTypeError(op, "dtype=" + std::string(name(dtype)),
                     "the dtype must be an integer one. Convert the result with astype");
  if (!is_integer(low) || !is_integer(last))
    throw DTypeError(op, "got bounds that are not integers", "low and high must be integers");
  const uint64_t first = integer_bits(op, low, dtype), end = integer_bits(op, last, dtype);
  const bool empty = kind_of(dtype) == Kind::unsigned_integer ? first > end : int64_t(first) > int64_t(end);
  if (empty) throw ValueError(op, "got bounds without a number between them", "pass a low that is less than high");
  checked_size(op, shape, itemsize(dtype));
  Array result = call.empty(shape, dtype);
  const int64_t size = result.size();
  if (size == 0) return result;
  call.writes(result);
  const uint64_t range = end - first + 1;
  kernels::random::integers(call.queue(), {.out = result.data_ptr(),
                                           .itemsize = itemsize(dtype),
                                           .size = size,
                                           .from = call.draws(state.seed, state.counter),
                                           .low = first,
                                           .range = range});
  state.counter += uint64_t(blocks_of(size, range > 0 && range <= uint64_t(1) << 32 ? 4 : 2));
  return result;
}

Array bernoulli(const Backend& backend, State& state, const Dims& shape, double p, DType dtype, const Stream& stream) {
  OpCall call(Op::bernoulli, backend, stream);
  const std::string op(call.name());
  if (!(p >= 0) || p > 1) throw ValueError(op, "p=" + std::to_string(p), "a probability must be from 0 to 1");
  checked_size(op, shape, itemsize(dtype));
  Array result = call.empty(shape, dtype);
  if (result.size() == 0) return result;
  call.writes(result);
  params::Bernoulli b{.out = result.data_ptr(),
                      .itemsize = itemsize(dtype),
                      .size = result.size(),
                      .from = call.draws(state.seed, state.counter),
                      .threshold = uint64_t(std::ceil(p * 0x1p32)),
                      .one = {}};
  encode(op, Scalar(true), dtype, b.one);
  kernels::random::bernoulli(call.queue(), b);
  state.counter += uint64_t(blocks_of(result.size(), 4));
  return result;
}

Array permutation(const Backend& backend, State& state, int64_t n, int64_t count, const Stream& stream) {
  OpCall call(Op::permutation, backend, stream);
  if (n < 0) throw ValueError(std::string(call.name()), "n=" + std::to_string(n), "the number must be at least 0");
  if (count < 0 || count > n)
    throw ValueError(std::string(call.name()), "got " + std::to_string(count) + " of " + std::to_string(n) + " numbers",
                     "draw from 0 to " + std::to_string(n));
  Array result = call.empty(Dims{count}, DType::int64);
  if (count == 0) return result;
  call.writes(result);
  kernels::random::permutation(call.queue(), {.out = static_cast<int64_t*>(result.data_ptr()),
                                              .size = count,
                                              .n = n,
                                              .from = call.draws(state.seed, state.counter)});
  state.counter += uint64_t(kernels::random::permutation_blocks(call.limits(), n));
  return result;
}

Array permutation(const Array& x, State& state, int64_t axis, const Stream& stream) {
  OpCall call(Op::permutation, {&x}, stream);
  const std::string op(call.name());
  if (x.ndim() == 0) throw AxisError(op, "the array is 0-dimensional", "pass an array of at least one axis");
  const int at = normalize_axis(op, axis, x.ndim());
  const int64_t n = x.shape()[at];
  return take(x, permutation(x.backend(), state, n, n, stream), at, nullptr, stream);
}

std::vector<State> spawn(const Backend& backend, State& state, int64_t count) {
  OpCall call(Op::seed, backend, {});
  if (count < 0)
    throw ValueError("random.spawn", "got " + std::to_string(count) + " generators", "the number must be at least 0");
  std::vector<State> children;
  children.reserve(size_t(count));
  for (int64_t i = 0; i < count; ++i) {
    uint32_t bits[4];  // of a Philox block whose upper counter no draw ever has
    kernels::random::philox(call.limits(), state.seed, state.counter + uint64_t(i), ~uint64_t(0), bits);
    children.push_back({bits[0] | uint64_t(bits[1]) << 32, 0});
  }
  state.counter += uint64_t(count);
  return children;
}

}  // namespace stator::random

namespace stator::nn {
namespace {

Array masked(Op which, const Array& x, double p, const random::State& state, const Stream& stream,
             const Array* residual = nullptr) {
  OpCall call(which, {&x, residual}, stream);
  const std::string op(call.name());
  if (!in(x.dtype(), dtypes::floats))
    throw DTypeError(op, "got an array of " + std::string(name(x.dtype())),
                     "the array must be floating. Convert it with astype");
  if (!(p >= 0) || p > 1) throw ValueError(op, "p=" + std::to_string(p), "a probability must be from 0 to 1");
  if (residual && !(residual->shape() == x.shape()))
    throw ShapeError(op, "got a residual " + str(residual->shape()) + " for x " + str(x.shape()),
                     "both must have one shape");
  if (residual && residual->dtype() != x.dtype())
    throw DTypeError(op,
                     "got a residual of dtype " + std::string(name(residual->dtype())) + " for x of dtype " +
                         std::string(name(x.dtype())),
                     "convert one with astype");
  Array result = call.empty(x.shape(), x.dtype());
  if (result.size() == 0) return result;
  params::Dropout d{};
  d.x = x.data_ptr();
  d.out = result.data_ptr();
  d.dtype = x.dtype();
  d.size = x.size();
  d.from = call.draws(state.seed, state.counter);
  d.threshold = uint64_t(std::ceil(p * 0x1p32));
  d.scale = p < 1 ? 1 / (1 - p) : 0;
  if (residual) d.residual = residual->data_ptr();
  if (!x.is_contiguous() || (residual && !residual->is_contiguous())) {
    d.ndim = x.ndim();
    std::copy(x.shape().begin(), x.shape().end(), d.shape);
    std::copy(x.strides().begin(), x.strides().end(), d.strides);
    if (residual) std::copy(residual->strides().begin(), residual->strides().end(), d.residual_strides);
  }
  call.reads(x);
  if (residual) call.reads(*residual);
  call.writes(result);
  kernels::random::dropout(call.queue(), d);
  return result;
}

}  // namespace

Array dropout(const Array& x, double p, const random::State& state, random::State* next, const Stream& stream) {
  Array result = masked(Op::dropout, x, p, state, stream);
  if (next) *next = {state.seed, state.counter + uint64_t((x.size() + 3) / 4)};
  return result;
}

Array dropout_add(const Array& x, const Array& residual, double p, const random::State& state, random::State* next,
                  const Stream& stream) {
  Array result = masked(Op::dropout_add, x, p, state, stream, &residual);
  if (next) *next = {state.seed, state.counter + uint64_t((x.size() + 3) / 4)};
  return result;
}

Array dropout_backward(const Array& grad, double p, const random::State& state, const Stream& stream) {
  return masked(Op::dropout_backward, grad, p, state, stream);
}

}  // namespace stator::nn
