"""What the launches of a call add up to, against the least that it could do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import emulator_records as records
import numpy as np

import stator

from ..cases import size_of
from ..inputs import upload
from .cases import Case

SECTOR = 32  # bytes


@dataclass(frozen=True)
class Counted:
    """The sums over the launches of one call.

    blocks: of the launch with the most instructions; busy: the multiprocessors that those occupy, of all. floor: the
    bytes of the operands once and of the results once. local: accesses of warps to memory of their threads, which is
    where registers do not suffice. microseconds: of memory and of issue, by the model that the page describes.
    """

    case: str
    family: str
    launches: int
    blocks: int
    busy: int
    multiprocessors: int
    instructions_per_element: float
    sectors_per_request: float
    sector_bytes: int
    floor: int
    wavefronts_per_request: float
    atomics: int
    local: int
    memory_us: float
    issue_us: float

    @property
    def traffic(self) -> float:
        return self.sector_bytes / self.floor if self.floor else 0.0


def _ratio(some: int, of: int) -> float:
    return some / of if of else 0.0


def _instructions(launch: records.Launch, unit: str) -> int:
    return sum(n for name, n in launch.counters.items() if name.startswith(f"{unit}_instructions_"))


def summed(case: str, family: str, launches: list[records.Launch], elements: int, floor: int) -> Counted:
    """The row of a call whose launches these are."""
    if not launches:
        raise ValueError(f"{case} has launched nothing")
    bytes_per_second, issued_per_second = records.peaks()

    def total(*names: str) -> int:
        return sum(launch.counters[name] for launch in launches for name in names)

    sectors = total("global_load_sectors", "global_store_sectors")
    most = max(launches, key=lambda launch: _instructions(launch, "warp"))
    count = most.multiprocessors
    # A block issues on one multiprocessor only.
    issue = sum(
        _instructions(launch, "warp") * count / min(launch.counters["blocks"], count) / issued_per_second
        for launch in launches
    )
    return Counted(
        case,
        family,
        len(launches),
        most.counters["blocks"],
        min(most.counters["blocks"], count),
        count,
        sum(_instructions(launch, "lane") for launch in launches) / elements,
        _ratio(sectors, total("global_loads", "global_stores")),
        sectors * SECTOR,
        floor,
        _ratio(
            total("shared_load_wavefronts", "shared_store_wavefronts"),
            total("shared_loads", "shared_stores"),
        ),
        total("global_atomics", "shared_atomics"),
        total("local_loads", "local_stores"),
        1e6 * sectors * SECTOR / bytes_per_second,
        1e6 * issue,
    )


def watch(be: stator.Backend, call: Callable[[], Any]) -> tuple[list[records.Launch], Any]:
    """The launches of a second call, which has what the first one kept, and its result."""
    call()
    with records.watched(be.synchronize) as launches:
        result = call()
    return launches, result


def arrays_of(value: Any) -> list[Any]:
    """The arrays of a result or operand: of a tuple all, of a sparse matrix its three. Numbers are none."""
    if isinstance(value, (tuple, list)):
        return [array for part in value for array in arrays_of(part)]
    if hasattr(value, "indptr"):
        return [value.indptr, value.indices, value.data]
    return [value] if isinstance(value, stator.Array) else []


def count(be: stator.Backend, case: Case) -> Counted:
    """Runs a case and reads its counters."""
    operands = tuple(upload(be, x) for x in case.inputs(np.random.default_rng(2026)))
    if case.prepare is not None:
        operands = case.prepare(*operands)
    launches, result = watch(be, lambda: case.call(*operands))
    touched = arrays_of([*operands, result])
    elements = case.elements or max(x.size for x in touched)
    return summed(case.name, case.family, launches, elements, size_of(touched))
