"""Questions that a provider answers with yes or no, and may fail to answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from stator.backends._checks import described, shown
from stator.errors import ProviderError

SECONDS = 5.0  # for which an answer is waited


class ProviderWarning(UserWarning):
    """A provider was skipped: the text says which, and why."""


def provider_error(
    name: str, cause: str, *, op: str = "", remedy: str = "", errors: tuple[BaseException, ...] = ()
) -> ProviderError:
    """The error about a provider."""
    error = ProviderError(cause, op=op, remedy=remedy)
    error.provider, error.errors = name, errors
    return error


class _Answer:
    """What one call gave, or raised."""

    def __init__(self, function: Callable[[], object]) -> None:
        self.value: object = None
        self.error: BaseException | None = None
        self._begun = time.monotonic()
        self._thread = threading.Thread(target=self._run, args=(function,), name="stator provider", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # no thread can be started, as under a limit on processes: then there is no limit of time
            self._run(function)

    def running(self) -> bool:
        return self._thread.is_alive()

    def wait(self) -> None:
        """Waits until it has returned, or the time since its beginning is over."""
        if self.running():
            self._thread.join(max(0.0, self._begun + SECONDS - time.monotonic()))

    def _run(self, function: Callable[[], object]) -> None:
        try:
            self.value = function()
        except BaseException as error:  # also what would end the thread or the process
            self.error = error


class Question:
    """A method of a provider that answers with a bool.

    It runs on a thread of its own, since drivers that are broken may never return. While a call has not returned, no
    other one is made, and who asks again gets the error at once.
    """

    def __init__(self, provider: str, method: str, function: Callable[[], object]) -> None:
        self._provider, self._method, self._function = provider, method, function
        self._lock = threading.Lock()
        self._asked: _Answer | None = None

    def ask(self, op: str) -> bool:
        """The answer. Raises ProviderError where there is none, and where it is not a bool."""
        with self._lock:
            if self._asked is None or not self._asked.running():
                self._asked = _Answer(self._function)
            asked = self._asked
        asked.wait()
        what = f"{self._method}() of the provider {self._provider!r}"
        if asked.running():
            raise provider_error(
                self._provider, f"{what} has not returned after {SECONDS:g} seconds", op=op, remedy=_REMEDY
            )
        if asked.error is not None:
            raise provider_error(
                self._provider, f"{what} raised {described(asked.error)}", op=op, remedy=_REMEDY, errors=(asked.error,)
            ) from asked.error
        if not isinstance(asked.value, bool):
            raise provider_error(
                self._provider, f"{what} returned {shown(asked.value)}, not a bool", op=op, remedy=_REMEDY
            )
        return asked.value


_REMEDY = "Repair, update or uninstall the package that it comes from; other providers are not concerned."
