// The cuda table's calls for graphs. A stream is captured by CUDA; after each call the node that it made is asked for,
// and a kernel's arguments are kept beside it, so that launches can change them. What a library enqueues, copies and
// fills are in the graph too, with the arguments of the capture.
#include "runtime/cuda/graph.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace stator::runtime {

std::atomic<int64_t> cuda_graph_count{0};

CudaCaptures::CudaCaptures() = default;
CudaCaptures::~CudaCaptures() = default;

CudaRecording* CudaCaptures::find(unsigned long long native) const {
  const auto found = std::find_if(all.begin(), all.end(), [=](const auto& one) { return one->native == native; });
  return native && found != all.end() ? found->get() : nullptr;
}

namespace {

// Turns a lack of memory into CUDA's status: no member of the table throws.
template <class F>
Status guarded(F&& f) noexcept {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
}

CudaGraph& graph_of(GraphHandle handle) { return *static_cast<CudaGraph*>(handle); }

struct CaptureState {
  unsigned long long id = 0;  // 0: not captured
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* last = nullptr;  // what a call that is made now comes after
  size_t count = 0;
};

Status state_of(cudaStream_t stream, CaptureState* out) {
  cudaStreamCaptureStatus active = cudaStreamCaptureStatusNone;
  const Status code =
      done(cudaStreamGetCaptureInfo(stream, &active, &out->id, &out->graph, &out->last, nullptr, &out->count));
  if (code || active == cudaStreamCaptureStatusNone) out->id = 0;
  return code;
}

// Keeps a call that was captured. `make` fills it in; its node is the last one of the stream.
template <class F>
Status note(ContextHandle handle, StreamHandle stream, F make) {
  CudaCaptures& captures = context_of(handle).captures;
  if (captures.count.load(std::memory_order_acquire) == 0) [[likely]]
    return status::success;
  return guarded([&] {
    CaptureState state;
    if (const Status code = state_of(stream_of(stream), &state)) return code;
    const std::lock_guard lock(captures.mutex);
    CudaRecording* const recording = captures.find(state.id);
    if (!recording) return status::success;  // another library's
    CudaCall call;
    if (state.count == 1 && recording->parts.empty()) call.node = state.last[0];  // CUDA updates no nodes within parts
    const Status code = make(call);
    if (!code) recording->graph->calls.push_back(std::move(call));
    return code;
  });
}

// Begins to capture into a new graph, or into one after its nodes `after`. The number of the capture is CUDA's.
cudaError_t begin_capture(cudaStream_t stream, cudaGraph_t into, const std::vector<cudaGraphNode_t>& after,
                          unsigned long long* number) {
  constexpr cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  const cudaError_t code = into ? cudaStreamBeginCaptureToGraph(stream, into, after.data(), nullptr, after.size(), mode)
                                : cudaStreamBeginCapture(stream, mode);
  if (code != cudaSuccess) return code;
  CaptureState state;
  const Status asked = state_of(stream, &state);
  *number = state.id;
  return cudaError_t(asked);
}

Status begin(ContextHandle handle, StreamHandle stream) {
  CudaCaptures& captures = context_of(handle).captures;
  return guarded([&] {
    auto recording = std::make_unique<CudaRecording>();
    recording->graph = std::make_unique<CudaGraph>();
    recording->stream = stream_of(stream);
    const std::lock_guard lock(captures.mutex);
    captures.all.reserve(captures.all.size() + 1);
    const Status code = call(handle, [&] { return begin_capture(recording->stream, nullptr, {}, &recording->native); });
    if (code) return code;
    recording->number = recording->native;
    captures.all.push_back(std::move(recording));
    captures.count.fetch_add(1);
    return status::success;
  });
}

// Ends CUDA's capture, in whatever part of the graph it is. The graph is the outermost one.
cudaError_t end_capture(CudaRecording& recording) {
  cudaGraph_t made = nullptr;
  const cudaError_t code = cudaStreamEndCapture(recording.stream, &made);
  if (recording.parts.empty()) recording.graph->graph = made;
  return code == cudaSuccess && !recording.parts.empty() ? cudaErrorStreamCaptureUnmatched : code;
}

Status end(ContextHandle handle, StreamHandle stream, GraphHandle* out) {
  CudaCaptures& captures = context_of(handle).captures;
  const std::lock_guard lock(captures.mutex);
  const auto found = std::find_if(captures.all.begin(), captures.all.end(),
                                  [=](const auto& one) { return one->stream == stream_of(stream); });
  if (found == captures.all.end()) return status::invalid_value;
  const std::unique_ptr<CudaRecording> recording = std::move(*found);
  captures.all.erase(found);
  captures.count.fetch_sub(1);
  const Status code = call(handle, [&] { return end_capture(*recording); });
  if (code || !out) {
    if (recording->graph->graph) done(cudaGraphDestroy(recording->graph->graph));
    return code;
  }
  *out = recording->graph.release();
  cuda_graph_count.fetch_add(1);
  return status::success;
}

Status id(ContextHandle handle, StreamHandle stream, uint64_t* out) {
  CudaCaptures& captures = context_of(handle).captures;
  *out = 0;
  if (captures.count.load(std::memory_order_acquire) == 0) return status::success;
  CaptureState state;
  if (const Status code = state_of(stream_of(stream), &state)) return code;
  if (!state.id) return status::success;
  const std::lock_guard lock(captures.mutex);
  const CudaRecording* const recording = captures.find(state.id);
  *out = recording ? recording->number : state.id;
  return status::success;
}

Status size(ContextHandle, StreamHandle stream, size_t* nodes) {
  CaptureState state;
  *nodes = 0;
  if (const Status code = state_of(stream_of(stream), &state); code || !state.id) return code;
  return done(cudaGraphGetNodes(state.graph, nullptr, nodes));
}

Status condition(ContextHandle handle, StreamHandle stream, uint64_t* out) {
  CudaCaptures& captures = context_of(handle).captures;
  CaptureState state;
  if (const Status code = state_of(stream_of(stream), &state)) return code;
  const std::lock_guard lock(captures.mutex);
  const CudaRecording* const recording = captures.find(state.id);
  if (!recording) return status::invalid_value;
  // The handle belongs to the graph that has the conditional node, which is the one that is captured now.
  cudaGraphConditionalHandle native = 0;
  const Status code = call(handle, [&] { return cudaGraphConditionalHandleCreate(&native, state.graph, 0, 0); });
  *out = native;
  return code;
}

// Leaves the capture of a graph and goes on in another one. The streams that were forked must be joined.
cudaError_t change_graph(CudaRecording& recording, cudaGraph_t into, const std::vector<cudaGraphNode_t>& after) {
  cudaGraph_t ended = nullptr;
  const cudaError_t code = cudaStreamEndCapture(recording.stream, &ended);
  return code == cudaSuccess ? begin_capture(recording.stream, into, after, &recording.native) : code;
}

Status enter(ContextHandle handle, StreamHandle stream, uint64_t condition_handle, const uint32_t*, bool repeats) {
  CudaCaptures& captures = context_of(handle).captures;
  return guarded([&] {
    CaptureState state;
    if (const Status code = state_of(stream_of(stream), &state)) return code;
    const std::lock_guard lock(captures.mutex);
    CudaRecording* const recording = captures.find(state.id);
    if (!recording || recording->stream != stream_of(stream)) return status::capture_unmatched;
    recording->parts.reserve(recording->parts.size() + 1);
    cudaGraphNodeParams node{};
    node.type = cudaGraphNodeTypeConditional;
    node.conditional.handle = condition_handle;
    node.conditional.type = repeats ? cudaGraphCondTypeWhile : cudaGraphCondTypeIf;
    node.conditional.size = 1;
    cudaGraphNode_t added = nullptr;
    const Status code = call(handle, [&] {
      const cudaError_t made = cudaGraphAddNode(&added, state.graph, state.last, nullptr, state.count, &node);
      return made == cudaSuccess ? change_graph(*recording, node.conditional.phGraph_out[0], {}) : made;
    });
    if (code) return code;
    recording->parts.push_back({state.graph, added});
    recording->graph->calls.emplace_back();
    return status::success;
  });
}

Status leave(ContextHandle handle, StreamHandle stream) {
  CudaCaptures& captures = context_of(handle).captures;
  return guarded([&] {
    CaptureState state;
    if (const Status code = state_of(stream_of(stream), &state)) return code;
    const std::lock_guard lock(captures.mutex);
    CudaRecording* const recording = captures.find(state.id);
    if (!recording || recording->stream != stream_of(stream) || recording->parts.empty())
      return status::capture_unmatched;
    const CudaRecording::Part part = recording->parts.back();
    const Status code = call(handle, [&] { return change_graph(*recording, part.around, {part.node}); });
    if (code) return code;
    recording->parts.pop_back();
    recording->graph->calls.emplace_back();
    return status::success;
  });
}

cudaKernelNodeParams parameters_of(CudaCall& call, std::vector<void*>& pointers) {
  for (const size_t offset : call.offsets) pointers.push_back(call.bytes.data() + offset);
  cudaKernelNodeParams out{};
  out.func = const_cast<void*>(call.function);
  out.gridDim = call.grid;
  out.blockDim = call.block;
  out.sharedMemBytes = unsigned(call.shared_bytes);
  out.kernelParams = pointers.data();
  return out;
}

cudaError_t set_arguments(cudaGraphExec_t executable, CudaCall& call) {
  std::vector<void*> pointers;
  const cudaKernelNodeParams kernel = parameters_of(call, pointers);
  return cudaGraphExecKernelNodeSetParams(executable, call.node, &kernel);
}

// The same in the graph, for those that take it as a part of theirs.
cudaError_t set_in_graph(CudaCall& call) {
  std::vector<void*> pointers;
  const cudaKernelNodeParams kernel = parameters_of(call, pointers);
  return cudaGraphKernelNodeSetParams(call.node, &kernel);
}

// Nodes of an executable are named by those of the graph it was made of, which therefore goes with it.
bool take_over(CudaGraph& graph, CudaGraph& previous) {
  if (!previous.executable || previous.calls.size() != graph.calls.size()) return false;
  cudaGraphExecUpdateResultInfo result{};
  if (done(cudaGraphExecUpdate(previous.executable, graph.graph, &result))) return false;
  std::swap(graph.executable, previous.executable);
  std::swap(graph.graph, previous.graph);
  for (size_t i = 0; i < graph.calls.size(); ++i) {
    std::swap(graph.calls[i].node, previous.calls[i].node);
    graph.calls[i].edited = graph.calls[i].function != nullptr;
  }
  return true;
}

Status instantiate(ContextHandle handle, GraphHandle graph_handle, GraphHandle previous) {
  CudaGraph& graph = graph_of(graph_handle);
  return call(handle, [&] {
    if (previous && take_over(graph, graph_of(previous))) return cudaSuccess;
    return cudaGraphInstantiate(&graph.executable, graph.graph, 0);
  });
}

cudaError_t add_to_capture(CudaGraph& graph, cudaStream_t stream, const CaptureState& state) {
  for (CudaCall& call : graph.calls) {
    if (!call.edited) continue;
    if (const cudaError_t code = set_in_graph(call); code != cudaSuccess) return code;
  }
  cudaGraphNode_t node = nullptr;
  const cudaError_t code = cudaGraphAddChildGraphNode(&node, state.graph, state.last, state.count, graph.graph);
  if (code != cudaSuccess) return code;
  return cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1, cudaStreamSetCaptureDependencies);
}

Status launch(ContextHandle handle, GraphHandle graph_handle, bool, StreamHandle stream) {
  CudaGraph& graph = graph_of(graph_handle);
  CaptureState state;
  if (context_of(handle).captures.count.load(std::memory_order_acquire) > 0)
    if (const Status code = state_of(stream_of(stream), &state)) return code;
  if (state.id) {
    const Status code = call(handle, [&] { return add_to_capture(graph, stream_of(stream), state); });
    return code ? code : note_other_call(handle, stream);
  }
  return guarded([&] {
    return call(handle, [&] {
      while (!graph.changed.empty()) {
        CudaCall& changed = graph.calls[graph.changed.back()];
        if (const cudaError_t code = set_arguments(graph.executable, changed); code != cudaSuccess) return code;
        changed.pending = false;
        graph.changed.pop_back();
      }
      return cudaGraphLaunch(graph.executable, stream_of(stream));
    });
  });
}

Status destroy(ContextHandle handle, GraphHandle graph_handle) {
  const std::unique_ptr<CudaGraph> graph(&graph_of(graph_handle));
  cuda_graph_count.fetch_sub(1);
  return call(handle, [&] {
    const cudaError_t code = graph->executable ? cudaGraphExecDestroy(graph->executable) : cudaSuccess;
    const cudaError_t other = graph->graph ? cudaGraphDestroy(graph->graph) : cudaSuccess;
    return code == cudaSuccess ? other : code;
  });
}

GraphArguments arguments(GraphHandle graph, size_t call) {
  const CudaCall& c = graph_of(graph).calls[call];
  return {c.bytes.data(), c.node ? c.bytes.size() : 0};
}

Status write(GraphHandle graph_handle, size_t call, size_t offset, uint64_t value) {
  return guarded([&] {
    CudaGraph& graph = graph_of(graph_handle);
    CudaCall& c = graph.calls[call];
    std::memcpy(c.bytes.data() + offset, &value, sizeof value);
    if (!c.pending) graph.changed.push_back(call);
    c.pending = c.edited = true;
    return status::success;
  });
}

}  // namespace

Status note_kernel(ContextHandle handle, const void* function, dim3 grid, dim3 block, size_t shared_bytes,
                   void* const* parameters, StreamHandle stream) {
  return note(handle, stream, [&](CudaCall& out) {
    out.function = function;
    out.grid = grid;
    out.block = block;
    out.shared_bytes = shared_bytes;
    size_t offset = 0, bytes = 0;
    for (size_t i = 0; done(cudaFuncGetParamInfo(function, i, &offset, &bytes)) == status::success; ++i) {
      out.bytes.resize(std::max(out.bytes.size(), offset + bytes));
      std::memcpy(out.bytes.data() + offset, parameters[i], bytes);
      out.offsets.push_back(offset);
    }
    return status::success;
  });
}

Status note_other_call(ContextHandle handle, StreamHandle stream) {
  return note(handle, stream, [](CudaCall& out) {
    out.node = nullptr;
    return status::success;
  });
}

constinit const GraphTable cuda_graphs{.begin = begin,
                                       .end = end,
                                       .id = id,
                                       .size = size,
                                       .condition = condition,
                                       .enter = enter,
                                       .leave = leave,
                                       .instantiate = instantiate,
                                       .launch = launch,
                                       .destroy = destroy,
                                       .arguments = arguments,
                                       .write = write};

}  // namespace stator::runtime
