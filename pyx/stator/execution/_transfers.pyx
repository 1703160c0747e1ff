# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Copies of ranges of bytes between arrays and memory of the host."""
import numpy as np
from libc.stdint cimport uintptr_t

from stator._array cimport Array, as_array
from stator._backend cimport Backend, after_wait, enter_stream
from stator._convert cimport to_int, wrong_type
from stator.cpp cimport transfers as cpp
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.std cimport vector

from stator.errors import BackendMismatchError, DTypeError, InvalidValueError


cdef object host_bytes(object host, object array, bint write, str op):
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


cdef object transfer(object backend, list ranges, bint to_host, object stream, str op):
    cdef vector[cpp.ByteRange] found
    cdef cpp.ByteRange each
    cdef CppStream on
    cdef Backend owner
    if not ranges:
        return None
    owner = (<Array>ranges[0][0]).backend if backend is None else <Backend>backend
    kept = []
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
    enter_stream(owner, stream, on, op)
    with nogil:
        if to_host:
            cpp.read_ranges(cpp.RangeSpan(found.data(), found.size()), on)
        else:
            cpp.write_ranges(cpp.RangeSpan(found.data(), found.size()), on)
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
        out.append((as_array(entry[0], op), entry[1], entry[2]))
    return out


def copy_from(array: Array, host: object, offset: int, stream: StreamLike | None) -> None:
    """What Array.copy_from does."""
    transfer(None, [(array, offset, host)], False, stream, "Array.copy_from")


def copy_to(array: Array, host: object, offset: int, stream: StreamLike | None) -> None:
    """What Array.copy_to does."""
    transfer(None, [(array, offset, host)], True, stream, "Array.copy_to")


def write_ranges(backend: Backend, ranges: Sequence[tuple[Array, int, object]], stream: StreamLike | None) -> None:
    """What Backend.write_ranges does."""
    transfer(backend, checked(ranges, "Backend.write_ranges"), False, stream, "Backend.write_ranges")


def read_ranges(backend: Backend, ranges: Sequence[tuple[Array, int, object]], stream: StreamLike | None) -> None:
    """What Backend.read_ranges does."""
    transfer(backend, checked(ranges, "Backend.read_ranges"), True, stream, "Backend.read_ranges")
