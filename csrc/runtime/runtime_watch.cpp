// The members of Runtime that do more than a call asks for: failure injection, telemetry, reports of waits, and waits
// after all work.
#include "runtime/telemetry.hpp"

#include <stator/error.hpp>

namespace stator::runtime {
namespace {

bool is_allocation(Call call) {
  return call == Call::allocate || call == Call::allocate_pinned || call == Call::allocate_managed;
}

}  // namespace

void Runtime::watch(Watch what, bool on) {
  if (on)
    watch_.fetch_or(unsigned(what), std::memory_order_acq_rel);
  else
    watch_.fetch_and(~unsigned(what), std::memory_order_acq_rel);
}

Status Runtime::enter_watched(Call call) {
  if (watches(Watch::injection)) {
    const std::lock_guard lock(injection_mutex_);
    const bool counts = !injection_.allocations || is_allocation(call);
    const int64_t at = counts ? injected_calls_++ : -1;
    const bool hit = counts && (at == injection_.fail_at || (injection_.until_lifted && at > injection_.fail_at));
    if (hit && injection_.fail_at >= 0) return is_allocation(call) ? status::out_of_memory : injection_.code;
  }
  if (watches(Watch::telemetry)) telemetry_->called(call);
  return status::success;
}

void Runtime::set_injection(const Injection& injection) {
  const std::lock_guard lock(injection_mutex_);
  injection_ = injection;
  injected_calls_ = injected_waits_ = 0;
  watch(Watch::injection, true);
}

void Runtime::lift_injection() { watch(Watch::injection, false); }

int64_t Runtime::calls_since_injection() const {
  const std::lock_guard lock(injection_mutex_);
  return injected_calls_;
}

unsigned Runtime::change_telemetry_modes(unsigned off, unsigned on) {
  const unsigned before = telemetry_->change_modes(off, on);
  if (telemetry_->modes() == 0) watch(Watch::telemetry, false);
  if (telemetry_->modes() != 0) watch(Watch::telemetry, true);  // another thread's change may have come between
  return before;
}

SyncDebug Runtime::set_sync_debug(SyncDebug mode, WaitSink sink) {
  wait_sink_.store(sink);
  const SyncDebug before = sync_debug_.exchange(mode);
  watch(Watch::waits, mode != SyncDebug::off);
  return before;
}

// Waits without an op are the pool's and those of close(), which must not fail.
void Runtime::waits(uint16_t op) {
  if (op == no_op || !watches(Watch::waits)) return;
  if (CallScope* const scope = CallScope::current(*telemetry_)) {
    if (!scope->report_wait()) return;
    op = scope->op();
  }
  if (sync_debug() == SyncDebug::error)
    throw SynchronizationError(std::string(op_name(op)), "the call waits for work of the device",
                               "Move it out of the part that must not wait, or call sync_debug(None)");
  if (const WaitSink sink = wait_sink_.load()) sink(op_name(op));
}

// The host target reads the host's memory at once.
bool Runtime::copy_waits(const void* host, CopyKind kind) const {
  if (is_host() && kind == CopyKind::host_to_device) return false;
  return kind != CopyKind::device_to_device && table_.pageable(host);
}

void Runtime::work_begins(StreamHandle stream) {
  if (watches(Watch::telemetry)) telemetry_->work_begins(stream);
}

void Runtime::wait_if_blocking(const Noted& noted, StreamHandle stream, const Record& record) {
  if (!watches(Watch::blocking) || noted.captured()) return;
  check(Call::stream_synchronize, table_.stream_synchronize(context_, stream), record.op);
}

}  // namespace stator::runtime
