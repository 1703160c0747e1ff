"""Arguments of NumPy's functions as stator's arrays, dtypes and axes.

Lists and numbers are converted; NumPy's and other libraries' arrays are refused, so that nothing is copied silently.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

import stator
from stator._array import Array
from stator._dtype import DType
from stator._methods import require_cast as require_cast
from stator._methods import stored
from stator.errors import AxisError, DTypeError, InvalidValueError, NumberRangeError, StatorError, renamed

ArrayLike: TypeAlias = Any  # an Array, a number, or nested lists and tuples of numbers
DTypeLike: TypeAlias = Any  # whatever numpy.dtype or stator.dtype takes
Axes: TypeAlias = "int | Sequence[int] | None"
Out: TypeAlias = "Array | tuple[Array] | None"


def refused(value: object, op: str) -> DTypeError:
    """The error for what is not an Array and is not converted."""
    if isinstance(value, np.ndarray) or hasattr(value, "__array__"):
        remedy = "Convert it with stator.asarray(x)."
    elif hasattr(value, "__dlpack__"):
        remedy = "Convert it with stator.from_dlpack(x) or stator.asarray(x)."
    else:
        remedy = "Pass a stator.Array, a list or a number."
    return DTypeError(f"Expected an Array, got {type(value).__module__}.{type(value).__name__}", op=op, remedy=remedy)


def is_number(value: object) -> bool:
    """Whether it is a Python number, which does not decide the dtype of a result."""
    return isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic)


def array(value: ArrayLike, op: str, *, like: Array | None = None) -> Array:
    """An argument as an array: on the backend of `like`, else on the current one. Arrays stay where they are."""
    if isinstance(value, Array):
        return value
    if is_number(value) or isinstance(value, (list, tuple, range, np.generic)):
        return stator.asarray(value, device=None if like is None else like.backend)
    raise refused(value, op)


def first_array(values: Iterable[object]) -> Array | None:
    """The first Array among arguments, whose backend decides where the others go."""
    return next((v for v in values if isinstance(v, Array)), None)


def arrays(op: str, *values: ArrayLike) -> list[Array]:
    """Several arguments as arrays of one backend."""
    like = first_array(values)
    return [array(v, op, like=like) for v in values]


def array_list(values: Iterable[ArrayLike], op: str) -> list[Array]:
    """A sequence of arrays, as concatenate takes it, or one array by its rows."""
    if isinstance(values, Array):
        return list(stator.unstack(values))
    if isinstance(values, np.ndarray):
        raise refused(values, op)
    try:
        given = list(values)
    except TypeError:
        raise refused(values, op) from None
    return arrays(op, *given)


def operands(op: str, *values: ArrayLike) -> list[Any]:
    """As arrays(), but Python numbers beside an array stay numbers, which are weak in promotion."""
    like = first_array(values)
    if like is None and all(is_number(v) for v in values):
        return [array(v, op) for v in values]
    return [v if is_number(v) else array(v, op, like=like) for v in values]


def number_or_array(value: ArrayLike, op: str, like: Array) -> Any:
    """A Python number as it is, anything else as an array."""
    return value if is_number(value) else array(value, op, like=like)


def dtype(value: DTypeLike) -> DType:
    """A dtype in any of NumPy's or stator's spellings; DTypeError for others."""
    if isinstance(value, DType):
        return value
    try:
        return stator.dtype(value)
    except DTypeError:
        if not isinstance(value, str):
            raise
        try:
            return stator.dtype(np.dtype(value))
        except (TypeError, ValueError):  # ValueError of malformed text
            pass
        raise


def dtype_or_none(value: DTypeLike) -> DType | None:
    """As dtype(), and None for None."""
    return None if value is None else dtype(value)


def floating(x: Array) -> Array:
    """x in a floating or complex dtype: float64 for integers and bool."""
    return x if x.dtype.kind in "fc" else x.astype("float64")


def places(value: ArrayLike, op: str, *, like: Array | None = None) -> Array:
    """An index argument, which may also be a NumPy array; an empty list is int64."""
    if isinstance(value, np.ndarray):
        value = stator.asarray(value, device=None if like is None else like.backend)
    x = array(value, op, like=like)
    return x.astype("int64") if x.size == 0 and not isinstance(value, Array) else x


def integers(value: ArrayLike, op: str, *, like: Array | None = None, bools: bool = False) -> Array:
    """An index argument of integers, or also of bools, which are 0 and 1."""
    x = places(value, op, like=like)
    if bools and x.dtype.name == "bool":
        return x.astype("int64")
    if x.dtype.kind not in "iu":
        raise DTypeError(f"Indices of dtype {x.dtype}", op=op, remedy="Pass integers.")
    return x


def on_host(value: Any, kind: DType, op: str) -> np.ndarray[Any, Any]:
    """Numbers as NumPy assigns them to an array of a dtype: truncated to integers, which must be in range."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
            return np.asarray(value, "float32" if kind.name == "bfloat16" else kind.numpy())
    except OverflowError as error:
        raise NumberRangeError(f"For {kind}: {error}", op=op, remedy=f"Give a number that {kind} holds.") from None
    except ValueError as error:
        raise InvalidValueError(f"For {kind}: {error}", op=op, remedy=f"Give numbers that {kind} holds.") from None
    except TypeError as error:
        raise DTypeError(f"For {kind}: {error}", op=op, remedy=f"Give numbers that {kind} holds.") from None


def assigned(value: ArrayLike, kind: DType, op: str, *, like: Array) -> Array:
    """What an array of a dtype takes of a value that is written to it: arrays are converted, numbers checked."""
    if not isinstance(value, Array):
        if not is_number(value) and not isinstance(value, (list, tuple, range, np.generic)):
            raise refused(value, op)
        value = stator.asarray(on_host(value, kind, op), device=like.backend)
    found: Array = value.astype(kind, copy=False)
    return found


def on_python(value: Any) -> Any:
    """A 0-d array or a NumPy number as a Python number, which reads an Array back; anything else as it is."""
    if isinstance(value, (Array, np.ndarray)):
        return value.item() if value.ndim == 0 else value
    return value.item() if isinstance(value, np.generic) else value


def lengths(shape: Any) -> Any:
    """A shape whose lengths may be 0-d arrays, or which may be an array itself: they are read back."""
    if isinstance(shape, (tuple, list)):
        return tuple(on_python(n) for n in shape)
    found = on_python(shape)
    return tuple(found.tolist()) if isinstance(found, (Array, np.ndarray)) else found


def axis(value: Any, ndim: int, op: str) -> int:
    """One axis from 0 to ndim - 1; AxisError for others."""
    try:
        found = value.__index__()
    except AttributeError:
        raise DTypeError(f"axis={value!r}", op=op, remedy="Pass an integer.") from None
    if not -ndim <= found < ndim:
        raise AxisError(
            f"axis={found} of an array of {ndim} axes", op=op, remedy=f"Give one from {-ndim} to {ndim - 1}."
        )
    return int(found) % ndim


def axis_or_none(value: Any, x: Array) -> Any:
    """The axis, of which reductions of NumPy take 0 and -1 of a 0-d array too: None then."""
    return None if x.ndim == 0 and type(value) is int and value in (0, -1) else value


def axes(value: Any, ndim: int, op: str) -> tuple[int, ...]:
    """Several distinct axes, all of them for None."""
    if value is None:
        return tuple(range(ndim))
    found = tuple(axis(v, ndim, op) for v in (value if isinstance(value, (tuple, list)) else (value,)))
    if len(set(found)) != len(found):
        raise AxisError(f"axis={value!r} repeats an axis", op=op, remedy="Name each axis once.")
    return found


def order_is_c(order: str | None, op: str) -> bool:
    """Whether an order argument asks for row-major; False for "F", an error for anything unknown."""
    given = order.upper() if isinstance(order, str) else order
    if given not in (None, "C", "K", "A", "F"):
        raise InvalidValueError(f"order={order!r}", op=op, remedy="Pass 'C', 'F', 'A' or 'K'.")
    return given != "F"


def out_array(out: Out, op: str) -> Array | None:
    """The array of an out argument, which may stand in a tuple."""
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    if out is None or isinstance(out, Array):
        return out
    raise DTypeError(f"out of type {type(out).__name__}", op=op, remedy="Pass an Array.")


def store(result: Array, out: Out, op: str, casting: str = "same_kind") -> Array:
    """The result, or `out` with the result assigned to it, which must have its shape and take its kind of numbers."""
    return stored(result, out_array(out, op), op, casting)


def called(name: str, a: ArrayLike, *args: Any, **options: Any) -> Array:
    """What the method of an array gives: the one implementation of a function that is a method too."""
    x = array(a, name, like=first_array(args))
    try:
        found: Array = getattr(x, name)(*args, **options)
    except StatorError as error:
        raise renamed(error, name) from None
    return found
