// The functions of the runtime's double that are about graphs. A part of Api.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stator::emulator::runtime {

// cudaKernelNodeParams.
struct KernelCall {
  const void* function = nullptr;  // as registered, or a handle
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  size_t shared_bytes = 0;
  void** arguments = nullptr;    // a pointer for each parameter, or:
  const void* packed = nullptr;  // the bytes of all, laid out as PTX lays them out
  size_t packed_bytes = 0;
  bool cooperative = false;
};

// A copy of one dimension.
struct CopyCall {
  void* to = nullptr;
  const void* from = nullptr;
  size_t bytes = 0;
  int kind = 0;
};

// cudaMemsetParams.
struct FillCall {
  void* to = nullptr;
  size_t pitch = 0;
  uint32_t value = 0, element_bytes = 1;
  size_t width = 0, height = 1;  // in elements, in rows
};

struct HostCall {
  void (*function)(void*) = nullptr;
  void* argument = nullptr;
};

// Of a node that records an event, or that waits for one.
struct EventCall {
  void* event = nullptr;
};

struct ConditionalCall {
  uint64_t handle = 0;
  int type = 0;  // cudaGraphConditionalNodeType
  uint32_t size = 1;
  void** bodies = nullptr;  // given: `size` graphs, in an array that lives as long as the node
};

// Where a new node goes.
struct NodePosition {
  void* graph = nullptr;
  void* const* after = nullptr;
  size_t count = 0;
};

// As the functions of CUDA of the same names. Counts are the capacity on entry, and the number of what there is on
// return; arrays may be null, where only the number is asked for. Edges have no data: all order both nodes in full.
struct GraphApi {
  int (*create)(void** graph, unsigned flags);
  int (*destroy)(void* graph);
  int (*clone)(void** clone, void* graph);
  int (*node_in_clone)(void** node, void* original, void* clone);
  int (*nodes)(void* graph, void** nodes, size_t* count);
  int (*roots)(void* graph, void** nodes, size_t* count);
  int (*edges)(void* graph, void** from, void** to, size_t* count);
  int (*add_edges)(void* graph, void* const* from, void* const* to, size_t count);
  int (*remove_edges)(void* graph, void* const* from, void* const* to, size_t count);
  int (*write_dot)(void* graph, const char* path, unsigned flags);

  int (*add_kernel)(void** node, const NodePosition* position, const KernelCall* call);
  int (*add_copy)(void** node, const NodePosition* position, const CopyCall* call);
  int (*add_fill)(void** node, const NodePosition* position, const FillCall* call);
  int (*add_host)(void** node, const NodePosition* position, const HostCall* call);
  int (*add_event_record)(void** node, const NodePosition* position, const EventCall* call);
  int (*add_event_wait)(void** node, const NodePosition* position, const EventCall* call);
  int (*add_empty)(void** node, const NodePosition* position);
  int (*add_child)(void** node, const NodePosition* position, void* child);
  int (*node_destroy)(void* node);
  int (*node_type)(void* node, int* type);
  int (*node_dependencies)(void* node, void** nodes, size_t* count);
  int (*node_dependents)(void* node, void** nodes, size_t* count);
  // Arguments are the node's own, valid until its parameters change.
  int (*get_kernel)(void* node, KernelCall* call);
  int (*get_copy)(void* node, CopyCall* call);
  int (*get_fill)(void* node, FillCall* call);
  int (*get_host)(void* node, HostCall* call);
  int (*get_event)(void* node, EventCall* call);  // of either type
  int (*get_child)(void* node, void** graph);
  int (*set_kernel)(void* node, const KernelCall* call);
  int (*set_copy)(void* node, const CopyCall* call);
  int (*set_fill)(void* node, const FillCall* call);
  int (*set_host)(void* node, const HostCall* call);
  int (*set_event)(void* node, const EventCall* call);
  // Whether all blocks of a kernel must be resident at once, an attribute of its node.
  int (*get_cooperative)(void* node, int* cooperative);
  int (*set_cooperative)(void* node, int cooperative);

  int (*instantiate)(void** executable, void* graph, uint64_t flags);
  int (*executable_destroy)(void* executable);
  int (*executable_flags)(void* executable, uint64_t* flags);
  int (*launch)(void* executable, void* stream);
  int (*upload)(void* executable, void* stream);
  // The result is a cudaGraphExecUpdateResult; nodes are the graph's, null where there are none.
  int (*update)(void* executable, void* graph, int* result, void** node, void** from);
  int (*executable_set_kernel)(void* executable, void* node, const KernelCall* call);
  int (*executable_set_copy)(void* executable, void* node, const CopyCall* call);
  int (*executable_set_fill)(void* executable, void* node, const FillCall* call);
  int (*executable_set_host)(void* executable, void* node, const HostCall* call);
  int (*executable_set_event)(void* executable, void* node, const EventCall* call);
  int (*executable_set_child)(void* executable, void* node, void* child);
  int (*set_enabled)(void* executable, void* node, unsigned enabled);
  int (*get_enabled)(void* executable, void* node, unsigned* enabled);

  int (*create_condition)(uint64_t* handle, void* graph, unsigned value, unsigned flags);
  int (*add_conditional)(void** node, const NodePosition* position, ConditionalCall* call);
};

}  // namespace stator::emulator::runtime
