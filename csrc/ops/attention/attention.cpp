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
  return std::string(a) + " " + str(x.shape()) + " and " + b + " " + str(y.shape());
}

void check_dtypes(const OpCall& call, const Array& q, const Array& k, const Array& v) {
  const auto text = [](const Array& x) { return std::string(name(x.dtype())); };
  if (!in(q.dtype(), dtypes::floats))
    throw DTypeError(std::string(call.name()), "q has dtype " + text(q),
                     "pass float16, bfloat16, float32 or float64; astype converts");
  if (k.dtype() != q.dtype() || v.dtype() != q.dtype())
    throw DTypeError(std::string(call.name()), "q is " + text(q) + ", k is " + text(k) + ", v is " + text(v),
                     "convert them to one dtype with astype");
}

void check_shapes(const Array& q, const Array& k, const Array& v) {
  const int n = q.ndim();
  if (n < 2 || k.ndim() != n || v.ndim() != n)
    refuse("q " + str(q.shape()) + ", k " + str(k.shape()) + " and v " + str(v.shape()),
           "pass arrays of the same number of axes, at least two: (..., L, d), (..., S, d) and (..., S, d_v)");
  if (q.shape()[n - 1] != k.shape()[n - 1])
    refuse(of_both("q", q, "k", k), "pass q and k whose last axes have one extent");
  if (k.shape()[n - 2] != v.shape()[n - 2])
    refuse(of_both("k", k, "v", v), "pass k and v with one number of keys, the axis before the last");
  for (const Array* x : {&q, &v})
    if (x->shape()[n - 1] < 1 || x->shape()[n - 1] > Attention::largest_size)
      refuse(std::string(x == &q ? "q " : "v ") + str(x->shape()) + ", whose last axis is not from 1 to 256",
             "split the features into heads of at most 256");
  for (int d = 0; d < n - 2; ++d)
    if (k.shape()[d] != v.shape()[d]) refuse(of_both("k", k, "v", v), "pass k and v of equal batch axes");
  for (int d = 0; d < n - 3; ++d)
    if (q.shape()[d] != k.shape()[d])
      refuse(of_both("q", q, "k", k), "pass q and k whose axes before that of the heads are equal");
  if (n < 3) return;
  const int64_t heads = q.shape()[n - 3], shared = k.shape()[n - 3];
  if (shared == 0 ? heads != 0 : heads % shared != 0)
    refuse(of_both("q", q, "k", k), "pass q with a multiple of k's heads, the axis before that of the queries");
}

void set_mask(const OpCall& call, Attention& p, const Array& mask, const Dims& scores, DType dtype) {
  bool fits = mask.ndim() <= scores.size();
  const int ahead = scores.size() - mask.ndim();
  for (int d = 0; fits && d < mask.ndim(); ++d) fits = mask.shape()[d] == 1 || mask.shape()[d] == scores[d + ahead];
  if (!fits)
    refuse("mask " + str(mask.shape()) + " for scores " + str(scores),
           "pass a mask that can be broadcast to (..., L, S)");
  if (mask.dtype() != dtype && mask.dtype() != DType::bool_)
    throw DTypeError(std::string(call.name()),
                     "mask is " + std::string(name(mask.dtype())) + ", q is " + std::string(name(dtype)),
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
