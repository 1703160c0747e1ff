// The CUDA runtime's functions for captures and graphs, as ../cuda_shims.cpp has the others.
#include "runtime/shims/cuda_shim.hpp"

#include <cuda.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace {

using stator::emulator::runtime::ConditionalCall;
using stator::emulator::runtime::CopyCall;
using stator::emulator::runtime::EventCall;
using stator::emulator::runtime::FillCall;
using stator::emulator::runtime::HostCall;
using stator::emulator::runtime::KernelCall;
using stator::emulator::runtime::NodePlace;
using stator::runtime::Api;

template <class T>
void** slots(T* handles) {
  return reinterpret_cast<void**>(handles);
}
template <class T>
void* const* slots(const T* handles) {
  return reinterpret_cast<void* const*>(handles);
}

NodePlace place_of(cudaGraph_t graph, const cudaGraphNode_t* after, size_t count) {
  return {.graph = graph, .after = slots(after), .count = count};
}

// Whether no edge has data, as those that order both nodes in full.
bool plain(const cudaGraphEdgeData* data, size_t count) {
  return !data || std::all_of(data, data + count, [](const cudaGraphEdgeData& edge) {
    return !edge.from_port && !edge.to_port && !edge.type;
  });
}

// The packed form of a kernel's parameters.
bool take_extra(void** extra, KernelCall* call) {
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
      call->packed = extra[1];
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
      call->packed_bytes = *static_cast<const size_t*>(extra[1]);
    else
      return false;
  }
  return call->packed != nullptr;
}

// False where the parameters are given twice, or not as CUDA lays them out. P is cudaKernelNodeParams or its V2.
template <class P>
bool call_of(const P& p, KernelCall* call) {
  *call = {.function = p.func,
           .grid = {p.gridDim.x, p.gridDim.y, p.gridDim.z},
           .block = {p.blockDim.x, p.blockDim.y, p.blockDim.z},
           .shared_bytes = p.sharedMemBytes,
           .arguments = p.kernelParams};
  return !p.extra || (!p.kernelParams && take_extra(p.extra, call));
}

// A copy of one dimension; false for others.
bool call_of(const cudaMemcpy3DParms& p, CopyCall* call) {
  if (p.srcArray || p.dstArray || p.extent.height != 1 || p.extent.depth != 1) return false;
  if (p.srcPos.y || p.srcPos.z || p.dstPos.y || p.dstPos.z) return false;
  *call = {.to = static_cast<char*>(p.dstPtr.ptr) + p.dstPos.x,
           .from = static_cast<const char*>(p.srcPtr.ptr) + p.srcPos.x,
           .bytes = p.extent.width,
           .kind = p.kind};
  return true;
}

template <class P>
FillCall fill_of(const P& p) {
  return {.to = p.dst,
          .pitch = p.pitch,
          .value = p.value,
          .element_bytes = p.elementSize,
          .width = p.width,
          .height = p.height};
}

template <class P>
HostCall host_of(const P& p) {
  return {.function = p.fn, .argument = p.userData};
}

// Applies to the parameters as the emulator has them.
template <class P, class F>
int with_kernel(const P& p, F f) {
  KernelCall call;
  return call_of(p, &call) ? f(call) : int(cudaErrorInvalidValue);
}
template <class F>
int with_copy(const cudaMemcpy3DParms& p, F f) {
  CopyCall call;
  return call_of(p, &call) ? f(call) : int(cudaErrorNotSupported);
}

// Calls of the emulator's functions with what they point to.
template <class C>
int add(int (*function)(void**, const NodePlace*, const C*), cudaGraphNode_t* node, const NodePlace& place,
        const C& call) {
  return function(slots(node), &place, &call);
}
int add(int (*function)(void**, const NodePlace*, void*), cudaGraphNode_t* node, const NodePlace& place,
        cudaGraph_t child) {
  return function(slots(node), &place, child);
}
int add(int (*function)(void**, const NodePlace*), cudaGraphNode_t* node, const NodePlace& place) {
  return function(slots(node), &place);
}
template <class C>
int set(int (*function)(void*, const C*), cudaGraphNode_t node, const C& call) {
  return function(node, &call);
}
template <class C>
int set(int (*function)(void*, void*, const C*), cudaGraphExec_t executable, cudaGraphNode_t node, const C& call) {
  return function(executable, node, &call);
}

int get(const Api& api, cudaGraphNode_t node, cudaKernelNodeParams* out) {
  KernelCall call;
  if (const int code = api.graph.get_kernel(node, &call)) return code;
  *out = {};
  out->func = const_cast<void*>(call.function);
  out->gridDim = {call.grid[0], call.grid[1], call.grid[2]};
  out->blockDim = {call.block[0], call.block[1], call.block[2]};
  out->sharedMemBytes = unsigned(call.shared_bytes);
  out->kernelParams = call.arguments;
  return 0;
}

int get(const Api& api, cudaGraphNode_t node, cudaMemcpy3DParms* out) {
  CopyCall call;
  if (const int code = api.graph.get_copy(node, &call)) return code;
  *out = {};
  out->srcPtr = {const_cast<void*>(call.from), call.bytes, call.bytes, 1};
  out->dstPtr = {call.to, call.bytes, call.bytes, 1};
  out->extent = {call.bytes, 1, 1};
  out->kind = cudaMemcpyKind(call.kind);
  return 0;
}

int get(const Api& api, cudaGraphNode_t node, cudaMemsetParams* out) {
  FillCall call;
  if (const int code = api.graph.get_fill(node, &call)) return code;
  *out = {.dst = call.to,
          .pitch = call.pitch,
          .value = call.value,
          .elementSize = call.element_bytes,
          .width = call.width,
          .height = call.height};
  return 0;
}

int get(const Api& api, cudaGraphNode_t node, cudaHostNodeParams* out) {
  HostCall call;
  if (const int code = api.graph.get_host(node, &call)) return code;
  *out = {.fn = call.function, .userData = call.argument};
  return 0;
}

int add_conditional(const Api& api, cudaGraphNode_t* node, const NodePlace& place, cudaConditionalNodeParams& p) {
  ConditionalCall call{.handle = p.handle, .type = p.type, .size = p.size};
  const int code = api.graph.add_conditional(slots(node), &place, &call);
  p.phGraph_out = reinterpret_cast<cudaGraph_t*>(call.bodies);
  return code;
}

int add(const Api& api, cudaGraphNode_t* node, const NodePlace& place, cudaGraphNodeParams& p) {
  switch (p.type) {
    case cudaGraphNodeTypeKernel:
      return with_kernel(p.kernel, [&](const KernelCall& c) { return add(api.graph.add_kernel, node, place, c); });
    case cudaGraphNodeTypeMemcpy:
      return with_copy(p.memcpy.copyParams, [&](const CopyCall& c) { return add(api.graph.add_copy, node, place, c); });
    case cudaGraphNodeTypeMemset: return add(api.graph.add_fill, node, place, fill_of(p.memset));
    case cudaGraphNodeTypeHost: return add(api.graph.add_host, node, place, host_of(p.host));
    case cudaGraphNodeTypeGraph: return add(api.graph.add_child, node, place, p.graph.graph);
    case cudaGraphNodeTypeEventRecord:
      return add(api.graph.add_event_record, node, place, EventCall{p.eventRecord.event});
    case cudaGraphNodeTypeWaitEvent: return add(api.graph.add_event_wait, node, place, EventCall{p.eventWait.event});
    case cudaGraphNodeTypeEmpty: return add(api.graph.add_empty, node, place);
    case cudaGraphNodeTypeConditional: return add_conditional(api, node, place, p.conditional);
    default: return cudaErrorNotSupported;
  }
}

int set(const Api& api, cudaGraphNode_t node, const cudaGraphNodeParams& p) {
  switch (p.type) {
    case cudaGraphNodeTypeKernel:
      return with_kernel(p.kernel, [&](const KernelCall& c) { return set(api.graph.set_kernel, node, c); });
    case cudaGraphNodeTypeMemcpy:
      return with_copy(p.memcpy.copyParams, [&](const CopyCall& c) { return set(api.graph.set_copy, node, c); });
    case cudaGraphNodeTypeMemset: return set(api.graph.set_fill, node, fill_of(p.memset));
    case cudaGraphNodeTypeHost: return set(api.graph.set_host, node, host_of(p.host));
    default: return cudaErrorNotSupported;
  }
}

int set(const Api& api, cudaGraphExec_t in, cudaGraphNode_t node, const cudaGraphNodeParams& p) {
  switch (p.type) {
    case cudaGraphNodeTypeKernel:
      return with_kernel(p.kernel,
                         [&](const KernelCall& c) { return set(api.graph.executable_set_kernel, in, node, c); });
    case cudaGraphNodeTypeMemcpy:
      return with_copy(p.memcpy.copyParams,
                       [&](const CopyCall& c) { return set(api.graph.executable_set_copy, in, node, c); });
    case cudaGraphNodeTypeMemset: return set(api.graph.executable_set_fill, in, node, fill_of(p.memset));
    case cudaGraphNodeTypeHost: return set(api.graph.executable_set_host, in, node, host_of(p.host));
    case cudaGraphNodeTypeGraph: return api.graph.executable_set_child(in, node, p.graph.graph);
    default: return cudaErrorNotSupported;
  }
}

// After a call that gave nodes: their edges have no data.
int with_data(int code, cudaGraphEdgeData* data, const size_t* count) {
  if (!code && data) std::fill_n(data, *count, cudaGraphEdgeData{});
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

int event_of(const Api& api, cudaGraphNode_t node, cudaEvent_t* event) {
  EventCall call;
  const int code = api.graph.get_event(node, &call);
  *event = static_cast<cudaEvent_t>(call.event);
  return code;
}

// The one attribute that changes what a kernel may do.
int attribute_of(const Api& api, cudaGraphNode_t node, cudaLaunchAttributeID attribute, cudaLaunchAttributeValue* out) {
  if (attribute != cudaLaunchAttributeCooperative) return cudaErrorNotSupported;
  return api.graph.get_cooperative(node, &out->cooperative);
}
int set_attribute(const Api& api, cudaGraphNode_t node, cudaLaunchAttributeID attribute,
                  const cudaLaunchAttributeValue& value) {
  if (attribute != cudaLaunchAttributeCooperative) return cudaErrorNotSupported;
  return api.graph.set_cooperative(node, value.cooperative);
}

int instantiate(const Api& api, cudaGraphExec_t* executable, cudaGraph_t graph, cudaGraphInstantiateParams* p) {
  const int code = api.graph.instantiate(slots(executable), graph, p->flags & ~cudaGraphInstantiateFlagUpload);
  p->errNode_out = nullptr;
  p->result_out = code ? cudaGraphInstantiateError : cudaGraphInstantiateSuccess;
  return code;
}

int capture_info(const Api& api, cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                 cudaGraph_t* graph, const cudaGraphNode_t** nodes, const cudaGraphEdgeData** data, size_t* count) {
  int state = 0;
  uint64_t number = 0;
  void* held = nullptr;
  void* const* found = nullptr;
  size_t many = 0;
  if (const int code = api.stream_capture_info(stream, &state, &number, &held, &found, &many)) return code;
  *status = cudaStreamCaptureStatus(state);
  if (id) *id = number;
  if (graph) *graph = static_cast<cudaGraph_t>(held);
  if (nodes) *nodes = reinterpret_cast<const cudaGraphNode_t*>(found);
  if (count) *count = many;
  if (data) {
    thread_local std::vector<cudaGraphEdgeData> none;
    none.assign(many, {});
    *data = none.data();
  }
  return 0;
}

}  // namespace

extern "C" {

STATOR_SHIM(cudaStreamBeginCapture, (cudaStream_t stream, cudaStreamCaptureMode mode), (stream, mode),
            api.stream_begin_capture(stream, mode))
STATOR_SHIM(cudaStreamBeginCaptureToGraph,
            (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* after, const cudaGraphEdgeData* data,
             size_t count, cudaStreamCaptureMode mode),
            (stream, graph, after, data, count, mode),
            plain(data, count) ? api.stream_begin_capture_to_graph(stream, graph, slots(after), count, mode)
                               : int(cudaErrorNotSupported))
STATOR_SHIM(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t* graph), (stream, graph),
            api.stream_end_capture(stream, slots(graph)))
STATOR_SHIM(cudaStreamGetCaptureInfo,
            (cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph,
             const cudaGraphNode_t** nodes, const cudaGraphEdgeData** data, size_t* count),
            (stream, status, id, graph, nodes, data, count),
            capture_info(api, stream, status, id, graph, nodes, data, count))
STATOR_SHIM(cudaStreamUpdateCaptureDependencies,
            (cudaStream_t stream, cudaGraphNode_t* nodes, const cudaGraphEdgeData* data, size_t count, unsigned flags),
            (stream, nodes, data, count, flags),
            plain(data, count) ? api.stream_update_capture_dependencies(stream, slots(nodes), count, flags)
                               : int(cudaErrorNotSupported))
STATOR_SHIM(cudaThreadExchangeStreamCaptureMode, (cudaStreamCaptureMode * mode), (mode),
            api.exchange_capture_mode(reinterpret_cast<int*>(mode)))

STATOR_SHIM(cudaGraphCreate, (cudaGraph_t * graph, unsigned flags), (graph, flags),
            api.graph.create(slots(graph), flags))
STATOR_SHIM(cudaGraphDestroy, (cudaGraph_t graph), (graph), api.graph.destroy(graph))
STATOR_SHIM(cudaGraphClone, (cudaGraph_t * clone, cudaGraph_t graph), (clone, graph),
            api.graph.clone(slots(clone), graph))
STATOR_SHIM(cudaGraphNodeFindInClone, (cudaGraphNode_t * node, cudaGraphNode_t original, cudaGraph_t clone),
            (node, original, clone), api.graph.node_in_clone(slots(node), original, clone))
STATOR_SHIM(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count), (graph, nodes, count),
            api.graph.nodes(graph, slots(nodes), count))
STATOR_SHIM(cudaGraphGetRootNodes, (cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count), (graph, nodes, count),
            api.graph.roots(graph, slots(nodes), count))
STATOR_SHIM(cudaGraphGetEdges,
            (cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data, size_t* count),
            (graph, from, to, data, count),
            with_data(api.graph.edges(graph, slots(from), slots(to), count), data, count))
STATOR_SHIM(cudaGraphAddDependencies,
            (cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
             size_t count),
            (graph, from, to, data, count),
            plain(data, count) ? api.graph.add_edges(graph, slots(from), slots(to), count) : int(cudaErrorNotSupported))
STATOR_SHIM(cudaGraphRemoveDependencies,
            (cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
             size_t count),
            (graph, from, to, data, count), api.graph.remove_edges(graph, slots(from), slots(to), count))
STATOR_SHIM(cudaGraphDebugDotPrint, (cudaGraph_t graph, const char* path, unsigned flags), (graph, path, flags),
            api.graph.write_dot(graph, path, flags))

STATOR_SHIM(cudaGraphAddNode,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* after, const cudaGraphEdgeData* data,
             size_t count, cudaGraphNodeParams* parameters),
            (node, graph, after, data, count, parameters),
            plain(data, count) ? add(api, node, place_of(graph, after, count), *parameters)
                               : int(cudaErrorNotSupported))
STATOR_SHIM(cudaGraphAddKernelNode,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
             const cudaKernelNodeParams* parameters),
            (node, graph, after, count, parameters), with_kernel(*parameters, [&](const KernelCall& call) {
              return add(api.graph.add_kernel, node, place_of(graph, after, count), call);
            }))
STATOR_SHIM(cudaGraphAddMemcpyNode,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
             const cudaMemcpy3DParms* parameters),
            (node, graph, after, count, parameters), with_copy(*parameters, [&](const CopyCall& call) {
              return add(api.graph.add_copy, node, place_of(graph, after, count), call);
            }))
STATOR_SHIM(cudaGraphAddMemcpyNode1D,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, void* to,
             const void* from, size_t bytes, cudaMemcpyKind kind),
            (node, graph, after, count, to, from, bytes, kind),
            add(api.graph.add_copy, node, place_of(graph, after, count),
                CopyCall{.to = to, .from = from, .bytes = bytes, .kind = kind}))
STATOR_SHIM(cudaGraphAddMemsetNode,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
             const cudaMemsetParams* parameters),
            (node, graph, after, count, parameters),
            add(api.graph.add_fill, node, place_of(graph, after, count), fill_of(*parameters)))
STATOR_SHIM(cudaGraphAddHostNode,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
             const cudaHostNodeParams* parameters),
            (node, graph, after, count, parameters),
            add(api.graph.add_host, node, place_of(graph, after, count), host_of(*parameters)))
STATOR_SHIM(cudaGraphAddEmptyNode,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count),
            (node, graph, after, count), add(api.graph.add_empty, node, place_of(graph, after, count)))
STATOR_SHIM(cudaGraphAddChildGraphNode,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, cudaGraph_t child),
            (node, graph, after, count, child), add(api.graph.add_child, node, place_of(graph, after, count), child))
STATOR_SHIM(cudaGraphAddEventRecordNode,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, cudaEvent_t event),
            (node, graph, after, count, event),
            add(api.graph.add_event_record, node, place_of(graph, after, count), EventCall{event}))
STATOR_SHIM(cudaGraphAddEventWaitNode,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, cudaEvent_t event),
            (node, graph, after, count, event),
            add(api.graph.add_event_wait, node, place_of(graph, after, count), EventCall{event}))
STATOR_SHIM(cudaGraphEventRecordNodeGetEvent, (cudaGraphNode_t node, cudaEvent_t* event), (node, event),
            event_of(api, node, event))
STATOR_SHIM(cudaGraphEventWaitNodeGetEvent, (cudaGraphNode_t node, cudaEvent_t* event), (node, event),
            event_of(api, node, event))
STATOR_SHIM(cudaGraphEventRecordNodeSetEvent, (cudaGraphNode_t node, cudaEvent_t event), (node, event),
            set(api.graph.set_event, node, EventCall{event}))
STATOR_SHIM(cudaGraphEventWaitNodeSetEvent, (cudaGraphNode_t node, cudaEvent_t event), (node, event),
            set(api.graph.set_event, node, EventCall{event}))
STATOR_SHIM(cudaGraphKernelNodeGetAttribute,
            (cudaGraphNode_t node, cudaLaunchAttributeID attribute, cudaLaunchAttributeValue* out),
            (node, attribute, out), attribute_of(api, node, attribute, out))
STATOR_SHIM(cudaGraphKernelNodeSetAttribute,
            (cudaGraphNode_t node, cudaLaunchAttributeID attribute, const cudaLaunchAttributeValue* value),
            (node, attribute, value), set_attribute(api, node, attribute, *value))
STATOR_SHIM(cudaGraphDestroyNode, (cudaGraphNode_t node), (node), api.graph.node_destroy(node))
STATOR_SHIM(cudaGraphNodeGetType, (cudaGraphNode_t node, cudaGraphNodeType* type), (node, type),
            api.graph.node_type(node, reinterpret_cast<int*>(type)))
STATOR_SHIM(cudaGraphNodeGetDependencies,
            (cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* data, size_t* count),
            (node, nodes, data, count), with_data(api.graph.node_dependencies(node, slots(nodes), count), data, count))
STATOR_SHIM(cudaGraphNodeGetDependentNodes,
            (cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* data, size_t* count),
            (node, nodes, data, count), with_data(api.graph.node_dependents(node, slots(nodes), count), data, count))
STATOR_SHIM(cudaGraphKernelNodeGetParams, (cudaGraphNode_t node, cudaKernelNodeParams* out), (node, out),
            get(api, node, out))
STATOR_SHIM(cudaGraphKernelNodeSetParams, (cudaGraphNode_t node, const cudaKernelNodeParams* parameters),
            (node, parameters),
            with_kernel(*parameters, [&](const KernelCall& call) { return set(api.graph.set_kernel, node, call); }))
STATOR_SHIM(cudaGraphMemcpyNodeGetParams, (cudaGraphNode_t node, cudaMemcpy3DParms* out), (node, out),
            get(api, node, out))
STATOR_SHIM(cudaGraphMemcpyNodeSetParams1D,
            (cudaGraphNode_t node, void* to, const void* from, size_t bytes, cudaMemcpyKind kind),
            (node, to, from, bytes, kind),
            set(api.graph.set_copy, node, CopyCall{.to = to, .from = from, .bytes = bytes, .kind = kind}))
STATOR_SHIM(cudaGraphMemsetNodeGetParams, (cudaGraphNode_t node, cudaMemsetParams* out), (node, out),
            get(api, node, out))
STATOR_SHIM(cudaGraphMemsetNodeSetParams, (cudaGraphNode_t node, const cudaMemsetParams* parameters),
            (node, parameters), set(api.graph.set_fill, node, fill_of(*parameters)))
STATOR_SHIM(cudaGraphHostNodeGetParams, (cudaGraphNode_t node, cudaHostNodeParams* out), (node, out),
            get(api, node, out))
STATOR_SHIM(cudaGraphHostNodeSetParams, (cudaGraphNode_t node, const cudaHostNodeParams* parameters),
            (node, parameters), set(api.graph.set_host, node, host_of(*parameters)))
STATOR_SHIM(cudaGraphChildGraphNodeGetGraph, (cudaGraphNode_t node, cudaGraph_t* graph), (node, graph),
            api.graph.get_child(node, slots(graph)))
STATOR_SHIM(cudaGraphNodeSetParams, (cudaGraphNode_t node, cudaGraphNodeParams* parameters), (node, parameters),
            set(api, node, *parameters))

STATOR_SHIM(cudaGraphInstantiate, (cudaGraphExec_t * executable, cudaGraph_t graph, unsigned long long flags),
            (executable, graph, flags), api.graph.instantiate(slots(executable), graph, flags))
STATOR_SHIM(cudaGraphInstantiateWithFlags, (cudaGraphExec_t * executable, cudaGraph_t graph, unsigned long long flags),
            (executable, graph, flags), api.graph.instantiate(slots(executable), graph, flags))
STATOR_SHIM(cudaGraphInstantiateWithParams,
            (cudaGraphExec_t * executable, cudaGraph_t graph, cudaGraphInstantiateParams* parameters),
            (executable, graph, parameters), instantiate(api, executable, graph, parameters))
STATOR_SHIM(cudaGraphExecDestroy, (cudaGraphExec_t executable), (executable), api.graph.executable_destroy(executable))
STATOR_SHIM(cudaGraphExecGetFlags, (cudaGraphExec_t executable, unsigned long long* flags), (executable, flags), [&] {
  uint64_t found = 0;
  const int code = api.graph.executable_flags(executable, &found);
  *flags = found;
  return code;
}())
STATOR_SHIM(cudaGraphLaunch, (cudaGraphExec_t executable, cudaStream_t stream), (executable, stream),
            api.graph.launch(executable, stream))
STATOR_SHIM(cudaGraphUpload, (cudaGraphExec_t executable, cudaStream_t stream), (executable, stream),
            api.graph.upload(executable, stream))
STATOR_SHIM(cudaGraphExecUpdate, (cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info),
            (executable, graph, info), update(api, executable, graph, info))
STATOR_SHIM(cudaGraphExecKernelNodeSetParams,
            (cudaGraphExec_t executable, cudaGraphNode_t node, const cudaKernelNodeParams* parameters),
            (executable, node, parameters), with_kernel(*parameters, [&](const KernelCall& call) {
              return set(api.graph.executable_set_kernel, executable, node, call);
            }))
STATOR_SHIM(cudaGraphExecMemcpyNodeSetParams1D,
            (cudaGraphExec_t executable, cudaGraphNode_t node, void* to, const void* from, size_t bytes,
             cudaMemcpyKind kind),
            (executable, node, to, from, bytes, kind),
            set(api.graph.executable_set_copy, executable, node,
                CopyCall{.to = to, .from = from, .bytes = bytes, .kind = kind}))
STATOR_SHIM(cudaGraphExecMemsetNodeSetParams,
            (cudaGraphExec_t executable, cudaGraphNode_t node, const cudaMemsetParams* parameters),
            (executable, node, parameters), set(api.graph.executable_set_fill, executable, node, fill_of(*parameters)))
STATOR_SHIM(cudaGraphExecHostNodeSetParams,
            (cudaGraphExec_t executable, cudaGraphNode_t node, const cudaHostNodeParams* parameters),
            (executable, node, parameters), set(api.graph.executable_set_host, executable, node, host_of(*parameters)))
STATOR_SHIM(cudaGraphExecEventRecordNodeSetEvent, (cudaGraphExec_t executable, cudaGraphNode_t node, cudaEvent_t event),
            (executable, node, event), set(api.graph.executable_set_event, executable, node, EventCall{event}))
STATOR_SHIM(cudaGraphExecEventWaitNodeSetEvent, (cudaGraphExec_t executable, cudaGraphNode_t node, cudaEvent_t event),
            (executable, node, event), set(api.graph.executable_set_event, executable, node, EventCall{event}))
STATOR_SHIM(cudaGraphExecChildGraphNodeSetParams, (cudaGraphExec_t executable, cudaGraphNode_t node, cudaGraph_t child),
            (executable, node, child), api.graph.executable_set_child(executable, node, child))
STATOR_SHIM(cudaGraphExecNodeSetParams,
            (cudaGraphExec_t executable, cudaGraphNode_t node, cudaGraphNodeParams* parameters),
            (executable, node, parameters), set(api, executable, node, *parameters))
STATOR_SHIM(cudaGraphNodeSetEnabled, (cudaGraphExec_t executable, cudaGraphNode_t node, unsigned enabled),
            (executable, node, enabled), api.graph.set_enabled(executable, node, enabled))
STATOR_SHIM(cudaGraphNodeGetEnabled, (cudaGraphExec_t executable, cudaGraphNode_t node, unsigned* enabled),
            (executable, node, enabled), api.graph.get_enabled(executable, node, enabled))
STATOR_SHIM(cudaGraphConditionalHandleCreate,
            (cudaGraphConditionalHandle * handle, cudaGraph_t graph, unsigned value, unsigned flags),
            (handle, graph, value, flags), [&] {
              uint64_t made = 0;
              const int code = api.graph.create_condition(&made, graph, value, flags);
              *handle = made;
              return code;
            }())

}  // extern "C"
