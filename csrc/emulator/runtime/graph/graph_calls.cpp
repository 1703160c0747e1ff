// Graphs: what they hold, and how their nodes depend on each other.
#include "emulator/runtime/calls.hpp"
#include "emulator/runtime/graph/edit.hpp"

#include <algorithm>

namespace stator::emulator::runtime {
namespace {

int create_graph(void** out, unsigned flags) {
  return device_call([&](System& s, Device&, Scheduler::Lock&) {
    if (flags) return error::invalid_value;
    const auto made = std::make_shared<Graph>();
    name_all(s, made);
    *out = made->handle;
    return error::success;
  });
}

// Also in a context that a fault made unusable, so that nothing is kept for ever.
int destroy_graph(void* handle) {
  std::shared_ptr<Graph> dropped;  // without the lock
  return call([&](System& s) {
    const Scheduler::Lock lock = s.scheduler.lock();
    const std::shared_ptr<Graph> graph = s.graphs.find(handle);
    if (!graph || graph->owner || captured_into(s, *graph)) return error::invalid_value;
    release_names(s, *graph);
    dropped = graph;
    return here(s).error();
  });
}

int clone(void** out, void* handle) {
  return graph_call(handle, [&](System& s, Graph& graph) {
    if (graph.contains(NodeType::conditional)) return error::not_supported;
    const std::shared_ptr<Graph> made = copy_of(graph);
    name_all(s, made);
    *out = made->handle;
    return error::success;
  });
}

int node_in_clone(void** out, void* original, void* handle) {
  return graph_call(handle, [&](System&, Graph& graph) {
    Node* const found = find_copy(graph, original);
    if (!original || !found) return error::invalid_value;
    *out = found->handle;
    return error::success;
  });
}

int nodes(void* handle, void** out, size_t* count) {
  return graph_call(handle, [&](System&, Graph& graph) {
    std::vector<void*> found;
    for (const auto& node : graph.nodes) found.push_back(node->handle);
    return give(found, out, count);
  });
}

int roots(void* handle, void** out, size_t* count) {
  return graph_call(handle, [&](System&, Graph& graph) {
    std::vector<void*> found;
    for (const auto& node : graph.nodes)
      if (node->dependencies.empty()) found.push_back(node->handle);
    return give(found, out, count);
  });
}

int edges(void* handle, void** from, void** to, size_t* count) {
  return graph_call(handle, [&](System&, Graph& graph) {
    if (!from != !to) return error::invalid_value;
    std::vector<void*> starts, ends;
    for (const auto& node : graph.nodes)
      for (const Node* before : node->dependencies) {
        starts.push_back(before->handle);
        ends.push_back(node->handle);
      }
    size_t capacity = *count;
    if (const int code = give(starts, from, &capacity)) return code;
    return give(ends, to, count);
  });
}

// The two nodes of an edge, if they are different ones of the graph.
bool find_edge(System& s, const Graph& graph, void* from, void* to, Node** before, Node** after) {
  *before = s.graphs.find_node(from);
  *after = s.graphs.find_node(to);
  return *before && *after && *before != *after && (*before)->graph == &graph && (*after)->graph == &graph;
}

// All of them, or none: an edge that is there already, or given twice, is an error.
int add_edges(void* handle, void* const* from, void* const* to, size_t count) {
  return graph_call(handle, [&](System& s, Graph& graph) {
    std::vector<std::pair<Node*, Node*>> added;
    for (size_t i = 0; i < count; ++i) {
      Node *before, *after;
      if (!find_edge(s, graph, from[i], to[i], &before, &after)) return error::invalid_value;
      const auto& known = after->dependencies;
      const std::pair edge(before, after);
      if (std::find(known.begin(), known.end(), before) != known.end() ||
          std::find(added.begin(), added.end(), edge) != added.end())
        return error::invalid_value;
      added.push_back(edge);
    }
    for (const auto& [before, after] : added) after->dependencies.push_back(before);
    return error::success;
  });
}

int remove_edges(void* handle, void* const* from, void* const* to, size_t count) {
  return graph_call(handle, [&](System& s, Graph& graph) {
    std::vector<std::pair<Node*, Node*>> removed;
    for (size_t i = 0; i < count; ++i) {
      Node *before, *after;
      if (!find_edge(s, graph, from[i], to[i], &before, &after)) return error::invalid_value;
      const auto& known = after->dependencies;
      if (std::find(known.begin(), known.end(), before) == known.end()) return error::invalid_value;
      removed.emplace_back(before, after);
    }
    for (const auto& [before, after] : removed) std::erase(after->dependencies, before);
    return error::success;
  });
}

int write(void* handle, const char* path, unsigned flags) {
  return graph_call(handle, [&](System&, Graph& graph) {
    return path && write_dot(graph, path, flags) ? error::success : error::operating_system;
  });
}

}  // namespace

bool captured_into(System& s, const Graph& graph) {
  for (const auto& stream : s.scheduler.streams())
    for (const Graph* into = stream->capture ? stream->capture->graph.get() : nullptr; into;
         into = into->owner ? into->owner->graph : nullptr)
      if (into == &graph) return true;
  return false;
}

void add_graph_calls(GraphApi& api) {
  api.create = create_graph;
  api.destroy = destroy_graph;
  api.clone = clone;
  api.node_in_clone = node_in_clone;
  api.nodes = nodes;
  api.roots = roots;
  api.edges = edges;
  api.add_edges = add_edges;
  api.remove_edges = remove_edges;
  api.write_dot = write;
}

}  // namespace stator::emulator::runtime
