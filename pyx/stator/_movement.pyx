# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Joining, splitting, shifting, padding and repeating."""
import numpy as np

from libc.stdint cimport int64_t

from stator._array cimport Array, as_array, as_given, as_out, has_copied_bytes, new_array, plain
from stator._backend cimport Backend, enter
from stator._convert cimport (
    to_axes, to_axis, to_dims, to_entries, to_int, to_ints, to_number, to_text, wrong_type,
)
from stator._movement_views cimport parts_of, wrapped
from stator.cpp cimport movement as cpp
from stator.cpp.array cimport Array as CppArray
from stator.cpp.array cimport Scalar
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.ref cimport Dims, Int64Span
from stator.cpp.std cimport optional, pair, string_view, vector

from stator.errors import InvalidValueError, ShapeError


cdef Backend gather(object arrays, vector[CppArray]& out, str op):
    cdef Backend backend = None
    for entry in to_entries(arrays, op, "arrays"):
        out.push_back(as_array(entry, op).c)
        if backend is None:
            backend = (<Array>entry).backend
    return backend


cdef Array joined(bint anew, vector[CppArray]& given, Backend backend, object axis, object out, str op):
    cdef const CppArray* target = as_out(out, op)
    cdef optional[int64_t] along
    cdef int64_t at = 0
    cdef CppStream stream
    cdef Array result
    if backend is None:
        raise InvalidValueError("There are no arrays", op=op, remedy="Pass at least one.")
    if anew:
        at = to_int(axis, op)
    else:
        to_axis(axis, along, op)
    enter(backend, stream)
    result = new_array(backend)
    with nogil:
        if anew:
            result.c = cpp.stack(given, at, target, stream)
        else:
            result.c = cpp.concat(given, along, target, stream)
    return result if out is None else <Array>out


def concat(arrays: Sequence[Array], /, *, axis: int | None = 0, out: Array | None = None) -> Array:
    """The arrays joined along an axis, as numpy.concatenate. Asynchronous.

    axis: None joins the flattened arrays. The result has the promoted dtype. One launch, or one per array where large
    arrays are transposed. out: an array of the result's shape.

    >>> stator.concat([stator.asarray([1, 2]), stator.asarray([3])]).tolist()
    [1, 2, 3]
    """
    cdef vector[CppArray] given
    backend = gather(arrays, given, "concat")
    return joined(False, given, backend, axis, out, "concat")


def stack(arrays: Sequence[Array], /, *, axis: int = 0, out: Array | None = None) -> Array:
    """Arrays of one shape joined along a new axis. Asynchronous; launches and dtype as concat.

    >>> stator.stack([stator.asarray([1, 2]), stator.asarray([3, 4])]).tolist()
    [[1, 2], [3, 4]]
    """
    cdef vector[CppArray] given
    backend = gather(arrays, given, "stack")
    return joined(True, given, backend, axis, out, "stack")


def split(x: Array, indices_or_sections: int | Sequence[int], /, axis: int = 0) -> tuple[Array, ...]:
    """Views of x split along an axis. No launch.

    A number gives that many views, of lengths that differ by at most one, the longer ones first; a sequence cuts x
    before each index.

    >>> [part.tolist() for part in stator.split(stator.asarray([1, 2, 3, 4]), 2)]
    [[1, 2], [3, 4]]
    """
    cdef Array source = as_given(x, "split")
    cdef int64_t at = to_int(axis, "split")
    cdef vector[int64_t] indices
    cdef vector[CppArray] pieces
    to_ints(indices_or_sections, indices, "split", "indices_or_sections")
    if not isinstance(indices_or_sections, (tuple, list)):
        return parts_of(source, indices[0], at, False, "split")
    with nogil:
        pieces = cpp.split(source.c, Int64Span(indices.data(), indices.size()), at)
    return wrapped(pieces, [source.backend])


def ravel(x: Array, /) -> Array:
    """x with one axis, in row-major order: a view where the strides allow it, else a copy. Asynchronous.

    >>> stator.ravel(stator.asarray([[1, 2], [3, 4]])).tolist()
    [1, 2, 3, 4]
    """
    cdef Array source = as_given(x, "ravel")
    cdef CppStream stream
    cdef Array out = new_array(source.backend)
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.ravel(source.c, stream)
    return ravel(plain(source)) if has_copied_bytes(source, out) else out


def rot90(x: Array, /, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array:
    """A view rotated by k quarter turns, from the first of the axes towards the second. No launch.

    >>> stator.rot90(stator.asarray([[1, 2], [3, 4]])).tolist()
    [[2, 4], [1, 3]]
    """
    cdef Array source = as_given(x, "rot90")
    cdef Array out = new_array(source.backend)
    cdef int64_t turns = to_int(k, "rot90", "k") % 4
    cdef Dims pair_of
    to_dims(axes, pair_of, "rot90", "axes")
    if pair_of.size() != 2:
        raise ShapeError(f"{pair_of.size()} axes", op="rot90", remedy="Name two.")
    with nogil:
        out.c = cpp.rot90(source.c, turns, pair_of[0], pair_of[1])
    return out


def roll(x: Array, /, shift: int | Sequence[int], *, axis: int | Sequence[int] | None = None) -> Array:
    """x with its elements shifted cyclically along axes, as numpy.roll. Asynchronous.

    axis: None rolls the flattened array. One launch, after a copy where the flattened array is not contiguous.

    >>> stator.roll(stator.asarray([1, 2, 3]), 1).tolist()
    [3, 1, 2]
    """
    cdef Array source = as_array(x, "roll")
    cdef Array out = new_array(source.backend)
    cdef vector[int64_t] shifts
    cdef optional[vector[int64_t]] axes
    cdef CppStream stream
    to_ints(shift, shifts, "roll", "shift")
    to_axes(axis, axes, "roll")
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.roll(source.c, Int64Span(shifts.data(), shifts.size()), axes, stream)
    return out


cdef int to_widths(object pad_width, Array source, vector[pair[int64_t, int64_t]]& out) except -1:
    try:
        pairs = np.broadcast_to(np.asarray(pad_width), (source.c.ndim(), 2))
    except (TypeError, ValueError):
        raise ShapeError(f"Got pad_width for other axes than those of shape {source.shape}", op="pad",
                         remedy="Pass a number, a pair (before, after), or a pair for each axis.") from None
    if pairs.dtype.kind not in "iu":
        raise wrong_type(pad_width, "pad", "pad_width", "integers")
    for before, after in pairs.tolist():
        out.push_back(pair[int64_t, int64_t](to_int(before, "pad", "pad_width"), to_int(after, "pad", "pad_width")))
    return 0


def pad(x: Array, pad_width: int | Sequence[int] | Sequence[Sequence[int]], /, mode: str = "constant", *,
        constant_values: complex = 0) -> Array:
    """x with elements added at the ends of its axes, as numpy.pad, in one launch. Asynchronous.

    pad_width: one number, (before, after), or such a pair for each axis. mode: "constant" (constant_values), "edge",
    "reflect", "symmetric" or "wrap".

    >>> stator.pad(stator.asarray([1, 2]), 1).tolist()
    [0, 1, 2, 0]
    """
    cdef Array source = as_array(x, "pad")
    cdef Array out = new_array(source.backend)
    cdef vector[pair[int64_t, int64_t]] widths
    cdef int64_t before
    cdef Scalar value
    cdef CppStream stream
    cdef bytes how = to_text(mode, "pad", "mode")
    cdef string_view name = string_view(<const char*>how, len(how))
    if isinstance(pad_width, int):
        before = to_int(pad_width, "pad", "pad_width")
        widths = vector[pair[int64_t, int64_t]](source.c.ndim(), pair[int64_t, int64_t](before, before))
    else:
        to_widths(pad_width, source, widths)
    to_number(constant_values, value, "pad", "constant_values")
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.pad(source.c, widths, name, value, stream)
    return out


def tile(x: Array, repetitions: int | Sequence[int], /) -> Array:
    """x repeated as a whole along each axis, as numpy.tile, in one launch. Asynchronous.

    >>> stator.tile(stator.asarray([1, 2]), (2,)).tolist()
    [1, 2, 1, 2]
    """
    cdef Array source = as_array(x, "tile")
    cdef Array out = new_array(source.backend)
    cdef vector[int64_t] times
    cdef CppStream stream
    to_ints(repetitions, times, "tile", "repetitions")
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.tile(source.c, Int64Span(times.data(), times.size()), stream)
    return out


def repeat(x: Array, repeats: int | Array, /, axis: int | None = None) -> Array:
    """Each element repeated along an axis, as numpy.repeat. Asynchronous, unless repeats is an Array.

    repeats: a number, or an integer Array with one number per element or one for all, which is read back: that
    synchronises. axis: None repeats the elements of the flattened array.

    >>> stator.repeat(stator.asarray([1, 2]), 2).tolist()
    [1, 1, 2, 2]
    """
    cdef Array source = as_array(x, "repeat"), counts = None
    cdef Array out = new_array(source.backend)
    cdef optional[int64_t] along
    cdef int64_t count = 0
    cdef CppStream stream
    to_axis(axis, along, "repeat")
    if isinstance(repeats, Array):
        counts = <Array>repeats
    else:
        count = to_int(repeats, "repeat", "repeats")
    enter(source.backend, stream)
    with nogil:
        if counts is None:
            out.c = cpp.repeat(source.c, count, along, stream)
        else:
            out.c = cpp.repeat(source.c, counts.c, along, stream)
    return out
