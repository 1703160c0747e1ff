"""What runs that have not ended use, so that no other run uses it too."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from stator._shared import kept
from stator.errors import InFlightError

if TYPE_CHECKING:
    from stator._array import Array
    from stator._backend import Backend


class Use(NamedTuple):
    """Memory that a run uses, from one address up to another one."""

    name: str
    begin: int
    end: int


def use_of(name: str, x: Array) -> Use:
    """BackendClosedError where the memory is gone."""
    reach = [(n - 1) * s for n, s in zip(x.shape, x.strides, strict=True)]
    begin = x.data_ptr + sum(min(0, r) for r in reach)
    end = x.data_ptr + sum(max(0, r) for r in reach) + x.itemsize
    return Use(f"{name} ({x.dtype.name} of shape {x.shape})", begin, end if x.size else begin)


class InFlight:
    """What the runs of a backend's sequences use until they end, and the threads that wait for these."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._runs: list[list[Use]] = []
        self._threads: ThreadPoolExecutor | None = None

    @classmethod
    def of(cls, backend: Backend) -> InFlight:
        """The one of the backend."""
        return kept(backend, "_in_flight", cls)

    def enter(self, uses: list[Use], op: str) -> None:
        """Takes what a run uses; InFlightError where another run uses a part of it."""
        with self._lock:
            for mine in uses:
                for other in (other for run in self._runs for other in run):
                    if mine.begin < other.end and other.begin < mine.end:
                        theirs = other.name[:1].lower() + other.name[1:]
                        raise InFlightError(
                            f"{mine.name} is in flight: it shares memory with {theirs} of a run that has not ended",
                            op=op,
                            remedy="Wait for the future of that run, or give each sequence memory of its own.",
                        )
            self._runs.append(uses)

    def leave(self, uses: list[Use]) -> None:
        """Ends a run."""
        with self._lock:
            self._runs = [run for run in self._runs if run is not uses]

    def start(self, function: Callable[..., None], *args: object) -> None:
        """Calls the function on another thread, or on this one at the interpreter's end, when there are none."""
        with self._lock:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(8, "stator-sequence")
            try:
                self._threads.submit(function, *args)
                return
            except RuntimeError:
                pass
        function(*args)
