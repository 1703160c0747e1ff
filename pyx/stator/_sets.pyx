# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Searching and sets."""
from collections import namedtuple

from libc.stdint cimport int64_t
from libcpp cimport bool as cbool
from libcpp.optional cimport optional

from stator._array cimport Array, as_array, as_out, new_array
from stator._backend cimport after_wait, enter
from stator._convert cimport to_int, to_scalar
from stator.cpp cimport array as cpp_array
from stator.cpp cimport sets as cpp
from stator.cpp.backend cimport Stream as CppStream

from stator.errors import DTypeError, InvalidValueError

UniqueAll = namedtuple("UniqueAll", ("values", "indices", "inverse_indices", "counts"), module="stator._sets")
UniqueCounts = namedtuple("UniqueCounts", ("values", "counts"), module="stator._sets")
UniqueInverse = namedtuple("UniqueInverse", ("values", "inverse_indices"), module="stator._sets")
UniqueConsecutive = namedtuple("UniqueConsecutive", ("values", "inverse", "counts"), module="stator._sets")


def searchsorted(x1: Array, x2: Array, /, *, side: str = "left", sorter: Array | None = None) -> Array:
    """Where the values x2, of any shape, belong among the sorted boundaries x1: int64. Asynchronous.

    x1: one axis; or rows, with the leading axes of x2. side: before ("left") or after ("right") equal boundaries.
    sorter: indices of x1's shape that sort it, such as argsort gives; one out of range raises IndexError at the next
    synchronising call. NaN is above every number. Two dtypes are promoted first.
    """
    cdef Array boundaries = as_array(x1, "searchsorted"), values = as_array(x2, "searchsorted"), out
    cdef cpp.SearchOptions options
    cdef CppStream stream
    if side not in ("left", "right"):
        raise InvalidValueError(f"side={side!r}", op="searchsorted", remedy="Use 'left' or 'right'.")
    options.right = side == "right"
    options.sorter = as_out(sorter, "searchsorted")
    enter(boundaries.backend, stream)
    out = new_array(boundaries.backend)
    with nogil:
        out.c = cpp.searchsorted(boundaries.c, values.c, options, stream)
    return out


def isin(x1: Array, x2: Array, /, *, invert: bool = False) -> Array:
    """Whether each element of x1 is (invert: is not) among those of x2. NaN is in nothing. Asynchronous."""
    cdef Array elements = as_array(x1, "isin"), test = as_array(x2, "isin"), out
    cdef cbool opposite = bool(invert)
    cdef CppStream stream
    enter(elements.backend, stream)
    out = new_array(elements.backend)
    with nogil:
        out.c = cpp.isin(elements.c, test.c, opposite, stream)
    return out


cdef Array wrapped(Array source, const cpp_array.Array& c):
    cdef Array out = new_array(source.backend)
    out.c = c
    return out


cdef Array find(cpp.UniqueOp op, str name, object x, object size, object fill_value, cpp.Unique& found):
    cdef Array source = as_array(x, name)
    cdef cpp.UniqueOptions options
    cdef CppStream stream
    if size is not None:
        options.size = optional[int64_t](to_int(size, name))
    if not to_scalar(fill_value, options.fill):
        raise DTypeError(f"fill_value is a {type(fill_value).__name__}", op=name, remedy="Give a number.")
    enter(source.backend, stream)
    with nogil:
        found = cpp.unique(op, source.c, options, stream)
    if size is None:
        after_wait(source.backend)
    return source


def unique_all(x: Array, /, *, size: int | None = None, fill_value: complex = 0) -> UniqueAll:
    """(values, indices, inverse_indices, counts): the distinct elements, ascending; each NaN is distinct.

    indices: of the first occurrence, in the flattened array. inverse_indices: of x's shape. Synchronises once to learn
    how many there are; with `size` there are that many results and nothing synchronises: more are dropped, missing ones
    are fill_value with index -1 and count 0.
    """
    cdef cpp.Unique found
    cdef Array source = find(cpp.op_unique_all, "unique_all", x, size, fill_value, found)
    return UniqueAll(wrapped(source, found.values), wrapped(source, found.indices), wrapped(source, found.inverse),
                     wrapped(source, found.counts))


def unique_counts(x: Array, /, *, size: int | None = None, fill_value: complex = 0) -> UniqueCounts:
    """(values, counts) of unique_all. Synchronises once unless `size` is given."""
    cdef cpp.Unique found
    cdef Array source = find(cpp.op_unique_counts, "unique_counts", x, size, fill_value, found)
    return UniqueCounts(wrapped(source, found.values), wrapped(source, found.counts))


def unique_inverse(x: Array, /, *, size: int | None = None, fill_value: complex = 0) -> UniqueInverse:
    """(values, inverse_indices) of unique_all. Synchronises once unless `size` is given."""
    cdef cpp.Unique found
    cdef Array source = find(cpp.op_unique_inverse, "unique_inverse", x, size, fill_value, found)
    return UniqueInverse(wrapped(source, found.values), wrapped(source, found.inverse))


def unique_values(x: Array, /, *, size: int | None = None, fill_value: complex = 0) -> Array:
    """The values of unique_all. Synchronises once unless `size` is given."""
    cdef cpp.Unique found
    cdef Array source = find(cpp.op_unique_values, "unique_values", x, size, fill_value, found)
    return wrapped(source, found.values)


def unique_consecutive(x: Array, /, *, size: int | None = None, fill_value: complex = 0) -> UniqueConsecutive:
    """(values, inverse, counts) of the runs of equal neighbours in the flattened array; each NaN is a run.

    inverse: of x's shape, the run of each element. Synchronises once unless `size` is given, as unique_all.
    """
    cdef cpp.Unique found
    cdef Array source = find(cpp.op_unique_consecutive, "unique_consecutive", x, size, fill_value, found)
    return UniqueConsecutive(wrapped(source, found.values), wrapped(source, found.inverse),
                             wrapped(source, found.counts))
