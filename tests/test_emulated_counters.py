"""The counters of kernels on an emulated device: what is counted, and what the comparison with the table refuses."""

import csv
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from requirements import cuda_target

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks/results"


@pytest.fixture(autouse=True)
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.fixture
def compare():
    from benchmarks.emulated import compare

    return compare


@pytest.fixture
def row():
    """A row of the table, of a kernel that uses everything that is counted."""
    from benchmarks.emulated.counted import Counted

    numbers = {name: 1000 for name, kind in Counted.__annotations__.items() if kind in ("int", "float")}
    return Counted("case", "family", mma_per_instruction=None, **numbers)


def launch(kernel, grid, products, others):
    from emulator_records import Launch

    counters = {"warp_instructions_matrix": products, "warp_instructions_f32": others}
    return Launch(kernel, 132, 1, 64, 90, 0, (grid, 1, 1), (128, 1, 1), 0, counters)


def test_the_share_of_mma_is_that_of_a_loop_where_a_longer_one_was_counted():
    from benchmarks.emulated.counted import mma_share

    packing, product, other = launch("pack", 8, 0, 500), launch("product", 16, 20, 180), launch("other", 4, 30, 70)
    assert mma_share([packing]) is None
    assert mma_share([packing, product, other]) == 0.1
    longer = [launch("product", 16, 60, 240)]
    assert mma_share([packing, product], longer) == 0.4
    assert mma_share([packing, product, other], longer) == 0.3
    assert mma_share([product], [launch("product", 32, 60, 240)]) == 0.1


def test_layers_of_every_family_are_counted():
    import stator
    from benchmarks.emulated.cases import all_cases

    families = {r["family"] for r in stator.op_table() if r["call"].startswith("nn.")}
    assert {"attention", "nn", "quantization"} <= families
    assert families <= {case.family for case in all_cases()}


def test_names_of_cases_are_unique():
    from benchmarks.emulated.cases import all_cases

    names = [case.name for case in all_cases()]
    assert len(set(names)) == len(names)


def test_every_counter_may_be_worse_by_3_percent_and_by_no_more(compare, row):
    for counter in compare.MORE_IS_WORSE:
        assert compare.changes([row], [replace(row, **{counter: 1030})]) == []
        (change,) = compare.refused(compare.changes([row], [replace(row, **{counter: 1031})]), {})
        assert str(change) == f"case: {counter} 1,000 -> 1,031 (+3.1%)"
    for counter in compare.LESS_IS_WORSE:
        assert compare.changes([row], [replace(row, **{counter: 971})]) == []
        (change,) = compare.refused(compare.changes([row], [replace(row, **{counter: 970})]), {})
        assert str(change) == f"case: {counter} 1,000 -> 970 (-3.0%)"
    assert {"lane_instructions", "moved_bytes", "wavefronts", "registers", "local_bytes"} <= set(compare.MORE_IS_WORSE)


def test_what_was_nothing_must_stay_nothing(compare, row):
    (change,) = compare.refused(compare.changes([replace(row, local_bytes=0)], [replace(row, local_bytes=8)]), {})
    assert str(change) == "case: local_bytes 0 -> 8"
    assert compare.changes([replace(row, atomics=0)], [replace(row, atomics=0)]) == []


def test_what_is_better_is_told_and_not_refused(compare, row):
    found = compare.changes([row], [replace(row, registers=900, resident=1100)])
    assert [(change.counter, change.worse) for change in found] == [("registers", False), ("resident", False)]
    assert compare.refused(found, {}) == []


def test_a_line_allows_its_number_and_nothing_worse(compare, row):
    found = compare.changes([row], [replace(row, registers=1100, resident=800)])
    assert compare.refused(found, {("case", "registers"): 1100, ("case", "resident"): 800}) == []
    beyond = compare.refused(found, {("case", "registers"): 1099, ("case", "resident"): 801})
    assert [change.counter for change in beyond] == ["registers", "resident"]
    others = {("other", "registers"): 2000, ("case", "resident"): 1}
    assert [change.counter for change in compare.refused(found, others)] == ["registers"]


@pytest.mark.parametrize("line", ["case\tregisters\t40\t ", "case\tbytes\t40\tNo such counter.", "case\tregisters\t40"])
def test_lines_have_a_counter_and_a_reason(compare, tmp_path, line):
    file = tmp_path / "allowed.tsv"
    file.write_text("case\tcounter\tvalue\treason\ncase\tatomics\t40\tHistograms of blocks are added up.\n")
    assert compare.read_allowed(file) == {("case", "atomics"): 40}
    file.write_text(f"case\tcounter\tvalue\treason\n{line}\n")
    with pytest.raises(ValueError, match=r"allowed\.tsv"):
        compare.read_allowed(file)


def test_cases_without_a_row_and_rows_without_a_case_are_refused(compare, row):
    new, gone, cub = (replace(row, case=name) for name in ("new", "gone", "CUB sum"))
    assert compare.mismatches([row, cub], [row], everything=True) == []
    assert compare.mismatches([row], [row, new], everything=True) == ["new: it is not in the table"]
    assert compare.mismatches([row, gone], [row], everything=True) == ["gone: it is in the table, but is not a case"]
    assert compare.mismatches([row, gone], [row], everything=False) == []


def test_machine_code_of_another_architecture_is_refused(compare, row):
    here = replace(row, architecture=90)
    for architecture, name in ((80, "80"), (0, "none")):
        (said,) = compare.mismatches([here], [replace(here, architecture=architecture)], everything=True)
        assert f"this build has {name};" in said and "STATOR_CUDA_ARCHITECTURES=90" in said


def test_results_are_read_as_they_were_written(tmp_path, row):
    from benchmarks.emulated.results import Device, Results, read, write

    results = Results(Device("a device", 132, 4.9e12, 1e12), [row, replace(row, case="b", mma_per_instruction=0.25)])
    write(tmp_path / "new", results)
    assert read(tmp_path / "new") == results


def test_the_page_is_made_of_the_table_and_allowed_numbers_are_of_its_cases(compare):
    from benchmarks.emulated import PAGE
    from benchmarks.emulated.page import markdown
    from benchmarks.emulated.results import read

    results = read(RESULTS)
    assert PAGE.read_text() == markdown(results)
    assert {case for case, _ in compare.read_allowed()} <= {row.case for row in results.rows}


def counted(folder, only, *options):
    """The rows of CSV, by case, of the counters on an emulated device."""
    arguments = ["--target", "emulated", "--only", only, "--out", str(folder), *options]
    command = [sys.executable, "-m", "benchmarks", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    with (folder / "emulated.csv").open() as f:
        return {row["case"]: row for row in csv.DictReader(f)}


@cuda_target
def test_counters_on_an_emulated_device(tmp_path):
    rows = counted(tmp_path, "add f", "--no-cub")
    assert set(rows) == {"add f32", "add f16", "add f64"}
    for name, bytes_of_one in (("add f32", 4), ("add f16", 2), ("add f64", 8)):
        row = rows[name]
        assert int(row["launches"]) == 1
        assert int(row["sector_bytes"]) == int(row["floor"]) == 3 * 1_000_000 * bytes_of_one
        assert int(row["sector_bytes"]) / 32 / int(row["requests"]) == pytest.approx(16, abs=0.1)
        assert float(row["memory_us"]) == pytest.approx(3 * bytes_of_one / 4.917, rel=0.01)
    text = (tmp_path / "emulated_counters.md").read_text()
    assert "no timing" in text
    assert "| add f64 | 1 |" in text


@cuda_target
@pytest.mark.parametrize("case", ["permutation", "embedding_bag"])
def test_counters_are_the_same_in_every_run(tmp_path, case):
    """Draws are those of a seed, and what a cache holds does not depend on where memory is."""
    first, second = (counted(tmp_path / name, case, "--no-cub") for name in "ab")
    assert first == second


@cuda_target
def test_algorithms_of_cub_are_right_and_counted_on_the_emulated_device(tmp_path):
    from benchmarks.emulated.toolkit import toolkit

    if toolkit() is None:
        pytest.skip("there is no nvcc with the headers of CUB")
    rows = counted(tmp_path, "CUB")
    assert len(rows) == 6
    moved = {name: int(row["moved_bytes"]) / int(row["floor"]) for name, row in rows.items()}
    assert moved["CUB sum"] == pytest.approx(1, abs=0.01)
    assert moved["CUB radix sort"] > 4


def test_a_case_that_fails_or_crashes_is_told_and_the_others_are_counted():
    from benchmarks.emulated import _forked

    def fails():
        raise ValueError("no")

    work = {"crash": lambda: os._exit(3), "good": lambda: ["row"], "bad": fails}
    assert dict(_forked(work, 2)) == {
        "crash": ([], "its process ended with the status 3"),
        "good": (["row"], ""),
        "bad": ([], "ValueError: no"),
    }
