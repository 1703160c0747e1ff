// What the doubles of vendor libraries are given.
#include "emulator/services.hpp"

#include "emulator/export.hpp"
#include "emulator/runtime/record.hpp"
#include "emulator/runtime/system.hpp"

namespace stator::emulator::runtime {
namespace {

// The device whose work runs on this thread, else the current one.
Device* device_in_charge() {
  System* const s = system();
  if (Device* const running = running_device()) return running;
  return s ? &here(*s) : nullptr;
}

struct Task {
  void (*run)(void*);
  void (*destroy)(void*);
  void* argument;
  Task(void (*with)(void*), void (*after)(void*), void* on) : run(with), destroy(after), argument(on) {}
  Task(const Task&) = delete;
  ~Task() {
    if (destroy) destroy(argument);
  }
};

int enqueue(void* stream_handle, const char* what, void (*run)(void*), void (*destroy)(void*), void* argument) {
  const auto task = std::make_shared<Task>(run, destroy, argument);
  return device_call([&](System& s, Device&, Scheduler::Lock& lock) {
    const std::shared_ptr<Stream> stream = find_stream(s, stream_handle);
    if (!stream) return error::invalid_resource_handle;
    const auto perform = [task] {
      task->run(task->argument);
      return Report{};
    };
    return issue(s, lock, stream,
                 std::make_shared<TaskOperation>(NodeType::kernel, stream->device, what ? what : "", perform));
  });
}

bool is_capturing(void* handle) {
  System* const s = system();
  if (!s) return false;
  const Scheduler::Lock lock = s->scheduler.lock();
  const std::shared_ptr<Stream> stream = find_stream(*s, handle);
  return stream && stream->capture;
}

bool is_stream(void* handle) {
  System* const s = system();
  if (!s) return false;
  const Scheduler::Lock lock = s->scheduler.lock();
  const std::shared_ptr<Stream> stream = find_stream(*s, handle);
  return stream && stream->device == &here(*s);
}

int wait_for_stream(void* handle) {
  return device_call([&](System& s, Device&, Scheduler::Lock& lock) {
    const std::shared_ptr<Stream> stream = find_stream(s, handle);
    if (!stream) return error::invalid_resource_handle;
    if (stream->capture) return invalidated(stream->capture, error::capture_unsupported);
    return s.scheduler.wait(lock, {stream, stream->enqueued}) ? stream->device->error() : error::not_permitted;
  });
}

int current_device() {
  System* const s = system();
  return s ? here(*s).index : 0;
}

int compute_capability(int index) {
  System* const s = system();
  const Device* const device = s ? device_at(*s, index) : nullptr;
  return device ? int(device->profile.major * 10 + device->profile.minor) : 0;
}

// Applies to each piece of the range, up to the first report.
template <class F>
bool checked(const Range& range, const char* what, F f) {
  Device* const device = device_in_charge();
  if (!device) return false;
  for (uint64_t row = 0; row < range.rows; ++row) {
    const Report report =
        f(device->memory, static_cast<const std::byte*>(range.start) + row * range.pitch, range.width);
    if (!report) continue;
    device->fail(report, what);
    return false;
  }
  return true;
}

bool check_read(const Range& range, const char* what) {
  return checked(range, what, [](Memory& m, const void* at, uint64_t bytes) { return m.check_read(at, bytes); });
}

bool check_write(const Range& range, const char* what) {
  return checked(range, what, [](Memory& m, const void* at, uint64_t bytes) { return m.check_write(at, bytes); });
}

void mark_written(const Range& range) {
  checked(range, "", [](Memory& m, const void* at, uint64_t bytes) {
    m.mark_initialised(at, bytes);
    return Report{};
  });
}

void mark_garbage(const Range& range) {
  checked(range, "", [](Memory& m, const void* at, uint64_t bytes) {
    forget_contents(m, at, bytes);
    return Report{};
  });
}

PointerType pointer_type(const void* pointer) {
  Device* const device = device_in_charge();
  uint64_t base, bytes;
  MemoryKind kind;
  if (!device) return PointerType::host;
  if (device->memory.lookup(pointer, base, bytes, kind))
    return kind == MemoryKind::pinned    ? PointerType::pinned
           : kind == MemoryKind::managed ? PointerType::managed
                                         : PointerType::device;
  return PointerType::host;
}

void* allocate(uint64_t bytes, const char* label) {
  Device* const device = device_in_charge();
  return device ? device->memory.allocate(bytes, MemoryKind::device, label ? label : "") : nullptr;
}

void release(void* pointer) {
  System* const s = system();
  if (!s) return;
  for (const auto& device : s->devices)
    if (!device->memory.free(pointer)) return;
}

void report(const char* what, const char* sentence, bool sticky) {
  Device* const device = device_in_charge();
  if (!device) return;
  Report made;
  made.fault = Fault::trap;
  made.sentence = sentence;
  if (sticky)
    device->fail(made, what);
  else
    device->tell(made, what);
}

uint64_t seed() {
  System* const s = system();
  return s ? here(*s).settings.seed : 0;
}

constexpr Services services{.bytes = sizeof(Services),
                            .enqueue = enqueue,
                            .is_capturing = is_capturing,
                            .is_stream = is_stream,
                            .synchronize = wait_for_stream,
                            .current_device = current_device,
                            .compute_capability = compute_capability,
                            .check_read = check_read,
                            .check_write = check_write,
                            .mark_written = mark_written,
                            .mark_garbage = mark_garbage,
                            .pointer_type = pointer_type,
                            .allocate = allocate,
                            .release = release,
                            .report = report,
                            .seed = seed,
                            .count_calls = note_calls};

}  // namespace
}  // namespace stator::emulator::runtime

extern "C" STATOR_EMULATOR_API const stator::emulator::Services* stator_emulator_services() {
  return &stator::emulator::runtime::services;
}
