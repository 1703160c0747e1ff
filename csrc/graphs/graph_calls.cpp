// The public calls of graphs: each takes a guard and goes to the capture of a stream, or to the GraphBox.
#include "core/text.hpp"
#include "graphs/graph.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace stator {
namespace {

StreamBox& require_stream(const Stream& stream) {
  if (!stream)
    throw ValueError(op_text(call::capture), "got a default-constructed stream", "Take one from Backend.stream(index)");
  return *stream.box();
}

GraphBox& require_graph(const Ref<GraphBox>& box) {
  if (!box)
    throw ValueError(op_text(call::graph_launch), "got a default-constructed graph", "Take one from Graph::end()");
  return *box;
}

}  // namespace

void begin_capture(const Stream& stream, std::span<const int> fresh) {
  StreamBox& box = require_stream(stream);
  Context& context = box.context();
  const OpGuard guard(context, call::capture);
  if (box.is_captured())
    throw CaptureError(op_text(call::capture), "stream " + std::to_string(box.index()) + " is being captured already",
                       "End that capture first");
  box.raise_pending(call::capture);
  box.begin_capture(std::make_shared<GraphCapture>(context, box.index(), std::set<int>(fresh.begin(), fresh.end())),
                    call::capture);
}

void add_state(const Stream& stream, const random::State& state) {
  constexpr uint16_t of = call::capture;
  StreamBox& box = require_stream(stream);
  const OpGuard guard(box.context(), of);
  const std::shared_ptr<GraphCapture> capture = box.capture();
  if (!capture)
    throw CaptureError(op_text(of), "no capture was begun on stream " + std::to_string(box.index()), "Begin one");
  capture->add_state(state.seed, state.counter, of);
}

void drop_capture(const Stream& stream) noexcept {
  if (!stream) return;
  const OpenGuard guard(stream.box()->context());
  if (guard) stream.box()->context().drop_capture(*stream.box());
}

void add_graph_signature(std::span<const Array* const> arguments, std::string& to) {
  const auto add = [&](int64_t value) { to.append(reinterpret_cast<const char*>(&value), sizeof value); };
  std::vector<std::pair<const Buffer*, size_t>> users;  // of each buffer, the arguments in their order
  users.reserve(arguments.size());
  for (const Array* x : arguments) users.emplace_back(&buffer_of(*x, op_name(call::graph_launch)), users.size());
  std::sort(users.begin(), users.end());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Array& x = *arguments[i];
    const char* const memory = static_cast<const char*>(x.data_ptr());
    const auto lowest = std::pair<const Buffer*, size_t>(x.buffer().get(), 0);
    const size_t first = std::lower_bound(users.begin(), users.end(), lowest)->second;
    const int64_t shared = first == i ? 0 : int64_t(first) + 1;
    add(int64_t(x.dtype()) | int64_t(x.ndim()) << 8 | int64_t(reinterpret_cast<uintptr_t>(memory) % 64) << 16 |
        shared << 32);
    if (shared) add(memory - static_cast<const char*>(arguments[first]->data_ptr()));
    for (int d = 0; d < x.ndim(); ++d) {
      add(x.shape()[d]);
      add(x.strides()[d]);
    }
  }
}

CapturedWork captured_work(const Stream& stream) {
  StreamBox& box = require_stream(stream);
  const OpGuard guard(box.context(), call::capture);
  const runtime::Runtime::CapturedWork found =
      box.context().runtime().captured_work(box.handle(call::capture), call::capture);
  return {found.nodes, found.calls};
}

bool is_capturing(const Stream& stream) noexcept { return stream && stream.box()->is_captured(); }

Graph Graph::end(const Stream& stream, std::span<const uint64_t> drawn) {
  constexpr uint16_t of = call::capture;
  StreamBox& box = require_stream(stream);
  Context& context = box.context();
  const OpGuard guard(context, of);
  const std::shared_ptr<GraphCapture> capture = box.capture();
  if (!capture)
    throw CaptureError(op_text(of), "no capture was begun on stream " + std::to_string(box.index()), "Begin one");
  if (capture->stream() != box.index())
    throw CaptureError(op_text(of), "the capture began on stream " + std::to_string(capture->stream()), "End it there");
  runtime::Runtime& runtime = context.runtime();
  runtime::Runtime::Captured captured;
  try {
    advance_states(*capture, box, drawn);
    captured = runtime.capture_end(box.handle(of), of);
  } catch (...) {
    context.drop_capture(box);
    throw;
  }
  context.leave_capture(*capture);
  Ref<GraphBox> graph;
  const runtime::GraphHandle native = captured.graph;
  try {
    graph = Ref<GraphBox>(new GraphBox(context, *capture, std::move(captured), drawn));
  } catch (...) {
    runtime.graph_destroy_noexcept(native);
    throw;
  }
  // Memory that other streams allocated is there for this one too.
  for (int i = 0; i < Backend::stream_limit; ++i) {
    if (!(capture->allocated_on() & (uint32_t(1) << i))) continue;
    const Event allocated = Stream(context.stream(i)).record();
    stream.wait(allocated);
  }
  return Graph(std::move(graph));
}

void Graph::launch(const Stream& stream, std::span<const random::State> states) const {
  GraphBox& box = require_graph(box_);
  const OpGuard guard(box.context(), call::graph_launch);
  box.launch(box.context().chosen_stream(stream, 0, call::graph_launch), states);
}

std::vector<Array> Graph::launch(std::span<const Array* const> arguments, std::span<const Array* const> outs,
                                 const Stream& stream, std::span<const random::State> states) const {
  GraphBox& box = require_graph(box_);
  const OpGuard guard(box.context(), call::graph_launch);
  return box.launch(box.context().chosen_stream(stream, 0, call::graph_launch), arguments, outs, states);
}

bool Graph::bind(std::span<const Array* const> arguments, std::span<const Array* const> results) const {
  GraphBox& box = require_graph(box_);
  const OpGuard guard(box.context(), call::graph_launch);
  return box.bind(arguments, results);
}

std::vector<int> Graph::shared_outputs(std::span<const Array* const> results) const {
  GraphBox& box = require_graph(box_);
  std::vector<int> out;
  for (const Array* array : results) {
    const Buffer& buffer = *array->buffer();
    if (buffer.arena() == &box.arena() && !box.arena().is_exclusive(buffer.allocation()))
      out.push_back(buffer.allocation());
  }
  return out;
}

bool Graph::settle(const Graph& earlier) const {
  GraphBox& box = require_graph(box_);
  const OpGuard guard(box.context(), call::graph_launch);
  return box.settle(require_graph(earlier.box_));
}

void Graph::replace(const Graph& previous) const {
  GraphBox& box = require_graph(box_);
  const OpGuard guard(box.context(), call::graph_launch);
  box.replace(require_graph(previous.box_));
}

bool Graph::owns(const Array& array) const {
  return array.buffer() && array.buffer()->arena() == &require_graph(box_).arena();
}

size_t Graph::size() const { return require_graph(box_).calls().size(); }
size_t Graph::bytes() const { return require_graph(box_).arena_bytes(); }
Backend Graph::backend() const { return Backend(Ref<Context>(&require_graph(box_).context())); }

std::vector<GraphNode> Graph::nodes() const {
  static constexpr const char* kinds[] = {"kernel", "copy", "fill", "library", "graph", "loop", "branch", "end"};
  std::vector<GraphNode> out;
  for (const runtime::GraphCall& call : require_graph(box_).calls()) {
    GraphNode node{kinds[int(call.kind)], call.name, op_text(call.op), {}, {}};
    for (const auto& use : call.uses) (use.write ? node.writes : node.reads).push_back(use.buffer);
    out.push_back(std::move(node));
  }
  return out;
}

void interop::release_later(Graph& graph) noexcept {
  if (graph) ReleaseQueue::push(graph.take_box().detach());
}

}  // namespace stator
