# What the interpreter and the library tell each other: signals, faults of kernels, what is to be released. Included by
# _backend.pyx.

# What a signal's handler raises ends the wait of the main thread, whose call then raises it.
cdef cbool ask_signals() noexcept with gil:
    try:
        PyErr_CheckSignals()
    except BaseException as error:
        note_interrupt(error)
        return True
    return False


binding.set_interrupt_check(ask_signals, main_thread().ident)


def take_fault() -> bool:
    """Whether the error that C++ has just thrown was found by a kernel. Used by python/stator/errors.py."""
    return binding.take_fault()


found_by_kernels.append(take_fault)


cdef int settle() except -1:
    # Repeated, since a release may free a foreign owner, whose destruction may release further objects.
    with nogil:
        interop.drain_releases()
    while interop.owners_waiting():
        binding.run_deleters()
        with nogil:
            interop.drain_releases()
    return 0


# After binding.let_go(), in a destructor, which must not raise: what an owner's release raises is its own affair.
cdef void release_shared() noexcept:
    if not binding.binding_ended():
        settle()
