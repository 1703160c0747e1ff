# The allocators of other libraries: pairs of functions that any thread calls. Included by _backend.pyx.

cdef void* call_allocate(void* owner, size_t nbytes, void* stream) noexcept with gil:
    cdef uintptr_t found = 0
    if interrupt_noted():  # the call that needs the memory is to end
        return NULL
    try:
        found = (<tuple>owner)[0](nbytes, <uintptr_t>stream)
        note_allocator_error(None)
    except Exception as error:
        note_allocator_error(error)
    except BaseException as error:  # KeyboardInterrupt, SystemExit: for the caller itself
        note_interrupt(error)
    return <void*>found


cdef void call_deallocate(void* owner, void* memory, size_t nbytes, void* stream) noexcept with gil:
    (<tuple>owner)[1](<uintptr_t>memory, nbytes, <uintptr_t>stream)  # what it raises goes to sys.unraisablehook


# functions: allocate(nbytes, stream) -> address, and deallocate(address, nbytes, stream).
cdef cpp.Backend open_with_allocator(const char* device, cpp.BackendOptions options, tuple functions):
    cdef interop.AllocatorCalls calls
    cdef cpp.Backend out
    calls.allocate = call_allocate
    calls.deallocate = call_deallocate
    calls.release = drop_owner
    Py_INCREF(functions)  # until drop_owner
    with nogil:
        out = interop.open_with(device, options, <void*>functions, calls)
    return out
