// For bindings to other languages: memory lent to others, foreign owners and streams, release without waiting.
#pragma once

#include <stator/array.hpp>

namespace stator::interop {

// The first element, for a consumer that keeps it past close(): the memory is then detached instead of freed. cpu:
// waits for every stream that used the buffer, and its later uses are synchronous. cuda: does not wait, see order().
// Pair with unexport.
STATOR_API void* export_memory(const Array&);
// From any thread, also after close and shutdown. Takes the array over; it is empty afterwards.
STATOR_API void unexport(Array&) noexcept;

STATOR_API bool read_only(const Array&);
STATOR_API Stream last_stream(const Array&);  // that used the array's buffer

// Work enqueued later on the native stream `to` starts after what was enqueued on `from`. Either may be foreign.
STATOR_API void order(const Backend&, void* from, void* to);
// The same after what every stream was given that used the array's buffer.
STATOR_API void order_after_uses(const Array&, void* to);

// Page-locked host memory as a uint8 vector. Its data_ptr() is host memory on both targets.
STATOR_API Array pinned(const Backend&, size_t bytes);

// from_foreign with a C callback: release(owner) runs once, in a call of release_owners().
STATOR_API Array from_owner(const Backend&, void* data, DType dtype, const Dims& shape, const Dims& strides,
                            bool host_shared, bool read_only, void* owner, void (*release)(void*));
STATOR_API bool owners_waiting() noexcept;  // one load
STATOR_API void release_owners();

// Gives the reference to the queue that the next entry point drains: no lock, no wait. Empty afterwards.
STATOR_API void release_later(Array&) noexcept;
STATOR_API void release_later(Backend&) noexcept;
STATOR_API void release_later(Stream&) noexcept;
STATOR_API void release_later(Event&) noexcept;
STATOR_API void drain_releases() noexcept;

}  // namespace stator::interop
