# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""The record of a backend's allocations. Used by python/stator/memory/_timeline.py."""
from stator._backend cimport Backend, settle
from stator.cpp cimport memory_record as cpp
from stator.cpp.std cimport decoded


def record(backend: Backend, most: int) -> None:
    """Begins a recording of at most `most` events; 0 ends it."""
    cdef Backend owner = <Backend?>backend
    cdef size_t count = most
    settle()
    with nogil:
        cpp.record_memory(owner.c, count)


def history(backend: Backend) -> tuple[bool, int, list[tuple[float, int, str]]]:
    """Whether it is recording, the number of events that were dropped, and the others: seconds, bytes, op."""
    cdef Backend owner = <Backend?>backend
    cdef cpp.MemoryHistory found
    cdef size_t i
    settle()
    with nogil:
        found = cpp.memory_history(owner.c)
    return found.recording, found.dropped, [
        (found.events[i].seconds, found.events[i].bytes, decoded(found.events[i].op))
        for i in range(found.events.size())
    ]
