"""Checks of arguments that the modules of this package share."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from stator._array import Array
from stator._dtype import DType
from stator.errors import (
    BackendMismatchError,
    DTypeError,
    InvalidValueError,
    LoopLimitError,
    OutOfRangeError,
    StatorError,
    renamed,
)
from stator.programs._program import Kernel

if TYPE_CHECKING:
    from stator._backend import Backend


def under_name(error: StatorError, op: str) -> StatorError:
    """The error under the name of the method that was called. What kernels of earlier calls found keeps their names."""
    return error if isinstance(error, (LoopLimitError, OutOfRangeError)) else renamed(error, op)


def whole(value: object, op: str, name: str, least: int = 0) -> int:
    """The value as an int from `least` to 2**63 - 1."""
    try:
        n = index(value)  # type: ignore[arg-type]
    except TypeError:
        raise DTypeError(f"Got {name} of type {type(value).__name__}", op=op, remedy="Give an integer.") from None
    if not least <= n < 2**63:
        raise InvalidValueError(
            f"{name}={n if -(2**64) < n < 2**64 else 'a number beyond 64 bits'}",
            op=op,
            remedy=f"Give an integer from {least} to 2**63 - 1.",
        )
    return n


def flag(value: object, op: str, name: str) -> bool:
    """The value, which must be True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise DTypeError(f"Got {name} of type {type(value).__name__}", op=op, remedy="Give True or False.")
    return bool(value)


def kernel_of(backend: Backend, kernel: object, op: str) -> Kernel:
    """The kernel, which must be one of the backend."""
    if not isinstance(kernel, Kernel):
        raise DTypeError(
            f"Got a kernel of type {type(kernel).__name__}", op=op, remedy="Take one from Backend.compile()."
        )
    if kernel.backend is not backend:
        raise BackendMismatchError("the kernel is of another backend", op=op, remedy="Take one of this backend.")
    return kernel


def function_of(kernel: object, op: str) -> Callable[..., object]:
    """What stands for a kernel on any device. A class is none, since calling it makes a value."""
    if isinstance(kernel, type) or not callable(kernel):
        raise DTypeError(
            f"Got a kernel of type {type(kernel).__name__}",
            op=op,
            remedy="Give a kernel of Backend.compile(), or a function.",
        )
    return kernel


def record_type(dtype: Any, op: str, name: str = "dtype") -> np.dtype[Any]:
    """The NumPy dtype of a record of fixed size, which C++ has the layout of."""
    if isinstance(dtype, DType):
        dtype = dtype.numpy()
    try:
        found: np.dtype[Any] = np.dtype(dtype)
    except (TypeError, ValueError) as error:
        raise DTypeError(f"Got {name} that is none: {error}", op=op, remedy="Give a NumPy dtype.") from None
    if dtype is None or found.hasobject or found.kind in "USmM" or found.itemsize == 0:
        raise DTypeError(
            f"Got {name} as {found if dtype is not None else None}",
            op=op,
            remedy="Give numbers, or a structured dtype of numbers: np.dtype([('row', 'i4'), ('x', 'f4')]).",
        )
    return found


def records_of(values: object, dtype: np.dtype[Any], op: str) -> np.ndarray[Any, Any]:
    """The values as a NumPy array of records, which must hold them."""
    try:
        given = np.asarray(values)
        if given.dtype.kind != "V" and not dtype.fields and not np.can_cast(given.dtype, dtype, "same_kind"):
            raise TypeError(f"they are of {given.dtype}")
        return np.asarray(values, dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise DTypeError(
            f"The values do not fit {dtype}: {error}",
            op=op,
            remedy="Give numbers of that dtype, or tuples of its fields.",
        ) from None


def array_of(backend: Backend, array: object, op: str, name: str) -> Array:
    """The array, which must be one of the backend."""
    if not isinstance(array, Array):
        raise DTypeError(
            f"Got {name} of type {type(array).__name__}", op=op, remedy="Make an Array of it with asarray()."
        )
    if array.backend is not backend:
        raise BackendMismatchError(
            f"Got {name} as an array of another backend", op=op, remedy="Move it with to_device(), or use its backend."
        )
    return array
