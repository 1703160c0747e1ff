// What the calls about graphs share.
#pragma once

#include "emulator/runtime/system.hpp"

#include <algorithm>

namespace stator::emulator::runtime {

// A call about a graph that exists.
template <class F>
int graph_call(void* handle, F f) {
  return device_call([&](System& s, Device&, Scheduler::Lock&) {
    const std::shared_ptr<Graph> graph = s.graphs.find(handle);
    return graph ? f(s, *graph) : error::invalid_value;
  });
}

// A call about a node that exists.
template <class F>
int node_call(void* handle, F f) {
  return device_call([&](System& s, Device&, Scheduler::Lock&) {
    Node* const node = s.graphs.find_node(handle);
    return node ? f(s, *node) : error::invalid_value;
  });
}

// Gives as many as there is room for, and the number of all where none are asked for; else slots after the last are
// null.
inline int give(const std::vector<void*>& found, void** out, size_t* count) {
  if (!out) {
    *count = found.size();
    return error::success;
  }
  for (size_t i = 0; i < *count; ++i) out[i] = i < found.size() ? found[i] : nullptr;
  *count = std::min(*count, found.size());
  return error::success;
}

// Adds a node to the graph of the `NodePlace`, with handles.
int add_node(System& s, const NodePosition& position, OperationPointer operation,
             std::vector<std::shared_ptr<Graph>> bodies, void** out);
// An operation of the same type as another one and on its device, with other parameters.
int make_like(System& s, const Operation& old, const KernelCall& call, OperationPointer* out);
int make_like(System& s, const Operation& old, const CopyCall& call, OperationPointer* out);
int make_like(System& s, const Operation& old, const FillCall& call, OperationPointer* out);
int make_like(System& s, const Operation& old, const HostCall& call, OperationPointer* out);
int make_like(System& s, const Operation& old, const EventCall& call, OperationPointer* out);

// Whether a stream is captured into the graph or one of its bodies.
bool captured_into(System& s, const Graph& graph);

}  // namespace stator::emulator::runtime
