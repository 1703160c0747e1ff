"""Notes on errors: what a block of code did, and on which device."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from stator._recovery.conversion import converted, level_of
from stator.errors import DTypeError, StatorError


def noted(text: object, device: str | None, op: str, name: str) -> str:
    """The text of a note, in characters that every file of a log can hold."""
    if not isinstance(text, str):
        raise DTypeError(f"Got {name} of type {type(text).__name__}", op=op, remedy="Give a string.")
    printable = text.encode("utf-8", "backslashreplace").decode()  # halves of surrogates break files of logs
    return printable if device is None else f"{printable} (on {device})"


@contextmanager
def noting(note: str, convert: bool, op: str) -> Iterator[None]:
    """Adds the note to what the block raises; converts exceptions of other libraries."""
    try:
        yield
    except Exception as error:
        if convert and not isinstance(error, StatorError):
            changed = converted(error, op)
            changed.add_note(note)
            raise changed from error
        error.add_note(note)
        raise


def log(error: Exception, note: str, level: int | None, op: str) -> None:
    """Writes the error and the note to the logger "stator.errors"."""
    if level is not None and (not isinstance(level, int) or isinstance(level, bool)):
        raise DTypeError(f"Got level of type {type(level).__name__}", op=op, remedy="Give logging.ERROR, ...")
    found = converted(error, op)
    logging.getLogger("stator.errors").log(
        level_of(found) if level is None else level, "%s: %s", note, found, exc_info=error
    )
