// Conditional nodes: bodies that run by the value that kernels give their handle.
#include "graph_support.hpp"

using namespace stator::test;

namespace {

const char count_down_kernel = 0, set_kernel = 0;

// As nvcc compiles calls of cudaGraphSetConditional. count_down takes one from a word, and sets what is left; set sets
// a value.
const char* const conditional_text = R"(
.version 9.0
.target sm_80
.address_size 64

.extern .func cudaGraphSetConditional
(
  .param .b64 cudaGraphSetConditional_param_0,
  .param .b32 cudaGraphSetConditional_param_1
)
;

.visible .entry count_down(.param .u64 handle, .param .u64 p)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [handle];
  ld.param.u64 %rd2, [p];
  ld.global.u32 %r1, [%rd2];
  sub.u32 %r2, %r1, 1;
  st.global.u32 [%rd2], %r2;
  { // callseq 0, 0
  .reg .b32 temp_param_reg;
  .param .b64 param0;
  st.param.b64 [param0+0], %rd1;
  .param .b32 param1;
  st.param.b32 [param1+0], %r2;
  call.uni
  cudaGraphSetConditional,
  (
  param0,
  param1
  );
  } // callseq 0
  ret;
}

.visible .entry set(.param .u64 handle, .param .u32 value)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [handle];
  ld.param.u32 %r1, [value];
  { // callseq 1, 0
  .param .b64 param0;
  st.param.b64 [param0+0], %rd1;
  .param .b32 param1;
  st.param.b32 [param1+0], %r1;
  call.uni
  cudaGraphSetConditional,
  (
  param0,
  param1
  );
  } // callseq 1
  ret;
}
)";

enum ConditionalType : int { branch = 0, loop = 1, choice = 2 };

struct Conditions : Setting {
  explicit Conditions(const char* text = "h200") : Setting(text), graph_(new_graph(*this)) {
    void** const binary = api.register_fat_binary(fat_binary_of(conditional_text));
    api.register_function(binary, &count_down_kernel, "count_down");
    api.register_function(binary, &set_kernel, "set");
  }

  uint64_t handle(unsigned value = 0, unsigned flags = 0) {
    uint64_t made = 0;
    check(graph.create_condition(&made, graph_, value, flags) == 0 && made, "a handle");
    return made;
  }
  // The graphs of a new node, which comes after the last.
  std::vector<void*> node(uint64_t handle, int type, uint32_t size = 1) {
    ConditionalCall call{.handle = handle, .type = type, .size = size};
    void* made = nullptr;
    const NodePosition position = at(graph_, last_);
    check(graph.add_conditional(&made, &position, &call) == 0, "a node");
    last_ = {made};
    return std::vector<void*>(call.bodies, call.bodies + size);
  }
  template <class... Arguments>
  void kernel(const void* function, Arguments... values) {
    kernel_in(graph_, last_, function, values...);
  }
  template <class... Arguments>
  void kernel_in(void* to, std::vector<void*>& after, const void* function, Arguments... values) {
    void* arguments[] = {&values...};
    const KernelCall call{.function = function, .arguments = arguments};
    void* made = nullptr;
    const NodePosition position = at(to, after);
    check(graph.add_kernel(&made, &position, &call) == 0, "a kernel");
    after = {made};
  }
  // A word, with a value.
  void* word_of(uint32_t value) {
    void* const pointer = memory(4);
    launch_fill(api, pointer, value, 1, stream);
    return pointer;
  }

  void* const graph_;
  std::vector<void*> last_;
};

void a_branch_runs_the_body_of_its_value() {
  Conditions c;
  void* const memory = c.word_of(0);
  const uint64_t handle = c.handle();
  c.kernel(&set_kernel, handle, uint32_t(5));
  void* const setter = c.last_[0];
  const std::vector<void*> bodies = c.node(handle, branch, 2);
  std::vector<void*> none;
  c.kernel_in(bodies[0], none, &fill_kernel, memory, uint32_t(1));
  none.clear();
  c.kernel_in(bodies[1], none, &fill_kernel, memory, uint32_t(2));
  void* const executable = c.executable(c.graph_);
  check(c.launch(executable) == 0 && c.word(memory) == 1, "not zero", c.word(memory));
  uint64_t key = handle;
  uint32_t zero = 0;
  void* arguments[] = {&key, &zero};
  const KernelCall call{.function = &set_kernel, .arguments = arguments};
  check(c.graph.executable_set_kernel(executable, setter, &call) == 0, "now zero");
  check(c.launch(executable) == 0 && c.word(memory) == 2, "the other body", c.word(memory));
}

void a_loop_runs_while_its_value_is_not_zero() {
  Conditions c;
  void* const left = c.word_of(5);
  const uint64_t handle = c.handle(1, 1);
  const std::vector<void*> bodies = c.node(handle, loop);
  std::vector<void*> none;
  c.kernel_in(bodies[0], none, &count_down_kernel, handle, left);
  void* const executable = c.executable(c.graph_);
  check(c.launch(executable) == 0 && c.word(left) == 0, "five rounds", c.word(left));
  launch_fill(c.api, left, 3, 1, c.stream);
  check(c.launch(executable) == 0 && c.word(left) == 0, "the value at first is assigned at each launch", c.word(left));
}

void a_choice_runs_one_body_or_none() {
  Conditions c;
  void *const chosen = c.word_of(9), *const left = c.word_of(4);
  const uint64_t handle = c.handle();
  c.kernel(&count_down_kernel, handle, left);
  const std::vector<void*> bodies = c.node(handle, choice, 3);
  for (uint32_t i = 0; i < 3; ++i) {
    std::vector<void*> none;
    c.kernel_in(bodies[i], none, &fill_kernel, chosen, i);
  }
  void* const executable = c.executable(c.graph_);
  for (const uint32_t expected : {9, 2, 1, 0})
    check(c.launch(executable) == 0 && c.word(chosen) == expected, "the body of the value", c.word(chosen));
}

// A loop of 3 rounds, in each of which another one counts down from 2.
void bodies_hold_conditional_nodes_and_captured_work() {
  Conditions c;
  void *const outer_left = c.word_of(3), *const inner_left = c.memory(4), *const sum = c.word_of(100);
  const uint64_t outer = c.handle(1, 1), inner = c.handle(0, 0), spare = c.handle(0, 1);
  c.node(spare, branch);
  const std::vector<void*> bodies = c.node(outer, loop);
  void* ended = nullptr;
  check(c.api.stream_begin_capture_to_graph(c.stream, bodies[0], nullptr, 0, global) == 0, "captured into the body");
  launch_fill(c.api, inner_left, 2, 1, c.stream);
  const uint32_t one[] = {1, 1, 1};
  uint64_t key = inner;
  uint32_t value = 1;
  void* arguments[] = {&key, &value};
  check(c.api.launch(&set_kernel, one, one, arguments, 0, c.stream) == 0, "a kernel");
  check(c.graph.destroy(c.graph_) == error::invalid_value, "the graph is kept during the capture");
  check(c.api.stream_end_capture(c.stream, &ended) == 0 && ended == bodies[0], "which is its graph");
  std::vector<void*> last = {c.nodes(bodies[0]).back()};
  ConditionalCall call{.handle = inner, .type = loop, .size = 1};
  void* node = nullptr;
  const NodePosition position = at(bodies[0], last);
  check(c.graph.add_conditional(&node, &position, &call) == 0, "a node in a body, by a handle of the whole");
  last = {node};
  c.kernel_in(bodies[0], last, &count_down_kernel, outer, outer_left);
  std::vector<void*> inside;
  c.kernel_in(call.bodies[0], inside, &count_down_kernel, inner, inner_left);
  c.kernel_in(call.bodies[0], inside, &count_down_kernel, spare, sum);
  check(c.launch(c.executable(c.graph_)) == 0, "launched");
  check(c.word(outer_left) == 0 && c.word(sum) == 100 - 6, "3 rounds of 2", c.word(sum));
}

void a_value_that_nothing_set_is_a_fault() {
  for (const bool launched_before : {false, true}) {
    Conditions c;
    const uint64_t handle = c.handle(1, 0);
    if (launched_before) c.kernel(&set_kernel, handle, uint32_t(0));
    void* const setter = launched_before ? c.last_[0] : nullptr;
    c.node(handle, branch);
    void* const executable = c.executable(c.graph_);
    if (launched_before) {
      check(c.launch(executable) == 0, "set");
      check(c.graph.set_enabled(executable, setter, 0) == 0, "values do not outlive a launch");
    }
    check(c.launch(executable) == error::launch_failure, "refused");
    check(std::string(c.api.fault(0)).find("conditional") != std::string::npos, c.api.fault(0));
  }
}

void handles_and_sizes_are_checked() {
  Conditions c;
  const uint64_t handle = c.handle(1, 1);
  uint64_t made = 0;
  void* node = nullptr;
  const NodePosition position = at(c.graph_);
  const auto added = [&](uint64_t by, int type, uint32_t size) {
    ConditionalCall call{.handle = by, .type = type, .size = size};
    return c.graph.add_conditional(&node, &position, &call);
  };
  check(c.graph.create_condition(&made, c.graph_, 1, 2) == error::invalid_value, "flags");
  check(added(handle + 4, branch, 1) == error::invalid_value, "no handle of the graph");
  check(added(handle, branch, 3) == error::invalid_value && added(handle, branch, 0) == error::invalid_value,
        "branches");
  check(added(handle, loop, 2) == error::invalid_value && added(handle, 3, 1) == error::invalid_value, "loops");
  void* executable = nullptr;
  check(c.graph.instantiate(&executable, c.graph_, 0) == error::invalid_value, "a handle without a node");
  check(added(handle, branch, 2) == 0 && c.graph.instantiate(&executable, c.graph_, 0) == 0, "good");
  void* other = nullptr;
  check(c.graph.instantiate(&other, c.graph_, 0) == error::not_supported, "once at a time");
  check(c.graph.executable_destroy(executable) == 0 && c.graph.instantiate(&other, c.graph_, 0) == 0, "again");
  check(c.graph.clone(&node, c.graph_) == error::not_supported, "no clone");
  void* const parent = new_graph(c);
  const NodePosition above = at(parent);
  check(c.graph.add_child(&node, &above, c.graph_) == error::not_supported, "no child");
}

void bodies_have_no_functions_of_the_host() {
  Conditions c;
  std::string log;
  Letter x{&log, 'x'};
  add_letter(c, c.node(c.handle(1, 1), branch)[0], x);
  void* executable = nullptr;
  check(c.graph.instantiate(&executable, c.graph_, 0) == error::not_supported, "refused");
}

void a_fault_in_a_body_ends_the_context() {
  Conditions c;
  void* const memory = c.memory(64);
  const std::vector<void*> bodies = c.node(c.handle(1, 1), loop);
  std::vector<void*> none;
  c.kernel_in(bodies[0], none, &fill_kernel, static_cast<void*>(static_cast<char*>(memory) + 64), uint32_t(1));
  check(c.launch(c.executable(c.graph_)) == error::illegal_address, "beyond the end");
}

void a_loop_without_an_end_is_a_fault() {
  Conditions c;
  c.node(c.handle(1, 1), loop);
  check(c.launch(c.executable(c.graph_)) == error::launch_timeout, "found");
}

void the_value_of_a_graph_that_is_gone_is_dead() {
  Conditions c;
  const uint64_t handle = c.handle();
  check(c.graph.destroy(c.graph_) == 0, "destroyed");
  const uint32_t one[] = {1, 1, 1};
  uint64_t key = handle;
  uint32_t value = 1;
  void* arguments[] = {&key, &value};
  check(c.api.launch(&set_kernel, one, one, arguments, 0, c.stream) == 0, "launched");
  check(c.api.stream_synchronize(c.stream) == error::illegal_address, "set");
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv,
             {{"a_branch_runs_the_body_of_its_value", a_branch_runs_the_body_of_its_value},
              {"a_loop_runs_while_its_value_is_not_zero", a_loop_runs_while_its_value_is_not_zero},
              {"a_choice_runs_one_body_or_none", a_choice_runs_one_body_or_none},
              {"bodies_hold_conditional_nodes_and_captured_work", bodies_hold_conditional_nodes_and_captured_work},
              {"a_value_that_nothing_set_is_a_fault", a_value_that_nothing_set_is_a_fault},
              {"handles_and_sizes_are_checked", handles_and_sizes_are_checked},
              {"bodies_have_no_functions_of_the_host", bodies_have_no_functions_of_the_host},
              {"a_fault_in_a_body_ends_the_context", a_fault_in_a_body_ends_the_context},
              {"a_loop_without_an_end_is_a_fault", a_loop_without_an_end_is_a_fault},
              {"the_value_of_a_graph_that_is_gone_is_dead", the_value_of_a_graph_that_is_gone_is_dead}});
}
