// What the steps of all optimisers share: checks of lists and numbers, and dense arrays for the kernels.
#pragma once

#include <stator/nn/optim.hpp>

#include "core/op_call.hpp"
#include "params/optim.hpp"

#include <string>
#include <utility>

namespace stator::nn {

// A list of states by the name of its parameter; null where the rule does without.
struct StateList {
  const char* name;
  const std::vector<Array>* arrays;
};

// Each throws an error that names the number.
void check_number(const OpCall& call, bool fine, const char* what, double value, const char* rule);
void check_beta(const OpCall& call, const char* what, double value);
void check_positive(const OpCall& call, const char* what, double value);  // or 0
// Of a rate that is a number: as PyTorch, none below 0. Of a scale: it is divided by, and is above 0.
void check_rate(const OpCall& call, const Operand& lr);
void check_grad_scale(const OpCall& call, const Operand& scale);
// As a kernel takes it; arrays are 0-d, of floats or with `counts` also of integers, else DTypeError and ShapeError.
params::DeviceNumber device_number(OpCall& call, const char* what, const Operand& value, bool counts = false);
params::DeviceNumber step_number(OpCall& call, const Operand& step);  // numbers of at least 1

// The array, or a dense copy.
Array dense(OpCall& call, const Array& a);

// ShapeError for lists of several lengths.
void check_lengths(Op op, size_t params, size_t grads, const std::vector<StateList>& states, const StepOptions& o);

// A step on lists that are not empty.
class ListStep {
 public:
  ListStep(Op op, const std::vector<Array>& params, const std::vector<Array>& grads,
           const std::vector<StateList>& states, const StepOptions& o, const Operand* step, const Stream& stream);
  OpCall& call() { return call_; }
  params::OptimNumbers& numbers() { return p_.numbers; }
  const params::OptimStep& parameters() const { return p_; }
  void give_scratch(double* partials, uint32_t* counters) {
    p_.partials = partials;
    p_.counters = counters;
  }
  bool empty() const { return tensors_.empty(); }  // no tensor has elements
  // Launches, unless there is nothing to do, and writes copies back.
  void run(const kernels::Launcher<void(const kernels::Queue&, const params::OptimStep&)>& launcher);

 private:
  void add(size_t i, const Array& param, const Array& grad, const std::vector<StateList>& states, const Array* master);
  void check(size_t i, const char* what, const Array& a, const Array& param, DType dtype) const;
  void* changed(size_t i, const char* what, const Array& a);

  OpCall call_;
  const Backend backend_;
  params::OptimStep p_{};
  std::vector<params::OptimTensor> tensors_;
  std::vector<Array> grads_;                     // dense, kept until the launch
  std::vector<std::pair<Array, Array>> copies_;  // of what is not dense, and what it is a copy of
};

}  // namespace stator::nn
