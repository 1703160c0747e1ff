// Counting takes no lock. The events around a call's work, whose times are taken when it has finished, are kept under
// one mutex; they are not calls of the Runtime, so that neither counters nor injected failures see them.
#include "runtime/telemetry.hpp"

#include "runtime/nvtx.hpp"

#include <sys/syscall.h>
#include <unistd.h>
#include <chrono>
#include <cmath>
#include <new>

namespace stator::runtime {
namespace {

constinit thread_local CallScope* innermost = nullptr;

int64_t now() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

int64_t this_thread() {
  static const thread_local int64_t number = syscall(SYS_gettid);
  return number;
}

template <class Row>
void add(Row& row, Figure figure, uint64_t more) {
  row[int(figure)].fetch_add(more, std::memory_order_relaxed);
}

template <class Row>
void raise_to(Row& row, Figure figure, uint64_t value) {
  std::atomic<uint64_t>& most = row[int(figure)];
  uint64_t seen = most.load(std::memory_order_relaxed);
  while (seen < value && !most.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {}
}

}  // namespace

Telemetry::~Telemetry() {
  for (const std::atomic<Row*>& row : rows_) delete row.load();
}

unsigned Telemetry::change_modes(unsigned off, unsigned on) {
  unsigned before = modes_.load();
  while (!modes_.compare_exchange_weak(before, (before & ~off) | on)) {}
  return before;
}

// Made at the first call of the op.
Telemetry::Row* Telemetry::row(uint16_t op) noexcept {
  const size_t at = op < row_count - 1 ? op : row_count - 1;
  Row* found = rows_[at].load(std::memory_order_acquire);
  if (found) return found;
  Row* const made = new (std::nothrow) Row{};
  if (!made || rows_[at].compare_exchange_strong(found, made, std::memory_order_acq_rel)) return made;
  delete made;
  return found;
}

Telemetry::Row* Telemetry::current_row() noexcept {
  if (!(modes() & count)) return nullptr;
  const CallScope* const scope = CallScope::current(*this);
  return scope ? scope->row_ : row(no_op);
}

void Telemetry::called(Call call) noexcept {
  if (Row* const to = current_row()) (*to)[figure_count + int(call)].fetch_add(1, std::memory_order_relaxed);
}

void Telemetry::copied(CopyKind kind, size_t bytes, bool waited) noexcept {
  Row* const to = current_row();
  if (!to) return;
  constexpr Figure moved[] = {Figure::h2d_bytes, Figure::d2h_bytes, Figure::d2d_bytes};  // by CopyKind
  add(*to, moved[int(kind)], bytes);
  if (waited) add(*to, Figure::waiting_copies, 1);
}

void Telemetry::launched(int64_t slots, int64_t elements) noexcept {
  Row* const to = current_row();
  if (!to) return;
  add(*to, Figure::thread_slots, uint64_t(slots));
  if (elements < 0)
    add(*to, Figure::unsized, 1);
  else if (slots > elements)
    add(*to, Figure::idle_slots, uint64_t(slots - elements));
}

void Telemetry::work_begins(StreamHandle stream) noexcept {
  CallScope* const scope = CallScope::current(*this);
  if (!scope || scope->dispatched_) return;
  scope->dispatched_ = true;
  if (!(modes() & (device_time | trace_time))) return;
  const EventHandle event = take_event();
  if (!event) return;
  scope->stream_ = stream;
  scope->from_ = event;
  if (table_.event_record(context_, event, stream) == status::success) return;
  const std::lock_guard lock(mutex_);
  events_.push_back(std::exchange(scope->from_, nullptr));
}

EventHandle Telemetry::take_event() noexcept {
  const std::lock_guard lock(mutex_);
  if (released_) return nullptr;
  if (!events_.empty()) {
    const EventHandle event = events_.back();
    events_.pop_back();
    return event;
  }
  EventHandle event = nullptr;
  try {
    if (events_.capacity() == made_) events_.reserve(2 * made_ + 64);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  if (table_.event_create(context_, &event) != status::success) return nullptr;
  ++made_;
  return event;
}

void Telemetry::finish(CallScope& scope) noexcept {
  const int64_t end = now();
  EventHandle to = scope.from_ ? take_event() : nullptr;
  const bool recorded = to && table_.event_record(context_, to, scope.stream_) == status::success;
  if (Row* const row = scope.row_) {
    const uint64_t wall = uint64_t(end - scope.begin_);
    add(*row, Figure::calls, 1);
    if (scope.dispatched_) add(*row, Figure::dispatches, 1);
    add(*row, Figure::wall_ns, wall);
    raise_to(*row, Figure::longest_wall_ns, wall);
  }
  const bool traced = modes() & trace;
  if (!traced && !scope.from_) return;
  const std::lock_guard lock(mutex_);
  int64_t index = -1;
  try {
    if (traced && trace_.size() < most_traced) {
      trace_.push_back({scope.op_, this_thread(), scope.begin_, end, scope.stream_});
      index = int64_t(trace_.size()) - 1;
    } else if (traced) {
      ++dropped_;
    }
    if (recorded) {
      timed_.push_back({scope.row_, scope.from_, to, index});
      poll_locked(4);
      return;
    }
  } catch (const std::bad_alloc&) {
    ++dropped_;
  }
  if (scope.from_) events_.push_back(scope.from_);
  if (to) events_.push_back(to);
}

// False while the work runs. The events are free again otherwise.
bool Telemetry::take_times(const Timed& timed) noexcept {
  const Status state = table_.event_query(context_, timed.to);
  if (state == status::not_ready) return false;
  float milliseconds = 0, since_base = 0;
  if (state == status::success && table_.event_elapsed(context_, timed.from, timed.to, &milliseconds) == 0) {
    const int64_t took = std::llround(double(milliseconds) * 1e6);
    if (timed.row) {
      add(*timed.row, Figure::timed, 1);
      add(*timed.row, Figure::device_ns, uint64_t(took));
      raise_to(*timed.row, Figure::longest_device_ns, uint64_t(took));
    }
    if (timed.traced >= 0 && size_t(timed.traced) < trace_.size() && base_event_ &&
        table_.event_elapsed(context_, base_event_, timed.from, &since_base) == 0) {
      TracedCall& traced = trace_[size_t(timed.traced)];
      traced.device_begin = base_time_ + std::llround(double(since_base) * 1e6);
      traced.device_end = traced.device_begin + took;
    }
  }
  events_.push_back(timed.from);
  events_.push_back(timed.to);
  return true;
}

void Telemetry::poll_locked(size_t most) noexcept {
  for (; most > 0 && !timed_.empty() && take_times(timed_.front()); --most) timed_.pop_front();
}

void Telemetry::poll() noexcept {
  const std::lock_guard lock(mutex_);
  if (!released_) std::erase_if(timed_, [this](const Timed& timed) { return take_times(timed); });
}

void Telemetry::release() noexcept {
  const std::lock_guard lock(mutex_);
  if (std::exchange(released_, true)) return;
  for (const Timed& timed : timed_) {
    if (!take_times(timed)) {
      table_.event_destroy(context_, timed.from);
      table_.event_destroy(context_, timed.to);
    }
  }
  timed_.clear();
  for (const EventHandle event : events_) table_.event_destroy(context_, event);
  events_.clear();
  if (base_event_) table_.event_destroy(context_, base_event_);
  base_event_ = nullptr;
}

std::vector<OpFigures> Telemetry::figures() {
  std::vector<OpFigures> out;
  for (size_t op = 0; op < row_count; ++op) {
    const Row* const from = rows_[op].load(std::memory_order_acquire);
    if (!from) continue;
    OpFigures figures{op == row_count - 1 ? no_op : uint16_t(op), {}};
    uint64_t any = 0;
    for (size_t i = 0; i < from->size(); ++i) any |= figures.values[i] = (*from)[i].load(std::memory_order_relaxed);
    if (any) out.push_back(figures);
  }
  return out;
}

void Telemetry::reset() {
  for (const std::atomic<Row*>& at : rows_) {
    if (Row* const row = at.load(std::memory_order_acquire)) {
      for (std::atomic<uint64_t>& value : *row) value.store(0, std::memory_order_relaxed);
    }
  }
}

void Telemetry::begin_trace(StreamHandle stream) {
  const EventHandle base = take_event();
  const bool known = base && table_.event_record(context_, base, stream) == status::success &&
                     table_.event_synchronize(context_, base) == status::success;
  const std::lock_guard lock(mutex_);
  if (base_event_) events_.push_back(base_event_);
  base_event_ = known ? base : nullptr;
  base_time_ = now();
  if (base && !known) events_.push_back(base);
  trace_.clear();
  dropped_ = 0;
  for (Timed& timed : timed_) timed.traced = -1;
}

std::vector<TracedCall> Telemetry::end_trace(uint64_t* dropped, int64_t* begin) {
  poll();
  const std::lock_guard lock(mutex_);
  for (Timed& timed : timed_) timed.traced = -1;
  if (base_event_ && !released_) events_.push_back(std::exchange(base_event_, nullptr));
  *begin = base_time_;
  *dropped = std::exchange(dropped_, 0);
  return std::exchange(trace_, {});
}

CallScope* CallScope::current(const Telemetry& telemetry) noexcept {
  CallScope* scope = innermost;
  while (scope && scope->telemetry_ != &telemetry) scope = scope->outer_;
  return scope;
}

void CallScope::begin(Telemetry& telemetry, uint16_t op) noexcept {
  if (op == call::telemetry || op == call::take_warning || current(telemetry)) return;  // no calls of users
  const unsigned modes = telemetry.modes();
  telemetry_ = &telemetry;
  outer_ = std::exchange(innermost, this);
  row_ = modes & Telemetry::count ? telemetry.row(op) : nullptr;
  stream_ = from_ = nullptr;
  op_ = op;
  dispatched_ = wait_reported_ = false;
  pushed_ = modes & Telemetry::nvtx;
  if (pushed_) nvtx_push(op_name(op));
  begin_ = now();
}

void CallScope::finish() noexcept {
  telemetry_->finish(*this);
  if (pushed_) nvtx_pop();
  for (CallScope** at = &innermost; *at; at = &(*at)->outer_) {
    if (*at != this) continue;
    *at = outer_;
    break;
  }
  telemetry_ = nullptr;
}

}  // namespace stator::runtime
