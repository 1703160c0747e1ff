#include <stator/nn.hpp>

#include "core/op_call.hpp"
#include "params/nn.hpp"

#include <cmath>

namespace stator::nn {
namespace {

void check_number(bool fine, const char* what, double value, const char* rule) {
  if (!fine) throw ValueError("nn.adam_step", std::string(what) + "=" + std::to_string(value), rule);
}

void check_options(int64_t step, const AdamOptions& o) {
  check_number(step >= 1, "step", double(step), "count steps from 1");
  check_number(std::isfinite(o.lr), "lr", o.lr, "pass a finite learning rate");
  check_number(o.beta1 >= 0 && o.beta1 < 1, "beta1", o.beta1, "pass a number in [0, 1)");
  check_number(o.beta2 >= 0 && o.beta2 < 1, "beta2", o.beta2, "pass a number in [0, 1)");
  check_number(o.eps >= 0, "eps", o.eps, "pass a number of at least 0");
  check_number(o.weight_decay >= 0, "weight_decay", o.weight_decay, "pass a number of at least 0");
}

void check_tensor(size_t i, const Array& param, const Array& grad, const Array& m, const Array& v, DType dtype,
                  DType state) {
  const std::string at = "tensor " + std::to_string(i) + ": ";
  if (!in(dtype, dtypes::floats) || param.dtype() != dtype || grad.dtype() != dtype || m.dtype() != state ||
      v.dtype() != state || (state != dtype && (state != DType::float32 || dtype == DType::float64)))
    throw DTypeError("nn.adam_step",
                     at + "param " + std::string(name(param.dtype())) + ", grad " + std::string(name(grad.dtype())) +
                         ", moments " + std::string(name(m.dtype())) + " and " + std::string(name(v.dtype())),
                     "give all params and grads one floating dtype, all moments that dtype or float32");
  if (!(grad.shape() == param.shape()) || !(m.shape() == param.shape()) || !(v.shape() == param.shape()))
    throw ShapeError("nn.adam_step",
                     at + "param " + str(param.shape()) + ", grad " + str(grad.shape()) + ", moments " +
                         str(m.shape()) + " and " + str(v.shape()),
                     "give each param a gradient and two moments of its shape");
  for (const Array* a : {&param, &grad, &m, &v})
    if (!a->is_contiguous())
      throw ShapeError("nn.adam_step", at + "an array of shape " + str(a->shape()) + " is not contiguous",
                       "pass copy(x)");
  for (const Array* a : {&param, &m, &v})
    if (buffer_of(*a, "nn.adam_step").read_only())
      throw ValueError("nn.adam_step", at + "a param or moment is read-only", "copy it first");
}

}  // namespace

void adam_step(const std::vector<Array>& params, const std::vector<Array>& grads, const std::vector<Array>& exp_avgs,
               const std::vector<Array>& exp_avg_sqs, int64_t step, const AdamOptions& o, const Stream& stream) {
  if (grads.size() != params.size() || exp_avgs.size() != params.size() || exp_avg_sqs.size() != params.size())
    throw ShapeError("nn.adam_step",
                     std::to_string(params.size()) + " params, " + std::to_string(grads.size()) + " grads, " +
                         std::to_string(exp_avgs.size()) + " and " + std::to_string(exp_avg_sqs.size()) + " moments",
                     "pass lists of one length");
  check_options(step, o);
  if (params.empty()) return;
  OpCall call(Op::adam_step, {&params[0], &grads[0], &exp_avgs[0], &exp_avg_sqs[0]}, stream);
  const Backend backend = params[0].backend();
  std::vector<params::AdamTensor> tensors;
  tensors.reserve(params.size());
  const DType dtype = params[0].dtype(), state = exp_avgs[0].dtype();
  for (size_t i = 0; i < params.size(); ++i) {
    check_tensor(i, params[i], grads[i], exp_avgs[i], exp_avg_sqs[i], dtype, state);
    for (const Array* a : {&params[i], &grads[i], &exp_avgs[i], &exp_avg_sqs[i]})
      if (!(a->backend() == backend))
        throw BackendMismatchError("nn.adam_step", "tensor " + std::to_string(i) + " is on another backend",
                                   "move it with to_device");
    if (params[i].size() == 0) continue;
    call.reads(grads[i]);
    call.writes(params[i]);
    call.writes(exp_avgs[i]);
    call.writes(exp_avg_sqs[i]);
    tensors.push_back({params[i].data_ptr(), exp_avgs[i].data_ptr(), exp_avg_sqs[i].data_ptr(), grads[i].data_ptr(),
                       params[i].size()});
  }
  if (tensors.empty()) return;
  params::Adam p{};
  p.tensors = tensors.data();
  p.tensor_count = int32_t(tensors.size());
  p.dtype = dtype;
  p.state_dtype = state;
  p.lr = o.lr;
  p.beta1 = o.beta1;
  p.beta2 = o.beta2;
  p.eps = o.eps;
  p.weight_decay = o.weight_decay;
  p.bias_correction1 = 1 - std::pow(o.beta1, double(step));
  p.bias_correction2 = 1 - std::pow(o.beta2, double(step));
  p.decoupled = o.decoupled;
  p.maximize = o.maximize;
  kernels::nn::adam(call.queue(), p);
}

}  // namespace stator::nn
