"""The plots of the pages on benchmarks, counters and accuracy, drawn from the numbers that these pages have.

Each takes the rows, a figure of matplotlib and the colours of a theme. They are as wide as a page on a narrow screen
allows, so that their letters stay readable there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from tables import number

Row = dict[str, str]
Draw = Callable[[list[Row], Figure, "Theme"], None]


@dataclass(frozen=True)
class Theme:
    name: str
    ink: str
    faint: str
    colours: tuple[str, ...]
    scale: str  # matplotlib's name of the colours from best to worst
    ends: tuple[float, float]  # of that scale


LIGHT = Theme("light", "#222222", "#c9c9c9", ("#0072b2", "#d55e00", "#009e73"), "viridis_r", (0.15, 1.0))
DARK = Theme("dark", "#e6e6e6", "#4a4a4a", ("#56b4e9", "#ffa54d", "#3ddc97"), "viridis", (0.25, 1.0))
SIZES = {1_000: "1,000 elements", 1_000_000: "1,000,000", 1 << 24: "16,777,216"}
BANDS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, np.inf)  # of errors, each up to its number
DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def axes_of(figure: Figure, theme: Theme, xlabel: str, ylabel: str = "") -> Any:
    axes = figure.subplots()
    axes.set_facecolor("none")
    axes.set_xlabel(xlabel, color=theme.ink)
    axes.set_ylabel(ylabel, color=theme.ink)
    axes.tick_params(colors=theme.ink, which="both", length=0)
    axes.grid(color=theme.faint, lw=0.5)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    return axes


def legend(axes: Any, theme: Theme, **options: Any) -> None:
    place = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "frameon": False, "labelcolor": theme.ink}
    axes.legend(**{**place, "handletextpad": 0.4, "columnspacing": 1.0, **options})


def strips(axes: Any, theme: Theme, values: dict[str, list[tuple[float, int]]], size: float = 8) -> list[str]:
    """A line of dots for each name, a value and the number of its colour each, with the median; the lowest first."""
    order = sorted(values, key=lambda name: float(np.median([value for value, _ in values[name]])))
    rng = np.random.default_rng(0)
    for y, name in enumerate(order):
        for colour in sorted({colour for _, colour in values[name]}):
            x = [value for value, of in values[name] if of == colour]
            axes.scatter(x, y + rng.uniform(-0.3, 0.3, len(x)), s=size, color=theme.colours[colour], alpha=0.65, lw=0)
        middle = np.median([value for value, _ in values[name]])
        axes.plot([middle, middle], [y - 0.42, y + 0.42], color=theme.ink, lw=2.2, solid_capstyle="butt")
    axes.set_yticks(range(len(order)), order)
    axes.set_ylim(-0.7, len(order) - 0.3)
    axes.grid(axis="y", visible=False)
    return order


def names_of_sizes(axes: Any, theme: Theme, sizes: list[int]) -> None:
    for colour, size in enumerate(SIZES):
        if size in sizes:
            axes.scatter([], [], s=24, color=theme.colours[colour], label=SIZES[size])
    axes.plot([], [], color=theme.ink, lw=2.2, label="median")
    legend(axes, theme, ncols=2 if len(sizes) > 2 else 3)


def plain(axes: Any, ticks: list[float], which: str = "x") -> None:
    """Ticks as people write numbers, fractions below one."""
    from matplotlib.ticker import NullLocator

    texts = [f"{tick:,.0f}" if tick >= 1 else f"1/{1 / tick:g}" for tick in ticks]
    (axes.set_xticks if which == "x" else axes.set_yticks)(ticks, texts)
    (axes.xaxis if which == "x" else axes.yaxis).set_minor_locator(NullLocator())


def ratios(rows: list[Row], figure: Figure, theme: Theme) -> None:
    axes = axes_of(figure, theme, "time of NumPy / time of stator\n(each dot is a case; right of 1, stator is faster)")
    found: dict[str, list[tuple[float, int]]] = {}
    for row in rows:
        found.setdefault(row["family"], []).append((float(row["r_numpy"]), list(SIZES).index(int(row["size"]))))
    axes.set_xscale("log")
    strips(axes, theme, found)
    axes.axvline(1, color=theme.ink, lw=1)
    plain(axes, [1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16, 32, 64, 128])
    axes.tick_params(axis="x", labelsize=10)
    names_of_sizes(axes, theme, list(SIZES))


def shares(rows: list[Row], figure: Figure, theme: Theme) -> None:
    axes = axes_of(figure, theme, "time of NumPy / time of stator", "cases with at least this ratio, %")
    for colour, (size, name) in enumerate(SIZES.items()):
        values = np.sort([float(row["r_numpy"]) for row in rows if int(row["size"]) == size])
        share = 100 * np.arange(len(values), 0, -1) / len(values)
        axes.step(values, share, where="post", color=theme.colours[colour], lw=2, label=f"{name}: {len(values)} cases")
    axes.set_xscale("log")
    axes.axvline(1, color=theme.ink, lw=1)
    axes.set_ylim(0, 103)
    plain(axes, [1 / 4, 1 / 2, 1, 2, 4, 8, 16, 32, 64, 128])
    axes.tick_params(axis="x", labelsize=10)
    legend(axes, theme, loc="upper right", bbox_to_anchor=(1, 1), frameon=False)


def floors(rows: list[Row], figure: Figure, theme: Theme) -> None:
    axes = axes_of(figure, theme, "time of stator / time of a copy of the same bytes\n(each dot is a case)")
    found: dict[str, list[tuple[float, int]]] = {}
    for row in rows:
        if int(row["size"]) >= 1_000_000 and row["floor_us"]:
            ratio = float(row["ours_us"]) / float(row["floor_us"])
            found.setdefault(row["family"], []).append((ratio, list(SIZES).index(int(row["size"]))))
    axes.set_xscale("log")
    strips(axes, theme, found)
    axes.axvline(1, color=theme.ink, lw=1)
    plain(axes, [1 / 10, 1, 10, 100, 1000])
    names_of_sizes(axes, theme, list(SIZES)[1:])


def traffic(rows: list[Row], figure: Figure, theme: Theme) -> None:
    axes = axes_of(figure, theme, "bytes moved / least bytes (each dot is a case)")
    found: dict[str, list[tuple[float, int]]] = {}
    for row in rows:
        found.setdefault(row["family"], []).append((number(row["of the least"]), 0))
    axes.set_xscale("log")
    order = strips(axes, theme, found, size=22)
    axes.axvline(1, color=theme.ink, lw=1)
    largest = {
        family: max((number(r["of the least"]), r["case"]) for r in rows if r["family"] == family) for family in found
    }
    for family, (value, case) in largest.items():
        if value > 5:
            axes.annotate(
                case,
                (value, order.index(family)),
                (6, 0),
                textcoords="offset points",
                va="center",
                fontsize=10,
                color=theme.ink,
            )
    axes.set_xlim(0.55, 1500)
    plain(axes, [1, 2, 5, 10, 20, 50])


def bounds(rows: list[Row], figure: Figure, theme: Theme) -> None:
    axes = axes_of(figure, theme, "time that its memory traffic takes, us", "time that its instructions take, us")
    x, y = (np.array([number(row[key]) for row in rows]) for key in ("memory, us", "issue, us"))
    for colour, (chosen, name) in enumerate(((x >= y, "bound by memory"), (x < y, "bound by instructions"))):
        label = f"{name}: {chosen.sum()} cases"
        axes.scatter(x[chosen], y[chosen], s=18, color=theme.colours[colour], alpha=0.8, lw=0, label=label)
    axes.plot([0.1, 400], [0.1, 400], color=theme.ink, lw=1)
    axes.set(xscale="log", yscale="log", xlim=(0.25, 4000), ylim=(0.15, 200))
    plain(axes, [1, 10, 100, 1000])
    plain(axes, [1, 10, 100], "y")
    beside = {"textcoords": "offset points", "va": "center", "fontsize": 10, "color": theme.ink}
    named: list[tuple[float, float]] = []
    for px, py, case in sorted(zip(x, y, (row["case"] for row in rows), strict=True), reverse=True):
        alone = all(abs(np.log(px / a)) + abs(np.log(py / b)) > 1 for a, b in named)
        if (px > 60 or py > 60) and alone:
            named.append((px, py))
            axes.annotate(case, (px, py), (6, 0), **beside)
    legend(axes, theme, ncols=1)


def errors(rows: list[Row], figure: Figure, theme: Theme) -> None:
    import matplotlib

    axes = axes_of(figure, theme, "functions, % of those that have the dtype")
    low, high = theme.ends
    colours = matplotlib.colormaps[theme.scale](np.linspace(low, high, len(BANDS)))
    for y, dtype in enumerate(reversed(DTYPES)):
        found = [number(row["max ULP"]) for row in rows if dtype in row["dtype"].split(", ")]
        band = np.searchsorted(BANDS, found)
        counts = np.bincount(band, minlength=len(BANDS))
        left = 0.0
        for i, count in enumerate(counts):
            width = 100 * count / len(found)
            axes.barh(y, width, left=left, height=0.72, color=colours[i], label=_band(i) if y == 0 else None)
            if width > 5:
                dark = colours[i][:3] @ (0.299, 0.587, 0.114) < 0.5
                axes.text(
                    left + width / 2,
                    y,
                    str(count),
                    ha="center",
                    va="center",
                    fontsize=10,
                    color="white" if dark else "black",
                )
            left += width
    axes.set_yticks(range(len(DTYPES)), reversed(DTYPES))
    axes.grid(visible=False)
    axes.set_xlim(0, 100)
    legend(axes, theme, ncols=4)


def _band(i: int) -> str:
    if i == 0:
        return "0 ULP"
    return f"over {BANDS[i - 1]:g}" if np.isinf(BANDS[i]) else f"up to {BANDS[i]:g}"


def contracts(rows: list[Row], figure: Figure, theme: Theme) -> None:
    axes = axes_of(figure, theme, "largest error / what the contract allows, %\n(each dot is a function and dtype)")
    found: dict[str, list[tuple[float, int]]] = {}
    for row in rows:
        if row["contract"] != "exact":
            used = 100 * number(row["max ULP"]) / number(row["contract"])
            found.setdefault(row["section"].replace(" and ", "\nand "), []).append((min(used, 130), 0))
    strips(axes, theme, found)
    axes.axvline(100, color=theme.colours[1], lw=1.5)
    axes.set_xlim(-3, 135)
    axes.set_xticks([0, 25, 50, 75, 100, 130], ["0", "25", "50", "75", "100", "more"])


def residuals(rows: list[Row], figure: Figure, theme: Theme) -> None:
    axes = axes_of(figure, theme, "residual of a matrix of 257 rows in float64, units of eps")
    chosen = [row for row in rows if row["dtype"] == "float64"]
    for y, row in enumerate(reversed(chosen)):
        ours, theirs = number(row["n = 257"]), number(row["n = 257 beside"])
        axes.plot([ours, theirs], [y, y], color=theme.faint, lw=3, zorder=1)
        axes.scatter(ours, y, s=60, color=theme.colours[0], label="stator" if y == 0 else None, zorder=3)
        axes.scatter(
            theirs, y, s=60, color=theme.colours[1], marker="D", label="NumPy or SciPy" if y == 0 else None, zorder=2
        )
    axes.set_yticks(range(len(chosen)), [f"{row['op']}" for row in reversed(chosen)])
    axes.set_xscale("log")
    plain(axes, [1 / 10, 1, 10])
    legend(axes, theme, ncols=2)


def long_lines(rows: list[Row], figure: Figure, theme: Theme) -> None:
    axes = axes_of(figure, theme, "terms of the sum", "largest error, ULP")
    terms = np.array([1e4, 1e5, 1e6])
    for dtype, colour, marker in (("float32", 0, "o"), ("float64", 1, "D")):
        for row in rows:
            if row["dtype"] == dtype:
                found = [number(row[f"n = 1e{power}"]) for power in (4, 5, 6)]
                axes.plot(terms, found, marker=marker, color=theme.colours[colour], lw=1.5, ms=6)
        axes.plot([], [], marker=marker, color=theme.colours[colour], label=f"measured, {dtype}")
    axes.plot(terms, 4 + terms / 2, color=theme.ink, ls="--", lw=1.5, label="contract: 4 + n/2")
    axes.set(xscale="log", yscale="log")
    plain(axes, list(terms))
    plain(axes, [10, 100, 1000, 10_000, 100_000], "y")
    legend(axes, theme, ncols=2)
