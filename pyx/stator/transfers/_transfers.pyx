# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Copies of ranges of bytes between arrays and memory of the host."""
import numpy as np
from libc.stdint cimport uintptr_t

from stator._array cimport Array, as_given
from stator._backend cimport Backend, Event, Stream, after_wait, enter_stream
from stator._convert cimport to_int, wrong_type
from stator.cpp cimport transfers as cpp
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.std cimport vector

from stator.errors import BackendMismatchError, DTypeError, InvalidValueError


def host_bytes(host: object, array: Array, write: bool, op: str) -> np.ndarray[Any, Any]:
    """The host's memory as a NumPy array of bytes."""
    if isinstance(host, np.ndarray):
        if not host.flags.c_contiguous:
            raise InvalidValueError("The NumPy array is not contiguous", op=op, remedy="Use numpy.ascontiguousarray.")
        if host.dtype != np.uint8 and host.dtype != array.dtype.numpy():
            raise DTypeError(f"The NumPy array is of {host.dtype} and the array of {array.dtype}", op=op,
                             remedy="Convert one, or give the bytes: host.view('u1').")
        raw = host.reshape(-1).view(np.uint8)
    else:
        try:
            view = memoryview(host).cast("B")
        except TypeError:
            raise wrong_type(host, op, "host", "a NumPy array or an object with a contiguous buffer") from None
        raw = np.frombuffer(view, np.uint8) if view.nbytes else np.empty(0, np.uint8)
        if write and view.nbytes == 0:
            return raw
    if write and not raw.flags.writeable:
        raise InvalidValueError("The host's memory is read-only", op=op, remedy="Give memory that can be written.")
    return raw


cdef int to_ranges(Backend owner, list ranges, bint to_host, str op, vector[cpp.ByteRange]& found,
                   list kept) except -1:
    """The ranges as C++ takes them. `kept` has the host's memory as objects, which live as long as these."""
    cdef cpp.ByteRange each
    for array, offset, host in ranges:
        if (<Array>array).backend is not owner:
            raise BackendMismatchError("ranges of arrays of two backends", op=op, remedy="Make a call per backend.")
        raw = host_bytes(host, array, to_host, op)
        kept.append(raw)
        each.array = &(<Array>array).c
        each.offset = to_int(offset, op, "offset")
        each.host = <void*><uintptr_t>raw.ctypes.data
        each.size = raw.size
        found.push_back(each)
    return 0


cdef object transfer(object backend, list ranges, bint to_host, object stream, str op,
                     cpp.HostMemory memory=cpp.copied):
    cdef vector[cpp.ByteRange] found
    cdef CppStream on
    cdef Backend owner
    if not ranges:
        return None
    owner = (<Array>ranges[0][0]).backend if backend is None else <Backend>backend
    kept = []
    to_ranges(owner, ranges, to_host, op, found, kept)
    enter_stream(owner, stream, on, op)
    with nogil:
        if to_host:
            cpp.read_ranges(cpp.RangeSpan(found.data(), found.size()), on)
        else:
            cpp.write_ranges(cpp.RangeSpan(found.data(), found.size()), on, memory)
    if to_host:
        after_wait(owner)
    return None


cdef list checked(object ranges, str op):
    if not isinstance(ranges, (list, tuple)):
        raise wrong_type(ranges, op, "ranges", "a list of (array, offset, host)")
    out = []
    for entry in ranges:
        if not isinstance(entry, (list, tuple)) or len(entry) != 3:
            raise wrong_type(entry, op, "ranges", "a list of (array, offset, host)")
        out.append((as_given(entry[0], op), entry[1], entry[2]))
    return out


def copy_from(array: Array, host: object, offset: int, stream: StreamLike | None) -> None:
    """What Array.copy_from does."""
    transfer(None, [(array, offset, host)], False, stream, "Array.copy_from")


def copy_to(array: Array, host: object, offset: int, stream: StreamLike | None) -> None:
    """What Array.copy_to does."""
    transfer(None, [(array, offset, host)], True, stream, "Array.copy_to")


def write_ranges(backend: Backend, ranges: Sequence[tuple[Array, int, object]], stream: StreamLike | None) -> None:
    """What Backend.transfers.write_ranges does."""
    cdef str op = "Backend.transfers.write_ranges"
    transfer(backend, checked(ranges, op), False, stream, op)


def read_ranges(backend: Backend, ranges: Sequence[tuple[Array, int, object]], stream: StreamLike | None) -> None:
    """What Backend.transfers.read_ranges does."""
    transfer(backend, checked(ranges, "Backend.transfers.read_ranges"), True, stream, "Backend.transfers.read_ranges")


def check_ranges(backend: Backend, ranges: list[tuple[Array, int, object]], to_host: bool, op: str) -> None:
    """Raises what a transfer of the ranges would raise, and copies nothing. Used by stator.programs."""
    cdef vector[cpp.ByteRange] found
    cdef bint write = not to_host
    kept = []
    to_ranges(backend, ranges, to_host, op, found, kept)
    with nogil:
        cpp.check_ranges(cpp.RangeSpan(found.data(), found.size()), write)


def write(backend: Backend, ranges: list[tuple[Array, int, object]], stream: Stream, lent: bool) -> None:
    """As write_ranges(), but asynchronous on every device, and lent: the memory must stay unmodified until then."""
    transfer(backend, ranges, False, stream, "Backend.transfers.write_ranges", cpp.lent if lent else cpp.staged)


cdef class PendingReads:
    """PendingReads()\n--\n
    Copies to the host that are under way, made by begin_reads()."""
    cdef cpp.PendingReads c
    cdef object kept
    cdef Event behind

    def __init__(self) -> None:
        raise TypeError("PendingReads has no constructor.")

    @property
    def event(self) -> Event:
        """The event after the copies."""
        return self.behind

    def finish(self) -> None:
        """Waits for the stream's work before the copies and for these, and writes the host's memory. Once."""
        with nogil:
            self.c.finish()
        self.kept = None
        after_wait(self.behind.backend)


def begin_reads(backend: Backend, ranges: list[tuple[Array, int, object]], stream: Stream, lent: bool) -> PendingReads:
    """Enqueues copies to the host, after the event of the result. Asynchronous. Used by stator.programs.

    lent: the copies go straight to the host's memory.
    """
    cdef PendingReads out = PendingReads.__new__(PendingReads)
    cdef vector[cpp.ByteRange] found
    cdef CppStream on
    cdef cpp.HostMemory memory = cpp.lent if lent else cpp.staged
    cdef str op = "Backend.transfers.read_ranges"
    out.kept = []
    to_ranges(backend, ranges, True, op, found, out.kept)
    enter_stream(backend, stream, on, op)
    with nogil:
        out.c = cpp.begin_reads(cpp.RangeSpan(found.data(), found.size()), on, memory)
    out.behind = Event.__new__(Event)
    out.behind.c = out.c.event()
    out.behind.backend = backend
    return out
