// Scopes: memory, events and graphs of a backend that a thread creates between two points can be closed together. A
// scope is a unique number; 0 is none.
#pragma once

#include <stator/array.hpp>

namespace stator {

STATOR_API uint32_t new_scope() noexcept;

// What this thread makes from now on belongs to the scope; 0 for none. Returns the previous one.
STATOR_API uint32_t enter_scope(uint32_t scope) noexcept;

// Closes what belongs to the scope, of this backend: buffers, page-locked memory, events and graphs. Later uses throw
// BackendClosedError; memory that was exported stays until its consumers end. Waits for calls that are in flight, of
// whatever thread: false where there still were some after `seconds`, and then nothing is closed. Asynchronous
// otherwise: memory is used again in the order of the streams. UnsupportedError in a callback of a stream.
// closed: how many objects were closed.
STATOR_API bool end_scope(const Backend&, uint32_t scope, double seconds = 5, size_t* closed = nullptr);

// The memory of the array, or the event, belongs to the scope `to` from now on if it belonged to `from`; 0 for none.
STATOR_API void change_scope(const Array&, uint32_t from, uint32_t to);
STATOR_API void change_scope(const Event&, uint32_t from, uint32_t to);

}  // namespace stator
