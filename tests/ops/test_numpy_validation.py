"""The functions of NumPy's validation sets (numpy/_core/tests/data in the wheel)."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from cases import TABLE, function
from reference import allowed, ulp_error

SETS = Path(np.__file__).parent.glob("*core/tests/data/umath-validation-set-*.csv")  # core in NumPy 1, _core in NumPy 2
FILES = {p.stem.rpartition("-")[2]: p for p in SETS}
# NumPy's names that differ from those of the op table.
RENAMED = {"arc" + n: "a" + n for n in ("cos", "cosh", "sin", "sinh", "tan", "tanh")}
BITS = {"float16": np.uint16, "float32": np.uint32, "float64": np.uint64}

# Files of functions that the op table does not have yet; a test checks that they are absent.
NOT_YET: set[str] = set()


@cache
def points(stem: str) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The points of a file by dtype: inputs, outputs and bounds in units in the last place."""
    rows: dict[str, list[tuple[int, int, int]]] = {}
    with FILES[stem].open() as lines:
        for kind, *fields in csv.reader(line for line in lines if line[0] not in "#$"):
            if kind != "dtype":
                x, y, bound = fields
                rows.setdefault(kind.removeprefix("np."), []).append((int(x, 16), int(y, 16), int(bound)))
    found = {}
    for dtype, values in rows.items():
        x, y, bounds = zip(*values, strict=True)
        bits = BITS[dtype]
        found[dtype] = (np.array(x, bits).view(dtype), np.array(y, bits).view(dtype), np.array(bounds))
    return found


def op(stem: str) -> str:
    return RENAMED.get(stem, stem)


def test_the_wheel_has_the_sets():
    assert len(FILES) >= 20


def test_what_is_left_out_is_really_absent():
    assert set(FILES) >= NOT_YET
    assert not [s for s in NOT_YET if op(s) in TABLE], "the table has these: take them out of NOT_YET"


@pytest.mark.parametrize(("stem", "dtype"), [(s, d) for s in sorted(FILES) if s not in NOT_YET for d in points(s)])
def test_matches_numpys_validation_set(be, stem, dtype):
    assert op(stem) in TABLE, f"{op(stem)} has a validation set and no row"
    x, y, bounds = points(stem)[dtype]
    row = TABLE[op(stem)]["tolerance"]
    got = function(op(stem))(be.asarray(x)).to_numpy()
    assert got.dtype == dtype
    for bound in np.unique(bounds):
        some = bounds == bound
        error = ulp_error(got[some], y[some])
        limit = max(float(bound), allowed((row["float32"], row["float64"]), dtype))
        assert error <= limit, f"{stem} {dtype}: {error:.2f} ulp, allowed {limit:g}"
