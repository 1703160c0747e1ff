"""The exceptions of stator. Their types are part of the API, their texts are not.

Every error has .op, .cause (with the values seen) and .remedy.
"""

from __future__ import annotations

import builtins
import pickle
import queue
import re
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from stator._backend import Backend
    from stator._recovery.hook import ErrorHook


class StatorError(Exception):
    """Base of all errors of stator.

    Cause and remedy begin with a capital, but for names of code such as "close()", and a cause that quotes an argument,
    as in "axis=5", with Got; so they do in csrc/core/values/error.cpp, which knows no names. _told: whether the hook of
    set_hook() is called.
    """

    def __init__(self, cause: str = "", *, op: str = "", remedy: str = "", _told: bool = True) -> None:
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
        if _told and _hook is not None:
            _hook(self)

    def recovery_suggestions(self) -> list[str]:
        """What may help, most promising first: the remedy, and more by the type and what the error carries.

        >>> stator.errors.OutOfMemoryError("64 GiB").recovery_suggestions()[0]
        'Release arrays that are not needed any more, or work in smaller pieces.'
        """
        from stator._recovery.suggestions import suggestions

        return suggestions(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args, self.__dict__.copy())


class CudaError(StatorError):
    """A CUDA runtime or library call failed: .code is its status, .name the status's name, .call the call."""

    code: int = 0
    name: str = ""
    call: str = ""


class OutOfMemoryError(StatorError, MemoryError):
    """An allocation failed, even after cached memory was freed.

    The figures are in bytes; .limit is 0 without a memory_limit. .owners has what holds the most, the largest first:
    (op, bytes, count) for live arrays of one size that one op made. Where a budget of Backend.scoped() is used up,
    .scope is the scope's name and .budget its bytes, and .owners are those of the scope. .allocator_error is what an
    allocator of Backend(allocator=) raised.
    """

    requested: int = 0
    free: int = 0
    cached: int = 0
    limit: int = 0
    largest_owner: str = ""
    allocator_error: BaseException | None = None
    owners: tuple[tuple[str, int, int], ...] = ()
    scope: str = ""
    budget: int = 0


class DeviceUnavailableError(StatorError):
    """No backend can be opened for the device; the cause says why."""


class BackendClosedError(StatorError):
    """The backend of an array, stream or event is closed, or the scope that made it has ended."""


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
    """A call would have waited for the device while Backend.telemetry.sync_debug("error") holds."""


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


class NumberRangeError(InvalidValueError, OverflowError):
    """A number is beyond the dtype that it is written to."""


class ConfigurationError(InvalidValueError, DTypeError):
    """Values of a configuration cannot be used, of the wrong type or beyond their limits.

    .problems has all of them, each with .field, .value, .rule, .remedy and .source, which is the variable or the file
    that it comes from.
    """

    problems: tuple[Any, ...] = ()


class QueueFullError(StatorError, queue.Full):
    """A WorkQueue has no room for an item, and the call was not to wait, or not as long."""


class InFlightError(StatorError, RuntimeError):
    """Memory is in use by what has not ended: another run of a sequence, or calls while a scope would free it."""


class CleanupError(StatorError, RuntimeError):
    """Some cleanups raised: .errors has the exceptions, in their order. All others ran."""

    errors: tuple[BaseException, ...] = ()


class ResourceClosedError(StatorError, RuntimeError):
    """A resource was taken out of its holder, or cleaned up."""


class ProviderError(StatorError, RuntimeError):
    """A provider of backends cannot be used: it failed, did not answer, or answered with nonsense.

    .provider is its name. .errors are the exceptions that it raised, where there were any.
    """

    provider: str = ""
    errors: tuple[BaseException, ...] = ()


class ExtensionError(StatorError, RuntimeError):
    """Extensions of a backend failed: .errors has the exception of each, by name."""

    errors: dict[str, BaseException] = {}  # noqa: RUF012 - the default of a field, never changed


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
_hook: ErrorHook | None = None
_CODE = re.compile(r"\w[_.:]\w|\w\(")
# C++ exceptions whose names are built-in exceptions of Python.
_NATIVE = _CLASSES | {"ValueError": InvalidValueError, "IndexError": OutOfRangeError}

_failed = threading.local()
# The function that tells whether a kernel found an error; of _backend.pyx, which imports this module.
found_by_kernels: list[Callable[[], bool]] = []


def note_allocator_error(error: BaseException | None) -> None:
    """Keeps what the allocator of a backend raised, for the OutOfMemoryError that this thread gets of it."""
    _failed.error = error


def note_interrupt(error: BaseException) -> None:
    """Keeps what ended a wait of this thread, such as KeyboardInterrupt, for its call to raise."""
    _failed.interrupt = error


def interrupt_noted() -> bool:
    """Whether the call of this thread is to raise what note_interrupt() keeps."""
    return getattr(_failed, "interrupt", None) is not None


def from_native(
    name: str,
    op: str,
    cause: str,
    remedy: str,
    fields: dict[str, Any],
    classes: dict[str, builtins.type[StatorError]] = _NATIVE,
    failed: threading.local = _failed,
    found: list[Callable[[], bool]] = found_by_kernels,
) -> BaseException:
    """The Python exception for a C++ one, or what has interrupted the call; called where Cython catches it.

    It has the classes with it, since the interpreter's end empties modules while their functions may still be called.
    """
    interrupt: BaseException | None = failed.__dict__.pop("interrupt", None)
    if interrupt is not None:
        return interrupt
    error = classes[name](cause, op=op, remedy=remedy, _told=False)
    error.__dict__.update(fields)
    if found and found[0]():
        error.__dict__["_found_by_kernel"] = True
    if name == "OutOfMemoryError" and getattr(failed, "error", None) is not None:
        error.__dict__["allocator_error"] = error.__cause__ = failed.error
        failed.error = None
        error.add_note(f"the allocator of the backend raised {error.__cause__!r}")
    if _hook is not None:
        _hook(error)
    return error


def require_open(backend: Backend, op: str) -> None:
    """BackendClosedError for a backend that is closed."""
    if backend.closed:
        raise BackendClosedError("The backend is closed", op=op, remedy="Open a new Backend.")


def renamed(error: StatorError, op: str) -> StatorError:
    """The error under the name of the function that was called, where that is made of another one.

    What a kernel found keeps its name, since it may be the error of an earlier call.
    """
    if error.__dict__.get("_found_by_kernel"):
        return error
    changed = type(error)(error.cause, op=op, remedy=error.remedy, _told=False)
    changed.__dict__.update({k: v for k, v in error.__dict__.items() if k != "op"})
    if _hook is not None:
        _hook(changed)
    return changed


def convert_error(error: Exception) -> StatorError:
    """The exception of another library as the type of stator.errors that fits; the original is its __cause__.

    Known by type: MemoryError, OSError, ImportError, NumPy's and Python's errors of values, types and indices; by name:
    those of torch, CuPy, Numba and cuda.core about CUDA. Others become a StatorError. One of stator's is returned as it
    is. recovery_suggestions() of the result says what may help.

    >>> type(stator.errors.convert_error(MemoryError("32 GiB"))).__name__
    'OutOfMemoryError'
    """
    from stator._recovery.conversion import converted

    return converted(error, "errors.convert_error")


def log_error(error: Exception, context: str, *, level: int | None = None) -> None:
    """Writes the error and the context to the logger "stator.errors".

    level: of logging; None: CRITICAL where the device cannot be used any more, ERROR for memory, libraries and devices,
    WARNING for arguments and results.
    """
    from stator._recovery.context import log, noted

    op = "errors.log_error"
    log(error, noted(context, None, op, "context"), level, op)


def set_hook(function: Callable[[StatorError], object] | None) -> Callable[[StatorError], object] | None:
    """Sets a function that is called with every error of stator; None for none. Returns the previous one.

    It is called when the error is made, with its figures, before it is raised, on the thread that raises it; so it sees
    also what stator or its caller catches, and an error that one function passes on under its own name twice. It does
    not see errors that are unpickled, warnings, and exceptions that are not stator's. What it raises goes to
    sys.unraisablehook. Without errors it costs nothing.

    >>> seen = []
    >>> before = stator.errors.set_hook(seen.append)
    >>> try:
    ...     stator.ones(3) + stator.ones(4)
    ... except stator.errors.ShapeError:
    ...     pass
    >>> seen[0].op
    'add'
    >>> stator.errors.set_hook(before) == seen.append
    True
    """
    global _hook
    from stator._recovery.hook import ErrorHook

    if function is not None and not callable(function):
        raise DTypeError(
            f"Got function of type {type(function).__name__}", op="errors.set_hook", remedy="Give a function or None."
        )
    before = _hook
    _hook = None if function is None else ErrorHook(function)
    return None if before is None else before.function


def _sentence(text: str) -> str:
    """With a capital at the start, unless the first word is a name of code, such as "close()" or "package:Provider"."""
    return text if _CODE.search(text.split(" ", 1)[0]) else text[:1].upper() + text[1:]


def _rebuild(cls: type[StatorError], args: tuple[Any, ...], state: dict[str, Any]) -> StatorError:
    error = cls(_told=False)
    error.args = args
    error.__dict__.update(state)
    return error


__all__ = [*_CLASSES, "convert_error", "log_error", "set_hook"]


def __dir__() -> list[str]:
    return [*__all__]
