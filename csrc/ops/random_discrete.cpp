#include "core/op_call.hpp"
#include "ops/scalar.hpp"

#include <stator/creation.hpp>
#include <stator/indexing.hpp>
#include <stator/random.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace stator::random {
namespace {

int64_t blocks_of(int64_t draws, int64_t each) { return draws == 0 ? 0 : (draws - 1) / each + 1; }

uint64_t bits_of(std::string_view op, const Scalar& value, DType dtype) {
  unsigned char bytes[16];
  encode(op, value, dtype, bytes);  // ValueError when it does not fit
  return uint64_t(value.i);
}

// The distribution function, from the last outcome that is possible on exactly 1.
std::vector<double> distribution(Op which, const std::vector<double>& p) {
  const std::string op(op_info(which).call);
  double sum = 0, lost = 0;  // Neumaier's sum
  std::vector<double> cdf;
  cdf.reserve(p.size());
  for (size_t i = 0; i < p.size(); ++i) {
    if (!(p[i] >= 0) || !std::isfinite(p[i]))
      throw ValueError(op, "p[" + std::to_string(i) + "] is " + std::to_string(p[i]), "probabilities are from 0 to 1");
    const double next = sum + p[i];
    lost += std::abs(sum) >= p[i] ? (sum - next) + p[i] : (p[i] - next) + sum;
    sum = next;
    cdf.push_back(sum + lost);
  }
  if (cdf.empty() || std::abs(cdf.back() - 1) > 1.5e-8)
    throw ValueError(op, "probabilities sum to " + std::to_string(cdf.empty() ? 0 : cdf.back()),
                     "divide them by their sum, in float64");
  const double total = cdf.back();
  for (double& x : cdf) x = x == total ? 1 : x / total;
  return cdf;
}

Array upload(OpCall& call, const Backend& backend, const void* data, DType dtype, int64_t n) {
  return from_host(backend, data, dtype, Dims{n}, Dims{1}, false, Stream(Ref<StreamBox>(&call.stream())));
}

// Exponential races: the k smallest of -log(u) / p, in order, are k draws without replacement (Efraimidis and Spirakis,
// Information Processing Letters 97, 2006).
std::vector<int64_t> race(const OpCall& call, State& state, const std::vector<double>& p, int64_t k) {
  std::vector<std::pair<double, int64_t>> times;
  uint32_t words[4] = {};
  for (size_t i = 0; i < p.size(); ++i) {
    if (i % 2 == 0) call.kernels().random.philox(state.seed, state.counter + i / 2, 0, words);
    const uint32_t* w = words + 2 * (i % 2);
    const double u = (double(uint64_t(w[0] >> 5) << 26 | w[1] >> 6) + 1) * 0x1p-53;
    if (p[i] > 0) times.push_back({-std::log(u) / p[i], int64_t(i)});
  }
  if (int64_t(times.size()) < k)
    throw ValueError(std::string(call.name()),
                     std::to_string(times.size()) + " probabilities are not 0, " + std::to_string(k) + " are drawn",
                     "draw with replacement, or fewer");
  std::partial_sort(times.begin(), times.begin() + k, times.end());
  std::vector<int64_t> winners;
  for (int64_t i = 0; i < k; ++i) winners.push_back(times[size_t(i)].second);
  state.counter += uint64_t(blocks_of(int64_t(p.size()), 2));
  return winners;
}

Array in_shape(const Array& flat, const Dims& shape) {
  return Array(flat.buffer(), flat.dtype(), shape, contiguous_strides(shape), flat.offset());
}

}  // namespace

Array integers(const Backend& backend, State& state, const Dims& shape, Scalar low, Scalar last, DType dtype,
               const Stream& stream) {
  OpCall call(Op::integers, backend, stream);
  const std::string op(call.name());
  if (!in(dtype, dtypes::integers))
    throw DTypeError(op, "dtype=" + std::string(name(dtype)), "draw an integer dtype, then astype");
  if (!is_integer(low) || !is_integer(last)) throw DTypeError(op, "bounds that are not integers", "pass integers");
  const uint64_t first = bits_of(op, low, dtype), end = bits_of(op, last, dtype);
  const bool empty = kind_of(dtype) == Kind::unsigned_integer ? first > end : int64_t(first) > int64_t(end);
  if (empty) throw ValueError(op, "low is not below high", "leave at least one number to draw");
  checked_size(op, shape, itemsize(dtype));
  Array result = call.empty(shape, dtype);
  const int64_t size = result.size();
  if (size == 0) return result;
  call.writes(result);
  const uint64_t range = end - first + 1;
  call.kernels().random.integers(call.queue(),
                                 {result.data_ptr(), itemsize(dtype), size, state.seed, state.counter, first, range});
  state.counter += uint64_t(blocks_of(size, range > 0 && range <= uint64_t(1) << 32 ? 4 : 2));
  return result;
}

Array bernoulli(const Backend& backend, State& state, const Dims& shape, double p, DType dtype, const Stream& stream) {
  OpCall call(Op::bernoulli, backend, stream);
  const std::string op(call.name());
  if (!(p >= 0) || p > 1) throw ValueError(op, "p=" + std::to_string(p), "a probability is from 0 to 1");
  checked_size(op, shape, itemsize(dtype));
  Array result = call.empty(shape, dtype);
  if (result.size() == 0) return result;
  call.writes(result);
  abi::Bernoulli b{result.data_ptr(),
                   itemsize(dtype),
                   result.size(),
                   state.seed,
                   state.counter,
                   uint64_t(std::ceil(p * 0x1p32)),
                   {}};
  encode(op, Scalar(true), dtype, b.one);
  call.kernels().random.bernoulli(call.queue(), b);
  state.counter += uint64_t(blocks_of(result.size(), 4));
  return result;
}

Array permutation(const Backend& backend, State& state, int64_t n, int64_t count, const Stream& stream) {
  OpCall call(Op::permutation, backend, stream);
  if (n < 0 || count < 0 || count > n)
    throw ValueError(std::string(call.name()), std::to_string(count) + " of " + std::to_string(n), "draw at most n");
  Array result = call.empty(Dims{count}, DType::int64);
  if (count == 0) return result;
  call.writes(result);
  const auto& kernels = call.kernels().random;
  kernels.permutation(call.queue(), {static_cast<int64_t*>(result.data_ptr()), count, n, state.seed, state.counter});
  state.counter += uint64_t(kernels.permutation_blocks(n));
  return result;
}

Array permutation(const Array& x, State& state, int64_t axis, const Stream& stream) {
  OpCall call(Op::permutation, {&x}, stream);
  const std::string op(call.name());
  if (x.ndim() == 0) throw AxisError(op, "x is 0-dimensional", "pass an array of at least one axis");
  const int at = normalize_axis(op, axis, x.ndim());
  const int64_t n = x.shape()[at];
  return take(x, permutation(x.backend(), state, n, n, stream), at, nullptr, stream);
}

Array choice(const Backend& backend, State& state, const Dims& shape, int64_t n, bool replace,
             const std::vector<double>* p, const Stream& stream) {
  OpCall call(Op::choice, backend, stream);
  const std::string op(call.name());
  const int64_t size = checked_size(op, shape, 8);
  if (p && int64_t(p->size()) != n)
    throw ShapeError(op, std::to_string(p->size()) + " probabilities for " + std::to_string(n) + " outcomes",
                     "give one each");
  if (n < 0 || (n == 0 && size > 0)) throw ValueError(op, "nothing to choose from", "pass at least one outcome");
  if (!replace && size > n)
    throw ValueError(op, std::to_string(size) + " of " + std::to_string(n) + " without replacement",
                     "draw fewer, or with replacement");
  if (!p && !replace) return in_shape(permutation(backend, state, n, size, stream), shape);
  if (!p && size > 0) return integers(backend, state, shape, Scalar(int64_t(0)), Scalar(n - 1), DType::int64, stream);
  if (!p) return call.empty(shape, DType::int64);
  const std::vector<double> cdf = distribution(Op::choice, *p);
  if (!replace) return in_shape(upload(call, backend, race(call, state, *p, size).data(), DType::int64, size), shape);
  Array result = call.empty(shape, DType::int64);
  if (size == 0) return result;
  const Array weights = upload(call, backend, cdf.data(), DType::float64, n);
  call.reads(weights);
  call.writes(result);
  call.kernels().random.categorical(
      call.queue(), {static_cast<const double*>(weights.data_ptr()), static_cast<int64_t*>(result.data_ptr()), n, size,
                     state.seed, state.counter});
  state.counter += uint64_t(blocks_of(size, 2));
  return result;
}

Array multinomial(const Backend& backend, State& state, const Dims& shape, int64_t n, const std::vector<double>& p,
                  const Stream& stream) {
  OpCall call(Op::multinomial, backend, stream);
  const std::string op(call.name());
  if (n < 0) throw ValueError(op, "n=" + std::to_string(n), "a number of trials is not negative");
  std::vector<double> chances = distribution(Op::multinomial, p);
  for (size_t i = chances.size(); i-- > 0;) {
    const double before = i == 0 ? 0 : chances[i - 1];
    chances[i] = chances[i] == 1 ? 1 : p[i] / (1 - before);
  }
  Dims wide = shape;
  wide.push_back(int64_t(p.size()));
  checked_size(op, wide, 8);
  Array result = call.empty(wide, DType::int64);
  if (result.size() == 0) return result;
  const int64_t outcomes = int64_t(p.size()), experiments = result.size() / outcomes;
  const Array on_device = upload(call, backend, chances.data(), DType::float64, outcomes);
  call.reads(on_device);
  call.writes(result);
  call.kernels().random.multinomial(
      call.queue(), {static_cast<const double*>(on_device.data_ptr()), static_cast<int64_t*>(result.data_ptr()),
                     outcomes, n, experiments, state.seed, state.counter});
  state.counter += uint64_t(result.size());
  return result;
}

std::vector<State> spawn(const Backend& backend, State& state, int64_t count) {
  OpCall call(Op::seed, backend, {});
  if (count < 0) throw ValueError("random.spawn", std::to_string(count) + " generators", "ask for none or more");
  std::vector<State> children;
  for (int64_t i = 0; i < count; ++i) {
    uint32_t words[4];  // of a block whose upper counter no draw ever has
    call.kernels().random.philox(state.seed, state.counter + uint64_t(i), ~uint64_t(0), words);
    children.push_back({words[0] | uint64_t(words[1]) << 32, 0});
  }
  state.counter += uint64_t(count);
  return children;
}

}  // namespace stator::random

namespace stator::nn {
namespace {

Array masked(Op which, const Array& x, double p, const random::State& state, const Stream& stream) {
  OpCall call(which, {&x}, stream);
  const std::string op(call.name());
  if (!in(x.dtype(), dtypes::floats))
    throw DTypeError(op, "an array of " + std::string(name(x.dtype())), "convert it to a floating dtype");
  if (!(p >= 0) || p > 1) throw ValueError(op, "p=" + std::to_string(p), "a probability is from 0 to 1");
  Array result = call.empty(x.shape(), x.dtype());
  if (result.size() == 0) return result;
  abi::Dropout d{};
  d.x = x.data_ptr();
  d.out = result.data_ptr();
  d.dtype = x.dtype();
  d.size = x.size();
  d.seed = state.seed;
  d.offset = state.counter;
  d.threshold = uint64_t(std::ceil(p * 0x1p32));
  d.scale = p < 1 ? 1 / (1 - p) : 0;
  if (!x.is_contiguous()) {
    d.ndim = x.ndim();
    std::copy(x.shape().begin(), x.shape().end(), d.shape);
    std::copy(x.strides().begin(), x.strides().end(), d.strides);
  }
  call.reads(x);
  call.writes(result);
  call.kernels().random.dropout(call.queue(), d);
  return result;
}

}  // namespace

Array dropout(const Array& x, double p, const random::State& state, random::State* next, const Stream& stream) {
  Array result = masked(Op::dropout, x, p, state, stream);
  if (next) *next = {state.seed, state.counter + uint64_t((x.size() + 3) / 4)};
  return result;
}

Array dropout_backward(const Array& grad, double p, const random::State& state, const Stream& stream) {
  return masked(Op::dropout_backward, grad, p, state, stream);
}

}  // namespace stator::nn
