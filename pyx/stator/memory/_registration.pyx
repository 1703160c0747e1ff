# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Memory of NumPy arrays that is page-locked for a time. Used by python/stator/memory/__init__.py."""
import numpy as np
from libc.stdint cimport uintptr_t

from stator._backend cimport Backend, drop_owner
from stator.cpp cimport binding, interop
from stator.cpp.array cimport Array as CppArray
from stator.cpp.python cimport Py_DECREF, Py_INCREF

from stator.errors import DTypeError, InvalidValueError


cdef class RegisteredMemory:
    """RegisteredMemory()\n--\n
    The memory of a NumPy array while it is page-locked, made by stator.memory.register_host()."""
    cdef CppArray c
    cdef readonly Backend backend
    cdef object held

    def __init__(self) -> None:
        raise TypeError("RegisteredMemory has no constructor. Use stator.memory.register_host().")

    def __dealloc__(self):
        interop.release_later(self.c)

    @property
    def array(self) -> np.ndarray[Any, Any] | None:
        """The NumPy array; None after close()."""
        return self.held

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self.held is None

    def close(self) -> None:
        """Waits for the backend's streams, and makes the memory pageable again. Idempotent."""
        if self.held is None:
            return
        self.held = None
        with nogil:
            interop.unregister_host(self.c)
        interop.release_later(self.c)
        if interop.owners_waiting():
            binding.run_deleters()

    def __enter__(self) -> np.ndarray[Any, Any]:
        return self.held

    def __exit__(self, *error: object) -> None:
        self.close()


def register(backend: Backend, array: object) -> RegisteredMemory:
    """What stator.memory.register_host does."""
    cdef str op = "memory.register_host"
    cdef RegisteredMemory out = RegisteredMemory.__new__(RegisteredMemory)
    cdef uintptr_t address
    cdef size_t nbytes
    if not isinstance(array, np.ndarray):
        raise DTypeError(f"Got array of type {type(array).__name__}", op=op, remedy="Give a NumPy array.")
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise InvalidValueError("The NumPy array is not contiguous", op=op,
                                remedy="Register the array that it is a view of.")
    if not array.flags.writeable:
        raise InvalidValueError("The NumPy array is read-only", op=op, remedy="Register memory that can be written.")
    if array.nbytes == 0:
        raise InvalidValueError("The NumPy array is empty", op=op, remedy="Register at least one byte.")
    address, nbytes = array.ctypes.data, array.nbytes
    out.backend = <Backend?>backend
    Py_INCREF(array)  # until drop_owner
    try:
        with nogil:
            out.c = interop.register_host(out.backend.c, <void*>address, nbytes, <void*>array, drop_owner)
    except BaseException:
        Py_DECREF(array)
        raise
    out.held = array
    return out
