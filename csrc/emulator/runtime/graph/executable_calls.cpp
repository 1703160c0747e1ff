// Executable graphs: instantiated, launched, updated.
#include "emulator/runtime/calls.hpp"
#include "emulator/runtime/graph/edit.hpp"

namespace stator::emulator::runtime {
namespace {

constexpr uint64_t free_on_launch = 1, use_priorities = 8;  // which change nothing here

template <class F>
int executable_call(void* handle, F f) {
  return device_call([&](System& s, Device&, Scheduler::Lock& lock) {
    Executable* const executable = s.graphs.find_executable(handle);
    return executable ? f(s, lock, *executable) : error::invalid_value;
  });
}

// The types of nodes that bodies of conditional nodes may have.
bool runs_in_body(const Graph& graph) {
  return !graph.contains(NodeType::host) && !graph.contains(NodeType::event_wait) &&
         !graph.contains(NodeType::event_record);
}

int structure_error(const Graph& graph) {
  for (const auto& node : graph.nodes)
    for (const auto& body : node->bodies) {
      if (node->type() == NodeType::conditional && !runs_in_body(*body)) return error::not_supported;
      if (const int code = structure_error(*body)) return code;
    }
  return error::success;
}

// Every handle of a condition belongs to a conditional node of the graph or of its bodies.
bool decides(const Graph& graph, const Condition& condition) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const auto& node) {
    const auto* const by = dynamic_cast<const ConditionalOperation*>(node->operation.get());
    return (by && by->condition.get() == &condition) ||
           std::any_of(node->bodies.begin(), node->bodies.end(),
                       [&](const auto& body) { return decides(*body, condition); });
  });
}

int instantiate(void** out, void* handle, uint64_t flags) {
  return graph_call(handle, [&](System& s, Graph& graph) {
    if (flags & ~(free_on_launch | use_priorities)) return error::not_supported;
    if (graph.owner || captured_into(s, graph) || !graph.ordered()) return error::invalid_value;
    if (const int code = structure_error(graph)) return code;
    for (const auto& condition : graph.conditions)
      if (!decides(graph, *condition)) return error::invalid_value;
    if (graph.contains(NodeType::conditional))  // its values are one set
      for (const auto& [key, other] : s.graphs.executables)
        if (other.origin == handle) return error::not_supported;
    *out = s.new_handle();
    s.graphs.executables[*out] = {
        .handle = *out, .origin = handle, .flags = flags, .image = copy_of(graph), .last = {}};
    return error::success;
  });
}

// Launches under way keep the image. Also in a context that a fault made unusable.
int destroy_executable(void* handle) {
  std::shared_ptr<Graph> dropped;  // without the lock
  return call([&](System& s) {
    const Scheduler::Lock lock = s.scheduler.lock();
    const auto entry = s.graphs.executables.find(handle);
    if (entry == s.graphs.executables.end()) return error::invalid_value;
    dropped = std::move(entry->second.image);
    s.graphs.executables.erase(entry);
    return here(s).error();
  });
}

int flags_of(void* handle, uint64_t* flags) {
  return executable_call(handle, [&](System&, Scheduler::Lock&, Executable& executable) {
    *flags = executable.flags;
    return error::success;
  });
}

// The events of a launch: those that it records, and the points for which it waits, all at its beginning.
struct LaunchEvents {
  std::vector<std::pair<void*, const Node*>> recorded;
  std::vector<Point> after;
  Times times;
};

int find_events(System& s, const Graph& image, LaunchEvents* events) {
  for (const auto& node : image.nodes) {
    for (const auto& body : node->bodies)
      if (const int code = find_events(s, *body, events)) return code;
    const auto* const by = dynamic_cast<const EventOperation*>(node->operation.get());
    if (!by) continue;
    const auto entry = s.events.find(by->event);
    if (entry == s.events.end()) return error::invalid_resource_handle;
    if (node->type() == NodeType::event_record) {
      events->recorded.emplace_back(by->event, node.get());
      events->times[node.get()] = std::make_shared<Clock::time_point>();
    } else if (!entry->second.capture) {
      events->after.push_back(entry->second.point);
    }
  }
  return error::success;
}

// One piece of the stream's work. A launch comes after those before it, on whatever stream they are. While the stream
// is captured, the graph becomes a node.
int launch(void* handle, void* stream_handle) {
  return executable_call(handle, [&](System& s, Scheduler::Lock& lock, Executable& executable) {
    const std::shared_ptr<Stream> stream = find_stream(s, stream_handle);
    if (!stream) return error::invalid_resource_handle;
    if (const auto capture = capture_across(s, *stream)) return invalidated(capture, error::capture_implicit);
    const std::shared_ptr<const Graph> image = executable.image;
    if (stream->capture) {
      if (!stream->capture->valid) return error::capture_invalidated;
      if (image->contains(NodeType::conditional)) return invalidated(stream->capture, error::capture_unsupported);
      capture_node(s, *stream, std::make_shared<Operation>(NodeType::graph, stream->device, ""), {copy_of(*image)});
      return error::success;
    }
    LaunchEvents events;
    if (const int code = find_events(s, *image, &events)) return code;
    events.after.push_back(executable.last);
    const auto run = [image, seed = s.scheduler.seed(), times = events.times] {
      perform(*image, seed, times);  // which reports for itself
      return Report{};
    };
    const Point point = submit(s, lock, stream, {.what = "cudaGraphLaunch", .run = run, .after = events.after});
    for (const auto& [handle_of, node] : events.recorded)
      if (const auto entry = s.events.find(handle_of); entry != s.events.end())
        entry->second.note_record(point, events.times.at(node));
    // It may have been destroyed by another thread while work ran.
    if (Executable* const kept = s.graphs.find_executable(handle)) kept->last = point;
    return error::success;
  });
}

// There is nothing to upload.
int upload(void* handle, void* stream_handle) {
  return executable_call(handle, [&](System& s, Scheduler::Lock&, Executable&) {
    const std::shared_ptr<Stream> stream = find_stream(s, stream_handle);
    if (!stream) return error::invalid_resource_handle;
    return stream->capture ? invalidated(stream->capture, error::capture_unsupported) : error::success;
  });
}

// The image, of which no launch has a part any more.
Graph& own_image(Executable& executable) {
  if (executable.image.use_count() > 1) executable.image = copy_of(*executable.image);
  return *executable.image;
}

int update(void* handle, void* graph_handle, int* result, void** node, void** from) {
  std::shared_ptr<Graph> replaced;  // without the lock
  *result = int(Update::error);
  *node = *from = nullptr;
  return executable_call(handle, [&](System& s, Scheduler::Lock&, Executable& executable) {
    const std::shared_ptr<Graph> graph = s.graphs.find(graph_handle);
    if (!graph) return error::invalid_value;
    const UpdateResult compared = compare(*executable.image, *graph);
    *result = int(compared.result);
    *node = compared.node ? compared.node->handle : nullptr;
    *from = compared.from ? compared.from->handle : nullptr;
    if (compared.result != Update::success) return error::graph_update_failure;
    replaced = std::exchange(executable.image, copy_of(*executable.image));
    assign(*executable.image, *graph);
    return error::success;
  });
}

// Applies to the image's copy of a node of the graph that was instantiated.
template <class F>
int copy_call(void* handle, void* node_handle, F f) {
  return executable_call(handle, [&](System& s, Scheduler::Lock&, Executable& executable) {
    if (!s.graphs.find_node(node_handle) || !find_copy(*executable.image, node_handle)) return error::invalid_value;
    return f(s, executable, *find_copy(*executable.image, node_handle));
  });
}

template <class Call>
int set(void* handle, void* node_handle, const Call* call) {
  OperationPointer replaced;  // without the lock
  return copy_call(handle, node_handle, [&](System& s, Executable& executable, const Node& node) {
    OperationPointer made;
    if (const int code = make_like(s, *node.operation, *call, &made)) return code;
    if (replaceable(*node.operation, *made) != Update::success) return error::invalid_value;
    Node& own = *find_copy(own_image(executable), node_handle);
    replaced = std::exchange(own.operation, std::move(made));
    return error::success;
  });
}

int set_child(void* handle, void* node_handle, void* child) {
  std::shared_ptr<Graph> replaced;  // without the lock
  return copy_call(handle, node_handle, [&](System& s, Executable& executable, const Node& node) {
    const std::shared_ptr<Graph> graph = s.graphs.find(child);
    if (!graph || node.type() != NodeType::graph) return error::invalid_value;
    if (compare(*node.bodies[0], *graph).result != Update::success) return error::graph_update_failure;
    replaced = std::exchange(executable.image, copy_of(*executable.image));
    assign(*find_copy(*executable.image, node_handle)->bodies[0], *graph);
    return error::success;
  });
}

bool can_be_disabled(const Node& node) {
  return node.type() == NodeType::kernel || node.type() == NodeType::copy || node.type() == NodeType::fill;
}

int set_enabled(void* handle, void* node_handle, unsigned enabled) {
  return copy_call(handle, node_handle, [&](System&, Executable& executable, const Node& node) {
    if (!can_be_disabled(node)) return error::invalid_value;
    find_copy(own_image(executable), node_handle)->enabled = enabled != 0;
    return error::success;
  });
}

int get_enabled(void* handle, void* node_handle, unsigned* enabled) {
  return copy_call(handle, node_handle, [&](System&, Executable&, const Node& node) {
    if (!can_be_disabled(node)) return error::invalid_value;
    *enabled = node.enabled;
    return error::success;
  });
}

}  // namespace

void add_executable_calls(GraphApi& api) {
  api.instantiate = instantiate;
  api.executable_destroy = destroy_executable;
  api.executable_flags = flags_of;
  api.launch = launch;
  api.upload = upload;
  api.update = update;
  api.executable_set_kernel = set<KernelCall>;
  api.executable_set_copy = set<CopyCall>;
  api.executable_set_fill = set<FillCall>;
  api.executable_set_host = set<HostCall>;
  api.executable_set_event = set<EventCall>;
  api.executable_set_child = set_child;
  api.set_enabled = set_enabled;
  api.get_enabled = get_enabled;
}

}  // namespace stator::emulator::runtime
