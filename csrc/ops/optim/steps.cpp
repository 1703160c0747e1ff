#include "ops/checks.hpp"
#include "ops/optim/step.hpp"

#include <cmath>

namespace stator::nn {

void sgd_step(const std::vector<Array>& params, const std::vector<Array>& grads,
              const std::vector<Array>* momentum_buffers, const SgdOptions& o, const Stream& stream) {
  const std::vector<StateList> states{{"momentum_buffers", o.momentum != 0 ? momentum_buffers : nullptr}};
  check_lengths(Op::sgd_step, params.size(), grads.size(), states, o);
  if (params.empty()) return;
  const bool counted = o.step.array != nullptr || o.step.scalar.re != 0;
  ListStep step(Op::sgd_step, params, grads, states, o, &o.step, stream);
  OpCall& call = step.call();
  check_positive(call, "momentum", o.momentum);
  if (o.momentum != 0 && momentum_buffers == nullptr)
    throw ValueError(std::string(call.name()), "momentum=" + number_text(o.momentum) + " without momentum_buffers",
                     "pass an array of zeros for each param");
  check_number(call, std::isfinite(o.dampening), "dampening", o.dampening, "pass a finite number");
  if (o.nesterov && (o.momentum == 0 || o.dampening != 0))
    throw ValueError(
        std::string(call.name()),
        "got nesterov with momentum=" + number_text(o.momentum) + ", dampening=" + number_text(o.dampening),
        "pass a momentum above 0, and no dampening");
  params::OptimNumbers& n = step.numbers();
  if (counted) n.step = step_number(call, o.step);
  n.momentum = o.momentum;
  n.dampening = o.dampening;
  n.nesterov = o.nesterov;
  step.run(kernels::optim::sgd);
}

void rmsprop_step(const std::vector<Array>& params, const std::vector<Array>& grads,
                  const std::vector<Array>& square_avgs, const std::vector<Array>* momentum_buffers,
                  const std::vector<Array>* grad_avgs, const RmspropOptions& o, const Stream& stream) {
  const std::vector<StateList> states{{"square_avgs", &square_avgs},
                                      {"momentum_buffers", o.momentum != 0 ? momentum_buffers : nullptr},
                                      {"grad_avgs", grad_avgs}};
  check_lengths(Op::rmsprop_step, params.size(), grads.size(), states, o);
  if (params.empty()) return;
  ListStep step(Op::rmsprop_step, params, grads, states, o, nullptr, stream);
  OpCall& call = step.call();
  check_beta(call, "alpha", o.alpha);
  check_positive(call, "eps", o.eps);
  check_positive(call, "momentum", o.momentum);
  if (o.momentum != 0 && momentum_buffers == nullptr)
    throw ValueError(std::string(call.name()), "momentum=" + number_text(o.momentum) + " without momentum_buffers",
                     "pass an array of zeros for each param");
  params::OptimNumbers& n = step.numbers();
  n.beta2 = o.alpha;
  n.eps = o.eps;
  n.momentum = o.momentum;
  n.centered = grad_avgs != nullptr;
  step.run(kernels::optim::rmsprop);
}

void adagrad_step(const std::vector<Array>& params, const std::vector<Array>& grads,
                  const std::vector<Array>& state_sums, const Operand& step_count, const AdagradOptions& o,
                  const Stream& stream) {
  const std::vector<StateList> states{{"state_sums", &state_sums}};
  check_lengths(Op::adagrad_step, params.size(), grads.size(), states, o);
  if (params.empty()) return;
  ListStep step(Op::adagrad_step, params, grads, states, o, &step_count, stream);
  OpCall& call = step.call();
  check_positive(call, "lr_decay", o.lr_decay);
  check_positive(call, "eps", o.eps);
  params::OptimNumbers& n = step.numbers();
  n.step = step_number(call, step_count);
  n.lr_decay = o.lr_decay;
  n.eps = o.eps;
  step.run(kernels::optim::adagrad);
}

namespace {

void set_moments(ListStep& step, const Operand& count, const AdamOptions& o) {
  OpCall& call = step.call();
  params::OptimNumbers& n = step.numbers();
  n.step = step_number(call, count);
  check_beta(call, "beta1", o.beta1);
  check_beta(call, "beta2", o.beta2);
  check_positive(call, "eps", o.eps);
  n.beta1 = o.beta1;
  n.beta2 = o.beta2;
  n.eps = o.eps;
  n.decoupled = o.decoupled;
}

}  // namespace

void adam_step(const std::vector<Array>& params, const std::vector<Array>& grads, const std::vector<Array>& exp_avgs,
               const std::vector<Array>& exp_avg_sqs, const Operand& count, const AdamOptions& o,
               const Stream& stream) {
  const std::vector<StateList> states{{"exp_avgs", &exp_avgs}, {"exp_avg_sqs", &exp_avg_sqs}};
  check_lengths(Op::adam_step, params.size(), grads.size(), states, o);
  if (params.empty()) return;
  ListStep step(Op::adam_step, params, grads, states, o, &count, stream);
  set_moments(step, count, o);
  step.run(kernels::optim::adam);
}

void lamb_step(const std::vector<Array>& params, const std::vector<Array>& grads, const std::vector<Array>& exp_avgs,
               const std::vector<Array>& exp_avg_sqs, const Operand& count, const AdamOptions& o,
               const Stream& stream) {
  const std::vector<StateList> states{{"exp_avgs", &exp_avgs}, {"exp_avg_sqs", &exp_avg_sqs}};
  check_lengths(Op::lamb_step, params.size(), grads.size(), states, o);
  if (params.empty()) return;
  ListStep step(Op::lamb_step, params, grads, states, o, &count, stream);
  set_moments(step, count, o);
  if (step.empty()) return;
  const size_t tensors = size_t(step.parameters().tensor_count);
  const size_t chunks = size_t(kernels::optim::lamb_chunks(step.call().limits(), step.parameters()));
  step.give_scratch(static_cast<double*>(step.call().scratch((2 * chunks + tensors) * sizeof(double))),
                    static_cast<uint32_t*>(step.call().zeroed_scratch(tensors * sizeof(uint32_t))));
  step.run(kernels::optim::lamb);
}

void lion_step(const std::vector<Array>& params, const std::vector<Array>& grads, const std::vector<Array>& exp_avgs,
               const LionOptions& o, const Stream& stream) {
  const std::vector<StateList> states{{"exp_avgs", &exp_avgs}};
  check_lengths(Op::lion_step, params.size(), grads.size(), states, o);
  if (params.empty()) return;
  ListStep step(Op::lion_step, params, grads, states, o, nullptr, stream);
  check_beta(step.call(), "beta1", o.beta1);
  check_beta(step.call(), "beta2", o.beta2);
  step.numbers().beta1 = o.beta1;
  step.numbers().beta2 = o.beta2;
  step.run(kernels::optim::lion);
}

}  // namespace stator::nn
