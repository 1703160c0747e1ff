#include "ops/collapse.hpp"
#include "ops/optim/step.hpp"

namespace stator::nn {
namespace {

// Whether the elements fill a run of memory, in any order, as those of a transposed array do.
bool is_run(const Array& a) {
  const params::Elementwise e = collapse(a, {});
  return e.ndim == 0 || (e.ndim == 1 && e.out.strides[0] == 1);
}

// The parameters of a fold over all arrays, which are checked.
struct Fold {
  params::GradList p{};
  std::vector<params::GradTensor> tensors;
  std::vector<Array> sources;  // runs of memory, kept until the launch

  Fold(OpCall& call, const std::vector<Array>& arrays) {
    const std::string op(call.name());
    p.norm_dtype = DType::float32;
    for (size_t i = 0; i < arrays.size(); ++i) {
      const Array& a = arrays[i];
      const std::string at = "array " + std::to_string(i) + " is ";
      if (!(a.backend() == arrays[0].backend()))
        throw BackendMismatchError(op, at + "on another backend", "move it with to_device");
      if (!in(a.dtype(), dtypes::floats))
        throw DTypeError(op, at + std::string(name(a.dtype())), "pass float16, bfloat16, float32 or float64");
      if (a.dtype() == DType::float64) p.norm_dtype = DType::float64;
      if (a.size() == 0) continue;
      sources.push_back(is_run(a) ? a : dense(call, a));
      call.reads(sources.back());
      tensors.push_back({sources.back().data_ptr(), a.dtype(), a.size(), 0});
    }
    p.tensors = tensors.data();
    p.tensor_count = int32_t(tensors.size());
    const int64_t chunks = kernels::optim::grad_chunks(call.limits(), p);
    p.partials = static_cast<double*>(call.scratch(size_t(chunks) * sizeof(double)));
    p.counters = static_cast<uint32_t*>(call.zeroed_scratch(sizeof(uint32_t)));
  }
};

void check_some(Op op, const std::vector<Array>& arrays) {
  if (arrays.empty())
    throw ValueError(std::string(op_info(op).call), "an empty list, which has no device", "pass at least one array");
}

}  // namespace

Array has_inf_nan(const std::vector<Array>& arrays, const Stream& stream) {
  check_some(Op::has_inf_nan_list, arrays);
  OpCall call(Op::has_inf_nan_list, {&arrays[0]}, stream);
  Fold fold(call, arrays);
  Array out = call.empty(Dims{}, DType::bool_);
  call.writes(out);
  fold.p.found = static_cast<bool*>(out.data_ptr());
  kernels::optim::has_inf_nan(call.queue(), fold.p);
  return out;
}

GradNorm clip_grad_norm(const std::vector<Array>& grads, double max_norm, const Operand& grad_scale,
                        const Stream& stream) {
  check_some(Op::clip_grad_norm, grads);
  OpCall call(Op::clip_grad_norm, {&grads[0], grad_scale.array}, stream);
  check_positive(call, "max_norm", max_norm);
  Fold fold(call, grads);
  check_grad_scale(call, grad_scale);
  fold.p.grad_scale = device_number(call, "grad_scale", grad_scale);
  fold.p.max_norm = max_norm;
  GradNorm out{call.empty(Dims{}, fold.p.norm_dtype), call.empty(Dims{}, fold.p.norm_dtype)};
  call.writes(out.norm);
  call.writes(out.factor);
  fold.p.norm = out.norm.data_ptr();
  fold.p.factor = out.factor.data_ptr();
  kernels::optim::grad_norm(call.queue(), fold.p);
  return out;
}

}  // namespace stator::nn
