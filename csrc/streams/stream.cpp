// The error slot of a stream: a kernel claims it in device memory and writes the record into page-locked memory, which
// the host reads without waiting; take_slot resets the record first, then the claim in stream order.
#include "streams/stream.hpp"

#include "core/context.hpp"
#include "core/fault.hpp"
#include "core/text.hpp"
#include "memory/buffer.hpp"

#include <stator/binding.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace stator {

using runtime::status::success;

namespace {

// The stream that this thread sets up or extends: the mutex is held while an allocator runs, which may call its own
// backend.
constinit thread_local const StreamBox* extended = nullptr;

class Extension {
 public:
  Extension(const StreamBox& stream, std::mutex& mutex, uint16_t op) {
    if (extended == &stream)
      throw UnsupportedError(op_text(op), "the allocator of a backend calls that backend", "allocate elsewhere in it");
    lock_ = std::unique_lock(mutex);
    before_ = std::exchange(extended, &stream);
  }
  ~Extension() { extended = before_; }
  Extension(const Extension&) = delete;

 private:
  std::unique_lock<std::mutex> lock_;
  const StreamBox* before_;
};

}  // namespace

StreamBox::StreamBox(Context& context, int index)
    : Box(BoxKind::stream, &context, context.tracker(), no_op, Hold::part_of), context_(context), index_(index) {}

StreamBox::~StreamBox() { dispose(); }

bool StreamBox::is_own() const { return index_ < context_.stream_count(); }

void StreamBox::open(uint16_t op, int priority) {
  if (!closed()) return;
  const Extension extension(*this, mutex_, op);
  if (!closed() || closing()) return;
  const runtime::StreamHandle stream = context_.runtime().stream_create(priority, op);
  try {
    set_up(stream, priority, op);
  } catch (...) {
    context_.runtime().stream_destroy_noexcept(stream);
    throw;
  }
}

void StreamBox::adopt(runtime::StreamHandle stream, int priority, std::unique_ptr<ForeignOwner> owner, uint16_t op) {
  const std::lock_guard lock(mutex_);
  context_.require_open(op);
  set_up(stream, priority, op);
  owner_ = std::move(owner);
}

void StreamBox::give_back(uint16_t op) {
  if (is_own())
    throw ValueError(op_text(op), "the backend's own stream " + std::to_string(index_),
                     "Close only streams of Backend.streams.external(): the others close with the backend");
  synchronize(op);
  given_back_.store(true);
  dispose();
}

void StreamBox::throw_closed_stream(uint16_t op) const {
  if (given_back_.load())
    throw BackendClosedError(op_text(op), "the stream was returned to its library", "Take it again, or another one");
  get(op);
  throw BackendClosedError(op_text(op), "the stream is not open", "Use it again");
}

void StreamBox::set_up(runtime::StreamHandle stream, int priority, uint16_t op) {
  runtime::Runtime& runtime = context_.runtime();
  void *claim = nullptr, *record = nullptr;
  try {
    claim = device_memory(sizeof(uint32_t), stream, op);
    if (runtime.allocate_pinned(sizeof(params::FaultRecord), &record, op) != success) {
      throw OutOfMemoryError(
          op_text(op),
          {.requested = sizeof(params::FaultRecord), .free = 0, .cached = 0, .limit = 0, .largest_owner = {}});
    }
  } catch (...) {
    if (claim) context_.memory().free_noexcept(claim, sizeof(uint32_t), stream);
    throw;
  }
  slot_ = {static_cast<uint32_t*>(claim), new (record) params::FaultRecord{}};
  set_bytes(sizeof(uint32_t) + sizeof(params::FaultRecord));
  priority_.store(priority, std::memory_order_relaxed);
  set_native(stream);
}

// Zeroed memory. Not from the pool: it is freed with the stream, which is destroyed after the pool.
void* StreamBox::device_memory(size_t bytes, runtime::StreamHandle stream, uint16_t op) {
  runtime::Runtime& runtime = context_.runtime();
  void* memory = nullptr;
  if (!closed()) stream = context_.allocation_stream(index_, op);
  if (context_.memory().allocate(bytes, stream, &memory, op) != success) {
    context_.synchronize_noexcept();
    context_.pool().empty_cache();
    if (context_.memory().allocate(bytes, stream, &memory, op) != success)
      throw context_.pool().out_of_memory(bytes, op);
  }
  try {
    runtime.fill(memory, 0, bytes, stream, {.op = op});
  } catch (...) {
    context_.memory().free_noexcept(memory, bytes, stream);
    throw;
  }
  return memory;
}

// Smaller blocks are kept until the stream closes: another thread may have been given one for a launch that it has not
// made yet. Sizes double, so they are less than the largest in all.
void* StreamBox::zeroed_scratch(size_t bytes, uint16_t op) {
  const runtime::StreamHandle stream = handle(op);
  const int order = this->order();
  const Extension extension(*this, mutex_, op);
  const auto last =
      std::find_if(scratch_.rbegin(), scratch_.rend(), [=](const Scratch& s) { return s.order == order; });
  const size_t most = last == scratch_.rend() ? 0 : last->bytes;
  if (bytes <= most) return last->memory;
  const size_t larger = std::max(bytes, std::max<size_t>(2 * most, 4096));
  scratch_.reserve(scratch_.size() + 1);
  scratch_.push_back({order, device_memory(larger, stream, op), larger});
  set_bytes(this->bytes() + larger);
  return scratch_.back().memory;
}

bool StreamBox::take_record(params::FaultRecord* record) {
  const int32_t fault = __atomic_exchange_n(&slot_.record->fault, 0, __ATOMIC_ACQ_REL);
  if (fault == 0) return false;  // another thread took it first
  // No kernel writes the record before the claim is reset.
  *record = {fault, slot_.record->op, slot_.record->position, slot_.record->value};
  return true;
}

void StreamBox::take_slot(uint16_t op) {
  const runtime::StreamHandle stream = own_handle(op);
  params::FaultRecord seen{};
  {
    const std::lock_guard lock(mutex_);
    if (!slot_set() || !take_record(&seen)) return;
    try {
      context_.runtime().fill(slot_.claim, 0, sizeof(uint32_t), stream, {.op = op});
    } catch (...) {
      __atomic_store_n(&slot_.record->fault, seen.fault, __ATOMIC_RELEASE);  // the next check finds it again
      throw;
    }
  }
  if (params::Fault(seen.fault) == params::Fault::division_by_zero) {
    context_.note_division_by_zero();
    return;
  }
  raise_fault(seen);
}

void StreamBox::log_pending() noexcept {
  params::FaultRecord seen{};
  if (!slot_set() || !take_record(&seen) || params::Fault(seen.fault) == params::Fault::division_by_zero) return;
  try {
    raise_fault(seen);
  } catch (const Error& error) {
    warn("stator: %s: %s, seen when the backend closed", error.op().c_str(), error.cause().c_str());
  } catch (...) {
    warn("stator: a fault was seen when the backend closed");
  }
  interop::take_fault();
}

void StreamBox::synchronize(uint16_t op) {
  context_.runtime().stream_synchronize(handle(op), op);
  raise_pending(op);
}

void StreamBox::release_native(void* handle) noexcept {
  runtime::Runtime& runtime = context_.runtime();
  for (const runtime::StreamHandle stream : stand_ins_)
    context_.report("stream_destroy", runtime.stream_destroy_noexcept(stream));
  stand_ins_.clear();
  for (const Scratch& block : scratch_) {
    context_.report("free", context_.memory().free_noexcept(block.memory, block.bytes, handle));
  }
  context_.report("free", context_.memory().free_noexcept(slot_.claim, sizeof(uint32_t), handle));
  // Either waits, so that the record is final and callbacks have run, unless the device has failed.
  if (is_own())
    context_.report("stream_destroy", runtime.stream_destroy_noexcept(handle));
  else
    context_.report("stream_synchronize", runtime.stream_synchronize_noexcept(handle));
  drop_callbacks();
  context_.report("free_pinned", runtime.free_pinned_noexcept(slot_.record));
  slot_ = {};
  scratch_.clear();
  ForeignReleases::push(std::move(owner_));
}

}  // namespace stator
