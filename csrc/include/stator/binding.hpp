// For bindings to other languages: what begins and ends with their interpreter, which may end before the process.
#pragma once

#include <stator/interop.hpp>

namespace stator::interop {

// Marks a backend as one of the binding: end_binding() closes it. BackendClosedError after that, and the backend is
// closed.
STATOR_API void bind(const Backend&);
// Closes the binding's backends, newest first, as shutdown() closes all, and leaves the program's own open. From then
// on no C callback is called that a function of stator::interop was given. Idempotent.
STATOR_API void end_binding() noexcept;
STATOR_API bool binding_ended() noexcept;

// `check` is asked a few times per second while the thread waits in a call that can throw: true ends the call with an
// Error. A check that raises an exception of its language keeps it until the binding translates that Error.
STATOR_API void set_interrupt_check(bool (*check)(), unsigned long thread) noexcept;
// Waits for what the backend's streams hold, before close(), which cannot be interrupted. Throws nothing else.
STATOR_API void wait_before_close(const Backend&);

// Whether the Error that the thread has just caught was found by a kernel, so that it may be that of an earlier call,
// which it names. Once.
STATOR_API bool take_fault() noexcept;

// Runs the deleters that wait for a thread which may run them; release_owners() looks for more first, and may wait for
// locks.
STATOR_API void run_deleters();
// As release_later. True where the memory is shared with others of the host: what they wait for is theirs again as soon
// as drain_releases() and run_deleters() were called.
STATOR_API bool let_go(Array&) noexcept;

// Foreign memory on whose producer the stream now waits: counts as used there, so that consumers of it wait too.
STATOR_API void note_order(const Array&, const Stream&);

}  // namespace stator::interop
