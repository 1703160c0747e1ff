"""Paths of files as public functions take them."""

from __future__ import annotations

import os
from pathlib import Path

from stator.errors import DTypeError, InvalidValueError


def file_path(path: object, op: str, name: str = "path") -> Path:
    """The path, which the file system can have.

    Raises: DTypeError for what is no path, InvalidValueError for one with a NUL or a lone surrogate.
    """
    try:
        text = os.fsdecode(path)  # type: ignore[arg-type]
    except TypeError:
        raise DTypeError(
            f"Got {name} of type {type(path).__name__}", op=op, remedy="Give the path of a file."
        ) from None
    try:
        encoded = os.fsencode(text)
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        raise InvalidValueError(
            f"{name}={text!r}, but a path must have no NUL and no lone surrogate",
            op=op,
            remedy="Give the path of a file.",
        )
    return Path(text)
