// Backend: one opened device. Stream, Event: the order of work on it. Options, figures and availability of devices.
#pragma once

#include <stator/error.hpp>
#include <stator/ref.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <stator/macros/aside.inc>

namespace stator {

class Context;
class StreamBox;
class EventBox;
class Allocator;

enum class DeviceType : uint8_t { cpu, cuda };

struct STATOR_API Device {
  DeviceType type = DeviceType::cpu;
  int index = 0;
  // "cpu", "cuda", "cuda:1"; ValueError for anything else. "auto" is not a device.
  static Device parse(std::string_view text);
  std::string str() const;  // "cpu", "cuda:0"
  friend bool operator==(const Device&, const Device&) = default;
};

// True when a Backend for the device can be opened. Creates no context. When false, `reason` gets the cause.
STATOR_API bool is_available(DeviceType type, std::string* reason = nullptr);
STATOR_API int device_count(DeviceType type);
// True for "cuda" while the environment variable STATOR_EMULATE describes devices of software. "auto" never takes one.
STATOR_API bool is_emulated(DeviceType type);

// Where the driver keeps the machine code that it compiles of PTX, and how many bytes: the process's CUDA_CACHE_PATH
// and CUDA_CACHE_MAXSIZE, which the driver reads once, when it starts. "" and 0 change nothing. ValueError where the
// driver has started with other values.
STATOR_API void set_jit_cache(const std::string& path, size_t bytes);

struct DeviceInfo {
  std::string name;
  int compute_major = 0, compute_minor = 0;
  size_t total_memory = 0;
  int driver_version = 0, runtime_version = 0;
  int multiprocessors = 0;
};

// What becomes of device memory that is freed: caching keeps it for the next allocation, none gives it back at once,
// driver leaves the keeping to the driver's stream-ordered pool (on cpu to the C library, as none does), and arena
// divides memory_pool_size bytes that are taken when the backend opens, and asks for no more. Page-locked memory is
// kept in any case, because to pin memory takes longer than to copy it.
enum class PoolPolicy : uint8_t { caching, none, driver, arena };

// What Backend::open checks of them throws ValueError. python/stator/config has the same fields.
struct BackendOptions {
  bool allow_tf32 = false;
  bool deterministic = false;
  bool eager_indices = false;  // check_indices="eager"
  bool profiling = false;      // telemetry counts from the beginning
  PoolPolicy pool_policy = PoolPolicy::caching;
  size_t memory_limit = 0;  // bytes of live and cached memory; 0 means no limit
  // cuda: bytes that the driver's pool takes from the device when the backend opens, and keeps until it closes; at most
  // the limit. Memory of a cpu has no such pool, and nothing is taken there. With the policy arena: all that there is,
  // on cpu too.
  size_t memory_pool_size = 0;
  size_t pinned_memory_limit = 0;  // bytes of live and cached page-locked memory; 0 means no limit
  int stream_pool_size = 8;        // the backend's own streams, 1 to Backend::stream_limit
  size_t blas_workspace_size = 0;  // cuda: bytes of a handle of cuBLAS; 0: 32 MiB from Hopper on, else 4 MiB
  std::string jit_cache_path{};    // see set_jit_cache
  size_t jit_cache_size = 0;
  int checks = -1;  // bits: 1 order checker, 2 poisoned memory and no inline runs; -1 reads STATOR_CHECK
  // 1: LibraryNotFoundError where stator's own, slower kernels would stand in for a missing library (cuFFT, cuSPARSE);
  // 0: a warning; -1 reads STATOR_REQUIRE_LIBRARIES, which is 0 or 1.
  int require_libraries = -1;
};

// A live tracked object.
struct Resource {
  // "buffer", "pinned", "managed", "stream", "event", "library", "program", "graph", "pool" or "context".
  std::string kind;
  size_t bytes = 0;
  double age = 0;      // seconds
  std::string origin;  // the op that made it
  bool exported = false;
};

struct MemoryStats {
  size_t live_bytes = 0, cached_bytes = 0, peak_bytes = 0, limit = 0, exported_bytes = 0;
  uint64_t allocations = 0, reuses = 0;  // what was asked of the pool, and what its cache had
  uint64_t deallocations = 0, failures = 0;
  uint64_t allocated_bytes = 0;                                             // of all allocations, rounded up to blocks
  size_t pinned_live_bytes = 0, pinned_cached_bytes = 0, pinned_limit = 0;  // page-locked memory, a part of the above
  // Of the cached device memory the largest block; -1 where the driver keeps it, which does not say.
  int64_t largest_cached_bytes = 0;
};

struct Statistics {
  uint64_t kernel_launches = 0, library_calls = 0;  // library calls that enqueue work
  uint64_t h2d_bytes = 0, d2h_bytes = 0, d2d_bytes = 0;
  std::vector<std::pair<std::string, uint64_t>> calls;  // number of calls of each kind in the runtime layer, by name
};

// The priorities that streams of a device can have: the lower the number, the higher the priority.
struct PriorityRange {
  int least = 0, greatest = 0;
};

class Event;

// An ordered queue of work. A default-constructed Stream means stream 0 of the arrays' backend.
class STATOR_API Stream {
 public:
  Stream() = default;
  explicit Stream(Ref<StreamBox> box) : box_(std::move(box)) {}
  explicit operator bool() const { return bool(box_); }
  Event record() const;           // an event after all work enqueued so far
  void wait(const Event&) const;  // later work of this stream starts after the event; does not block the host
  void synchronize() const;       // blocks; throws what the stream's error slot holds
  bool done() const;              // whether all work has finished; does not block
  // Calls the function in stream order, on a thread of the runtime or one that waits for the stream: later work of the
  // stream starts when it has returned. What it throws becomes a warning. It must not call stator, which throws
  // UnsupportedError there, nor wait for other work of the device. Until then it keeps the backend open; after a fault
  // of the device it is dropped. Asynchronous.
  void add_callback(std::function<void()>) const;
  int priority() const;   // see Backend::stream
  int index() const;      // index in the backend's pool of streams; from Backend::stream_count() on of another library
  bool external() const;  // whether it is a stream of another library
  // Waits for a stream of another library, and gives it back: `release` of Backend::external_stream runs, and this
  // handle and its copies throw BackendClosedError. ValueError for one of the backend's own.
  void close() const;
  void* native() const;  // cudaStream_t; an opaque pointer on cpu
  const Ref<StreamBox>& box() const { return box_; }

 private:
  Ref<StreamBox> box_;
};

class STATOR_API Event {
 public:
  Event() = default;
  explicit Event(Ref<EventBox> box) : box_(std::move(box)) {}
  bool done() const;
  void synchronize() const;
  float milliseconds_since(const Event& earlier) const;  // ValueError unless both have happened
  const Ref<EventBox>& box() const { return box_; }

 private:
  Ref<EventBox> box_;
};

// One opened device with its memory pool, streams and libraries. Copies share it; close(), or the end of the last copy,
// releases everything in order. Thread-safe. Results do not depend on the floating-point environment of the calling
// thread (rounding mode, flushing of subnormals): all work is done in the default one, and the caller's is kept.
class STATOR_API Backend {
 public:
  Backend() = default;
  explicit Backend(Ref<Context> context) : context_(std::move(context)) {}
  // device: "auto" (cuda:0 when usable, else cpu), "cpu", "cuda", "cuda:N". DeviceUnavailableError gives the reason.
  // allocator: gives the device memory until the last array is gone (stator/memory/allocator.hpp); null: the driver.
  static Backend open(std::string_view device = "auto", const BackendOptions& options = {},
                      std::shared_ptr<Allocator> allocator = nullptr);

  // Refuses new calls, waits for those in flight, synchronises, releases every resource newest first. Idempotent.
  void close() const;
  bool closed() const;
  Device device() const;
  DeviceInfo info() const;
  const BackendOptions& options() const;
  std::string kernels() const;  // the target of the kernels in use: "cuda", "host_v3", "host_checked", ...

  static constexpr int stream_limit = 31;  // with those of other libraries: a bit each in the uses of a buffer
  int stream_count() const;                // of its own: BackendOptions::stream_pool_size
  Stream stream(int index) const;          // of a pool of fixed size, created at first use; 0 is the default stream
  // The same with a priority, a hint for the order in which work of several streams begins. ValueError out of
  // priority_range(), and for a stream that was created with another one.
  Stream stream(int index, int priority) const;
  PriorityRange priority_range() const;
  // `count` streams after the default one that have the priority, new ones where they do not exist. ValueError where
  // there are fewer.
  std::vector<Stream> streams(int count, int priority) const;
  // cuda: a stream of another library on the same device (a cudaStream_t, 1 for the legacy default stream), which is
  // not destroyed. The same one gives the same Stream. `release` runs as the deleter of foreign memory does: when the
  // stream is released or the backend has closed, until when it must exist, or at once where it is known; not after a
  // throw. ValueError beyond stream_limit streams of the backend's life, BackendMismatchError for a stream of another
  // device and on cpu.
  Stream external_stream(void* native, std::function<void()> release) const;
  void synchronize() const;  // waits for all streams; throws what an error slot holds

  std::vector<Resource> resources() const;  // live tracked objects, without the context and its pool
  MemoryStats memory() const;
  // Another limit, of which cached memory is freed until it holds; 0 is none. ValueError below what is live.
  void set_memory_limit(size_t bytes) const;
  Statistics statistics() const;
  // Until the matching call with false, calls that would copy the backend's memory to the host throw HostCopyError, in
  // every thread that uses the backend.
  void forbid_host_copies(bool forbid) const;
  void empty_cache() const;            // gives cached memory back to the driver
  bool poll_division_by_zero() const;  // true once after an integer division by zero was seen; clears it

  const Ref<Context>& context() const { return context_; }
  friend bool operator==(const Backend& a, const Backend& b) { return a.context_.get() == b.context_.get(); }

 private:
  Ref<Context> context_;
};

// Closes every open backend and ends the worker threads; afterwards no destructor makes a device call. Idempotent.
STATOR_API void shutdown() noexcept;

// The handler is called with the text of a warning: a leak at exit, a release that failed, no threads for the work of a
// cpu. Any thread may call it, also one that holds locks, so it must not call stator. The default handler writes to
// stderr.
STATOR_API void set_warning_handler(void (*handler)(const char* text));

}  // namespace stator

#include <stator/macros/back.inc>
