# States of generators, and those that stand for them while work is captured into a graph. Included by _random.pyx.

# Of each thread, by the backend that it captures: the draws from each generator, by its lock. Dropped with the thread.
cdef object captured_draws = local()
cdef Py_ssize_t begun_captures = 0  # and not ended


cdef dict draws_of_backend(object backend):
    made = getattr(captured_draws, "made", None)
    return None if made is None else made.get(id(backend))


# By the lock of a generator and the thread: the one that captured work draws from in its place, as that of a graph
# from a file.
cdef dict substitutes = {}


def substitute(generator: Generator, by: Generator | None = None) -> Generator | None:
    """What is captured from now on draws from another generator, or again from this one; returns the one before."""
    cdef Generator of = <Generator?>generator
    before = substitutes.pop((id(of.lock), get_ident()), None)
    if by is not None:
        substitutes[id(of.lock), get_ident()] = by
    return before


def share_state(a: Generator, b: Generator) -> bool:
    """Whether draws from the one advance the other."""
    return (<Generator?>a).lock is (<Generator?>b).lock


def drawn_from(generator: Generator) -> Generator:
    """The generator that captured work draws from where it names this one."""
    return substitutes.get((id((<Generator?>generator).lock), get_ident()), generator)


cdef CapturedDraws draws_in(Generator generator, const CppStream& on):
    cdef CapturedDraws made
    cdef dict found = draws_of_backend(generator.backend)
    if found is None or not cpp_graph.is_capturing(on):
        return None
    generator = drawn_from(generator)
    if id(generator.lock) not in found:
        made = CapturedDraws.__new__(CapturedDraws)
        made.generator = generator
        made.first.seed, made.first.counter = int.from_bytes(os.urandom(8)), int.from_bytes(os.urandom(8)) >> 2
        made.state = made.first
        cpp_graph.add_state(on, made.first)
        found[id(generator.lock)] = made
    return found[id(generator.lock)]


cdef CapturedDraws draws_of(Generator generator):
    """As draws_in, of the current stream."""
    if draws_of_backend(generator.backend) is None:
        return None
    return draws_in(generator, (<Stream>current_stream(generator.backend)).c)


cdef class CapturedDraws:
    pass


def begin_draws(backend: Backend) -> None:
    """A capture begins: every launch of the graph draws new numbers."""
    global begun_captures
    if draws_of_backend(backend) is not None:
        raise CaptureError("Another stream of the backend is being captured", op="Backend.capture",
                           remedy="End that capture first.")
    if not hasattr(captured_draws, "made"):
        captured_draws.made = {}
    captured_draws.made[id(backend)] = {}
    begun_captures += 1


def end_draws(backend: Backend) -> list[CapturedDraws]:
    """The capture has ended: what was drawn in it, for each generator. None where its thread has ended before."""
    global begun_captures
    begun_captures -= 1
    return [*getattr(captured_draws, "made", {}).pop(id(backend), {}).values()]


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
