# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""The end of scopes, and what is kept beyond it."""
cimport cython
from libc.stdint cimport uint32_t

from stator._array cimport Array
from stator._backend cimport Backend, Event, settle
from stator._convert cimport to_text
from stator.cpp cimport memory as cpp_memory
from stator.cpp cimport scope as cpp
from stator.cpp.std cimport string

from stator._backend import current_scopes, set_scopes


@cython.auto_pickle(False)
@cython.no_gc_clear
cdef class HeldScope:
    """HeldScope(backend, budget=0, name=None)\n--\n
    A new scope by number, with a budget in bytes (0: none of its own), which ends with this object at the latest.

    name: in errors; None: the number.
    """
    cdef Backend backend
    cdef readonly uint32_t number
    cdef bytes name
    cdef size_t budget
    cdef bint opened

    def __init__(self, backend: Backend, budget: int = 0, name: str | None = None) -> None:
        self.backend, self.budget = <Backend?>backend, budget
        self.number = cpp.new_scope()
        self.name = to_text(f"the scope {self.number}" if name is None else name, "Backend.scoped", "name")

    def open(self, around: int) -> None:
        """Lets its budget be one inside that of the scope around; 0: of none."""
        cdef uint32_t outer = around
        cdef string called = string(<const char*>self.name, len(self.name))
        with nogil:
            cpp_memory.open_budget(self.backend.c, self.number, outer, called, self.budget)
        self.opened = True

    def enter(self) -> tuple[tuple[Backend, int], ...]:
        """Calls are in it from here on; returns what set_scopes() takes to end that."""
        return set_scopes(((self.backend, self.number),))

    def enter_within(self) -> None:
        """As enter(), and inside the scopes that calls are in; leave() ends that."""
        set_scopes((*current_scopes(), (self.backend, self.number)))

    def leave(self) -> None:
        """Calls are in it no more."""
        set_scopes(tuple([entry for entry in current_scopes() if entry[1] != self.number]))

    def __dealloc__(self):
        if self.opened:
            cpp_memory.close_budget(self.backend.c, self.number)


def end_scope(backend: Backend, number: int, seconds: float) -> int:
    """Closes what belongs to the scope, and its budget: how many objects.

    -1 where calls that might use them did not end, and none was closed. seconds: how long it waits for such calls.
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
    if not ended:
        return -1
    cpp_memory.close_budget(owner.c, scope)
    return closed


def change_scope(value: Array | Event, scope: int, to: int) -> None:
    """Makes the memory of an array, or an event, that belongs to one scope belong to another one; 0 for none."""
    if isinstance(value, Array):
        cpp.change_scope((<Array>value).c, <uint32_t>scope, <uint32_t>to)
    else:
        cpp.change_scope((<Event?>value).c, <uint32_t>scope, <uint32_t>to)
