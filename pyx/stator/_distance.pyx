# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Distances between points."""
from stator._array cimport Array, as_array, new_array
from stator._backend cimport enter
from stator.cpp cimport distance as cpp
from stator.cpp.backend cimport Stream as CppStream


def cdist(x1: Array, x2: Array, /, *, p: float = 2.0) -> Array:
    """out[.., i, j] is the p-norm of x1[.., i, :] - x2[.., j, :]; leading axes broadcast.

    p = 0 counts the coordinates that differ, p = inf is the largest difference. float32 and float64.
    """
    cdef Array a = as_array(x1, "cdist"), b = as_array(x2, "cdist"), out = new_array(a.backend)
    cdef double norm = p
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        out.c = cpp.cdist(a.c, b.c, norm, stream)
    return out
