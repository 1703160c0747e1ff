#include "ops/optim/step.hpp"

#include "core/memory/overlap.hpp"
#include "ops/checks.hpp"

#include <stator/creation.hpp>

#include <algorithm>
#include <cmath>

namespace stator::nn {
namespace {

std::string dtype_text(const Array& a) { return std::string(name(a.dtype())); }

// An array of a step, and the memory that it spans.
struct Part {
  const char *begin, *end;
  const Array* array;
  const char* what;
  size_t tensor;
  bool changed;
};

std::string of(const Part& part) { return std::string(part.what) + " " + std::to_string(part.tensor); }

// ValueError where what a step changes shares memory with another array of the step.
void require_apart(const OpCall& call, std::vector<Part> parts) {
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.begin < b.begin; });
  std::vector<const Part*> open;  // parts that the next ones may begin in
  for (const Part& part : parts) {
    std::erase_if(open, [&](const Part* other) { return other->end <= part.begin; });
    for (const Part* other : open)
      if ((part.changed || other->changed) && may_overlap(*part.array, *other->array))
        throw ValueError(std::string(call.name()), of(*other) + " and " + of(part) + " share memory",
                         "pass a weight that is used twice once, with the sum of its gradients; and copies of others");
    open.push_back(&part);
  }
}

}  // namespace

void check_number(const OpCall& call, bool fine, const char* what, double value, const char* rule) {
  if (!fine) throw ValueError(std::string(call.name()), std::string(what) + "=" + number_text(value), rule);
}
void check_beta(const OpCall& call, const char* what, double value) {
  check_number(call, value >= 0 && value < 1, what, value, "pass a number in [0, 1)");
}
void check_positive(const OpCall& call, const char* what, double value) {
  check_number(call, value >= 0, what, value, "pass a number of at least 0");
}

void check_rate(const OpCall& call, const Operand& lr) {
  if (lr.array == nullptr) check_positive(call, "lr", lr.scalar.re);
}
void check_grad_scale(const OpCall& call, const Operand& scale) {
  if (scale.array == nullptr)
    check_number(call, scale.scalar.re > 0, "grad_scale", scale.scalar.re, "pass a number above 0");
}

params::DeviceNumber device_number(OpCall& call, const char* what, const Operand& value, bool counts) {
  if (value.array == nullptr) {
    check_number(call, std::isfinite(value.scalar.re), what, value.scalar.re, "pass a finite number");
    return {nullptr, DType::float64, value.scalar.re};
  }
  const Array& a = *value.array;
  const std::string op(call.name());
  if (a.ndim() != 0)
    throw ShapeError(op, "the " + std::string(what) + " has shape " + str(a.shape()), "pass a number or a 0-d array");
  DTypeSet accepted = dtype_bit(DType::float32) | dtype_bit(DType::float64);
  if (counts) accepted = accepted | dtype_bit(DType::int32) | dtype_bit(DType::int64);
  if (!in(a.dtype(), accepted))
    throw DTypeError(op, "the " + std::string(what) + " is " + dtype_text(a),
                     counts ? "pass a number, or an array of int32, int64, float32 or float64"
                            : "pass a number, or an array of float32 or float64");
  call.reads(a);
  return {a.data_ptr(), a.dtype(), 0};
}

params::DeviceNumber step_number(OpCall& call, const Operand& step) {
  if (step.array == nullptr) check_number(call, step.scalar.re >= 1, "step", step.scalar.re, "count steps from 1");
  return device_number(call, "step", step, true);
}

Array dense(OpCall& call, const Array& a) { return a.is_contiguous() ? a : copy(a, call.on()); }

void check_lengths(Op op, size_t params, size_t grads, const std::vector<StateList>& states, const StepOptions& o) {
  bool same = grads == params;
  std::string seen = std::to_string(params) + " params, " + std::to_string(grads) + " grads";
  const auto compare = [&](const char* what, const std::vector<Array>* arrays) {
    if (arrays == nullptr) return;
    same = same && arrays->size() == params;
    seen += ", " + std::to_string(arrays->size()) + " " + what;
  };
  for (const StateList& s : states) compare(s.name, s.arrays);
  compare("masters", o.masters);
  if (!same) throw ShapeError(std::string(op_info(op).call), seen, "pass lists of one length");
}

ListStep::ListStep(Op op, const std::vector<Array>& params, const std::vector<Array>& grads,
                   const std::vector<StateList>& states, const StepOptions& o, const Operand* step,
                   const Stream& stream)
    : call_(op,
            {&params[0], &grads[0], o.lr.array, o.grad_scale.array, o.grad_factor.array, o.found_inf,
             step != nullptr ? step->array : nullptr},
            stream),
      backend_(params[0].backend()) {
  p_.dtype = p_.state_dtype = params[0].dtype();
  if (!in(p_.dtype, dtypes::floats))
    throw DTypeError(std::string(call_.name()), "params are " + dtype_text(params[0]),
                     "pass float16, bfloat16, float32 or float64");
  for (const StateList& s : states)
    if (s.arrays != nullptr) p_.state_dtype = (*s.arrays)[0].dtype();
  if (o.masters != nullptr) p_.state_dtype = DType::float32;
  if (o.masters != nullptr && itemsize(p_.dtype) != 2)
    throw DTypeError(std::string(call_.name()), "masters of params of " + dtype_text(params[0]),
                     "pass masters with params of float16 or bfloat16 alone");
  if (p_.state_dtype != p_.dtype && (p_.state_dtype != DType::float32 || p_.dtype == DType::float64))
    throw DTypeError(std::string(call_.name()),
                     "states are " + std::string(name(p_.state_dtype)) + " for params of " + dtype_text(params[0]),
                     "pass states of the params' dtype or of float32");
  check_positive(call_, "weight_decay", o.weight_decay);
  if (o.found_inf != nullptr) {
    if (o.found_inf->ndim() != 0 || o.found_inf->dtype() != DType::bool_)
      throw DTypeError(std::string(call_.name()),
                       "the flag found_inf is " + dtype_text(*o.found_inf) + " of shape " + str(o.found_inf->shape()),
                       "pass a 0-d bool, as nn.has_inf_nan returns");
    call_.reads(*o.found_inf);
  }
  params::OptimNumbers& n = p_.numbers;
  check_rate(call_, o.lr);
  check_grad_scale(call_, o.grad_scale);
  n.lr = device_number(call_, "lr", o.lr);
  n.grad_scale = device_number(call_, "grad_scale", o.grad_scale);
  n.grad_factor = device_number(call_, "grad_factor", o.grad_factor);
  if (o.found_inf != nullptr) n.found_inf = static_cast<const bool*>(o.found_inf->data_ptr());
  n.weight_decay = o.weight_decay;
  n.maximize = o.maximize;
  for (size_t i = 0; i < params.size(); ++i)
    add(i, params[i], grads[i], states, o.masters ? &(*o.masters)[i] : nullptr);
  std::vector<Part> parts;
  const auto take = [&](const char* what, const std::vector<Array>* arrays, bool changed) {
    for (size_t i = 0; arrays != nullptr && i < arrays->size(); ++i) {
      const Array& a = (*arrays)[i];
      if (a.size() == 0) continue;
      const Extent extent = extent_of(a);
      const char* const first = static_cast<const char*>(a.data_ptr());
      parts.push_back({first + extent.begin, first + extent.end, &a, what, i, changed});
    }
  };
  parts.reserve(params.size() * (3 + states.size()));
  take("param", &params, true);
  take("grad", &grads, false);
  for (const StateList& s : states) take(s.name, s.arrays, true);
  take("master", o.masters, true);
  require_apart(call_, std::move(parts));
  p_.tensors = tensors_.data();
  p_.tensor_count = int32_t(tensors_.size());
}

void ListStep::check(size_t i, const char* what, const Array& a, const Array& param, DType dtype) const {
  const std::string op(call_.name()), at = "tensor " + std::to_string(i) + ": ";
  if (!(a.backend() == backend_))
    throw BackendMismatchError(op, at + what + " is on another backend", "move it with to_device");
  if (a.dtype() != dtype)
    throw DTypeError(op, at + what + " is " + dtype_text(a) + ", not " + std::string(name(dtype)),
                     "give params and grads one floating dtype, and states that dtype or float32");
  if (!(a.shape() == param.shape()))
    throw ShapeError(op, at + what + " " + str(a.shape()) + " for param " + str(param.shape()),
                     "give each param a gradient and states of its shape");
}

// The address of a dense array that takes the new elements of a.
void* ListStep::changed(size_t i, const char* what, const Array& a) {
  const std::string op(call_.name());
  if (buffer_of(a, op).read_only() || overlaps_itself(a)) [[unlikely]]
    require_writable(op, a, "tensor " + std::to_string(i) + ": " + what);
  if (a.size() == 0) return nullptr;
  const Array where = dense(call_, a);
  if (where.data_ptr() != a.data_ptr()) copies_.push_back({where, a});
  call_.writes(where);
  return where.data_ptr();
}

void ListStep::add(size_t i, const Array& param, const Array& grad, const std::vector<StateList>& states,
                   const Array* master) {
  check(i, "param", param, param, p_.dtype);
  check(i, "grad", grad, param, p_.dtype);
  for (const StateList& s : states)
    if (s.arrays != nullptr) check(i, s.name, (*s.arrays)[i], param, p_.state_dtype);
  if (master != nullptr) check(i, "master", *master, param, DType::float32);
  params::OptimTensor t{};
  t.size = param.size();
  t.param = changed(i, "param", param);
  for (size_t k = 0; k < states.size(); ++k)
    if (states[k].arrays != nullptr) t.states[k] = changed(i, states[k].name, (*states[k].arrays)[i]);
  if (master != nullptr) t.master = changed(i, "master", *master);
  if (t.size == 0) return;
  grads_.push_back(dense(call_, grad));
  call_.reads(grads_.back());
  t.grad = grads_.back().data_ptr();
  tensors_.push_back(t);
}

void ListStep::run(const kernels::Launcher<void(const kernels::Queue&, const params::OptimStep&)>& launcher) {
  if (empty()) return;
  launcher(call_.queue(), p_);
  for (const auto& [from, to] : copies_) assign(to, from, call_.on());
}

}  // namespace stator::nn
