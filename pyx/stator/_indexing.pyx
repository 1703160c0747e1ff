# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Indexing with arrays."""
from libc.stdint cimport int64_t
from libcpp.vector cimport vector

from stator._array cimport Array, as_array, new_array, take_op
from stator._backend cimport enter
from stator._convert cimport not_an_array, to_int, to_scalar
from stator.cpp cimport indexing as cpp
from stator.cpp.array cimport Operand, Scalar
from stator.cpp.backend cimport Stream as CppStream

include "_operand.pxi"


def take(x: Array, indices: Array, /, *, axis: int | None = None, out: Array | None = None) -> Array:
    """numpy.take along an axis (None: of the flattened array). -n..n-1 is valid.

    An index outside reads 0 and raises OutOfRangeError at the next synchronising call of the stream.
    """
    return take_op(as_array(x, "take"), as_array(indices, "take"), axis, out)


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """out[.., k, ..] = x[.., indices[.., k, ..], ..] along one axis; the others broadcast. Indices as of take."""
    cdef Array source = as_array(x, "take_along_axis"), index = as_array(indices, "take_along_axis")
    cdef Array out = new_array(source.backend)
    cdef int64_t along = to_int(axis, "take_along_axis")
    cdef CppStream stream
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.take_along_axis(source.c, index.c, along, stream)
    return out


def put_along_axis(x: Array, indices: Array, values: Array | complex, /, *, axis: int = -1) -> None:
    """x[.., indices[.., k, ..], ..] = values[.., k, ..] in place, as numpy.put_along_axis. stator.scatter copies.

    Values broadcast to the shape of the indices. A write outside is dropped, and OutOfRangeError is raised at the next
    synchronising call. Of several writes to one element the last stays on cpu; on cuda any one of them, or
    the last where the backend is deterministic, by two launches more.
    """
    cdef Array target = as_array(x, "put_along_axis"), index = as_array(indices, "put_along_axis")
    cdef vector[Operand] operand
    cdef int64_t along = to_int(axis, "put_along_axis")
    cdef CppStream stream
    to_operand(values, "put_along_axis", operand)
    enter(target.backend, stream)
    with nogil:
        cpp.put_along_axis(target.c, index.c, operand[0], along, stream)
