"""What is kept of runs, and the page that is made of it."""

import json
from pathlib import Path

import pytest

from tools.gpu_run import page
from tools.gpu_run.log import FAILED, PASSED, append, results_of, rows_of

ROOT = Path(__file__).resolve().parents[2]
MACHINE = {"name": "card A", "driver": "1.2", "packages": {"numpy": "2.0"}}


@pytest.fixture
def root(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/gpu_runs.md").write_text(f"# Before\n\n{page.BEGIN}\nold\n{page.END}\n\nAfter.\n")
    return tmp_path


def log_of(root, *rows, card="card A", name="log.jsonl"):
    for step, what, status, more in [("run", "machine", PASSED, {"machine": MACHINE}), *rows]:
        append(root / name, {"card": card, "step": step, "name": what, "digest": "abc", "status": status} | more)
    return root / name


def test_the_page_is_fresh():
    assert page.page(ROOT) == (ROOT / "docs/gpu_runs.md").read_text(), "run python -m tools.gpu_run.page"


def test_the_text_around_the_results_stays(root):
    text = page.page(root)
    assert text.startswith(f"# Before\n\n{page.BEGIN}\n") and text.endswith(f"{page.END}\n\nAfter.\n")
    assert "No results are kept yet." in text and "old" not in text


def test_the_newest_row_of_a_name_is_kept_and_tests_that_passed_are_counted(root):
    page.take(log_of(root, ("verify", "quick", FAILED, {"output": "a\nbad"}), ("test", "t1", FAILED, {})), root)
    rows = ("verify", "quick", PASSED, {}), ("test", "t1", PASSED, {}), ("test", "t2", PASSED, {})
    rows += (("test", "t3", FAILED, {"message": "m"}), ("tests", "ops/sort", PASSED, {}))
    assert page.take(log_of(root, *rows, name="second.jsonl"), root) == [results_of(root, "card A")]
    kept = {(r["step"], r["name"]): r for r in rows_of(results_of(root, "card A"))}
    assert kept["verify", "quick"]["status"] == PASSED
    assert kept["run", "tests that passed"]["number"] == 2
    assert [name for step, name in kept if step == "test"] == ["t3"]
    text = page.page(root)
    assert "2 tests passed; all of these folders: ops/sort." in text and "- failed: `t3`" in text


def test_tests_of_another_digest_are_dropped_and_numbers_are_kept_by_folder(root):
    first = [("test", f"tests/ops/{name}.py::t", PASSED, {}) for name in ("sort/a", "sort/b", "scan/c")]
    page.take(log_of(root, *first, ("tests", "ops/sort", PASSED, {})), root)
    page.take(log_of(root, ("test", "tests/ops/sort/a.py::t", FAILED, {"digest": "new"}), name="second.jsonl"), root)
    kept = {(r["step"], r["name"]): r for r in rows_of(results_of(root, "card A"))}
    assert ("tests", "ops/sort") not in kept and kept["test", "tests/ops/sort/a.py::t"]["status"] == FAILED
    assert kept["run", "tests that passed"]["of"]["ops/scan"] == ["abc", 1]


def test_emulated_devices_have_no_results(root):
    assert page.take(log_of(root, card="H200 (emulated)"), root) == []
    assert not list(root.rglob("results/gpu/*"))


def test_the_page_shows_ceilings_programs_and_the_slowest_case_first(root):
    ceilings = {"GB/s": {"16 MiB": {"copy": 2900.5, "read": 3000.0}}, "launch, us": 2.5}
    rows = [
        ("programs", "ceilings", PASSED, {"result": ceilings}),
        ("programs", "just_in_time", PASSED, {"result": {"PTX": 3}}),
        ("case", "fast", PASSED, {"r_torch": 2.0, "ours_us": 10.0, "bytes": 1e6}),
        ("case", "slow", PASSED, {"r_torch": 0.5, "ours_us": 20.0, "bytes": 1e6}),
    ]
    page.take(log_of(root, *rows), root)
    text = page.page(root)
    assert "| GB/s | copy | read |" in text and "| 16 MiB | 2900.5 | 3000.0 |" in text
    assert "| programs just_in_time | passed | PTX: 3 |" in text
    assert "| case | ours_us | gb_per_s | r_torch |" in text
    assert text.index("| slow | 20 | 50 | 0.5 |") < text.index("| fast | 10 | 100 | 2 |")


def test_results_are_lines_of_json(root):
    page.take(log_of(root), root)
    lines = results_of(root, "card A").read_text().splitlines()
    assert [json.loads(line)["name"] for line in lines] == ["machine"]
