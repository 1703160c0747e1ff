// Nodes of graphs: made, asked, changed.
#include "emulator/runtime/calls.hpp"
#include "emulator/runtime/graph/edit.hpp"

namespace stator::emulator::runtime {
namespace {

int make(System&, Device& device, const KernelCall& call, OperationPointer* out) {
  return make_kernel(device, call, out);
}
int make(System& s, Device& device, const CopyCall& call, OperationPointer* out) {
  if (!call.bytes) return error::invalid_value;
  return make_copy(s, device, call, out);
}
int make(System& s, Device& device, const FillCall& call, OperationPointer* out) {
  return make_fill(s, device, call, out);
}
int make(System&, Device& device, const HostCall& call, OperationPointer* out) {
  if (!call.function) return error::invalid_value;
  *out = std::make_shared<HostOperation>(&device, call.function, call.argument);
  return error::success;
}

int make_event(System& s, NodeType type, const EventCall& call, OperationPointer* out) {
  const auto entry = s.events.find(call.event);
  if (entry == s.events.end()) return error::invalid_resource_handle;
  *out = std::make_shared<EventOperation>(type, entry->second.device, call.event);
  return error::success;
}

KernelCall call_of(const KernelOperation& o) {
  const LaunchConfig& c = o.config;
  return {.function = o.function,
          .grid = {c.grid.x, c.grid.y, c.grid.z},
          .block = {c.block.x, c.block.y, c.block.z},
          .shared_bytes = c.dynamic_shared,
          .arguments = const_cast<void**>(o.arguments.data()),
          .cooperative = c.cooperative};
}
CopyCall call_of(const CopyOperation& o) { return {.to = o.to, .from = o.from, .bytes = o.bytes, .kind = o.direction}; }
FillCall call_of(const FillOperation& o) { return o.call; }
EventCall call_of(const EventOperation& o) { return {.event = o.event}; }
HostCall call_of(const HostOperation& o) { return {.function = o.function, .argument = o.argument}; }

// Where to place a new node. False unless the graph and each of the nodes exist, these once each in the graph.
bool find_position(System& s, const NodePosition& position, Graph** graph, std::vector<Node*>* after) {
  const std::shared_ptr<Graph> found = s.graphs.find(position.graph);
  if (!found) return false;
  *graph = found.get();
  for (size_t i = 0; i < position.count; ++i) {
    Node* const node = s.graphs.find_node(position.after[i]);
    if (!node || node->graph != found.get() || std::find(after->begin(), after->end(), node) != after->end())
      return false;
    after->push_back(node);
  }
  return true;
}

template <class Call>
int add(void** out, const NodePosition* position, const Call* call) {
  return device_call([&](System& s, Device& device, Scheduler::Lock&) {
    OperationPointer operation;
    if (const int code = make(s, device, *call, &operation)) return code;
    return add_node(s, *position, std::move(operation), {}, out);
  });
}

template <NodeType type>
int add_event(void** out, const NodePosition* position, const EventCall* call) {
  return device_call([&](System& s, Device&, Scheduler::Lock&) {
    OperationPointer operation;
    if (const int code = make_event(s, type, *call, &operation)) return code;
    return add_node(s, *position, std::move(operation), {}, out);
  });
}

int add_empty(void** out, const NodePosition* position) {
  return device_call([&](System& s, Device& device, Scheduler::Lock&) {
    return add_node(s, *position, std::make_shared<Operation>(NodeType::empty, &device, ""), {}, out);
  });
}

int add_child(void** out, const NodePosition* position, void* child) {
  return device_call([&](System& s, Device& device, Scheduler::Lock&) {
    const std::shared_ptr<Graph> graph = s.graphs.find(child);
    if (!graph) return error::invalid_value;
    if (graph->contains(NodeType::conditional)) return error::not_supported;
    return add_node(s, *position, std::make_shared<Operation>(NodeType::graph, &device, ""), {copy_of(*graph)}, out);
  });
}

void forget(std::vector<Node*>& nodes, Node* node) { std::erase(nodes, node); }

int destroy_node(void* handle) {
  std::unique_ptr<Node> dropped;  // without the lock
  return node_call(handle, [&](System& s, Node& node) {
    auto& siblings = node.graph->nodes;
    for (const auto& body : node.bodies)
      if (captured_into(s, *body)) return error::invalid_value;
    for (const auto& other : siblings) forget(other->dependencies, &node);
    for (const auto& stream : s.scheduler.streams()) forget(stream->captured, &node);
    for (auto& [key, event] : s.events) forget(event.captured, &node);
    release_name(s, node);
    const auto entry =
        std::find_if(siblings.begin(), siblings.end(), [&](const auto& other) { return other.get() == &node; });
    dropped = std::move(*entry);
    siblings.erase(entry);
    return error::success;
  });
}

int type(void* handle, int* out) {
  return node_call(handle, [&](System&, Node& node) {
    *out = int(node.type());
    return error::success;
  });
}

int dependencies(void* handle, void** out, size_t* count) {
  return node_call(handle, [&](System&, Node& node) {
    std::vector<void*> found;
    for (const Node* before : node.dependencies) found.push_back(before->handle);
    return give(found, out, count);
  });
}

int dependents(void* handle, void** out, size_t* count) {
  return node_call(handle, [&](System&, Node& node) {
    std::vector<void*> found;
    for (const auto& other : node.graph->nodes)
      if (std::find(other->dependencies.begin(), other->dependencies.end(), &node) != other->dependencies.end())
        found.push_back(other->handle);
    return give(found, out, count);
  });
}

// The type of the nodes that hold such operations.
constexpr NodeType type_of(const KernelOperation*) { return NodeType::kernel; }
constexpr NodeType type_of(const CopyOperation*) { return NodeType::copy; }
constexpr NodeType type_of(const FillOperation*) { return NodeType::fill; }
constexpr NodeType type_of(const HostOperation*) { return NodeType::host; }

int get_event(void* handle, EventCall* out) {
  return node_call(handle, [&](System&, Node& node) {
    const auto* const typed = dynamic_cast<const EventOperation*>(node.operation.get());
    if (!typed) return error::invalid_value;
    *out = call_of(*typed);
    return error::success;
  });
}

// A node may be of the type and have no call of its own, such as a vendor library's kernels: the caller does not know
// their functions.
template <class OperationType, class Call>
int get(void* handle, Call* out) {
  return node_call(handle, [&](System&, Node& node) {
    const auto* const typed = dynamic_cast<const OperationType*>(node.operation.get());
    if (node.type() != type_of(typed)) return error::invalid_value;
    if (!typed) return error::invalid_device_function;
    *out = call_of(*typed);
    return error::success;
  });
}

template <class Call>
int set(void* handle, const Call* call) {
  OperationPointer replaced;  // without the lock
  return node_call(handle, [&](System& s, Node& node) {
    OperationPointer made;
    if (const int code = make_like(s, *node.operation, *call, &made)) return code;
    replaced = std::exchange(node.operation, std::move(made));
    return error::success;
  });
}

int get_cooperative(void* handle, int* cooperative) {
  KernelCall call;
  const int code = get<KernelOperation>(handle, &call);
  if (code == error::success) *cooperative = call.cooperative;
  return code;
}

int set_cooperative(void* handle, int cooperative) {
  return node_call(handle, [&](System&, Node& node) {
    const auto* const typed = dynamic_cast<const KernelOperation*>(node.operation.get());
    if (!typed) return error::invalid_value;
    KernelCall call = call_of(*typed);
    call.cooperative = cooperative != 0;
    OperationPointer made;
    if (const int code = make_kernel(*typed->device, call, &made)) return code;
    node.operation = std::move(made);
    return error::success;
  });
}

int get_child(void* handle, void** graph) {
  return node_call(handle, [&](System&, Node& node) {
    if (node.type() != NodeType::graph) return error::invalid_value;
    *graph = node.bodies[0]->handle;
    return error::success;
  });
}

}  // namespace

int add_node(System& s, const NodePosition& position, OperationPointer operation,
             std::vector<std::shared_ptr<Graph>> bodies, void** out) {
  Graph* graph = nullptr;
  std::vector<Node*> after;
  if (!find_position(s, position, &graph, &after)) return error::invalid_value;
  std::string what = operation->what;
  Node& node = *graph->add(std::move(operation), after, std::move(what));
  node.bodies = std::move(bodies);
  for (const auto& body : node.bodies) body->owner = &node;
  name_node(s, node);
  *out = node.handle;
  return error::success;
}

int make_like(System& s, const Operation& old, const KernelCall& call, OperationPointer* out) {
  if (old.type != NodeType::kernel) return error::invalid_value;
  KernelCall same = call;  // an attribute of the node, which stays
  const auto* const kernel = dynamic_cast<const KernelOperation*>(&old);
  same.cooperative = kernel && kernel->config.cooperative;
  return make(s, *old.device, same, out);
}
int make_like(System& s, const Operation& old, const CopyCall& call, OperationPointer* out) {
  return old.type == NodeType::copy ? make(s, *old.device, call, out) : error::invalid_value;
}
int make_like(System& s, const Operation& old, const FillCall& call, OperationPointer* out) {
  return old.type == NodeType::fill ? make(s, *old.device, call, out) : error::invalid_value;
}
int make_like(System& s, const Operation& old, const HostCall& call, OperationPointer* out) {
  return old.type == NodeType::host ? make(s, *old.device, call, out) : error::invalid_value;
}

int make_like(System& s, const Operation& old, const EventCall& call, OperationPointer* out) {
  const bool of_event = old.type == NodeType::event_wait || old.type == NodeType::event_record;
  return of_event ? make_event(s, old.type, call, out) : error::invalid_value;
}

void add_node_calls(GraphApi& api) {
  api.add_kernel = add<KernelCall>;
  api.add_copy = add<CopyCall>;
  api.add_fill = add<FillCall>;
  api.add_host = add<HostCall>;
  api.add_event_record = add_event<NodeType::event_record>;
  api.add_event_wait = add_event<NodeType::event_wait>;
  api.add_empty = add_empty;
  api.add_child = add_child;
  api.node_destroy = destroy_node;
  api.node_type = type;
  api.node_dependencies = dependencies;
  api.node_dependents = dependents;
  api.get_kernel = get<KernelOperation>;
  api.get_copy = get<CopyOperation>;
  api.get_fill = get<FillOperation>;
  api.get_host = get<HostOperation>;
  api.get_event = get_event;
  api.get_child = get_child;
  api.set_kernel = set<KernelCall>;
  api.set_copy = set<CopyCall>;
  api.set_fill = set<FillCall>;
  api.set_host = set<HostCall>;
  api.set_event = set<EventCall>;
  api.get_cooperative = get_cooperative;
  api.set_cooperative = set_cooperative;
}

}  // namespace stator::emulator::runtime
