# States of generators, and those that stand for them while work is captured into a graph. Included by _random.pyx.

# By the backend that is capturing: its stream, and by the lock of each generator that was drawn from its draws.
cdef dict captured_draws = {}


cdef object draws_of(Generator generator):
    """The draws of the generator in the capture that the current stream belongs to, or None."""
    cdef CapturedDraws made
    found = captured_draws.get(id(generator.backend))
    if found is None or not cpp_graph.is_capturing((<Stream>current_stream(generator.backend)).c):
        return None
    if id(generator.lock) not in found:
        made = CapturedDraws.__new__(CapturedDraws)
        made.generator = generator
        made.first.seed, made.first.counter = secrets.randbits(64), secrets.randbits(62)
        made.state = made.first
        found[id(generator.lock)] = made
    return found[id(generator.lock)]


cdef class CapturedDraws:
    pass


def begin_draws(backend: Backend) -> None:
    """A capture begins: what is drawn in it is drawn anew by every launch of the graph."""
    if id(backend) in captured_draws:
        raise CaptureError("Another stream of the backend is being captured", op="Backend.capture",
                           remedy="End that capture first.")
    captured_draws[id(backend)] = {}


def end_draws(backend: Backend) -> list[CapturedDraws]:
    """The capture has ended: what was drawn in it, for each generator."""
    return [*captured_draws.pop(id(backend), {}).values()]


cdef uint64_t to_uint64(object value, str op, str name) except? 0:
    try:
        return <uint64_t>to_python_int(value)
    except (OverflowError, TypeError):
        raise InvalidValueError(f"{name}={shown(value)}", op=op, remedy="Give an integer in [0, 2**64).") from None


cdef State to_state(object value, str op, str name) except *:
    cdef State state
    try:
        seed, counter, offset, _ = value
    except (TypeError, ValueError):
        raise InvalidValueError(f"{name}={shown(value)}", op=op, remedy="Give what get_state returned.") from None
    state.seed = to_uint64(seed, op, "seed")
    state.counter = to_uint64(counter, op, "counter")
    if to_uint64(offset, op, "offset") != 0:
        raise InvalidValueError(f"offset={offset!r}", op=op, remedy="Every draw begins a block: give 0.")
    return state


cdef object from_state(State state, Backend backend):
    return RngState(state.seed, state.counter, 0, backend.device_name)
