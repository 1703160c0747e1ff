// The table's calls for streams and events of the host target. A recorded event is a Mark in the queue of its stream.
#include "runtime/host/calls.hpp"
#include "runtime/host/graph.hpp"
#include "runtime/waiting/waiting.hpp"

#include <algorithm>

namespace stator::runtime::host {
namespace {

constexpr PriorityRange priorities{0, -5};  // as an H100 has them

struct Event {
  std::mutex mutex;
  std::shared_ptr<Mark> mark;  // null once recorded on an idle stream
  bool recorded = false;
  int64_t time = 0;
  // Recorded in a captured stream: it never happens, and orders only what is captured with it.
  std::shared_ptr<Recording> capture;
  Progress progress;
};

Event& event_of(EventHandle handle) { return *static_cast<Event*>(handle); }

std::shared_ptr<Recording> capture_of(Event& event) {
  const std::lock_guard lock(event.mutex);
  return event.capture;
}

// The event's recording when it has not been reached yet, else null.
std::shared_ptr<Mark> pending_mark(Event& event) {
  const std::lock_guard lock(event.mutex);
  if (event.mark && event.mark->done.load(std::memory_order_acquire)) {
    event.time = event.mark->time;
    event.mark = nullptr;
  }
  return event.mark;
}

}  // namespace

Status stream_create(ContextHandle handle, int priority, StreamHandle* out) {
  Context& context = context_of(handle);
  if (const Status state = usable(context)) return state;
  return guarded([&] {
    auto stream = std::make_unique<Stream>(context, std::clamp(priority, priorities.greatest, priorities.least));
    Scheduler::instance().add(*stream);
    *out = stream.release();
    counts.streams.fetch_add(1);
    return status::success;
  });
}

Status stream_priorities(ContextHandle handle, PriorityRange* out) {
  *out = priorities;
  return usable(context_of(handle));
}

Status stream_properties(ContextHandle handle, StreamHandle stream, StreamProperties* out) {
  *out = {0, stream_of(stream).priority};
  return usable(context_of(handle));
}

Status stream_destroy(ContextHandle handle, StreamHandle stream) {
  counts.streams.fetch_sub(1);
  if (orphan(context_of(handle))) return status::success;
  return guarded([&] {
    Scheduler::instance().remove(stream_of(stream));
    delete &stream_of(stream);
    return status::success;
  });
}

Status stream_synchronize(ContextHandle handle, StreamHandle stream) {
  Context& context = context_of(handle);
  if (orphan(context)) return status::not_initialized;
  if (recording_of(stream_of(stream))) return status::capture_unsupported;
  return guarded([&] {
    if (!Scheduler::instance().synchronize(stream_of(stream))) return status::interrupted;
    return usable(context);
  });
}

Status stream_query(ContextHandle handle, StreamHandle stream) {
  if (const Status state = usable(context_of(handle))) return state;
  if (recording_of(stream_of(stream))) return status::capture_unsupported;
  return stream_of(stream).idle() ? status::success : status::not_ready;
}

Status stream_capturing(ContextHandle handle, StreamHandle stream, bool* out) {
  *out = recording_of(stream_of(stream)) != nullptr;
  return usable(context_of(handle));
}

Status stream_wait(ContextHandle handle, StreamHandle stream, EventHandle event) {
  if (const Status state = usable(context_of(handle))) return state;
  const std::shared_ptr<Recording> from = capture_of(event_of(event)), to = recording_of(stream_of(stream));
  if (from || to) {
    if (!from) return status::capture_isolation;
    if (to && to != from) return status::capture_merge;
    return guarded([&] { return from->join(stream_of(stream), event_of(event).progress); });
  }
  const std::shared_ptr<Mark> mark = pending_mark(event_of(event));
  if (!mark || mark->stream == &stream_of(stream)) return status::success;
  return guarded([&] {
    auto item = std::make_unique<Item>();
    item->kind = Item::Kind::wait;
    item->mark = mark;
    Scheduler::instance().enqueue(stream_of(stream), std::move(item));
    return status::success;
  });
}

Status event_create(ContextHandle handle, EventHandle* out) {
  if (const Status state = usable(context_of(handle))) return state;
  return guarded([&] {
    *out = new Event;
    counts.events.fetch_add(1);
    return status::success;
  });
}

Status event_destroy(ContextHandle, EventHandle event) {
  counts.events.fetch_sub(1);
  delete &event_of(event);
  return status::success;
}

Status event_record(ContextHandle handle, EventHandle event_handle, StreamHandle stream_handle) {
  if (const Status state = usable(context_of(handle))) return state;
  Event& event = event_of(event_handle);
  Stream& stream = stream_of(stream_handle);
  return guarded([&] {
    if (std::shared_ptr<Recording> recording = recording_of(stream)) {
      Progress progress = recording->progress(stream);
      const std::lock_guard lock(event.mutex);
      event.progress = std::move(progress);
      event.capture = std::move(recording);
      return status::success;
    }
    std::shared_ptr<Mark> mark;
    if (!stream.idle()) {
      mark = std::make_shared<Mark>(stream);
      auto item = std::make_unique<Item>();
      item->kind = Item::Kind::record;
      item->mark = mark;
      Scheduler::instance().enqueue(stream, std::move(item));
    }
    const std::lock_guard lock(event.mutex);
    event.recorded = true;
    event.time = host::now();
    event.mark = std::move(mark);
    event.capture = nullptr;
    return status::success;
  });
}

Status event_query(ContextHandle handle, EventHandle event) {
  if (const Status state = usable(context_of(handle))) return state;
  if (capture_of(event_of(event))) return status::captured_event;
  return pending_mark(event_of(event)) ? status::not_ready : status::success;
}

Status event_synchronize(ContextHandle handle, EventHandle event) {
  Context& context = context_of(handle);
  if (orphan(context)) return status::not_initialized;
  if (capture_of(event_of(event))) return status::captured_event;
  return guarded([&] {
    const std::shared_ptr<Mark> mark = pending_mark(event_of(event));
    if (mark && !Scheduler::instance().wait(*mark)) return status::interrupted;
    return usable(context);
  });
}

Status event_elapsed(ContextHandle handle, EventHandle from_handle, EventHandle to_handle, float* milliseconds) {
  if (const Status state = usable(context_of(handle))) return state;
  Event &from = event_of(from_handle), &to = event_of(to_handle);
  if (capture_of(from) || capture_of(to)) return status::captured_event;
  if (pending_mark(from) || pending_mark(to)) return status::not_ready;
  if (!from.recorded || !to.recorded) return status::invalid_handle;
  *milliseconds = float(double(to.time - from.time) * 1e-6);
  return status::success;
}

}  // namespace stator::runtime::host

namespace stator::runtime {

using namespace host;

Status make_room_on_host(StreamHandle handle, bool synchronous) noexcept {
  Stream& stream = stream_of(handle);
  const bool full = stream.full.load(std::memory_order_acquire);
  if (!full && (!synchronous || stream.idle())) [[likely]]
    return status::success;
  if (orphan(stream.context) || stream.captured.load(std::memory_order_acquire)) return status::success;
  const Interruptible may_end;
  if (synchronous && !Interruptible::here()) return status::success;  // the work waits itself
  return guarded([&] {
    Scheduler& scheduler = Scheduler::instance();
    return (synchronous ? scheduler.synchronize(stream) : scheduler.admit(stream)) ? status::success
                                                                                   : status::interrupted;
  });
}

bool is_busy_on_host(StreamHandle handle) noexcept { return !stream_of(handle).idle(); }

void drop_work_on_host(StreamHandle handle) noexcept {
  Context& context = stream_of(handle).context;
  if (!orphan(context)) context.dropped.store(true, std::memory_order_release);
}

}  // namespace stator::runtime
