#include "emulator/runtime/graph/graph.hpp"

#include "emulator/runtime/system.hpp"

#include <algorithm>

namespace stator::emulator::runtime {

Node* Graph::add(OperationPointer operation, std::span<Node* const> dependencies, std::string what) {
  auto made = std::make_unique<Node>();
  made->graph = this;
  made->operation = std::move(operation);
  made->what = std::move(what);
  made->dependencies.assign(dependencies.begin(), dependencies.end());
  return nodes.emplace_back(std::move(made)).get();
}

std::unordered_map<const Node*, size_t> Graph::indices() const {
  std::unordered_map<const Node*, size_t> found;
  for (size_t i = 0; i < nodes.size(); ++i) found[nodes[i].get()] = i;
  return found;
}

bool Graph::ordered() const {
  const auto index = indices();
  std::vector<size_t> missing(nodes.size());
  std::vector<std::vector<size_t>> dependents(nodes.size());
  std::vector<size_t> ready;
  for (size_t i = 0; i < nodes.size(); ++i) {
    missing[i] = nodes[i]->dependencies.size();
    if (!missing[i]) ready.push_back(i);
    for (const Node* before : nodes[i]->dependencies) dependents[index.at(before)].push_back(i);
  }
  size_t done = 0;
  for (; !ready.empty(); ++done) {
    const size_t next = ready.back();
    ready.pop_back();
    for (const size_t after : dependents[next])
      if (--missing[after] == 0) ready.push_back(after);
  }
  return done == nodes.size() && std::all_of(nodes.begin(), nodes.end(), [](const auto& node) {
           return std::all_of(node->bodies.begin(), node->bodies.end(),
                              [](const auto& body) { return body->ordered(); });
         });
}

bool Graph::contains(NodeType type) const {
  return std::any_of(nodes.begin(), nodes.end(), [&](const auto& node) {
    return node->type() == type || std::any_of(node->bodies.begin(), node->bodies.end(),
                                               [&](const auto& body) { return body->contains(type); });
  });
}

std::shared_ptr<Graph> Graphs::find(void* graph) const {
  const auto entry = graphs.find(graph);
  return entry == graphs.end() ? nullptr : entry->second;
}

Node* Graphs::find_node(void* node) const {
  const auto entry = nodes.find(node);
  return entry == nodes.end() ? nullptr : entry->second;
}

Executable* Graphs::find_executable(void* executable) {
  const auto entry = executables.find(executable);
  return entry == executables.end() ? nullptr : &entry->second;
}

std::shared_ptr<Graph> copy_of(const Graph& of) {
  auto made = std::make_shared<Graph>();
  made->conditions = of.conditions;
  std::unordered_map<const Node*, Node*> copies;
  for (const auto& node : of.nodes) {
    Node* const copy = copies[node.get()] = made->add(node->operation, {}, node->what);
    copy->origin = node->handle ? node->handle : node->origin;
    copy->enabled = node->enabled;
    for (const auto& body : node->bodies) {
      copy->bodies.push_back(copy_of(*body));
      copy->bodies.back()->owner = copy;
    }
  }
  for (const auto& node : of.nodes)
    for (const Node* before : node->dependencies) copies[node.get()]->dependencies.push_back(copies[before]);
  return made;
}

void name_node(System& s, Node& node) {
  node.handle = s.new_handle();
  s.graphs.nodes[node.handle] = &node;
  for (const auto& body : node.bodies) name_all(s, body);
}

void name_all(System& s, const std::shared_ptr<Graph>& graph) {
  graph->handle = s.new_handle();
  s.graphs.graphs[graph->handle] = graph;
  for (const auto& node : graph->nodes) name_node(s, *node);
}

void release_name(System& s, const Node& node) {
  s.graphs.nodes.erase(node.handle);
  for (const auto& body : node.bodies) release_names(s, *body);
}

void release_names(System& s, const Graph& graph) {
  for (const auto& node : graph.nodes) release_name(s, *node);
  s.graphs.graphs.erase(graph.handle);
}

Node* find_copy(const Graph& image, void* origin) {
  for (const auto& node : image.nodes) {
    if (node->origin == origin) return node.get();
    for (const auto& body : node->bodies)
      if (Node* const found = find_copy(*body, origin)) return found;
  }
  return nullptr;
}

std::unordered_set<const Node*> ancestors(std::span<Node* const> of) {
  std::unordered_set<const Node*> found;
  std::vector<const Node*> open(of.begin(), of.end());
  while (!open.empty()) {
    const Node* const node = open.back();
    open.pop_back();
    if (found.insert(node).second) open.insert(open.end(), node->dependencies.begin(), node->dependencies.end());
  }
  return found;
}

}  // namespace stator::emulator::runtime
