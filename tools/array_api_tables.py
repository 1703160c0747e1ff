"""Writes the tables of docs/array_api.md: what scikit-learn and SciPy do with stator's arrays, found by running it.

With --check it writes nothing, and fails where the page is not what it would write; with --show it prints each failure.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["SCIPY_ARRAY_API"] = "1"  # read when SciPy is imported

import numpy as np
import scipy
import sklearn
from array_api_calls import ESTIMATORS, METRICS, SCIPY
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

import stator

PAGE = Path(__file__).resolve().parent.parent / "docs" / "array_api.md"
BEGIN = "<!-- Made by tools/array_api_tables.py: do not edit up to the end of the tables. -->"
END = "<!-- The end of the tables. -->"
KINDS = {"stator": "gives stator's arrays, or numbers", "numpy": "gives NumPy's, of a copy", "fails": "raises"}


def operands(made: Callable[[np.ndarray[Any, Any]], Any]) -> dict[str, Any]:
    """What the calls are made of: v a vector, p one of (0, 1), m a matrix, s a definite one, i integers, ..."""
    rng = np.random.default_rng(0)
    m = rng.normal(size=(40, 5))
    host = {
        "v": rng.normal(size=64),
        "w": rng.normal(size=64),
        "p": rng.uniform(0.05, 0.95, size=64),
        "t": np.linspace(0, 1, 64),
        "m": m,
        "s": m.T @ m + np.eye(5),
        "b": rng.normal(size=5),
        "i": rng.integers(1, 9, size=64),
        "c": rng.normal(size=64) + 1j * rng.normal(size=64),
        "image": rng.normal(size=(16, 16)),
        "table": rng.integers(5, 30, size=(3, 4)),
        "labels": (m[:, 0] + 0.3 * m[:, 1] > 0).astype("int64"),
        "guess": (m[:, 0] > 0).astype("int64"),
        "target": m @ rng.normal(size=5),
        "positive": np.abs(m),
    }
    return {name: made(value) for name, value in host.items()}


def leaves(value: Any) -> list[Any]:
    """The arrays of a result: those of tuples, of SciPy's result objects, or the value itself."""
    if isinstance(value, (stator.Array, np.ndarray, np.generic)):
        return [value]
    if isinstance(value, dict):
        return [leaf for v in value.values() for leaf in leaves(v)]
    if isinstance(value, (tuple, list)):
        return [leaf for v in value for leaf in leaves(v)]
    fields = getattr(value, "__dict__", {})
    return [leaf for v in fields.values() if isinstance(v, (stator.Array, np.ndarray)) for leaf in leaves(v)]


def kind_of(call: Callable[[], Any], name: str, shown: bool) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = leaves(call())
    except Exception as error:  # whatever a library raises is what the table says
        if shown:
            print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0][:150] if str(error) else ''}")
        return "fails"
    return "stator" if any(isinstance(v, stator.Array) for v in found) or not found else "numpy"


def scipy_kinds(be: stator.Backend, shown: bool) -> dict[str, dict[str, str]]:
    """For each module of SciPy, and each of its calls, what becomes of it."""
    found: dict[str, dict[str, str]] = {}
    for module, calls in SCIPY.items():
        home = __import__(f"scipy.{module}", fromlist=["_"])
        for text in calls.split(";"):
            name = text.strip().partition("(")[0]
            scope = {**operands(be.asarray), "xp": stator, "np": np, "at": home}
            kind = kind_of(lambda text=text, scope=scope: eval(f"at.{text.strip()}", scope), f"{module}.{name}", shown)
            found.setdefault(module, {})[name] = kind
    return found


def estimator_kinds(be: stator.Backend, shown: bool) -> dict[str, dict[str, str]]:
    """For each module of scikit-learn, and each estimator or function, what becomes of its arrays."""
    found: dict[str, dict[str, str]] = {}
    for module, calls in {**ESTIMATORS, "metrics": METRICS}.items():
        home = vars(__import__(f"sklearn.{module}", fromlist=["_"]))
        for text in calls.split(";"):
            scope = {"Ridge": Ridge, "StandardScaler": StandardScaler, **home, **operands(be.asarray)}
            name = re.sub(r"\)\.(fit|split).*", ")", text.strip()) if module != "metrics" else text.partition("(")[0]
            name = name.strip().removesuffix("()")

            def call(text: str = text, scope: dict[str, Any] = scope) -> Any:
                with sklearn.config_context(array_api_dispatch=True):
                    return eval(text.strip(), scope)

            found.setdefault(module, {})[name] = kind_of(call, f"{module}.{name}", shown)
    return found


def table(kinds: dict[str, dict[str, str]], library: str) -> list[str]:
    total = [kind for calls in kinds.values() for kind in calls.values()]
    counts = {kind: total.count(kind) for kind in KINDS}
    lines = [
        f"Of {len(total)} calls of {library}, {counts['stator']} give stator's arrays or numbers, "
        f"{counts['numpy']} NumPy's, and {counts['fails']} raise.",
        "",
        f"| module | {' | '.join(KINDS.values())} |",
        "|---|---|---|---|",
    ]
    for module, calls in kinds.items():
        cells = [", ".join(f"`{n}`" for n in calls if calls[n] == kind) for kind in KINDS]
        lines.append(f"| {module} | {' | '.join(cells)} |")
    return lines


def section(shown: bool = False) -> list[str]:
    """The lines between the marks of the page."""
    with stator.Backend("cpu") as be, be.use():
        learned, computed = estimator_kinds(be, shown), scipy_kinds(be, shown)
    return [
        BEGIN,
        "",
        f"## scikit-learn {sklearn.__version__.rpartition('.')[0]}",
        "",
        *table(learned, "scikit-learn"),
        "",
        f"## SciPy {scipy.__version__.rpartition('.')[0]}",
        "",
        *table(computed, "SciPy"),
        "",
        END,
    ]


def main() -> int:
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    made = before + "\n".join(section("--show" in sys.argv[1:])) + rest.partition(END)[2]
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(made)
        return 0
    if made != text:
        print(f"{PAGE.name} is not what tools/array_api_tables.py writes")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
