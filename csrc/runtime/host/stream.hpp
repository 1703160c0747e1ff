// Streams of the host target: queues whose items a pool of worker threads runs in order and asynchronously.
// Scheduler: that pool, one per process. Where no thread can be started, the callers run what they enqueue.
#pragma once

#include "runtime/host/context.hpp"
#include "runtime/host/worker.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <vector>

namespace stator::runtime::host {

// One recording of an event in a stream. `parked` is the list of streams that wait for it, guarded by the scheduler's
// mutex.
struct Mark {
  explicit Mark(Stream& of) : stream(&of) {}
  Stream* const stream;  // alive until done
  std::atomic<bool> done{false};
  int64_t time = 0;  // steady nanoseconds, valid when done
  std::condition_variable changed;
  Stream* parked = nullptr;
};

class Recording;

struct Item {
  enum class Kind : uint8_t { work, record, wait };
  // Runs the blocks [first, last). Returns null, or the message of a fault; an exception is a fault too.
  using Body = std::function<const char*(int64_t first, int64_t last)>;

  Kind kind = Kind::work;
  bool release = false;  // runs on a faulted context too
  bool apart = false;    // a host function: runs on no thread that waits, while there are workers
  bool checkpoint = false;
  bool started = false;
  Body body;
  int64_t blocks = 1, chunk = 1, next = 0, finished = 0;
  size_t bytes = 0;            // of what it copied for the body
  std::shared_ptr<Mark> mark;  // of record and wait
  std::unique_ptr<Item> after;
};

struct Stream {
  explicit Stream(Context& of, int number = 0) : context(of), priority(number) {}
  Context& context;
  const int priority;  // the lower, the earlier the workers take its items

  std::atomic<bool> captured{false};     // its work is recorded instead of queued
  std::shared_ptr<Recording> recording;  // then; guarded by the mutex of graph.cpp

  // Work not yet done: the queued items, plus one while a thread runs something inline. Only an idle stream can be
  // claimed for that.
  std::atomic<int64_t> pending{0};
  bool idle() const { return pending.load(std::memory_order_acquire) == 0; }
  bool claim() {
    int64_t none = 0;
    return pending.compare_exchange_strong(none, 1, std::memory_order_acq_rel, std::memory_order_relaxed);
  }
  void unclaim();

  // Guarded by the scheduler's mutex.
  std::unique_ptr<Item> first;
  Item* last = nullptr;
  Stream* linked = nullptr;  // the next one in the list of the mark that it waits for

  // The bound of the queue: each time so much was enqueued, a checkpoint follows, and callers wait for the one before
  // the last. Full: that has not been reached.
  struct Bound {
    static constexpr int64_t items = 1024;
    static constexpr size_t bytes = size_t(2) << 20;
  };
  int64_t items = 0;  // since the last checkpoint
  size_t bytes = 0;
  std::shared_ptr<Mark> last_checkpoint, before;
  std::atomic<bool> full{false};
};

// Runs the streams of every context of the process. The workers start with the first queued item.
class Scheduler {
 public:
  static Scheduler& instance();
  static int worker_limit();  // the number of CPUs that this process may use

  void prepare();  // starts the workers
  // May throw std::bad_alloc; then nothing was queued.
  void enqueue(Stream& stream, std::unique_ptr<Item> item);
  // Called by the work at the head of the stream: items that come right after it.
  void insert(Stream& stream, std::vector<std::unique_ptr<Item>> items);
  void resume(Stream& stream);  // called by a thread that ran work inline, for the items queued after it
  // Called by such a thread: the rest of its work, which goes before those items.
  void hand_over(Stream& stream, std::vector<std::unique_ptr<Item>> items);
  // Meanwhile helps with the work of the mark's stream. False where an Interruptible ended the wait. `gives_way`: ends
  // it too while a host function runs.
  bool wait(Mark& mark, bool gives_way = false);
  // Needs memory for the mark; without it waits until the stream is idle. False as of wait().
  bool synchronize(Stream& stream);
  bool admit(Stream& stream);  // waits until the stream is not full; false as of wait()
  void add(Stream& stream);
  void remove(Stream& stream);   // waits for its work
  void drain(Context& context);  // waits for every stream that the context still has
  void context_opened();
  void context_closed();  // the last context ends the workers; the next item starts new ones

 private:
  using Lock = std::unique_lock<std::mutex>;
  void start();
  void join();
  void run_without_workers(Lock& lock);
  void work(Worker& self, uint64_t generation);
  void wake(bool all, bool stays = true);
  bool linger(Lock& lock, const Mark* mark = nullptr);
  void run_chunk(Lock& lock, Item& item, Stream& stream);
  void append(Stream& stream, std::unique_ptr<Item> item) noexcept;
  void add_checkpoint(Stream& stream) noexcept;
  void pop(Stream& stream);
  void add_ready(Item& item, Stream& stream) noexcept;
  void advance(Stream& stream) noexcept;

  struct Ready {
    Item* item;
    Stream* stream;
  };
  std::mutex mutex_;
  std::vector<Ready> ready_;  // items with chunks that no thread has taken, by priority, at most one per stream
  size_t streams_ = 0;        // ready_ has room for all of them, so that advance() needs no memory
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Worker*> sleeping_;
  uint64_t generation_ = 0;
  int lingering_ = 0, busy_ = 0;       // numbers of workers; a caller that helps counts as busy
  int functions_ = 0;                  // host functions at the head of a stream
  std::vector<Mark*> giving_way_;      // what callers wait for who do not while one of those runs
  std::atomic<uint32_t> arrivals_{0};  // incremented under the mutex when there may be work for a thread that lingers
  std::mutex lifecycle_;               // orders the end of the last context and the next start; taken before mutex_
  int contexts_ = 0;
  bool warned_ = false;  // that there are no workers
};

// Whether the calling thread has the stack that kernels need. Those of applications may have less: then workers do its
// work.
bool has_stack() noexcept;

inline int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

}  // namespace stator::runtime::host
