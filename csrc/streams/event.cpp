// EventBox, and the public handles Event and Stream: each call takes a guard and goes to the runtime layer.
#include "core/capture.hpp"
#include "core/context.hpp"
#include "core/text.hpp"
#include "streams/stream.hpp"

namespace stator {
namespace {

StreamBox& require(const Ref<StreamBox>& box, const char* call) {
  if (!box) throw ValueError(call, "got a default-constructed stream", "Take one from Backend.stream(index)");
  return *box;
}

}  // namespace

EventBox::EventBox(Context& context)
    : Box(BoxKind::event, &context, context.tracker(), call::record), context_(context) {
  set_native(context.runtime().event_create(call::record));
}

EventBox::~EventBox() { dispose(); }

void EventBox::release_native(void* handle) noexcept {
  context_.report("event_destroy", context_.runtime().event_destroy_noexcept(handle));
}

bool Event::done() const {
  if (!box_) return true;
  const OpGuard guard(box_->context(), call::event_done);
  return box_->context().runtime().event_query(box_->handle(call::event_done), true, call::event_done);
}

void Event::synchronize() const {
  if (!box_) return;
  const OpGuard guard(box_->context(), call::event_synchronize);
  box_->context().runtime().event_synchronize(box_->handle(call::event_synchronize), call::event_synchronize);
  box_->context().pool().poll_foreign();
}

float Event::milliseconds_since(const Event& earlier) const {
  if (!box_ || !earlier.box_)
    throw ValueError("Event.milliseconds_since", "an event that was never recorded", "Record both");
  if (&box_->context() != &earlier.box_->context()) {
    throw BackendMismatchError("Event.milliseconds_since", "the events belong to two backends",
                               "Record both on one backend");
  }
  constexpr uint16_t op = call::milliseconds_since;
  const OpGuard guard(box_->context(), op);
  runtime::Runtime& runtime = box_->context().runtime();
  const runtime::EventHandle from = earlier.box_->handle(op), to = box_->handle(op);
  if (!runtime.event_query(from, false, op) || !runtime.event_query(to, false, op))
    throw ValueError(op_text(op), "an event that has not happened yet", "Synchronise both first");
  return runtime.event_elapsed(from, to, op);
}

Event Stream::record() const {
  StreamBox& stream = require(box_, "Stream.record");
  const OpGuard guard(stream.context(), call::record);
  Ref<EventBox> event(new EventBox(stream.context()));
  stream.context().runtime().event_record(event->handle(call::record), stream.handle(call::record), call::record);
  event->set_capture(stream.capture());
  return Event(std::move(event));
}

void Stream::wait(const Event& event) const {
  StreamBox& stream = require(box_, "Stream.wait");
  if (!event.box()) return;
  if (&stream.context() != &event.box()->context()) {
    throw BackendMismatchError("Stream.wait", "the event belongs to another backend", "Synchronise the event instead");
  }
  const OpGuard guard(stream.context(), call::wait);
  stream.context().runtime().stream_wait(stream.handle(call::wait), event.box()->handle(call::wait), call::wait);
  const std::shared_ptr<GraphCapture> capture = event.box()->capture().lock();
  if (!capture || stream.is_captured() || !stream.context().runtime().is_captured(stream.handle(call::wait))) return;
  stream.join_capture(capture);
  capture->add_stream(stream.index());
}

void Stream::synchronize() const {
  StreamBox& stream = require(box_, "Stream.synchronize");
  const OpGuard guard(stream.context(), uint16_t(Op::synchronize));
  stream.synchronize(uint16_t(Op::synchronize));
  stream.context().pool().poll_foreign();
}

bool Stream::done() const {
  StreamBox& stream = require(box_, "Stream.done");
  const OpGuard guard(stream.context(), call::stream_done);
  return stream.context().runtime().stream_query(stream.handle(call::stream_done), call::stream_done);
}

void Stream::add_callback(std::function<void()> function) const {
  StreamBox& stream = require(box_, "Stream.add_callback");
  if (!function) throw ValueError("Stream.add_callback", "got an empty function", "Give one that can be called");
  const OpGuard guard(stream.context(), call::add_callback);
  stream.add_callback(std::move(function));
}

void Stream::close() const {
  StreamBox& stream = require(box_, "Stream.close");
  const OpGuard guard(stream.context(), call::stream_close);
  stream.give_back(call::stream_close);
}

int Stream::priority() const { return box_ ? box_->priority() : 0; }
bool Stream::external() const { return box_ && !box_->is_own(); }
int Stream::index() const { return box_ ? box_->index() : 0; }

void* Stream::native() const {
  StreamBox& stream = require(box_, "Stream.native");
  const OpGuard guard(stream.context(), call::stream_native);
  return stream.handle(call::stream_native);
}

}  // namespace stator
