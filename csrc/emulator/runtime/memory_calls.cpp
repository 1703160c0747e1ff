// Allocations: stream-ordered pools, plain and managed memory, memory of the host.
#include "emulator/runtime/calls.hpp"
#include "emulator/runtime/system.hpp"

namespace stator::emulator::runtime {
namespace {

int create_pool(void** pool, int index) {
  return device_call([&](System& s, Device&, Scheduler::Lock&) {
    Device* const device = device_at(s, index);
    if (!device) return error::invalid_value;
    *pool = s.new_handle();
    s.pools.emplace(*pool, Pool{device});
    return error::success;
  });
}

// What was taken from the pool stays valid until it is freed.
int destroy_pool(void* pool) {
  return device_call([&](System& s, Device&, Scheduler::Lock&) {
    return s.pools.erase(pool) ? error::success : error::invalid_value;
  });
}

int set_pool_attribute(void* pool, int attribute, void* value) {
  constexpr int release_threshold = 4;  // cudaMemPoolAttrReleaseThreshold
  return device_call([&](System& s, Device&, Scheduler::Lock&) {
    const auto entry = s.pools.find(pool);
    if (entry == s.pools.end() || attribute != release_threshold || !value) return error::invalid_value;
    entry->second.threshold = *static_cast<const uint64_t*>(value);
    return error::success;
  });
}

int get_pool_attribute(void* pool, int attribute, void* value) {
  constexpr int reserved = 5, used = 7;  // cudaMemPoolAttrReservedMemCurrent and cudaMemPoolAttrUsedMemCurrent
  return device_call([&](System& s, Device&, Scheduler::Lock&) {
    const auto entry = s.pools.find(pool);
    if (entry == s.pools.end() || (attribute != reserved && attribute != used) || !value) return error::invalid_value;
    *static_cast<uint64_t*>(value) = attribute == reserved ? entry->second.reserved : entry->second.live;
    return error::success;
  });
}

int trim_pool(void* pool, size_t bytes) {
  return device_call([&](System& s, Device&, Scheduler::Lock&) {
    const auto entry = s.pools.find(pool);
    if (entry == s.pools.end()) return error::invalid_value;
    entry->second.reserved = std::max(entry->second.live, std::min(entry->second.reserved, bytes));
    return error::success;
  });
}

int set_pool_access(void* pool, int index, int flags) {
  constexpr int nothing = 0, all = 3;  // cudaMemAccessFlagsProtNone and cudaMemAccessFlagsProtReadWrite
  return device_call([&](System& s, Device&, Scheduler::Lock&) {
    const auto entry = s.pools.find(pool);
    const Device* const device = device_at(s, index);
    if (entry == s.pools.end() || !device || (flags != nothing && flags != all)) return error::invalid_value;
    const bool own = device == entry->second.device;
    if (own ? flags == nothing : !are_peers(*device, *entry->second.device)) return error::invalid_device;
    if (own) return error::success;
    if (flags == all)
      entry->second.peers.insert(device);
    else
      entry->second.peers.erase(device);
    return error::success;
  });
}

// What the pools of a device keep of freed memory, but for one of them.
size_t kept_bytes(const System& s, const Device& device, const void* except) {
  size_t bytes = 0;
  for (const auto& [handle, pool] : s.pools)
    if (pool.device == &device && handle != except) bytes += pool.reserved - pool.live;
  return bytes;
}

int memory_info(size_t* free, size_t* total) {
  return device_call([&](System& s, Device& device, Scheduler::Lock&) {
    *total = device.memory.capacity();
    *free = *total - std::min<size_t>(device.memory.live_bytes() + kept_bytes(s, device, nullptr), *total);
    return error::success;
  });
}

// Memory that frees in the streams still hold is there once they ran.
void* take(System& s, Scheduler::Lock& lock, Device& device, size_t bytes, MemoryKind kind,
           Allocation::Kind allocation_kind, void* pool = nullptr) {
  const size_t kept = kind == MemoryKind::device ? kept_bytes(s, device, pool) : 0;
  const auto try_once = [&]() -> void* {
    if (kept && device.memory.live_bytes() + kept + bytes > device.memory.capacity()) return nullptr;
    return device.memory.allocate(bytes, kind);
  };
  void* pointer = try_once();
  if (!pointer && drain(s, lock, device)) pointer = try_once();
  if (pointer) s.allocations.emplace(pointer, Allocation{&device, allocation_kind, bytes, pool, {}});
  return pointer;
}

// The figures of a pool change at the call, since only the host asks for them.
void count_in_pool(System& s, void* handle, size_t taken, size_t given) {
  const auto entry = s.pools.find(handle);
  if (entry == s.pools.end()) return;
  Pool& pool = entry->second;
  pool.live += taken;
  pool.live -= given;
  pool.reserved = std::max(pool.live, std::min<size_t>(pool.reserved, pool.threshold));
}

int allocate(void** pointer, size_t bytes) {
  return device_call([&](System& s, Device& device, Scheduler::Lock& lock) {
    if (const int code = uncaptured(s)) return code;
    *pointer = bytes ? take(s, lock, device, bytes, MemoryKind::device, Allocation::Kind::plain) : nullptr;
    return *pointer || !bytes ? error::success : error::memory_allocation;
  });
}

// The error of a call about memory where its stream is captured, or waits for one that is.
int captured_error(System& s, const Stream& stream, const char* call) {
  if (const auto capture = capture_across(s, stream)) return invalidated(capture, error::capture_implicit);
  if (!stream.capture) return error::success;
  Report report;
  report.fault = Fault::unsupported;
  report.sentence = "Graphs of emulated devices have no memory nodes: allocate before the capture, and free after it.";
  stream.device->tell(report, call);
  return error::not_supported;
}

int allocate_from_pool(void** pointer, size_t bytes, void* pool, void* stream) {
  return device_call([&](System& s, Device&, Scheduler::Lock& lock) {
    const auto entry = s.pools.find(pool);
    if (entry == s.pools.end() || bytes == 0) return error::invalid_value;
    const std::shared_ptr<Stream> taker = find_stream(s, stream);
    if (!taker) return error::invalid_resource_handle;
    if (const int code = captured_error(s, *taker, "cudaMallocAsync")) return code;
    Device* const device = entry->second.device;
    *pointer = take(s, lock, *device, bytes, MemoryKind::device, Allocation::Kind::pool, pool);
    if (!*pointer) return error::memory_allocation;
    count_in_pool(s, pool, bytes, 0);
    if (taker->done != taker->enqueued) {  // work that the stream's order does not put after it must not use it yet
      device->memory.lend(*pointer, 0);
      submit(s, lock, taker,
             {.what = "cudaMallocFromPoolAsync",
              .run = [=, at = *pointer] { return device->memory.lend(at, bytes); },
              .after = {}});
    }
    return error::success;
  });
}

// An access that the stream's order does not put before the free meets dead memory as soon as the free has run.
int free_in_order(void* pointer, void* stream_handle) {
  return device_call([&](System& s, Device&, Scheduler::Lock& lock) {
    if (!pointer) return error::success;
    const std::shared_ptr<Stream> stream = find_stream(s, stream_handle);
    if (!stream) return error::invalid_resource_handle;
    if (const int code = captured_error(s, *stream, "cudaFreeAsync")) return code;
    const auto entry = s.allocations.find(pointer);
    if (entry == s.allocations.end() || entry->second.kind != Allocation::Kind::pool) return error::invalid_value;
    Device* const device = entry->second.device;
    count_in_pool(s, entry->second.pool, 0, entry->second.bytes);
    s.allocations.erase(entry);
    submit(s, lock, stream,
           {.what = "cudaFreeAsync", .run = [=] { return device->memory.free(pointer); }, .after = {}});
    return error::success;
  });
}

int lend(void* pointer, size_t bytes, void* stream_handle) {
  return device_call([&](System& s, Device&, Scheduler::Lock& lock) {
    const std::shared_ptr<Stream> stream = find_stream(s, stream_handle);
    const auto entry = s.allocations.find(pointer);
    if (!stream || stream->capture || entry == s.allocations.end()) return error::invalid_value;
    const auto run = [=, device = entry->second.device] { return device->memory.lend(pointer, bytes); };
    if (stream->done == stream->enqueued)
      run();
    else
      submit(s, lock, stream, {.what = "memory is handed on", .run = run, .after = {}});
    return error::success;
  });
}

void forget(System& s, void* pointer) {
  for (const auto& device : s.devices) device->memory.free(pointer);  // where another one adopted it
}

// Of memory from a pool, CUDA assumes that all its uses are over; else it waits for the device.
int free(void* pointer) {
  return device_call([&](System& s, Device&, Scheduler::Lock& lock) {
    if (!pointer) return error::success;
    if (const int code = uncaptured(s)) return code;
    const auto entry = s.allocations.find(pointer);
    if (entry == s.allocations.end() || entry->second.kind == Allocation::Kind::host ||
        entry->second.kind == Allocation::Kind::registered)
      return error::invalid_value;
    const Allocation freed = entry->second;
    count_in_pool(s, freed.pool, 0, freed.bytes);
    s.allocations.erase(entry);
    if (freed.kind != Allocation::Kind::pool)
      for (const auto& device : s.devices)
        if ((freed.kind == Allocation::Kind::managed || device.get() == freed.device) && !drain(s, lock, *device))
          return error::not_permitted;
    forget(s, pointer);
    return error::success;
  });
}

// The host's writes are not seen, so that all of it counts as written; every device reaches it.
int take_shared(System& s, Scheduler::Lock& lock, Device& device, void** pointer, size_t bytes, MemoryKind kind,
                Allocation::Kind allocation_kind) {
  *pointer = take(s, lock, device, bytes, kind, allocation_kind);
  if (!*pointer) return error::memory_allocation;
  device.memory.mark_initialised(*pointer, bytes);
  for (const auto& other : s.devices)
    if (other.get() != &device) other->memory.adopt(*pointer, bytes);
  return error::success;
}

int host_allocate(void** pointer, size_t bytes, unsigned flags) {
  return device_call([&](System& s, Device& device, Scheduler::Lock& lock) {
    if (flags > 7) return error::invalid_value;
    if (const int code = uncaptured(s)) return code;
    *pointer = nullptr;
    if (!bytes) return error::success;
    return take_shared(s, lock, device, pointer, bytes, MemoryKind::pinned, Allocation::Kind::host);
  });
}

// Waits for the work of all devices, as CUDA's does, though its documentation does not say so.
int host_free(void* pointer) {
  return device_call([&](System& s, Device&, Scheduler::Lock& lock) {
    if (!pointer) return error::success;
    if (const int code = uncaptured(s)) return code;
    const auto entry = s.allocations.find(pointer);
    if (entry == s.allocations.end() || entry->second.kind != Allocation::Kind::host) return error::invalid_value;
    s.allocations.erase(entry);
    for (const auto& device : s.devices)
      if (!drain(s, lock, *device)) return error::not_permitted;
    forget(s, pointer);
    return error::success;
  });
}

// Memory of the host's own, of which no byte may be registered or allocated already. Every device reaches it.
int host_register(void* pointer, size_t bytes, unsigned flags) {
  return device_call([&](System& s, Device& device, Scheduler::Lock&) {
    if (!pointer || !bytes || flags > 15) return error::invalid_value;
    if (const int code = uncaptured(s)) return code;
    for (auto to = s.devices.begin(); to != s.devices.end(); ++to) {
      if (!(*to)->memory.adopt(pointer, bytes, "registered memory of the host")) continue;
      for (auto undone = s.devices.begin(); undone != to; ++undone) (*undone)->memory.free(pointer);
      return error::already_registered;
    }
    s.allocations.emplace(pointer, Allocation{&device, Allocation::Kind::registered, bytes, nullptr});
    return error::success;
  });
}

// CUDA says nothing of work that still uses the memory: a copy that runs later meets memory that is not registered.
int host_unregister(void* pointer) {
  return device_call([&](System& s, Device&, Scheduler::Lock&) {
    if (const int code = uncaptured(s)) return code;
    const auto entry = s.allocations.find(pointer);
    if (entry == s.allocations.end() || entry->second.kind != Allocation::Kind::registered)
      return pointer ? error::not_registered : error::invalid_value;
    s.allocations.erase(entry);
    forget(s, pointer);
    return error::success;
  });
}

int managed_allocate(void** pointer, size_t bytes, unsigned flags) {
  return device_call([&](System& s, Device& device, Scheduler::Lock& lock) {
    if (!bytes || (flags != 1 && flags != 2)) return error::invalid_value;
    if (const int code = uncaptured(s)) return code;
    const int code = take_shared(s, lock, device, pointer, bytes, MemoryKind::managed, Allocation::Kind::managed);
    if (code == error::success) s.allocations.at(*pointer).pages.resize((bytes + Page::bytes - 1) / Page::bytes);
    return code;
  });
}

int pointer_attributes(const void* pointer, int* type, int* index) {
  return device_call([&](System& s, Device& device, Scheduler::Lock&) {
    uint64_t base, bytes;
    MemoryKind kind;
    Device* const owner = owner_of(s, pointer);
    *type = 0;
    *index = owner ? owner->index : device.index;
    if (owner && owner->memory.lookup(pointer, base, bytes, kind))
      *type = kind == MemoryKind::pinned ? 1 : kind == MemoryKind::managed ? 3 : 2;
    return error::success;
  });
}

}  // namespace

void add_memory_calls(Api& api) {
  api.pool_create = create_pool;
  api.pool_destroy = destroy_pool;
  api.pool_set_attribute = set_pool_attribute;
  api.pool_get_attribute = get_pool_attribute;
  api.pool_trim = trim_pool;
  api.pool_set_access = set_pool_access;
  api.memory_info = memory_info;
  api.allocate = allocate;
  api.allocate_from_pool = allocate_from_pool;
  api.free_in_order = free_in_order;
  api.free = free;
  api.lend = lend;
  api.host_allocate = host_allocate;
  api.host_free = host_free;
  api.host_register = host_register;
  api.host_unregister = host_unregister;
  api.managed_allocate = managed_allocate;
  api.pointer_attributes = pointer_attributes;
}

}  // namespace stator::emulator::runtime
