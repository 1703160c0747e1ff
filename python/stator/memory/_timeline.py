"""What a backend's memory was used for over time: a record of allocations, by the ops that took them."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from stator.config._file_paths import file_path
from stator.errors import DTypeError, InvalidValueError
from stator.memory._arguments import whole_number

if TYPE_CHECKING:
    from stator._backend import Backend


class MemoryEvent(NamedTuple):
    """An allocation or a release: seconds since the record began, bytes (negative for a release), and the op that
    allocated them."""

    time: float
    bytes: int
    op: str


class MemoryOwner(NamedTuple):
    """The memory that one op allocated: the most live bytes, those at the end, and the number of allocations."""

    op: str
    peak_bytes: int
    live_bytes: int
    allocations: int


@dataclass(frozen=True)
class MemorySnapshot:
    """A record of allocations: events in order of time, how many were dropped, and whether it is still recording."""

    events: tuple[MemoryEvent, ...]
    dropped: int
    recording: bool

    def owners(self) -> list[MemoryOwner]:
        """The ops that allocated memory, the one with the highest peak first."""
        live: Counter[str] = Counter()
        peak: dict[str, int] = defaultdict(int)
        count: Counter[str] = Counter()
        for event in self.events:
            live[event.op] += event.bytes
            count[event.op] += event.bytes >= 0
            peak[event.op] = max(peak[event.op], live[event.op])
        found = [MemoryOwner(op, peak[op], live[op], count[op]) for op in live]
        return sorted(found, key=lambda owner: (-owner.peak_bytes, owner.op))


def record_memory(backend: Backend, enabled: bool, max_events: int) -> None:
    """What Backend.memory.record does."""
    from stator.memory._memory_record import record

    op = "Backend.memory.record"
    if not isinstance(enabled, bool):
        raise DTypeError(f"Got enabled of type {type(enabled).__name__}", op=op, remedy="Give True or False.")
    most = whole_number(max_events, "max_events", op, "Give a number.")
    if not 0 < most < 2**40:
        raise InvalidValueError(f"max_events={most}", op=op, remedy="Give at least 1 and less than 2**40.")
    record(backend, most if enabled else 0)


def memory_snapshot(backend: Backend) -> MemorySnapshot:
    """What Backend.memory.snapshot does."""
    from stator.memory._memory_record import history

    recording, dropped, events = history(backend)
    return MemorySnapshot(tuple(MemoryEvent(*event) for event in events), dropped, recording)


def memory_timeline(backend: Backend, path: str | os.PathLike[str]) -> None:
    """What Backend.memory.timeline does."""
    from stator.memory._timeline_page import page

    to = file_path(path, "Backend.memory.timeline")
    to.write_text(page(memory_snapshot(backend), backend.device_name), encoding="utf-8")
