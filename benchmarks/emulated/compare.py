"""Whether kernels do more work than the committed table says: by any of the counters that cost time."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .counted import Counted
from .results import COMMITTED, CUB

ALLOWED = COMMITTED / "counters_allowed.tsv"
MOST = 1.03  # times the number in the table
MORE_IS_WORSE = (
    "launches",
    "lane_instructions",
    "warp_instructions",
    "requests",
    "sector_bytes",
    "moved_bytes",
    "wavefronts",
    "atomics",
    "local",
    "registers",
    "local_bytes",
)
LESS_IS_WORSE = ("resident",)
COUNTERS = (*MORE_IS_WORSE, *LESS_IS_WORSE)


@dataclass(frozen=True)
class Change:
    """A counter of a case that is not what it was before."""

    case: str
    counter: str
    before: int
    after: int

    @property
    def worse(self) -> bool:
        return _worse(self.counter, self.after, self.before)

    def __str__(self) -> str:
        by = f" ({self.after / self.before - 1:+.1%})" if self.before else ""
        return f"{self.case}: {self.counter} {self.before:,} -> {self.after:,}{by}"


def _worse(counter: str, value: int, than: int) -> bool:
    return value < than if counter in LESS_IS_WORSE else value > than


def changes(before: Iterable[Counted], after: Iterable[Counted]) -> list[Change]:
    """The counters of cases in both that differ by more than 3 %, in either direction."""
    known = {row.case: row for row in before}
    found = []
    for row in after:
        for counter in COUNTERS if row.case in known else ():
            was, now = getattr(known[row.case], counter), getattr(row, counter)
            if max(was, now) > MOST * min(was, now):
                found.append(Change(row.case, counter, was, now))
    return found


def read_allowed(path: Path = ALLOWED) -> dict[tuple[str, str], int]:
    """The numbers that a counter of a case may have, whatever the table says; each has a reason beside it."""
    allowed = {}
    with path.open(newline="") as f:
        for line in csv.DictReader(f, delimiter="\t"):
            if line["counter"] not in COUNTERS or not (line["reason"] or "").strip():
                raise ValueError(f"{path.name}: give one of {', '.join(COUNTERS)}, and a reason, not {line}")
            allowed[line["case"], line["counter"]] = int(line["value"])
    return allowed


def refused(found: Iterable[Change], allowed: Mapping[tuple[str, str], int]) -> list[Change]:
    """The changes for the worse that no line allows, or that go beyond the number that it gives."""

    def fine(change: Change) -> bool:
        value = allowed.get((change.case, change.counter))
        return value is not None and not _worse(change.counter, change.after, value)

    return [change for change in found if change.worse and not fine(change)]


def mismatches(before: Iterable[Counted], after: Iterable[Counted], everything: bool) -> list[str]:
    """What keeps the two from being compared; everything: whether all cases were counted."""
    old, new = ({row.case: row for row in rows if not row.case.startswith(CUB)} for rows in (before, after))
    found = [f"{case}: it is not in the table" for case in new if case not in old]
    if everything:
        found += [f"{case}: it is in the table, but is not a case" for case in old if case not in new]
    pairs = {(old[case].architecture, new[case].architecture) for case in new if case in old}
    return found + [
        f"the table is of machine code for {was}, and this build has {now or 'none'}; build with "
        f"-C cmake.define.STATOR_CUDA_ARCHITECTURES={was}"
        for was, now in sorted(pairs)
        if was != now
    ]
