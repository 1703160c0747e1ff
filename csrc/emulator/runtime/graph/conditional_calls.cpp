// Conditional nodes, and the values that kernels give them.
#include "emulator/runtime/calls.hpp"
#include "emulator/runtime/graph/edit.hpp"

namespace stator::emulator::runtime {
namespace {

constexpr unsigned assign_default = 1;  // cudaGraphCondAssignDefault

int create(uint64_t* handle, void* graph_handle, unsigned value, unsigned flags) {
  return device_call([&](System& s, Device& device, Scheduler::Lock&) {
    const std::shared_ptr<Graph> graph = s.graphs.find(graph_handle);
    if (!graph || flags > assign_default) return error::invalid_value;
    void* const cell =
        device.memory.allocate(sizeof(uint32_t), MemoryKind::device, "the value of a conditional node's handle");
    if (!cell) return error::memory_allocation;
    graph->conditions.push_back(std::make_shared<Condition>(&device, cell, value, flags == assign_default));
    *handle = reinterpret_cast<uint64_t>(cell);
    return error::success;
  });
}

// The condition of the handle, made for the graph or for one that contains it.
std::shared_ptr<Condition> find_condition(const Graph& graph, uint64_t handle) {
  for (const auto& condition : graph.conditions)
    if (reinterpret_cast<uint64_t>(condition->cell) == handle) return condition;
  return graph.owner ? find_condition(*graph.owner->graph, handle) : nullptr;
}

int add(void** out, const NodePosition* position, ConditionalCall* call) {
  using Kind = ConditionalOperation::Kind;
  return device_call([&](System& s, Device&, Scheduler::Lock&) {
    const std::shared_ptr<Graph> graph = s.graphs.find(position->graph);
    const std::shared_ptr<Condition> condition = graph ? find_condition(*graph, call->handle) : nullptr;
    const auto kind = Kind(call->type);
    const uint32_t most = kind == Kind::branch ? 2 : kind == Kind::loop ? 1 : UINT32_MAX;
    if (!condition || kind < Kind::branch || kind > Kind::choice || !call->size || call->size > most)
      return error::invalid_value;
    std::vector<std::shared_ptr<Graph>> bodies(call->size);
    for (auto& body : bodies) body = std::make_shared<Graph>();
    const auto operation = std::make_shared<ConditionalOperation>(condition, kind);
    if (const int code = add_node(s, *position, operation, bodies, out)) return code;
    Node& node = *s.graphs.find_node(*out);
    for (const auto& body : bodies) node.body_handles.push_back(body->handle);
    call->bodies = node.body_handles.data();
    return error::success;
  });
}

}  // namespace

void add_conditional_calls(GraphApi& api) {
  api.create_condition = create;
  api.add_conditional = add;
}

}  // namespace stator::emulator::runtime
