"""Cooperative launches, whose blocks are all resident at once, so that the grid may synchronise."""

from __future__ import annotations

from itertools import count
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from stator._backend import current_stream, device_properties
from stator._shared import kept
from stator.errors import DTypeError, InvalidValueError, StatorError, UnsupportedError
from stator.programs import _program
from stator.programs._arguments import kernel_of, under_name, whole

if TYPE_CHECKING:
    from stator._backend import Backend, Event, Stream
    from stator.programs._program import Kernel

    Extent = int | tuple[int, ...]


class CooperativeConfig(NamedTuple):
    """A grid whose blocks are all resident at once: blocks, and threads of a block."""

    blocks: int
    threads: int


class CooperativeReport(NamedTuple):
    """What finish_cooperative() returns.

    milliseconds: of the kernel, between events on its stream. occupancy: the blocks of its size that a multiprocessor
    holds at once. blocks, threads: of the grid, and of a block. How often the grid synchronised is not known.
    """

    milliseconds: float
    occupancy: int
    blocks: int
    threads: int


class Launched(NamedTuple):
    """A launch that has not been finished."""

    start: Event
    end: Event
    occupancy: int
    blocks: int
    threads: int


_ids = count(1)


def launches_of(backend: Backend) -> dict[int, Launched]:
    """The backend's launches by id."""
    return kept(backend, "_cooperative_launches", dict[int, Launched])


def is_supported(backend: Backend, op: str = "Backend.programs.supports_cooperative") -> bool:
    """What Backend.programs.supports_cooperative does."""
    try:
        return _program.has_cooperative_launch(backend)
    except StatorError as error:
        raise under_name(error, op) from None


def require_cooperative(backend: Backend, op: str) -> None:
    """UnsupportedError where the device has no cooperative launch."""
    if not is_supported(backend, op):
        raise UnsupportedError(
            f"{backend.device_name} has no cooperative launch",
            op=op,
            remedy="Use a GPU of compute capability 6.0 at least; without one set STATOR_EMULATE=h200.",
        )


def suggest_config(backend: Backend, kernel: Kernel, elements: int, shared: int) -> CooperativeConfig:
    """What Backend.programs.suggest_cooperative does."""
    op = "Backend.programs.suggest_cooperative"
    whole(shared, op, "shared")
    wanted = whole(elements, op, "elements", 1)
    kernel = kernel_of(backend, kernel, op)
    require_cooperative(backend, op)
    try:
        threads = kernel.suggest_block(shared=shared)
        resident = kernel.occupancy(threads, shared=shared) * device_properties(backend)["multiprocessors"]
    except StatorError as error:
        raise under_name(error, op) from None
    return CooperativeConfig(min(resident, -(-wanted // threads)), threads)


def _product(extent: Extent, op: str) -> int:
    return prod(whole(n, op, "config") for n in (extent if isinstance(extent, tuple) else (extent,)))


def launch(
    backend: Backend,
    kernel: Kernel,
    config: tuple[Extent, Extent],
    args: tuple[object, ...],
    shared: int,
    stream: Stream | None,
) -> int:
    """What Backend.programs.launch_cooperative does."""
    op = "Backend.programs.launch_cooperative"
    whole(shared, op, "shared")
    if not isinstance(config, tuple) or len(config) != 2:
        raise DTypeError(
            f"Got config of type {type(config).__name__}",
            op=op,
            remedy="Give a tuple (blocks, threads), such as Backend.programs.suggest_cooperative() returns.",
        )
    kernel = kernel_of(backend, kernel, op)
    require_cooperative(backend, op)
    grid, block = config
    blocks, threads = _product(grid, op), _product(block, op)
    try:
        on = current_stream(backend) if stream is None else backend.stream(stream)
        start = on.record()
        kernel.launch(grid, block, *args, shared=shared, cooperative=True, stream=on)
        end = on.record()
        occupancy = kernel.occupancy(block, shared=shared)
    except StatorError as error:
        raise under_name(error, op) from None
    number = next(_ids)
    launches_of(backend)[number] = Launched(start, end, occupancy, blocks, threads)
    return number


def finish(backend: Backend, launched: int) -> CooperativeReport:
    """What Backend.programs.finish_cooperative does."""
    op = "Backend.programs.finish_cooperative"
    number = whole(launched, op, "launched")
    found = launches_of(backend).pop(number, None)
    if found is None:
        raise InvalidValueError(
            f"launched={number}",
            op=op,
            remedy="Give the number that launch_cooperative() of this backend returned, once.",
        )
    try:
        found.end.synchronize()
        elapsed = found.end.milliseconds_since(found.start)
    except StatorError as error:
        raise under_name(error, op) from None
    return CooperativeReport(elapsed, found.occupancy, found.blocks, found.threads)
