"""The plot of a run, with a strip per family of ops; redrawn from its CSV and JSON: python -m benchmarks.plot CSV."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

PEERS = {"numpy": "NumPy", "torch": "PyTorch", "cupy": "CuPy"}
SIZES = {1_000: ("1e3 elements", "#0072b2"), 1_000_000: ("1e6", "#d55e00"), 1 << 24: ("2^24", "#009e73")}
COLUMNS = {50: "median\nratio", 97: "stator\nslower", 138: "\ncases"}  # distance from a panel, in points
PLACE = {"left": 0.115, "right": 0.825, "bottom": 0.16, "top": 0.895, "wspace": 0.9}
INK = "#222222"
MEDIAN = {"lw": 2.5, "marker": "D", "mfc": "white", "mew": 2, "ms": 8}

Found = dict[str, list[tuple[float, int]]]


def made_by(report: dict[str, Any]) -> str:
    versions = ", ".join(f"{k} {v}" for k, v in report["versions"].items())
    where = f"{report['machine']}, {report['cores']} cores, target {report['target']}"
    return f"Made by `{report['command']}` on {where}; {versions}."


def by_family(rows: list[dict[str, Any]], peer: str) -> Found:
    """(ratio, size) of each family's cases."""
    found: Found = {}
    for r in rows:
        if r.get(f"r_{peer}"):
            found.setdefault(r["family"], []).append((float(r[f"r_{peer}"]), int(r["size"])))
    return found


def median(cases: list[tuple[float, int]]) -> float:
    return float(np.median([ratio for ratio, _ in cases]))


def _panel(axes: Any, found: Found, order: list[str], name: str, step: int) -> None:
    """Dots, quartiles and median of each family, with its numbers beside them."""
    rng = np.random.default_rng(0)

    def beside(y: float, texts: Iterable[str], **style: Any) -> None:
        for points, text in zip(COLUMNS, texts, strict=True):
            style |= {"xycoords": axes.get_yaxis_transform(), "textcoords": "offset points", "ha": "right"}
            axes.annotate(text, (1, y), (points, 0), **style)

    every = np.array([ratio for cases in found.values() for ratio, _ in cases])
    for y, family in enumerate(order):
        if family not in found:
            continue
        ratios, sizes = map(np.array, zip(*found[family], strict=True))
        for size, (_, colour) in SIZES.items():
            x = ratios[sizes == size]
            axes.scatter(x, y + rng.uniform(-0.32, 0.32, x.size), s=13, color=colour, alpha=0.6, lw=0)
        low, middle, high = np.quantile(ratios, (0.25, 0.5, 0.75))
        axes.plot([low, middle, high], [y] * 3, color=INK, markevery=[1], **MEDIAN)
        beside(y, (f"{middle:.2f}", f"{np.mean(ratios < 1):.0%}", f"{ratios.size}"), va="center", fontsize=12)
    beside(len(order) - 0.4, COLUMNS.values(), va="bottom", fontsize=11, color="#666666")
    powers = range(min(-3, int(np.floor(np.log2(every.min())))), max(3, int(np.ceil(np.log2(every.max())))) + 1)
    shown = [p for p in powers if p % step == 0]
    axes.set_xscale("log", base=2)
    axes.set(xlim=(2.0 ** powers[0], 2.0 ** powers[-1]), ylim=(-0.6, len(order) - 0.4))
    axes.set_xticks([2.0**p for p in shown], [f"{2**p}" if p >= 0 else f"1/{2**-p}" for p in shown], fontsize=12)
    axes.set_yticks(range(len(order)), order, fontsize=13)
    axes.set_xlabel(f"time of {name} / time of stator (a dot is a case)", fontsize=12)
    axes.axvspan(2.0 ** powers[0], 1, color="#000000", alpha=0.07, lw=0, zorder=0)
    axes.axvline(1, color=INK, lw=1.2, zorder=1)
    for side, ha, text in ((-6, "right", f"← {name} faster"), (6, "left", "stator faster →")):
        axes.annotate(text, (1, len(order) - 0.4), (side, 6), textcoords="offset points", ha=ha, fontsize=12)
    axes.grid(axis="x", lw=0.4)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def plot(path: Path, rows: list[dict[str, Any]], report: dict[str, Any]) -> bool:
    """Draws one panel per peer, the fastest family first, in 1200 x 900 pixels; False without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from PIL import Image

    peers = {s["peer"]: by_family(rows, s["peer"]) for s in report["summary"]}
    ranked: Found = {}
    for found in reversed(peers.values()):
        ranked |= found  # by the ratio to the first peer that has the family
    order = sorted(ranked, key=lambda family: median(ranked[family]))
    figure, panels = plt.subplots(1, len(peers), figsize=(12, 9), dpi=100, squeeze=False, sharey=True)
    figure.subplots_adjust(**PLACE)
    for axes, (peer, found) in zip(panels[0], peers.items(), strict=True):
        _panel(axes, found, order, PEERS[peer], len(peers))
    names = " and ".join(PEERS[p] for p in peers)
    means = " and ".join(f"{s['geomean']:.2f}" for s in report["summary"])
    title = f"stator against {names} on {report['device']}: {means} times as fast (geometric mean)"
    figure.suptitle(title, y=0.98, fontsize=17)
    dots = [plt.Line2D([], [], ls="", marker="o", ms=7, color=c, label=label) for label, c in SIZES.values()]
    dots += [plt.Line2D([], [], color=INK, label="median, and the middle half of the cases", **MEDIAN)]
    figure.legend(handles=dots, loc="lower center", bbox_to_anchor=(0.5, 0.055), ncols=4, fontsize=12, frameon=False)
    figure.text(0.5, 0.012, fill(made_by(report), 120), ha="center", fontsize=11, color="#444444")
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3]
    Image.fromarray(np.ascontiguousarray(pixels)).quantize(256).save(path, optimize=True)  # a third of savefig's size
    plt.close(figure)
    return True


def main() -> int:
    path = Path(sys.argv[1])
    with path.open(newline="") as f:
        rows = list(csv.DictReader(f))
    return 0 if plot(path.with_suffix(".png"), rows, json.loads(path.with_suffix(".json").read_text())) else 1


if __name__ == "__main__":
    raise SystemExit(main())
