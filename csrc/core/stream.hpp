// StreamBox and EventBox: native streams and events as tracked objects.
#pragma once

#include "core/box.hpp"
#include "runtime/runtime.hpp"

#include <stator/backend.hpp>

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace stator {

class Context;
class GraphCapture;

struct ForeignOwner;

// Whether the thread runs a callback of a stream, in which no entry point may be called: it could wait for the
// callback.
extern constinit thread_local bool in_callback;
[[noreturn]] void refuse_in_callback(std::string_view call);  // UnsupportedError

class StreamBox final : public Box {
 public:
  StreamBox(Context& context, int index);
  ~StreamBox() override;
  Context& context() const { return context_; }
  int index() const { return index_; }
  runtime::StreamHandle handle(uint16_t op) const {
    if (runtime::StreamHandle stream = native()) [[likely]]
      return stream;
    throw_closed_stream(op);
  }
  using Box::native;                         // null before open() and after close
  void open(uint16_t op, int priority = 0);  // creates the native stream and its error slot, at first use
  // Takes a stream of another library, which must exist until the owner is released, after this has closed.
  void adopt(runtime::StreamHandle stream, int priority, std::unique_ptr<ForeignOwner> owner, uint16_t op);
  bool is_free_place() const { return index_ >= Backend::stream_count && closed() && !given_back_.load(); }
  void give_back(uint16_t op);  // waits for a stream of another library, and closes
  int priority() const { return priority_.load(std::memory_order_relaxed); }
  void add_callback(std::function<void()> function);  // see Stream
  // Whether any callback of the process has not returned yet, for whose sake a thread may have to give up a lock.
  static bool callbacks_pending() { return pending_callbacks_.load(std::memory_order_relaxed) > 0; }

  // The error slot, in device and mapped host memory. raise_pending throws the recorded fault once and resets the slot;
  // it is called after each synchronisation of the stream and, without waiting, at each enqueue.
  const params::ErrorSlot& slot() const { return slot_; }
  void raise_pending(uint16_t op) {
    if (slot_set() && !is_captured()) [[unlikely]]
      take_slot(op);
  }
  bool saw_division_by_zero() const { return slot_.record && fault() == params::Fault::division_by_zero; }
  void log_pending() noexcept;    // warns of a fault that nobody saw before the backend closed
  void synchronize(uint16_t op);  // waits, then raise_pending

  void* zeroed_scratch(size_t bytes, uint16_t op);  // see Context

  // Set while the stream's work is captured into a graph.
  bool is_captured() const { return captured_.load(std::memory_order_acquire); }
  std::shared_ptr<GraphCapture> capture() const {
    if (!is_captured()) [[likely]]
      return nullptr;
    const std::lock_guard lock(capture_mutex_);
    return capture_;
  }
  void set_capture(std::shared_ptr<GraphCapture> capture) {
    const std::lock_guard lock(capture_mutex_);
    captured_.store(capture != nullptr, std::memory_order_release);
    capture_ = std::move(capture);
  }

 private:
  struct Callback {
    Ref<StreamBox> stream;  // keeps the context until the callback has returned
    std::function<void()> function;
    std::list<Callback>::iterator place;
    bool runs = false;  // guarded by callbacks_mutex_
  };
  [[noreturn]] void throw_closed_stream(uint16_t op) const;
  static void run_callback(void* callback);
  void take_callback(Callback& callback, std::list<Callback>* out) noexcept;
  void drop_callbacks() noexcept;
  void set_up(runtime::StreamHandle stream, int priority, uint16_t op);
  params::Fault fault() const { return params::Fault(__atomic_load_n(&slot_.record->fault, __ATOMIC_ACQUIRE)); }
  bool slot_set() const { return slot_.record && fault() != params::Fault::none; }
  bool take_record(params::FaultRecord* record);
  void take_slot(uint16_t op);
  void* device_memory(size_t bytes, runtime::StreamHandle stream, uint16_t op);
  void release_native(void* handle) noexcept override;

  Context& context_;
  const int index_;
  params::ErrorSlot slot_{};
  std::atomic<int> priority_{0};
  std::unique_ptr<ForeignOwner> owner_;  // of a stream of another library
  std::atomic<bool> given_back_{false};
  static std::atomic<int64_t> pending_callbacks_;
  std::mutex callbacks_mutex_;
  std::list<Callback> callbacks_;
  std::mutex mutex_;  // guards opening, the slot's reset and the scratch memory
  struct Scratch {
    void* memory;
    size_t bytes;
  };
  std::vector<Scratch> scratch_;  // the largest last
  std::atomic<bool> captured_{false};
  mutable std::mutex capture_mutex_;
  std::shared_ptr<GraphCapture> capture_;
};

class EventBox final : public Box {
 public:
  explicit EventBox(Context& context);
  ~EventBox() override;
  Context& context() const { return context_; }
  runtime::EventHandle handle(uint16_t op) const { return get(op); }
  // That the event was recorded in. It happens in the graph alone.
  const std::weak_ptr<GraphCapture>& capture() const { return capture_; }
  void set_capture(const std::shared_ptr<GraphCapture>& capture) { capture_ = capture; }

 private:
  void release_native(void* handle) noexcept override;
  Context& context_;
  std::weak_ptr<GraphCapture> capture_;
};

}  // namespace stator
