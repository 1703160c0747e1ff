// Graphs: nodes with their dependencies, and executable copies of them. Guarded by the scheduler's lock.
#pragma once

#include "emulator/runtime/graph/operation.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace stator::emulator::runtime {

using Clock = std::chrono::steady_clock;

struct Graph;

// What a conditional node reads: four bytes of the device's memory, whose address is the handle that kernels are given.
struct Condition {
  Condition(Device* on, void* at, uint32_t initially, bool assigns)
      : device(on), cell(at), value(initially), assign(assigns) {}
  ~Condition() { device->memory.free(cell); }
  Condition(const Condition&) = delete;

  Device* const device;
  void* const cell;
  const uint32_t value;
  const bool assign;  // the value at the beginning of each launch
};

struct ConditionalOperation : Operation {
  enum class Kind : int { branch = 0, loop = 1, choice = 2 };  // cudaGraphConditionalNodeType
  ConditionalOperation(std::shared_ptr<Condition> by, Kind is)
      : Operation(NodeType::conditional, by->device, "A conditional node"), condition(std::move(by)), kind(is) {}

  const std::shared_ptr<Condition> condition;
  const Kind kind;
};

struct Node {
  void* handle = nullptr;
  void* origin = nullptr;  // the handle of the node of which this is a copy
  Graph* graph = nullptr;
  OperationPointer operation;
  std::string what;                            // for reports: who enqueued it
  std::vector<Node*> dependencies;             // of the same graph
  std::vector<std::shared_ptr<Graph>> bodies;  // of a child graph or a conditional node
  std::vector<void*> body_handles;             // as the caller was given them
  bool enabled = true;

  NodeType type() const { return operation->type; }
};

struct Graph {
  void* handle = nullptr;
  const Node* owner = nullptr;  // of which it is a body
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<std::shared_ptr<Condition>> conditions;  // that were made for it

  Node* add(OperationPointer operation, std::span<Node* const> dependencies, std::string what);
  // The nodes' positions by their addresses.
  std::unordered_map<const Node*, size_t> indices() const;
  // All nodes can run: there is no cycle.
  bool ordered() const;
  // Whether any node, those of bodies included, is of the type.
  bool contains(NodeType type) const;
};

// An instantiated graph. Launches under way share the image, which is copied before a change.
struct Executable {
  void* handle = nullptr;
  void* origin = nullptr;  // the graph
  uint64_t flags = 0;
  std::shared_ptr<Graph> image;  // whose nodes have origins and no handles
  Point last;                    // of its last launch
};

struct Graphs {
  std::unordered_map<void*, std::shared_ptr<Graph>> graphs;  // bodies too
  std::unordered_map<void*, Node*> nodes;
  std::map<void*, Executable> executables;

  std::shared_ptr<Graph> find(void* graph) const;
  Node* find_node(void* node) const;
  Executable* find_executable(void* executable);
};

// A copy of all nodes, whose origins are those of `of`, or their handles where those have none.
std::shared_ptr<Graph> copy_of(const Graph& of);
// Gives handles to the graph, its nodes and their bodies, which `release` takes away again.
void name_all(System& s, const std::shared_ptr<Graph>& graph);
void name_node(System& s, Node& node);
void release_names(System& s, const Graph& graph);
void release_name(System& s, const Node& node);
// The node of an image that is the copy of the one with the handle; null if there is none.
Node* find_copy(const Graph& image, void* origin);
// All the nodes that lead to the given ones, and these.
std::unordered_set<const Node*> ancestors(std::span<Node* const> of);

// How an image may take the parameters of a graph: values of cudaGraphExecUpdateResult.
enum class Update : int {
  success = 0,
  error = 1,
  topology = 2,
  type = 3,
  parameters = 5,
  unsupported = 6,
  function = 7,
  attributes = 8
};
struct UpdateResult {
  Update result = Update::success;
  const Node *node = nullptr, *from = nullptr;  // of `by`
};
// Whether one operation may take the place of another in an image.
Update replaceable(const Operation& old, const Operation& by);
UpdateResult compare(const Graph& image, const Graph& by);
// After a comparison that succeeded.
void assign(Graph& image, const Graph& by);

// Performs the nodes in an order that their dependencies permit: that of the nodes, or one that the seed draws. Stops
// when a device has failed. Without the lock.
using Times = std::unordered_map<const Node*, std::shared_ptr<Clock::time_point>>;  // of nodes that record events
void perform(const Graph& image, uint64_t seed, const Times& times);
// Writes the graph in the DOT language. False where the file cannot be written.
bool write_dot(const Graph& graph, const char* path, uint32_t flags);

}  // namespace stator::emulator::runtime
