#include "core/capture.hpp"

#include "core/context.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <utility>

namespace stator {

void GraphCapture::begin_part() {
  arena->begin_part();
  parts_.fetch_add(1);
}

void GraphCapture::end_part() {
  arena->end_part();
  parts_.fetch_sub(1);
}

void GraphCapture::require_thread(uint16_t op, int stream) const {
  if (thread_ == thread_number()) return;
  throw CaptureError(op_text(op), "stream " + std::to_string(stream) + " is being captured by another thread",
                     "Use another stream in this thread (`with be.stream(1):`), or capture before threads start");
}

void GraphCapture::admit_draws(uint16_t op) const {
  if (parts_.load() > 0)
    throw CaptureError(op_text(op), "draws in a branch or a loop would be the same in every round",
                       "draw before the loop, and index by the iteration");
}

void GraphCapture::admit(Op op, int stream) const {
  require_thread(uint16_t(op), stream);
  const OpInfo& info = op_info(op);
  if (info.family == Family::random) admit_draws(uint16_t(op));
  if (info.capture == Capture::capturable) return;
  throw CaptureError(std::string(info.call),
                     info.sync == Sync::sync
                         ? "the op waits for the device, and nothing runs while a stream is captured"
                         : "the op works on the host between its launches, which a graph does not repeat",
                     "Call it before the capture begins, or after the graph was launched");
}

void GraphCapture::hold(Buffer& buffer, bool write) {
  if (buffer.arena() == arena.get()) return;
  const std::lock_guard lock(mutex_);
  const auto [found, added] = index_.try_emplace(&buffer, buffers_.size());
  if (added) buffers_.push_back({Ref<Buffer>(&buffer), false});
  buffers_[found->second].written = buffers_[found->second].written || write;
}

// A launch writes the state before its work begins, so that no other work of the graph may use that memory.
void GraphCapture::add_state(uint64_t seed, uint64_t counter, uint16_t op) {
  void* const memory = arena->take(block_size(2 * sizeof(uint64_t)), stream_, op, nullptr).memory;
  const std::lock_guard lock(mutex_);
  states_.push_back({seed, counter, static_cast<uint64_t*>(memory)});
}

std::vector<GraphCapture::State> GraphCapture::states() const {
  const std::lock_guard lock(mutex_);
  return states_;
}

params::Draws GraphCapture::draws(uint64_t seed, uint64_t counter) const {
  const std::lock_guard lock(mutex_);
  for (const State& state : states_)
    if (state.seed == seed) return {0, counter - state.counter, state.memory};
  return {seed, counter, nullptr};
}

void GraphCapture::keep(std::shared_ptr<const void> object) {
  const std::lock_guard lock(mutex_);
  kept_.objects.push_back(std::move(object));
}

void GraphCapture::keep(Box& graph) {
  const std::lock_guard lock(mutex_);
  kept_.graphs.emplace_back(&graph);
}

GraphCapture::Kept GraphCapture::take_kept() {
  const std::lock_guard lock(mutex_);
  return std::exchange(kept_, {});
}

std::vector<GraphCapture::CapturedBuffer> GraphCapture::take_buffers() {
  const std::lock_guard lock(mutex_);
  index_.clear();
  return std::exchange(buffers_, {});
}

uint64_t thread_number() {
  static constinit std::atomic<uint64_t> last{0};
  static thread_local const uint64_t number = last.fetch_add(1) + 1;
  return number;
}

StreamBox::Capturing StreamBox::capturing() const {
  const uint64_t thread = thread_number();
  const std::lock_guard lock(captures_mutex_);
  for (const Capturing& one : captures_)
    if (one.thread == thread || one.thread == 0) return one;
  return {};
}

int StreamBox::captured_order() const {
  const std::shared_ptr<GraphCapture> taking = capture();
  return taking ? taking->stream() : index_;
}

std::vector<StreamBox::Capturing> StreamBox::captures() const {
  const std::lock_guard lock(captures_mutex_);
  return captures_;
}

// The stream that the capture takes: the own one, or a stand-in for the calling thread.
runtime::StreamHandle StreamBox::add_capture(bool itself, std::shared_ptr<GraphCapture> capture, uint16_t op) {
  const std::lock_guard lock(captures_mutex_);
  captures_.reserve(captures_.size() + 1);
  stand_ins_.reserve(stand_ins_.size() + captures_.size() + 1);  // for all that there are
  if (!itself && stand_ins_.empty()) stand_ins_.push_back(context_.runtime().stream_create(priority(), op));
  const runtime::StreamHandle stream = itself ? own_handle(op) : stand_ins_.back();
  captures_.push_back({itself ? 0 : thread_number(), stream, std::move(capture)});
  captures_count_.fetch_add(1);
  if (itself)
    captured_itself_.store(true);
  else
    stand_ins_.pop_back();
  return stream;
}

void StreamBox::begin_capture(const std::shared_ptr<GraphCapture>& capture, uint16_t op) {
  const runtime::StreamHandle stream = add_capture(!is_own(), capture, op);
  try {
    context_.runtime().capture_begin(stream, op);
  } catch (...) {
    leave_capture(*capture);
    throw;
  }
}

void StreamBox::join_capture(const std::shared_ptr<GraphCapture>& capture) { add_capture(true, capture, call::wait); }

void StreamBox::remove_capture(uint64_t thread, const GraphCapture* capture) noexcept {
  const std::lock_guard lock(captures_mutex_);
  const auto found = std::find_if(captures_.begin(), captures_.end(), [&](const Capturing& one) {
    return one.capture.get() == capture && (capture || one.thread == thread);
  });
  if (found == captures_.end()) return;
  if (found->thread)
    stand_ins_.push_back(found->handle);
  else
    captured_itself_.store(false);
  captures_.erase(found);
  captures_count_.fetch_sub(1);
}

void StreamBox::leave_capture(const GraphCapture& capture) noexcept { remove_capture(0, &capture); }

StreamBox::OnStandIn::OnStandIn(StreamBox& stream, uint16_t op) : stream_(stream) {
  stream.add_capture(false, nullptr, op);
}

StreamBox::OnStandIn::~OnStandIn() { stream_.remove_capture(thread_number(), nullptr); }

void Context::leave_capture(const GraphCapture& capture) noexcept {
  capture.arena->seal();
  for (int i = 0; i < Backend::stream_limit; ++i)
    if (capture.streams() >> i & 1) streams_[i]->leave_capture(capture);
}

void Context::drop_capture(const StreamBox& stream, const StreamBox::Capturing& one) noexcept {
  if (!one.capture || one.capture->stream() != stream.index()) return;
  runtime_->capture_drop_noexcept(one.handle);
  leave_capture(*one.capture);
}

void Context::drop_capture(StreamBox& stream) noexcept {
  const std::shared_ptr<GraphCapture> capture = stream.capture();
  for (const StreamBox::Capturing& one : stream.captures())
    if (one.capture == capture) drop_capture(stream, one);
}

runtime::StreamHandle Context::allocation_stream(int index, uint16_t op) {
  StreamBox& stream = opened_stream(index);
  if (!stream.is_captured_itself()) return stream.own_handle(op);
  const std::shared_ptr<GraphCapture> capture = stream.capture();
  for (int i = stream_count() - 1; capture && i >= 0; --i) {
    if (streams_[i]->is_captured_itself()) continue;
    capture->note_allocation(i);
    return opened_stream(i).own_handle(op);
  }
  throw CaptureError(op_text(op), "every stream of the backend is being captured, so that none can allocate",
                     "Leave one of them out of the captures");
}

}  // namespace stator
