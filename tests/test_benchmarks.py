"""The harnesses run, check before they time, write what they promise, and leave no op out."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def run(module, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def planned(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.cases import plans

    return plans


def test_no_op_is_left_out(planned):
    import stator

    rows = [r for r in stator.op_table() if r["shape_class"] not in ("view", "method")]
    launching = {r["name"] for r in rows if any(r["launches"].values())}
    for quick in (False, True):
        names = [p.name for p in planned(quick)]
        assert len(set(names)) == len(names)
        assert {p.op for p in planned(quick)} == launching


def test_full_mode_is_every_dtype_size_and_layout(planned):
    import stator

    dtypes = next(r["dtypes"] for r in stator.op_table() if r["name"] == "multiply")
    found = [(p.dtype, p.size, p.layout) for p in planned(False) if p.op == "multiply"]
    assert sorted(found) == sorted(
        (d, s, y) for d in dtypes for s in (1_000, 1_000_000, 1 << 24) for y in ("contiguous", "transposed")
    )


def test_benchmarks_report(tmp_path):
    chosen = ["--op", "exp", "sum", "take", "--sizes", "1000"]
    report = json.loads(run("benchmarks", "--quick", "--json", "--peers", "numpy", "--out", str(tmp_path), *chosen))
    assert {r["op"] for r in report["cases"]} == {"exp", "sum", "take"}
    assert not report["wrong"]
    for row in report["cases"]:
        assert row["valid"] and row["r_numpy"] > 0 and row["r_numpy_pm"] >= 0 and row["floor_us"] > 0
    assert set(report["worst_op"]) == {"exp", "sum", "take"}
    assert min(report["worst"].values()) <= report["geomean"] <= max(report["worst"].values())
    with (tmp_path / "cpu.csv").open() as f:
        assert [r["case"] for r in csv.DictReader(f)] == [r["case"] for r in report["cases"]]
    assert "| exp |" in (tmp_path / "cpu.md").read_text()
    assert json.loads((tmp_path / "cpu.json").read_text())["summary"]


def test_accuracy_page(tmp_path):
    page = tmp_path / "accuracy.md"
    run("benchmarks.accuracy", "--quick", "--op", "exp", "--write", str(page))
    text = page.read_text()
    assert "| exp | float64 |" in text
    assert text.rstrip().endswith("Nothing.")
