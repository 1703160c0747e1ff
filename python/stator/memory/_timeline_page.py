"""The HTML page of a memory timeline: one file with a drawing and a table, for light and dark screens."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stator.memory._timeline import MemoryOwner, MemorySnapshot

SHOWN = 8  # owners with an area of their own
COLUMNS = 600
WIDTH, HEIGHT = 960, 320
REST = "other ops"
# Of areas, distinct on white and on black, and the last one for the rest.
COLOURS = ("#4477aa", "#ee7733", "#228833", "#cc3377", "#aa9900", "#33aacc", "#8855bb", "#995533", "#888888")

STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --page: #ffffff; --line: #cccccc; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e6; --page: #16181c; --line: #444a55; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); margin: 2rem auto;
  max-width: 62rem; padding: 0 1rem; }
svg { width: 100%; height: auto; } text { fill: var(--ink); font-size: 12px; } line { stroke: var(--line); }
table { border-collapse: collapse; width: 100%; margin-top: 1rem; }
th, td { padding: .25rem .75rem; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; }
i { display: inline-block; width: .8em; height: .8em; margin-right: .5em; }
"""


def size_text(count: float) -> str:
    """Bytes as text, such as "1.5 MiB"."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024:
            return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def columns(snapshot: MemorySnapshot, names: Sequence[str]) -> tuple[list[list[int]], float]:
    """The live bytes of each name in COLUMNS spans of time, and the seconds in all.

    A column has the moment of its span, the beginning included, at which most bytes are live.
    """
    last = max((event.time for event in snapshot.events), default=0.0) or 1.0
    place = {name: i for i, name in enumerate(names)}
    live = [0] * len(names)
    found: list[list[int]] = []
    highest = live.copy()
    for event in snapshot.events:
        column = min(int(event.time / last * COLUMNS), COLUMNS - 1)
        while len(found) < column:
            found.append(highest)
            highest = live.copy()
        live[place.get(event.op, len(names) - 1)] += event.bytes
        if sum(live) > sum(highest):
            highest = live.copy()
    found.append(highest)
    return found + [live] * (COLUMNS - len(found)), last


def drawing(snapshot: MemorySnapshot, names: Sequence[str]) -> str:
    """The stacked areas as SVG."""
    heights, seconds = columns(snapshot, names)
    most = max((sum(column) for column in heights), default=0) or 1
    step = WIDTH / COLUMNS
    parts, floor = [], [0.0] * COLUMNS
    for i, name in enumerate(names):
        top = [below + column[i] for below, column in zip(floor, heights, strict=True)]
        edge = [(x * step, HEIGHT - y / most * HEIGHT) for x, y in enumerate(top)]
        edge.append((WIDTH, edge[-1][1]))
        base = [(x * step, HEIGHT - y / most * HEIGHT) for x, y in enumerate(floor)]
        base.append((WIDTH, base[-1][1]))
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in [*edge, *reversed(base)])
        parts.append(
            f'<polygon points="{points}" fill="{COLOURS[i % len(COLOURS)]}"><title>{escape(name)}</title></polygon>'
        )
        floor = [float(y) for y in top]
    for share in (0.25, 0.5, 0.75, 1.0):
        y = HEIGHT - share * HEIGHT
        parts.append(f'<line x1="0" x2="{WIDTH}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text x="4" y="{y + 14}">{size_text(most * share)}</text>')
    parts.append(f'<text x="{WIDTH}" y="{HEIGHT + 16}" text-anchor="end">{seconds:.3g} s</text>')
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT + 24}" role="img">{"".join(parts)}</svg>'


def rows(owners: Sequence[MemoryOwner], names: Sequence[str]) -> str:
    """The table's rows."""
    place = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}
    return "\n".join(
        f'<tr><td><i style="background: {place.get(owner.op, COLOURS[-1])}"></i>{escape(owner.op or "no op")}</td>'
        f"<td>{size_text(owner.peak_bytes)}</td><td>{size_text(owner.live_bytes)}</td><td>{owner.allocations}</td></tr>"
        for owner in owners
    )


def page(snapshot: MemorySnapshot, device: str) -> str:
    """The whole page."""
    owners = snapshot.owners()
    names = [owner.op for owner in owners[:SHOWN]]
    if len(owners) > SHOWN:
        names.append(REST)
    dropped = f" {snapshot.dropped} more were dropped." if snapshot.dropped else ""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Memory of {escape(device)}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>Memory of {escape(device)}</h1>
<p>Live bytes over time, by the op that took them; {len(snapshot.events)} events.{dropped}</p>
{drawing(snapshot, names) if snapshot.events else "<p>Nothing was recorded.</p>"}
<table>
<tr><th>op</th><th>peak</th><th>live at the end</th><th>allocations</th></tr>
{rows(owners, names)}
</table>
</body>
</html>
"""
