"""The exceptions of stator. Their types are part of the API, their texts are not.

Every error has .op, .cause (with the values seen) and .remedy.
"""

from __future__ import annotations

import builtins
import pickle
import queue
from typing import Any

import numpy as np


class StatorError(Exception):
    """Base of all errors of stator.

    Cause and remedy begin with a capital, and a cause that quotes an argument, as in "axis=5", with Got; so they do in
    csrc/core/values/error.cpp.
    """

    def __init__(self, cause: str = "", *, op: str = "", remedy: str = "") -> None:
        name, equals, _ = cause.partition("=")
        cause = f"Got {cause}" if equals and name.rstrip().isidentifier() else _sentence(cause)
        remedy = _sentence(remedy)
        text = f"{op}: {cause}" if op else cause
        if remedy:
            text += f"{'' if text.endswith('.') else '.'} {remedy}"
        super().__init__(text)
        self.args = (text,)  # which NumPy's AxisError leaves as they came
        self.op = op
        self.cause = cause
        self.remedy = remedy

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args, self.__dict__.copy())


class CudaError(StatorError):
    """A CUDA runtime or library call failed: .code is its status, .name the status's name, .call the call."""

    code: int = 0
    name: str = ""
    call: str = ""


class OutOfMemoryError(StatorError, MemoryError):
    """An allocation failed, even after cached memory was given back.

    The figures are in bytes; .limit is 0 without a memory_limit.
    """

    requested: int = 0
    free: int = 0
    cached: int = 0
    limit: int = 0
    largest_owner: str = ""


class DeviceUnavailableError(StatorError):
    """No backend can be opened for the device; the cause says why."""


class BackendClosedError(StatorError):
    """The backend of an array, stream or event is closed."""


class BackendMismatchError(StatorError, ValueError):
    """A call got arrays, streams or events of two backends."""


class ForkedProcessError(StatorError):
    """A backend that was opened before fork() was used in the child."""


class CaptureError(StatorError):
    """An op cannot be captured into a graph, or a capture failed."""


class GraphFileError(StatorError, ValueError):
    """A file of a graph is corrupt, or was written by another version of the format."""


class LoopLimitError(StatorError, RuntimeError):
    """A loop on the device did not end within its limit of rounds."""


class CompileError(StatorError):
    """Source did not compile; the cause holds the log."""


class LibraryNotFoundError(StatorError):
    """A library is missing; the remedy names the package."""


class StreamOrderError(StatorError):
    """The order checker found two accesses to one buffer that nothing orders."""


class HostCopyError(StatorError, RuntimeError):
    """A call would have copied memory to the host inside Backend.forbid_host_copies()."""


class SynchronizationError(StatorError, RuntimeError):
    """A call would have waited for the device while Backend.sync_debug("error") holds."""


class ShapeError(StatorError, ValueError):
    """Shapes do not fit each other, the op, or the limits on shapes."""


class AxisError(ShapeError, np.exceptions.AxisError):
    """An axis is out of range or repeated."""

    __str__ = Exception.__str__  # NumPy's makes the text of an axis


class MatrixAttributeError(ShapeError, AttributeError):
    """.T or .mT was asked of an array that does not have it, so that hasattr() says so."""


class DTypeError(StatorError, TypeError):
    """An element type, or the type of an argument, is not accepted."""


class IndexTypeError(DTypeError, IndexError):
    """An entry of an index is neither an integer, a slice, ..., None, nor an array of integers or bools."""


class UnpicklingError(StatorError, pickle.UnpicklingError):
    """A pickle is corrupt, or was written by another version of stator's format."""


class InvalidValueError(StatorError, ValueError):
    """An argument has a value that is not allowed."""


class QueueFullError(StatorError, queue.Full):
    """A WorkQueue has no room for an item, and the call was not to wait, or not as long."""


class InFlightError(StatorError, RuntimeError):
    """A run of a sequence would use memory that another run, which has not ended, uses."""


class UnsupportedError(StatorError, NotImplementedError):
    """The request is valid, but stator does not support it."""


class OutOfRangeError(StatorError, IndexError):
    """An index is out of range; if a kernel found it, the next synchronising call raises this."""


class LinAlgError(StatorError, np.linalg.LinAlgError):
    """A matrix is singular, not positive definite, or its decomposition did not converge.

    .index is the first such matrix of the batch, in row-major order.
    """

    index: int = 0


_CLASSES = {n: v for n, v in globals().items() if isinstance(v, builtins.type) and issubclass(v, StatorError)}
# C++ exceptions whose names are built-in exceptions of Python.
_NATIVE = _CLASSES | {"ValueError": InvalidValueError, "IndexError": OutOfRangeError}


def from_native(
    name: str,
    op: str,
    cause: str,
    remedy: str,
    fields: dict[str, Any],
    classes: dict[str, builtins.type[StatorError]] = _NATIVE,
) -> StatorError:
    """The Python exception for a C++ one; called where Cython catches it.

    It has the classes with it, since the interpreter's end empties modules while their functions may still be called.
    """
    error = classes[name](cause, op=op, remedy=remedy)
    error.__dict__.update(fields)
    return error


def renamed(error: StatorError, op: str) -> StatorError:
    """The error under the name of the function that was called, where that is made of another one."""
    changed = type(error)(error.cause, op=op, remedy=error.remedy)
    changed.__dict__.update({k: v for k, v in error.__dict__.items() if k != "op"})
    return changed


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _rebuild(cls: type[StatorError], args: tuple[Any, ...], state: dict[str, Any]) -> StatorError:
    error = cls()
    error.args = args
    error.__dict__.update(state)
    return error


__all__ = list(_CLASSES)


def __dir__() -> list[str]:
    return [*__all__]
