"""The doctor's findings as text for a terminal, and the catalogue of all kinds as a page of Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from stator._doctor.finding import CATALOGUE, Finding, Kind, Severity

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold cyan"}


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'s' if number != 1 else ''}"


def summary(findings: Sequence[Finding], probes: int) -> str:
    """The result in a line."""
    counts = [_count(sum(f.severity == severity for f in findings), severity.value) for severity in Severity]
    return f"{_count(probes, 'probe')}: {', '.join(counts)}."


def show(console: Console, findings: Sequence[Finding], probes: int) -> None:
    """Prints the findings."""
    for finding in findings:
        console.print(Text.assemble((finding.severity.value, _STYLES[finding.severity]), f"  {finding.name}"))
        lines = Table.grid(padding=(0, 2))
        for word in ("seen", "why", "remedy"):
            lines.add_row("", Text(word, "dim"), Text(getattr(finding, word), overflow="fold"))
        console.print(lines)
    console.print(Text(summary(findings, probes)))


def _row(kind: Kind) -> str:
    return f"| `{kind.name}` | {kind.severity} | {kind.what} | {kind.why} | {kind.remedy} |"


def catalogue() -> str:
    """The table of docs/doctor.md: every kind of finding, the errors first, by name."""
    head = ["| finding | severity | found where | why it matters | remedy |", "|---|---|---|---|---|"]
    kinds = sorted(CATALOGUE, key=lambda kind: (list(Severity).index(kind.severity), kind.name))
    return "\n".join([*head, *map(_row, kinds)])
