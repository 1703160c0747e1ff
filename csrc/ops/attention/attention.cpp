#include <stator/nn/attention.hpp>

#include "core/op_call.hpp"
#include "ops/checks.hpp"
#include "params/attention.hpp"

#include <cmath>
#include <string>

namespace stator::nn {
namespace {

using params::Attention;

[[noreturn]] void refuse(const std::string& what, const char* remedy) {
  throw ShapeError(std::string(op_info(Op::attention).call), what, remedy);
}

std::string of_both(const char* a, const Array& x, const char* b, const Array& y) {
  return "got " + std::string(a) + " " + str(x.shape()) + " and " + b + " " + str(y.shape());
}

void check_dtypes(const OpCall& call, const Array& q, const Array& k, const Array& v) {
  const auto text = [](const Array& x) { return std::string(name(x.dtype())); };
  if (!in(q.dtype(), dtypes::floats))
    throw DTypeError(std::string(call.name()), "got q of " + text(q),
                     "pass float16, bfloat16, float32 or float64; astype converts");
  if (k.dtype() != q.dtype() || v.dtype() != q.dtype())
    throw DTypeError(std::string(call.name()), "got q of " + text(q) + ", k of " + text(k) + " and v of " + text(v),
                     "all must have one dtype. Convert them with astype");
}

void check_shapes(const Array& q, const Array& k, const Array& v) {
  const int n = q.ndim();
  if (n < 2 || k.ndim() != n || v.ndim() != n)
    refuse("got q " + str(q.shape()) + ", k " + str(k.shape()) + " and v " + str(v.shape()),
           "pass arrays of the same number of axes, at least two: (..., L, d), (..., S, d) and (..., S, d_v)");
  if (q.shape()[n - 1] != k.shape()[n - 1])
    refuse(of_both("q", q, "k", k), "the last axes of q and k must be equal: pass q (..., L, d) and k (..., S, d)");
  if (k.shape()[n - 2] != v.shape()[n - 2])
    refuse(of_both("k", k, "v", v), "the numbers of keys must be equal: pass k (..., S, d) and v (..., S, d_v)");
  for (const Array* x : {&q, &v})
    if (x->shape()[n - 1] < 1 || x->shape()[n - 1] > Attention::largest_size)
      refuse(std::string(x == &q ? "got q " : "got v ") + str(x->shape()),
             "the last axis must have 1 to 256 elements. Split the features into heads of at most 256");
  for (int d = 0; d < n - 2; ++d)
    if (k.shape()[d] != v.shape()[d])
      refuse(of_both("k", k, "v", v),
             "the axes before the last two must be equal in k and v: repeat elements with broadcast_to");
  for (int d = 0; d < n - 3; ++d)
    if (q.shape()[d] != k.shape()[d])
      refuse(of_both("q", q, "k", k),
             "the axes before the last three must be equal in q and k: repeat elements with broadcast_to");
  if (n < 3) return;
  const int64_t heads = q.shape()[n - 3], shared = k.shape()[n - 3];
  if (shared == 0 ? heads != 0 : heads % shared != 0)
    refuse(of_both("q", q, "k", k),
           "the number of heads, axis -3, must be a multiple in q of that in k. Pass k and v with a number of heads "
           "that divides it");
}

void set_mask(const OpCall& call, Attention& p, const Array& mask, const Dims& scores, DType dtype) {
  bool fits = mask.ndim() <= scores.size();
  const int ahead = scores.size() - mask.ndim();
  for (int d = 0; fits && d < mask.ndim(); ++d) fits = mask.shape()[d] == 1 || mask.shape()[d] == scores[d + ahead];
  if (!fits)
    refuse("got mask " + str(mask.shape()) + " for scores " + str(scores),
           "pass a mask that can be broadcast to (..., L, S)");
  if (mask.dtype() != dtype && mask.dtype() != DType::bool_)
    throw DTypeError(std::string(call.name()),
                     "got mask of " + std::string(name(mask.dtype())) + " for q of " + std::string(name(dtype)),
                     "pass a mask of bool, or of q's dtype to add to the scores");
  p.data[Attention::mask] = mask.data_ptr();
  p.mask_is_bool = mask.dtype() == DType::bool_;
  const auto step = [&](int d) {
    return d < ahead || mask.shape()[d - ahead] == 1 ? int64_t(0) : mask.strides()[d - ahead];
  };
  for (int d = 0; d < p.ndim; ++d) p.strides[Attention::mask][d] = step(d);
  p.row[Attention::mask] = step(p.ndim);
  p.column[Attention::mask] = step(p.ndim + 1);
}

}  // namespace

Array attention(const Array& q, const Array& k, const Array& v, const AttentionOptions& o, Array* lse,
                const Stream& stream) {
  OpCall call(Op::attention, {&q, &k, &v, o.mask}, stream);
  check_dtypes(call, q, k, v);
  check_shapes(q, k, v);
  if (o.scale && !std::isfinite(*o.scale))
    throw ValueError(std::string(call.name()), "scale=" + number_text(*o.scale), "pass a finite scale");
  const int n = q.ndim();
  Attention p{};
  p.dtype = q.dtype();
  p.causal = o.causal;
  p.queries = q.shape()[n - 2];
  p.keys = k.shape()[n - 2];
  p.size = int32_t(q.shape()[n - 1]);
  p.value_size = int32_t(v.shape()[n - 1]);
  p.scale = o.scale.value_or(1 / std::sqrt(double(p.size)));
  p.ndim = n - 2;
  p.batches = p.group = 1;
  const Array* const arrays[] = {&q, &k, &v};
  Dims shape = q.shape(), scores = q.shape(), rows(n - 1);
  for (int d = 0; d < n - 1; ++d) rows[d] = q.shape()[d];
  shape[n - 1] = p.value_size;
  scores[n - 1] = p.keys;
  for (int d = 0; d < n - 2; ++d) {
    p.batches *= q.shape()[d];
    p.shape[d] = q.shape()[d];
    for (int i = 0; i < 3; ++i) p.strides[i][d] = arrays[i]->strides()[d];
  }
  if (n > 2 && k.shape()[n - 3] > 0) p.group = q.shape()[n - 3] / k.shape()[n - 3];
  if (p.group == 0) p.group = 1;
  for (int i = 0; i < 3; ++i) {
    p.data[i] = arrays[i]->data_ptr();
    p.row[i] = arrays[i]->strides()[n - 2];
    p.column[i] = arrays[i]->strides()[n - 1];
  }
  if (o.mask) set_mask(call, p, *o.mask, scores, q.dtype());
  Array out = call.empty(shape, q.dtype());
  if (lse) *lse = call.empty(rows, q.dtype() == DType::float64 ? DType::float64 : DType::float32);
  if (out.size() == 0) return out;
  for (const Array* x : {&q, &k, &v, o.mask})
    if (x) call.reads(*x);
  call.writes(out);
  if (lse) call.writes(*lse);
  p.out = out.data_ptr();
  p.lse = lse ? lse->data_ptr() : nullptr;
  call.expect_multiply_adds(q.size() * k.shape()[n - 2] + out.size() * k.shape()[n - 2]);
  kernels::attention::attention(call.queue(), p);
  return out;
}

}  // namespace stator::nn
