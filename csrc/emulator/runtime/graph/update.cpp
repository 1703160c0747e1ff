// Which changes of parameters an executable graph takes.
#include "emulator/runtime/graph/graph.hpp"

namespace stator::emulator::runtime {
namespace {

// A node of work that is not a kernel's own launch, such as a vendor library's, has none.
const KernelOperation* kernel_of(const Operation& operation) {
  return dynamic_cast<const KernelOperation*>(&operation);
}

Update compare_nodes(const Node& old, const Node& by) {
  if (old.type() != by.type()) return Update::type;
  if (old.bodies.size() != by.bodies.size()) return Update::parameters;
  return replaceable(*old.operation, *by.operation);
}

}  // namespace

Update replaceable(const Operation& old, const Operation& by) {
  if (old.type != by.type) return Update::type;
  const bool moved = old.device != by.device;
  switch (old.type) {
    case NodeType::kernel: {
      const KernelOperation *const before = kernel_of(old), *const after = kernel_of(by);
      if (moved) return Update::function;
      return (before && before->config.cooperative) != (after && after->config.cooperative) ? Update::attributes
                                                                                            : Update::success;
    }
    case NodeType::copy: {
      const auto &before = static_cast<const CopyOperation&>(old), &after = static_cast<const CopyOperation&>(by);
      return before.same_memory(after) ? Update::success : Update::parameters;
    }
    case NodeType::fill: {
      const auto &before = static_cast<const FillOperation&>(old), &after = static_cast<const FillOperation&>(by);
      const bool shape =
          before.call.height == after.call.height &&
          (before.call.height == 1 || (before.call.width == after.call.width && before.call.pitch == after.call.pitch &&
                                       before.call.element_bytes == after.call.element_bytes));
      return shape && before.owner == after.owner && before.kind == after.kind ? Update::success : Update::parameters;
    }
    case NodeType::conditional: {
      const auto &before = static_cast<const ConditionalOperation&>(old),
                 &after = static_cast<const ConditionalOperation&>(by);
      return before.kind == after.kind && !moved ? Update::success : Update::parameters;
    }
    case NodeType::host:
    case NodeType::graph:
    case NodeType::empty:
    case NodeType::event_wait:
    case NodeType::event_record: break;
  }
  return Update::success;
}

UpdateResult compare(const Graph& image, const Graph& by) {
  if (image.nodes.size() != by.nodes.size()) return {.result = Update::topology};
  const auto old_indices = image.indices(), indices = by.indices();
  for (size_t i = 0; i < by.nodes.size(); ++i) {
    const Node &old = *image.nodes[i], &node = *by.nodes[i];
    if (old.dependencies.size() != node.dependencies.size()) return {.result = Update::topology, .node = &node};
    for (size_t k = 0; k < node.dependencies.size(); ++k)
      if (old_indices.at(old.dependencies[k]) != indices.at(node.dependencies[k]))
        return {.result = Update::topology, .node = &node, .from = node.dependencies[k]};
    const Update result = compare_nodes(old, node);
    if (result != Update::success) return {.result = result, .node = &node};
    for (size_t k = 0; k < node.bodies.size(); ++k) {
      const UpdateResult inner = compare(*old.bodies[k], *node.bodies[k]);
      if (inner.result != Update::success) return inner;
    }
  }
  return {};
}

void assign(Graph& image, const Graph& by) {
  image.conditions = by.conditions;
  for (size_t i = 0; i < by.nodes.size(); ++i) {
    Node& node = *image.nodes[i];
    node.operation = by.nodes[i]->operation;
    node.what = by.nodes[i]->what;
    for (size_t k = 0; k < node.bodies.size(); ++k) assign(*node.bodies[k], *by.nodes[i]->bodies[k]);
  }
}

}  // namespace stator::emulator::runtime
