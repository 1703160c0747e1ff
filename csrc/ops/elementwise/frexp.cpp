#include "core/op_call.hpp"
#include "ops/collapse.hpp"
#include "params/elementwise.hpp"

#include <stator/elementwise.hpp>

#include <array>
#include <string>

namespace stator {

Fractions frexp(const Array& x, const Stream& stream) {
  OpCall call(Op::frexp, {&x}, stream);
  if (!in(x.dtype(), op_info(Op::frexp).dtypes))
    throw DTypeError(std::string(call.name()), "got an array of dtype " + std::string(name(x.dtype())),
                     "convert it to a floating dtype with astype");
  const std::array<const Array*, 1> inputs{&x};
  const Fractions result{empty_like(call, x.shape(), x.dtype(), inputs),
                         empty_like(call, x.shape(), DType::int32, inputs)};
  if (x.size() == 0) return result;
  call.reads(x);
  call.writes(result.mantissa);
  call.writes(result.exponent);
  kernels::elementwise::frexp(call.queue(), collapse(result.mantissa, inputs),
                              static_cast<int32_t*>(result.exponent.data_ptr()));
  return result;
}

}  // namespace stator
