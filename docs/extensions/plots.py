"""The directive `plots`: the plots of a page, in the colours of light and dark, from the numbers in the repository.

Pages that a command writes have no directive of their own; it is put before their first section.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import figures
import tables
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

TOP = Path(__file__).resolve().parents[2]
RESULTS = TOP / "benchmarks/results"
COUNTERS, ACCURACY = TOP / "docs/emulated_counters.md", TOP / "docs/accuracy.md"


@dataclass(frozen=True)
class Plot:
    name: str
    caption: str
    height: float
    draw: figures.Draw
    rows: Callable[[], list[tables.Row]]


def _cases() -> list[tables.Row]:
    rows = tables.of_csv(RESULTS / "cpu.csv")
    return [row for row in rows if row["r_numpy"] and "numpy:" not in row.get("refused", "")]


def _counters() -> list[tables.Row]:
    return tables.rows(COUNTERS, "case", needs="of the least")


def _errors() -> list[tables.Row]:
    return tables.rows(ACCURACY, "op", needs="mean ULP")


def _residuals() -> list[tables.Row]:
    return tables.rows(ACCURACY, "op", needs="beside")


def _long_lines() -> list[tables.Row]:
    return tables.rows(ACCURACY, "op", needs="n = 1e4")


# By pages: what says which command makes the numbers, and the plots.
PAGES: dict[str, tuple[Path, tuple[Plot, ...]]] = {
    "benchmarks": (
        RESULTS / "cpu.md",
        (
            Plot("ratios", "How fast stator is beside NumPy, by family of functions.", 5.4, figures.ratios, _cases),
            Plot(
                "shares",
                "The same ratios, all families together: how many of the cases reach a ratio, by size.",
                3.6,
                figures.shares,
                _cases,
            ),
            Plot(
                "floors",
                "What large arrays cost beside a copy of the same bytes. Near 1, memory is what bounds them; far to "
                "the right, arithmetic.",
                5.4,
                figures.floors,
                _cases,
            ),
        ),
    ),
    "emulated_counters": (
        COUNTERS,
        (
            Plot(
                "traffic",
                "How much of memory is read and written, beside what must be. At 1 nothing is touched twice. The case "
                "with most is named where it is over 5.",
                6.6,
                figures.traffic,
                _counters,
            ),
            Plot(
                "bounds",
                "What bounds each case in the model: its traffic (below the line) or its instructions (above).",
                4.6,
                figures.bounds,
                _counters,
            ),
        ),
    ),
    "accuracy": (
        ACCURACY,
        (
            Plot(
                "errors",
                "The largest errors, by dtype. The numbers in the bars count functions and domains.",
                3.8,
                figures.errors,
                _errors,
            ),
            Plot("contracts", "How much of its contract each function uses.", 3.4, figures.contracts, _errors),
            Plot("residuals", "Factorisations beside those of other libraries.", 3.8, figures.residuals, _residuals),
            Plot(
                "long_lines",
                "Sums whose terms are added one by one: the error and what the contract allows.",
                3.8,
                figures.long_lines,
                _long_lines,
            ),
        ),
    ),
}


def _is_fresh(path: Path, sources: list[Path]) -> bool:
    return path.is_file() and path.stat().st_mtime > max(source.stat().st_mtime for source in sources)


def write(app: Any) -> None:
    """Draws what is older than the numbers or the code, to docs/plots, which git ignores."""
    import matplotlib
    from matplotlib.figure import Figure

    folder = Path(app.srcdir) / "plots"
    folder.mkdir(exist_ok=True)
    code = [Path(__file__).with_name(f"{name}.py") for name in ("plots", "figures", "tables")]
    for page, plots in PAGES.values():
        for plot in plots:
            for theme in (figures.LIGHT, figures.DARK):
                path = folder / f"{plot.name}_{theme.name}.svg"
                if _is_fresh(path, [*code, page, RESULTS / "cpu.csv"]):
                    continue
                with matplotlib.rc_context({"font.size": 11, "svg.hashsalt": plot.name}):
                    figure = Figure(figsize=(5.0, plot.height), layout="constrained")
                    plot.draw(plot.rows(), figure, theme)
                    figure.savefig(path, transparent=True, metadata={"Date": None})


class Plots(SphinxDirective):
    required_arguments = 1  # the page

    def run(self) -> list[nodes.Node]:
        page, plots = PAGES[self.arguments[0]]
        found: list[nodes.Node] = []
        for plot in plots:
            figure = nodes.figure()
            for theme in (figures.LIGHT, figures.DARK):
                uri = f"/plots/{plot.name}_{theme.name}.svg"
                figure += nodes.image(uri=uri, alt=plot.caption, classes=[f"only-{theme.name}", "plot"])
            text = f"{plot.caption} The numbers: `{tables.command(page)}`."
            parsed = nodes.Element()
            self.state.nested_parse(StringList([text], self.get_source_info()[0]), 0, parsed)
            figure += nodes.caption("", "", *parsed.children[0].children)
            found.append(figure)
        return found


def insert(app: Any, name: str, source: list[str]) -> None:
    if name in PAGES and "{plots}" not in source[0]:
        plots = f"## Plots\n\n```{{plots}} {name}\n```\n\n"
        source[0] = re.sub(r"^## ", lambda found: plots + found[0], source[0], count=1, flags=re.MULTILINE)


def setup(app: Any) -> dict[str, Any]:
    app.add_directive("plots", Plots)
    app.connect("builder-inited", write)
    app.connect("source-read", insert)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
