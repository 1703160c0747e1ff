"""The harnesses run, check before they time, write what they promise, and leave no op out."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
from requirements import cuda_target

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


def test_the_examples_are_timed_beside_numpy():
    shown = run("benchmarks.programs", "--only", "05", "--seconds", "0.1")
    assert "05_game_of_life" in shown and "ratio" in shown and "01_k_means" not in shown


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


def counted(folder, only, *options):
    """The rows of CSV, by case, of the counters on an emulated device."""
    arguments = ["--target", "emulated", "--only", only, "--out", str(folder), *options]
    run("benchmarks", *arguments)
    with (folder / "emulated.csv").open() as f:
        return {row["case"]: row for row in csv.DictReader(f)}


@cuda_target
def test_counters_on_an_emulated_device(tmp_path):
    page = tmp_path / "page.md"
    rows = counted(tmp_path, "add f", "--no-cub", "--write", str(page))
    assert set(rows) == {"add f32", "add f16", "add f64"}
    for name, bytes_of_one in (("add f32", 4), ("add f16", 2), ("add f64", 8)):
        row = rows[name]
        assert int(row["launches"]) == 1
        assert int(row["sector_bytes"]) == int(row["floor"]) == 3 * 1_000_000 * bytes_of_one
        assert float(row["sectors_per_request"]) == pytest.approx(16, abs=0.1)
        assert float(row["memory_us"]) == pytest.approx(3 * bytes_of_one / 4.917, rel=0.01)
    text = page.read_text()
    assert "no timing" in text
    assert "| add f64 | 1 |" in text


@cuda_target
def test_algorithms_of_cub_are_right_and_counted_on_the_emulated_device(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.emulated.toolkit import toolkit

    if toolkit() is None:
        pytest.skip("there is no nvcc with the headers of CUB")
    rows = counted(tmp_path, "CUB")
    assert len(rows) == 6
    assert float(rows["CUB sum"]["traffic"]) == pytest.approx(1, abs=0.01)
    assert float(rows["CUB radix sort"]["traffic"]) > 4
