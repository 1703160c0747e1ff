// Each call in the same order: enter() (injection, counters), order check, the table's call, status check, and then
// what the order checker learns from it.
#include "runtime/runtime.hpp"

#include "runtime/devices.hpp"
#include "runtime/order_checker.hpp"
#include "runtime/telemetry.hpp"
#include "runtime/waiting/waiting.hpp"

#include <stator/error.hpp>

#include <limits>
#include <new>
#include <stdexcept>

namespace stator::runtime {
namespace {

constexpr const char* call_names[] = {
#define STATOR_X(name, release) #name,
    STATOR_CALLS(STATOR_X)
#undef STATOR_X
};

constexpr bool releases[] = {
#define STATOR_X(name, release) release,
    STATOR_CALLS(STATOR_X)
#undef STATOR_X
};

// CUDA's errors about captures.
[[noreturn]] void refuse_captured(Status code, uint16_t op) {
  using namespace status;
  const auto refuse = [op](const char* cause, const char* remedy) { throw CaptureError(label(op, ""), cause, remedy); };
  switch (code) {
    case capture_unsupported:
      refuse("the call waits for work of a stream that is being captured, or copies between it and the host",
             "Do it before the capture begins, or after it has ended");
    case capture_merge: refuse("the work of two captures cannot be ordered", "End one of them first");
    case capture_unmatched: refuse("the capture was begun by another stream", "End it with the stream that began it");
    case capture_unjoined:
      refuse("a stream that was forked from the captured one was not joined with it again",
             "Record an event there at the end, and let the captured stream wait for it");
    case capture_isolation:
      refuse("captured work cannot wait for work outside of the capture", "Wait for it before the capture begins");
    case captured_event:
      refuse("an event of a capture never happens by itself", "Record it again after the capture has ended");
    default: refuse("an earlier call has made the capture invalid", "Begin it again");
  }
  __builtin_unreachable();
}

// Sticky errors: every later call on the device reports the same, and only a new context helps.
bool is_sticky(Status code) {
  return code == 214 || code == 700 || code == 702 || code == 710 || (code >= 714 && code <= 719);
}

// How long the work probably takes, in bytes that are read meanwhile. One core of the host reads 20 GB/s and does about
// as many multiply-adds.
int64_t bytes_of(const Record& record) {
  int64_t bytes = std::max<int64_t>(record.expected_bytes, 0);
  for (int i = 0; record.expected_bytes < 0 && i < record.access_count; ++i) bytes += record.accesses[i].bytes;
  return std::max(bytes, record.multiply_adds);
}

std::string remedy_for(Call call, Status code, const std::string& fault, bool host) {
  if (is_sticky(code)) {
    return (fault.empty() ? std::string() : "The device faulted: " + fault + ". ") +
           (host ? "Close the Backend and open a new one" : "Restart the process, whose CUDA context is lost");
  }
  if (code == status::out_of_memory) return "Release arrays, or call empty_cache()";
  if (code == status::not_initialized)
    return "Open a Backend in this process: one that was opened before a fork cannot be used";
  if (code == status::context_destroyed) return "Open a new Backend";
  if (call == Call::context_create) return "See `python -m stator info`";
  return {};
}

}  // namespace

std::atomic<bool> libraries_left{false};
void leave_libraries() noexcept { libraries_left.store(true, std::memory_order_release); }

const char* name(Call call) { return call_names[int(call)]; }
bool is_release(Call call) { return releases[int(call)]; }

Runtime::Runtime(const Table& table, int device, unsigned checks)
    : table_(table), device_(device), emulated_(&table != &host_table() && cuda_emulated()) {
  check(Call::context_create, table_.properties(device, &properties_), call::open);
  if (checks & 1) checker_ = std::make_unique<OrderChecker>();
  telemetry_ = std::make_unique<Telemetry>(table_, context_);
  enter(Call::context_create);
  check(Call::context_create, table_.context_create(device, checks & 2, &context_), call::open);
}

Runtime::~Runtime() { destroy_noexcept(); }

bool Runtime::is_host() const { return &table_ == &host_table(); }

bool Runtime::is_idle(StreamHandle stream) const noexcept {
  return context_ && stream && table_.stream_query(context_, stream) == status::success;
}

// Releases do not return early on an injected failure: their callers perform them and then report it.
Status Runtime::enter(Call call) {
  if (!context_ && call != Call::context_create && !is_release(call)) return status::context_destroyed;
  if (watched()) [[unlikely]] {
    if (const Status injected = enter_watched(call)) return injected;
  }
  calls_[int(call)].fetch_add(1, std::memory_order_relaxed);
  return status::success;
}

void Runtime::check(Call call, Status code, uint16_t op) {
  if (code == status::success) return;
  if (code == status::interrupted) throw Interrupted(op);
  if (code == status::out_of_memory && is_host()) throw std::bad_alloc();  // the caller's own memory, not the pool's
  if (code >= status::capture_unsupported && code <= status::capture_wrong_thread) refuse_captured(code, op);
  const std::string fault = context_ && is_sticky(code) ? table_.fault_message(context_) : std::string();
  throw CudaError(label(op, ""), code, table_.error_name(code), name(call), remedy_for(call, code, fault, is_host()));
}

Status Runtime::destroy_noexcept() {
  if (!context_) return status::success;
  telemetry_->release();
  const Status injected = enter(Call::context_destroy);
  const Status done = table_.context_destroy(context_);
  context_ = nullptr;
  return injected ? injected : done;
}

void Runtime::memory_info(size_t* free, size_t* total) {
  check(Call::allocate, context_ ? table_.memory_info(context_, free, total) : status::context_destroyed);
}

Status Runtime::reserve(size_t bytes, uint16_t op) {
  Status code = enter(Call::allocate);
  if (!code) code = table_.reserve(context_, bytes);
  if (code != status::out_of_memory) check(Call::allocate, code, op);
  return code;
}

void Runtime::pool_keep(size_t most, uint16_t op) { check(Call::allocate, table_.pool_keep(context_, most), op); }

Status Runtime::pool_trim_noexcept(size_t least, size_t keep) {
  return context_ ? table_.pool_trim(context_, least, keep) : status::success;
}

size_t Runtime::pool_free_bytes() noexcept {
  size_t bytes = 0;
  return context_ && table_.pool_free_bytes(context_, &bytes) == status::success ? bytes : 0;
}

Status Runtime::allocate(size_t bytes, StreamHandle stream, void** out, uint16_t op) {
  Status code = enter(Call::allocate);
  if (!code) code = table_.allocate(context_, bytes, stream, out);
  if (code != status::out_of_memory) check(Call::allocate, code, op);
  return code;
}

Status Runtime::free_noexcept(void* pointer, size_t bytes, StreamHandle stream) {
  const Status injected = enter(Call::free);
  if (!context_) stream = nullptr;
  // Other libraries may use the memory. A failure of their work is reported by the next call.
  if (!stream) table_.device_synchronize(device_);
  const Status done = table_.free(context_, pointer, bytes, stream);
  return injected ? injected : done;
}

Status Runtime::device_synchronize_noexcept() {
  const Status injected = enter(Call::device_synchronize);
  const Status done = table_.device_synchronize(device_);
  return injected ? injected : done;
}

void Runtime::share_memory() noexcept {
  if (!is_host() && context_) cuda_share_memory(context_);
}

int Runtime::memory_device(const void* pointer, uint16_t op) {
  int device = 0;
  check(Call::memory_device, enter(Call::memory_device), op);
  check(Call::memory_device, table_.memory_device(context_, pointer, &device), op);
  return device;
}

Status Runtime::allocate_pinned(size_t bytes, void** out, uint16_t op) {
  Status code = enter(Call::allocate_pinned);
  if (!code) code = table_.allocate_pinned(context_, bytes, out);
  if (code != status::out_of_memory) check(Call::allocate_pinned, code, op);
  return code;
}

Status Runtime::free_pinned_noexcept(void* pointer) {
  const Status injected = enter(Call::free_pinned);
  const Status done = table_.free_pinned(context_, pointer);
  return injected ? injected : done;
}

Status Runtime::register_host(void* pointer, size_t bytes, uint16_t op) {
  Status code = enter(Call::register_host);
  if (!code) code = table_.register_host(context_, pointer, bytes);
  if (code != status::out_of_memory && code != status::already_registered) check(Call::register_host, code, op);
  return code;
}

Status Runtime::unregister_host_noexcept(void* pointer) {
  const Status injected = enter(Call::unregister_host);
  const Status done = table_.unregister_host(context_, pointer);
  return injected ? injected : done;
}

void Runtime::order(StreamHandle stream, const char* what, const Record& record) {
  if (emulated_) cuda_name_work(op_name(record.op));
  if (watched()) [[unlikely]]
    work_begins(stream);
  if (checker_) checker_->enqueue(stream, what, record);
}

void Runtime::finished(StreamHandle stream, const Record& record) {
  if (checker_ && record.synchronous && is_host()) checker_->learn(checker_->snapshot_stream(stream));
}

void Runtime::copy(void* to, const void* from, size_t bytes, CopyKind kind, StreamHandle stream, const Record& record) {
  check(Call::copy, enter(Call::copy), record.op);
  if (bytes == 0) return;
  if (kind != CopyKind::device_to_device && is_captured(stream))
    refuse_captured(status::capture_unsupported, record.op);
  if (watches(Watch::waits) && (kind == CopyKind::device_to_host || copy_waits(from, kind))) [[unlikely]]
    waits(record.op);
  const void* const host = kind == CopyKind::host_to_device ? from : kind == CopyKind::device_to_host ? to : nullptr;
  check(Call::copy, before_copy(table_, context_, host, stream, emulated_), record.op);
  check(Call::copy, before_work(table_, stream, record.synchronous), record.op);
  Noted noted(*this, stream, GraphCall::Kind::copy, "copy", record);
  if (!noted.captured()) order(stream, "copy", record);
  check(Call::copy, table_.copy(context_, to, from, bytes, kind, stream), record.op);
  enqueued(noted, stream, record);
  std::atomic<uint64_t>* const moved[] = {&h2d_bytes_, &d2h_bytes_, &d2d_bytes_};  // by CopyKind
  moved[int(kind)]->fetch_add(bytes, std::memory_order_relaxed);
  if (watched()) [[unlikely]]
    telemetry_->copied(kind, bytes, copy_waits(kind == CopyKind::host_to_device ? from : to, kind));
  if (!record.synchronous || !is_host() || noted.captured()) return;
  check(Call::copy, table_.stream_synchronize(context_, stream), record.op);
  finished(stream, record);
}

bool Runtime::read_now(void* to, const void* from, size_t bytes, StreamHandle stream) noexcept {
  if (!is_host() || checker_ || watched() || !is_idle(stream)) return false;
  if (table_.copy(context_, to, from, bytes, CopyKind::device_to_host, stream) != status::success) return false;
  reads_.fetch_add(1, std::memory_order_relaxed);
  d2h_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  return true;
}

void Runtime::fill(void* pointer, int byte, size_t bytes, StreamHandle stream, const Record& record) {
  check(Call::fill, enter(Call::fill), record.op);
  if (bytes == 0) return;
  Noted noted(*this, stream, GraphCall::Kind::fill, "fill", record);
  if (!noted.captured()) order(stream, "fill", record);
  check(Call::fill, table_.fill(context_, pointer, byte, bytes, stream), record.op);
  enqueued(noted, stream, record);
  if (!record.synchronous || !is_host() || noted.captured()) return;
  check(Call::fill, table_.stream_synchronize(context_, stream), record.op);
  finished(stream, record);
}

StreamHandle Runtime::stream_create(int priority, uint16_t op) {
  StreamHandle stream = nullptr;
  check(Call::stream_create, enter(Call::stream_create), op);
  check(Call::stream_create, table_.stream_create(context_, priority, &stream), op);
  return stream;
}

PriorityRange Runtime::stream_priorities(uint16_t op) {
  PriorityRange range;
  check(Call::stream_priorities, enter(Call::stream_priorities), op);
  check(Call::stream_priorities, table_.stream_priorities(context_, &range), op);
  return range;
}

StreamProperties Runtime::stream_properties(StreamHandle stream, uint16_t op) {
  StreamProperties properties;
  check(Call::stream_properties, enter(Call::stream_properties), op);
  check(Call::stream_properties, table_.stream_properties(context_, stream, &properties), op);
  return properties;
}

Status Runtime::stream_destroy_noexcept(StreamHandle stream) {
  const Status injected = enter(Call::stream_destroy);
  if (!context_) return status::context_destroyed;
  if (checker_) checker_->drop_stream(stream);
  const Status done = table_.stream_destroy(context_, stream);
  return injected ? injected : done;
}

Status Runtime::stream_synchronize_noexcept(StreamHandle stream) {
  Status code = enter(Call::stream_synchronize);
  if (code) return code;
  if (is_captured(stream)) return status::capture_unsupported;  // CUDA would end the capture
  const OrderChecker::Clock done = checker_ ? checker_->snapshot_stream(stream) : OrderChecker::Clock{};
  code = table_.stream_synchronize(context_, stream);
  if (!code && checker_) checker_->learn(done);
  return code;
}

void Runtime::stream_synchronize(StreamHandle stream, uint16_t op) {
  if (watched()) [[unlikely]]
    waits(op);
  const Interruptible may_end;
  if (!is_host() && !is_captured(stream))
    check(Call::stream_synchronize, wait_interruptibly(table_, context_, stream, emulated_), op);
  check(Call::stream_synchronize, stream_synchronize_noexcept(stream), op);
}

bool Runtime::stream_query(StreamHandle stream, uint16_t op) {
  check(Call::stream_query, enter(Call::stream_query), op);
  if (is_captured(stream)) refuse_captured(status::capture_unsupported, op);
  const OrderChecker::Clock done = checker_ ? checker_->snapshot_stream(stream) : OrderChecker::Clock{};
  const Status code = table_.stream_query(context_, stream);
  if (code == status::not_ready) return false;
  check(Call::stream_query, code, op);
  if (checker_) checker_->learn(done);
  return true;
}

Status Runtime::stream_capturing_noexcept(StreamHandle stream, bool* out) {
  *out = false;
  if (const Status injected = enter(Call::stream_query)) return injected;
  return table_.stream_capturing(context_, stream, out);
}

bool Runtime::stream_capturing(StreamHandle stream, uint16_t op) {
  bool captured = false;
  check(Call::stream_query, stream_capturing_noexcept(stream, &captured), op);
  return captured;
}

bool Runtime::drop_this_wait() {
  if (!watches(Watch::injection)) return false;
  const std::lock_guard lock(injection_mutex_);
  return injected_waits_++ == injection_.drop_wait_at;
}

Status Runtime::stream_wait_noexcept(StreamHandle stream, EventHandle event) {
  if (const Status injected = enter(Call::stream_wait)) return injected;
  if (drop_this_wait()) return status::success;
  const Status code = table_.stream_wait(context_, stream, event);
  if (!code && checker_) checker_->wait(stream, event);
  return code;
}

void Runtime::stream_wait(StreamHandle stream, EventHandle event, uint16_t op) {
  check(Call::stream_wait, before_work(table_, stream, false), op);
  check(Call::stream_wait, stream_wait_noexcept(stream, event), op);
}

void Runtime::host_function(HostFunction function, void* data, StreamHandle stream, uint16_t op) {
  check(Call::host_function, enter(Call::host_function), op);
  if (is_captured(stream))
    refuse_captured(status::capture_unsupported, op);  // what it is given is freed once it has run
  if (emulated_) cuda_name_work(op_name(op));
  check(Call::host_function, before_work(table_, stream, false), op);
  check(Call::host_function, table_.host_function(context_, function, data, stream), op);
}

EventHandle Runtime::event_create(uint16_t op) {
  EventHandle event = nullptr;
  check(Call::event_create, enter(Call::event_create), op);
  check(Call::event_create, table_.event_create(context_, &event), op);
  return event;
}

Status Runtime::event_destroy_noexcept(EventHandle event) {
  const Status injected = enter(Call::event_destroy);
  if (!context_) return status::context_destroyed;
  if (checker_) checker_->drop_event(event);
  const Status done = table_.event_destroy(context_, event);
  return injected ? injected : done;
}

Status Runtime::event_record_noexcept(EventHandle event, StreamHandle stream) {
  if (const Status injected = enter(Call::event_record)) return injected;
  const Status code = table_.event_record(context_, event, stream);
  if (!code && checker_) checker_->record(event, stream);
  return code;
}

void Runtime::event_record(EventHandle event, StreamHandle stream, uint16_t op) {
  check(Call::event_record, before_work(table_, stream, false), op);
  check(Call::event_record, event_record_noexcept(event, stream), op);
}

bool Runtime::event_query(EventHandle event, bool orders, uint16_t op) {
  check(Call::event_query, enter(Call::event_query), op);
  const OrderChecker::Clock done = checker_ && orders ? checker_->snapshot_event(event) : OrderChecker::Clock{};
  const Status code = table_.event_query(context_, event);
  if (code == status::not_ready) return false;
  check(Call::event_query, code, op);
  if (checker_ && orders) checker_->learn(done);
  return true;
}

void Runtime::event_synchronize(EventHandle event, uint16_t op) {
  if (watched()) [[unlikely]]
    waits(op);
  check(Call::event_synchronize, enter(Call::event_synchronize), op);
  const Interruptible may_end;
  const OrderChecker::Clock done = checker_ ? checker_->snapshot_event(event) : OrderChecker::Clock{};
  check(Call::event_synchronize, table_.event_synchronize(context_, event), op);
  if (checker_) checker_->learn(done);
}

float Runtime::event_elapsed(EventHandle from, EventHandle to, uint16_t op) {
  float milliseconds = 0;
  check(Call::event_elapsed, enter(Call::event_elapsed), op);
  check(Call::event_elapsed, table_.event_elapsed(context_, from, to, &milliseconds), op);
  return milliseconds;
}

void Runtime::launch(const params::Launch& launch, StreamHandle stream, const Record& record) {
  check(Call::launch, enter(Call::launch), record.op);
  check(Call::launch, before_work(table_, stream, record.synchronous), record.op);
  Noted noted(*this, stream, GraphCall::Kind::kernel, launch.name, record);
  if (!noted.captured()) order(stream, launch.name, record);
  check(Call::launch, table_.launch(context_, launch, bytes_of(record), record.synchronous, stream), record.op);
  noted.keep();
  if (watched()) [[unlikely]] {
    telemetry_->launched(launch.blocks * launch.threads, record.elements);
    wait_if_blocking(noted, stream, record);
  }
  if (!noted.captured()) finished(stream, record);
}

void Runtime::prepare(const std::string_view* families, size_t count, uint16_t op) {
  check(Call::prepare, enter(Call::prepare), op);
  check(Call::prepare, table_.prepare(context_, families, count), op);
}

void Runtime::library(const char* what, const std::function<int()>& call, const char* (*describe)(int),
                      StreamHandle stream, const Record& record) {
  check(Call::library, enter(Call::library), record.op);
  Noted noted(*this, stream, GraphCall::Kind::library, what, record);
  if (!noted.captured()) order(stream, what, record);
  int code = 0;
  check(Call::library, table_.library(context_, [&] { code = call(); }, stream), record.op);
  if (code) throw CudaError(label(record.op, what), code, describe(code), what);
  enqueued(noted, stream, record);
}

void Runtime::library_setup(const char* what, const std::function<int()>& call, const char* (*describe)(int),
                            uint16_t op) {
  check(Call::library_setup, enter(Call::library_setup), op);
  int code = 0;
  check(Call::library_setup, table_.library(context_, [&] { code = call(); }, nullptr), op);
  if (code) throw CudaError(label(op, what), code, describe(code), what);
}

void Runtime::library_release_noexcept(const std::function<void()>& release) {
  if (!context_ || libraries_left.load(std::memory_order_acquire)) return;
  table_.library(context_, release, nullptr);
}

void Runtime::host_work(const HostWork& work, int64_t pieces, StreamHandle stream, const Record& record) {
  check(Call::library, enter(Call::library), record.op);
  check(Call::library, before_work(table_, stream, record.synchronous), record.op);
  Noted noted(*this, stream, GraphCall::Kind::library, work.what, record);
  if (!noted.captured()) order(stream, work.what, record);
  const int64_t bytes = pieces > 1 ? std::numeric_limits<int64_t>::max() : bytes_of(record);
  check(Call::library, table_.host_work(context_, work, pieces, bytes, record.synchronous, stream), record.op);
  enqueued(noted, stream, record);
  if (!noted.captured()) finished(stream, record);
}

void Runtime::forget_buffer(const void* buffer) {
  if (checker_) checker_->forget(buffer);
}

void Runtime::host_access(const params::Access& access, uint16_t op) {
  if (checker_) checker_->host_access(access, op);
}

void Runtime::inject_fault() { check(Call::launch, table_.inject_fault(context_)); }

Counters Runtime::counters() const {
  Counters counters;
  for (int i = 0; i < call_count; ++i) counters.calls[i] = calls_[i].load(std::memory_order_relaxed);
  const uint64_t reads = reads_.load(std::memory_order_relaxed);
  counters.calls[int(Call::copy)] += reads;
  counters.calls[int(Call::stream_synchronize)] += reads;
  counters.h2d_bytes = h2d_bytes_.load(std::memory_order_relaxed);
  counters.d2h_bytes = d2h_bytes_.load(std::memory_order_relaxed);
  counters.d2d_bytes = d2d_bytes_.load(std::memory_order_relaxed);
  return counters;
}

}  // namespace stator::runtime
