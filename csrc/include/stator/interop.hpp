// For bindings to other languages: exported memory, foreign owners and streams, and releases that take no lock.
#pragma once

#include <stator/creation.hpp>
#include <stator/memory/memory.hpp>

#include <string_view>

#include <stator/macros/aside.inc>

namespace stator::interop {

// The address of the first element, for a consumer that may keep it past close(): the memory is then detached instead
// of freed. cpu: waits for every stream that used the buffer, and its later uses are synchronous. cuda: does not wait,
// see order(). Pair it with unexport.
STATOR_API void* export_memory(const Array&);
// Ends an export, from any thread, also after close and shutdown. Takes the array over, which is empty afterwards.
// cuda: `consumer` is the native stream on which the memory was used, or legacy_stream, and the memory is used again
// only after what that stream holds now, and never again if that is being captured into a graph. Waits for the device
// where the stream was destroyed or the backend closed.
STATOR_API void unexport(Array&, void* consumer = nullptr) noexcept;

// CUDA's handle of the legacy default stream, which also stands for the work of all streams that block with it.
inline void* legacy_stream() { return reinterpret_cast<void*>(1); }

// BackendMismatchError, naming the call, where a cuda backend cannot use the memory because it is another device's or
// ordinary memory of the host.
STATOR_API void require_reachable(const Backend&, const void* memory, std::string_view call);

// Whether a consumer must not write: foreign memory that is read-only, and views that repeat elements along an axis,
// where one write would change many.
STATOR_API bool read_only(const Array&);
STATOR_API Stream last_stream(const Array&);  // the stream that used the array's buffer last

// Work enqueued later on the native stream `to` starts after the work enqueued so far on `from`. Either may be foreign.
// CaptureError, naming the call, where one of them is being captured into a graph, which goes on.
STATOR_API void order(const Backend&, void* from, void* to, std::string_view call);
// The same, after the work enqueued so far on every stream that used the array's buffer.
STATOR_API void order_after_uses(const Array&, void* to, std::string_view call);

// Uninitialised page-locked host memory as a uint8 vector. Its data_ptr() is host memory on both targets.
// OutOfMemoryError.
STATOR_API Array pinned(const Backend&, size_t bytes);

// Page-locks memory of the host until unregister_host(), or until the backend closes, and waits for its streams then.
// release(owner) as of from_owner(), not after a throw. ValueError where a part of it is registered already.
STATOR_API Array register_host(const Backend&, void* memory, size_t bytes, void* owner, void (*release)(void*));
STATOR_API void unregister_host(const Array&) noexcept;

// from_foreign with a C callback: release(owner) runs once, in a call of release_owners().
STATOR_API Array from_owner(const Backend&, const ForeignMemory&, void* owner, void (*release)(void*));
STATOR_API bool owners_waiting() noexcept;  // whether there is anything to release; costs one atomic load
STATOR_API void release_owners();

// Backend::open with an allocator of C callbacks, which any thread calls: they do what Allocator's functions do, and
// throw nothing. release(owner) runs once, in a call of release_owners(), when the backend and its arrays are gone,
// also where this throws.
struct AllocatorCalls {
  void* (*allocate)(void* owner, size_t bytes, void* stream);
  void (*deallocate)(void* owner, void* memory, size_t bytes, void* stream);
  void (*release)(void* owner);
};
STATOR_API Backend open(std::string_view device, const BackendOptions&, void* owner, const AllocatorCalls&);

// Backend::external_stream with a C callback, as from_owner has it.
STATOR_API Stream external_stream(const Backend&, void* native, void* owner, void (*release)(void*));

// Stream::add_callback with C callbacks: run(owner) runs in stream order on any thread, unless the process has ended,
// and release(owner) once, in a call of release_owners(), also where this throws.
STATOR_API void add_callback(const Stream&, void* owner, void (*run)(void*), void (*release)(void*));

// set_memory_hook with C callbacks: ask(owner, bytes, round) as MemoryHook, unless the process has ended, and
// release(owner) once, in a call of release_owners(), also where this throws.
STATOR_API void set_memory_hook(const Backend&, void* owner, bool (*ask)(void*, size_t, int), void (*release)(void*));

// Whether a callback of any stream has not returned yet: a thread that may wait for a device must not hold a lock that
// callbacks take, such as the interpreter's.
STATOR_API bool callbacks_pending() noexcept;

// Whether an op that reads or writes each element of the array once is done within some microseconds and waits for
// nothing, so that the binding need not let other threads in: little memory of the cpu that has no other user. False
// while callbacks_pending().
STATOR_API bool is_brief(const Array&) noexcept;

// Moves the reference into the queue that the next entry point drains, without a lock or a wait. The handle is empty
// afterwards.
STATOR_API void release_later(Array&) noexcept;
STATOR_API void release_later(Backend&) noexcept;
STATOR_API void release_later(Stream&) noexcept;
STATOR_API void release_later(Event&) noexcept;
STATOR_API void drain_releases() noexcept;

// An object of the binding that every module of it needs to the end of the process, such as the function that makes its
// exceptions. Null until it is set.
STATOR_API void set_binding(void* object) noexcept;
STATOR_API void* binding() noexcept;

}  // namespace stator::interop

#include <stator/macros/back.inc>
