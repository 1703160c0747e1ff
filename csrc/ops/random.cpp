#include <stator/random.hpp>

#include "core/op_call.hpp"

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

Array draw(Op op, const Backend& backend, State& state, const Dims& shape, double a, double b, DType dtype,
           const Stream& stream) {
  const OpInfo& row = op_info(op);
  if (!in(dtype, row.dtypes))
    throw DTypeError(std::string(row.call), "dtype=" + std::string(name(dtype)), "draw a floating dtype, then astype");
  checked_size(row.call, shape, itemsize(dtype));
  OpCall call(op, backend, stream);
  Array result = call.empty(shape, dtype);
  const int64_t size = result.size();
  if (size == 0) return result;
  call.writes(result);
  const abi::Random p{result.data_ptr(), dtype, size, state.seed, state.offset, a, b};
  const kernels::RandomTable& kernels = call.kernels().random;
  (op == Op::uniform ? kernels.uniform : kernels.normal)(call.queue(), p);
  const int64_t each = dtype == DType::float64 ? 2 : 4;  // elements of a Philox block
  state.offset += uint64_t((size - 1) / each + 1);
  return result;
}

}  // namespace

Array uniform(const Backend& backend, State& state, const Dims& shape, double low, double high, DType dtype,
              const Stream& stream) {
  if (!(low <= high) || !std::isfinite(high - low) || !std::isfinite(low))
    refuse(Op::uniform, "low", low, "high", high, "pass finite bounds with low <= high");
  return draw(Op::uniform, backend, state, shape, low, high, dtype, stream);
}

Array normal(const Backend& backend, State& state, const Dims& shape, double mean, double deviation, DType dtype,
             const Stream& stream) {
  if (!(deviation >= 0) || !std::isfinite(deviation) || !std::isfinite(mean))
    refuse(Op::normal, "mean", mean, "deviation", deviation, "pass finite numbers with deviation >= 0");
  return draw(Op::normal, backend, state, shape, mean, deviation, dtype, stream);
}

}  // namespace stator::random
