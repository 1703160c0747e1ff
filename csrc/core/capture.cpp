#include "core/capture.hpp"

#include "core/context.hpp"
#include "core/text.hpp"

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

void GraphCapture::require_thread(uint16_t op) const {
  if (thread_ == std::this_thread::get_id()) return;
  throw CaptureError(op_text(op), "stream " + std::to_string(stream_) + " is being captured by another thread",
                     "Use another stream in this thread (`with be.stream(1):`), or capture before threads start");
}

void GraphCapture::admit(Op op) const {
  require_thread(uint16_t(op));
  const OpInfo& info = op_info(op);
  if (info.family == Family::random && parts_.load() > 0)
    throw CaptureError(std::string(info.call), "draws in a branch or a loop would be the same in every round",
                       "Draw all numbers before it, and take those of the round");
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
  const auto [found, added] = index_.try_emplace(&buffer, held_.size());
  if (added) held_.push_back({Ref<Buffer>(&buffer), false});
  held_[found->second].written = held_[found->second].written || write;
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

std::vector<GraphCapture::Held> GraphCapture::take_held() {
  const std::lock_guard lock(mutex_);
  index_.clear();
  return std::exchange(held_, {});
}

void Context::leave_capture(GraphCapture& capture) noexcept {
  capture.arena->seal();
  for (int i = 0; i < Backend::stream_limit; ++i)
    if (capture.streams() >> i & 1) streams_[i]->set_capture(nullptr);
}

void Context::drop_capture(StreamBox& stream) noexcept {
  const std::shared_ptr<GraphCapture> capture = stream.capture();
  if (!capture || capture->stream() != stream.index()) return;
  runtime_->capture_drop_noexcept(stream.native());
  leave_capture(*capture);
}

}  // namespace stator
