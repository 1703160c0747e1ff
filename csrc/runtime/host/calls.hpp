// The calls of the host table, grouped by the file that defines them, and their common helpers.
#pragma once

#include "runtime/host/stream.hpp"

#include <new>

namespace stator::runtime::host {

// Objects that were created and not released.
struct Counts {
  std::atomic<int64_t> memory{0}, pinned{0}, streams{0}, events{0}, contexts{0}, graphs{0};
};
extern Counts counts;

inline Context& context_of(ContextHandle handle) { return *static_cast<Context*>(handle); }
inline Stream& stream_of(StreamHandle handle) { return *static_cast<Stream*>(handle); }

// A context of the parent process of a fork: its locks must not be taken here, nor its work waited for.
inline bool orphan(const Context& context) { return context.epoch != host::process_epoch(); }

inline Status usable(const Context& context) {
  if (orphan(context)) return status::not_initialized;
  return context.faulted.load(std::memory_order_acquire) ? status::launch_failure : status::success;
}

// Turns exceptions into statuses: no member of the table throws.
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

extern const ManagedTable managed_calls;  // managed.cpp

// work.cpp
Status copy(ContextHandle, void* to, const void* from, size_t bytes, CopyKind, StreamHandle);
Status fill(ContextHandle, void* pointer, int byte, size_t bytes, StreamHandle);
Status prepare(ContextHandle, const std::string_view* families, size_t count);
Status launch(ContextHandle, const params::Launch&, int64_t bytes, bool synchronous, StreamHandle);
Status host_work(ContextHandle, const HostWork&, int64_t pieces, int64_t bytes, bool synchronous, StreamHandle);
Status host_function(ContextHandle, HostFunction function, void* data, StreamHandle);
std::unique_ptr<Item> make_item(int64_t blocks, int64_t chunk, Item::Body body);

// event.cpp
Status stream_create(ContextHandle, int priority, StreamHandle* out);
Status stream_priorities(ContextHandle, PriorityRange* out);
Status stream_properties(ContextHandle, StreamHandle, StreamProperties* out);
Status stream_destroy(ContextHandle, StreamHandle);
Status stream_synchronize(ContextHandle, StreamHandle);
Status stream_query(ContextHandle, StreamHandle);
Status stream_capturing(ContextHandle, StreamHandle, bool* out);
Status stream_wait(ContextHandle, StreamHandle, EventHandle);
Status event_create(ContextHandle, EventHandle* out);
Status event_destroy(ContextHandle, EventHandle);
Status event_record(ContextHandle, EventHandle, StreamHandle);
Status event_query(ContextHandle, EventHandle);
Status event_synchronize(ContextHandle, EventHandle);
Status event_elapsed(ContextHandle, EventHandle from, EventHandle to, float* milliseconds);

}  // namespace stator::runtime::host
