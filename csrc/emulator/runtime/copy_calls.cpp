// Copies and fills.
#include "emulator/runtime/calls.hpp"
#include "emulator/runtime/system.hpp"

#include <sys/uio.h>

#include <cerrno>
#include <cstring>

namespace stator::emulator::runtime {
namespace {

enum Direction : int { host_to_host, host_to_device, device_to_host, device_to_device, by_pointers };

// One end of a copy.
struct End {
  Device* device = nullptr;  // that knows the memory; null for pageable memory of the host
  MemoryKind kind = MemoryKind::pinned;
  bool inside = true;  // within one allocation

  bool of_host() const { return kind != MemoryKind::device && kind != MemoryKind::constant; }
};

// Whether work of the device reaches the end.
bool reaches(System& s, const Device& device, const End& end, const void* pointer) {
  if (!end.device || end.device == &device || end.of_host()) return true;
  if (!are_peers(device, *end.device)) return false;
  uint64_t base, size;
  MemoryKind kind;
  if (!end.device->memory.lookup(pointer, base, size, kind)) return false;
  const auto allocation = s.allocations.find(reinterpret_cast<void*>(base));
  if (allocation == s.allocations.end() || allocation->second.kind != Allocation::Kind::pool) return true;
  const auto pool = s.pools.find(allocation->second.pool);
  return pool != s.pools.end() && pool->second.peers.contains(&device);
}

End end_of(System& s, const void* pointer, size_t bytes) {
  End end;
  uint64_t base, size;
  end.device = owner_of(s, pointer);
  if (end.device && end.device->memory.lookup(pointer, base, size, end.kind))
    end.inside = reinterpret_cast<uint64_t>(pointer) + bytes <= base + size;
  return end;
}

bool fits(Direction direction, const End& to, const End& from) {
  switch (direction) {
    case host_to_host: return to.of_host() && from.of_host();
    case host_to_device: return to.device && from.of_host();
    case device_to_host: return to.of_host() && from.device;
    case device_to_device: return to.device && from.device;
    case by_pointers: break;
  }
  return true;
}

// Through the kernel, which says so where the memory is not there any more. Where that is forbidden: directly.
Report by_kernel(ssize_t (*transfer)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long),
                 void* to, void* from, void* remote, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    char* const mine = static_cast<char*>(remote == to ? from : to) + done;
    const iovec here{mine, bytes - done}, there{static_cast<char*>(remote) + done, bytes - done};
    const ssize_t moved = transfer(getpid(), &here, 1, &there, 1, 0);
    if (moved > 0) {
      done += size_t(moved);
      continue;
    }
    if (errno == EPERM || errno == ENOSYS) {
      std::memmove(to, from, bytes);
      return {};
    }
    Report report;
    report.fault = Fault::host_memory;
    report.address = reinterpret_cast<uint64_t>(there.iov_base);
    report.sentence =
        "The copy runs when its pageable memory of the host is gone: CUDA may read or write it after the "
        "call returned.";
    return report;
  }
  return {};
}

Report move(void* to, Device* to_device, const void* from_const, Device* from_device, size_t bytes) {
  void* const from = const_cast<void*>(from_const);
  if (to_device && to_device == from_device) return to_device->memory.copy(to, from, bytes);
  Report report;
  if (from_device) report = from_device->memory.check_read(from, bytes, false);
  if (!report && to_device) report = to_device->memory.check_write(to, bytes);
  if (report) return report;
  if (!from_device)
    report = by_kernel(process_vm_readv, to, from, from, bytes);
  else if (!to_device)
    report = by_kernel(process_vm_writev, to, from, to, bytes);
  else
    std::memmove(to, from, bytes);
  if (!report && to_device) to_device->memory.mark_initialised(to, bytes);
  return report;
}

// A copy between pageable memory and the device may be as late as any other; one between two ranges of the host is done
// on return, unless it is captured.
int copy(void* to, const void* from, size_t bytes, int kind, void* stream_handle) {
  return device_call([&](System& s, Device&, Scheduler::Lock& lock) {
    const std::shared_ptr<Stream> stream = find_stream(s, stream_handle);
    if (!stream) return error::invalid_resource_handle;
    if (kind < host_to_host || kind > by_pointers) return error::invalid_memcpy_direction;
    if (bytes == 0) return error::success;
    OperationPointer operation;
    if (const int code = make_copy(s, *stream->device, {to, from, bytes, kind}, &operation)) return code;
    Point point;
    if (const int code = issue(s, lock, stream, operation, &point)) return code;
    const auto& made = static_cast<const CopyOperation&>(*operation);
    if (!made.to_device && !made.from_device && !s.scheduler.wait(lock, point)) return error::not_permitted;
    return error::success;
  });
}

int copy_peer(void* to, int to_device, const void* from, int from_device, size_t bytes, void* stream_handle) {
  return device_call([&](System& s, Device&, Scheduler::Lock& lock) {
    const std::shared_ptr<Stream> stream = find_stream(s, stream_handle);
    if (!stream) return error::invalid_resource_handle;
    const Device *const target = device_at(s, to_device), *const source = device_at(s, from_device);
    if (!target || !source) return error::invalid_device;
    if (bytes == 0) return error::success;
    OperationPointer operation;
    const bool staged = target != source && !are_peers(*target, *source);
    if (const int code = make_copy(s, *stream->device, {to, from, bytes, by_pointers}, &operation, staged)) return code;
    return issue(s, lock, stream, operation);
  });
}

int fill(void* pointer, int byte, size_t bytes, void* stream_handle) {
  return device_call([&](System& s, Device&, Scheduler::Lock& lock) {
    const std::shared_ptr<Stream> stream = find_stream(s, stream_handle);
    if (!stream) return error::invalid_resource_handle;
    if (bytes == 0) return error::success;
    OperationPointer operation;
    const FillCall call{.to = pointer, .value = uint32_t(byte) & 0xff, .width = bytes};
    if (const int code = make_fill(s, *stream->device, call, &operation)) return code;
    return issue(s, lock, stream, operation);
  });
}

}  // namespace

int make_copy(System& s, Device& device, const CopyCall& call, OperationPointer* out, bool staged) {
  if (call.kind < host_to_host || call.kind > by_pointers) return error::invalid_memcpy_direction;
  const End target = end_of(s, call.to, call.bytes), source = end_of(s, call.from, call.bytes);
  if (!call.to || !call.from || !fits(Direction(call.kind), target, source) || !target.inside || !source.inside)
    return error::invalid_value;
  if (!staged && !(reaches(s, device, target, call.to) && reaches(s, device, source, call.from)))
    return error::invalid_value;
  const auto made = std::make_shared<CopyOperation>(&device);
  made->to = call.to;
  made->from = call.from;
  made->bytes = call.bytes;
  made->direction = call.kind;
  made->to_device = target.device;
  made->from_device = source.device;
  made->to_kind = target.kind;
  made->from_kind = source.kind;
  *out = made;
  return error::success;
}

int make_fill(System& s, Device& device, const FillCall& call, OperationPointer* out) {
  const uint32_t size = call.element_bytes;
  const size_t row = call.width * size;
  if ((size != 1 && size != 2 && size != 4) || !row || !call.height || (call.height > 1 && call.pitch < row))
    return error::invalid_value;
  const End target = end_of(s, call.to, (call.height - 1) * call.pitch + row);
  if (!target.device || !target.inside || reinterpret_cast<uint64_t>(call.to) % size) return error::invalid_value;
  const auto made = std::make_shared<FillOperation>(&device);
  made->call = call;
  made->owner = target.device;
  made->kind = target.kind;
  *out = made;
  return error::success;
}

Report CopyOperation::run() const { return move(to, to_device, from, from_device, bytes); }

Report FillOperation::run() const {
  std::vector<std::byte> row(call.element_bytes == 1 ? 0 : call.width * call.element_bytes);
  for (size_t i = 0; i < row.size(); i += call.element_bytes) std::memcpy(&row[i], &call.value, call.element_bytes);
  for (size_t y = 0; y < call.height; ++y) {
    std::byte* const at = static_cast<std::byte*>(call.to) + y * call.pitch;
    const Report report = row.empty() ? owner->memory.fill(at, int(call.value), call.width)
                                      : owner->memory.write(at, row.data(), row.size());
    if (report) return report;
  }
  return {};
}

void add_copy_calls(Api& api) {
  api.copy = copy;
  api.copy_peer = copy_peer;
  api.fill = fill;
}

}  // namespace stator::emulator::runtime
