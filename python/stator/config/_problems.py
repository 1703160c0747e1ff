"""What is wrong with fields of a configuration, and the one error that lists all of it."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stator.errors import ConfigurationError


@dataclass(frozen=True)
class Problem:
    """A value that cannot be used: its field, what it is, the rule that it breaks, and what to do.

    source: the variable of the environment or the file that it comes from; empty for a value of a call.
    """

    field: str
    value: str
    rule: str
    remedy: str
    source: str = ""

    def __str__(self) -> str:
        if self.source.startswith("STATOR_"):
            return f"{self.source}={self.value}, but {self.rule}"
        return f"{self.field}={self.value}{self.source and f' in {self.source}'}, but {self.rule}"


def shown(value: object) -> str:
    """A value as errors show it: short, also where it is an integer of a thousand digits."""
    if isinstance(value, int) and value.bit_length() > 128:
        return f"<integer of {value.bit_length()} bits>"
    return reprlib.repr(value)


def raise_all(problems: Sequence[Problem], op: str) -> None:
    """Raises one ConfigurationError that lists the problems; nothing where there are none."""
    if not problems:
        return
    cause = "; ".join(map(str, problems))
    if len(problems) > 1:
        cause = f"{len(problems)} values cannot be used: {cause}"
    remedies = dict.fromkeys(f"{p.field}: {p.remedy}" if len(problems) > 1 else p.remedy for p in problems)
    error = ConfigurationError(cause, op=op, remedy=" ".join(remedies))
    error.problems = tuple(problems)
    raise error


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name that is most like a name, where any is."""
    try:
        from difflib import get_close_matches
    except ImportError:  # the interpreter ends
        return None
    return next(iter(get_close_matches(name, list(known), 1, cutoff)), None)


def unknown(name: str, value: object, known: Iterable[str], what: str, source: str = "") -> Problem:
    """The problem of a name that nothing has, with the known name that is most like it."""
    near = nearest(name, known)
    remedy = f"Did you mean {near}?" if near else f"Known are {', '.join(known)}."
    return Problem(name, shown(value), f"there is no {what} of this name", remedy, source)
