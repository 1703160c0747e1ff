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

// True if a Backend can be opened on a device of the type. Creates no context. If false, `reason` gets the cause.
STATOR_API bool is_available(DeviceType type, std::string* reason = nullptr);
STATOR_API int device_count(DeviceType type);  // 1 for cpu; 0 if not available
// True for cuda while the environment variable STATOR_EMULATE describes emulated devices, which "auto" never chooses.
STATOR_API bool is_emulated(DeviceType type);

// The folder and the size in bytes of the driver's cache of machine code compiled from PTX. Sets CUDA_CACHE_PATH and
// CUDA_CACHE_MAXSIZE of the process, which the driver reads once, when it starts; "" and 0 change nothing. ValueError
// if the driver has started with other values.
STATOR_API void set_jit_cache(const std::string& path, size_t bytes);

struct DeviceInfo {
  std::string name;
  int compute_major = 0, compute_minor = 0;     // the compute capability; 0 on cpu
  size_t total_memory = 0;                      // bytes
  int driver_version = 0, runtime_version = 0;  // 13000 is CUDA 13.0; 0 on cpu
  int multiprocessors = 0;                      // on cpu the worker threads
};

// What happens to freed device memory. caching: kept for later allocations. none: returned to the device at once.
// driver: kept by CUDA's stream-ordered pool; on cpu as none. arena: every allocation is a part of memory_pool_size
// bytes, which the backend takes when it opens. Freed page-locked memory is always kept, since pinning takes longer
// than copying.
enum class PoolPolicy : uint8_t { caching, none, driver, arena };

// Backend::open throws ValueError for invalid values. python/stator/config has the same fields.
struct BackendOptions {
  bool allow_tf32 = false;     // cuda: float32 products may use TF32
  bool deterministic = false;  // ops give equal bits from run to run
  bool eager_indices = false;  // ops that check values on the device wait, and throw at once
  bool profiling = false;      // telemetry counts from the beginning
  PoolPolicy pool_policy = PoolPolicy::caching;
  size_t memory_limit = 0;  // bytes of live and cached memory; 0 means no limit
  // Bytes, at most the limit. cuda: what CUDA's pool takes from the device when the backend opens, and keeps until it
  // closes; ignored on cpu. With the policy arena, on cpu too: the size of the arena, which must not be 0.
  size_t memory_pool_size = 0;
  size_t pinned_memory_limit = 0;  // bytes of live and cached page-locked memory; 0 means no limit
  int stream_pool_size = 8;        // number of own streams, 1 to Backend::stream_limit
  size_t blas_workspace_size = 0;  // cuda: bytes per cuBLAS handle; 0: 32 MiB from Hopper on, else 4 MiB
  std::string jit_cache_path{};    // see set_jit_cache
  size_t jit_cache_size = 0;
  // Bits. 1: accesses of several streams must be ordered (StreamOrderError). 2, on cpu: new and freed memory is filled
  // with a pattern, and no work runs on the calling thread. -1 reads STATOR_CHECK.
  int checks = -1;
  // 1: LibraryNotFoundError if stator's own, slower kernels would replace a missing library (cuFFT, cuSPARSE); 0: a
  // warning; -1 reads STATOR_REQUIRE_LIBRARIES, which is 0 or 1.
  int require_libraries = -1;
};

// A live tracked object.
struct Resource {
  // "buffer", "pinned", "managed", "stream", "event", "library", "program", "graph", "pool" or "context".
  std::string kind;
  size_t bytes = 0;
  double age = 0;         // seconds
  std::string origin;     // the op that created it
  bool exported = false;  // used by another library
};

// Sizes in bytes, as the pool rounds them; counts since the backend was opened.
struct MemoryStats {
  size_t live_bytes = 0, cached_bytes = 0, peak_bytes = 0, limit = 0, exported_bytes = 0;
  uint64_t allocations = 0, reuses = 0;  // all of them, and those served from the cache
  uint64_t deallocations = 0, failures = 0;
  uint64_t allocated_bytes = 0;                                             // of all allocations
  size_t pinned_live_bytes = 0, pinned_cached_bytes = 0, pinned_limit = 0;  // page-locked memory, included above
  // The largest cached block of device memory; -1 if CUDA's pool caches it.
  int64_t largest_cached_bytes = 0;
};

// Counts since the backend was opened.
struct Statistics {
  uint64_t kernel_launches = 0, library_calls = 0;  // library calls that enqueue work
  uint64_t h2d_bytes = 0, d2h_bytes = 0, d2d_bytes = 0;
  std::vector<std::pair<std::string, uint64_t>> calls;  // calls of the runtime layer: kind and number
};

// The priorities of a device's streams: the lower the number, the higher the priority.
struct PriorityRange {
  int least = 0, greatest = 0;
};

class Event;

// An ordered queue of work. As an argument, a default-constructed Stream means stream 0 of the arrays' backend, unless
// a function states another one; most of its members throw ValueError.
class STATOR_API Stream {
 public:
  Stream() = default;
  explicit Stream(Ref<StreamBox> box) : box_(std::move(box)) {}
  explicit operator bool() const { return bool(box_); }
  Event record() const;           // an event after all work enqueued so far
  void wait(const Event&) const;  // later work starts after the event; does not block the host
  void synchronize() const;       // blocks until all work has finished; throws what the error slot holds
  bool done() const;              // whether all work has finished; does not block
  // Calls the function in stream order, on a thread of the runtime or one that waits for the stream: later work of the
  // stream starts after it has returned. What it throws becomes a warning. It must not call stator, which throws
  // UnsupportedError there, or wait for other work of the device. It keeps the backend open until it has returned;
  // after a fault of the device it is dropped. Asynchronous.
  void add_callback(std::function<void()>) const;
  int priority() const;   // see Backend::stream
  int index() const;      // in the backend's pool; at least Backend::stream_count() for other libraries' streams
  bool external() const;  // whether another library owns it
  // Waits for a stream of another library and ends its use: `release` of Backend::external_stream runs, and this handle
  // and its copies throw BackendClosedError. ValueError for one of the backend's own streams.
  void close() const;
  void* native() const;  // cudaStream_t; an opaque pointer on cpu
  const Ref<StreamBox>& box() const { return box_; }

 private:
  Ref<StreamBox> box_;
};

// A point in a stream, which Stream::record() makes. A default-constructed Event counts as reached.
class STATOR_API Event {
 public:
  Event() = default;
  explicit Event(Ref<EventBox> box) : box_(std::move(box)) {}
  bool done() const;                                     // does not block
  void synchronize() const;                              // blocks until it is reached; reads no error slot
  float milliseconds_since(const Event& earlier) const;  // ValueError unless both are reached
  const Ref<EventBox>& box() const { return box_; }

 private:
  Ref<EventBox> box_;
};

// One opened device with its memory pool, streams and libraries. Copies share it; close(), or the end of the last copy,
// releases everything in order. Thread-safe. After close(), calls that need the device throw BackendClosedError.
// Results do not depend on the floating-point environment of the calling thread (rounding mode, flushing of
// subnormals), which is not changed either.
class STATOR_API Backend {
 public:
  Backend() = default;
  explicit Backend(Ref<Context> context) : context_(std::move(context)) {}
  // device: "auto" (cuda:0 if usable, else cpu), "cpu", "cuda", "cuda:N". allocator: the source of device memory until
  // the last array is gone (stator/memory/allocator.hpp); null: the driver. DeviceUnavailableError, with the reason;
  // ValueError for an unknown device or invalid options.
  static Backend open(std::string_view device = "auto", const BackendOptions& options = {},
                      std::shared_ptr<Allocator> allocator = nullptr);

  // Refuses new calls, waits for those in flight, synchronises, releases every resource, newest first. Idempotent.
  // UnsupportedError in a callback of a stream and in a memory hook.
  void close() const;
  bool closed() const;
  Device device() const;
  DeviceInfo info() const;
  const BackendOptions& options() const;
  std::string kernels() const;  // the target of the kernels in use: "cuda", "host_v3", "host_checked", ...

  static constexpr int stream_limit = 31;  // own ones and those of other libraries together
  int stream_count() const;                // own streams: BackendOptions::stream_pool_size
  Stream stream(int index) const;          // created at first use; 0 is the default stream; ValueError if out of range
  // The same with a priority, a hint for the order in which work of several streams begins. ValueError outside
  // priority_range(), and if the stream was created with another priority.
  Stream stream(int index, int priority) const;
  PriorityRange priority_range() const;
  // `count` own streams of the priority, without the default one; streams that were not used yet are created with it.
  // ValueError if there are fewer.
  std::vector<Stream> streams(int count, int priority) const;
  // cuda: a stream of another library on the same device: a cudaStream_t, or null or 1 for the legacy default stream.
  // It is not destroyed, and must exist until `release` runs, as the deleter of foreign memory does: after
  // Stream::close() or when the backend has closed, at once if the stream is known already (the result is the same
  // Stream), and not after a throw. ValueError for cudaStreamPerThread and beyond stream_limit streams, of which a
  // released one may still count; BackendMismatchError for a stream of another device, and on cpu.
  Stream external_stream(void* native, std::function<void()> release) const;
  void synchronize() const;  // waits for all streams; throws what an error slot holds, the first found

  std::vector<Resource> resources() const;  // live tracked objects, without the context and its pool
  MemoryStats memory() const;
  // Changes the limit, in bytes, and frees cached memory until it holds; 0: no limit. ValueError if more is live.
  void set_memory_limit(size_t bytes) const;
  Statistics statistics() const;
  // Until the matching call with false, copies of the backend's memory to the host throw HostCopyError, in every
  // thread.
  void forbid_host_copies(bool forbid) const;
  void empty_cache() const;            // frees cached memory
  bool poll_division_by_zero() const;  // true once after a kernel divided an integer by zero; does not wait

  const Ref<Context>& context() const { return context_; }
  friend bool operator==(const Backend& a, const Backend& b) { return a.context_.get() == b.context_.get(); }

 private:
  Ref<Context> context_;
};

// Closes every open backend and ends the worker threads; afterwards no destructor makes a device call. Idempotent.
STATOR_API void shutdown() noexcept;

// The handler gets the text of each warning: a leak at exit, a failed release, no threads for work on the cpu. Any
// thread may call it, also one that holds locks, so it must not call stator. The default handler writes to stderr.
STATOR_API void set_warning_handler(void (*handler)(const char* text));

}  // namespace stator

#include <stator/macros/back.inc>
