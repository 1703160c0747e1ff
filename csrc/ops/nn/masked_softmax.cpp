#include <stator/nn/nn.hpp>

#include "ops/checks.hpp"
#include "ops/collapse.hpp"
#include "ops/nn/softmax.hpp"
#include "params/nn.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace stator::nn {
namespace {

using params::MaskedSoftmax;

// The lines along `axis`; their other axes stay as they are.
void set_lines(MaskedSoftmax& p, const Array& x, const Array* saved, const Array& y, int axis) {
  p.of.x = x.data_ptr();
  p.of.saved = saved ? saved->data_ptr() : nullptr;
  p.of.y = y.data_ptr();
  p.of.dtype = x.dtype();
  p.of.out_dtype = y.dtype();
  p.of.n = x.ndim() ? x.shape()[axis] : 1;
  p.of.rows = x.size() / p.of.n;
  p.of.x_step = x.ndim() ? x.strides()[axis] : 1;
  p.of.saved_step = saved && x.ndim() ? saved->strides()[axis] : 1;
  p.of.y_step = x.ndim() ? y.strides()[axis] : 1;
  int64_t index_stride = 1;
  int64_t index_strides[params::max_dims] = {};
  for (int d = x.ndim() - 1; d >= 0; --d) {
    index_strides[d] = index_stride;
    index_stride *= x.shape()[d];
  }
  p.index_step = x.ndim() ? index_strides[axis] : 1;
  for (int d = 0; d < x.ndim(); ++d) {
    if (d == axis) continue;
    p.of.shape[p.of.ndim] = x.shape()[d];
    p.of.x_strides[p.of.ndim] = x.strides()[d];
    p.of.saved_strides[p.of.ndim] = saved ? saved->strides()[d] : 0;
    p.of.y_strides[p.of.ndim] = y.strides()[d];
    p.index_strides[p.of.ndim++] = index_strides[d];
  }
}

void set_mask(const OpCall& call, MaskedSoftmax& p, const Array& mask, const Array& x, int axis) {
  const int ahead = x.ndim() - mask.ndim();
  bool fits = ahead >= 0;
  for (int d = 0; fits && d < mask.ndim(); ++d) fits = mask.shape()[d] == 1 || mask.shape()[d] == x.shape()[d + ahead];
  if (!fits)
    throw ShapeError(std::string(call.name()), "got mask " + str(mask.shape()) + " for x " + str(x.shape()),
                     "pass a mask that can be broadcast to x's shape");
  if (mask.dtype() != DType::bool_)
    throw DTypeError(std::string(call.name()), "mask is " + std::string(name(mask.dtype())),
                     "pass a mask of bool, true where an element takes part");
  const auto step = [&](int d) { return d < ahead || mask.shape()[d - ahead] == 1 ? 0 : mask.strides()[d - ahead]; };
  p.mask = static_cast<const bool*>(mask.data_ptr());
  p.mask_step = x.ndim() ? step(axis) : 0;
  for (int d = 0, k = 0; d < x.ndim(); ++d)
    if (d != axis) p.mask_strides[k++] = step(d);
}

// x: the input, or with `saved`, the result, the gradient.
Array launch_masked(OpCall& call, MaskedSoftmax& p, const Array& x, const Array* saved, const SoftmaxMask& masking,
                    int64_t axis, std::optional<DType> dtype) {
  require_floating(call, x, dtype);
  if (saved) require_same(call, x, *saved, "the gradient and the forward result");
  const int at = normalize_axis(call.name(), axis, std::max(x.ndim(), 1));
  p.causal = masking.causal;
  if (p.causal && (x.ndim() < 2 || at != x.ndim() - 1))
    throw ValueError(std::string(call.name()), "causal=True along axis " + std::to_string(at) + " of " + str(x.shape()),
                     "pass scores (..., L, S) and axis=-1");
  if (masking.mask) set_mask(call, p, *masking.mask, x, at);
  const Array* const operands[] = {&x, saved ? saved : &x};
  Array y = empty_like(call, x.shape(), dtype.value_or(x.dtype()), operands);
  if (x.size() == 0) return y;
  set_lines(p, x, saved, y, at);
  call.reads(x);
  if (saved) call.reads(*saved);
  if (masking.mask) call.reads(*masking.mask);
  call.writes(y);
  (saved ? kernels::nn::masked_log_softmax_backward : kernels::nn::masked_softmax)(call.queue(), p);
  return y;
}

}  // namespace

void require_floating(const OpCall& call, const Array& x, std::optional<DType> dtype) {
  if (!in(x.dtype(), dtypes::floats))
    throw DTypeError(std::string(call.name()), "got an array of dtype " + std::string(name(x.dtype())),
                     "pass float16, bfloat16, float32 or float64; astype converts");
  if (dtype && !in(*dtype, dtypes::floats))
    throw DTypeError(std::string(call.name()), "dtype=" + std::string(name(*dtype)) + ", which is not floating",
                     "pass a floating dtype");
}

void require_same(const OpCall& call, const Array& a, const Array& b, const char* what) {
  if (!(a.shape() == b.shape()))
    throw ShapeError(std::string(call.name()),
                     "shapes " + str(a.shape()) + " and " + str(b.shape()) + " of " + what + " differ",
                     "pass arrays of one shape");
  if (a.dtype() != b.dtype())
    throw DTypeError(
        std::string(call.name()),
        "dtypes " + std::string(name(a.dtype())) + " and " + std::string(name(b.dtype())) + " of " + what + " differ",
        "convert one with astype");
}

double factor_of_temperature(Op op, double tau) {
  if (!(tau > 0) || !std::isfinite(tau) || !std::isfinite(float(1 / tau)))
    throw ValueError(std::string(op_info(op).call), "tau=" + number_text(tau), "pass a positive, finite temperature");
  return 1 / tau;
}

Array masked_softmax(Op op, const Array& x, int64_t axis, std::optional<DType> dtype, const SoftmaxMask& masking,
                     const Stream& stream) {
  OpCall call(op, {&x, masking.mask}, stream);
  MaskedSoftmax p{};
  p.of.log = op == Op::log_softmax;
  p.of.factor = op == Op::softmin ? -1 : 1;
  return launch_masked(call, p, x, nullptr, masking, axis, dtype);
}

Array masked_log_softmax_backward(const Array& grad, const Array& y, int64_t axis, const SoftmaxMask& masking,
                                  const Stream& stream) {
  OpCall call(Op::log_softmax_backward, {&grad, &y, masking.mask}, stream);
  MaskedSoftmax p{};
  return launch_masked(call, p, grad, &y, masking, axis, {});
}

Array gumbel_softmax(const Array& x, const random::State& state, random::State* next, const GumbelOptions& options,
                     const Stream& stream) {
  OpCall call(Op::gumbel_softmax, {&x, options.masking.mask}, stream);
  MaskedSoftmax p{};
  p.of.factor = factor_of_temperature(Op::gumbel_softmax, options.tau);
  p.noisy = true;
  p.hardest = options.hard;
  p.draws = call.draws(state.seed, state.counter);
  Array y = launch_masked(call, p, x, nullptr, options.masking, options.axis, {});
  const int64_t each = x.dtype() == DType::float64 ? 2 : 4;
  if (next) *next = {state.seed, state.counter + uint64_t((x.size() + each - 1) / each)};
  return y;
}

}  // namespace stator::nn
