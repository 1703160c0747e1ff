"""What the launches of a call add up to, against the least that it could do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import emulator_records as records
import numpy as np

import stator

from ..cases import size_of
from ..inputs import upload
from .case import Case, Inputs

SECTOR = 32  # bytes


@dataclass(frozen=True)
class Counted:
    """The sums over the launches of one call: a row of the table.

    blocks: of the launch with the most instructions. resident: blocks that one multiprocessor holds, the fewest of any
    launch; registers, local_bytes: of a thread, the most of any launch; architecture: that of the machine code that
    takes them, 90 for 9.0. requests: loads and stores of global memory by warps; sector_bytes: all pieces of 32 bytes
    that they touch; moved_bytes: of these, what the first caches do not hold, and all that is stored; floor: the bytes
    of the operands once and of the results once. shared_requests, wavefronts: of shared memory. local: accesses of
    warps to memory of their threads, which is where registers do not suffice. mma_per_instruction: as mma_share gives
    it. memory_us, issue_us: by the model that the page describes.
    """

    case: str
    family: str
    passes: int
    launches: int
    blocks: int
    architecture: int
    resident: int
    registers: int
    local_bytes: int
    elements: int
    lane_instructions: int
    warp_instructions: int
    requests: int
    sector_bytes: int
    moved_bytes: int
    floor: int
    shared_requests: int
    wavefronts: int
    mma_per_instruction: float | None
    atomics: int
    local: int
    memory_us: float
    issue_us: float

    @property
    def instructions_per_element(self) -> float:
        return self.lane_instructions / self.elements

    @property
    def sectors_per_request(self) -> float:
        return _ratio(self.sector_bytes // SECTOR, self.requests)

    @property
    def wavefronts_per_request(self) -> float:
        return _ratio(self.wavefronts, self.shared_requests)

    @property
    def traffic(self) -> float:
        return _ratio(self.moved_bytes, self.floor)


def _ratio(some: int, of: int) -> float:
    return some / of if of else 0.0


def _instructions(launch: records.Launch, unit: str) -> int:
    return sum(n for name, n in launch.counters.items() if name.startswith(f"{unit}_instructions_"))


def mma_share(launches: list[records.Launch], longer: Sequence[records.Launch] = ()) -> float | None:
    """The mma instructions per instruction that warps issue, of the launch that has the least; None without any mma.

    longer: launches of the call with operands that make inner loops longer. Of a kernel that has the same grid in both,
    what counts are the instructions by which they differ: those of its loop, without what is before and after it.
    """

    def numbers(launch: records.Launch) -> tuple[int, int]:
        return launch.counters["warp_instructions_matrix"], _instructions(launch, "warp")

    def of(launch: records.Launch) -> float:
        products, issued = numbers(launch)
        for other in longer:
            if (other.kernel, other.grid) == (launch.kernel, launch.grid) and numbers(other)[0] > products:
                return (numbers(other)[0] - products) / (numbers(other)[1] - issued)
        return products / issued

    return min((of(launch) for launch in launches if numbers(launch)[0]), default=None)


def summed(
    case: str,
    family: str,
    launches: list[records.Launch],
    elements: int,
    floor: int,
    longer: Sequence[records.Launch] = (),
    passes: int = 1,
) -> Counted:
    """The row of a call whose launches these are; longer: as for mma_share."""
    if not launches:
        raise ValueError(f"{case} has launched nothing")
    bytes_per_second, issued_per_second = records.peaks()

    def total(*names: str) -> int:
        return sum(launch.counters[name] for launch in launches for name in names)

    moved = SECTOR * total("global_load_misses", "global_store_sectors")
    most = max(launches, key=lambda launch: _instructions(launch, "warp"))
    # A block issues on one multiprocessor only.
    issue = sum(
        _instructions(launch, "warp")
        * launch.multiprocessors
        / min(launch.counters["blocks"], launch.multiprocessors)
        / issued_per_second
        for launch in launches
    )
    return Counted(
        case=case,
        family=family,
        passes=passes,
        launches=len(launches),
        blocks=most.counters["blocks"],
        architecture=max(launch.architecture for launch in launches),
        resident=min(launch.resident for launch in launches),
        registers=max(launch.registers for launch in launches),
        local_bytes=max(launch.local_bytes for launch in launches),
        elements=elements,
        lane_instructions=sum(_instructions(launch, "lane") for launch in launches),
        warp_instructions=sum(_instructions(launch, "warp") for launch in launches),
        requests=total("global_loads", "global_stores"),
        sector_bytes=SECTOR * total("global_load_sectors", "global_store_sectors"),
        moved_bytes=moved,
        floor=floor,
        shared_requests=total("shared_loads", "shared_stores"),
        wavefronts=total("shared_load_wavefronts", "shared_store_wavefronts"),
        mma_per_instruction=mma_share(launches, longer),
        atomics=total("global_atomics", "shared_atomics"),
        local=total("local_loads", "local_stores"),
        memory_us=1e6 * moved / bytes_per_second,
        issue_us=1e6 * issue,
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


def _drawn(be: stator.Backend, case: Case, inputs: Inputs) -> tuple[Any, ...]:
    operands = tuple(upload(be, x) for x in inputs(np.random.default_rng(2026)))
    return operands if case.prepare is None else case.prepare(*operands)


def count(be: stator.Backend, case: Case) -> Counted:
    """Runs a case and reads its counters, with the same draws in every run."""
    be.random.seed(2026)
    operands = _drawn(be, case, case.inputs)
    launches, result = watch(be, lambda: case.call(*operands))
    touched = arrays_of([*operands, result])
    elements = case.elements or max(x.size for x in touched)
    floor = size_of([*touched, *(operands[k] for k in case.again)])
    longer: list[records.Launch] = []
    if case.longer is not None:
        operands = _drawn(be, case, case.longer)
        longer, _ = watch(be, lambda: case.call(*operands))
    return summed(case.name, case.family, launches, elements, floor, longer, passes=2 if case.again else 1)
