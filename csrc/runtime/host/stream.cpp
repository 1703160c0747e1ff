// The scheduler. enqueue() appends to a stream; advance() completes records and waits and makes the next work item
// ready; workers and waiting callers take chunks of ready items with run_chunk(), and sleep after a short spin.
#include "runtime/host/stream.hpp"

#include "runtime/condition.hpp"
#include "runtime/float_environment.hpp"
#include "runtime/waiting/waiting.hpp"
#include "runtime/warning.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <algorithm>
#include <exception>
#include <new>
#include <utility>

namespace stator::runtime::host {
namespace {

// How long a thread spins before it sleeps. Measured on two cores: a sleeping thread starts 20 to 40 us after it was
// woken, and waking it costs the caller 5 to 11 us.
struct Spin {
  static constexpr int64_t patience = 100'000;  // nanoseconds of spinning before sleep
  static constexpr int polls = 16;              // between two reads of the clock
};

std::atomic<int> epoch{0};
std::atomic<Scheduler*> current{nullptr};

// The lowest address at which a frame of this thread leaves the stack that kernels need: of the largest ones, with room
// for a signal's handler. 1 where the stack is not known.
uintptr_t lowest_frame() noexcept {
  constexpr size_t needed = size_t(128) << 10;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 1;
  void* address = nullptr;
  size_t bytes = 0;
  const bool known = pthread_attr_getstack(&attributes, &address, &bytes) == 0;
  pthread_attr_destroy(&attributes);
  return known ? uintptr_t(address) + needed : 1;
}

// The parent's scheduler may be locked by a thread that does not exist in the child, so the child makes a new one.
void after_fork_in_child() {
  unlock_memory();
  epoch.fetch_add(1, std::memory_order_relaxed);
  long_host_queues.store(0);
  current.store(new Scheduler, std::memory_order_release);
}

Scheduler* first_scheduler() {
  pthread_atfork(lock_memory, unlock_memory, after_fork_in_child);
  auto* scheduler = new Scheduler;  // outlives every static destructor: workers may still run then
  current.store(scheduler, std::memory_order_release);
  return scheduler;
}

// Blocks all signals while workers are started, since signals are for the threads of the application.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// Of this thread: it runs an item, so that other work may wait for it.
constinit thread_local bool in_item = false;

void run_blocks(Context& context, const Item& item, int64_t first, int64_t last) noexcept {
  const bool ended = context.faulted.load(std::memory_order_acquire) || context.dropped.load(std::memory_order_acquire);
  if (ended && !item.release) return;
  const DefaultFloatEnvironment environment;
  try {
    if (const char* message = item.body(first, last)) context.fault(message);
  } catch (const std::exception& error) {
    context.fault(error.what());
  } catch (...) {
    context.fault("a task threw something that is not a std::exception");
  }
}

}  // namespace

bool has_stack() noexcept {
  constinit static thread_local uintptr_t lowest = 0;
  if (lowest == 0) [[unlikely]]
    lowest = lowest_frame();
  return uintptr_t(__builtin_frame_address(0)) > lowest;
}

int process_epoch() { return epoch.load(std::memory_order_relaxed); }

void Context::fault(const std::string& message) noexcept {
  const std::lock_guard lock(mutex_);
  if (faulted.load(std::memory_order_relaxed)) return;
  try {
    message_ = message;
  } catch (...) {
    message_.clear();
  }
  faulted.store(true, std::memory_order_release);
}

std::string Context::fault_message() {
  const std::lock_guard lock(mutex_);
  return message_;
}

void Stream::unclaim() {
  if (pending.fetch_sub(1, std::memory_order_acq_rel) > 1) Scheduler::instance().resume(*this);
}

Scheduler& Scheduler::instance() {
  static Scheduler* const first = first_scheduler();
  Scheduler* scheduler = current.load(std::memory_order_acquire);
  return scheduler ? *scheduler : *first;
}

int Scheduler::worker_limit() {
  static const int limit = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
    return std::max(1, int(std::thread::hardware_concurrency()));
  }();
  return limit;
}

void Scheduler::start() {
  const int limit = worker_limit();
  const BlockedSignals blocked;
  workers_.reserve(limit);
  sleeping_.reserve(limit);  // so that push_back by a worker that goes to sleep cannot fail
  while (int(workers_.size()) < limit) {
    try {
      auto worker = std::make_unique<Worker>();
      worker->thread = std::thread([this, self = worker.get(), generation = generation_] { work(*self, generation); });
      workers_.push_back(std::move(worker));
    } catch (const std::exception&) {
      return;  // fewer workers are enough; without any, callers do the work
    }
    pthread_setname_np(workers_.back()->thread.native_handle(), "stator");
  }
}

void Scheduler::prepare() {
  const Lock lock(mutex_);
  if (workers_.empty()) start();
}

void Scheduler::enqueue(Stream& stream, std::unique_ptr<Item> item) {
  Lock lock(mutex_);
  if (workers_.empty()) start();
  ++stream.items;
  stream.bytes += item->bytes;
  append(stream, std::move(item));
  if (stream.items >= Stream::Bound::items || stream.bytes >= Stream::Bound::bytes) add_checkpoint(stream);
  if (workers_.empty()) run_without_workers(lock);
}

void Scheduler::append(Stream& stream, std::unique_ptr<Item> item) noexcept {
  Item* added = item.get();
  (stream.last ? stream.last->after : stream.first) = std::move(item);
  stream.last = added;
  if (stream.pending.fetch_add(1, std::memory_order_acq_rel) == 0) advance(stream);
}

// Where there is no memory for it, the next item tries again.
void Scheduler::add_checkpoint(Stream& stream) noexcept {
  if (stream.idle()) {
    stream.items = 0;
    stream.bytes = 0;
    return;
  }
  try {
    auto item = std::make_unique<Item>();
    auto mark = std::make_shared<Mark>(stream);
    item->kind = Item::Kind::record;
    item->mark = mark;
    item->checkpoint = true;
    stream.before = std::exchange(stream.last_checkpoint, std::move(mark));
    stream.items = 0;
    stream.bytes = 0;
    long_host_queues.fetch_add(1, std::memory_order_relaxed);
    append(stream, std::move(item));
  } catch (const std::bad_alloc&) {
    return;
  }
  stream.full.store(stream.before && !stream.before->done.load(std::memory_order_acquire), std::memory_order_release);
}

bool Scheduler::admit(Stream& stream) {
  if (!stream.full.load(std::memory_order_acquire) || in_item) return true;
  std::shared_ptr<Mark> mark;
  {
    const Lock lock(mutex_);
    mark = stream.before;
  }
  if (mark && !wait(*mark, true)) return false;
  const Lock lock(mutex_);
  if (stream.before && stream.before->done.load(std::memory_order_acquire))
    stream.full.store(false, std::memory_order_release);
  return true;
}

void Scheduler::insert(Stream& stream, std::vector<std::unique_ptr<Item>> items) {
  const Lock lock(mutex_);
  Item* behind = stream.first.get();
  for (std::unique_ptr<Item>& item : items) {
    item->after = std::move(behind->after);
    behind->after = std::move(item);
    behind = behind->after.get();
    if (!behind->after) stream.last = behind;
  }
  stream.pending.fetch_add(int64_t(items.size()), std::memory_order_acq_rel);
}

void Scheduler::hand_over(Stream& stream, std::vector<std::unique_ptr<Item>> items) {
  Lock lock(mutex_);
  if (workers_.empty()) start();
  for (auto item = items.rbegin(); item != items.rend(); ++item) {
    (*item)->after = std::move(stream.first);
    stream.first = std::move(*item);
    if (!stream.last) stream.last = stream.first.get();
  }
  stream.pending.fetch_add(int64_t(items.size()) - 1, std::memory_order_acq_rel);
  advance(stream);
  if (workers_.empty()) run_without_workers(lock);
}

void Scheduler::resume(Stream& stream) {
  Lock lock(mutex_);
  advance(stream);
  if (workers_.empty()) run_without_workers(lock);
}

// Runs all that is ready. What is not ready yet becomes so in a thread that is in here too.
void Scheduler::run_without_workers(Lock& lock) {
  while (!ready_.empty()) {
    const Ready ready = ready_.front();
    run_chunk(lock, *ready.item, *ready.stream);
  }
  if (std::exchange(warned_, true)) return;
  lock.unlock();
  warn(
      "stator: no thread can be started, so work on the cpu runs in the threads that call. Raise the limit on the "
      "number of processes (ulimit -u)");
}

void Scheduler::pop(Stream& stream) {
  stream.first = std::move(stream.first->after);
  if (!stream.first) stream.last = nullptr;
  stream.pending.fetch_sub(1, std::memory_order_acq_rel);
}

// After the items of its priority. There is room.
void Scheduler::add_ready(Item& item, Stream& stream) noexcept {
  const auto later = [&](const Ready& ready) { return ready.stream->priority > stream.priority; };
  ready_.insert(std::find_if(ready_.begin(), ready_.end(), later), {&item, &stream});
  if (item.apart && ++functions_ == 1)
    for (Mark* mark : giving_way_) mark->changed.notify_all();
}

// Completes the records and waits at the head of the stream up to its next work item, and the same for the streams that
// those records release.
void Scheduler::advance(Stream& stream) noexcept {
  Stream* released = &stream;
  while (released) {
    Stream& now_at = *std::exchange(released, std::exchange(released->linked, nullptr));
    while (Item* item = now_at.first.get()) {
      if (item->kind == Item::Kind::work) {
        if (!item->started) {
          item->started = true;
          add_ready(*item, now_at);
          wake(true);
        }
        break;
      }
      const std::shared_ptr<Mark> mark = item->mark;
      if (item->checkpoint) long_host_queues.fetch_sub(1, std::memory_order_relaxed);
      if (item->kind == Item::Kind::wait) {
        if (!mark->done.load(std::memory_order_acquire)) {
          now_at.linked = std::exchange(mark->parked, &now_at);
          break;
        }
        pop(now_at);
        continue;
      }
      pop(now_at);
      mark->time = now();
      mark->done.store(true, std::memory_order_release);
      mark->changed.notify_all();
      while (Stream* parked = mark->parked) {
        mark->parked = std::exchange(parked->linked, released);
        released = parked;
      }
    }
  }
}

// Wakes one sleeping worker, unless a thread that lingers will see the new work or enough threads are busy.
// One worker too many is worse than one too few: it takes the CPU of a caller that is about to help and then has to
// sleep and be woken (measured on two CPUs: 40 us of a product that takes 90 us). Therefore one CPU is left to a caller
// unless `all`.
// `stays`: the calling thread goes on running, so the worker is kept off its CPU. The kernel of a virtual machine may
// start every woken thread on the CPU of its waker (measured on two CPUs: half of all 400 x 400 products used only
// one).
void Scheduler::wake(bool all, bool stays) {
  arrivals_.fetch_add(1, std::memory_order_release);
  if (lingering_ > 0) return;
  if (sleeping_.empty() || busy_ >= (all ? worker_limit() : std::max(1, worker_limit() - 1))) return;
  const int here = stays ? sched_getcpu() : -1;
  auto next =
      std::find_if(sleeping_.begin(), sleeping_.end(), [=](Worker* worker) { return worker->kept_off() == here; });
  if (next == sleeping_.end()) --next;
  Worker& worker = **next;
  sleeping_.erase(next);
  worker.keep_off(here);
  worker.roused.notify_one();
}

// Spins, unlocked, until there is new work or the mark is done; true if either came. Does not spin where that would
// take a CPU from a thread that has work: the busy ones, and one that will enqueue more.
bool Scheduler::linger(Lock& lock, const Mark* mark) {
  if (busy_ + lingering_ >= worker_limit() || (!mark && lingering_ + 1 >= worker_limit())) return false;
  const uint32_t seen = arrivals_.load(std::memory_order_relaxed);
  const auto met = [&] {
    return arrivals_.load(std::memory_order_acquire) != seen || (mark && mark->done.load(std::memory_order_acquire));
  };
  if (!mark) ++lingering_;
  lock.unlock();
  for (const int64_t end = now() + Spin::patience; !met() && now() < end;) {
    for (int i = 0; i < Spin::polls && !met(); ++i) __builtin_ia32_pause();
  }
  lock.lock();
  if (!mark) --lingering_;
  return met();
}

// Each thread wakes at most one other: a thread that takes a chunk and leaves more wakes the next one. The last CPU is
// left to a caller until one chunk is done.
void Scheduler::run_chunk(Lock& lock, Item& item, Stream& stream) {
  const int64_t first = item.next, last = std::min(first + item.chunk, item.blocks);
  item.next = last;
  if (last == item.blocks) std::erase_if(ready_, [&](const Ready& ready) { return ready.item == &item; });
  ++busy_;
  if (!ready_.empty()) wake(item.finished > 0 || ready_.front().item != &item);
  lock.unlock();
  const bool nested = std::exchange(in_item, true);
  run_blocks(stream.context, item, first, last);
  lock.lock();
  item.finished += last - first;
  if (item.finished == item.blocks) {
    lock.unlock();
    item.body = nullptr;  // what it owns is destroyed before the work counts as done, and without the lock
    lock.lock();
    if (item.apart) --functions_;
    ++lingering_;  // this thread itself takes what gets ready now, so that no worker is woken for it
    pop(stream);
    advance(stream);
    --lingering_;
  }
  in_item = nested;
  --busy_;
}

void Scheduler::work(Worker& self, uint64_t generation) {
  Lock lock(mutex_);
  while (generation == generation_) {
    if (ready_.empty() || busy_ >= worker_limit()) {
      if (linger(lock)) continue;
      sleeping_.push_back(&self);
      wait_on(self.roused, lock);
      std::erase(sleeping_, &self);
    } else {
      const Ready ready = ready_.front();
      run_chunk(lock, *ready.item, *ready.stream);
    }
  }
}

bool Scheduler::wait(Mark& mark, bool gives_way) {
  Lock lock(mutex_);
  const bool interruptible = Interruptible::here(), helps = has_stack();
  if (gives_way) giving_way_.push_back(&mark);
  const auto end = [&](bool finished) {
    if (gives_way) giving_way_.erase(std::find(giving_way_.begin(), giving_way_.end(), &mark));
    return finished;
  };
  bool patient = true;
  for (int64_t asked = now(); !mark.done.load(std::memory_order_acquire);) {
    if (gives_way && functions_ > 0) return end(true);
    if (interruptible && now() - asked > Interruptible::interval) {
      lock.unlock();
      const bool ended = Interruptible::ask();
      lock.lock();
      if (ended) return end(false);
      asked = now();
      continue;
    }
    Item* item = mark.stream->first.get();
    if (helps && item && item->started && !item->apart && item->next < item->blocks && busy_ < worker_limit()) {
      run_chunk(lock, *item, *mark.stream);
      if (!ready_.empty()) wake(true);
      patient = true;
    } else if (!std::exchange(patient, false) || !linger(lock, &mark)) {
      if (!ready_.empty()) wake(true, false);  // this thread sleeps, so its CPU is free for other work
      if (interruptible)
        mark.changed.wait_for(lock, std::chrono::nanoseconds(Interruptible::interval));
      else
        wait_on(mark.changed, lock);
    }
  }
  return end(true);
}

bool Scheduler::synchronize(Stream& stream) {
  if (stream.idle()) return true;
  std::shared_ptr<Mark> mark;
  try {
    auto item = std::make_unique<Item>();
    mark = std::make_shared<Mark>(stream);
    item->kind = Item::Kind::record;
    item->mark = mark;
    enqueue(stream, std::move(item));
  } catch (const std::bad_alloc&) {
    while (!stream.idle()) std::this_thread::sleep_for(std::chrono::microseconds(50));
    return true;
  }
  return wait(*mark);
}

void Scheduler::add(Stream& stream) {
  const std::lock_guard lock(mutex_);
  ready_.reserve(streams_ + 1);
  stream.context.streams.insert(&stream);
  ++streams_;
}

void Scheduler::remove(Stream& stream) {
  synchronize(stream);
  const std::lock_guard lock(mutex_);  // advance() may still read a stream whose last item is done
  streams_ -= stream.context.streams.erase(&stream);
}

void Scheduler::drain(Context& context) {
  const auto busy = [&]() -> Stream* {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::find_if(context.streams.begin(), context.streams.end(), [](Stream* s) { return !s->idle(); });
    return found == context.streams.end() ? nullptr : *found;
  };
  while (Stream* stream = busy()) synchronize(*stream);
}

void Scheduler::context_opened() {
  const std::lock_guard lock(lifecycle_);
  ++contexts_;
}

void Scheduler::context_closed() {
  const std::lock_guard lock(lifecycle_);
  if (--contexts_ == 0) join();
}

void Scheduler::join() {
  std::vector<std::unique_ptr<Worker>> ended;
  {
    const std::lock_guard lock(mutex_);
    ended.swap(workers_);
    ++generation_;
    arrivals_.fetch_add(1, std::memory_order_release);
    sleeping_.clear();
  }
  for (const auto& worker : ended) worker->roused.notify_one();
  for (const auto& worker : ended) worker->thread.join();
}

}  // namespace stator::runtime::host
