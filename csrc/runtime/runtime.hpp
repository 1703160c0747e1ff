// The seam: the only place that names a runtime call. Two tables implement it (cuda_runtime.cpp, host_runtime.cpp);
// what must hold for every call lives here once: injection, counters, order checking, status check.
#pragma once

#include "params/launch.hpp"
#include "runtime/op_name.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace stator::runtime {

// X(name, is_release): every operation of the seam. A release that is made to fail performs the release first.
#define STATOR_CALLS(X)        \
  X(context_create, false)     \
  X(context_destroy, true)     \
  X(allocate, false)           \
  X(free, true)                \
  X(allocate_pinned, false)    \
  X(free_pinned, true)         \
  X(allocate_managed, false)   \
  X(free_managed, true)        \
  X(prefetch, false)           \
  X(advise, false)             \
  X(copy, false)               \
  X(fill, false)               \
  X(stream_create, false)      \
  X(stream_destroy, true)      \
  X(stream_synchronize, false) \
  X(stream_query, false)       \
  X(stream_wait, false)        \
  X(event_create, false)       \
  X(event_destroy, true)       \
  X(event_record, false)       \
  X(event_query, false)        \
  X(event_synchronize, false)  \
  X(event_elapsed, false)      \
  X(launch, false)             \
  X(library, false)

enum class Call : uint8_t {
#define STATOR_X(name, release) name,
  STATOR_CALLS(STATOR_X)
#undef STATOR_X
};
inline constexpr int call_count = static_cast<int>(Call::library) + 1;
const char* name(Call call);
bool is_release(Call call);

// Codes are the CUDA runtime's (cudaError_t) on both targets.
using Status = int;
namespace status {
inline constexpr Status success = 0, invalid_value = 1, out_of_memory = 2, not_initialized = 3, unloading = 4,
                        insufficient_driver = 35, no_device = 100, invalid_device = 101, invalid_handle = 400,
                        not_ready = 600, illegal_address = 700, context_destroyed = 709, launch_failure = 719,
                        not_supported = 801, unknown = 999;
}

using ContextHandle = void*;
using StreamHandle = void*;
using EventHandle = void*;

enum class CopyKind : uint8_t { host_to_device, device_to_host, device_to_device };

struct Properties {
  std::string name;
  int compute_major = 0, compute_minor = 0;
  size_t total_memory = 0;
  int driver_version = 0, runtime_version = 0;  // 13000 is 13.0; 0 on host
  bool cooperative = false;
  params::DeviceLimits limits{};
};

// A vendor-library call. Pieces are independent of each other.
using HostTask = std::function<void(int64_t piece)>;

// One implementation of the calls. A context is one device opened by one Backend: on cuda it names the primary context
// and makes it current in each call; on host it owns worker threads and the sticky fault. No member throws.
// stream == nullptr is never passed. Pointers and sizes are bytes.
struct Table {
  const char* target;  // "cuda" or "host"
  Status (*device_count)(int* count);
  Status (*properties)(int device, Properties* out);
  const char* (*error_name)(Status);
  // `checked`: host only; streams are always asynchronous (nothing runs inline), freed memory is poisoned
  Status (*context_create)(int device, bool checked, ContextHandle* out);
  Status (*context_destroy)(ContextHandle);
  Status (*memory_info)(ContextHandle, size_t* free, size_t* total);
  Status (*allocate)(ContextHandle, size_t bytes, StreamHandle, void** out);
  Status (*free)(ContextHandle, void* pointer, size_t bytes, StreamHandle);
  Status (*allocate_pinned)(ContextHandle, size_t bytes, void** out);
  Status (*free_pinned)(ContextHandle, void* pointer);
  Status (*allocate_managed)(ContextHandle, size_t bytes, void** out);
  Status (*free_managed)(ContextHandle, void* pointer);
  Status (*prefetch)(ContextHandle, const void* pointer, size_t bytes, StreamHandle);
  Status (*advise)(ContextHandle, const void* pointer, size_t bytes, int advice);
  // ordinary host memory is read (host_to_device) or written (device_to_host) when copy returns, pinned memory in
  // stream order
  Status (*copy)(ContextHandle, void* to, const void* from, size_t bytes, CopyKind, StreamHandle);
  Status (*fill)(ContextHandle, void* pointer, int byte, size_t bytes, StreamHandle);
  Status (*stream_create)(ContextHandle, StreamHandle* out);
  Status (*stream_destroy)(ContextHandle, StreamHandle);
  Status (*stream_synchronize)(ContextHandle, StreamHandle);
  Status (*stream_query)(ContextHandle, StreamHandle);
  Status (*stream_wait)(ContextHandle, StreamHandle, EventHandle);
  Status (*event_create)(ContextHandle, EventHandle* out);
  Status (*event_destroy)(ContextHandle, EventHandle);
  Status (*event_record)(ContextHandle, EventHandle, StreamHandle);
  Status (*event_query)(ContextHandle, EventHandle);
  Status (*event_synchronize)(ContextHandle, EventHandle);
  Status (*event_elapsed)(ContextHandle, EventHandle from, EventHandle to, float* milliseconds);
  // `synchronous`: host only; the operands include memory shared with NumPy, so the work is done on return
  Status (*launch)(ContextHandle, const params::Launch&, int64_t bytes, bool synchronous, StreamHandle);
  // host: runs the pieces [0, pieces) in stream order, shared out to the workers. cuda: runs piece 0 now, on this
  // thread, with the context's device current; it must not throw
  Status (*host_task)(ContextHandle, const HostTask&, int64_t pieces, int64_t bytes, bool synchronous, StreamHandle);
  // host only: makes the next launch on the context fail asynchronously and stick
  Status (*inject_fault)(ContextHandle);
  // host: the message of the sticky fault ("" when none); cuda: ""
  std::string (*fault_message)(ContextHandle);
  // what the table handed out and has not got back, counted apart from the Tracker: {memory, pinned, streams, events,
  // contexts}
  std::array<int64_t, 5> (*outstanding)();
};

const Table& host_table();
// Usable only when cuda_available() says so; the reason (no driver, driver too old, no device, hidden by
// CUDA_VISIBLE_DEVICES, built without CUDA) otherwise. Opens no context.
const Table& cuda_table();
bool cuda_available(std::string* reason);

// Counters of the process since the start, one per call, plus bytes moved.
struct Counters {
  std::array<uint64_t, call_count> calls{};
  uint64_t h2d_bytes = 0, d2h_bytes = 0, d2d_bytes = 0;
};

// Fails or drops seam calls of one Runtime, for tests and `demo --prove`.
struct Injection {
  int64_t fail_at = -1;           // the k-th call from now (0 is the next one)
  bool until_lifted = false;      // and every one after it
  Status code = status::unknown;  // what it reports; allocations report out_of_memory
  int64_t drop_wait_at = -1;      // the k-th stream_wait is silently not performed
};

// The record that every enqueueing operation carries.
struct Record {
  uint16_t op = 0;  // stator::Op, 0xffff for none
  const params::Access* accesses = nullptr;
  int access_count = 0;
  bool synchronous = false;
};

class OrderChecker;

// A context of one table, with everything that holds for every call. Methods throw CudaError (OutOfMemoryError for
// allocations is made by the Pool, which knows the figures) unless they end in _noexcept, which report the status.
// Thread-safe. Owned by core's Context.
class Runtime {
 public:
  // checks: bit 0 = order checker, bit 1 = poison freed memory and never run inline. Environment STATOR_CHECK
  // ("order,poison" or "all") is read by core.
  Runtime(const Table& table, int device, unsigned checks);
  ~Runtime();  // destroys the context if destroy_noexcept was not called; never throws
  Runtime(const Runtime&) = delete;

  const Table& table() const { return table_; }
  const Properties& properties() const { return properties_; }
  bool is_host() const;
  Status destroy_noexcept();

  void memory_info(size_t* free, size_t* total);
  // allocate returns the status so that the Pool can trim and retry: success, out_of_memory, or throws.
  Status allocate(size_t bytes, StreamHandle, void** out);
  Status free_noexcept(void* pointer, size_t bytes, StreamHandle);
  Status allocate_pinned(size_t bytes, void** out);
  Status free_pinned_noexcept(void* pointer);
  void copy(void* to, const void* from, size_t bytes, CopyKind, StreamHandle, const Record&);
  void fill(void* pointer, int byte, size_t bytes, StreamHandle, const Record&);
  StreamHandle stream_create();
  Status stream_destroy_noexcept(StreamHandle);
  void stream_synchronize(StreamHandle, uint16_t op = no_op);
  Status stream_synchronize_noexcept(StreamHandle);
  bool stream_query(StreamHandle, uint16_t op = no_op);
  void stream_wait(StreamHandle, EventHandle, uint16_t op = no_op);
  Status stream_wait_noexcept(StreamHandle, EventHandle);
  EventHandle event_create(uint16_t op = no_op);
  Status event_destroy_noexcept(EventHandle);
  void event_record(EventHandle, StreamHandle, uint16_t op = no_op);
  Status event_record_noexcept(EventHandle, StreamHandle);
  // `orders`: a true answer orders the host after the event. The pool's own polls do not count: what they happen to see
  // must not hide a wait that the user forgot.
  bool event_query(EventHandle, bool orders = true, uint16_t op = no_op);
  void event_synchronize(EventHandle, uint16_t op = no_op);
  float event_elapsed(EventHandle from, EventHandle to, uint16_t op = no_op);
  void launch(const params::Launch&, StreamHandle, const Record&);
  // A vendor-library call. cuda: `call` runs now, on this thread, and enqueues onto the stream. host: it runs in stream
  // order. `call` returns 0 or the library's status; `describe` turns that into a name. Host statuses become sticky
  // faults.
  void library(const char* what, std::function<int()> call, const char* (*describe)(int), StreamHandle, const Record&);
  // host: one library call in pieces that the workers run side by side, each worth a hand-off to a worker.
  void library_in_pieces(const char* what, std::function<int(int64_t piece)> call, int64_t pieces,
                         const char* (*describe)(int), StreamHandle, const Record&);

  // A buffer's memory went back to the pool or came out of it: the order checker forgets or starts its history.
  void forget_buffer(const void* buffer);
  // A host read or write of the buffer happens now (to_numpy of shared memory): checked like any other access.
  void host_access(const params::Access&, uint16_t op);

  void set_injection(const Injection&);
  void lift_injection();
  int64_t calls_since_injection() const;  // how many seam calls were made since set_injection
  void inject_fault();
  Counters counters() const;

 private:
  Status enter(Call call);  // injection and counters; success means: perform it
  void check(Call call, Status status, uint16_t op = no_op);
  bool drop_this_wait();
  void order(StreamHandle, const char* what, const Record&);  // checked before it is enqueued
  void finished(StreamHandle, const Record&);                 // synchronous host work is known to be done

  const Table& table_;
  ContextHandle context_ = nullptr;
  Properties properties_;
  std::unique_ptr<OrderChecker> checker_;
  std::atomic<bool> injecting_{false};
  mutable std::mutex injection_mutex_;  // taken only while injecting
  int64_t injected_calls_ = 0, injected_waits_ = 0;
  Injection injection_;
  std::array<std::atomic<uint64_t>, call_count> calls_{};
  std::atomic<uint64_t> h2d_bytes_{0}, d2h_bytes_{0}, d2d_bytes_{0};
};

}  // namespace stator::runtime
