// The runtime layer: the only room that makes a CUDA runtime call. Two tables implement the calls
// (cuda/runtime.cpp, host/runtime.cpp); Runtime adds what holds for each of them: failure injection, counters, order
// checks, status checks.
#pragma once

#include "params/launch.hpp"
#include "runtime/graph_table.hpp"
#include "runtime/managed/table.hpp"
#include "runtime/op_name.hpp"
#include "runtime/program_table.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace stator::runtime {

// X(name, is_release): every call of the runtime layer. An injected failure of a release is reported after the release
// was performed.
#define STATOR_CALLS(X)        \
  X(context_create, false)     \
  X(context_destroy, true)     \
  X(allocate, false)           \
  X(free, true)                \
  X(device_synchronize, true)  \
  X(memory_device, false)      \
  X(allocate_pinned, false)    \
  X(free_pinned, true)         \
  X(allocate_managed, false)   \
  X(free_managed, true)        \
  X(prefetch, false)           \
  X(advise, false)             \
  X(range_advice, false)       \
  X(register_host, false)      \
  X(unregister_host, true)     \
  X(copy, false)               \
  X(fill, false)               \
  X(stream_create, false)      \
  X(stream_priorities, false)  \
  X(stream_properties, false)  \
  X(stream_destroy, true)      \
  X(stream_synchronize, false) \
  X(stream_query, false)       \
  X(stream_wait, false)        \
  X(host_function, false)      \
  X(event_create, false)       \
  X(event_destroy, true)       \
  X(event_record, false)       \
  X(event_query, false)        \
  X(event_synchronize, false)  \
  X(event_elapsed, false)      \
  X(program_load, false)       \
  X(program_unload, true)      \
  X(program_query, false)      \
  X(prepare, false)            \
  X(launch, false)             \
  X(capture_begin, false)      \
  X(capture_end, false)        \
  X(graph_instantiate, false)  \
  X(graph_destroy, true)       \
  X(graph_launch, false)       \
  X(library_setup, false)      \
  X(library, false)

enum class Call : uint8_t {
#define STATOR_X(name, release) name,
  STATOR_CALLS(STATOR_X)
#undef STATOR_X
};
inline constexpr int call_count = static_cast<int>(Call::library) + 1;
const char* name(Call call);
bool is_release(Call call);

// The codes of the CUDA runtime (cudaError_t), on both targets.
using Status = int;
namespace status {
inline constexpr Status success = 0, invalid_value = 1, out_of_memory = 2, not_initialized = 3, unloading = 4,
                        insufficient_driver = 35, invalid_function = 98, no_device = 100, invalid_device = 101,
                        no_image = 209, invalid_ptx = 218, invalid_handle = 400, not_found = 500, not_ready = 600,
                        illegal_address = 700, context_destroyed = 709, launch_failure = 719, not_supported = 801,
                        already_registered = 712, capture_unsupported = 900, capture_invalidated = 901,
                        capture_merge = 902, capture_unmatched = 903, capture_unjoined = 904, capture_isolation = 905,
                        capture_implicit = 906, captured_event = 907, capture_wrong_thread = 908, unknown = 999;
}

using ContextHandle = void*;
using StreamHandle = void*;
using EventHandle = void*;
using HostFunction = void (*)(void* data);

enum class CopyKind : uint8_t { host_to_device, device_to_host, device_to_device };

// The higher a stream's priority, the lower the number.
struct PriorityRange {
  int least = 0, greatest = 0;
};

struct StreamProperties {
  int device = 0, priority = 0;
};

struct Properties {
  std::string name;
  int compute_major = 0, compute_minor = 0;
  size_t total_memory = 0;
  int driver_version = 0, runtime_version = 0;  // 13000 is 13.0; 0 on host
  bool cooperative = false;
  params::DeviceLimits limits{};
};

// host: a vendor-library call, in pieces that are independent of each other. Its arguments are plain data, which is
// copied when the work is queued, and which a graph keeps and changes as it does those of kernels.
struct HostWork {
  const char* what;
  int (*call)(const void* arguments, int64_t piece);  // 0 or the library's status
  const char* (*describe)(int);
  const void* arguments;
  size_t argument_bytes;
};

// One implementation of the calls. A context is one device opened by one Backend: on cuda it stands for the primary
// context, which is current on the thread during each call and no longer; on host it holds the sticky fault. No member
// throws. A stream is never null, except for free() after the context was destroyed. Sizes are in bytes.
struct Table {
  const char* target;  // "cuda" or "host"
  Status (*device_count)(int* count);
  Status (*properties)(int device, Properties* out);
  const char* (*error_name)(Status);
  // `checked`, host only: streams are always asynchronous (nothing runs inline) and freed memory is poisoned.
  Status (*context_create)(int device, bool checked, ContextHandle* out);
  Status (*context_destroy)(ContextHandle);
  // Makes a device the thread's current one. `before` gets the previous one, -1 if nothing changed.
  Status (*set_device)(int device, int* before);
  // Waits for all work of the device, that of other libraries included. On host there is no such work.
  Status (*device_synchronize)(int device);
  // The device whose memory the pointer leads to, the context's own where it can use the memory all the same (managed
  // or page-locked memory), -1 for other memory of the host. Always the context's device on host.
  Status (*memory_device)(ContextHandle, const void* pointer, int* device);
  Status (*memory_info)(ContextHandle, size_t* free, size_t* total);
  // cuda: the driver's pool takes `bytes` from the device, and keeps them until the context ends. Nothing on
  // host.
  Status (*reserve)(ContextHandle, size_t bytes);
  // cuda: of what is freed, the driver's pool keeps so much that it has no more than `most` bytes; it frees what
  // is free until it has `least` bytes, or `keep` of them are free; and says how many are free. Nothing, and 0, on
  // host.
  Status (*pool_keep)(ContextHandle, size_t most);
  Status (*pool_trim)(ContextHandle, size_t least, size_t keep);
  Status (*pool_free_bytes)(ContextHandle, size_t* bytes);
  Status (*allocate)(ContextHandle, size_t bytes, StreamHandle, void** out);
  Status (*free)(ContextHandle, void* pointer, size_t bytes, StreamHandle);
  Status (*allocate_pinned)(ContextHandle, size_t bytes, void** out);
  Status (*free_pinned)(ContextHandle, void* pointer);
  // Page-locks memory of the host that the caller owns; already_registered where that was done for a part of it. On
  // host that is only noted.
  Status (*register_host)(ContextHandle, void* pointer, size_t bytes);
  Status (*unregister_host)(ContextHandle, void* pointer);
  // Pageable host memory has been read (host_to_device) or written (device_to_host) when copy returns; pinned memory is
  // read or written in stream order.
  Status (*copy)(ContextHandle, void* to, const void* from, size_t bytes, CopyKind, StreamHandle);
  // Whether the host's memory is such that a copy waits for it.
  bool (*pageable)(const void* host);
  Status (*fill)(ContextHandle, void* pointer, int byte, size_t bytes, StreamHandle);
  // Work of streams with a higher priority is preferred when a device, or a worker, takes new work.
  Status (*stream_create)(ContextHandle, int priority, StreamHandle* out);
  Status (*stream_priorities)(ContextHandle, PriorityRange* out);
  // Of any stream, that of another library too; on host only of its own.
  Status (*stream_properties)(ContextHandle, StreamHandle, StreamProperties* out);
  Status (*stream_destroy)(ContextHandle, StreamHandle);
  Status (*stream_synchronize)(ContextHandle, StreamHandle);
  Status (*stream_query)(ContextHandle, StreamHandle);
  // Whether the stream is being captured into a graph, which a wait across its border would end; never on host.
  Status (*stream_capturing)(ContextHandle, StreamHandle, bool* out);
  Status (*stream_wait)(ContextHandle, StreamHandle, EventHandle);
  // Calls the function in stream order, on a thread of the runtime or one that waits for the stream; later work of the
  // stream starts after it. Never called once the context has a sticky fault. It must not make a call of the table.
  Status (*host_function)(ContextHandle, HostFunction function, void* data, StreamHandle);
  Status (*event_create)(ContextHandle, EventHandle* out);
  Status (*event_destroy)(ContextHandle, EventHandle);
  Status (*event_record)(ContextHandle, EventHandle, StreamHandle);
  Status (*event_query)(ContextHandle, EventHandle);
  Status (*event_synchronize)(ContextHandle, EventHandle);
  Status (*event_elapsed)(ContextHandle, EventHandle from, EventHandle to, float* milliseconds);
  // cuda: loads the kernels of the families, in the namespaces of those names. host: starts the workers.
  Status (*prepare)(ContextHandle, const std::string_view* families, size_t count);
  // `synchronous`, host only: the operands include memory shared with NumPy, so the work is done on return. `bytes` of
  // the operands decide whether the host runs it inline.
  Status (*launch)(ContextHandle, const params::Launch&, int64_t bytes, bool synchronous, StreamHandle);
  // host only: runs the pieces [0, pieces) in stream order, distributed over the workers.
  Status (*host_work)(ContextHandle, const HostWork&, int64_t pieces, int64_t bytes, bool synchronous, StreamHandle);
  // cuda only: calls the library now, on this thread, with the context's device current. It must not throw. The stream,
  // which may be null, is the one in which it enqueues.
  Status (*library)(ContextHandle, const std::function<void()>& call, StreamHandle);
  const ManagedTable* managed;   // null in builds without CUDA, for cuda
  const ProgramTable* programs;  // null on host
  const GraphTable* graphs;      // null in builds without CUDA, for cuda
  // host only: makes the next launch on the context fail asynchronously; the fault is sticky.
  Status (*inject_fault)(ContextHandle);
  // The message of the sticky fault: of host and of emulated cuda devices; else "".
  std::string (*fault_message)(ContextHandle);
  // Outstanding handles of the table, counted independently of the Tracker: {memory, pinned, streams,
  // events, contexts, graphs}.
  std::array<int64_t, 6> (*outstanding)();
};

const Table& host_table();
// Usable only when cuda_available() is true.
const Table& cuda_table();
// When false, `reason` gets the cause: no driver, driver too old, no device, devices hidden by CUDA_VISIBLE_DEVICES, or
// built without CUDA. Opens no context.
bool cuda_available(std::string* reason);
// Whether cuda devices are emulated ones, which STATOR_EMULATE asks for.
bool cuda_emulated();
// The op whose work the calling thread enqueues next, for the reports of emulated devices.
void cuda_name_work(std::string_view op);
// See Runtime::lend.
void cuda_lend(void* memory, size_t bytes, StreamHandle stream);

// For the exit hook of programs without Python: from now on, library_release_noexcept releases nothing. The vendor
// libraries were opened after the hook was registered, so that their own exit handlers ran before it.
void leave_libraries() noexcept;

// Counters of one Runtime since it was made: one per call, and the bytes copied.
struct Counters {
  std::array<uint64_t, call_count> calls{};
  uint64_t h2d_bytes = 0, d2h_bytes = 0, d2d_bytes = 0;
};

// Fails calls, or drops waits, of one Runtime, for tests and `demo --prove`.
struct Injection {
  int64_t fail_at = -1;           // the k-th call from now fails (0 is the next one); -1: none
  bool until_lifted = false;      // and every call after it
  bool allocations = false;       // only allocations count, and fail
  Status code = status::unknown;  // what failing calls report; allocations report out_of_memory
  int64_t drop_wait_at = -1;      // the k-th stream_wait is silently not performed
};

// The record that every enqueueing operation carries.
struct Record {
  uint16_t op = 0;  // stator::Op, 0xffff for none
  const params::Access* accesses = nullptr;
  int access_count = 0;
  bool synchronous = false;
  int64_t expected_bytes = -1;  // that the work reads and writes, where it may end early; -1: those of the accesses
  int64_t multiply_adds = 0;    // of work that computes longer than it reads
  int64_t elements = -1;        // to which a launch's threads are distributed; -1: not known
};

class OrderChecker;
class Telemetry;

// Reports calls that make the host wait for the device, to the sink or as SynchronizationError.
enum class SyncDebug : uint8_t { off, warn, error };
using WaitSink = void (*)(std::string_view op);

// A context of one table, owned by core's Context. Thread-safe. Methods throw CudaError, except those that end in
// _noexcept, which return the status; the Pool, which knows the figures, throws OutOfMemoryError.
class Runtime {
 public:
  // checks: bit 0 is the order checker, bit 1 poisons freed memory and never runs inline. core reads them from the
  // environment variable STATOR_CHECK ("order", "poison", "order,poison" or "all").
  Runtime(const Table& table, int device, unsigned checks);
  ~Runtime();  // destroys the context unless destroy_noexcept did; never throws
  Runtime(const Runtime&) = delete;

  const Table& table() const { return table_; }
  int device() const { return device_; }
  const Properties& properties() const { return properties_; }
  bool is_host() const;
  bool is_idle(StreamHandle) const noexcept;  // whether all work of the stream is done; not counted as a call
  Status destroy_noexcept();

  void memory_info(size_t* free, size_t* total);
  Status reserve(size_t bytes, uint16_t op);  // as of Table; success or out_of_memory; counted as an allocation
  // The driver's pool, as of Table; none of them counts as a call.
  void pool_keep(size_t most, uint16_t op);
  Status pool_trim_noexcept(size_t least, size_t keep);
  size_t pool_free_bytes() noexcept;  // 0 where that is not known
  // Allocations return success or out_of_memory, so that the Pool can free cached blocks and retry, or throw.
  Status allocate(size_t bytes, StreamHandle, void** out, uint16_t op = no_op);
  // In the order of the stream; without one, or after the end of the context, when the device has done all its work.
  Status free_noexcept(void* pointer, size_t bytes, StreamHandle);
  // For emulated devices, which check each access: in the order of the stream, of an allocation that the Pool keeps its
  // first `bytes` are in use, and nothing of it was written yet. Else nothing.
  void lend(void* pointer, size_t bytes, StreamHandle stream) noexcept { cuda_lend(pointer, bytes, stream); }
  bool lends() const { return emulated_ && context_; }
  void share_memory() noexcept;          // from now on the GPUs that this process uses by now reach the pool's memory
  Status device_synchronize_noexcept();  // may be called after the end of the context
  int memory_device(const void* pointer, uint16_t op);  // as of Table
  Status allocate_pinned(size_t bytes, void** out, uint16_t op = no_op);
  Status free_pinned_noexcept(void* pointer);
  // Managed memory, as of ManagedTable.
  ManagedKind managed_kind() const { return table_.managed->kind(device_); }
  Status allocate_managed(size_t bytes, void** out, uint16_t op = no_op);
  Status free_managed_noexcept(void* pointer, size_t bytes);
  void prefetch(const void* pointer, size_t bytes, int to, StreamHandle, uint16_t op);
  void advise(const void* pointer, size_t bytes, Advice, int location, uint16_t op);
  RangeAdvice range_advice(const void* pointer, size_t bytes, uint16_t op);
  Status register_host(void* pointer, size_t bytes, uint16_t op);  // or out_of_memory, already_registered
  Status unregister_host_noexcept(void* pointer);
  void copy(void* to, const void* from, size_t bytes, CopyKind, StreamHandle, const Record&);
  // host: copies a few bytes to memory of the caller at once, and counts it as a copy and a wait. False, with nothing
  // done or counted, where that would wait for work, is checked for its order, or has a failure injected.
  bool read_now(void* to, const void* from, size_t bytes, StreamHandle) noexcept;
  void fill(void* pointer, int byte, size_t bytes, StreamHandle, const Record&);
  StreamHandle stream_create(int priority = 0, uint16_t op = no_op);
  PriorityRange stream_priorities(uint16_t op = no_op);
  StreamProperties stream_properties(StreamHandle, uint16_t op = no_op);
  Status stream_destroy_noexcept(StreamHandle);
  void stream_synchronize(StreamHandle, uint16_t op = no_op);
  Status stream_synchronize_noexcept(StreamHandle);
  bool stream_query(StreamHandle, uint16_t op = no_op);
  // Counted as a stream_query.
  bool stream_capturing(StreamHandle, uint16_t op = no_op);
  Status stream_capturing_noexcept(StreamHandle, bool* out);
  void stream_wait(StreamHandle, EventHandle, uint16_t op = no_op);
  Status stream_wait_noexcept(StreamHandle, EventHandle);
  void host_function(HostFunction function, void* data, StreamHandle, uint16_t op = no_op);  // as of Table
  EventHandle event_create(uint16_t op = no_op);
  Status event_destroy_noexcept(EventHandle);
  void event_record(EventHandle, StreamHandle, uint16_t op = no_op);
  Status event_record_noexcept(EventHandle, StreamHandle);
  // `orders`: for the order checker, a true answer orders the host after the event. The pool's own polls do not: what
  // they happen to see must not hide a wait that the user forgot.
  bool event_query(EventHandle, bool orders = true, uint16_t op = no_op);
  void event_synchronize(EventHandle, uint16_t op = no_op);
  float event_elapsed(EventHandle from, EventHandle to, uint16_t op = no_op);
  void prepare(const std::string_view* families, size_t count, uint16_t op);  // as of Table
  void launch(const params::Launch&, StreamHandle, const Record&);
  // Programs, where has_programs(): a failure to load is returned, also by program_kernel, because CUDA may load code
  // when it is first used; the driver writes to the log until the program is unloaded. A parameter that is not there is
  // false.
  bool has_programs() const { return table_.programs != nullptr; }
  LaunchLimits launch_limits(uint16_t op);
  Status program_load(const void* image, ProgramHandle* out, char* log, size_t capacity, uint16_t op);
  Status program_unload_noexcept(ProgramHandle);
  Status program_kernel(ProgramHandle, const char* name, KernelHandle* out, KernelNumbers* numbers, uint16_t op);
  bool kernel_parameter(KernelHandle, size_t index, size_t* offset, size_t* bytes, uint16_t op);
  int resident_blocks(KernelHandle, int threads, size_t shared_bytes, uint16_t op);
  void launch_kernel(KernelHandle, const char* name, const KernelLaunch&, StreamHandle, const Record&);
  // cuda: a vendor-library call. It runs now, on this thread, and enqueues work on the stream. It returns 0 or the
  // library's status, which `describe` names.
  void library(const char* what, const std::function<int()>& call, const char* (*describe)(int), StreamHandle,
               const Record&);
  // cuda: a vendor-library call that enqueues nothing, as for handles, plans and sizes of workspaces. It runs now, on
  // this thread, with the context's device current.
  void library_setup(const char* what, const std::function<int()>& call, const char* (*describe)(int), uint16_t op);
  // cuda: runs `release`, which destroys a handle or a plan of a vendor library and throws nothing, with the context's
  // device current.
  void library_release_noexcept(const std::function<void()>& release);
  // host: a library call, which runs in stream order, in pieces that the workers run in parallel, each large enough to
  // be worth waking a worker. call(piece) returns as above; a failure becomes the sticky fault.
  template <class F>
  void library_in_pieces(const char* what, const F& call, int64_t pieces, const char* (*describe)(int),
                         StreamHandle stream, const Record& record) {
    static_assert(std::is_trivially_copyable_v<F> && alignof(F) <= alignof(std::max_align_t));
    const auto run = [](const void* f, int64_t piece) { return (*static_cast<const F*>(f))(piece); };
    host_work({what, run, describe, &call, sizeof call}, pieces, stream, record);
  }
  void host_work(const HostWork&, int64_t pieces, StreamHandle, const Record&);

  // Graphs. Between capture_begin and capture_end nothing that is enqueued in the stream, or in those that wait for its
  // events, runs; a call that would wait for them throws CaptureError and leaves the capture as it is.
  struct Captured {
    GraphHandle graph = nullptr;
    std::vector<GraphCall> calls;
  };
  void capture_begin(StreamHandle, uint16_t op);
  Captured capture_end(StreamHandle, uint16_t op);
  uint64_t capture_condition(StreamHandle, uint16_t op);  // these three as of GraphTable
  void capture_enter(StreamHandle, uint64_t handle, const uint32_t* more, bool repeats, uint16_t op);
  void capture_leave(StreamHandle, uint16_t op);
  // What has been captured so far: nodes as of GraphTable::size, and calls of this class.
  struct CapturedWork {
    size_t nodes = 0, calls = 0;
  };
  CapturedWork captured_work(StreamHandle, uint16_t op);
  void capture_drop_noexcept(StreamHandle);  // ends it without a graph, whatever its state is
  bool is_captured(StreamHandle) const noexcept;
  void graph_instantiate(GraphHandle, GraphHandle previous, uint16_t op);  // as of GraphTable
  void graph_launch(GraphHandle, const char* name, StreamHandle, const Record&);
  Status graph_destroy_noexcept(GraphHandle);
  GraphArguments graph_arguments(GraphHandle graph, size_t call) const { return table_.graphs->arguments(graph, call); }
  void graph_write(GraphHandle, size_t call, size_t offset, uint64_t value, uint16_t op);

  // Optional hooks of every call: one branch when all are off.
  bool watched() const { return watch_.load(std::memory_order_relaxed) != 0; }
  Telemetry& telemetry() const { return *telemetry_; }
  unsigned change_telemetry_modes(unsigned off, unsigned on);  // returns the previous modes
  SyncDebug set_sync_debug(SyncDebug mode, WaitSink sink);     // returns the previous mode
  SyncDebug sync_debug() const { return sync_debug_.load(std::memory_order_relaxed); }
  // Waits after all work that is enqueued, so that a fault is reported by the call whose work it is.
  void set_blocking(bool blocking) { watch(Watch::blocking, blocking); }
  bool blocking() const { return watches(Watch::blocking); }

  // The memory was freed or returned to its owner: the order checker forgets its history.
  void forget_buffer(const void* buffer);
  // The host reads or writes the buffer now: checked like any other access.
  void host_access(const params::Access&, uint16_t op);

  void set_injection(const Injection&);
  void lift_injection();
  int64_t calls_since_injection() const;  // number of calls since set_injection
  void inject_fault();
  Counters counters() const;

 private:
  enum class Watch : unsigned { injection = 1, telemetry = 2, waits = 4, blocking = 8 };
  bool watches(Watch what) const { return watch_.load(std::memory_order_acquire) & unsigned(what); }
  void watch(Watch what, bool on);
  Status enter(Call call);  // injection and counters; success means that the call is to be performed
  Status enter_watched(Call call);
  void waits(uint16_t op);  // before a call that a user made waits
  bool copy_waits(const void* host, CopyKind) const;
  void work_begins(StreamHandle stream);
  class Noted;  // a call that may be one of a capture
  void enqueued(Noted& noted, StreamHandle, const Record&);
  void wait_if_blocking(const Noted& noted, StreamHandle, const Record&);
  void check(Call call, Status status, uint16_t op = no_op);
  bool drop_this_wait();
  void order(StreamHandle, const char* what, const Record&);  // the order check, before the work is enqueued
  void finished(StreamHandle, const Record&);                 // tells the order checker that synchronous work is done

  const Table& table_;
  const int device_;
  ContextHandle context_ = nullptr;
  Properties properties_;
  const bool emulated_;  // each enqueueing names its op, for the reports of emulated devices
  std::unique_ptr<OrderChecker> checker_;
  std::atomic<unsigned> watch_{0};  // bits of Watch
  std::atomic<SyncDebug> sync_debug_{SyncDebug::off};
  std::atomic<WaitSink> wait_sink_{nullptr};
  std::unique_ptr<Telemetry> telemetry_;
  mutable std::mutex injection_mutex_;  // taken only while injecting
  int64_t injected_calls_ = 0, injected_waits_ = 0;
  Injection injection_;
  std::array<std::atomic<uint64_t>, call_count> calls_{};
  std::atomic<uint64_t> reads_{0};  // each a copy and a wait, and not among calls_
  std::atomic<uint64_t> h2d_bytes_{0}, d2h_bytes_{0}, d2d_bytes_{0};
  std::atomic<int> captures_{0};
  mutable std::mutex notes_mutex_;
  std::map<uint64_t, std::vector<GraphCall>> notes_;  // of each capture
};

// Notes a call for the graph where its stream is captured; forgotten again unless it is kept. A captured call is not
// checked for its order with others, since it does not run.
class Runtime::Noted {
 public:
  Noted(Runtime& runtime, StreamHandle stream, GraphCall::Kind kind, const char* name, const Record& record)
      : runtime_(runtime) {
    if (runtime.captures_.load(std::memory_order_acquire) > 0) [[unlikely]]
      note(stream, kind, name, record);
  }
  ~Noted() {
    if (id_ && !kept_) drop();
  }
  Noted(const Noted&) = delete;
  bool captured() const { return id_ != 0; }
  void keep() { kept_ = true; }

 private:
  void note(StreamHandle stream, GraphCall::Kind kind, const char* name, const Record& record);
  void drop() noexcept;
  Runtime& runtime_;
  uint64_t id_ = 0;
  bool kept_ = false;
};

inline void Runtime::enqueued(Noted& noted, StreamHandle stream, const Record& record) {
  noted.keep();
  if (watched()) [[unlikely]]
    wait_if_blocking(noted, stream, record);
}

// While it lives, the device is the thread's current one, as vendor libraries want it. Afterwards the previous
// one is restored: it belongs to the program and to other libraries, whose next memory would lie on another device.
class DeviceScope {
 public:
  DeviceScope(const Table& table, int device) : table_(table), status_(table.set_device(device, &before_)) {}
  ~DeviceScope() {
    if (int ignored; before_ >= 0) table_.set_device(before_, &ignored);
  }
  DeviceScope(const DeviceScope&) = delete;
  Status status() const { return status_; }

 private:
  const Table& table_;
  int before_ = -1;
  const Status status_;
};

}  // namespace stator::runtime
