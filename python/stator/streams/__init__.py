"""Pools of streams."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stator._backend import Stream

__all__ = ["StreamPool"]


def __dir__() -> list[str]:
    return [*__all__]


class StreamPool:
    """Streams of a backend in turn, made by Backend.streams.pool(). Thread-safe."""

    def __init__(self, streams: tuple[Stream, ...]) -> None:
        self._streams = streams
        self._turns = cycle(streams)
        self._lock = Lock()

    def next(self) -> Stream:
        """The stream whose turn it is."""
        with self._lock:
            return next(self._turns)

    def __len__(self) -> int:
        return len(self._streams)

    def __iter__(self) -> Iterator[Stream]:
        return iter(self._streams)

    def __repr__(self) -> str:
        return f"<stator.streams.StreamPool of {self._streams!r}>"
