"""The table of NumPy's names: each with how it differs, or why it is absent.

A module of this package says so beside each function, by a decorator, and for values and aliases by `add`. The names of
the package, its page docs/numpy_names.md and the tests of names are made from the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Row:
    """A name of NumPy: `how` is "same" or a sentence on the difference; absent names have a reason and no value."""

    name: str
    how: str
    value: Any = None
    absent: bool = False


ROWS: dict[str, Row] = {}


def _home(module: str) -> str:
    """The prefix of a module's names: "linalg." for those of stator.numpy.linalg and its private modules."""
    parts = [p for p in module.removeprefix("stator.numpy").split(".") if p and not p.startswith("_")]
    return "".join(f"{p}." for p in parts)


def _put(row: Row) -> None:
    if row.name in ROWS:
        raise RuntimeError(f"{row.name} has two rows")
    ROWS[row.name] = row


def same(function: F) -> F:
    """Decorator of a function that does as NumPy's of the same name."""
    _put(Row(_home(function.__module__) + function.__name__, "same", function))
    return function


def differs(how: str) -> Callable[[F], F]:
    """Decorator of a function that differs from NumPy's as the sentence says."""

    def put(function: F) -> F:
        _put(Row(_home(function.__module__) + function.__name__, how, function))
        return function

    return put


def add(name: str, value: Any, how: str = "same") -> Any:
    """A constant, a class or an alias under its dotted name, as "pi" or "linalg.LinAlgError"; returns the value."""
    _put(Row(name, how, value))
    return value


def absent(reason: str, *names: str) -> None:
    """Dotted names of NumPy that there are not, and why."""
    for name in names:
        _put(Row(name, reason, absent=True))


def namespace(prefix: str) -> dict[str, Any]:
    """Names and values of one namespace, given by its prefix: "", "linalg.", "fft." or "random."."""
    rows = {name.removeprefix(prefix): row for name, row in ROWS.items() if name.startswith(prefix)}
    return {name: row.value for name, row in rows.items() if "." not in name and not row.absent}
