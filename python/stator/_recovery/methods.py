"""The methods of Backend about errors. What they do is in the modules beside this one, which the first call loads."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from stator.errors import DTypeError, StatorError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from stator.backend import Backend


class BackendErrors:
    """A base class of Backend."""

    def error_context(self, text: str, *, convert: bool = False) -> AbstractContextManager[None]:
        """Adds the text and the device as a note to whatever a `with` block raises (PEP 678); tracebacks show it.

        convert: exceptions of other libraries come out as stator's, as of convert_error().

        >>> with be.error_context("while reading the weights"):
        ...     be.ones(3) + be.ones(4)
        Traceback (most recent call last):
        stator.errors.ShapeError: ...
        """
        op = "Backend.error_context"
        if not isinstance(convert, bool):
            raise DTypeError(f"Got convert of type {type(convert).__name__}", op=op, remedy="Give True or False.")
        return _noting(self._note(text, op, "text"), convert)

    def handle_error(self, error: Exception, context: str) -> StatorError:
        """The exception as one of stator's (convert_error), with the context and the device as a note."""
        op = "Backend.handle_error"
        note = self._note(context, op, "context")
        changed = _converted(error, op)
        changed.add_note(note)
        return changed

    def convert_error(self, error: Exception) -> StatorError:
        """The exception of another library as the type of stator.errors that fits; the original is its __cause__.

        Known by type: MemoryError, OSError, ImportError, NumPy's and Python's errors of values, types and indices; by
        name: those of torch, CuPy, Numba and cuda.core about CUDA. Others become a StatorError. One of stator's is
        returned as it is.

        >>> type(be.convert_error(MemoryError("32 GiB"))).__name__
        'OutOfMemoryError'
        """
        return _converted(error, "Backend.convert_error")

    def recovery_suggestions(self, error: Exception) -> list[str]:
        """What may help, most promising first: as error.recovery_suggestions(), also for errors of other libraries.

        >>> be.recovery_suggestions(MemoryError("32 GiB"))[0]
        'Release arrays that are not needed any more, or work in smaller pieces.'
        """
        return _converted(error, "Backend.recovery_suggestions").recovery_suggestions()

    def log_error(self, error: Exception, context: str, *, level: int | None = None) -> None:
        """Writes the error and the context to the logger "stator.errors".

        level: of logging; None: CRITICAL where the device cannot be used any more, ERROR for memory, libraries and
        devices, WARNING for arguments and results.
        """
        from stator._recovery.conversion import level_of

        op = "Backend.log_error"
        note = self._note(context, op, "context")
        if level is not None and (not isinstance(level, int) or isinstance(level, bool)):
            raise DTypeError(f"Got level of type {type(level).__name__}", op=op, remedy="Give logging.ERROR, ...")
        converted = _converted(error, op)
        found = level_of(converted) if level is None else level
        logging.getLogger("stator.errors").log(found, "%s: %s", note, converted, exc_info=error)

    def _note(self, text: object, op: str, name: str) -> str:
        if not isinstance(text, str):
            raise DTypeError(f"Got {name} of type {type(text).__name__}", op=op, remedy="Give a string.")
        printable = text.encode("utf-8", "backslashreplace").decode()  # halves of surrogates break files of logs
        return f"{printable} (on {cast('Backend', self).device_name})"


@contextmanager
def _noting(note: str, convert: bool) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if convert and not isinstance(error, StatorError):
            changed = _converted(error, "Backend.error_context")
            changed.add_note(note)
            raise changed from error
        error.add_note(note)
        raise


def _converted(error: Exception, op: str) -> StatorError:
    from stator._recovery.conversion import convert

    if not isinstance(error, Exception):
        raise DTypeError(f"Got error of type {type(error).__name__}", op=op, remedy="Give an exception.")
    return convert(error)
