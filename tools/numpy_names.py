"""Writes docs/numpy_names.md: NumPy's names, each the same, different or absent in stator.numpy.

With --check it writes nothing, and fails where the page is not what it would write.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import stator.numpy  # noqa: F401  so that the table is filled
from stator.numpy._rows import ROWS, Row

NUMPY = "2.4"
PAGE = Path(__file__).resolve().parent.parent / "docs" / "numpy_names.md"
PLACES = {"": np, "linalg.": np.linalg, "fft.": np.fft, "random.": np.random}
INTRODUCTION = f"""# NumPy's names

Made by `python tools/numpy_names.py` from the table in `python/stator/numpy`; a test compares it. It lists every name
of `numpy.__all__` of NumPy {NUMPY}, and of the submodules that `stator.numpy` has.

```python
import stator.numpy as np

x = np.linspace(0, 1, 5)
print(np.cumsum(x).tolist(), np.where(x > 0.5, x, 0).tolist())
```

```text
[0.0, 0.25, 0.75, 1.5, 2.5] [0.0, 0.0, 0.0, 0.75, 1.0]
```

Arguments may be arrays of stator, numbers and lists. A NumPy array is refused by every function but `array`, `asarray`
and their neighbours, with a text that names `asarray`: nothing is copied to a device silently. As an index and as the
value of an assignment it is taken. What would be a NumPy scalar is a 0-d array. `out=` is assigned to, and elements
outside `where=` of an elementwise function without `out=` are 0.

`x[0]` of a vector is a 0-d view of its element, which sees later changes: `x[0], x[1] = x[1], x[0]` leaves the old
`x[1]` in both, and `random.shuffle` of Python does so too. Exchange with `x[[0, 1]] = x[[1, 0]]`, shuffle with
`np.random.shuffle(x)`, and take a number with `x[0].item()` or `float(x[0])`, which wait for the device.
"""


def is_function(value: object) -> bool:
    return callable(value) and not isinstance(value, type)


def names_of(prefix: str) -> list[str]:
    return sorted(f"{prefix}{n}" for n in PLACES[prefix].__all__)


def row_of(name: str) -> Row | None:
    if name in ("linalg", "fft", "random"):
        here = any(n.startswith(f"{name}.") for n in ROWS)
        return Row(name, "The submodule, whose names are below") if here else None
    return ROWS.get(name)


def counted(prefix: str) -> dict[str, int]:
    """How many functions, which are not classes, are the same, different, absent or not in the table."""
    counts = {"same": 0, "differs": 0, "absent": 0, "without a row": 0}
    for name in names_of(prefix):
        if not is_function(getattr(PLACES[prefix], name.removeprefix(prefix))):
            continue
        row = row_of(name)
        kind = (
            "without a row" if row is None else "absent" if row.absent else "same" if row.how == "same" else "differs"
        )
        counts[kind] += 1
    return counts


def table(rows: list[tuple[str, str]], heading: str) -> list[str]:
    return ["", f"| name | {heading} |", "|---|---|", *(f"| `{name}` | {text} |" for name, text in rows)]


def section(prefix: str) -> list[str]:
    place = f"numpy.{prefix}".rstrip(".")
    rows = [row for name in names_of(prefix) if (row := row_of(name))]
    counts = counted(prefix)
    present = counts["same"] + counts["differs"]
    total = sum(counts.values())
    lines = [
        "",
        f"## {place}",
        "",
        f"Of {total} functions {present} are here: {counts['same']} are the same, {counts['differs']} differ as below.",
        "",
        "The same: " + ", ".join(f"`{r.name}`" for r in rows if r.how == "same" and not r.absent) + ".",
    ]
    lines += table([(r.name, r.how) for r in rows if r.how != "same" and not r.absent], "how it differs")
    absent = [(r.name, r.how) for r in rows if r.absent]
    return lines + (table(absent, "why it is absent") if absent else [])


def page() -> str:
    lines = INTRODUCTION.rstrip("\n").split("\n")
    for prefix in PLACES:
        if any(name.startswith(prefix) for name in ROWS):
            lines += section(prefix)
    further = sorted(n for n in ROWS if "." not in n and n not in np.__all__ and not ROWS[n].absent)
    lines += ["", "## Names of others"]
    lines += table([(n, ROWS[n].how) for n in further], "what it is")
    return "\n".join(lines) + "\n"


def main() -> int:
    if not np.__version__.startswith(f"{NUMPY}."):
        print(f"NumPy {np.__version__}: the page is for {NUMPY}")
        return 2
    text = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(text)
        return 0
    if PAGE.read_text() != text:
        print(f"{PAGE.name} is not what tools/numpy_names.py writes")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
