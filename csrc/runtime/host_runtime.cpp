// The host table: a simulator of a device on the CPU, with the semantics of the calls that it stands for.
#include "runtime/host_stream.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <new>
#include <sys/sysinfo.h>
#include <unistd.h>

namespace stator::runtime {
namespace {

using host::Context;
using host::Item;
using host::Mark;
using host::Scheduler;
using host::Stream;

// From tests/runtime/measure.cpp on two cores: a hand-off and its wake-up cost as much as a core needs for inline_bytes.
struct Tuning {
  static constexpr int64_t inline_bytes = 256 << 10;
  static constexpr int64_t chunks_per_worker = 4;   // so that a worker that starts late costs little
  static constexpr int64_t copy_block = 256 << 10;  // bytes of a copy or fill that one block does
};

struct Event {
  std::mutex mutex;
  std::shared_ptr<Mark> mark;  // null once recorded on an idle stream
  bool recorded = false;
  int64_t time = 0;
};

struct Counts {
  std::atomic<int64_t> memory{0}, pinned{0}, streams{0}, events{0}, contexts{0};
};
Counts counts;
std::mutex lifecycle;  // of the last context's end and the next one's start

Context& context_of(ContextHandle handle) { return *static_cast<Context*>(handle); }
Stream& stream_of(StreamHandle handle) { return *static_cast<Stream*>(handle); }
Event& event_of(EventHandle handle) { return *static_cast<Event*>(handle); }

// A context of the process that forked: nothing of it may be waited for or locked here.
bool orphan(const Context& context) { return context.epoch != host::process_epoch(); }

Status usable(const Context& context) {
  if (orphan(context)) return status::not_initialized;
  return context.faulted.load(std::memory_order_acquire) ? status::launch_failure : status::success;
}

// No member of the table throws.
template <class F>
Status guarded(F&& f) noexcept {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  } catch (...) {
    return status::unknown;
  }
}

const char* take_injected_fault(Context& context) {
  if (!context.fault_next.load(std::memory_order_relaxed) || !context.fault_next.exchange(false)) return nullptr;
  return "injected fault";
}

// Runs the work at once when the stream is idle and the work small, else queues what `make_item` makes.
// Work that is `synchronous` is done on return.
template <class Now, class MakeItem>
Status run(Context& context, Stream& stream, int64_t bytes, bool synchronous, Now&& run_now, MakeItem&& make_item) noexcept {
  if (const Status state = usable(context)) return state;
  return guarded([&] {
    if (!context.checked && bytes <= Tuning::inline_bytes && stream.claim()) {
      try {
        if (const char* message = run_now()) context.fault(message);
      } catch (const std::exception& error) {
        context.fault(error.what());
      } catch (...) {
        context.fault("a task threw something that is no std::exception");
      }
      stream.unclaim();
      return status::success;
    }
    Scheduler& scheduler = Scheduler::instance();
    scheduler.enqueue(stream, make_item());
    if (synchronous) scheduler.synchronize(stream);
    return synchronous && context.faulted.load(std::memory_order_acquire) ? status::launch_failure : status::success;
  });
}

int64_t chunk_of(int64_t blocks) {
  const int64_t chunks = Scheduler::worker_limit() * Tuning::chunks_per_worker;
  return std::max<int64_t>(1, (blocks + chunks - 1) / chunks);
}

std::unique_ptr<Item> make_item(int64_t blocks, int64_t chunk, Item::Body body) {
  auto item = std::make_unique<Item>();
  item->body = std::move(body);
  item->blocks = blocks;
  item->chunk = chunk;
  return item;
}

// Work on bytes: `f` gets a range of them.
template <class F>
std::unique_ptr<Item> make_byte_item(size_t bytes, F f) {
  const int64_t blocks = (int64_t(bytes) + Tuning::copy_block - 1) / Tuning::copy_block;
  return make_item(blocks, chunk_of(blocks), [bytes, f](int64_t first, int64_t last) -> const char* {
    const size_t begin = size_t(first * Tuning::copy_block);
    f(begin, std::min(bytes, size_t(last * Tuning::copy_block)) - begin);
    return nullptr;
  });
}

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
    out->total_memory = host::total_memory();
    out->cooperative = false;
    const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
    out->limits = {Scheduler::worker_limit(), 2048, 227 << 10, l2 > 0 ? int32_t(l2) : 1 << 20};
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
    default: return "cudaErrorUnknown";
  }
}

Status context_create(int device, bool checked, ContextHandle* out) {
  if (device != 0) return status::invalid_device;
  return guarded([&] {
    Scheduler::instance();  // from here on a fork is noticed
    const std::lock_guard lock(lifecycle);
    *out = new Context(checked, host::process_epoch());
    counts.contexts.fetch_add(1);
    return status::success;
  });
}

Status context_destroy(ContextHandle handle) {
  Context& context = context_of(handle);
  if (orphan(context)) return status::success;
  return guarded([&] {
    Scheduler::instance().drain(context);
    const bool intact = context.quarantine.intact();
    delete &context;
    const std::lock_guard lock(lifecycle);
    if (counts.contexts.fetch_sub(1) == 1) Scheduler::instance().join();
    return intact ? status::success : status::illegal_address;
  });
}

Status memory_info(ContextHandle, size_t* free, size_t* total) {
  struct sysinfo info {};
  sysinfo(&info);
  const size_t unused = (size_t(info.freeram) + info.bufferram) * info.mem_unit;
  *total = host::total_memory();
  *free = std::min(unused, *total - std::min(*total, host::live_memory()));
  return status::success;
}

Status allocate(ContextHandle handle, size_t bytes, StreamHandle, void** out) {
  Context& context = context_of(handle);
  if (const Status state = usable(context)) return state;
  const Status taken = host::take_memory(bytes, out);
  if (taken) return taken;
  if (context.checked) std::memset(*out, host::poison_byte, bytes);
  counts.memory.fetch_add(1);
  return status::success;
}

Status free_memory(ContextHandle handle, void* pointer, size_t bytes, StreamHandle stream) {
  counts.memory.fetch_sub(1);
  Context* context = static_cast<Context*>(handle);
  if (!context || !stream || orphan(*context)) {
    host::give_memory(pointer, bytes);
    return status::success;
  }
  const auto now = [context, pointer, bytes]() -> const char* {
    if (!context->checked) {
      host::give_memory(pointer, bytes);
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
  if (queued) {  // no memory for the queue: wait instead
    while (!stream_of(stream).idle()) std::this_thread::yield();
    now();
  }
  return status::success;
}

Status allocate_pinned(ContextHandle handle, size_t bytes, void** out) {
  if (const Status state = usable(context_of(handle))) return state;
  const Status taken = host::take_pinned(bytes, out);
  if (!taken) counts.pinned.fetch_add(1);
  return taken;
}

Status free_pinned(ContextHandle, void* pointer) {
  const Status given = host::give_pinned(pointer);
  if (!given) counts.pinned.fetch_sub(1);
  return given;
}

Status prefetch(ContextHandle handle, const void*, size_t, StreamHandle) { return usable(context_of(handle)); }
Status advise(ContextHandle handle, const void*, size_t, int) { return usable(context_of(handle)); }

Status copy(ContextHandle handle, void* to, const void* from, size_t bytes, CopyKind kind, StreamHandle stream) {
  if (bytes == 0) return usable(context_of(handle));
  // As on a device: ordinary host memory is read or written before the call returns.
  const bool synchronous = kind != CopyKind::device_to_device &&
                           !host::is_pinned(kind == CopyKind::host_to_device ? from : to);
  const auto now = [=]() -> const char* {
    std::memmove(to, from, bytes);
    return nullptr;
  };
  return run(context_of(handle), stream_of(stream), int64_t(bytes), synchronous, now, [=] {
    return make_byte_item(bytes, [to, from](size_t begin, size_t count) {
      std::memmove(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, count);
    });
  });
}

Status fill_memory(ContextHandle handle, void* pointer, int byte, size_t bytes, StreamHandle stream) {
  if (bytes == 0) return usable(context_of(handle));
  const auto now = [=]() -> const char* {
    std::memset(pointer, byte, bytes);
    return nullptr;
  };
  return run(context_of(handle), stream_of(stream), int64_t(bytes), false, now, [=] {
    return make_byte_item(bytes, [pointer, byte](size_t begin, size_t count) {
      std::memset(static_cast<char*>(pointer) + begin, byte, count);
    });
  });
}

Status stream_create(ContextHandle handle, StreamHandle* out) {
  Context& context = context_of(handle);
  if (const Status state = usable(context)) return state;
  return guarded([&] {
    auto stream = std::make_unique<Stream>(context);
    Scheduler::instance().add(*stream);
    *out = stream.release();
    counts.streams.fetch_add(1);
    return status::success;
  });
}

Status stream_destroy(ContextHandle handle, StreamHandle stream) {
  counts.streams.fetch_sub(1);
  if (orphan(context_of(handle))) return status::success;
  return guarded([&] {
    Scheduler::instance().remove(stream_of(stream));
    delete &stream_of(stream);
    return status::success;
  });
}

Status stream_synchronize(ContextHandle handle, StreamHandle stream) {
  Context& context = context_of(handle);
  if (orphan(context)) return status::not_initialized;
  return guarded([&] {
    Scheduler::instance().synchronize(stream_of(stream));
    return usable(context);
  });
}

Status stream_query(ContextHandle handle, StreamHandle stream) {
  if (const Status state = usable(context_of(handle))) return state;
  return stream_of(stream).idle() ? status::success : status::not_ready;
}

// The unfinished recording that a wait has to wait for, or null.
std::shared_ptr<Mark> pending_mark(Event& event) {
  const std::lock_guard lock(event.mutex);
  if (event.mark && event.mark->done.load(std::memory_order_acquire)) {
    event.time = event.mark->time;
    event.mark = nullptr;
  }
  return event.mark;
}

Status stream_wait(ContextHandle handle, StreamHandle stream, EventHandle event) {
  if (const Status state = usable(context_of(handle))) return state;
  const std::shared_ptr<Mark> mark = pending_mark(event_of(event));
  if (!mark || mark->stream == &stream_of(stream)) return status::success;
  return guarded([&] {
    auto item = std::make_unique<Item>();
    item->kind = Item::Kind::wait;
    item->mark = mark;
    Scheduler::instance().enqueue(stream_of(stream), std::move(item));
    return status::success;
  });
}

Status event_create(ContextHandle handle, EventHandle* out) {
  if (const Status state = usable(context_of(handle))) return state;
  return guarded([&] {
    *out = new Event;
    counts.events.fetch_add(1);
    return status::success;
  });
}

Status event_destroy(ContextHandle, EventHandle event) {
  counts.events.fetch_sub(1);
  delete &event_of(event);
  return status::success;
}

Status event_record(ContextHandle handle, EventHandle event_handle, StreamHandle stream_handle) {
  if (const Status state = usable(context_of(handle))) return state;
  Event& event = event_of(event_handle);
  Stream& stream = stream_of(stream_handle);
  return guarded([&] {
    std::shared_ptr<Mark> mark;
    if (!stream.idle()) {
      mark = std::make_shared<Mark>(stream);
      auto item = std::make_unique<Item>();
      item->kind = Item::Kind::record;
      item->mark = mark;
      Scheduler::instance().enqueue(stream, std::move(item));
    }
    const std::lock_guard lock(event.mutex);
    event.recorded = true;
    event.time = host::now();
    event.mark = std::move(mark);
    return status::success;
  });
}

Status event_query(ContextHandle handle, EventHandle event) {
  if (const Status state = usable(context_of(handle))) return state;
  return pending_mark(event_of(event)) ? status::not_ready : status::success;
}

Status event_synchronize(ContextHandle handle, EventHandle event) {
  Context& context = context_of(handle);
  if (orphan(context)) return status::not_initialized;
  return guarded([&] {
    if (const std::shared_ptr<Mark> mark = pending_mark(event_of(event))) Scheduler::instance().wait(*mark);
    return usable(context);
  });
}

Status event_elapsed(ContextHandle handle, EventHandle from_handle, EventHandle to_handle, float* milliseconds) {
  if (const Status state = usable(context_of(handle))) return state;
  Event &from = event_of(from_handle), &to = event_of(to_handle);
  if (pending_mark(from) || pending_mark(to)) return status::not_ready;
  if (!from.recorded || !to.recorded) return status::invalid_handle;
  *milliseconds = float(double(to.time - from.time) * 1e-6);
  return status::success;
}

Status launch(ContextHandle handle, const abi::Launch& launch, int64_t bytes, bool synchronous, StreamHandle stream) {
  Context& context = context_of(handle);
  if (launch.blocks <= 0 || !launch.entry) return status::invalid_value;
  const auto now = [&]() -> const char* {
    if (const char* fault = take_injected_fault(context)) return fault;
    return launch.entry(launch, 0, launch.blocks);
  };
  return run(context, stream_of(stream), bytes, synchronous, now, [&] {
    const std::shared_ptr<std::byte[]> arguments(new std::byte[launch.argument_bytes]);
    std::memcpy(arguments.get(), launch.arguments, launch.argument_bytes);
    const int64_t chunk = launch.whole ? launch.blocks : chunk_of(launch.blocks);
    abi::Launch queued = launch;
    queued.arguments = arguments.get();
    return make_item(launch.blocks, chunk, [&context, arguments, queued](int64_t first, int64_t last) -> const char* {
      if (const char* fault = take_injected_fault(context)) return fault;
      return queued.entry(queued, first, last);
    });
  });
}

Status host_task(ContextHandle handle, const HostTask& task, int64_t bytes, bool synchronous, StreamHandle stream) {
  const auto now = [&]() -> const char* {
    task();
    return nullptr;
  };
  return run(context_of(handle), stream_of(stream), bytes, synchronous, now, [&] {
    return make_item(1, 1, [task](int64_t, int64_t) -> const char* {
      task();
      return nullptr;
    });
  });
}

Status inject_fault(ContextHandle handle) {
  context_of(handle).fault_next.store(true);
  return status::success;
}

std::string fault_message(ContextHandle handle) { return context_of(handle).fault_message(); }

std::array<int64_t, 5> outstanding() {
  return {counts.memory.load(), counts.pinned.load(), counts.streams.load(), counts.events.load(), counts.contexts.load()};
}

}  // namespace

const Table& host_table() {
  static constexpr Table table{
      .column = "host",
      .device_count = device_count,
      .properties = properties,
      .error_name = error_name,
      .context_create = context_create,
      .context_destroy = context_destroy,
      .memory_info = memory_info,
      .allocate = allocate,
      .free = free_memory,
      .allocate_pinned = allocate_pinned,
      .free_pinned = free_pinned,
      .allocate_managed = allocate_pinned,
      .free_managed = free_pinned,
      .prefetch = prefetch,
      .advise = advise,
      .copy = copy,
      .fill = fill_memory,
      .stream_create = stream_create,
      .stream_destroy = stream_destroy,
      .stream_synchronize = stream_synchronize,
      .stream_query = stream_query,
      .stream_wait = stream_wait,
      .event_create = event_create,
      .event_destroy = event_destroy,
      .event_record = event_record,
      .event_query = event_query,
      .event_synchronize = event_synchronize,
      .event_elapsed = event_elapsed,
      .launch = launch,
      .host_task = host_task,
      .inject_fault = inject_fault,
      .fault_message = fault_message,
      .outstanding = outstanding,
  };
  return table;
}

}  // namespace stator::runtime
