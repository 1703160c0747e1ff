#include <stator/random.hpp>

#include "core/op_call.hpp"
#include "params/random.hpp"

#include <cmath>
#include <cstdio>
#include <string>

namespace stator::random {
namespace {

std::string text(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", value);
  return buffer;
}

[[noreturn]] void refuse(Op op, const char* a, double first, const char* b, double second, const char* remedy) {
  throw ValueError(std::string(op_info(op).call), std::string(a) + "=" + text(first) + ", " + b + "=" + text(second),
                   remedy);
}

using Launcher = kernels::Launcher<void(const params::Queue&, const params::Random&)>;

struct Distribution {
  Op op;
  const Launcher& launcher;
  double a, b = 0;
};

Array draw(const Distribution& of, const Backend& backend, State& state, const Dims& shape, DType dtype,
           const Stream& stream) {
  const Op op = of.op;
  const OpInfo& entry = op_info(op);
  if (!in(dtype, entry.dtypes))
    throw DTypeError(std::string(entry.call), "dtype=" + std::string(name(dtype)),
                     op == Op::poisson ? "the dtype must be an integer one. Convert the result with astype"
                                       : "the dtype must be floating. Convert the result with astype");
  checked_size(entry.call, shape, itemsize(dtype));
  OpCall call(op, backend, stream);
  Array result = call.empty(shape, dtype);
  const int64_t size = result.size();
  if (size == 0) return result;
  call.writes(result);
  const params::Random p{.out = result.data_ptr(),
                         .dtype = dtype,
                         .size = size,
                         .from = call.draws(state.seed, state.counter),
                         .a = of.a,
                         .b = of.b};
  of.launcher(call.queue(), p);
  // Elements per Philox block.
  const int64_t each = op == Op::gamma || op == Op::poisson ? 1 : dtype == DType::float64 ? 2 : 4;
  state.counter += uint64_t((size - 1) / each + 1);
  return result;
}

// Whether the number is finite in the dtype.
bool holds(DType dtype, double value) {
  return visit(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16> || std::is_same_v<T, float>)
      return std::isfinite(float(T(float(value))));
    else
      return true;
  });
}

}  // namespace

Array uniform(const Backend& backend, State& state, const Dims& shape, double low, double high, DType dtype,
              const Stream& stream) {
  if (!(low <= high) || !std::isfinite(high - low) || !std::isfinite(low))
    refuse(Op::uniform, "low", low, "high", high, "pass finite bounds with low <= high");
  if (!holds(dtype, low) || !holds(dtype, high))
    refuse(Op::uniform, "low", low, "high", high,
           "the bounds must be finite in the dtype. Pass others, or a wider dtype");
  return draw({Op::uniform, kernels::random::uniform, low, high}, backend, state, shape, dtype, stream);
}

Array normal(const Backend& backend, State& state, const Dims& shape, double mean, double deviation, DType dtype,
             const Stream& stream) {
  if (!(deviation >= 0) || !std::isfinite(deviation) || !std::isfinite(mean))
    refuse(Op::normal, "mean", mean, "deviation", deviation, "pass finite numbers with deviation >= 0");
  return draw({Op::normal, kernels::random::normal, mean, deviation}, backend, state, shape, dtype, stream);
}

Array exponential(const Backend& backend, State& state, const Dims& shape, double scale, DType dtype,
                  const Stream& stream) {
  if (!(scale >= 0) || !std::isfinite(scale))
    throw ValueError(std::string(op_info(Op::exponential).call), "scale=" + text(scale), "pass a finite scale >= 0");
  return draw({Op::exponential, kernels::random::exponential, scale}, backend, state, shape, dtype, stream);
}

Array gamma(const Backend& backend, State& state, const Dims& shape, double alpha, double scale, DType dtype,
            const Stream& stream) {
  if (!(alpha > 0) || !std::isfinite(alpha) || !(scale >= 0) || !std::isfinite(scale))
    refuse(Op::gamma, "shape", alpha, "scale", scale, "pass finite numbers, shape > 0 and scale >= 0");
  return draw({Op::gamma, kernels::random::gamma, alpha, scale}, backend, state, shape, dtype, stream);
}

Array poisson(const Backend& backend, State& state, const Dims& shape, double mean, DType dtype, const Stream& stream) {
  if (!(mean >= 0) || mean > 9.2e18)
    throw ValueError(std::string(op_info(Op::poisson).call), "lam=" + text(mean), "pass a mean from 0 to 9.2e18");
  return draw({Op::poisson, kernels::random::poisson, mean}, backend, state, shape, dtype, stream);
}

}  // namespace stator::random
