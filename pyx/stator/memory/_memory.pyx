# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""What is called when memory runs out, and the freeing of cached memory."""
from libcpp cimport bool as cbool

from stator._backend cimport Backend, drop_owner, settle
from stator.cpp cimport interop
from stator.cpp cimport memory as cpp
from stator.cpp.python cimport Py_INCREF


cdef extern from "Python.h":
    void PyErr_SetInterrupt()


# An interrupt is raised again by the main thread, when it is back in Python.
cdef cbool ask(void* function, size_t bytes, int round) noexcept with gil:
    try:
        return bool((<object>function)(bytes, round))
    except KeyboardInterrupt:
        PyErr_SetInterrupt()
        return False


def most_hook_rounds() -> int:
    """How often an allocation asks at most."""
    return cpp.most_hook_rounds


def set_memory_hook(backend: Backend, function: Callable[[int, int], bool]) -> None:
    """Sets what allocations that fail ask: function(bytes, round) says whether to try again."""
    cdef Backend owner = backend
    Py_INCREF(function)
    with nogil:
        interop.set_memory_hook(owner.c, <void*>function, ask, drop_owner)


def trim_memory(backend: Backend, keep: int, pinned: bool) -> int:
    """Frees cached memory until at most `keep` bytes are cached; returns how many bytes were freed."""
    cdef Backend owner = backend
    cdef bint locked = pinned
    cdef size_t most = keep, freed
    settle()
    with nogil:
        freed = cpp.trim_pinned_memory(owner.c, most) if locked else cpp.trim_memory(owner.c, most)
    return freed


def reset_peak_memory(backend: Backend) -> None:
    """Makes the peak what is live now."""
    cdef Backend owner = backend
    settle()
    with nogil:
        cpp.reset_peak_memory(owner.c)
