# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""The end of scopes, and what is kept beyond it."""
from libc.stdint cimport uint32_t

from stator._array cimport Array
from stator._backend cimport Backend, Event, settle
from stator.cpp cimport scope as cpp


def new_scope() -> int:
    """The number of a new scope."""
    return cpp.new_scope()


def end_scope(backend: Backend, number: int, seconds: float) -> int:
    """Closes what belongs to the scope: how many objects; -1 where calls that might use them did not end, and none was.

    seconds: how long it waits for such calls.
    """
    cdef double patience = seconds
    cdef uint32_t scope = number
    cdef Backend owner = backend
    cdef size_t closed = 0
    cdef bint ended
    settle()
    with nogil:
        ended = cpp.end_scope(owner.c, scope, patience, &closed)
    settle()
    return closed if ended else -1


def change_scope(value: Array | Event, scope: int, to: int) -> None:
    """Makes the memory of an array, or an event, that belongs to one scope belong to another one; 0 for none."""
    if isinstance(value, Array):
        cpp.change_scope((<Array>value).c, <uint32_t>scope, <uint32_t>to)
    else:
        cpp.change_scope((<Event?>value).c, <uint32_t>scope, <uint32_t>to)
