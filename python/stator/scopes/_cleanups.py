"""Cleanups: each runs once, the newest first, when its holder, a scope, the backend or the process ends."""

from __future__ import annotations

import itertools
import os
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from stator._recovery.hook import unraisable
from stator._shared import kept
from stator.errors import CleanupError

if TYPE_CHECKING:
    from stator._backend import Backend

_numbers = itertools.count()


class Cleanup:
    """A resource and what cleans it up. Of take() and run() one succeeds, once. Takes no lock, so that a collection of
    garbage may call it at any moment."""

    __slots__ = ("__weakref__", "_cell", "_process", "number", "stack")

    def __init__(self, resource: Any, function: Callable[[Any], object] | None) -> None:
        self._cell = [(resource, function)]
        self._process = os.getpid()
        self.number = next(_numbers)
        self.stack: CleanupStack | None = None

    def look(self) -> tuple[Any] | None:
        """The resource in a tuple; None once it was taken or cleaned up."""
        try:
            return (self._cell[0][0],)
        except IndexError:
            return None

    def take(self) -> tuple[Any] | None:
        """As look(), and the cleanup will not run."""
        claimed = self._claim()
        return None if claimed is None else claimed[:1]

    def run(self) -> None:
        """Cleans up, unless that was done; not in a forked child, whose parent has the resource."""
        claimed = self._claim()
        if claimed is not None and claimed[1] is not None and self._process == os.getpid():
            claimed[1](claimed[0])

    def _claim(self) -> tuple[Any, Callable[[Any], object] | None] | None:
        try:
            claimed = self._cell.pop()
        except IndexError:
            return None
        if self.stack is not None:
            self.stack.discard(self)
        return claimed


class CleanupStack:
    """The cleanups that a backend, a scope or the process has to run, in the order in which they were made."""

    def __init__(self) -> None:
        self._entries: dict[Cleanup, None] = {}
        _stacks.add(self)

    def __len__(self) -> int:
        return len(self._entries)

    def push(self, entry: Cleanup) -> None:
        """Takes the entry, and out of the stack that had it."""
        before, entry.stack = entry.stack, self
        self._entries[entry] = None
        if before is not None:
            before.discard(entry)

    def discard(self, entry: Cleanup) -> None:
        """Drops the entry, where it is here."""
        self._entries.pop(entry, None)

    def newest(self) -> int:
        """The number of the newest entry; -1 where there is none."""
        try:
            return next(reversed(self._entries)).number
        except (StopIteration, RuntimeError):  # empty, or changed by another thread meanwhile
            return -1

    def pop(self) -> Cleanup | None:
        """The newest entry, which is here no more."""
        try:
            return self._entries.popitem()[0]
        except KeyError:
            return None

    def run(self) -> list[BaseException]:
        """Runs all, the newest first, also those that come meanwhile. What they raised, in this order."""
        raised: list[BaseException] = []
        while (entry := self.pop()) is not None:
            try:
                entry.run()
            except BaseException as error:
                raised.append(error)
        return raised


_stacks: weakref.WeakSet[CleanupStack] = weakref.WeakSet()
of_process = CleanupStack()
"""Of resources without a backend."""


def run_all() -> None:
    """Runs the cleanups of all stacks, the newest first. What they raise goes to sys.unraisablehook."""
    while stacks := [stack for stack in list(_stacks) if len(stack)]:
        entry = max(stacks, key=CleanupStack.newest).pop()
        try:
            if entry is not None:
                entry.run()
        except BaseException as error:
            unraisable(error)


def raise_collected(raised: list[BaseException], op: str) -> None:
    """CleanupError for what cleanups raised; an interrupt or an exit goes on as it is."""
    if not raised:
        return
    for error in raised:
        if not isinstance(error, Exception):
            raise error
    count = "A cleanup" if len(raised) == 1 else f"{len(raised)} cleanups"
    collected = CleanupError(
        f"{count} raised: {raised[0]!r}",
        op=op,
        remedy="See .errors; all other cleanups ran, and what had to be freed was freed.",
    )
    collected.errors = tuple(raised)
    raise collected from raised[0]


def cleanups_of(backend: Backend) -> CleanupStack:
    """The backend's cleanups, made at first use."""
    return kept(backend, "_cleanups", CleanupStack)
