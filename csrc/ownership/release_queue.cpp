// A lock-free stack, linked through the boxes themselves; drain_all takes the whole stack at once.
#include "ownership/box.hpp"
#include "streams/stream.hpp"

namespace stator {

std::atomic<const Box*> ReleaseQueue::head_{nullptr};

// A reference that is not the last one releases nothing, and is dropped at once. Two owners may push the same box
// before the queue is drained: it is linked once, and its references are counted.
void ReleaseQueue::push(const Box* box) noexcept {
  std::atomic<int32_t>& count = (box->part_ ? box->parent_ : box)->count_;
  for (int32_t others = count.load(std::memory_order_relaxed); others > 1;)
    if (count.compare_exchange_weak(others, others - 1, std::memory_order_release, std::memory_order_relaxed)) return;
  if (box->queued_.fetch_add(1, std::memory_order_acq_rel) > 0) return;
  const Box* head = head_.load(std::memory_order_relaxed);
  do box->next_released_ = head;
  while (!head_.compare_exchange_weak(head, box, std::memory_order_release, std::memory_order_relaxed));
}

void ReleaseQueue::drain_all() noexcept {
  if (in_callback) return;  // the end of a context waits
  const Box* box = head_.exchange(nullptr, std::memory_order_acquire);
  while (box) {
    const Box* next = box->next_released_;  // before the count is reset: from then on the box may be pushed again
    for (int32_t references = box->queued_.exchange(0, std::memory_order_acq_rel); references > 0; --references) {
      release(box);
    }
    box = next;
  }
}

}  // namespace stator
