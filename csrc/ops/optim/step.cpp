#include "ops/optim/step.hpp"

#include "memory/overlap.hpp"
#include "ops/checks.hpp"

#include <stator/creation.hpp>

#include <algorithm>
#include <cmath>

namespace stator::nn {
namespace {

std::string dtype_text(const Array& a) { return std::string(name(a.dtype())); }

// Lists of arrays of one length.
struct List {
  const char* what;
  const std::vector<Array>* arrays;
  bool changed;
};

// ValueError where what a step changes shares memory with another array of the step.
void require_apart(const OpCall& call, const std::vector<List>& lists) {
  const size_t tensors = lists[0].arrays->size();
  struct Span {
    const char *begin, *end;
    size_t number;  // among the arrays of all lists
  };
  std::vector<Span> spans;
  spans.reserve(lists.size() * tensors);
  const auto list_of = [&](const Span& s) -> const List& { return lists[s.number / tensors]; };
  const auto array_of = [&](const Span& s) -> const Array& { return (*list_of(s).arrays)[s.number % tensors]; };
  const auto text = [&](const Span& s) {
    return std::string(list_of(s).what) + " " + std::to_string(s.number % tensors);
  };
  for (size_t number = 0; number < lists.size() * tensors; ++number) {
    const Array& a = array_of({nullptr, nullptr, number});
    const Extent extent = extent_of(a);
    const char* const first = static_cast<const char*>(a.data_ptr());
    if (extent.end > extent.begin) spans.push_back({first + extent.begin, first + extent.end, number});
  }
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  const char* reached = nullptr;  // by the spans from `first` on
  for (size_t i = 0, first = 0; i < spans.size(); ++i) {
    const Span& span = spans[i];
    if (span.begin >= reached) first = i;
    for (size_t k = first; k < i; ++k) {
      const Span& other = spans[k];
      if (other.end > span.begin && (list_of(other).changed || list_of(span).changed) &&
          may_overlap(array_of(other), array_of(span)))
        throw ValueError(std::string(call.name()), text(other) + " and " + text(span) + " share memory",
                         "pass a weight that is used twice once, with the sum of its gradients; and copies of others");
    }
    reached = std::max(reached, span.end);
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
    throw DTypeError(std::string(call_.name()), "got masters of params of " + dtype_text(params[0]),
                     "pass masters only with params of float16 or bfloat16");
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
  std::vector<List> lists{{"param", &params, true}, {"grad", &grads, false}};
  for (const StateList& s : states)
    if (s.arrays != nullptr) lists.push_back({s.name, s.arrays, true});
  if (o.masters != nullptr) lists.push_back({"master", o.masters, true});
  require_apart(call_, lists);
  p_.tensors = tensors_.data();
  p_.tensor_count = int32_t(tensors_.size());
}

void ListStep::check(size_t i, const char* what, const Array& a, const Array& param, DType dtype) const {
  const bool same_backend = a.backend() == backend_;
  if (same_backend && a.dtype() == dtype && a.shape() == param.shape()) [[likely]]
    return;
  const std::string op(call_.name()), at = "tensor " + std::to_string(i) + ": ";
  if (!same_backend) throw BackendMismatchError(op, at + what + " is on another backend", "move it with to_device");
  if (a.dtype() != dtype)
    throw DTypeError(op, at + what + " is " + dtype_text(a) + ", not " + std::string(name(dtype)),
                     "give params and grads one floating dtype, and states that dtype or float32");
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
