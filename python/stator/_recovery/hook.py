"""The hook of stator.errors.set_hook, and exceptions that no caller can catch."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stator.errors import StatorError


class ErrorHook:
    """Calls a function with errors. It may call stator: what is raised meanwhile in its thread it does not see."""

    def __init__(self, function: Callable[[StatorError], object]) -> None:
        self.function = function
        self._local = threading.local()

    def __call__(self, error: StatorError) -> None:
        if getattr(self._local, "active", False):
            return
        self._local.active = True
        try:
            self.function(error)
        except Exception as raised:
            unraisable(raised)
        finally:
            self._local.active = False


class _Ignored:
    """Raises the exception where the interpreter hands it to sys.unraisablehook, whose argument only it can make."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __del__(self) -> None:
        raise self._error


def unraisable(error: BaseException) -> None:
    """Hands the exception to sys.unraisablehook."""
    _Ignored(error)
