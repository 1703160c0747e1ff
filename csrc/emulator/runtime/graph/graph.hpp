// What a stream does in its order, and what a node of a graph does at each launch: kernels, copies, fills, functions of
// the host. A captured call makes the same operation as one that runs at once. Graphs are nodes with dependencies;
// executables are copies of them. Guarded by the scheduler's lock.
#pragma once

#include "emulator/report.hpp"
#include "emulator/runtime/device.hpp"
#include "emulator/runtime/graph/api.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stator::emulator::runtime {

using Clock = std::chrono::steady_clock;

struct System;

// Values of cudaGraphNodeType.
enum class NodeType : int {
  kernel = 0,
  copy = 1,
  fill = 2,
  host = 3,
  graph = 4,
  empty = 5,
  event_wait = 6,
  event_record = 7,
  conditional = 13
};

// Shared by all that perform it, at once too, and never changed.
struct Operation {
  Operation(NodeType is, Device* on, std::string called) : type(is), device(on), what(std::move(called)) {}
  virtual ~Operation() = default;
  Operation(const Operation&) = delete;

  // Without the scheduler's lock.
  virtual Report run() const { return {}; }
  // Takes note of a run, for stator_emulator_launch_counts.
  virtual void count() const {}

  const NodeType type;
  Device* const device;    // on which it runs
  const std::string what;  // for reports
};
using OperationPointer = std::shared_ptr<const Operation>;

// Any work, such as that of a double of a vendor library, which CUDA would see as kernels.
struct TaskOperation : Operation {
  TaskOperation(NodeType is, Device* on, std::string called, std::function<Report()> task)
      : Operation(is, on, std::move(called)), task_(std::move(task)) {}
  Report run() const override { return task_ ? task_() : Report{}; }

 private:
  std::function<Report()> task_;
};

// A call of cudaHostFn_t.
struct HostOperation : Operation {
  HostOperation(Device* on, void (*call)(void*), void* with)
      : Operation(NodeType::host, on, "cudaLaunchHostFunc"), function(call), argument(with) {}
  Report run() const override {
    function(argument);
    return {};
  }

  void (*const function)(void*);
  void* const argument;
};

// A wait for an event, or its record, that is done at each launch.
struct EventOperation : Operation {
  EventOperation(NodeType is, Device* on, void* of)
      : Operation(is, on, is == NodeType::event_wait ? "cudaStreamWaitEvent" : "cudaEventRecord"), event(of) {}

  void* const event;
};

struct KernelOperation : Operation {
  KernelOperation(Device* on, std::string called) : Operation(NodeType::kernel, on, std::move(called)) {}
  Report run() const override;
  void count() const override { launches->fetch_add(1, std::memory_order_relaxed); }

  std::shared_ptr<Program> program;
  const Kernel* kernel = nullptr;
  MachineCode code;
  LaunchConfig config;
  const void* function = nullptr;
  std::shared_ptr<std::atomic<uint64_t>> launches;
  std::vector<std::byte> bytes;
  std::vector<void*> arguments;  // into the bytes
};

struct CopyOperation : Operation {
  explicit CopyOperation(Device* on) : Operation(NodeType::copy, on, "cudaMemcpyAsync") {}
  Report run() const override;
  // Whether the memory is of the same kinds and devices, so that one may stand in a graph for the other.
  bool same_memory(const CopyOperation& other) const {
    return to_device == other.to_device && from_device == other.from_device && to_kind == other.to_kind &&
           from_kind == other.from_kind;
  }

  void* to = nullptr;
  const void* from = nullptr;
  size_t bytes = 0;
  int direction = 0;                                    // cudaMemcpyKind
  Device *to_device = nullptr, *from_device = nullptr;  // null for pageable memory of the host
  MemoryKind to_kind = MemoryKind::pinned, from_kind = MemoryKind::pinned;
};

struct FillOperation : Operation {
  explicit FillOperation(Device* on) : Operation(NodeType::fill, on, "cudaMemsetAsync") {}
  Report run() const override;

  FillCall call;
  Device* owner = nullptr;
  MemoryKind kind = MemoryKind::device;
};

// With the lock. They check what CUDA checks at the call, and return its error.
int make_kernel(Device& device, const KernelCall& call, OperationPointer* out);
// `staged`: the copy goes through memory that both devices reach.
int make_copy(System& s, Device& device, const CopyCall& call, OperationPointer* out, bool staged = false);
int make_fill(System& s, Device& device, const FillCall& call, OperationPointer* out);

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
