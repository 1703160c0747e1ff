"""Arguments that are whole numbers or numbers of bytes."""

from __future__ import annotations

from operator import index

from stator.errors import DTypeError, InvalidValueError


def whole_number(value: object, name: str, op: str, remedy: str) -> int:
    """An argument that is an integer of any library, but no bool. DTypeError with the remedy for others."""
    try:
        if not isinstance(value, bool):
            return index(value)  # type: ignore[arg-type]
    except TypeError:
        pass
    raise DTypeError(f"Got {name} of type {type(value).__name__}", op=op, remedy=remedy)


def byte_count(value: object, name: str, op: str, least: int = 0) -> int:
    """An argument that is a number of bytes."""
    count = whole_number(value, name, op, "Give a number of bytes.")
    if not least <= count < 2**63:
        raise InvalidValueError(f"{name}={count}", op=op, remedy=f"Give {least} to 2**63 - 1 bytes.")
    return count
