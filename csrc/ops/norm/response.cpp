#include <stator/nn/norm.hpp>

#include "ops/checks.hpp"
#include "ops/norm/operands.hpp"
#include "params/norm.hpp"

#include <cmath>
#include <string>

namespace stator::nn {
namespace {

params::ResponseNorm response_parameters(const OpCall& call, const Array& x, int64_t size,
                                         const ResponseNormOptions& o) {
  const std::string op(call.name());
  check_input(call, x, 0);
  check_channels(call, x);
  if (size < 1) throw ValueError(op, "size=" + std::to_string(size), "pass a number of channels of at least 1");
  for (const auto& [what, value] : {std::pair{"alpha", o.alpha}, {"beta", o.beta}, {"k", o.k}})
    if (!std::isfinite(value))
      throw ValueError(op, std::string(what) + "=" + number_text(value), "pass a finite number");
  params::ResponseNorm p{};
  p.dtype = x.dtype();
  p.samples = x.shape()[0];
  p.channels = x.shape()[1];
  p.inner = 1;
  for (int d = 2; d < x.ndim(); ++d) p.inner *= x.shape()[d];
  p.size = size;
  p.alpha = o.alpha;
  p.beta = o.beta;
  p.k = o.k;
  return p;
}

}  // namespace

ResponseNormResult local_response_norm(const Array& x, int64_t size, const ResponseNormOptions& o,
                                       const Stream& stream) {
  OpCall call(Op::local_response_norm, {&x}, stream);
  params::ResponseNorm p = response_parameters(call, x, size, o);
  const auto input = dense_operand(call, &x);
  ResponseNormResult out{call.empty(x.shape(), x.dtype()), call.empty(x.shape(), x.dtype())};
  if (x.size() == 0) return out;
  call.writes(out.y);
  call.writes(out.denom);
  p.x = address(input);
  p.y = out.y.data_ptr();
  p.denom = out.denom.data_ptr();
  kernels::norm::response_norm(call.queue(), p);
  return out;
}

Array local_response_norm_backward(const Array& grad, const Array& x, const Array& denom, int64_t size,
                                   const ResponseNormOptions& o, const Stream& stream) {
  OpCall call(Op::local_response_norm_backward, {&grad, &x, &denom}, stream);
  params::ResponseNorm p = response_parameters(call, x, size, o);
  check_like(call, grad, "grad", x);
  check_like(call, denom, "denom", x);
  const auto slope = dense_operand(call, &grad), input = dense_operand(call, &x), divisor = dense_operand(call, &denom);
  Array out = call.empty(x.shape(), x.dtype());
  if (x.size() == 0) return out;
  call.writes(out);
  p.x = address(input);
  p.grad = address(slope);
  p.denom = divisor->data_ptr();
  p.y = out.data_ptr();
  kernels::norm::response_norm_backward(call.queue(), p);
  return out;
}

}  // namespace stator::nn
