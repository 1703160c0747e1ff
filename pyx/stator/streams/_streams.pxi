# Streams as arguments, those of other libraries, what callbacks of streams call, and events. Included by _backend.pyx.

cdef extern from *:
    """
    namespace {
    void call_unraisable(PyObject* function) {
      if (PyObject* out = PyObject_CallNoArgs(function))
        Py_DECREF(out);
      else
        PyErr_WriteUnraisable(function);
    }
    }
    """
    void call_unraisable(object)


cdef int enter_stream(Backend backend, object value, cpp.Stream& stream, str op) except -1:
    enter(backend, stream)
    if value is not None:
        stream = as_stream(backend, value, op).c
    return 0


cdef Stream as_stream(Backend backend, object value, str op):
    if not isinstance(value, Stream):
        return wrap_stream(backend, value, op)
    if (<Stream>value).backend is not backend:
        raise BackendMismatchError("the stream is of another backend", op=op,
                                   remedy="Take one of this backend's streams, or wrap it with "
                                          "Backend.streams.external().")
    return <Stream>value


cdef Stream new_stream(Backend backend, cpp.Stream c):
    cdef Stream out = Stream.__new__(Stream)
    out.c = c
    out.backend = backend
    return out


cdef Stream wrap_stream(Backend backend, object value, str op):
    cdef uintptr_t handle
    cdef cpp.Stream out
    if not hasattr(value, "__cuda_stream__"):
        raise wrong_type(value, op, "stream", "a Stream or an object with __cuda_stream__()")
    version, address = value.__cuda_stream__()
    if version != 0:
        raise InvalidValueError(f"Version {version} of the protocol __cuda_stream__", op=op,
                                remedy="Pass a stream of version 0.")
    handle = to_int(address, op, "stream")
    Py_INCREF(value)
    try:
        with nogil:
            out = interop.external_stream(backend.c, <void*>handle, <void*>value, drop_owner)
    except BaseException:
        Py_DECREF(value)
        raise
    return new_stream(backend, out)


def external_stream(backend: Backend, stream: StreamLike) -> Stream:
    """The stream of another library as one of the backend, as Backend.streams.external() gives it."""
    cdef Backend owner = as_backend(backend, "Backend.streams.external")
    if isinstance(stream, Stream) and (<Stream>stream).backend is owner:
        return stream
    return wrap_stream(owner, stream, "Backend.streams.external")


def pool_streams(backend: Backend, count: int, priority: int) -> tuple[Stream, ...]:
    """Streams after the default one that have the priority, as many as asked for."""
    cdef Backend owner = as_backend(backend, "Backend.streams.pool")
    cdef vector[cpp.Stream] found
    cdef int wanted = to_priority(priority, "Backend.streams.pool")
    cdef int64_t many = to_int(count, "Backend.streams.pool", "count")
    cdef int at_most = <int>min(max(many, 0), 2**31 - 1)
    with nogil:
        found = owner.c.streams(at_most, wanted)
    return tuple([new_stream(owner, found[i]) for i in range(found.size())])


def stream_count(backend: Backend) -> int:
    """The number of streams in the backend's pool; stream 0 is the default one."""
    return as_backend(backend, "Backend.streams").c.stream_count()


def priority_range(backend: Backend) -> tuple[int, int]:
    """The least and the greatest priority of the backend's streams; the greatest is the lower number."""
    cdef Backend owner = as_backend(backend, "Backend.streams.priority_range")
    cdef cpp.PriorityRange out
    with nogil:
        out = owner.c.priority_range()
    return out.least, out.greatest


cdef void drop_owner(void* owner) noexcept with gil:
    Py_DECREF(<object>owner)


# The function's last reference goes with the interpreter's lock, and the list's in a later call.
cdef void run_callback(void* cell) noexcept with gil:
    call_unraisable((<list>cell).pop())


cdef int to_priority(object value, str op) except? -1:
    cdef int64_t number = to_int(value, op, "priority")
    if not -2**31 <= number < 2**31:
        raise InvalidValueError(f"priority={number}", op=op, remedy="Pass one within Backend.streams.priority_range.")
    return <int>number


cdef object waiting(object waited):
    import asyncio
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        raise StatorError("No event loop runs on this thread", op=f"{type(waited).__name__}.__await__",
                          remedy="Await it in a coroutine, or call synchronize().") from None
    return loop.run_in_executor(None, waited.synchronize).__await__()


cdef Event as_event(object value, str op, str name):
    if not isinstance(value, Event):
        raise wrong_type(value, op, name, "an Event")
    return <Event>value


cdef class Event:
    """Event()\n--\n
    A point in the work of a stream, made by Stream.record()."""

    def __init__(self) -> None:
        raise TypeError("Event has no constructor. Use Stream.record().")

    def __dealloc__(self):
        interop.release_later(self.c)

    def done(self) -> bool:
        """Whether the work before the event has finished. Does not wait."""
        cdef bint out
        with nogil:
            out = self.c.done()
        return out

    def synchronize(self) -> None:
        """Waits for the work before the event."""
        with nogil:
            self.c.synchronize()
        warn_of_libraries()
        if interop.owners_waiting():
            binding.run_deleters()

    def __await__(self) -> AwaitGenerator[Any, Any, None]:
        """`await event` waits as synchronize() does, on another thread, so that the event loop goes on."""
        return waiting(self)

    def milliseconds_since(self, earlier: Event, /) -> float:
        """The milliseconds from the earlier event to this one. InvalidValueError unless both have happened."""
        cdef Event other = as_event(earlier, "Event.milliseconds_since", "earlier")
        cdef float out
        with nogil:
            out = self.c.milliseconds_since(other.c)
        return out
