// StreamBox and EventBox: native streams and events as tracked objects.
#pragma once

#include "ownership/box.hpp"
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
// From 1; the number of no other thread of the process, of the past or the future.
uint64_t thread_number();
[[noreturn]] void refuse_in_callback(std::string_view call);  // UnsupportedError

class StreamBox final : public Box {
 public:
  StreamBox(Context& context, int index);
  ~StreamBox() override;
  Context& context() const { return context_; }
  int index() const { return index_; }
  bool is_own() const;  // the backend's own, not of another library
  // What the calling thread gives its work to.
  runtime::StreamHandle handle(uint16_t op) const {
    if (captures_count_.load(std::memory_order_acquire) != 0) [[unlikely]]
      if (const runtime::StreamHandle stream = captured_handle()) return stream;
    return own_handle(op);
  }
  runtime::StreamHandle own_handle(uint16_t op) const {
    if (runtime::StreamHandle stream = native()) [[likely]]
      return stream;
    throw_closed_stream(op);
  }
  using Box::native;                         // own_handle; null before open() and after close
  void open(uint16_t op, int priority = 0);  // creates the native stream and its error slot, at first use
  // Takes a stream of another library, which must exist until the owner is released, after this has closed.
  void adopt(runtime::StreamHandle stream, int priority, std::unique_ptr<ForeignOwner> owner, uint16_t op);
  bool is_reusable() const { return !is_own() && closed() && !given_back_.load(); }
  void give_back(uint16_t op);  // waits for a stream of another library, and closes
  int priority() const { return priority_.load(std::memory_order_relaxed); }
  void add_callback(std::function<void()> function);  // see Stream
  // Whether any callback of the process has not returned yet, so that callers may need to release a lock.
  static bool callbacks_pending() { return pending_callbacks_.load(std::memory_order_relaxed) > 0; }

  // The error slot, in device and mapped host memory. raise_pending throws the recorded fault once and resets the slot;
  // it is called after each synchronisation of the stream and, without waiting, at each enqueue.
  const params::ErrorSlot& slot() const { return slot_; }
  void raise_pending(uint16_t op) {
    if (slot_set() && !is_captured()) [[unlikely]]
      take_slot(op);
  }
  bool saw_division_by_zero() const { return slot_.record && fault() == params::Fault::division_by_zero; }
  void log_pending() noexcept;    // warns of a fault that no call saw before the backend closed
  void synchronize(uint16_t op);  // waits, then raise_pending

  void* zeroed_scratch(size_t bytes, uint16_t op);  // see Context

  // Captures into graphs (capture.cpp). A thread that captures one of the backend's own streams is given a stand-in,
  // which is captured in its place, so that other threads use the stream as before. A stream of another library is
  // captured itself, and so is one that waits for an event of a capture.
  struct Capturing {
    uint64_t thread = 0;  // thread_number(), 0: all
    runtime::StreamHandle handle = nullptr;
    std::shared_ptr<GraphCapture> capture;
  };
  std::shared_ptr<GraphCapture> capture() const {  // that takes the calling thread's work, or null
    return captures_count_.load(std::memory_order_acquire) == 0 ? nullptr : capturing().capture;
  }
  bool is_captured() const { return capture() != nullptr; }
  bool is_captured_itself() const { return captured_itself_.load(std::memory_order_acquire); }
  void begin_capture(const std::shared_ptr<GraphCapture>& capture, uint16_t op);
  void join_capture(const std::shared_ptr<GraphCapture>& capture);
  void leave_capture(const GraphCapture& capture) noexcept;
  // The stream in whose order the calling thread's work will run: this one, but for work that the capture of another
  // one takes here, whose launches follow that one. What outlives a call, such as a workspace, serves one order.
  int order() const { return captures_count_.load(std::memory_order_acquire) == 0 ? index_ : captured_order(); }
  std::vector<Capturing> captures() const;  // of all threads
  // While it lives, the calling thread's work is given to a stand-in, which does it.
  class OnStandIn {
   public:
    OnStandIn(StreamBox& stream, uint16_t op);
    ~OnStandIn();
    OnStandIn(const OnStandIn&) = delete;

   private:
    StreamBox& stream_;
  };

 private:
  struct Callback {
    Ref<StreamBox> stream;  // keeps the context until the callback has returned
    std::function<void()> function;
    std::list<Callback>::iterator position;
    bool runs = false;  // guarded by callbacks_mutex_
  };
  [[noreturn]] void throw_closed_stream(uint16_t op) const;
  Capturing capturing() const;
  int captured_order() const;
  runtime::StreamHandle captured_handle() const { return capturing().handle; }
  runtime::StreamHandle add_capture(bool itself, std::shared_ptr<GraphCapture> capture, uint16_t op);
  void remove_capture(uint64_t thread, const GraphCapture* capture) noexcept;
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
    int order;
    void* memory;
    size_t bytes;
  };
  std::vector<Scratch> scratch_;  // the largest of each order last
  std::atomic<int> captures_count_{0};
  std::atomic<bool> captured_itself_{false};
  mutable std::mutex captures_mutex_;
  std::vector<Capturing> captures_;
  std::vector<runtime::StreamHandle> stand_ins_;  // that no capture uses
};

class EventBox final : public Box {
 public:
  explicit EventBox(Context& context);
  ~EventBox() override;
  Context& context() const { return context_; }
  runtime::EventHandle handle(uint16_t op) const { return get(op); }
  // That the event was recorded in. It happens only in the graph.
  const std::weak_ptr<GraphCapture>& capture() const { return capture_; }
  void set_capture(const std::shared_ptr<GraphCapture>& capture) { capture_ = capture; }

 private:
  void release_native(void* handle) noexcept override;
  Context& context_;
  std::weak_ptr<GraphCapture> capture_;
};

}  // namespace stator
