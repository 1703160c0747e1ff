// The emulated devices of the process, and what the calls of the runtime's double share.
#pragma once

#include "emulator/runtime/device.hpp"
#include "emulator/runtime/errors.hpp"
#include "emulator/runtime/graph/graph.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stator::emulator::runtime {

struct Event {
  Device* device = nullptr;
  bool timing = true;
  bool recorded = false;
  Point point = {};                              // of the last record
  std::shared_ptr<Capture> capture = {};         // in which that was, else null
  std::vector<Node*> captured = {};              // what it stands for there
  std::shared_ptr<Clock::time_point> time = {};  // when that ran

  void note_record(const Point& at, std::shared_ptr<Clock::time_point> when) {
    recorded = true;
    point = at;
    time = std::move(when);
    capture = nullptr;
    captured.clear();
  }
};

struct Pool {
  Device* device = nullptr;
  uint64_t threshold = 0;  // of what was freed, it keeps so much that `reserved` is no more than this
  size_t live = 0, reserved = 0;
  std::set<const Device*> peers = {};  // that reach its memory, besides its own device
};

// What was asked for a page of managed memory; where it lies is not modelled. Locations are devices, or one of these.
struct Page {
  static constexpr size_t bytes = 4096;
  static constexpr int cpu = -1, nowhere = -2;  // cudaCpuDeviceId, cudaInvalidDeviceId
  bool read_mostly = false;
  int preferred = nowhere, prefetched = nowhere;
  std::vector<int> accessed_by = {};
};

struct Allocation {
  enum class Kind : uint8_t { pool, plain, host, managed, registered };
  Device* device = nullptr;  // whose memory holds it; of host memory, the others have adopted it
  Kind kind = Kind::plain;
  size_t bytes = 0;
  void* pool = nullptr;          // that it was taken from
  std::vector<Page> pages = {};  // of managed memory
};

// Guarded by the scheduler's lock, but for the devices themselves.
struct System {
  System(std::vector<std::unique_ptr<Device>> made, uint64_t seed) : devices(std::move(made)), scheduler(seed) {}
  ~System();
  System(const System&) = delete;

  void* new_handle() { return reinterpret_cast<void*>(next_handle_ += 256); }

  std::vector<std::unique_ptr<Device>> devices;
  Scheduler scheduler;
  // By handles, which are never used twice, so that those of destroyed objects are known as such.
  std::unordered_map<void*, std::shared_ptr<Stream>> streams;
  std::unordered_map<void*, Event> events;
  std::unordered_map<void*, Pool> pools;
  std::unordered_map<void*, Allocation> allocations;
  Graphs graphs;
  uint64_t captures = 0;  // begun so far

  // Whether the calling process is the one that called first. As with CUDA, its children cannot call.
  bool owned() {
    const pid_t here = getpid();
    pid_t owner = 0;
    return owner_.compare_exchange_strong(owner, here) || owner == here;
  }

 private:
  uintptr_t next_handle_ = uintptr_t(0x7e57) << 32;
  std::atomic<pid_t> owner_{0};
};

// Null until devices were made.
System* system();
// The devices that the text describes become the process's; false with the reason when it is not understood.
bool make_system(const std::string& text, std::string* reason);

// The state that CUDA keeps per thread.
struct ThreadState {
  int device = 0;
  int last_error = error::success;
  CaptureMode capture_mode = CaptureMode::global;
  std::string_view work;  // what its caller says it enqueues
};
ThreadState& thread_state();

// The current device of the thread.
inline Device& here(System& s) { return *s.devices[size_t(thread_state().device) % s.devices.size()]; }
inline Device* device_at(System& s, int index) {
  return index >= 0 && size_t(index) < s.devices.size() ? s.devices[size_t(index)].get() : nullptr;
}
// The stream that the handle names on the current device, with the lock; null if there is none, or no longer.
std::shared_ptr<Stream> find_stream(System& s, void* handle);
// Enqueues with the rules of default streams; into a graph, as a node, while the stream is captured.
Point submit(System& s, Scheduler::Lock& lock, const std::shared_ptr<Stream>& stream, Work work);
// The same for an operation, with the error where the stream cannot take it.
int issue(System& s, Scheduler::Lock& lock, const std::shared_ptr<Stream>& stream, const OperationPointer& operation,
          Point* point = nullptr);
// Adds a node to the graph into which the stream is captured, after what the stream has captured so far.
Node& capture_node(System& s, Stream& stream, const OperationPointer& operation,
                   std::vector<std::shared_ptr<Graph>> bodies = {});
// Refuses a call that captures forbid since it takes part in none and may wait, such as cudaMalloc. The captures that
// forbid it are invalid then.
int uncaptured(System& s);
// The bytes count as never written.
void forget_contents(Memory& memory, const void* pointer, uint64_t bytes);
// The capture that a call about the legacy default stream would end: that of a blocking stream. Null if there is none.
std::shared_ptr<Capture> capture_across(System& s, const Stream& stream);
// Makes a capture invalid, if there is one, and gives the status of the call that did.
int invalidated(const std::shared_ptr<Capture>& capture, int code);
// Waits for all work of the device. False from within work.
bool drain(System& s, Scheduler::Lock& lock, const Device& device);
// Whether devices are of one kind, which reach each other's memory: copies do, where a pool lets them; kernels do not.
bool are_peers(const Device& device, const Device& other);
// The device whose memory holds the address, for host memory any; null for memory of the host that no device knows.
Device* owner_of(System& s, const void* pointer);

// Keeps an error for cudaGetLastError.
inline int remembered(int code) {
  if (code != error::success) thread_state().last_error = code;
  return code;
}

// Runs a call: without devices, in a child of the process that used them, and without memory it fails as CUDA does.
template <class F>
int call(F f) {
  System* const s = system();
  if (!s) return remembered(error::no_device);
  if (!s->owned()) return remembered(error::initialization);
  try {
    return remembered(f(*s));
  } catch (const std::bad_alloc&) {
    return remembered(error::memory_allocation);
  }
}

// A call that uses the context of the current device, which a fault makes unusable.
template <class F>
int device_call(F f) {
  return call([&](System& s) {
    Device& device = here(s);
    if (device.failed()) return device.error();
    Scheduler::Lock lock = s.scheduler.lock();
    const int code = f(s, device, lock);
    return code == error::success && device.failed() ? device.error() : code;
  });
}

}  // namespace stator::emulator::runtime
