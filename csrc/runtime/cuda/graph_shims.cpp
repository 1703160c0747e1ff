// The CUDA runtime's functions for captures and graphs, as shims.cpp has the others.
#include "runtime/cuda/shim.hpp"

namespace {

using stator::emulator::runtime::ConditionalCall;
using stator::emulator::runtime::KernelCall;
using stator::emulator::runtime::NodePosition;
using stator::runtime::Api;

template <class T>
void** slots(T* handles) {
  return reinterpret_cast<void**>(handles);
}
template <class T>
void* const* slots(const T* handles) {
  return reinterpret_cast<void* const*>(handles);
}

NodePosition position_of(cudaGraph_t graph, const cudaGraphNode_t* after, size_t count) {
  return {.graph = graph, .after = slots(after), .count = count};
}

KernelCall call_of(const cudaKernelNodeParams& p) {
  return {.function = p.func,
          .grid = {p.gridDim.x, p.gridDim.y, p.gridDim.z},
          .block = {p.blockDim.x, p.blockDim.y, p.blockDim.z},
          .shared_bytes = p.sharedMemBytes,
          .arguments = p.kernelParams};
}

// Calls of the emulator's functions with what they point to.
template <class C>
int set(int (*function)(void*, const C*), cudaGraphNode_t node, const C& call) {
  return function(node, &call);
}
template <class C>
int set(int (*function)(void*, void*, const C*), cudaGraphExec_t executable, cudaGraphNode_t node, const C& call) {
  return function(executable, node, &call);
}

int add_child(const Api& api, cudaGraphNode_t* node, const NodePosition& position, cudaGraph_t child) {
  return api.graph.add_child(slots(node), &position, child);
}

// Conditional nodes are the ones that stator adds by their parameters.
int add_conditional(const Api& api, cudaGraphNode_t* node, const NodePosition& position, cudaGraphNodeParams& p) {
  if (p.type != cudaGraphNodeTypeConditional) return cudaErrorNotSupported;
  ConditionalCall call{.handle = p.conditional.handle, .type = p.conditional.type, .size = p.conditional.size};
  const int code = api.graph.add_conditional(slots(node), &position, &call);
  p.conditional.phGraph_out = reinterpret_cast<cudaGraph_t*>(call.bodies);
  return code;
}

int create_condition(const Api& api, cudaGraphConditionalHandle* handle, cudaGraph_t graph, unsigned value,
                     unsigned flags) {
  uint64_t made = 0;
  const int code = api.graph.create_condition(&made, graph, value, flags);
  *handle = made;
  return code;
}

int update(const Api& api, cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
  int result = 0;
  void *node = nullptr, *from = nullptr;
  const int code = api.graph.update(executable, graph, &result, &node, &from);
  *info = {.result = cudaGraphExecUpdateResult(result),
           .errorNode = static_cast<cudaGraphNode_t>(node),
           .errorFromNode = static_cast<cudaGraphNode_t>(from)};
  return code;
}

int capture_info(const Api& api, cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                 cudaGraph_t* graph, const cudaGraphNode_t** nodes, size_t* count) {
  int state = 0;
  uint64_t number = 0;
  void* captured = nullptr;
  void* const* found = nullptr;
  if (const int code = api.stream_capture_info(stream, &state, &number, &captured, &found, count)) return code;
  *status = cudaStreamCaptureStatus(state);
  *id = number;
  *graph = static_cast<cudaGraph_t>(captured);
  *nodes = reinterpret_cast<const cudaGraphNode_t*>(found);
  return 0;
}

}  // namespace

extern "C" {

// Stator gives no edge data: all edges order both nodes in full.
STATOR_SHIM(cudaStreamBeginCapture, (cudaStream_t stream, cudaStreamCaptureMode mode), (stream, mode),
            api.stream_begin_capture(stream, mode))
STATOR_SHIM(cudaStreamBeginCaptureToGraph,
            (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* after, const cudaGraphEdgeData* data,
             size_t count, cudaStreamCaptureMode mode),
            (stream, graph, after, data, count, mode),
            api.stream_begin_capture_to_graph(stream, graph, slots(after), count, mode))
STATOR_SHIM(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t* graph), (stream, graph),
            api.stream_end_capture(stream, slots(graph)))
STATOR_SHIM(cudaStreamGetCaptureInfo,
            (cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph,
             const cudaGraphNode_t** nodes, const cudaGraphEdgeData** data, size_t* count),
            (stream, status, id, graph, nodes, data, count), capture_info(api, stream, status, id, graph, nodes, count))
STATOR_SHIM(cudaStreamUpdateCaptureDependencies,
            (cudaStream_t stream, cudaGraphNode_t* nodes, const cudaGraphEdgeData* data, size_t count, unsigned flags),
            (stream, nodes, data, count, flags),
            api.stream_update_capture_dependencies(stream, slots(nodes), count, flags))

STATOR_SHIM(cudaGraphDestroy, (cudaGraph_t graph), (graph), api.graph.destroy(graph))
STATOR_SHIM(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count), (graph, nodes, count),
            api.graph.nodes(graph, slots(nodes), count))
STATOR_SHIM(cudaGraphAddNode,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* after, const cudaGraphEdgeData* data,
             size_t count, cudaGraphNodeParams* parameters),
            (node, graph, after, data, count, parameters),
            add_conditional(api, node, position_of(graph, after, count), *parameters))
STATOR_SHIM(cudaGraphAddChildGraphNode,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, cudaGraph_t child),
            (node, graph, after, count, child), add_child(api, node, position_of(graph, after, count), child))
STATOR_SHIM(cudaGraphKernelNodeSetParams, (cudaGraphNode_t node, const cudaKernelNodeParams* parameters),
            (node, parameters), set(api.graph.set_kernel, node, call_of(*parameters)))

STATOR_SHIM(cudaGraphInstantiate, (cudaGraphExec_t * executable, cudaGraph_t graph, unsigned long long flags),
            (executable, graph, flags), api.graph.instantiate(slots(executable), graph, flags))
STATOR_SHIM(cudaGraphExecDestroy, (cudaGraphExec_t executable), (executable), api.graph.executable_destroy(executable))
STATOR_SHIM(cudaGraphLaunch, (cudaGraphExec_t executable, cudaStream_t stream), (executable, stream),
            api.graph.launch(executable, stream))
STATOR_SHIM(cudaGraphExecUpdate, (cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info),
            (executable, graph, info), update(api, executable, graph, info))
STATOR_SHIM(cudaGraphExecKernelNodeSetParams,
            (cudaGraphExec_t executable, cudaGraphNode_t node, const cudaKernelNodeParams* parameters),
            (executable, node, parameters),
            set(api.graph.executable_set_kernel, executable, node, call_of(*parameters)))
STATOR_SHIM(cudaGraphConditionalHandleCreate,
            (cudaGraphConditionalHandle * handle, cudaGraph_t graph, unsigned value, unsigned flags),
            (handle, graph, value, flags), create_condition(api, handle, graph, value, flags))

}  // extern "C"
