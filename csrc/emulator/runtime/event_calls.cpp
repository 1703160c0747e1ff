// Events.
#include "emulator/runtime/calls.hpp"
#include "emulator/runtime/system.hpp"

namespace stator::emulator::runtime {
namespace {

constexpr unsigned blocking_sync = 1, disable_timing = 2, interprocess = 4;

template <class F>
int event_call(void* handle, F f) {
  return device_call([&](System& s, Device&, Scheduler::Lock& lock) {
    const auto entry = s.events.find(handle);
    if (entry == s.events.end()) return error::invalid_resource_handle;
    if (entry->second.device->failed()) return entry->second.device->error();
    return f(s, lock, entry->second);
  });
}

int create_event(void** out, unsigned flags) {
  return device_call([&](System& s, Device& device, Scheduler::Lock&) {
    if (flags & ~(blocking_sync | disable_timing | interprocess)) return error::invalid_value;
    if ((flags & interprocess) && !(flags & disable_timing)) return error::invalid_value;
    *out = s.new_handle();
    s.events.emplace(*out, Event{.device = &device, .timing = !(flags & disable_timing)});
    return error::success;
  });
}

int destroy_event(void* handle) {
  return event_call(handle, [&](System& s, Scheduler::Lock&, Event&) {
    s.events.erase(handle);
    return error::success;
  });
}

constexpr unsigned record_external = 1;  // cudaEventRecordExternal

// In a capture the event stands for what the stream captured so far; an external one is recorded by a node, at each
// launch.
int record_captured(System& s, Stream& stream, void* handle, Event& event, unsigned flags) {
  if (!stream.capture->valid) return error::capture_invalidated;
  if (flags == record_external) {
    capture_node(s, stream, std::make_shared<EventOperation>(NodeType::event_record, event.device, handle));
    return error::success;
  }
  event.capture = stream.capture;
  event.captured = stream.captured;
  event.recorded = true;
  event.point = {};
  return error::success;
}

int record(void* handle, void* stream_handle, unsigned flags) {
  return event_call(handle, [&](System& s, Scheduler::Lock& lock, Event& event) {
    const std::shared_ptr<Stream> stream = find_stream(s, stream_handle);
    if (!stream || stream->device != event.device) return error::invalid_resource_handle;
    if (flags > record_external) return error::invalid_value;
    if (const auto capture = capture_across(s, *stream)) return invalidated(capture, error::capture_implicit);
    if (stream->capture) return record_captured(s, *stream, handle, event, flags);
    const auto time = std::make_shared<Clock::time_point>();
    const auto run = [time] {
      *time = Clock::now();
      return Report{};
    };
    const Point point = submit(s, lock, stream, {.what = "cudaEventRecord", .run = run, .after = {}});
    // The event may have been destroyed by another thread while work ran.
    if (const auto entry = s.events.find(handle); entry != s.events.end()) entry->second.note_record(point, time);
    return error::success;
  });
}

int query_event(void* handle) {
  return event_call(handle, [](System& s, Scheduler::Lock& lock, Event& event) {
    if (event.capture) return invalidated(event.capture, error::captured_event);
    if (const int code = uncaptured(s)) return code;
    Device& device = *event.device;
    const Point point = event.point;
    if (!s.scheduler.poll(lock, point)) return error::not_ready;
    return device.error();
  });
}

int synchronize_event(void* handle) {
  return event_call(handle, [](System& s, Scheduler::Lock& lock, Event& event) {
    if (event.capture) return invalidated(event.capture, error::captured_event);
    if (const int code = uncaptured(s)) return code;
    Device& device = *event.device;
    const Point point = event.point;
    return s.scheduler.wait(lock, point) ? device.error() : error::not_permitted;
  });
}

int elapsed(float* milliseconds, void* from, void* to) {
  return event_call(from, [&](System& s, Scheduler::Lock&, Event& start) {
    const auto entry = s.events.find(to);
    if (entry == s.events.end()) return error::invalid_resource_handle;
    const Event& end = entry->second;
    if (start.capture || end.capture) return error::captured_event;
    if (!start.timing || !end.timing || !start.recorded || !end.recorded || start.device != end.device)
      return error::invalid_resource_handle;
    if (!start.point.reached() || !end.point.reached()) return error::not_ready;
    *milliseconds = std::chrono::duration<float, std::milli>(*end.time - *start.time).count();
    return error::success;
  });
}

}  // namespace

void add_event_calls(Api& api) {
  api.event_create = create_event;
  api.event_destroy = destroy_event;
  api.event_record = [](void* event, void* stream) { return record(event, stream, 0); };
  api.event_record_with_flags = record;
  api.event_query = query_event;
  api.event_synchronize = synchronize_event;
  api.event_elapsed = elapsed;
}

}  // namespace stator::emulator::runtime
