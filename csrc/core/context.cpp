// open: the target's kernels, then the runtime, the streams and the pool. shut: refuse new guards, wait for those in
// flight, wait for the device, log pending faults, close the boxes.
#include "core/context.hpp"

#include "core/library_box.hpp"
#include "core/target.hpp"
#include "core/text.hpp"
#include "ownership/binding.hpp"
#include "runtime/waiting/waiting.hpp"

#include <algorithm>
#include <bit>
#include <thread>

namespace stator {

using runtime::status::success;

namespace {

// How long the end of the process waits for work on the cpu, which may find a fault that is then reported, before it
// drops the work.
constexpr auto grace = std::chrono::milliseconds(500);

}  // namespace

Ref<Context> Context::open(Device device, const BackendOptions& options, std::shared_ptr<Allocator> allocator) {
  Ref<Context> context(new Context(device, options, std::move(allocator), std::make_unique<Tracker>()));
  context->pool().open_policy();
  enlist(*context);
  return context;
}

Context::Context(Device device, const BackendOptions& options, std::shared_ptr<Allocator> allocator,
                 std::unique_ptr<Tracker> tracker)
    : Box(BoxKind::context, nullptr, *tracker, no_op),
      device_(device),
      options_(options),
      process_(process_generation()),
      tracker_(std::move(tracker)) {
  kernels_ = &target_for(device.type);
  const runtime::Table& table = device.type == DeviceType::cuda ? runtime::cuda_table() : runtime::host_table();
  runtime_ = std::make_shared<runtime::Runtime>(table, device.index, unsigned(std::max(options.checks, 0)));
  spare_ = std::make_unique<std::shared_ptr<runtime::Runtime>>(runtime_);
  memory_ = std::make_unique<DeviceMemory>(*runtime_, std::move(allocator));
  if (options.memory_pool_size && options.pool_policy != PoolPolicy::arena) reserve(options.memory_pool_size);
  limits_ = runtime_->properties().limits;
  limits_.target = kernels_->target;
  for (int i = 0; i < Backend::stream_limit; ++i) streams_[i] = std::make_unique<StreamBox>(*this, i);
  pool_ = std::make_unique<Pool>(*this);
  set_native(runtime_.get());
}

void Context::reserve(size_t bytes) {
  if (runtime_->reserve(bytes, call::open) == success) return;
  size_t free = 0, total = 0;
  runtime_->memory_info(&free, &total);
  throw OutOfMemoryError(op_text(call::open), {bytes, free, 0, options_.memory_limit, {}});
}

Context::~Context() {
  shut();
  delist(*this);
  // A context that is still open at the end of the process leaks its runtime on purpose: its destructor would call the
  // device.
  if (!closed()) static_cast<void>(spare_.release());
  if (is_left(*tracker_)) static_cast<void>(tracker_.release());  // so that no other one gets its address
}

bool Context::shut(std::chrono::steady_clock::time_point deadline) noexcept {
  if (is_leaked()) return true;
  shut_.store(true);
  const auto wait_until = [deadline](const auto& reached) {
    while (!reached()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return true;
  };
  std::unique_lock lock(close_mutex_, std::defer_lock);
  if (!wait_until([&] { return lock.try_lock(); })) return false;
  if (closed()) return true;
  ReleaseQueue::drain();
  if (!wait_until([&] { return in_flight_.load() == 0; })) return false;
  for (const auto& stream : streams_)
    for (const StreamBox::Capturing& one : stream->captures()) drop_capture(*stream, one);
  if (deadline != forever && runtime_->is_host()) {
    // Only callbacks of streams could see results of this work.
    const auto until = std::chrono::steady_clock::now() + grace;
    const auto busy = [](const auto& stream) { return stream->native() && runtime::is_busy_on_host(stream->native()); };
    while (std::ranges::any_of(streams_, busy)) {
      if (std::chrono::steady_clock::now() > until && !StreamBox::callbacks_pending()) {
        for (const auto& stream : streams_)
          if (stream->native()) runtime::drop_work_on_host(stream->native());
        break;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
  if (synchronize_noexcept() || synchronize_noexcept()) quiet_.store(true, std::memory_order_release);
  for (const auto& stream : streams_) stream->log_pending();
  Box::close(*this);
  return true;
}

bool Context::end_scope(uint32_t scope, std::chrono::steady_clock::duration patience, size_t* closed) {
  *closed = 0;
  if (is_leaked()) return true;
  ReleaseQueue::drain();
  const std::vector<Ref<Box>> boxes = tracker_->of_scope(scope);
  const runtime::DeviceScope device(runtime_->table(), runtime_->device());
  if (hooked_context == this) patience = {};  // the call that asks would not end meanwhile
  const auto deadline = std::chrono::steady_clock::now() + patience;
  const bool ended = Box::close_all(boxes, [&] {
    while (in_flight_.load() != 0) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return true;
  });
  if (ended) *closed = boxes.size();
  return ended;
}

void Context::release_native(void*) noexcept { report("context_destroy", runtime_->destroy_noexcept()); }

void Context::require_host_copies(uint16_t op, size_t bytes) const {
  if (host_copies_forbidden_.load(std::memory_order_relaxed) > 0)
    throw HostCopyError(op_text(op),
                        "would copy " + std::to_string(bytes) + " bytes of " + device_.str() + " to the host",
                        "Leave forbid_host_copies(), or give the op a fixed size where it has one");
}

void Context::require_open(uint16_t op) const {
  if (process_ != process_generation()) {
    throw ForkedProcessError(op_text(op), "the backend belongs to the parent of this process",
                             "Open a backend after the fork, or start processes with the spawn method");
  }
  if (is_shut())
    throw BackendClosedError(op_text(op), "the backend on " + device_.str() + " is closed", "Open a new Backend");
}

void OpGuard::refuse(uint16_t op) {
  context_.in_flight_.fetch_sub(1);
  context_.require_open(op);
  throw BackendClosedError(op_text(op), "the backend is closed", "Open a new Backend");
}

StreamBox& Context::opened_stream(int index) {
  StreamBox& stream = *streams_[index];
  if (stream.closed()) [[unlikely]] {
    require_open(call::stream);
    if (index >= stream_count()) return opened_stream(0);
    stream.open(call::stream);
  }
  return stream;
}

uint32_t Context::open_streams(uint32_t streams) const noexcept {
  for (uint32_t rest = streams; rest != 0; rest &= rest - 1) {
    const int index = std::countr_zero(rest);
    if (!native_stream(index)) streams &= ~(uint32_t(1) << index);
  }
  return streams;
}

StreamBox& Context::chosen_stream(const Stream& given, int index, uint16_t op) {
  if (!given) return opened_stream(index);
  if (&given.box()->context() != this) {
    throw BackendMismatchError(op_text(op), "got a stream of another backend",
                               "Pass a stream of the backend of the other arguments");
  }
  return *given.box();
}

runtime::StreamHandle Context::native_stream(int index) const noexcept { return streams_[index]->native(); }

void Context::synchronize(uint16_t op) {
  for (const auto& stream : streams_) {
    if (!stream->closed()) runtime_->stream_synchronize(stream->handle(op), op);
  }
  pool_->poll_foreign();
  for (const auto& stream : streams_) {
    if (!stream->closed()) stream->raise_pending(op);
  }
}

bool Context::synchronize_noexcept() noexcept {
  bool fine = true;
  for (const auto& stream : streams_) {
    if (stream->is_captured_itself()) continue;
    if (runtime::StreamHandle handle = stream->native()) {
      const runtime::Status status = runtime_->stream_synchronize_noexcept(handle);
      fine = fine && status == success;
    }
  }
  return fine;
}

void Context::synchronize_noexcept(uint32_t streams) noexcept {
  for (streams = open_streams(streams); streams != 0; streams &= streams - 1) {
    const int index = std::countr_zero(streams);
    if (!is_captured_itself(index))
      report("stream_synchronize", runtime_->stream_synchronize_noexcept(native_stream(index)));
  }
}

void Context::wait_before_close(uint16_t op) {
  try {
    const OpGuard guard(*this, op);
    for (const auto& stream : streams_)
      if (runtime::StreamHandle handle = stream->native()) runtime_->stream_synchronize(handle, op);
  } catch (const runtime::Interrupted&) {
    throw;
  } catch (const std::exception&) {
    return;  // close() finds and reports it
  }
}

void Context::report(const char* call, runtime::Status status) noexcept {
  // Unloading: the CUDA runtime ended before this library, and has released everything.
  if (status == success || status == runtime::status::unloading) return;
  const bool sticky = status == runtime::status::illegal_address || status == runtime::status::launch_failure;
  if (sticky && reported_.exchange(status) == status) return;
  warn("stator: %s failed with %s", call, runtime_->table().error_name(status));
}

bool Context::poll_division_by_zero(uint16_t op) {
  for (const auto& stream : streams_) {
    if (!stream->closed() && stream->saw_division_by_zero()) stream->raise_pending(op);
  }
  return division_by_zero_.load(std::memory_order_relaxed) &&
         division_by_zero_.exchange(false, std::memory_order_relaxed);
}

}  // namespace stator
