// Streams.
#include "emulator/runtime/calls.hpp"
#include "emulator/runtime/system.hpp"

namespace stator::emulator::runtime {
namespace {

// A call about an existing stream, on whatever device it is.
template <class F>
int stream_call(void* handle, F f) {
  return device_call([&](System& s, Device&, Scheduler::Lock& lock) {
    const std::shared_ptr<Stream> stream = find_stream(s, handle);
    if (!stream) return error::invalid_resource_handle;
    if (stream->device->failed()) return stream->device->error();
    const int code = f(s, lock, stream);
    return code == error::success ? stream->device->error() : code;
  });
}

int create(void** out, unsigned flags) {
  return device_call([&](System& s, Device& device, Scheduler::Lock&) {
    if (flags > 1) return error::invalid_value;
    auto stream = std::make_shared<Stream>(Stream{.device = &device, .blocking = flags == 0});
    s.scheduler.add(stream);
    *out = s.new_handle();
    s.streams.emplace(*out, std::move(stream));
    return error::success;
  });
}

// What the stream holds still runs.
int destroy(void* handle) {
  if (reinterpret_cast<uintptr_t>(handle) <= 2) return remembered(error::invalid_resource_handle);
  return stream_call(handle, [&](System& s, Scheduler::Lock&, const std::shared_ptr<Stream>& stream) {
    stream->destroyed = true;
    s.streams.erase(handle);
    return error::success;
  });
}

int synchronize(void* handle) {
  return stream_call(handle, [&](System& s, Scheduler::Lock& lock, const std::shared_ptr<Stream>& stream) {
    if (stream->capture) return invalidated(stream->capture, error::capture_unsupported);
    return s.scheduler.wait(lock, {stream, stream->enqueued}) ? error::success : error::not_permitted;
  });
}

int query(void* handle) {
  return stream_call(handle, [&](System& s, Scheduler::Lock& lock, const std::shared_ptr<Stream>& stream) {
    if (stream->capture) return invalidated(stream->capture, error::capture_unsupported);
    return s.scheduler.poll(lock, {stream, stream->enqueued}) ? error::success : error::not_ready;
  });
}

// Whether the capture has not ended.
bool captures(System& s, const std::shared_ptr<Capture>& capture) {
  for (const auto& stream : s.scheduler.streams())
    if (stream->capture == capture) return true;
  return false;
}

int begin_capture(void* handle) {
  return stream_call(handle, [&](System&, Scheduler::Lock&, const std::shared_ptr<Stream>& stream) {
    if (stream == stream->device->legacy) return error::capture_unsupported;
    if (stream->capture) return error::illegal_state;
    stream->capture = std::make_shared<Capture>(Capture{.origin = stream.get()});
    return error::success;
  });
}

// Streams that joined must have been joined again by waits of the first one, which nothing of a graph would show here:
// that any did is the error.
int end_capture(void* handle) {
  return stream_call(handle, [&](System& s, Scheduler::Lock&, const std::shared_ptr<Stream>& stream) {
    const std::shared_ptr<Capture> capture = stream->capture;
    if (!capture || capture->origin != stream.get()) return error::illegal_state;
    bool joined = false;
    for (const auto& other : s.scheduler.streams()) {
      if (other->capture != capture) continue;
      joined = joined || other != stream;
      other->capture = nullptr;
    }
    return !capture->valid ? error::capture_invalidated : joined ? error::capture_unjoined : error::success;
  });
}

int is_capturing(void* handle, int* status) {
  return stream_call(handle, [&](System& s, Scheduler::Lock&, const std::shared_ptr<Stream>& stream) {
    if (capture_across(s, *stream)) return error::capture_implicit;
    *status = !stream->capture ? 0 : stream->capture->valid ? 1 : 2;
    return error::success;
  });
}

// An event that was never recorded orders nothing.
int wait(void* handle, void* event, unsigned flags) {
  return stream_call(handle, [&](System& s, Scheduler::Lock& lock, const std::shared_ptr<Stream>& stream) {
    const auto place = s.events.find(event);
    if (place == s.events.end()) return error::invalid_resource_handle;
    if (flags > 1) return error::invalid_value;
    const Event& waited = place->second;
    if (const auto capture = capture_across(s, *stream)) return invalidated(capture, error::capture_implicit);
    if (stream->capture && waited.recorded && waited.capture != stream->capture)
      return invalidated(stream->capture, error::capture_isolation);
    if (waited.capture && !stream->capture) {  // the stream joins the capture, which must not have ended
      if (!captures(s, waited.capture)) return error::captured_event;
      stream->capture = waited.capture;
    }
    submit(s, lock, stream, {.what = "cudaStreamWaitEvent", .run = {}, .after = {place->second.point}});
    return error::success;
  });
}

}  // namespace

void add_stream_calls(Api& api) {
  api.stream_create = create;
  api.stream_destroy = destroy;
  api.stream_synchronize = synchronize;
  api.stream_query = query;
  api.stream_wait = wait;
  api.stream_begin_capture = begin_capture;
  api.stream_end_capture = end_capture;
  api.stream_is_capturing = is_capturing;
}

}  // namespace stator::emulator::runtime
