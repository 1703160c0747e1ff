// Context: the Box of a Backend. It owns the Runtime, the memory pool, the streams with their error slots, and the
// leased library handles. OpGuard: what every entry point holds while it uses a context; OpenGuard: the same where
// nothing may be thrown.
#pragma once

#include "memory/device_memory.hpp"
#include "memory/pool/pool.hpp"
#include "memory/record.hpp"
#include "ownership/box.hpp"
#include "ownership/process.hpp"
#include "ownership/tracker.hpp"
#include "params/launcher.hpp"
#include "runtime/telemetry.hpp"
#include "streams/stream.hpp"

#include <stator/array.hpp>
#include <stator/op_table.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

namespace stator {

class LibraryBox;

class Context final : public Box {
 public:
  static Ref<Context> open(Device device, const BackendOptions& options,
                           std::shared_ptr<Allocator> allocator = nullptr);
  ~Context() override;
  using Box::try_retain;

  // Backend.close(): refuses new guards, waits for those in flight, synchronises, and closes the children, newest
  // first. False when guards were still held at the deadline, and then nothing is closed. The exit hook sets a
  // deadline, since daemon threads may stay in a call.
  static constexpr auto forever = std::chrono::steady_clock::time_point::max();
  bool shut(std::chrono::steady_clock::time_point deadline = forever) noexcept;
  // Closes what belongs to the scope, when no call is in flight that could use it. False where one still was after
  // `patience`, and then nothing is closed. closed: how many boxes were.
  bool end_scope(uint32_t scope, std::chrono::steady_clock::duration patience, size_t* closed);
  bool is_shut() const { return shut_.load(std::memory_order_acquire); }
  bool quiet() const { return quiet_.load(std::memory_order_acquire); }  // shut, and all work is done

  // BackendClosedError once closed, ForkedProcessError in a child of the process that opened it.
  void require_open(uint16_t op) const;

  Device device() const { return device_; }
  const BackendOptions& options() const { return options_; }
  runtime::Runtime& runtime() const { return *runtime_; }
  const kernels::TargetKernels& kernels() const { return *kernels_; }
  const params::DeviceLimits& limits() const { return limits_; }  // with the target of its kernels
  Tracker& tracker() const { return *tracker_; }
  DeviceMemory& memory() const { return *memory_; }
  Pool& pool() const { return *pool_; }
  MemoryRecord& memory_record() { return memory_record_; }
  int stream_count() const { return options_.stream_pool_size; }  // of its own; those of other libraries follow
  Ref<StreamBox> stream(int index) { return Ref<StreamBox>(&opened_stream(index)); }
  // Created at first use; lives as long as the context. In the slot of one that was returned to its library, whose
  // work is done, the default one.
  StreamBox& opened_stream(int index);
  // The stream in whose order memory for the stream of that index is allocated: another one where that is captured
  // itself, since captured work cannot allocate. GraphCapture orders the first launch after it.
  runtime::StreamHandle allocation_stream(int index, uint16_t op);
  // The stream that a call was given, which must be of this context (BackendMismatchError), else the one of the index.
  StreamBox& chosen_stream(const Stream& given, int index, uint16_t op);
  StreamBox& stream_with_priority(int index, int priority);
  std::vector<Stream> streams_with_priority(int count, int priority);
  StreamBox& external_stream(runtime::StreamHandle native, std::function<void()> release);
  void synchronize(uint16_t op);         // waits for every open stream, then raises what their error slots hold
  bool synchronize_noexcept() noexcept;  // waits only; false when a stream reported an error
  // Waits for what the open streams of these bits have been given, but not for one that is captured itself.
  void synchronize_noexcept(uint32_t streams) noexcept;
  // Before close(), which cannot be interrupted. Throws only runtime::Interrupted: close() finds other errors.
  void wait_before_close(uint16_t op);
  bool is_captured(int index) const noexcept { return streams_[index]->is_captured(); }
  bool is_captured_itself(int index) const noexcept { return streams_[index]->is_captured_itself(); }
  // The bits of those streams that are open: the work of others is done, since a stream is waited for when it closes.
  uint32_t open_streams(uint32_t streams) const noexcept;
  // The native stream, null before its first use and after close.
  runtime::StreamHandle native_stream(int index) const noexcept;

  // A library handle and its workspace, leased for one enqueue on the stream; the lease's destructor gives it back.
  // `make` creates the type-erased object when none of this library, stream and order of work is free; its Box kind is
  // `library`.
  std::shared_ptr<void> lease(const char* library, StreamBox& stream,
                              std::shared_ptr<void> (*make)(Context&, StreamBox&));

  // Device memory of at least `bytes`, private to the stream and zeroed once, for the counters of single-pass kernels,
  // which leave it zero.
  void* zeroed_scratch(StreamBox& stream, size_t bytes, uint16_t op) { return stream.zeroed_scratch(bytes, op); }

  // The streams of a capture that has ended are ordinary ones again.
  void leave_capture(const GraphCapture& capture) noexcept;
  // Ends the calling thread's capture without a graph, where the stream began one. What was captured is gone.
  void drop_capture(StreamBox& stream) noexcept;

  // Warns about a release that failed; about a sticky fault only once.
  void report(const char* call, runtime::Status status) noexcept;

  // Nested scopes in which nothing may be copied to the host.
  void forbid_host_copies(bool forbid) { host_copies_forbidden_.fetch_add(forbid ? 1 : -1, std::memory_order_relaxed); }
  void require_host_copies(uint16_t op, size_t bytes) const;  // HostCopyError

  void note_division_by_zero() { division_by_zero_.store(true, std::memory_order_relaxed); }
  bool poll_division_by_zero(uint16_t op);
  bool saw_division_by_zero() const { return division_by_zero_.load(std::memory_order_relaxed); }

 private:
  friend class OpGuard;
  friend class OpenGuard;
  Context(Device device, const BackendOptions& options, std::shared_ptr<Allocator> allocator,
          std::unique_ptr<Tracker> tracker);
  void reserve(size_t bytes);  // OutOfMemoryError
  void release_native(void*) noexcept override;
  void give_back(LibraryBox* library) noexcept;
  void drop_capture(const StreamBox& stream, const StreamBox::Capturing& one) noexcept;

  const Device device_;
  const BackendOptions options_;
  const uint32_t process_;  // its generation
  std::unique_ptr<Tracker> tracker_;
  std::shared_ptr<runtime::Runtime> runtime_;
  std::unique_ptr<std::shared_ptr<runtime::Runtime>> spare_;  // what the destructor leaks, which needs no memory then
  std::unique_ptr<DeviceMemory> memory_;
  MemoryRecord memory_record_;
  const kernels::TargetKernels* kernels_ = nullptr;
  params::DeviceLimits limits_{};
  // In this order: the pool frees its memory on the streams, so it must be the newer child.
  std::array<std::unique_ptr<StreamBox>, Backend::stream_limit> streams_;
  std::unique_ptr<Pool> pool_;
  std::mutex external_mutex_;  // guards the choice of a slot for a stream of another library
  std::mutex libraries_mutex_;
  std::vector<std::unique_ptr<LibraryBox>> libraries_;
  std::atomic<bool> division_by_zero_{false};
  std::atomic<int> host_copies_forbidden_{0};
  std::atomic<bool> shut_{false}, quiet_{false};
  std::mutex close_mutex_;
  std::atomic<runtime::Status> reported_{runtime::status::success};
  std::atomic<int64_t> in_flight_{0};
};

// Held by every entry point while it uses the context: close() waits for it. Drains the release queue on entry, and
// makes the context's device the thread's current one. The holder also has a reference to the context, or to one of its
// boxes, that outlives the guard.
class OpGuard {
 public:
  OpGuard(Context& context, uint16_t op)
      : context_(context), scope_(context.runtime_->table(), context.runtime_->device()) {
    if (in_callback) [[unlikely]]
      refuse_in_callback(op_name(op));
    ReleaseQueue::drain();
    // Sequentially consistent with shut(): either shut() sees the count, or this sees that the context is shut.
    context_.in_flight_.fetch_add(1);
    if (context_.shut_.load() || context_.process_ != process_generation()) [[unlikely]]
      refuse(op);
    if (context_.runtime_->watched()) [[unlikely]]
      call_.begin(context_.runtime_->telemetry(), op);
  }
  ~OpGuard() {
    call_.end();
    context_.in_flight_.fetch_sub(1, std::memory_order_release);
  }
  OpGuard(const OpGuard&) = delete;

 private:
  [[noreturn]] void refuse(uint16_t op);
  Context& context_;
  const runtime::DeviceScope scope_;
  runtime::CallScope call_;
};

// The same where nothing may be thrown or released: says whether the context is open, and will be while this lives.
class OpenGuard {
 public:
  explicit OpenGuard(Context& context) noexcept : context_(context) {
    context_.in_flight_.fetch_add(1);
    open_ = !context_.shut_.load();
  }
  ~OpenGuard() { context_.in_flight_.fetch_sub(1, std::memory_order_release); }
  OpenGuard(const OpenGuard&) = delete;
  explicit operator bool() const { return open_; }

 private:
  Context& context_;
  bool open_;
};

}  // namespace stator
