# cython: language_level=3
"""Another project's module that reads stator's C++ objects from Python's."""

from stator cimport Array, Backend
from stator._array cimport wrap_array
from stator._backend cimport enter
from stator.cpp cimport array, backend as streams, creation


def size(Array x not None):
    return x.c.size()


def live(Backend backend not None):
    return backend.c.resources().size()


def copied(Array x not None):
    cdef streams.Stream stream
    cdef array.Array out
    enter(x.backend, stream)
    with nogil:
        out = creation.copy(x.c, stream)
    return wrap_array(x.backend, out)
