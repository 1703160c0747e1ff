#include "core/context.hpp"
#include "core/stream.hpp"
#include "core/text.hpp"

namespace stator {
namespace {

StreamBox& require(const Ref<StreamBox>& box, const char* call) {
  if (!box) throw ValueError(call, "a default-constructed stream", "Take one from Backend.stream(index)");
  return *box;
}

}  // namespace

EventBox::EventBox(Context& context) : Box(BoxKind::event, &context, context.tracker(), no_op), context_(context) {
  set_native(context.runtime().event_create());
}

EventBox::~EventBox() { dispose(); }

void EventBox::release_native(void* handle) noexcept {
  context_.report("event_destroy", context_.runtime().event_destroy_noexcept(handle));
}

bool Event::done() const {
  if (!box_) return true;
  const OpGuard guard(box_->context(), no_op);
  return box_->context().runtime().event_query(box_->handle(no_op));
}

void Event::synchronize() const {
  if (!box_) return;
  const OpGuard guard(box_->context(), uint16_t(Op::synchronize));
  box_->context().runtime().event_synchronize(box_->handle(uint16_t(Op::synchronize)));
}

float Event::milliseconds_since(const Event& earlier) const {
  if (!box_ || !earlier.box_)
    throw ValueError("Event.milliseconds_since", "an event that was never recorded", "Record both");
  if (&box_->context() != &earlier.box_->context()) {
    throw BackendMismatchError("Event.milliseconds_since", "the events belong to two backends",
                               "Record both on one backend");
  }
  const OpGuard guard(box_->context(), no_op);
  return box_->context().runtime().event_elapsed(earlier.box_->handle(no_op), box_->handle(no_op));
}

Event Stream::record() const {
  StreamBox& stream = require(box_, "Stream.record");
  const OpGuard guard(stream.context(), no_op);
  Ref<EventBox> event(new EventBox(stream.context()));
  stream.context().runtime().event_record(event->handle(no_op), stream.handle(no_op));
  return Event(std::move(event));
}

void Stream::wait(const Event& event) const {
  StreamBox& stream = require(box_, "Stream.wait");
  if (!event.box()) return;
  if (&stream.context() != &event.box()->context()) {
    throw BackendMismatchError("Stream.wait", "the event belongs to another backend", "Synchronise the event instead");
  }
  const OpGuard guard(stream.context(), no_op);
  stream.context().runtime().stream_wait(stream.handle(no_op), event.box()->handle(no_op));
}

void Stream::synchronize() const {
  StreamBox& stream = require(box_, "Stream.synchronize");
  const OpGuard guard(stream.context(), uint16_t(Op::synchronize));
  stream.synchronize(uint16_t(Op::synchronize));
}

bool Stream::done() const {
  StreamBox& stream = require(box_, "Stream.done");
  const OpGuard guard(stream.context(), no_op);
  return stream.context().runtime().stream_query(stream.handle(no_op));
}

int Stream::index() const { return box_ ? box_->index() : 0; }

void* Stream::native() const {
  StreamBox& stream = require(box_, "Stream.native");
  const OpGuard guard(stream.context(), no_op);
  return stream.handle(no_op);
}

}  // namespace stator
