#include "ops/quantization/operands.hpp"

#include <stator/creation.hpp>

#include <cmath>

namespace stator::nn {

Limits byte_limits(const OpCall& call, DType dtype, std::optional<int64_t> low, std::optional<int64_t> high) {
  const std::string op(call.name());
  if (dtype != DType::int8 && dtype != DType::uint8)
    throw DTypeError(op, "dtype=" + std::string(name(dtype)), "pass int8 or uint8");
  const Limits whole = dtype == DType::int8 ? Limits{-128, 127} : Limits{0, 255};
  const Limits result{low.value_or(whole.low), high.value_or(whole.high)};
  if (result.low < whole.low || result.high > whole.high || result.low >= result.high)
    throw ValueError(op, "quant_min=" + std::to_string(result.low) + " and quant_max=" + std::to_string(result.high),
                     "pass increasing numbers from " + std::to_string(whole.low) + " to " + std::to_string(whole.high) +
                         " for " + std::string(name(dtype)));
  return result;
}

void check_byte(const OpCall& call, const Array& q, const char* what) {
  if (q.dtype() != DType::int8 && q.dtype() != DType::uint8)
    throw DTypeError(std::string(call.name()), "got " + std::string(what) + " of " + std::string(name(q.dtype())),
                     "pass int8 or uint8, as quantize gives them");
}

void check_scale(const OpCall& call, const QuantizationNumber& scale, const char* what) {
  if (scale.array) return check_floating(call, *scale.array, what);
  if (!(scale.number > 0) || !std::isfinite(scale.number))
    throw ValueError(std::string(call.name()), std::string(what) + "=" + number_text(scale.number),
                     "pass a positive finite number");
}

void check_zero(const OpCall& call, const QuantizationNumber& zero, const char* what, Limits limits, bool floating) {
  const std::string op(call.name());
  if (zero.array) {
    const DType dtype = zero.array->dtype();
    if (!in(dtype, floating ? dtypes::integers | dtypes::floats : dtypes::integers))
      throw DTypeError(op, "got " + std::string(what) + " of " + std::string(name(dtype)),
                       floating ? "pass integers, or floating zero points" : "pass an integer dtype");
    return;
  }
  if (!(zero.number >= double(limits.low) && zero.number <= double(limits.high)))
    throw ValueError(op, std::string(what) + "=" + number_text(zero.number),
                     "pass a number from " + std::to_string(limits.low) + " to " + std::to_string(limits.high));
}

const void* dense(OpCall& call, const Array& x, std::vector<Array>& operands) {
  operands.push_back(x.is_contiguous() ? x : copy(x, call.on()));
  call.reads(operands.back());
  return operands.back().data_ptr();
}

}  // namespace stator::nn
