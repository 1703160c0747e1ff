# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Methods of Array that take what NumPy's methods take, where the functions of stator take other arguments."""
from operator import index as to_python_int

import numpy as np

from cpython.float cimport PyFloat_CheckExact
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_CheckExact
from libc.stdint cimport int64_t

from stator._array cimport Array, as_array, as_given, astype_op, new_array, unary_op
from stator._convert cimport shown, sized_dims, to_choice, to_diagonal, to_dims, to_int, wrong_type
from stator._elementwise cimport between
from stator._indexing cimport compressed
from stator._linalg_functions cimport trace_of
from stator._sets cimport search
from stator.cpp cimport movement, op_table
from stator.cpp.array cimport Array as CppArray
from stator.cpp.array cimport normalize_axis
from stator.cpp.dtype cimport bool_
from stator.cpp.ref cimport Dims, Int64Span

from stator._creation import asarray
from stator._movement import stack
from stator.errors import AxisError, DTypeError, InvalidValueError, ShapeError, StatorError, renamed

cdef tuple castings = ("no", "equiv", "safe", "same_kind", "unsafe")


def require_cast(source: DType, target: DType, op: str, casting: str = "same_kind") -> None:
    """DTypeError where NumPy would not cast from one dtype to the other."""
    to_choice(casting, castings, op, "casting")
    if source != target and not np.can_cast(source.numpy(), target.numpy(), casting):
        raise DTypeError(f"Cannot cast from {source} to {target} by the rule {casting!r}", op=op,
                         remedy="Convert it with astype.")


def stored(result: Array, out: Array | None, op: str, casting: str = "same_kind") -> Array:
    """The result, or `out` with the result assigned to it, which must have its shape and take its kind of numbers."""
    if out is None:
        return result
    if not isinstance(out, Array):
        raise wrong_type(out, op, "out", "an Array")
    if out.shape != result.shape:
        raise ShapeError(f"out has shape {out.shape}, the result {result.shape}", op=op,
                         remedy="Give an out of that shape.")
    require_cast(result.dtype, out.dtype, op, casting)
    out[...] = result
    return out


def on_device(x: Array, value: object, op: str) -> Array:
    """An array, or what asarray makes of a list or a number, on the backend of x."""
    if isinstance(value, Array):
        return value
    try:
        return asarray(value, device=x.backend)
    except StatorError as error:
        raise renamed(error, op) from None


cdef CppArray permuted(const CppArray& x, const Dims& order) except *:
    return movement.permute_dims(x, Int64Span(order.data(), order.size()))


cdef int to_axis_of(Array x, object value, str op, str name) except -1:
    cdef int beyond = 0, count = x.c.ndim()
    cdef int64_t axis
    if PyLong_CheckExact(value):
        axis = PyLong_AsLongLongAndOverflow(value, &beyond)
        if not beyond and -count <= axis < count:
            return axis + count if axis < 0 else axis
    return normalize_axis(op.encode(), to_int(value, op, name), count)


def transpose(x: Array, *axes: int | Sequence[int] | None) -> Array:
    """A view with the axes in another order, as stator.permute_dims; without axes in reverse. No launch."""
    cdef Array source = as_given(x, "Array.transpose"), out = new_array(source.backend)
    cdef Dims order
    cdef int k, last
    if not axes or (len(axes) == 1 and axes[0] is None):
        last = source.c.ndim() - 1
        if last == 1:
            out.c = movement.matrix_transpose(source.c)
            return out
        sized_dims(last + 1, order, "Array.transpose")
        for k in range(last + 1):
            order[k] = last - k
    else:
        to_dims(axes[0] if len(axes) == 1 else axes, order, "Array.transpose", "axes")
    try:
        out.c = permuted(source.c, order)
    except StatorError as error:
        raise renamed(error, "Array.transpose") from None
    return out


def swapaxes(x: Array, axis1: int, axis2: int, /) -> Array:
    """A view with two axes exchanged. No launch."""
    cdef Array source = as_given(x, "Array.swapaxes"), out = new_array(source.backend)
    cdef int first = to_axis_of(source, axis1, "Array.swapaxes", "axis1")
    cdef int second = to_axis_of(source, axis2, "Array.swapaxes", "axis2")
    cdef Dims order
    cdef int k
    sized_dims(source.c.ndim(), order, "Array.swapaxes")
    for k in range(source.c.ndim()):
        order[k] = second if k == first else first if k == second else k
    out.c = permuted(source.c, order)
    return out


cdef const CppArray* planes(Array x, CppArray& moved, object axis1, object axis2, str op) except NULL:
    # The array with the two axes as its last: itself or `moved`, which is set.
    cdef int first = to_axis_of(x, axis1, op, "axis1"), second = to_axis_of(x, axis2, op, "axis2")
    cdef int k, at = 0, count = x.c.ndim()
    cdef Dims order
    if first == count - 2 and second == count - 1:
        return &x.c
    if first == second:
        raise AxisError(f"axis1={axis1} and axis2={axis2} for shape {x.shape}", op=op, remedy="Give two axes.")
    sized_dims(count, order, op)
    for k in range(count):
        if k != first and k != second:
            order[at] = k
            at += 1
    order[at], order[at + 1] = first, second
    moved = permuted(x.c, order)
    return &moved


def diagonal(x: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """A view of the diagonals of the planes of two axes, as stator.linalg.diagonal. No launch."""
    cdef Array source = as_given(x, "Array.diagonal"), out = new_array(source.backend)
    cdef CppArray moved
    cdef const CppArray* matrices = planes(source, moved, axis1, axis2, "Array.diagonal")
    out.c = movement.diagonal(matrices[0], to_diagonal(offset, "Array.diagonal", "offset"))
    return out


def trace(x: Array, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None,
          out: Array | None = None) -> Array:
    """The sums of the diagonals of the planes of two axes, as stator.linalg.trace. Asynchronous."""
    cdef Array source = as_array(x, "Array.trace")
    cdef Array found
    cdef CppArray moved
    cdef const CppArray* matrices = planes(source, moved, axis1, axis2, "Array.trace")
    try:
        found = trace_of(source.backend, matrices[0], offset, dtype)
        return found if out is None else stored(found, out, "Array.trace", "unsafe")
    except StatorError as error:
        raise renamed(error, "Array.trace") from None


def conj(x: Array) -> Array:
    """The complex conjugates of the elements, as stator.conj; of bools a copy. Asynchronous."""
    cdef Array source = as_given(x, "Array.conj")
    return astype_op(source, "bool", True) if source.c.dtype() == bool_ else unary_op(op_table.conj, source, None, None)


def round(x: Array, decimals: int = 0, out: Array | None = None) -> Array:
    """The elements rounded to a number of decimals, half to even, as numpy.round; stator.round for decimals=0.

    Asynchronous.
    """
    cdef Array source = as_array(x, "Array.round")
    if out is None and PyLong_CheckExact(decimals) and decimals == 0 and source.c.dtype() != bool_:
        return unary_op(op_table.round, source, None, None)
    return rounded(source, decimals, out)


cdef object rounded(Array x, object decimals, object out):
    try:
        digits = to_python_int(decimals)
    except TypeError:
        raise wrong_type(decimals, "Array.round", "decimals", "an integer") from None
    if abs(digits) > 300:
        raise InvalidValueError(f"decimals={shown(digits)}", op="Array.round", remedy="Pass -300 to 300.")
    kind = x.dtype.kind
    if x.c.dtype() == bool_:  # NumPy rounds in float16
        return rounded(x.astype("float16"), digits, out)
    if digits == 0 or (digits > 0 and kind in "iu"):
        return stored(unary_op(op_table.round, x, None, None), out, "Array.round")
    if kind == "c":  # by parts: a product of complex numbers would make NaN of infinite parts
        parts = stack([rounded(unary_op(op_table.real, x, None, None), digits, None),
                       rounded(unary_op(op_table.imag, x, None, None), digits, None)], axis=-1)
        return stored(parts.view(x.dtype)[..., 0], out, "Array.round")
    power = float(10 ** abs(digits))
    result = x * power if digits > 0 else x / power
    result = unary_op(op_table.round, result, None, None)
    result = result / power if digits > 0 else result * power
    return stored(result.astype(x.dtype, copy=False), out, "Array.round")


cdef bint is_bound(object value):
    return PyFloat_CheckExact(value) or PyLong_CheckExact(value) or value is None or isinstance(value, Array)


def clip(x: Array, min: Array | complex | Sequence[Any] | None = None,
         max: Array | complex | Sequence[Any] | None = None, out: Array | None = None, *,
         dtype: DTypeLike | None = None, casting: str = "same_kind") -> Array:
    """The elements limited to the range from min to max, as numpy.clip; stator.clip for real arrays and numbers.

    None means no bound, nor is a Python integer beyond those of the array's dtype; bounds may be lists. Complex numbers
    are ordered by their real parts, then by their imaginary parts. casting: the rule by which dtypes may be converted,
    as numpy.can_cast has it. Asynchronous.
    """
    cdef Array source = as_array(x, "Array.clip")
    cdef bint usual = dtype is None and to_choice(casting, castings, "Array.clip", "casting") == 3
    if usual and is_bound(min) and is_bound(max):
        try:
            return between(source, min, max, out)
        except (DTypeError, InvalidValueError):
            pass  # it takes complex numbers, booleans, an out of another dtype and integers beyond the dtype
    from stator.numpy._math import limited
    try:
        return limited(source, min, max, out, dtype, casting)
    except StatorError as error:
        raise renamed(error, "Array.clip") from None


def searchsorted(x: Array, v: Array | complex | Sequence[Any], side: str = "left",
                 sorter: Array | Sequence[int] | None = None) -> Array:
    """The indices of values v among the sorted elements, as stator.searchsorted; v and sorter may be lists.

    Asynchronous.
    """
    cdef Array boundaries = as_array(x, "Array.searchsorted")
    if boundaries.c.dtype() == bool_:
        boundaries = boundaries.astype("int64")
    if isinstance(v, (list, tuple, range)):
        v = on_device(boundaries, v, "Array.searchsorted")
    if sorter is not None:
        sorter = on_device(boundaries, sorter, "Array.searchsorted")
    try:
        return search(boundaries, v, side, sorter)
    except StatorError as error:
        raise renamed(error, "Array.searchsorted") from None


def compress(x: Array, condition: Array | Sequence[bool], axis: int | None = None, out: Array | None = None) -> Array:
    """The slices along an axis where condition is true, as stator.compress; condition may be a list. Synchronises."""
    cdef Array source = as_array(x, "Array.compress"), mask, found
    mask = condition if isinstance(condition, Array) else on_device(source, condition, "Array.compress")
    if mask.c.dtype() != bool_:
        mask = mask.astype("bool")
    try:
        found = compressed(mask, source, axis)
        return found if out is None else stored(found, out, "Array.compress")
    except StatorError as error:
        raise renamed(error, "Array.compress") from None
