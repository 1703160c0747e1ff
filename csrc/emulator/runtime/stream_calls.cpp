// Streams.
#include "emulator/runtime/calls.hpp"
#include "emulator/runtime/graph/capture.hpp"

#include <algorithm>

namespace stator::emulator::runtime {
namespace {

constexpr int least_priority = 0, greatest_priority = -5;

int create_with_priority(void** out, unsigned flags, int priority) {
  return device_call([&](System& s, Device& device, Scheduler::Lock&) {
    if (flags > 1) return error::invalid_value;
    const int clamped = std::clamp(priority, greatest_priority, least_priority);
    auto stream = std::make_shared<Stream>(Stream{.device = &device, .blocking = flags == 0, .priority = clamped});
    s.scheduler.add(stream);
    *out = s.new_handle();
    s.streams.emplace(*out, std::move(stream));
    return error::success;
  });
}

int create_stream(void** out, unsigned flags) { return create_with_priority(out, flags, 0); }

int priority_range(int* least, int* greatest) {
  return device_call([&](System&, Device&, Scheduler::Lock&) {
    *least = least_priority;
    *greatest = greatest_priority;
    return error::success;
  });
}

int priority_of(void* handle, int* priority) {
  return stream_call(handle, [&](System&, Scheduler::Lock&, const std::shared_ptr<Stream>& stream) {
    *priority = stream->priority;
    return error::success;
  });
}

int device_of(void* handle, int* device) {
  return stream_call(handle, [&](System&, Scheduler::Lock&, const std::shared_ptr<Stream>& stream) {
    *device = stream->device->index;
    return error::success;
  });
}

int launch_host_function(void* handle, HostFunction* function, void* data) {
  return stream_call(handle, [&](System& s, Scheduler::Lock& lock, const std::shared_ptr<Stream>& stream) {
    if (!function) return error::invalid_value;
    return issue(s, lock, stream, std::make_shared<HostOperation>(stream->device, function, data));
  });
}

// What the stream holds still runs.
int destroy_stream(void* handle) {
  std::shared_ptr<Graph> dropped;  // without the lock
  if (reinterpret_cast<uintptr_t>(handle) <= 2) return remembered(error::invalid_resource_handle);
  return stream_call(handle, [&](System& s, Scheduler::Lock&, const std::shared_ptr<Stream>& stream) {
    if (stream->capture && stream->capture->origin == stream.get()) dropped = drop_capture(s, stream->capture);
    if (stream->capture) stream->capture->valid = false;
    stream->capture = nullptr;
    stream->destroyed = true;
    s.streams.erase(handle);
    return error::success;
  });
}

// The error of a wait or a query while the stream, or one that it waits for, is captured.
int observable(System& s, const Stream& stream) {
  if (stream.capture) return invalidated(stream.capture, error::capture_unsupported);
  const auto capture = capture_across(s, stream);
  return capture ? invalidated(capture, error::capture_implicit) : error::success;
}

int synchronize_stream(void* handle) {
  return stream_call(handle, [&](System& s, Scheduler::Lock& lock, const std::shared_ptr<Stream>& stream) {
    if (const int code = observable(s, *stream)) return code;
    return s.scheduler.wait(lock, {stream, stream->enqueued}) ? error::success : error::not_permitted;
  });
}

int query_stream(void* handle) {
  return stream_call(handle, [&](System& s, Scheduler::Lock& lock, const std::shared_ptr<Stream>& stream) {
    if (const int code = observable(s, *stream)) return code;
    return s.scheduler.poll(lock, {stream, stream->enqueued}) ? error::success : error::not_ready;
  });
}

// The stream's next node comes after what the event stands for. A stream that is not captured joins the capture.
int wait_in_capture(System& s, Stream& stream, const Event& event) {
  const std::shared_ptr<Capture>& capture = stream.capture;
  if (capture && !capture->valid) return error::capture_invalidated;
  if (!event.recorded) return error::success;
  if (event.capture && !captures(s, event.capture))  // which must not have ended
    return invalidated(capture, capture ? error::capture_isolation : error::captured_event);
  if (!event.capture) return invalidated(capture, error::capture_isolation);
  if (capture && event.capture != capture) {
    invalidated(event.capture, error::capture_merge);
    return invalidated(capture, error::capture_merge);
  }
  if (!capture) {
    if (!event.capture->valid) return error::capture_invalidated;
    if (&stream == stream.device->legacy.get()) return invalidated(event.capture, error::capture_implicit);
    stream.capture = event.capture;
    stream.captured.clear();
  }
  for (Node* const node : event.captured)
    if (std::find(stream.captured.begin(), stream.captured.end(), node) == stream.captured.end())
      stream.captured.push_back(node);
  return error::success;
}

constexpr unsigned wait_external = 1;  // cudaEventWaitExternal: a node of its own, at each launch

// An event that was never recorded orders nothing.
int wait(void* handle, void* event, unsigned flags) {
  return stream_call(handle, [&](System& s, Scheduler::Lock& lock, const std::shared_ptr<Stream>& stream) {
    const auto entry = s.events.find(event);
    if (entry == s.events.end()) return error::invalid_resource_handle;
    if (flags > wait_external) return error::invalid_value;
    const Event& waited = entry->second;
    if (const auto capture = capture_across(s, *stream)) return invalidated(capture, error::capture_implicit);
    if (stream->capture && flags == wait_external) {
      if (!stream->capture->valid) return error::capture_invalidated;
      capture_node(s, *stream, std::make_shared<EventOperation>(NodeType::event_wait, stream->device, event));
      return error::success;
    }
    if (stream->capture || waited.capture) return wait_in_capture(s, *stream, waited);
    submit(s, lock, stream, {.what = "cudaStreamWaitEvent", .run = {}, .after = {entry->second.point}});
    return error::success;
  });
}

}  // namespace

void add_stream_calls(Api& api) {
  api.stream_create = create_stream;
  api.stream_create_with_priority = create_with_priority;
  api.stream_priority_range = priority_range;
  api.stream_priority = priority_of;
  api.stream_device = device_of;
  api.launch_host_function = launch_host_function;
  api.stream_destroy = destroy_stream;
  api.stream_synchronize = synchronize_stream;
  api.stream_query = query_stream;
  api.stream_wait = wait;
}

}  // namespace stator::emulator::runtime
