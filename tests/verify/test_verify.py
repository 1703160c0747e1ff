"""`python -m stator verify`: that it calls every op, and finds what is wrong."""

import json
import math
import os
import selectors
import signal
import subprocess
import sys
import time
from functools import partialmethod
from pathlib import Path

import numpy as np
import pytest

import stator
from stator import __main__
from stator._catalogue import entries
from stator._catalogue.entry import Answer
from stator._catalogue.given import STRIDED, Cell, Given, download, rounded, table
from stator._verify import cells, children, command, exits, failures, page
from stator._verify.compare import Contract, compare, parts

MUTATED = Path(__file__).with_name("mutated.py")
OPS = ["exp", "sum"]


def verified(worker=children.WORKER, **options):
    """The report of a run of some cells on the cpu."""
    given = {"ops": OPS, "dtypes": ["float32"], "layouts": ["contiguous", "transposed"], "parts": ("ops",), "limit": 0}
    run = command.Verification(
        command.Options("cpu", worker=worker, **{**given, "silence": 600, **options}), lambda part, done, total: None
    )
    run.run()
    return run.report


def mutated(fault, **options):
    return verified((sys.executable, str(MUTATED), fault), **options)


def test_every_op_of_the_table_has_a_case():
    assert sorted(entries()) == sorted(table())


def test_the_plan_has_every_dtype_of_every_op():
    planned = cells.plan()
    for name, entry in table().items():
        assert {c.dtype for c in planned if c.op == name} == set(entry["dtypes"]), name
    assert len({(c.op, c.dtype, c.layout) for c in planned}) == len(planned)
    quick = cells.plan(quick=True)
    assert {c.op for c in quick} == set(table())
    assert len(quick) < len(planned) / 5


def test_large_operands_come_last_and_each_op_once_before_any_twice():
    large = [cell.layout == "large" for cell in cells.plan()]
    assert large == sorted(large)
    turns = cells.plan(layouts=["large"])
    ops = {cell.op for cell in turns}
    assert {cell.op for cell in turns[: len(ops)]} == ops
    assert turns[0].dtype == "float32"


def test_an_op_without_a_case_fails_and_is_on_the_page(monkeypatch):
    found = {name: op for name, op in entries().items() if name != "exp"}
    monkeypatch.setattr(command, "entries", lambda: found)
    report = verified(ops=None, dtypes=["float32"], layouts=["zero_d"])
    assert report["result"] == "failed"
    assert report["ops_without_a_case"] == ["exp"]
    assert "## Ops without a case\n\nexp\n" in page.text(report)


@pytest.mark.parametrize("family", sorted({entry["family"] for entry in table().values()}))
def test_the_device_keeps_its_contract(device, family):
    """One dtype and layout of each op; `python -m stator verify` itself runs them all."""
    chosen = {}
    for cell in cells.plan(quick=True):
        if table()[cell.op]["family"] == family:
            chosen.setdefault(cell.op, cell)
    with stator.Backend(device) as be, stator.Backend("cpu") as cpu:
        runner = cells.Runner(be, cpu, 1)
        outcomes = [runner.run(cell) for cell in chosen.values()]
    assert outcomes
    assert not [o for o in outcomes if o.failed]


@pytest.mark.parametrize("layout", STRIDED)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "bfloat16", "float32", "complex128"])
def test_operands_have_the_layout_and_the_values(cpu, layout, dtype):
    def made(laid):
        return Given(cpu, Cell("copy", dtype, layout), 3, 1000, laid=laid).array()

    x, plain = made(True), made(False)
    np.testing.assert_array_equal(download(x), download(plain))
    assert plain.is_contiguous
    assert x.is_contiguous == (layout in ("contiguous", "offset"))
    if layout == "offset":
        assert x.data_ptr % 64 == x.itemsize


def test_bfloat16_is_rounded_to_nearest_even():
    x = np.array([1 + 2.0**-8, 1 + 3 * 2.0**-8, 3e38, 3.4e38, np.inf, -0.0], np.float32)
    got = rounded(x, "bfloat16")
    assert got[:2].tolist() == [1, 1 + 2.0**-6]
    assert np.isinf(got[3:5]).all()
    assert np.signbit(got[5])


def compared(got, want, op="exp", wide=None, **answer):
    def made(x):
        return list(parts(Answer(x, **answer)))

    return compare(Contract.of(table()[op]), made(got), made(want), None if wide is None else made(wide))


def test_errors_are_counted_in_units_of_the_contract():
    one = np.float32(1)
    off = np.nextafter(one, np.float32(2))
    assert compared(np.array([one]), np.array([one]), "add").error == 0
    assert compared(np.array([off]), np.array([one]), "add").message
    assert compared(np.array([off]), np.array([one]), wide=np.array([1.0])).error == pytest.approx(0.25)
    assert compared(np.array([off]), np.array([one])).error == pytest.approx(0.125)  # two results, each 4 off
    assert compared(np.array([one * 1.01]), np.array([one]), wide=np.array([1.0])).message


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (np.array([0.0]), np.array([-0.0])),
        (np.array([np.nan]), np.array([1.0])),
        (np.array([1.0]), np.array([1.0], np.float32)),
        (np.array([1.0]), np.array([[1.0]])),
        (np.array([1]), np.array([2])),
    ],
    ids=["sign of zero", "nan", "dtype", "shape", "integer"],
)
def test_a_difference_is_found(got, want):
    assert compared(got, want, "add").message


def test_a_device_without_a_fault_passes():
    report = verified()
    assert report["result"] == "passed", report["failures"]
    assert report["cells"] == {"cells": 4, "passed": 4, "failed": 0, "not_finished": 0}


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("value", "is 3.25, not"),
        ("raises", "RuntimeError: planned"),
        ("crash", "ended by SIGSEGV"),
        ("end", "ended before its work did"),
        ("lost", "is 3.25, not"),
    ],
)
def test_a_fault_fails_its_cell_and_no_other(fault, message):
    report = mutated(fault)
    assert report["result"] == "failed"
    assert [(f["op"], f["layout"]) for f in report["failures"]] == [("exp", "transposed")]
    assert message in report["failures"][0]["message"]
    assert report["failures"][0]["reproduce"].endswith("--seed 0 --op exp --dtype float32 --layout transposed")
    assert report["cells"]["passed"] == 3
    assert message in page.text(report)


def test_a_child_that_crashes_after_its_cells_fails():
    report = mutated("late")
    assert report["result"] == "failed"
    assert report["cells"]["passed"] == 4
    assert "ended by SIGSEGV, after the last" in report["error"]


def test_a_wrong_reference_is_found():
    report = mutated("reference")
    assert report["result"] == "failed"
    assert {f["op"] for f in report["failures"]} == {"exp"}


def test_an_op_that_crashes_again_and_again_is_given_up():
    dtypes = ["float16", "float32", "float64", "int32", "bool"]
    report = mutated("crash", dtypes=dtypes, layouts=["transposed"])
    assert report["ops"]["exp"]["failed"] == command.CRASHES
    assert report["ops"]["exp"]["not_finished"] == len(dtypes) - command.CRASHES
    assert report["ops"]["sum"]["passed"] == len(dtypes)


def test_a_child_that_does_not_start_fails():
    report = verified((sys.executable, "-c", "raise SystemExit('no such device')"))
    assert report["result"] == "failed"
    assert "no such device" in report["error"]


def test_cells_that_the_time_does_not_suffice_for_are_not_finished_and_no_failures():
    report = verified(limit=1e-6)
    assert report["cells"]["not_finished"] == 4
    assert report["result"] == "passed"
    assert "4 were not finished within" in page.summary(report)


@pytest.mark.parametrize("over", [False, True])
def test_a_cell_that_gives_no_sign_fails_unless_the_time_is_over(tmp_path, monkeypatch, over):
    silent = tmp_path / "silent"  # made by the worker when it falls silent; until then it may take its time
    fell_silent = []

    class Patient(selectors.DefaultSelector):
        def select(self, timeout=None):
            if timeout != 600:  # not the worker's
                return super().select(timeout)
            while True:
                is_silent = silent.exists()  # what it wrote before that is still read
                if found := super().select(0 if is_silent else 0.01):
                    return found
                if is_silent:
                    silent.unlink()
                    fell_silent.append(True)
                    return []

    monkeypatch.setenv("SILENT", str(silent))
    monkeypatch.setattr(children.selectors, "DefaultSelector", Patient)
    monkeypatch.setattr(command.Verification, "_time_left", lambda self: 0 if over and fell_silent else math.inf)
    counted = mutated("silent")["cells"]
    assert fell_silent and counted["failed"] == (not over)
    if not over:
        assert counted == {"cells": 4, "passed": 3, "failed": 1, "not_finished": 0}


def test_what_is_said_of_failing_calls_and_exits():
    report = verified(layouts=["contiguous"])
    report["runtime_calls"] = {"calls": 59, "failed": []}
    report["exits"] = [{"failed": ""}, {"failed": ""}]
    said = page.summary(report)
    assert "each of 59 failing runtime calls was survived; 2 of 2 processes ended as they should" in said
    report["exits"][0]["failed"] = "crashed"
    report["runtime_calls"]["failed"] = [{"call": 3, "message": "crashed"}]
    assert "1 of 59 failing runtime calls had consequences; 1 of 2 processes ended" in page.summary(report)


def test_failing_calls_are_survived(device):
    found = failures.fail_every_call(device)
    assert found["failed"] == []
    assert found["calls"] > 30
    assert sum(found["raised"].values()) > 20
    assert {"allocate", "copy", "launch", "stream_create", "stream_wait", "event_record", "free"} <= set(found["kinds"])


def test_a_swallowed_failure_is_found(monkeypatch):
    honest = stator.exp

    def swallows(x):
        try:
            return honest(x)
        except stator.errors.StatorError:
            return x

    monkeypatch.setattr(stator, "exp", swallows)
    found = failures.fail_every_call("cpu")
    assert "no error, and a wrong result" in {f["message"] for f in found["failed"]}


@pytest.mark.parametrize("way", exits.WAYS)
def test_processes_end_as_they_should(device, way):
    assert children.run_way(way, device, seconds=600)["failed"] == ""


def test_a_wrong_end_of_a_process_is_found(monkeypatch):
    monkeypatch.setitem(exits.WAYS, "never_closed", (exits.never_closed, 4))
    assert "status 0, not 4" in children.run_way("never_closed", "cpu", seconds=600)["failed"]


def test_the_command_writes_both_files(tmp_path, capsys):
    arguments = ["verify", "--device", "cpu", "--output", str(tmp_path), "--op", "exp", "--layout", "empty"]
    assert __main__.main(arguments) == 0
    assert "passed in" in capsys.readouterr().out
    report = json.loads((tmp_path / "stator-verify.json").read_text())
    assert report["machine"]["device"] == "cpu"
    assert set(report["ops"]["exp"]["passed_layouts"]) == set(table()["exp"]["dtypes"])
    text = (tmp_path / "stator-verify.md").read_text()
    assert "| exp | 15 / 15 | 4 / 8 ulp |" in text


def test_the_command_writes_nothing_unasked_and_says_what_failed(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "WORKER", (sys.executable, str(MUTATED), "value"))
    monkeypatch.setattr(command.Options, "__init__", partialmethod(command.Options.__init__, worker=command.WORKER))
    arguments = ["verify", "--device", "cpu", "--op", "exp", "--dtype", "float32", "--layout", "transposed"]
    assert __main__.main(arguments) == 1
    said = capsys.readouterr().out
    assert "exp float32 transposed: " in said
    assert "--seed 0 --op exp --dtype float32 --layout transposed" in said
    assert not list(tmp_path.iterdir())


def test_timings_are_ratios_with_a_spread():
    from stator._verify import timings

    with stator.Backend("cpu") as be, be.use():
        rows = {row["case"]: row for row in timings.measure(be, True, rows=64, most=("copy", "matmul"))}
    assert set(rows) == {"copy", "matmul"}
    assert rows["copy"]["of_copy"][0] == pytest.approx(1)
    assert all(row["microseconds"] > 0 and len(row["of_copy"]) == 2 for row in rows.values())


def test_an_interrupt_writes_what_there_is(tmp_path):
    program = [sys.executable, "-m", "stator", "verify", "--device", "cpu", "--output", str(tmp_path), "--part", "ops"]
    process = subprocess.Popen(program, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not children.read_text():  # of which it starts one when it begins to verify
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=600)
    assert process.returncode == 1
    report = json.loads((tmp_path / "stator-verify.json").read_text())
    assert report["interrupted"]
    assert "interrupted in" in (tmp_path / "stator-verify.md").read_text()


def test_import_of_stator_does_not_import_it():
    program = "import stator, sys; print([m for m in sys.modules if '_verify' in m or '_catalogue' in m])"
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "[]\n"
