# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Structures of nested tuples, lists and dicts: which arrays they have, and what they are beside these.

Two structures are equal where a function cannot tell the values in them apart: of one type, and of the same bits.
"""
from dataclasses import fields
from decimal import Decimal

import numpy as np
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from stator._array cimport Array

from stator.errors import InvalidValueError

cdef enum:
    deepest = 200  # levels, since each takes a part of the thread's stack

cdef object generic = np.generic, float64 = np.float64, complex128 = np.complex128
cdef tuple extended = (np.longdouble, np.clongdouble)  # whose bytes are in part of no meaning
cdef tuple plain = (bool, int, str, bytes, type(None), type(...))


cdef int require_room(int depth) except -1:
    if depth == deepest:
        raise InvalidValueError(f"Tuples, lists and dicts are nested deeper than {deepest} levels", op="graph",
                                remedy="Give flatter ones.")
    return 0


cdef class Place:
    """The position of an array."""

    def __repr__(self) -> str:
        return "<array>"


cdef Place ARRAY = Place()


cdef class Constant:
    """A value that is not an array."""
    cdef object key
    cdef readonly object value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self.key == (<Constant>other).key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return repr(self.value)


cdef Constant constant(object value, int depth):
    cdef Constant out = Constant.__new__(Constant)
    out.value = value
    out.key = key_of(value, depth)
    return out


cdef int64_t bits_of(double value) noexcept:
    cdef int64_t out
    memcpy(&out, &value, sizeof(out))
    return out


# Equal for values that nothing tells apart. Of classes of others, what these say.
cdef object key_of(object value, int depth):
    cdef object kind = type(value)
    if kind in plain:
        return kind, value
    if kind is float or kind is float64:
        return kind, bits_of(value)
    if kind is complex or kind is complex128:
        return kind, bits_of(value.real), bits_of(value.imag)
    if isinstance(value, generic):
        return kind, value.dtype.str, repr(value) if isinstance(value, extended) else value.tobytes()
    if isinstance(value, float):
        return kind, bits_of(value), value
    if isinstance(value, Decimal):
        return kind, str(value)
    if kind is range or kind is slice:
        return kind, *keys_of((value.start, value.stop, value.step), depth)
    if kind is frozenset:
        return kind, frozenset(keys_of(value, depth))
    if kind is tuple:
        return kind, *keys_of(value, depth)
    if hasattr(kind, "__dataclass_params__") and kind.__dataclass_params__.frozen and kind.__dataclass_params__.eq:
        return kind, *keys_of([getattr(value, field.name) for field in fields(value)], depth)
    return kind, value


cdef list keys_of(object values, int depth):
    require_room(depth)
    return [key_of(value, depth + 1) for value in values]


cdef object parts_of(object items, list arrays, int depth):
    require_room(depth)
    return tuple([take_apart_one(item, arrays, depth + 1) for item in items])


cdef object take_apart_one(object value, list arrays, int depth):
    if isinstance(value, Array):
        arrays.append(value)
        return ARRAY
    if isinstance(value, (tuple, list)):
        return type(value), parts_of(value, arrays, depth)
    if isinstance(value, dict):
        return dict, tuple([constant(key, depth) for key in value]), parts_of(value.values(), arrays, depth)
    return constant(value, depth)


def take_apart(value: Any, arrays: list[Array]) -> Any:
    """What the value is beside its arrays, which are added to the list. InvalidValueError for too many levels."""
    return take_apart_one(value, arrays, 0)


cdef object rebuilt(object structure, object arrays):
    if structure is ARRAY:
        return next(arrays)
    if isinstance(structure, Constant):
        return (<Constant>structure).value
    kind = (<tuple>structure)[0]
    values = [rebuilt(part, arrays) for part in <tuple>(<tuple>structure)[-1]]
    if kind is dict:
        return {(<Constant>key).value: value for key, value in zip(<tuple>(<tuple>structure)[1], values)}
    return kind(*values) if hasattr(kind, "_fields") else values if kind is list else kind(values)


def put_together(structure: Any, arrays: Sequence[Any]) -> Any:
    """What take_apart() took apart, with other arrays."""
    return rebuilt(structure, iter(arrays))
