// For bindings to other languages: what starts and ends with their interpreter, which may end before the process.
#pragma once

#include <stator/interop.hpp>

namespace stator::interop {

// Marks a backend as one of the binding: end_binding() closes it. After end_binding() this closes the backend and
// throws BackendClosedError.
STATOR_API void bind(const Backend&);
// Closes the binding's backends, newest first, as shutdown() closes all, and leaves the program's own open. After that,
// C callbacks passed to stator::interop are no longer called. Idempotent.
STATOR_API void end_binding() noexcept;
STATOR_API bool binding_ended() noexcept;

// `check` is called a few times per second while the thread waits in a call that can throw: true ends the call with an
// Error. If it raised an exception of its language, it must keep it until the binding translates that Error.
STATOR_API void set_interrupt_check(bool (*check)(), unsigned long thread) noexcept;
// Waits for the work of the backend's streams before close(), which cannot be interrupted. Throws only if interrupted.
STATOR_API void wait_before_close(const Backend&);

// Whether the Error that the thread has just caught was reported by a kernel, possibly of an earlier call, which the
// Error names. Resets the answer to false.
STATOR_API bool take_fault() noexcept;

// Runs the deleters that were deferred to a thread that may run them; release_owners() first polls for more of them,
// and may wait for locks.
STATOR_API void run_deleters();
// As release_later. True if the memory is shared with other libraries on the host: they can use it again once
// drain_releases() and run_deleters() have been called.
STATOR_API bool let_go(Array&) noexcept;

// Records that the stream waits for the producer of foreign memory and so counts as its user: its consumers wait too.
STATOR_API void note_order(const Array&, const Stream&);

}  // namespace stator::interop
