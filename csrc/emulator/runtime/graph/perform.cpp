// Launches of executable graphs, on the thread that waits for them.
#include "emulator/runtime/graph/graph.hpp"
#include "emulator/runtime/system.hpp"

#include <algorithm>

namespace stator::emulator::runtime {
namespace {

constexpr uint64_t loop_limit = uint64_t(1) << 20;  // rounds of a conditional node

// What one launch has for all of its nodes.
struct Launch {
  // Below a bound: 0 where there is no seed.
  size_t choose(size_t below) { return state ? size_t(splitmix(state) % below) : 0; }

  uint64_t state;
  const Times& times;
};

bool perform(const Graph& graph, Launch& launch);

bool failed(Device& device, const Report& report, const std::string& what) {
  if (report) device.fail(report, what);
  return device.failed();
}

// The value that kernels gave the handle last. False, with a fault, where none did.
bool value_of(const Node& node, uint32_t* value) {
  const Condition& condition = *static_cast<const ConditionalOperation&>(*node.operation).condition;
  return !failed(*condition.device, condition.device->memory.read(value, condition.cell, sizeof *value), node.what);
}

bool repeat(const Node& node, Launch& launch) {
  uint32_t value = 0;
  for (uint64_t round = 0; value_of(node, &value); ++round) {
    if (!value) return true;
    if (round == loop_limit) {
      Report report;
      report.fault = Fault::endless;
      report.sentence = "The loop of a conditional node ran " + std::to_string(round) + " rounds, and would go on.";
      return !failed(*node.operation->device, report, node.what);
    }
    if (!perform(*node.bodies[0], launch)) return false;
  }
  return false;
}

bool decide(const Node& node, Launch& launch) {
  using Kind = ConditionalOperation::Kind;
  const Kind kind = static_cast<const ConditionalOperation&>(*node.operation).kind;
  if (kind == Kind::loop) return repeat(node, launch);
  uint32_t value = 0;
  if (!value_of(node, &value)) return false;
  const size_t chosen = kind == Kind::choice ? value : value ? 0 : 1;
  return chosen >= node.bodies.size() || perform(*node.bodies[chosen], launch);
}

bool perform(const Node& node, Launch& launch) {
  if (!node.enabled) return true;
  if (node.type() == NodeType::graph) return perform(*node.bodies[0], launch);
  if (node.type() == NodeType::conditional) return decide(node, launch);
  Device& device = *node.operation->device;
  if (device.failed()) return false;
  const RunningOn running(device);
  node.operation->count();
  if (node.type() == NodeType::event_record) *launch.times.at(&node) = Clock::now();
  return !failed(device, node.operation->run(), node.what);
}

bool perform(const Graph& graph, Launch& launch) {
  const auto index = graph.indices();
  std::vector<size_t> missing(graph.nodes.size()), ready;
  std::vector<std::vector<size_t>> dependents(graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    missing[i] = graph.nodes[i]->dependencies.size();
    if (!missing[i]) ready.push_back(i);
    for (const Node* before : graph.nodes[i]->dependencies) dependents[index.at(before)].push_back(i);
  }
  while (!ready.empty()) {
    const auto chosen = ready.begin() + ptrdiff_t(launch.choose(ready.size()));
    const size_t next = *chosen;
    ready.erase(chosen);
    if (!perform(*graph.nodes[next], launch)) return false;
    for (const size_t after : dependents[next])
      if (--missing[after] == 0) ready.insert(std::lower_bound(ready.begin(), ready.end(), after), after);
  }
  return true;
}

// Values do not outlive a launch.
void begin(const Graph& graph) {
  for (const auto& condition : graph.conditions) {
    if (condition->assign)
      condition->device->memory.write(condition->cell, &condition->value, sizeof condition->value);
    else
      forget_contents(condition->device->memory, condition->cell, sizeof condition->value);
  }
  for (const auto& node : graph.nodes)
    for (const auto& body : node->bodies) begin(*body);
}

}  // namespace

void perform(const Graph& image, uint64_t seed, const Times& times) {
  Launch launch{seed, times};
  begin(image);
  perform(image, launch);
}

}  // namespace stator::emulator::runtime
