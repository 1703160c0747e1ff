"""What the doctor can find, and what it found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum


class Severity(StrEnum):
    """error: something that was asked for fails. warning: it works, but slowly or not for long. note: good to know."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Finding:
    """One finding in one environment; `seen` has the numbers and paths."""

    name: str
    severity: Severity
    seen: str
    why: str
    remedy: str

    def as_dict(self) -> dict[str, str]:
        return {key: str(value) for key, value in asdict(self).items()}


@dataclass(frozen=True)
class Kind:
    """A kind of finding. `what` completes the sentence "this is found where ..."."""

    name: str
    severity: Severity
    what: str
    why: str
    remedy: str

    def found(self, seen: str, remedy: str = "") -> Finding:
        """A finding of this kind; `remedy` stands in for the general one where more is known."""
        return Finding(self.name, self.severity, seen, self.why, remedy or self.remedy)


CATALOGUE: list[Kind] = []  # every kind; docs/doctor.md is made of it


def _define(severity: Severity, name: str, what: str, why: str, remedy: str) -> Kind:
    CATALOGUE.append(Kind(name, severity, what, why, remedy))
    return CATALOGUE[-1]


def error(name: str, what: str, why: str, remedy: str) -> Kind:
    return _define(Severity.ERROR, name, what, why, remedy)


def warning(name: str, what: str, why: str, remedy: str) -> Kind:
    return _define(Severity.WARNING, name, what, why, remedy)


def note(name: str, what: str, why: str, remedy: str) -> Kind:
    return _define(Severity.NOTE, name, what, why, remedy)
