// Boxes enter and leave the list of their parent under the tracker's mutex. close() closes the children, newest first,
// without the mutex, so that a release may call the device and other threads may create or destroy boxes meanwhile.
#include "ownership/box.hpp"

#include "core/text.hpp"
#include "ownership/binding.hpp"
#include "ownership/process.hpp"
#include "ownership/tracker.hpp"
#include "runtime/condition.hpp"

#include <chrono>
#include <ctime>
#include <vector>

namespace stator {

constinit thread_local uint32_t thread_scope = 0;

namespace {

// The coarse clock: ticks of a few milliseconds are enough for an age, and the call costs a fifth of the exact one.
int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return time.tv_sec * int64_t(1'000'000'000) + time.tv_nsec;
}

}  // namespace

const char* name(BoxKind kind) {
  static constexpr const char* names[] = {"context", "pool",  "buffer",  "pinned",  "managed",
                                          "stream",  "event", "library", "program", "graph"};
  return names[static_cast<int>(kind)];
}

Box::Box(BoxKind kind, Box* parent, Tracker& tracker, uint16_t origin, Hold hold)
    : kind_(kind),
      part_(hold == Hold::part_of),
      origin_(origin),
      generation_(process_generation()),
      parent_(parent),
      tracker_(tracker),
      born_(now()) {
  const std::lock_guard lock(tracker_.mutex_);
  if (!parent_) {
    tracker_.root_ = this;
    return;
  }
  if (parent_->closing()) {
    throw BackendClosedError(op_text(origin), "the backend is closed", "Open a new Backend");
  }
  if (!part_) retain(parent_);
  older_ = parent_->newest_child_;
  if (older_) older_->newer_ = this;
  parent_->newest_child_ = this;
}

Box::~Box() {
  if (!parent_) return;  // the tracker of a root is gone already
  {
    const std::lock_guard lock(tracker_.mutex_);
    if (older_) older_->newer_ = newer_;
    (newer_ ? newer_->older_ : parent_->newest_child_) = older_;
    tracker_.changed_.notify_all();
  }
  if (!part_) release(parent_);
}

bool Box::is_leaked() const { return ended() || generation_ != process_generation() || is_left(tracker_); }

void Box::dispose() noexcept {
  if (is_leaked()) return;
  if (void* handle = native_.exchange(nullptr, std::memory_order_acq_rel)) release_native(handle);
}

bool Box::try_retain() const noexcept {
  int32_t count = count_.load(std::memory_order_relaxed);
  while (count > 0) {
    if (count_.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel)) return true;
  }
  return false;
}

void Box::close(Box& box) noexcept {
  if (box.is_leaked()) return;
  Tracker& tracker = box.tracker_;
  std::unique_lock lock(tracker.mutex_);
  while (box.closing() && !box.settled_) runtime::wait_on(tracker.changed_, lock);
  if (box.closing()) return;
  box.closing_.store(true, std::memory_order_release);
  for (;;) {
    Box* child = box.newest_child_;
    while (child && child->settled_) child = child->older_;
    if (!child) break;
    if (!child->part_ && !child->try_retain()) {
      tracker.changed_.wait_for(lock, std::chrono::milliseconds(10));  // another thread destroys it
      continue;
    }
    lock.unlock();
    close(*child);
    if (!child->part_) release(child);
    lock.lock();
  }
  lock.unlock();
  box.dispose();
  lock.lock();
  box.settled_ = true;
  tracker.changed_.notify_all();
}

bool Box::close_all(std::span<const Ref<Box>> boxes, const std::function<bool()>& unused) {
  if (boxes.empty()) return true;
  Tracker& tracker = boxes.front()->tracker_;
  std::vector<void*> handles(boxes.size());  // null of what another thread closes or has not opened yet
  {
    const std::lock_guard lock(tracker.mutex_);
    for (size_t i = 0; i < boxes.size(); ++i) {
      if (boxes[i]->closing()) continue;
      // Sequentially consistent with the count of calls in flight, which `unused` reads next.
      handles[i] = boxes[i]->native_.exchange(nullptr);
      if (handles[i]) boxes[i]->closing_.store(true, std::memory_order_release);
    }
  }
  const bool released = unused();
  for (size_t i = 0; i < boxes.size(); ++i) {
    if (!handles[i]) continue;
    if (released)
      boxes[i]->release_native(handles[i]);
    else
      boxes[i]->set_native(handles[i]);
  }
  const std::lock_guard lock(tracker.mutex_);
  for (size_t i = 0; i < boxes.size(); ++i) {
    if (!handles[i]) continue;
    boxes[i]->settled_ = released;
    if (!released) boxes[i]->closing_.store(false, std::memory_order_release);
  }
  tracker.changed_.notify_all();
  return released;
}

void Box::throw_closed(uint16_t op) const {
  if (generation_ != process_generation()) {
    throw ForkedProcessError(op_text(op), "the backend belongs to the parent of this process",
                             "Open a backend after the fork, or start processes with the spawn method");
  }
  if (scope() && parent_ && !parent_->closing()) {
    throw BackendClosedError(op_text(op), std::string("the ") + name(kind_) + " was made in a scope that has ended",
                             "Use it inside the scope, or keep it beyond the end with Scope.keep()");
  }
  throw BackendClosedError(op_text(op), std::string("the ") + name(kind_) + " belongs to a closed backend",
                           "Use it before Backend.close(), or open a new Backend");
}

void retain(const Box* box) noexcept {
  const Box* counted = box->part_ ? box->parent_ : box;
  counted->count_.fetch_add(1, std::memory_order_relaxed);
}

void release(const Box* box) noexcept {
  const Box* counted = box->part_ ? box->parent_ : box;
  // A child of fork leaks what its parent made, since another thread of the parent may have held any lock.
  if (counted->generation_ != process_generation()) return;
  if (counted->count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete counted;
}

}  // namespace stator
