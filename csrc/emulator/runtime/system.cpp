#include "emulator/runtime/system.hpp"

#include "emulator/runtime/record.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace stator::emulator::runtime {
namespace {

std::unique_ptr<System>& instance() {
  // Never destroyed: threads may still call while the process exits.
  static auto* const kept = new std::unique_ptr<System>;
  return *kept;
}

std::string_view take(std::string_view& rest, char separator) {
  const size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

template <class T>
bool number_after(std::string_view word, std::string_view prefix, T* out) {
  if (!word.starts_with(prefix)) return false;
  word.remove_prefix(prefix.size());
  const auto parsed = std::from_chars(word.data(), word.data() + word.size(), *out);
  return parsed.ec == std::errc{} && parsed.ptr == word.data() + word.size();
}

bool read_option(std::string_view word, Settings* settings) {
  if (word == "races")
    settings->races = true;
  else if (word == "strict")
    settings->strict = true;
  else if (word == "perturb")
    settings->perturb = true;
  else if (word == "cache")
    settings->cache = true;
  else
    return number_after(word, "seed=", &settings->seed) ||
           (number_after(word, "threads=", &settings->threads) && settings->threads > 0) ||
           (number_after(word, "budget=", &settings->budget) && settings->budget > 0);
  return true;
}

Settings default_settings() {
  Settings settings;
  settings.threads = std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
  settings.forms = records_forms();
  return settings;
}

}  // namespace

System* system() { return instance().get(); }

bool make_system(const std::string& text, std::string* reason) {
  std::vector<std::unique_ptr<Device>> devices;
  std::string_view rest = text;
  do {
    std::string_view description = take(rest, ',');
    const std::string_view name = take(description, ':');
    const Profile* const profile = find_profile(name);
    if (!profile) {
      *reason = "'" + std::string(name) + "' is not a device profile; the profiles are " + profile_names();
      return false;
    }
    Settings settings = default_settings();
    while (!description.empty()) {
      const std::string_view word = take(description, ':');
      if (read_option(word, &settings)) continue;
      *reason = "'" + std::string(word) +
                "' is not an option of an emulated device; the options are races, strict, perturb, cache, " +
                "seed=N, threads=N and budget=N";
      return false;
    }
    devices.push_back(std::make_unique<Device>(int(devices.size()), *profile, settings));
  } while (!rest.empty());
  const uint64_t seed = devices.front()->settings.seed;
  instance() = std::make_unique<System>(std::move(devices), seed);
  System& made = *instance();
  for (const auto& device : made.devices) made.scheduler.add(device->legacy);
  thread_state() = {};
  return true;
}

// Work refers to devices, and streams are kept by work.
System::~System() {
  for (const auto& stream : scheduler.streams()) stream->queue.clear();
}

ThreadState& thread_state() {
  thread_local ThreadState state;
  return state;
}

std::shared_ptr<Stream> find_stream(System& s, void* handle) {
  Device& device = here(s);
  const auto number = reinterpret_cast<uintptr_t>(handle);
  if (number <= 1) return device.legacy;
  if (number == 2) {
    std::shared_ptr<Stream>& mine = device.per_thread[std::this_thread::get_id()];
    if (!mine) {
      mine = std::make_shared<Stream>(Stream{.device = &device});
      s.scheduler.add(mine);
    }
    return mine;
  }
  const auto entry = s.streams.find(handle);
  return entry == s.streams.end() ? nullptr : entry->second;
}

namespace {

// With what the calling thread says it enqueues.
std::string named(const std::string& what) {
  const std::string_view name = thread_state().work;
  return name.empty() ? what : std::string(name) + (what.empty() ? "" : ", ") + what;
}

}  // namespace

// Work of the legacy default stream comes after all work of the device's blocking streams, and before what they get
// later.
Point submit(System& s, Scheduler::Lock& lock, const std::shared_ptr<Stream>& stream, Work work) {
  if (stream->capture) {
    capture_node(s, *stream,
                 std::make_shared<TaskOperation>(NodeType::host, stream->device, work.what, std::move(work.run)));
    return {};
  }
  work.what = named(work.what);
  const std::shared_ptr<Stream>& legacy = stream->device->legacy;
  if (stream == legacy) {
    for (const auto& other : s.scheduler.streams())
      if (other != legacy && other->device == stream->device && other->blocking)
        work.after.push_back({other, other->enqueued});
  } else if (stream->blocking) {
    work.after.push_back({legacy, legacy->enqueued});
  }
  return s.scheduler.enqueue(lock, stream, std::move(work));
}

int issue(System& s, Scheduler::Lock& lock, const std::shared_ptr<Stream>& stream, const OperationPointer& operation,
          Point* point) {
  if (const auto capture = capture_across(s, *stream)) return invalidated(capture, error::capture_implicit);
  if (stream->capture) {
    if (!stream->capture->valid) return error::capture_invalidated;
    capture_node(s, *stream, operation);
    return error::success;
  }
  operation->count();
  const Point enqueued =
      submit(s, lock, stream, {.what = operation->what, .run = [operation] { return operation->run(); }, .after = {}});
  if (point) *point = enqueued;
  return error::success;
}

Node& capture_node(System& s, Stream& stream, const OperationPointer& operation,
                   std::vector<std::shared_ptr<Graph>> bodies) {
  Node& node = *stream.capture->graph->add(operation, stream.captured, named(operation->what));
  node.bodies = std::move(bodies);
  for (const auto& body : node.bodies) body->owner = &node;
  name_node(s, node);
  stream.captured = {&node};
  return node;
}

int uncaptured(System& s) {
  const CaptureMode mine = thread_state().capture_mode;
  bool refused = false;
  for (const auto& stream : s.scheduler.streams()) {
    Capture* const capture = stream->capture.get();
    if (!capture || mine == CaptureMode::relaxed) continue;
    const bool here = capture->thread == std::this_thread::get_id();
    if (here ? capture->mode == CaptureMode::relaxed
             : mine != CaptureMode::global || capture->mode != CaptureMode::global)
      continue;
    capture->valid = false;
    refused = true;
  }
  return refused ? error::capture_unsupported : error::success;
}

void forget_contents(Memory& memory, const void* pointer, uint64_t bytes) {
  memory::Allocation* const a = bytes ? memory.find(reinterpret_cast<uint64_t>(pointer)) : nullptr;
  if (!a || !a->initialised.words() || a->kind != MemoryKind::device) return;
  const uint64_t offset = reinterpret_cast<uint64_t>(pointer) - a->base;
  a->whole = false;
  memory::clear_bits(a->initialised.words(), offset, std::min(bytes, a->capacity - offset));
}

std::shared_ptr<Capture> capture_across(System& s, const Stream& stream) {
  if (&stream != stream.device->legacy.get()) return nullptr;
  for (const auto& other : s.scheduler.streams())
    if (other->capture && other->blocking && other->device == stream.device) return other->capture;
  return nullptr;
}

int invalidated(const std::shared_ptr<Capture>& capture, int code) {
  if (capture) capture->valid = false;
  return code;
}

bool drain(System& s, Scheduler::Lock& lock, const Device& device) {
  const std::vector<std::shared_ptr<Stream>> streams = s.scheduler.streams();
  for (const auto& stream : streams)
    if (stream->device == &device && !s.scheduler.wait(lock, {stream, stream->enqueued})) return false;
  return true;
}

bool are_peers(const Device& device, const Device& other) {
  return &device != &other && device.profile.name == other.profile.name;
}

Device* owner_of(System& s, const void* pointer) {
  uint64_t base, bytes;
  MemoryKind kind;
  Device& current = here(s);
  if (current.memory.lookup(pointer, base, bytes, kind)) return &current;
  for (const auto& device : s.devices)
    if (device->memory.lookup(pointer, base, bytes, kind)) return device.get();
  return nullptr;
}

}  // namespace stator::emulator::runtime
