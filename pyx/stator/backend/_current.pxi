# What is current in a thread or a task: streams, scopes and backends. Included by _backend.pyx.

# The streams entered by `with`, innermost last; read only once any stream was entered.
cdef object streams_var = ContextVar("stator.streams", default=())
cdef bint streams_entered = False
# The scopes that calls are in, innermost last: pairs of backend and number. Read only once any scope was entered.
cdef object scopes_var = ContextVar("stator.scopes", default=())
cdef bint scopes_entered = False
# The backends entered by `with`, innermost last.
cdef object backends_var = ContextVar("stator.backends", default=())


cdef int enter(Backend backend, cpp.Stream& stream) except -1:
    cdef Stream entry
    if interop.owners_waiting():
        binding.run_deleters()
    if scopes_entered:
        choose_scope(backend)
    if streams_entered:
        for entry in reversed(<tuple>streams_var.get()):
            if entry.backend is backend:
                stream = entry.c
                break
    return 0


# What this thread makes for the backend from here on belongs to the innermost of its scopes.
cdef int choose_scope(Backend backend) except -1:
    cdef tuple scopes = <tuple>scopes_var.get()
    cdef Py_ssize_t i
    cdef uint32_t number = 0
    for i in range(len(scopes) - 1, -1, -1):
        if (<tuple>scopes[i])[0] is backend:
            number = (<tuple>scopes[i])[1]
            break
    cpp_scope.enter_scope(number)
    return 0


def set_scopes(scopes: tuple[tuple[Backend, int], ...]) -> tuple[tuple[Backend, int], ...]:
    """Sets the scopes that calls are in from here on, and returns the previous ones (python/stator/scopes)."""
    global scopes_entered
    cdef object before = scopes_var.get()
    if not scopes and not before:
        return before
    scopes_entered = True
    scopes_var.set(scopes)
    cpp_scope.enter_scope(scopes[-1][1] if scopes else 0)
    return before


def current_scopes() -> tuple[tuple[Backend, int], ...]:
    """The scopes that calls are in, innermost last."""
    return scopes_var.get()


def add_stream(stream: Stream) -> Stream:
    """Makes the stream current, until remove_stream(), and returns it."""
    global streams_entered
    streams_entered = True
    streams_var.set((*streams_var.get(), stream))
    return stream


def remove_stream(stream: Stream) -> None:
    """Ends what add_stream() began."""
    streams_var.set(without_last(streams_var.get(), stream))


def current_stream(backend: Backend) -> Stream:
    """The stream that ops of the backend use. Used by python/stator/backend.py."""
    cdef Stream entry
    for entry in reversed(<tuple>streams_var.get()):
        if entry.backend is backend:
            return entry
    return backend.stream(0)


cdef tuple without_last(tuple entered, object one):
    cdef Py_ssize_t i
    for i in range(len(entered) - 1, -1, -1):
        if entered[i] is one:
            return entered[:i] + entered[i + 1:]
    return entered


def add_backend(backend: Backend) -> Backend:
    """Makes the backend current, until remove_backend(), and returns it."""
    backends_var.set((*backends_var.get(), backend))
    return backend


def remove_backend(backend: Backend) -> None:
    """Ends what add_backend() began."""
    backends_var.set(without_last(backends_var.get(), backend))


def use_backend(backend: Backend) -> Entered:
    """A `with` block in which the backend is current. Backend.use() returns it."""
    return Entered(partial(add_backend, backend), remove_backend)


def current_backends() -> tuple[Backend, ...]:
    """The backends that were made current, innermost last."""
    return backends_var.get()
