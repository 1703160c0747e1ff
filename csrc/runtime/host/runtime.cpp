// The host table: simulates a device on the CPU, with the semantics of the CUDA calls that its members stand for.
#include "runtime/host/calls.hpp"
#include "runtime/host/graph.hpp"

#include <sys/sysinfo.h>
#include <unistd.h>
#include <algorithm>
#include <cstring>
#include <fstream>

namespace stator::runtime {

host::Counts host::counts;

namespace {

using namespace host;

Status device_count(int* count) {
  *count = 1;
  return status::success;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

Status properties(int device, Properties* out) {
  if (device != 0) return status::invalid_device;
  return guarded([&] {
    *out = Properties{};
    out->name = processor_name();
    out->total_memory = total_memory();
    out->cooperative = false;
    const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
    out->limits = {Scheduler::worker_limit(), 2048, 32, 227 << 10, l2 > 0 ? int32_t(l2) : 1 << 20};
    return status::success;
  });
}

const char* error_name(Status code) {
  switch (code) {
    case status::success: return "cudaSuccess";
    case status::invalid_value: return "cudaErrorInvalidValue";
    case status::out_of_memory: return "cudaErrorMemoryAllocation";
    case status::not_initialized: return "cudaErrorInitializationError";
    case status::insufficient_driver: return "cudaErrorInsufficientDriver";
    case status::no_device: return "cudaErrorNoDevice";
    case status::invalid_device: return "cudaErrorInvalidDevice";
    case status::invalid_handle: return "cudaErrorInvalidResourceHandle";
    case status::not_ready: return "cudaErrorNotReady";
    case status::illegal_address: return "cudaErrorIllegalAddress";
    case status::context_destroyed: return "cudaErrorContextIsDestroyed";
    case status::launch_failure: return "cudaErrorLaunchFailure";
    case status::not_supported: return "cudaErrorNotSupported";
    case status::capture_unsupported: return "cudaErrorStreamCaptureUnsupported";
    case status::capture_merge: return "cudaErrorStreamCaptureMerge";
    case status::capture_unmatched: return "cudaErrorStreamCaptureUnmatched";
    case status::capture_unjoined: return "cudaErrorStreamCaptureUnjoined";
    case status::capture_isolation: return "cudaErrorStreamCaptureIsolation";
    case status::captured_event: return "cudaErrorCapturedEvent";
    default: return "cudaErrorUnknown";
  }
}

Status context_create(int device, bool checked, ContextHandle* out) {
  if (device != 0) return status::invalid_device;
  return guarded([&] {
    Scheduler& scheduler = Scheduler::instance();
    *out = new Context(checked, process_epoch());
    scheduler.context_opened();
    counts.contexts.fetch_add(1);
    return status::success;
  });
}

Status context_destroy(ContextHandle handle) {
  Context& context = context_of(handle);
  counts.contexts.fetch_sub(1);
  if (orphan(context)) return status::success;
  return guarded([&] {
    Scheduler::instance().drain(context);
    const bool intact = context.quarantine.intact();
    delete &context;
    Scheduler::instance().context_closed();
    return intact ? status::success : status::illegal_address;
  });
}

Status set_device(int, int* before) {
  *before = -1;
  return status::success;
}

Status device_synchronize(int) { return status::success; }

Status memory_device(ContextHandle, const void*, int* device) {
  *device = 0;
  return status::success;
}

Status memory_info(ContextHandle, size_t* free, size_t* total) {
  struct sysinfo info{};
  sysinfo(&info);
  const size_t unused = (size_t(info.freeram) + info.bufferram) * info.mem_unit;
  *total = total_memory();
  *free = std::min(unused, *total - std::min(*total, live_memory()));
  return status::success;
}

Status reserve(ContextHandle, size_t) { return status::success; }
Status pool_keep(ContextHandle, size_t) { return status::success; }
Status pool_trim(ContextHandle, size_t, size_t) { return status::success; }

Status pool_free_bytes(ContextHandle, size_t* bytes) {
  *bytes = 0;
  return status::success;
}

Status allocate(ContextHandle handle, size_t bytes, StreamHandle, void** out) {
  Context& context = context_of(handle);
  if (const Status state = usable(context)) return state;
  const Status taken = take_memory(bytes, out);
  if (taken) return taken;
  if (context.checked) std::memset(*out, poison_byte, bytes);
  counts.memory.fetch_add(1);
  return status::success;
}

Status free_memory(ContextHandle handle, void* pointer, size_t bytes, StreamHandle stream) {
  counts.memory.fetch_sub(1);
  Context* context = static_cast<Context*>(handle);
  if (!context || !stream || orphan(*context)) {
    give_memory(pointer, bytes);
    return status::success;
  }
  const auto now = [context, pointer, bytes]() -> const char* {
    if (!context->checked) {
      give_memory(pointer, bytes);
      return nullptr;
    }
    return context->quarantine.add(pointer, bytes) ? nullptr : "memory was written after it was freed";
  };
  if (stream_of(stream).idle()) {
    if (const char* message = now()) context->fault(message);
    return status::success;
  }
  const Status queued = guarded([&] {
    auto item = make_item(1, 1, [now](int64_t, int64_t) { return now(); });
    item->release = true;
    Scheduler::instance().enqueue(stream_of(stream), std::move(item));
    return status::success;
  });
  if (queued) {  // no memory for the queue entry: wait instead
    while (!stream_of(stream).idle()) std::this_thread::yield();
    now();
  }
  return status::success;
}

Status allocate_pinned(ContextHandle handle, size_t bytes, void** out) {
  if (const Status state = usable(context_of(handle))) return state;
  const Status taken = take_pinned(bytes, out);
  if (!taken) counts.pinned.fetch_add(1);
  return taken;
}

Status free_pinned(ContextHandle, void* pointer) {
  const Status given = give_pinned(pointer);
  if (!given) counts.pinned.fetch_sub(1);
  return given;
}

Status register_host(ContextHandle handle, void* pointer, size_t bytes) {
  if (const Status state = usable(context_of(handle))) return state;
  const Status noted = note_registered(pointer, bytes);
  if (!noted) counts.pinned.fetch_add(1);
  return noted;
}

Status unregister_host(ContextHandle, void* pointer) {
  const Status forgotten = forget_registered(pointer);
  if (!forgotten) counts.pinned.fetch_sub(1);
  return forgotten;
}

bool pageable(const void* host) { return !is_pinned(host); }

Status inject_fault(ContextHandle handle) {
  context_of(handle).fault_next.store(true);
  return status::success;
}

std::string fault_message(ContextHandle handle) { return context_of(handle).fault_message(); }

std::array<int64_t, 6> outstanding() {
  return {counts.memory.load(), counts.pinned.load(),   counts.streams.load(),
          counts.events.load(), counts.contexts.load(), counts.graphs.load()};
}

}  // namespace

const Table& host_table() {
  static constexpr Table table{
      .target = "host",
      .device_count = device_count,
      .properties = properties,
      .error_name = error_name,
      .context_create = context_create,
      .context_destroy = context_destroy,
      .set_device = set_device,
      .device_synchronize = device_synchronize,
      .memory_device = memory_device,
      .memory_info = memory_info,
      .reserve = reserve,
      .pool_keep = pool_keep,
      .pool_trim = pool_trim,
      .pool_free_bytes = pool_free_bytes,
      .allocate = allocate,
      .free = free_memory,
      .allocate_pinned = allocate_pinned,
      .free_pinned = free_pinned,
      .register_host = register_host,
      .unregister_host = unregister_host,
      .copy = copy,
      .pageable = pageable,
      .fill = fill,
      .stream_create = stream_create,
      .stream_priorities = stream_priorities,
      .stream_properties = stream_properties,
      .stream_destroy = stream_destroy,
      .stream_synchronize = stream_synchronize,
      .stream_query = stream_query,
      .stream_capturing = stream_capturing,
      .stream_wait = stream_wait,
      .host_function = host_function,
      .event_create = event_create,
      .event_destroy = event_destroy,
      .event_record = event_record,
      .event_query = event_query,
      .event_synchronize = event_synchronize,
      .event_elapsed = event_elapsed,
      .prepare = prepare,
      .launch = launch,
      .host_work = host_work,
      .library = nullptr,
      .managed = &managed_calls,
      .programs = nullptr,
      .graphs = &graph_calls,
      .inject_fault = inject_fault,
      .fault_message = fault_message,
      .outstanding = outstanding,
  };
  return table;
}

}  // namespace stator::runtime
