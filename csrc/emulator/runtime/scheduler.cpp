#include "emulator/runtime/scheduler.hpp"

#include "emulator/runtime/device.hpp"

#include <pthread.h>

#include <algorithm>

namespace stator::emulator::runtime {
namespace {

constexpr size_t queue_limit = 1024;     // CUDA's launch queues are bounded too
thread_local Device* in_work = nullptr;  // whose work runs on this thread

const Point* unmet(const Work& work) {
  for (const Point& point : work.after)
    if (!point.reached()) return &point;
  return nullptr;
}

}  // namespace

Device* running_device() { return in_work; }

RunningOn::RunningOn(Device& device) : before_(in_work) { in_work = &device; }
RunningOn::~RunningOn() { in_work = before_; }

bool Point::reached() const { return !stream || stream->done >= serial; }

Point Scheduler::enqueue(Lock& lock, const std::shared_ptr<Stream>& stream, Work work) {
  stream->queue.push_back(std::move(work));
  const Point point{stream, ++stream->enqueued};
  if (stream->queue.size() > queue_limit) wait(lock, Point{stream, point.serial - queue_limit / 2});
  disturb(lock);
  return point;
}

// The stream whose first piece must run next for the point to be reached. Points lie before the work that waits for
// them, so that the search ends.
Stream* Scheduler::next_for(const Point& point) {
  Stream* stream = point.stream.get();
  while (const Point* before = unmet(stream->queue.front())) stream = before->stream.get();
  return stream;
}

std::vector<Stream*> Scheduler::ready() {
  std::erase_if(streams_, [](const auto& s) { return s->destroyed && s->done == s->enqueued; });
  std::vector<Stream*> found;
  for (const auto& stream : streams_)
    if (!stream->queue.empty() && !unmet(stream->queue.front())) found.push_back(stream.get());
  return found;
}

void Scheduler::run_one(Lock& lock, Stream& stream) {
  Work work = std::move(stream.queue.front());
  stream.queue.pop_front();
  busy_ = true;
  lock.unlock();
  Report report;
  if (work.run && !stream.device->failed()) {
    const RunningOn running(*stream.device);
    report = work.run();
  }
  if (report) stream.device->fail(report, work.what);
  work = {};  // what it holds is released without the lock
  lock.lock();
  busy_ = false;
  ++stream.done;
  changed_.notify_all();
}

bool Scheduler::wait(Lock& lock, const Point& point) {
  if (in_work) return point.reached();
  while (!point.reached()) {
    if (busy_) {
      // What std::condition_variable::wait does; that is a symbol of GCC 12's library, which older systems lack.
      pthread_cond_wait(changed_.native_handle(), lock.mutex()->native_handle());
      continue;
    }
    disturb(lock);
    if (!busy_ && !point.reached()) run_one(lock, *next_for(point));
  }
  return true;
}

bool Scheduler::poll(Lock& lock, const Point& point) {
  if (in_work || busy_ || point.reached()) return point.reached();
  run_one(lock, *next_for(point));
  return point.reached();
}

void Scheduler::disturb(Lock& lock) {
  if (!adversary_ || in_work || busy_ || draw(4) != 0) return;
  for (uint64_t count = 1 + draw(4); count > 0 && !busy_; --count) {
    const std::vector<Stream*> streams = ready();
    if (streams.empty()) return;
    run_one(lock, *streams[draw(streams.size())]);
  }
}

}  // namespace stator::emulator::runtime
