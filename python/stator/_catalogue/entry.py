"""What the catalogue has of an op, and the call that is made of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from stator._catalogue.domains import Values
from stator._catalogue.given import LAYOUTS, STRIDED, Cell, Given, function

# The layouts that ops are called with: all; those of ops that need an axis; of ops that need an element too; of ops
# without an operand whose layout is free.
EVERY = LAYOUTS
AXIS = (*STRIDED, "empty", "large")
FILLED = (*STRIDED, "large")
DENSE = ("contiguous", "empty", "large")
ONCE = ("contiguous",)

Function = Callable[..., Any]
Call = Callable[[Function, Given], Any]


@dataclass(frozen=True)
class Answer:
    """A result with what its error is measured against.

    scale: errors count in the last place of the scale, where it is larger than the element: the sum of the terms'
    magnitudes where terms cancel, or "largest" for the largest element. bound: a bound in units in the last place that
    stands for the op table's, where that grows with the operand.
    """

    value: Any
    scale: Values | str | None = None
    bound: float | None = None


@dataclass(frozen=True)
class Entry:
    """Calls of an op, and the layouts in which it is called.

    call: takes the op's function and a Given, calls the function on operands of the Given, and returns the results. The
    first call launches what the op table states; others have further options. wide: whether the results on wider
    operands are references for the narrow ones. copies: whether operands that are not contiguous are copied first, by
    launches that the op table does not count.
    """

    call: Call
    layouts: tuple[str, ...]
    wide: bool = True
    copies: bool = False


def entries(
    layouts: Sequence[str], calls: dict[str, Call], *, wide: bool = True, copies: bool = False
) -> dict[str, Entry]:
    """Entries that share all but the call, by names with spaces between them."""
    found = {name: call for names, call in calls.items() for name in names.split()}
    return {name: Entry(call, tuple(layouts), wide, copies) for name, call in found.items()}


class _FirstCall(Exception):
    """Ends an entry's call at the first call of the op's function."""


def first_call(entry: Entry, given: Given) -> partial[Any]:
    """The first call of an entry with its operands, as a function without parameters. The op is not called."""
    found: list[partial[Any]] = []

    def keep(*operands: Any, **options: Any) -> Any:
        found.append(partial(function(given.cell.op), *operands, **options))
        raise _FirstCall

    try:
        entry.call(keep, given)
    except _FirstCall:
        return found[0]
    raise LookupError(f"The entry of {given.cell.op} does not call the op.")


def largest(*found: Any, bound: float | None = None) -> Answer:
    """Results whose errors count in the last place of the largest element of each, since sums cancel."""
    return Answer(found, "largest", bound)


__all__ = [
    "AXIS",
    "DENSE",
    "EVERY",
    "FILLED",
    "ONCE",
    "Answer",
    "Call",
    "Cell",
    "Entry",
    "Function",
    "Given",
    "entries",
    "first_call",
    "largest",
]
