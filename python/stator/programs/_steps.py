"""The steps of sequences: launches of kernels, and calls of functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stator._array import Array
from stator.errors import DTypeError, InvalidValueError
from stator.graphs._graph import flatten
from stator.programs._arguments import array_of, function_of, kernel_of
from stator.programs._program import Kernel, check_launch

if TYPE_CHECKING:
    from stator._backend import Backend, Stream

    Extent = int | tuple[int, ...] | Array


class Step:
    """A launch of a kernel, or a call of a function, in a sequence.

    work: a Kernel of the backend, or a function that writes into the arrays that it is given and returns nothing. args:
    what it gets. grid, block, shared, cooperative: of the launch, as for Kernel.launch; a grid or a block of None is
    the sequence's, and where that has no block either, it is kernel.suggest_block(). Functions have no use for them.
    """

    def __init__(
        self,
        work: Kernel | Callable[..., None],
        *args: object,
        grid: Extent | None = None,
        block: int | tuple[int, ...] | None = None,
        shared: int = 0,
        cooperative: bool = False,
    ) -> None:
        self.work, self.args = work, args
        self.grid, self.block, self.shared, self.cooperative = grid, block, shared, cooperative


@dataclass(slots=True)
class Bound:
    """A step that belongs to a sequence: its name in errors, and the arrays among its arguments."""

    name: str
    step: Step
    arrays: list[Array]

    def check(self) -> None:
        """Raises what a launch would raise; functions are not looked into."""
        step = self.step
        if isinstance(step.work, Kernel):
            assert step.grid is not None and step.block is not None
            check_launch(step.work, step.grid, step.block, step.args, step.shared, step.cooperative)

    def enqueue(self, stream: Stream) -> None:
        """Launches the kernel, or calls the function, for which the stream is current."""
        step = self.step
        if isinstance(step.work, Kernel):
            assert step.grid is not None and step.block is not None
            step.work.launch(
                step.grid, step.block, *step.args, shared=step.shared, cooperative=step.cooperative, stream=stream
            )
        elif step.work(*step.args) is not None:
            raise DTypeError(
                f"{self.name} returned a value, which nothing uses",
                op="LaunchSequence",
                remedy="Write into the arrays that the function is given, as in y[...] = 2 * x, and return nothing.",
            )


def bind(
    backend: Backend,
    given: Any,
    name: str,
    op: str,
    grid: Extent | None,
    block: int | tuple[int, ...] | None,
) -> Bound:
    """The step after the checks that need no device. grid, block: for launches without."""
    step = _step_of(given, op)
    arrays = flatten(step.args)[0]
    if isinstance(step.work, Kernel):
        kernel_of(backend, step.work, op)
        step = _shaped(step, step.work, op, grid, block)
        arrays += [step.grid] if isinstance(step.grid, Array) else []
    else:
        function_of(step.work, op)
    for x in arrays:
        array_of(backend, x, op, "an argument")
    return Bound(name, step, arrays)


def _shaped(step: Step, kernel: Kernel, op: str, grid: Extent | None, block: int | tuple[int, ...] | None) -> Step:
    """The launch with its grid and its block."""
    grid = grid if step.grid is None else step.grid
    block = block if step.block is None else step.block
    if grid is None:
        raise InvalidValueError("The launch has no grid", op=op, remedy="Give it one, or give one to sequence().")
    if block is None:
        block = kernel.suggest_block(shared=step.shared)
    return Step(kernel, *step.args, grid=grid, block=block, shared=step.shared, cooperative=step.cooperative)


def _step_of(given: Any, op: str) -> Step:
    """The step that a tuple or a function stands for."""
    if isinstance(given, Step):
        return given
    if not isinstance(given, tuple):
        return Step(given)
    if not given:
        raise InvalidValueError("An empty tuple is not a step", op=op, remedy="Give (kernel, grid, block, *args).")
    if not isinstance(given[0], Kernel):
        return Step(*given)
    if len(given) < 3:
        raise InvalidValueError(
            "A kernel without a grid and a block", op=op, remedy="Give (kernel, grid, block, *args)."
        )
    return Step(given[0], *given[3:], grid=given[1], block=given[2])
