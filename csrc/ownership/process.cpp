// The registry of open contexts with the hooks of exit and fork. At exit: close the contexts, newest
// first and within `patience`; report leaks; set process_ended. Those of a binding are closed when its interpreter
// ends.
#include "ownership/process.hpp"

#include "core/context.hpp"
#include "ownership/binding.hpp"
#include "ownership/tracker.hpp"

#include <pthread.h>
#include <unistd.h>
#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace stator {

std::atomic<uint32_t> fork_count{0};
std::atomic<bool> process_ended{false};
std::atomic<int64_t> detached_blocks{0};
std::atomic<int> left_count{0};

StopsHere::~StopsHere() {
  while (!returned) pause();
}

namespace {

constexpr auto patience = std::chrono::seconds(5);  // how long the exit hook waits for threads that are in a call

std::atomic<bool> interpreter_is_over{false};
std::mutex left_mutex;
std::vector<const Tracker*>& left_trackers() {
  static auto* const trackers = new std::vector<const Tracker*>;  // outlives every static destructor
  return *trackers;
}

}  // namespace

bool interpreter_ended() noexcept { return interpreter_is_over.load(std::memory_order_acquire); }

void leave_alone(const Tracker& tracker) {
  const std::lock_guard lock(left_mutex);
  left_trackers().push_back(&tracker);
  left_count.fetch_add(1);
}

bool find_left(const Tracker& tracker) noexcept {
  const std::lock_guard lock(left_mutex);
  return std::ranges::find(left_trackers(), &tracker) != left_trackers().end();
}

class OpenContexts {
 public:
  static OpenContexts& instance() {
    // Outlives every static destructor, and needs no memory of the heap.
    alignas(OpenContexts) static std::byte storage[sizeof(OpenContexts)];
    static auto* contexts = new (storage) OpenContexts;
    return *contexts;
  }

  void add(Context& context) {
    const std::lock_guard lock(mutex_);
    if (ending_) throw BackendClosedError("Backend", "the process is ending", "Open backends before shutdown()");
    open_.reserve(contexts_.size() + 1);
    bound_open_.reserve(contexts_.size() + 1);
    contexts_.push_back(&context);
    if (std::exchange(context.runtime().is_host() ? host_used_ : cuda_used_, true)) return;
    // Registered after the exit hooks of the CUDA runtime and of libstator_cuda.so, which is opened for the first
    // context on cuda, and therefore run before them.
    std::atexit([] {
      runtime::leave_libraries();
      shutdown();
    });
  }

  void remove(Context& context) {
    const std::lock_guard lock(mutex_);
    std::erase(contexts_, &context);
    std::erase(bound_, &context);
  }

  void bind(Context& context) {
    const std::lock_guard lock(mutex_);
    if (ending_ || bound_ending_)
      throw BackendClosedError("Backend", "the process is ending", "Open backends before shutdown()");
    bound_.push_back(&context);
  }

  // Those that do not settle are never closed, since the threads in their calls will never continue.
  void close_bound() noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (ending_ || std::exchange(bound_ending_, true)) return;
      for (Context* context : bound_)
        if (context->try_retain()) bound_open_.push_back(context);  // there is room
    }
    ReleaseQueue::drain();
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (size_t i = bound_open_.size(); i-- > 0;)
      if (!bound_open_[i]->shut(deadline)) leave_alone(bound_open_[i]->tracker());
    ReleaseQueue::drain();
    interpreter_is_over.store(true, std::memory_order_release);
    for (Context* context : bound_open_) release(context);
    bound_open_.clear();
  }

  void poll_foreign() noexcept {
    std::vector<Ref<Context>> open;
    try {
      const std::lock_guard lock(mutex_);
      open.reserve(contexts_.size());
      for (Context* context : contexts_)
        if (context->try_retain()) {
          open.emplace_back(context);
          release(context);
        }
    } catch (const std::bad_alloc&) {
      return;  // the next call does it
    }
    for (const Ref<Context>& context : open)
      if (const OpenGuard guard(*context); guard) context->pool().poll_foreign();
  }

  void close_all() noexcept {
    bool settled = true;
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(ending_, true)) return;
      for (Context* context : contexts_) {
        if (!is_left(context->tracker()) && context->try_retain())
          open_.push_back(context);  // there is room
        else
          settled = false;  // another thread is destroying the context, or was stopped in a call
      }
    }
    ReleaseQueue::drain();
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (size_t i = open_.size(); i-- > 0;) settled = open_[i]->shut(deadline) && settled;
    ReleaseQueue::drain();
    if (settled && process_generation() == 0) {
      if (host_used_) report_leaks(runtime::host_table());
      if (cuda_used_) report_leaks(runtime::cuda_table());
    }
    interpreter_is_over.store(true, std::memory_order_release);
    process_ended.store(true, std::memory_order_release);
    for (Context* context : open_) release(context);
  }

 private:
  OpenContexts() { pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }

  static void before_fork() { instance().mutex_.lock(); }
  static void after_fork_in_parent() { instance().mutex_.unlock(); }
  static void after_fork_in_child() {
    fork_count.fetch_add(1);
    instance().contexts_.clear();
    instance().bound_.clear();
    instance().mutex_.unlock();
  }

  static void report_leaks(const runtime::Table& table) {
    const std::array<int64_t, 6> left = table.outstanding();
    const int64_t memory = left[0] + left[1] - detached_blocks.load();
    if (memory <= 0 && left[2] <= 0 && left[3] <= 0 && left[4] <= 0 && left[5] <= 0) return;
    warn("stator: leaked %lld allocations, %lld streams, %lld events, %lld contexts, %lld graphs on %s",
         static_cast<long long>(memory), static_cast<long long>(left[2]), static_cast<long long>(left[3]),
         static_cast<long long>(left[4]), static_cast<long long>(left[5]), table.target);
  }

  std::mutex mutex_;
  std::vector<Context*> contexts_;
  std::vector<Context*> bound_;              // of them those of a binding's interpreter
  std::vector<Context*> open_, bound_open_;  // those that are being closed; the memory is reserved when they open
  bool ending_ = false, bound_ending_ = false, host_used_ = false, cuda_used_ = false;
};

void enlist(Context& context) { OpenContexts::instance().add(context); }
void delist(Context& context) noexcept { OpenContexts::instance().remove(context); }
namespace {

// Whether this thread may wait for the end of every call.
bool may_end() noexcept {
  if (in_callback)
    warn("stator: shutdown() in a callback of a stream, for which it would wait, does nothing");
  else if (hooked_context)
    warn("stator: shutdown() in a memory hook, for whose allocation it would wait, does nothing");
  return !in_callback && !hooked_context;
}

}  // namespace

void shutdown() noexcept {
  if (may_end()) OpenContexts::instance().close_all();
}

void bind_to_interpreter(Context& context) { OpenContexts::instance().bind(context); }
void end_interpreter() noexcept {
  if (may_end()) OpenContexts::instance().close_bound();
}
void poll_foreign_of_all() noexcept { OpenContexts::instance().poll_foreign(); }

}  // namespace stator
