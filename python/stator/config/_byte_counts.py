"""Numbers of bytes as settings have them: a number, or text such as "512 MiB"."""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import index

LARGEST = 2**63 - 1
UNITS = {"": 1, "b": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
_SIZE = re.compile(r"\s*([+-]?\d+)\s*([a-z]*)\s*", re.IGNORECASE | re.ASCII)


class Wrong(Exception):
    """A value that the check of a setting refuses."""

    def __init__(self, rule: str, remedy: str) -> None:
        super().__init__(rule)
        self.rule = rule
        self.remedy = remedy


def whole_number(value: object, wanted: str) -> int:
    """The value as an int. Raises Wrong with the remedy `wanted`, for a bool too."""
    if isinstance(value, bool):
        raise Wrong("it is a number", wanted)
    try:
        return index(value)  # type: ignore[arg-type]
    except TypeError:
        raise Wrong("it is a whole number", wanted) from None


def up_to(largest: int) -> Callable[[object], int]:
    """A check that gives a number of bytes from 1 to the largest one, or raises Wrong."""
    most = "2**63 - 1" if largest == LARGEST else str(largest)

    def check(value: object) -> int:
        wanted = 'Give a number of bytes, or text such as "512 MiB".'
        if isinstance(value, str):
            found = _SIZE.fullmatch(value)
            if not found or found[2].lower() not in UNITS or len(found[1]) > 20:
                raise Wrong("it is a number of bytes, with or without B, KiB, MiB, GiB or TiB", wanted)
            number = int(found[1]) * UNITS[found[2].lower()]
        else:
            number = whole_number(value, wanted)
        if not 1 <= number <= largest:
            raise Wrong(f"a size is from 1 to {most} bytes", f"{wanted} Leave it out for the default.")
        return number

    return check


byte_count = up_to(LARGEST)
