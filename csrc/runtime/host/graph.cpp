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

Status size(ContextHandle handle, StreamHandle stream, size_t* nodes) {
  const std::shared_ptr<Recording> recording = recording_of(stream_of(stream));
  *nodes = recording ? recording->size() : 0;
  return usable(context_of(handle));
}

Status instantiate(ContextHandle handle, GraphHandle, GraphHandle) { return usable(context_of(handle)); }

// How long a thread runs a loop inline, nanoseconds: the rest is for the workers, so that the thread can be
// interrupted.
constexpr int64_t inline_loop = 20'000'000;

// A launch whose work is queued. Items are made up to the next condition; the item that reads it makes the next ones
// and puts them before what was enqueued in the stream since.
class Run : public std::enable_shared_from_this<Run> {
 public:
  Run(Shared graph, Stream& stream) : graph_(std::move(graph)), arguments_(graph_->arguments), stream_(stream) {
    at_.push_back({graph_.get(), 0});
  }

  // Runs inline, up to the end or to a round of a loop that has taken long: then false, and next() goes on from there.
  bool run_inline(const char** fault) {
    const int64_t begin = graph_->repeats ? now() : 0;
    while (const GraphStep* step = reach_step()) {
      auto& [graph, at] = at_.back();
      if (step->kind == GraphStep::Kind::node) {
        const Node& node = step->node;
        *fault = node.run(node, graph->context, graph->arguments->at(node.offset), 0, node.blocks);
        if (*fault) return true;
        ++at;
      } else {
        decide();
        if (step->repeats && now() - begin > inline_loop) return false;
      }
    }
    return true;
  }

  std::vector<std::unique_ptr<Item>> next() {
    std::vector<std::unique_ptr<Item>> items;
    while (const GraphStep* step = reach_step()) {
      if (step->kind != GraphStep::Kind::node) {
        items.push_back(make_item(1, 1, [run = shared_from_this()](int64_t, int64_t) -> const char* {
          run->decide();
          Scheduler::instance().insert(run->stream_, run->next());
          return nullptr;
        }));
        return items;
      }
      items.push_back(item_of(*at_.back().first, step->node));
      ++at_.back().second;
    }
    return items;
  }

 private:
  std::unique_ptr<Item> item_of(const Graph& graph, const Node& node) {
    const std::shared_ptr<const ArgumentBlock> arguments = &graph == graph_.get() ? arguments_ : graph.arguments;
    return make_item(node.blocks, node.chunk,
                     [run = shared_from_this(), arguments, &node](int64_t first, int64_t last) {
                       return node.run(node, run->graph_->context, arguments->at(node.offset), first, last);
                     });
  }

  // The call that comes next, a node or a condition, after the ends and in the beginnings of inner graphs; null at the
  // end.
  const GraphStep* reach_step() {
    while (!at_.empty()) {
      const auto& [graph, at] = at_.back();
      if (at == graph->calls.size()) {
        at_.pop_back();
        if (!at_.empty()) ++at_.back().second;
      } else if (graph->calls[at].kind == GraphStep::Kind::graph) {
        at_.push_back({graph->calls[at].graph.get(), 0});
      } else {
        return &graph->calls[at];
      }
    }
    return nullptr;
  }

  void decide() {
    auto& [graph, at] = at_.back();
    const GraphStep& step = graph->calls[at];
    const bool goes_there = step.kind == GraphStep::Kind::enter ? !*step.more : step.repeats && *step.more;
    at = (goes_there ? step.other : at) + 1;
  }

  const Shared graph_;
  const std::shared_ptr<const ArgumentBlock> arguments_;  // a later launch may have others
  Stream& stream_;
  std::vector<std::pair<const Graph*, size_t>> at_;  // the call that comes next, in each of the graphs around it
};

void enqueue(const Shared& graph, Stream& stream) {
  const auto run = std::make_shared<Run>(graph, stream);
  for (std::unique_ptr<Item>& item : run->next()) Scheduler::instance().enqueue(stream, std::move(item));
}

Status launch(ContextHandle handle, GraphHandle graph_handle, bool synchronous, StreamHandle stream_handle) {
  Context& context = context_of(handle);
  Stream& stream = stream_of(stream_handle);
  const Shared& graph = graph_of(graph_handle);
  if (const Status state = usable(context)) return state;
  return guarded([&] {
    if (const std::shared_ptr<Recording> recording = recording_of(stream)) {
      recording->add_graph(stream, std::make_shared<const Graph>(*graph));  // with the arguments that it has now
      return status::success;
    }
    if (graph->brief && !context.checked && has_stack() && stream.claim()) {
      const DefaultFloatEnvironment environment;
      std::vector<std::unique_ptr<Item>> rest;
      try {
        const char* message = nullptr;
        const auto run = std::make_shared<Run>(graph, stream);
        if (!run->run_inline(&message)) rest = run->next();
        if (message) context.fault(message);
      } catch (const std::exception& error) {
        context.fault(error.what());
      } catch (...) {
        context.fault("a task threw something that is not a std::exception");
      }
      if (rest.empty()) {
        stream.unclaim();
        return usable(context);
      }
      Scheduler::instance().hand_over(stream, std::move(rest));
    } else {
      enqueue(graph, stream);
    }
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
  if (graph.calls[call].kind != GraphStep::Kind::node) return {};
  const Node& node = graph.calls[call].node;
  return {graph.arguments->at(node.offset), node.argument_bytes};
}

Status write(GraphHandle handle, size_t call, size_t offset, uint64_t value) {
  Graph& graph = *graph_of(handle);
  return guarded([&] {
    // Launches that are under way go on with the block that they have.
    if (graph.arguments.use_count() > 1) graph.arguments = std::make_shared<ArgumentBlock>(*graph.arguments);
    std::memcpy(graph.arguments->at(graph.calls[call].node.offset) + offset, &value, sizeof value);
    return status::success;
  });
}

Status condition(ContextHandle handle, StreamHandle stream, uint64_t* out) {
  *out = 0;
  return recording_of(stream_of(stream)) ? usable(context_of(handle)) : status::invalid_value;
}

Status enter(ContextHandle, StreamHandle stream, uint64_t, const uint32_t* more, bool repeats) {
  const std::shared_ptr<Recording> recording = recording_of(stream_of(stream));
  if (!recording) return status::invalid_value;
  return guarded([&] { return recording->enter(stream_of(stream), more, repeats); });
}

Status leave(ContextHandle, StreamHandle stream) {
  const std::shared_ptr<Recording> recording = recording_of(stream_of(stream));
  if (!recording) return status::invalid_value;
  return guarded([&] { return recording->leave(stream_of(stream)); });
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
  GraphStep step;
  step.node = std::move(node);
  calls.push_back(std::move(step));
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

void Recording::add_graph(Stream& stream, std::shared_ptr<const Graph> graph) {
  const std::lock_guard lock(mutex_);
  if (!graph_) throw std::logic_error("the capture has ended");
  graph_->brief = graph_->brief && graph->brief;
  graph_->repeats = graph_->repeats || graph->repeats;
  graph_->synchronous = graph_->synchronous || graph->synchronous;
  GraphStep step;
  step.kind = GraphStep::Kind::graph;
  step.graph = std::move(graph);
  graph_->calls.push_back(std::move(step));
  ++streams_[&stream][&stream];
}

Status Recording::enter(Stream& stream, const uint32_t* more, bool repeats) {
  const std::lock_guard lock(mutex_);
  if (!graph_ || &stream != &origin_) return status::capture_unmatched;
  if (!joined()) return status::capture_unjoined;
  GraphStep step;
  step.kind = GraphStep::Kind::enter;
  step.more = more;
  step.repeats = repeats;
  graph_->repeats = graph_->repeats || repeats;
  entered_.push_back(graph_->calls.size());
  graph_->calls.push_back(std::move(step));
  ++streams_[&stream][&stream];
  return status::success;
}

Status Recording::leave(Stream& stream) {
  const std::lock_guard lock(mutex_);
  if (!graph_ || &stream != &origin_ || entered_.empty()) return status::capture_unmatched;
  if (!joined()) return status::capture_unjoined;
  GraphStep& begin = graph_->calls[entered_.back()];
  begin.other = graph_->calls.size();
  GraphStep step = begin;
  step.kind = GraphStep::Kind::leave;
  step.other = entered_.back();
  entered_.pop_back();
  graph_->calls.push_back(std::move(step));
  ++streams_[&stream][&stream];
  return status::success;
}

bool Recording::joined() {
  const Progress& reached = streams_[&origin_];
  for (auto& [stream, progress] : streams_) {
    const auto found = reached.find(stream);
    if (stream != &origin_ && progress[stream] > (found == reached.end() ? 0 : found->second)) return false;
  }
  return true;
}

Progress Recording::progress(Stream& stream) {
  const std::lock_guard lock(mutex_);
  return streams_[&stream];
}

size_t Recording::size() {
  const std::lock_guard lock(mutex_);
  return graph_ ? graph_->calls.size() : 0;
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
  const Status code = !joined()           ? status::capture_unjoined
                      : !entered_.empty() ? status::capture_unmatched
                                          : status::success;
  const std::lock_guard attached(recordings_mutex);
  for (auto& [stream, progress] : streams_) {
    stream->captured.store(false, std::memory_order_release);
    stream->recording = nullptr;  // the caller has a reference
  }
  *out = std::move(graph_);
  return code;
}

constinit const GraphTable graph_calls{.begin = begin,
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

}  // namespace stator::runtime::host
