#include <stator/binding.hpp>
#include <stator/interop.hpp>

#include "core/context.hpp"
#include "memory/buffer.hpp"
#include "ownership/binding.hpp"
#include "ownership/box.hpp"
#include "ownership/process.hpp"
#include "runtime/waiting/waiting.hpp"

#include <stator/creation.hpp>

#include <bit>

namespace stator::interop {
namespace {

// Pushes the reference to the release queue. That is valid: every tracked class has Box as its first and only base, see
// ref.hpp.
template <class Handle, class T>
void push(Handle& handle, Ref<T> ref) noexcept {
  handle = Handle();
  if (ref) ReleaseQueue::push(ref.detach());
}

std::atomic<void*> binding_object{nullptr};
std::atomic<bool (*)()> interrupt_check{nullptr};

// What a binding releases in its own language, as long as that runs.
std::function<void()> release_of(void* owner, void (*release)(void*)) {
  return [=] {
    if (!interpreter_ended()) release(owner);
  };
}

// Calls f for every stream that uses the buffer. The last stream is not enough: work that reads on another one
// would see what the consumer writes.
template <class F>
void for_each_user(const Buffer& buffer, F f) {
  Context& context = buffer.context();
  for (uint32_t rest = context.open_streams(buffer.users()); rest != 0; rest &= rest - 1)
    f(context.opened_stream(std::countr_zero(rest)));
}

}  // namespace

void* export_memory(const Array& array) {
  Buffer& buffer = buffer_of(array, "Array.data");
  const uint16_t op = uint16_t(Op::data_ptr);
  const OpGuard guard(buffer.context(), op);
  if (array.device().type == DeviceType::cpu) {
    for_each_user(buffer, [op](StreamBox& stream) { stream.synchronize(op); });
  }
  buffer.context().runtime().share_memory();
  char* memory = static_cast<char*>(buffer.export_memory(op));
  return memory + array.offset() * itemsize(array.dtype());
}

void unexport(Array& array, void* consumer) noexcept {
  if (array) array.buffer()->unexport(consumer);
  release_later(array);
}

bool read_only(const Array& array) {
  if (buffer_of(array, "Array.data").read_only()) return true;
  if (array.size() == 0) return false;
  for (int d = 0; d < array.ndim(); ++d)
    if (array.shape()[d] > 1 && array.strides()[d] == 0) return true;
  return false;
}

Stream last_stream(const Array& array) {
  const Buffer& buffer = buffer_of(array, "Array.data");
  return Stream(buffer.context().stream(buffer.last_stream()));
}

void require_reachable(const Backend& backend, const void* memory, std::string_view call) {
  const uint16_t op = uint16_t(Op::asarray);
  Context& context = *backend.context();
  const OpGuard guard(context, op);
  const int device = context.runtime().memory_device(memory, op);
  if (device == context.device().index) return;
  const std::string own = context.device().str();
  if (device < 0)
    throw BackendMismatchError(std::string(call), "got ordinary memory of the host, which " + own + " cannot use",
                               "Pass it as a NumPy array");
  const std::string other = Device{context.device().type, device}.str();
  throw BackendMismatchError(std::string(call), "got memory of " + other + " for a backend on " + own,
                             "Pass device='" + other + "', or copy it there at the producer");
}

void order(const Backend& backend, void* from, void* to, std::string_view call) {
  if (from == to) return;
  const OpGuard guard(*backend.context(), uint16_t(Op::synchronize));
  runtime::Runtime& runtime = backend.context()->runtime();
  for (void* const stream : {from, to}) {
    if (!runtime.stream_capturing(stream)) continue;
    throw CaptureError(
        std::string(call),
        "got a stream that is being captured into a graph, which cannot be ordered with work outside of it",
        "exchange the array before the capture begins, or synchronise before and exchange it without a "
        "stream (stream=-1)");
  }
  // A destroyed event still completes the waits that were enqueued on it.
  struct Scoped {
    runtime::Runtime& runtime;
    runtime::EventHandle handle;
    ~Scoped() { runtime.event_destroy_noexcept(handle); }
  } event{runtime, runtime.event_create()};
  runtime.event_record(event.handle, from);
  runtime.stream_wait(to, event.handle);
}

void order_after_uses(const Array& array, void* to, std::string_view call) {
  const Buffer& buffer = buffer_of(array, "Array.data");
  const OpGuard guard(buffer.context(), uint16_t(Op::data_ptr));
  for_each_user(buffer,
                [&](StreamBox& stream) { order(array.backend(), stream.handle(uint16_t(Op::data_ptr)), to, call); });
}

Array pinned(const Backend& backend, size_t bytes) {
  const uint16_t op = uint16_t(Op::asarray);
  const OpGuard guard(*backend.context(), op);
  return Array(backend.context()->pool().allocate_pinned(bytes, op), DType::uint8, Dims{int64_t(bytes)}, Dims{1}, 0);
}

Array register_host(const Backend& backend, void* memory, size_t bytes, void* owner, void (*release)(void*)) {
  Ref<Buffer> buffer =
      Buffer::registered(*backend.context(), memory, bytes, release_of(owner, release), call::register_host);
  return Array(std::move(buffer), DType::uint8, Dims{int64_t(bytes)}, Dims{1}, 0);
}

void unregister_host(const Array& array) noexcept {
  if (array) Box::close(*array.buffer());
}

Array from_owner(const Backend& backend, const ForeignMemory& memory, void* owner, void (*release)(void*)) {
  return from_foreign(backend, memory, release_of(owner, release));
}

bool owners_waiting() noexcept { return ForeignReleases::pending(); }
void run_deleters() { ForeignReleases::drain(); }

void release_owners() {
  ReleaseQueue::drain();
  poll_foreign_of_all();
  ForeignReleases::drain();
}

void note_order(const Array& array, const Stream& stream) {
  const uint16_t op = uint16_t(Op::asarray);
  Buffer& buffer = buffer_of(array, op_name(op));
  const OpGuard guard(buffer.context(), op);
  const int index = buffer.context().chosen_stream(stream, 0, op).index();
  buffer.note_use(index);
  buffer.set_last_stream(index);
}

bool let_go(Array& array) noexcept {
  if (!array) return false;
  const bool shared = array.buffer()->host_shared();
  ReleaseQueue::push(array.take_buffer().detach());
  return shared;
}

void bind(const Backend& backend) {
  try {
    bind_to_interpreter(*backend.context());
  } catch (...) {
    backend.context()->shut();
    throw;
  }
}

void end_binding() noexcept { end_interpreter(); }
bool binding_ended() noexcept { return interpreter_ended(); }

void set_interrupt_check(bool (*check)(), unsigned long thread) noexcept {
  interrupt_check.store(check);
  const auto ask = [] {
    if (ended() || interpreter_ended()) return false;
    StopsHere stops;
    const bool interrupted = interrupt_check.load()();
    stops.returned = true;
    return interrupted;
  };
  runtime::set_interrupt_check(ask, pthread_t(thread));
}

void wait_before_close(const Backend& backend) {
  if (backend.context() && !backend.closed()) backend.context()->wait_before_close(uint16_t(Op::synchronize));
}

Stream external_stream(const Backend& backend, void* native, void* owner, void (*release)(void*)) {
  return backend.external_stream(native, release_of(owner, release));
}

namespace {

std::shared_ptr<ForeignOwner> shared_owner(void* owner, void (*release)(void*)) {
  auto holder = std::make_unique<ForeignOwner>(release_of(owner, release));
  return std::shared_ptr<ForeignOwner>(
      holder.release(), [](ForeignOwner* o) { ForeignReleases::push(std::unique_ptr<ForeignOwner>(o)); });
}

}  // namespace

void add_callback(const Stream& stream, void* owner, void (*run)(void*), void (*release)(void*)) {
  const std::shared_ptr<ForeignOwner> shared = shared_owner(owner, release);
  stream.add_callback([=] {
    if (ended() || interpreter_ended()) return;
    StopsHere stops;
    run(owner);
    stops.returned = true;
    static_cast<void>(shared);
  });
}

void set_memory_hook(const Backend& backend, void* owner, bool (*ask)(void*, size_t, int), void (*release)(void*)) {
  const std::shared_ptr<ForeignOwner> shared = shared_owner(owner, release);
  stator::set_memory_hook(backend, [=](size_t bytes, int round) {
    if (ended() || interpreter_ended()) return false;
    static_cast<void>(shared);
    StopsHere stops;
    const bool again = ask(owner, bytes, round);
    stops.returned = true;
    return again;
  });
}

bool callbacks_pending() noexcept { return StreamBox::callbacks_pending(); }

bool is_brief(const Array& array) noexcept {
  if (callbacks_pending() || runtime::host_queues_are_long()) return false;
  constexpr size_t most_bytes = 16 << 10;
  if (!array || array.nbytes() > most_bytes) return false;
  const Buffer& buffer = *array.buffer();
  return buffer.context().device().type == DeviceType::cpu && !buffer.host_shared();
}

void release_later(Array& array) noexcept {
  if (array) ReleaseQueue::push(array.take_buffer().detach());
}
void release_later(Backend& backend) noexcept { push(backend, Ref<Context>(backend.context())); }
void release_later(Stream& stream) noexcept { push(stream, Ref<StreamBox>(stream.box())); }
void release_later(Event& event) noexcept { push(event, Ref<EventBox>(event.box())); }
void set_binding(void* object) noexcept { binding_object.store(object, std::memory_order_release); }
void* binding() noexcept { return binding_object.load(std::memory_order_acquire); }

void drain_releases() noexcept { ReleaseQueue::drain(); }

}  // namespace stator::interop
