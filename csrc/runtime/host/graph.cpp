#include "runtime/host/graph.hpp"

#include "runtime/float_environment.hpp"
#include "runtime/host/calls.hpp"

#include <algorithm>
#include <cstring>

namespace stator::runtime::host {
namespace {

std::mutex recordings_mutex;  // guards Stream::recording
std::atomic<uint64_t> captures{0};

void attach(Stream& stream, std::shared_ptr<Recording> recording) {
  const std::lock_guard lock(recordings_mutex);
  stream.recording = std::move(recording);
  stream.captured.store(stream.recording != nullptr, std::memory_order_release);
}

// What a handle stands for. The launches that are under way share the graph.
using Shared = std::shared_ptr<Graph>;
Shared& graph_of(GraphHandle handle) { return *static_cast<Shared*>(handle); }

Status begin(ContextHandle handle, StreamHandle stream_handle) {
  Context& context = context_of(handle);
  Stream& stream = stream_of(stream_handle);
  if (const Status state = usable(context)) return state;
  if (recording_of(stream)) return status::invalid_value;
  return guarded([&] {
    attach(stream, std::make_shared<Recording>(context, stream));
    return status::success;
  });
}

Status end(ContextHandle, StreamHandle stream_handle, GraphHandle* out) {
  const std::shared_ptr<Recording> recording = recording_of(stream_of(stream_handle));
  if (!recording) return status::invalid_value;
  if (!recording->begun_by(stream_of(stream_handle))) return status::capture_unmatched;
  return guarded([&] {
    Shared graph;
    const Status code = recording->end(&graph);
    if (code || !out) return code;
    *out = new Shared(std::move(graph));
    counts.graphs.fetch_add(1);
    return status::success;
  });
}

Status id(ContextHandle handle, StreamHandle stream, uint64_t* out) {
  const std::shared_ptr<Recording> recording = recording_of(stream_of(stream));
  *out = recording ? recording->id : 0;
  return usable(context_of(handle));
}

Status instantiate(ContextHandle handle, GraphHandle, GraphHandle) { return usable(context_of(handle)); }

const char* run_all(const Graph& graph) {
  for (const std::vector<Node>& call : graph.calls) {
    for (const Node& node : call) {
      const char* const fault = node.run(node, graph.context, graph.arguments->at(node.offset), 0, node.blocks);
      if (fault) return fault;
    }
  }
  return nullptr;
}

void enqueue(const Shared& graph, Stream& stream) {
  Scheduler& scheduler = Scheduler::instance();
  const std::shared_ptr<const ArgumentBlock> arguments = graph->arguments;
  for (const std::vector<Node>& call : graph->calls) {
    for (const Node& node : call) {
      scheduler.enqueue(stream,
                        make_item(node.blocks, node.chunk, [graph, arguments, &node](int64_t first, int64_t last) {
                          return node.run(node, graph->context, arguments->at(node.offset), first, last);
                        }));
    }
  }
}

Status launch(ContextHandle handle, GraphHandle graph_handle, bool synchronous, StreamHandle stream_handle) {
  Context& context = context_of(handle);
  Stream& stream = stream_of(stream_handle);
  const Shared& graph = graph_of(graph_handle);
  if (const Status state = usable(context)) return state;
  return guarded([&] {
    if (const std::shared_ptr<Recording> recording = recording_of(stream)) {
      recording->add_graph(stream, *graph);
      return status::success;
    }
    if (graph->brief && !context.checked && stream.claim()) {
      const DefaultFloatEnvironment environment;
      try {
        if (const char* message = run_all(*graph)) context.fault(message);
      } catch (const std::exception& error) {
        context.fault(error.what());
      } catch (...) {
        context.fault("a task threw something that is no std::exception");
      }
      stream.unclaim();
      return usable(context);
    }
    enqueue(graph, stream);
    if (!synchronous && !graph->synchronous) return status::success;
    Scheduler::instance().synchronize(stream);
    return usable(context);
  });
}

Status destroy(ContextHandle, GraphHandle graph) {
  counts.graphs.fetch_sub(1);
  delete &graph_of(graph);
  return status::success;
}

GraphArguments arguments(GraphHandle handle, size_t call) {
  const Graph& graph = *graph_of(handle);
  if (graph.calls[call].size() != 1) return {};
  const Node& node = graph.calls[call].front();
  return {graph.arguments->at(node.offset), node.argument_bytes};
}

Status write(GraphHandle handle, size_t call, size_t offset, uint64_t value) {
  Graph& graph = *graph_of(handle);
  const Node& node = graph.calls[call].front();
  return guarded([&] {
    // Launches that are under way go on with the block that they have.
    if (graph.arguments.use_count() > 1) graph.arguments = std::make_shared<ArgumentBlock>(*graph.arguments);
    std::memcpy(graph.arguments->at(node.offset) + offset, &value, sizeof value);
    return status::success;
  });
}

}  // namespace

std::shared_ptr<Recording> recording_of(Stream& stream) {
  if (!stream.captured.load(std::memory_order_acquire)) [[likely]]
    return nullptr;
  const std::lock_guard lock(recordings_mutex);
  return stream.recording;
}

size_t ArgumentBlock::add(const void* from, size_t bytes) {
  const size_t offset = lines_.size() * sizeof(Line);
  lines_.resize(lines_.size() + (bytes + sizeof(Line) - 1) / sizeof(Line));
  if (bytes) std::memcpy(at(offset), from, bytes);
  return offset;
}

void Graph::add(Node node, const void* from, size_t bytes) {
  node.offset = arguments->add(from, bytes);
  node.argument_bytes = bytes;
  brief = brief && is_brief(node.bytes);
  calls.push_back({std::move(node)});
}

Recording::Recording(Context& context, Stream& origin)
    : id(captures.fetch_add(1) + 1), origin_(origin), graph_(std::make_shared<Graph>(context)) {
  streams_[&origin];
}

void Recording::add(Stream& stream, Node node, const void* arguments, size_t bytes, bool synchronous) {
  const std::lock_guard lock(mutex_);
  if (!graph_) throw std::logic_error("the capture has ended");
  graph_->add(std::move(node), arguments, bytes);
  graph_->synchronous = graph_->synchronous || synchronous;
  ++streams_[&stream][&stream];
}

void Recording::add_graph(Stream& stream, const Graph& graph) {
  const std::lock_guard lock(mutex_);
  if (!graph_) throw std::logic_error("the capture has ended");
  std::vector<Node> call;
  for (const std::vector<Node>& of_call : graph.calls) {
    for (Node node : of_call) {
      node.offset = graph_->arguments->add(graph.arguments->at(node.offset), node.argument_bytes);
      call.push_back(std::move(node));
    }
  }
  graph_->calls.push_back(std::move(call));
  graph_->brief = graph_->brief && graph.brief;
  graph_->synchronous = graph_->synchronous || graph.synchronous;
  ++streams_[&stream][&stream];
}

Progress Recording::progress(Stream& stream) {
  const std::lock_guard lock(mutex_);
  return streams_[&stream];
}

Status Recording::join(Stream& stream, const Progress& progress) {
  const std::lock_guard lock(mutex_);
  if (!graph_) return status::captured_event;
  if (!recording_of(stream)) attach(stream, recording_of(origin_));
  Progress& now = streams_[&stream];
  for (const auto& [of, count] : progress) now[of] = std::max(now[of], count);
  return status::success;
}

Status Recording::end(std::shared_ptr<Graph>* out) {
  const std::lock_guard lock(mutex_);
  const Progress& joined = streams_[&origin_];
  Status code = status::success;
  for (auto& [stream, progress] : streams_) {
    const auto reached = joined.find(stream);
    if (stream != &origin_ && progress[stream] > (reached == joined.end() ? 0 : reached->second))
      code = status::capture_unjoined;
    const std::lock_guard attached(recordings_mutex);
    stream->captured.store(false, std::memory_order_release);
    if (stream != &origin_) stream->recording = nullptr;
  }
  *out = std::move(graph_);
  const std::lock_guard attached(recordings_mutex);
  origin_.recording = nullptr;  // the caller has a reference
  return code;
}

constinit const GraphTable graph_calls{.begin = begin,
                                       .end = end,
                                       .id = id,
                                       .instantiate = instantiate,
                                       .launch = launch,
                                       .destroy = destroy,
                                       .arguments = arguments,
                                       .write = write};

}  // namespace stator::runtime::host
