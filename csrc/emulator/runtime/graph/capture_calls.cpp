// Captures: streams whose work becomes the nodes of a graph.
#include "emulator/runtime/calls.hpp"
#include "emulator/runtime/graph/capture.hpp"

#include <algorithm>

namespace stator::emulator::runtime {
namespace {

enum class Status : int { none = 0, active = 1, invalidated = 2 };

int status_of(const Stream& stream) {
  return int(!stream.capture ? Status::none : stream.capture->valid ? Status::active : Status::invalidated);
}

bool is_mode(int mode) { return mode >= int(CaptureMode::global) && mode <= int(CaptureMode::relaxed); }

// The nodes of the handles; false unless all are of the graph, each once.
bool nodes_of(System& s, const Graph& graph, void* const* handles, size_t count, std::vector<Node*>* out) {
  for (size_t i = 0; i < count; ++i) {
    Node* const node = s.graphs.find_node(handles[i]);
    if (!node || node->graph != &graph || std::find(out->begin(), out->end(), node) != out->end()) return false;
    out->push_back(node);
  }
  return true;
}

int begin(void* handle, int mode, void* graph_handle, void* const* after, size_t count) {
  return stream_call(handle, [&](System& s, Scheduler::Lock&, const std::shared_ptr<Stream>& stream) {
    if (!is_mode(mode)) return error::invalid_value;
    if (stream == stream->device->legacy) return error::capture_unsupported;
    if (stream->capture) return error::illegal_state;
    std::shared_ptr<Graph> graph = graph_handle ? s.graphs.find(graph_handle) : std::make_shared<Graph>();
    std::vector<Node*> dependencies;
    if (!graph || !nodes_of(s, *graph, after, count, &dependencies)) return error::invalid_value;
    if (!graph_handle) name_all(s, graph);
    stream->capture = std::make_shared<Capture>(Capture{.origin = stream.get(),
                                                        .graph = std::move(graph),
                                                        .id = ++s.captures,
                                                        .mode = CaptureMode(mode),
                                                        .thread = std::this_thread::get_id(),
                                                        .given = graph_handle != nullptr});
    stream->captured = std::move(dependencies);
    return error::success;
  });
}

int begin_capture(void* stream, int mode) { return begin(stream, mode, nullptr, nullptr, 0); }

int begin_capture_to_graph(void* stream, void* graph, void* const* after, size_t count, int mode) {
  return graph ? begin(stream, mode, graph, after, count) : remembered(error::invalid_value);
}

// Whether the stream that began the capture comes after all that the others captured.
bool joined(System& s, const Stream& origin) {
  const auto reached = ancestors(origin.captured);
  for (const auto& other : s.scheduler.streams())
    if (other->capture == origin.capture)
      for (const Node* node : other->captured)
        if (!reached.contains(node)) return false;
  return true;
}

int end_capture(void* handle, void** graph) {
  std::shared_ptr<Graph> dropped;  // without the lock
  return stream_call(handle, [&](System& s, Scheduler::Lock&, const std::shared_ptr<Stream>& stream) {
    *graph = nullptr;
    const std::shared_ptr<Capture> capture = stream->capture;
    if (!capture) return error::illegal_state;
    if (capture->origin != stream.get()) return error::capture_unmatched;
    if (capture->mode != CaptureMode::relaxed && capture->thread != std::this_thread::get_id())
      return error::capture_wrong_thread;
    const int code = !capture->valid       ? error::capture_invalidated
                     : !joined(s, *stream) ? error::capture_unjoined
                                           : error::success;
    if (code != error::success) {
      dropped = drop_capture(s, capture);
      return code;
    }
    leave_capture(s, capture);
    *graph = capture->graph->handle;
    return error::success;
  });
}

int is_capturing(void* handle, int* status) {
  return stream_call(handle, [&](System& s, Scheduler::Lock&, const std::shared_ptr<Stream>& stream) {
    if (capture_across(s, *stream)) return error::capture_implicit;
    *status = status_of(*stream);
    return error::success;
  });
}

int capture_info(void* handle, int* status, uint64_t* id, void** graph, void* const** nodes, size_t* count) {
  return stream_call(handle, [&](System& s, Scheduler::Lock&, const std::shared_ptr<Stream>& stream) {
    if (capture_across(s, *stream)) return error::capture_implicit;
    *status = status_of(*stream);
    if (*status != int(Status::active)) return error::success;
    stream->handles.clear();
    for (const Node* node : stream->captured) stream->handles.push_back(node->handle);
    if (id) *id = stream->capture->id;
    if (graph) *graph = stream->capture->graph->handle;
    if (nodes) *nodes = stream->handles.data();
    if (count) *count = stream->handles.size();
    return error::success;
  });
}

constexpr unsigned add_dependencies = 0, set_dependencies = 1;

int update_dependencies(void* handle, void* const* nodes, size_t count, unsigned flags) {
  return stream_call(handle, [&](System& s, Scheduler::Lock&, const std::shared_ptr<Stream>& stream) {
    if (flags > set_dependencies) return error::invalid_value;
    if (!stream->capture) return error::illegal_state;
    if (!stream->capture->valid) return error::capture_invalidated;
    std::vector<Node*> given;
    if (!nodes_of(s, *stream->capture->graph, nodes, count, &given)) return error::invalid_value;
    if (flags == add_dependencies)
      for (Node* const node : stream->captured)
        if (std::find(given.begin(), given.end(), node) == given.end()) given.push_back(node);
    stream->captured = std::move(given);
    return error::success;
  });
}

int exchange_mode(int* mode) {
  return call([&](System&) {
    if (!is_mode(*mode)) return error::invalid_value;
    CaptureMode& mine = thread_state().capture_mode;
    const CaptureMode before = mine;
    mine = CaptureMode(*mode);
    *mode = int(before);
    return error::success;
  });
}

}  // namespace

bool captures(System& s, const std::shared_ptr<Capture>& capture) {
  const auto& streams = s.scheduler.streams();
  return std::any_of(streams.begin(), streams.end(), [&](const auto& stream) { return stream->capture == capture; });
}

void leave_capture(System& s, const std::shared_ptr<Capture>& capture) {
  for (const auto& stream : s.scheduler.streams()) {
    if (stream->capture != capture) continue;
    stream->capture = nullptr;
    stream->captured.clear();
  }
}

std::shared_ptr<Graph> drop_capture(System& s, std::shared_ptr<Capture> capture) {
  leave_capture(s, capture);
  if (capture->given) return nullptr;
  release_names(s, *capture->graph);
  return capture->graph;
}

void add_capture_calls(Api& api) {
  api.stream_begin_capture = begin_capture;
  api.stream_begin_capture_to_graph = begin_capture_to_graph;
  api.stream_end_capture = end_capture;
  api.stream_is_capturing = is_capturing;
  api.stream_capture_info = capture_info;
  api.stream_update_capture_dependencies = update_dependencies;
  api.exchange_capture_mode = exchange_mode;
}

}  // namespace stator::emulator::runtime
