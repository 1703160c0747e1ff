"""The run on a machine with a GPU: what it does first, what it leaves out, and that it ends in time."""

import json
import os
import select
import subprocess
import sys

import pytest

from tools.gpu_run import run, steps
from tools.gpu_run.log import ABSENT, CUT, FAILED, MISSING, PASSED, ROOT, Log, append, results_of, rows_of


@pytest.fixture
def log(tmp_path):
    return Log(tmp_path / "log.jsonl", "card A", tmp_path)


def manifest(**changed):
    families = {
        name: {"digest": f"{name}1", "changed": when, "ops": [name]} for name, when in (("sort", 5), ("scan", 9))
    }
    tests = {
        f"ops/{name}": {"digest": f"{name}1-1", "changed": f["changed"], "paths": [f"tests/ops/{name}"]}
        for name, f in families.items()
    }
    cases = [
        {"case": f"{op}-{dtype}-{size}", "op": op, "family": op, "dtype": dtype, "size": size}
        for op in families
        for dtype in steps.DTYPES
        for size in (1000, 1 << 24)
    ]
    programs = dict.fromkeys(("ceilings", *steps.PROGRAMS), "p1")
    return {"families": families, "tests": tests, "pace": cases, "programs": programs, "library": "l1"} | changed


class Machine:
    """A clock that only steps move, each by its seconds, or by its limit where it would take longer."""

    def __init__(self, log, seconds, **taken):
        self.now, self.taken, self.status, self.ran = 0.0, taken, {}, []
        self.deadline = steps.Deadline(lambda: self.now, seconds, log, self.execute, lambda text: None)

    def execute(self, step, limit):
        self.ran.append(step.name)
        taken = self.taken.get(step.name, 1.0)
        self.now += min(taken, limit)
        return (CUT if taken > limit else self.status.get(step.name, PASSED)), {}


def step(name, limit=10.0, digest="d1", **more):
    return steps.Step("s", name, digest, ("true",), limit, **more)


def test_no_step_outlives_the_deadline(log):
    machine = Machine(log, 30, b=100)
    machine.deadline.run([step("a"), step("b", 1000), step("c")])
    assert machine.now == 27 and machine.ran == ["a", "b"]  # three seconds are kept for the end
    assert machine.deadline.left_out == ["s/b (cut off after 26.0 s)", "s/c"]


def test_a_step_has_no_more_than_its_limit(log):
    machine = Machine(log, 100, a=50)
    machine.deadline.run([step("a"), step("b")])
    assert machine.now == 11 and machine.ran == ["a", "b"]


def test_a_step_is_not_begun_where_it_could_not_do_anything(log):
    machine = Machine(log, 12)
    machine.deadline.run([step("a", least=10), step("b")])
    assert machine.ran == ["b"] and machine.deadline.left_out == ["s/a"]


def test_steps_have_at_most_their_share_of_the_time(log):
    machine = Machine(log, 103, a=500)
    machine.deadline.run([step("a", 1000), step("b")], 0.5)
    machine.deadline.run([step("c")])
    assert machine.ran == ["a", "c"] and machine.now == 51
    assert machine.deadline.left_out == ["s/a (cut off after 50.0 s)", "s/b"]


def test_the_last_line_of_a_failure_is_printed(log):
    said = []
    failing = steps.Deadline(lambda: 0.0, 100, log, lambda *_: (FAILED, {"output": "a\nthe reason\n"}), said.append)
    failing.run([step("a")])
    assert said == ["s/a: failed (0.0 s): the reason"]


def test_what_passed_is_left_out_by_a_later_run(log, tmp_path):
    machine = Machine(log, 100, b=50)
    machine.status["c"] = FAILED
    machine.deadline.run([step(name) for name in "abc"])
    again = Machine(Log(log.path, "card A", tmp_path), 100)
    again.deadline.run([step(name) for name in "abc"])
    assert again.ran == ["b", "c"]


def test_another_card_and_another_digest_run_again(log, tmp_path):
    Machine(log, 100).deadline.run([step("a")])
    other = Machine(Log(log.path, "card B", tmp_path), 100)
    other.deadline.run([step("a")])
    changed = Machine(Log(log.path, "card A", tmp_path), 100)
    changed.deadline.run([step("a", digest="d2")])
    assert other.ran == changed.ran == ["a"]


def test_what_is_kept_of_a_card_counts_as_done(tmp_path):
    row = {"card": "card A", "step": "s", "name": "a", "digest": "d1", "status": PASSED}
    append(results_of(tmp_path, "card A"), row)
    machine = Machine(Log(tmp_path / "new.jsonl", "card A", tmp_path), 100)
    machine.deadline.run([step("a"), step("b")])
    assert machine.ran == ["b"]


def test_a_step_whose_tool_is_missing_is_tried_again_where_it_is_installed(log):
    machine = Machine(log, 100)
    machine.deadline.run([step("a", needs="no-such-program")])
    assert machine.ran == [] and log.last("s")["a"]["status"] == MISSING
    machine.deadline.run([step("a")])
    assert machine.ran == ["a"]


def test_a_line_that_was_cut_off_is_no_row(log):
    log.add("s", "a", "d1", PASSED)
    with log.path.open("a") as file:
        file.write('{"card": "card A", "st')
    log.add("s", "b", "d1", PASSED)
    assert [row["name"] for row in rows_of(log.path)] == ["a", "b"]


def test_families_that_changed_last_are_tested_first(log):
    given = log.path.with_name("tests.json")
    (one,), each = steps.tests(manifest(), log, steps.Options(given), given)
    assert one.command[-2:] == ("tests/ops/scan", "tests/ops/sort")
    assert each["digests"] == {"ops/scan": "scan1-1", "ops/sort": "sort1-1"}
    log.add("tests", "ops/scan", "scan1-1", PASSED)
    log.add("test", "tests/ops/sort/test_a.py::test", "sort1-1", PASSED)
    log.add("test", "tests/ops/sort/test_b.py::test", "sort0-1", PASSED)
    (one,), each = steps.tests(manifest(), log, steps.Options(given), given)
    assert one.command[-1:] == ("tests/ops/sort",) and "tests/ops/scan" not in one.command
    assert each["passed"] == ["tests/ops/sort/test_a.py::test"]


def test_a_folder_of_which_some_tests_are_selected_has_not_passed(log):
    given = log.path.with_name("tests.json")
    assert steps.tests(manifest(), log, steps.Options(given), given)[1]["whole"]
    assert not steps.tests(manifest(), log, steps.Options(given, tests="one"), given)[1]["whole"]


@pytest.fixture
def rows_of_tests(tmp_path):
    """The rows that pytest with the plugin of the run writes of modules, as ops/a/test_x.py."""

    def rows(modules, whole=True):
        given, path = tmp_path / "given.json", tmp_path / "log.jsonl"
        digests = dict.fromkeys(("ops/a", "ops/b"), "d1")
        each = {"log": str(path), "card": "card A", "limit": 600, "digests": digests, "passed": [], "whole": whole}
        given.write_text(json.dumps(each))
        for name, text in modules.items():
            file = tmp_path / "tests" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        command = [sys.executable, "-m", "pytest", "-q", "-n", "1", "-p", "tools.gpu_run.each_test", "tests"]
        environment = os.environ | {"STATOR_GPU_RUN": str(given), "PYTHONPATH": str(ROOT)}
        subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, timeout=600)
        return [(row["step"], row["name"], row["status"]) for row in rows_of(path)]

    return rows


def test_each_test_is_a_row_and_a_folder_passes_with_all_of_its_tests(rows_of_tests):
    passes = "def test(): pass"
    found = rows_of_tests({"ops/a/test_x.py": passes, "ops/b/test_y.py": passes, "ops/b/test_z.py": "import no_such"})
    assert sorted(found) == [
        ("test", "tests/ops/a/test_x.py::test", PASSED),
        ("test", "tests/ops/b/test_y.py::test", PASSED),
        ("tests", "ops/a", PASSED),
    ]


def test_no_folder_passes_where_tests_were_selected(rows_of_tests):
    assert rows_of_tests({"ops/a/test_x.py": "def test(): pass"}, whole=False) == [
        ("test", "tests/ops/a/test_x.py::test", PASSED)
    ]


def timed(log):
    return [(s.name.split()[:2], s.name.split()[2:]) for s in steps.pace(manifest(), log, steps.Options(log.path))]


def test_pace_begins_with_what_was_never_measured_and_goes_on_with_what_is_slow(log):
    large, small = str(1 << 24), "1000"
    assert timed(log) == [
        (["float32", large], ["scan", "sort"]),
        (["float16", large], ["scan", "sort"]),
        (["float32", small], ["scan", "sort"]),
        (["float16", small], ["scan", "sort"]),
    ]
    for case in manifest()["pace"]:
        if case["case"] != "scan-float16-1000":
            ratio = 0.5 if case["case"] == "sort-float16-1000" else 1.5
            log.add("case", case["case"], "before", PASSED, r_torch=ratio, **case)
    assert timed(log)[0] == (["float16", small], ["scan", "sort"])  # never measured, and then the lowest ratio
    for case in manifest()["pace"]:
        log.add("case", case["case"], f"{case['op']}1", PASSED)
    assert timed(log) == []


def test_an_emulated_device_times_the_smallest_size_alone(log):
    found = steps.pace(manifest(), log, steps.Options(log.path, small=True))
    assert {s.command[s.command.index("--sizes") + 1] for s in found} == {"1000"}


def test_cases_become_rows_with_the_digest_of_their_family(log):
    machine = Machine(log, 100)
    cases = [
        {"case": "a", "family": "sort", "valid": True, "r_torch": 2.0},
        {"case": "b", "family": "scan", "valid": False},
    ]
    machine.deadline.execute = lambda *_: (FAILED, {"result": {"cases": cases}})
    machine.deadline.run(
        [
            steps.Step(
                "pace", "x", "", ("true",), 10, cases={"a": {"digest": "s1", "registers": 32}, "b": {"digest": "c1"}}
            )
        ]
    )
    found = log.last("case")
    assert (found["a"]["digest"], found["a"]["status"], found["a"]["r_torch"], found["a"]["registers"]) == (
        "s1",
        PASSED,
        2.0,
        32,
    )
    assert (found["b"]["digest"], found["b"]["status"]) == ("c1", FAILED)


def test_the_slowest_ten_cases_are_profiled(log):
    for k in range(12):
        log.add("case", f"c{k}", "d1", PASSED, r_torch=2.0 - 0.1 * k, r_cupy=3.0)
    log.add("case", "only", "d1", PASSED)
    assert [s.name for s in steps.profiles(manifest(), log, steps.Options(log.path))] == [
        f"c{k}" for k in range(11, 1, -1)
    ]


@pytest.mark.parametrize(
    ("code", "text", "found"),
    [
        (0, 'text\n{"a": 1}\n', (PASSED, {"result": {"a": 1}})),
        (0, "{no json\n", (PASSED, {})),
        (run.NOT_AVAILABLE, '{"not available here": "why"}', (ABSENT, {"result": {"not available here": "why"}})),
        (1, "error", (FAILED, {"exit": 1, "output": "error"})),
        (None, "so far", (CUT, {"exit": None, "output": "so far"})),
        (0, '==PROF==\n"ID","Kernel"\n"0","a"', (PASSED, {"table": '"ID","Kernel"\n"0","a"'})),
    ],
)
def test_the_end_of_a_process(code, text, found):
    assert run.outcome(code, text) == found


def test_a_process_and_its_children_end_with_their_time(tmp_path, monkeypatch):
    processes = run.Processes(tmp_path, tmp_path / "output")
    os.mkfifo(tmp_path / "held")
    held = os.open(tmp_path / "held", os.O_RDWR)  # a writer too: without one, reading would not wait for the child

    class Begun(subprocess.Popen):
        """Its time is over once its child runs."""

        def wait(self, timeout=None):
            if timeout is None:
                return super().wait()
            assert select.select([held], [], [], 300)[0] and os.read(held, 1) == b"b"
            raise subprocess.TimeoutExpired(self.args, timeout)

    monkeypatch.setattr(run.subprocess, "Popen", Begun)
    sleeps = f"(printf b; exec sleep 6000) > {tmp_path / 'held'} & wait"
    assert processes(steps.Step("s", "sleeps", "", ("bash", "-c", sleeps), 10), 5)[0] == CUT
    reader = os.open(tmp_path / "held", os.O_RDONLY)
    os.close(held)
    # At its end once every process that has it open is gone, which may be later than the signal.
    assert select.select([reader], [], [], 300)[0] and os.read(reader, 1) == b""
    os.close(reader)


def test_a_name_that_no_step_has_is_an_error(capsys):
    with pytest.raises(SystemExit):
        run.arguments(["--until", "1", "--log", "x", "--only", "programs", "test/ops"])
    assert "no step begins with 'test/ops'" in capsys.readouterr().err


def test_a_wheel_that_cannot_be_installed_ends_the_run(tmp_path, capsys):
    (tmp_path / "stator-0.0.0-py3-none-any.whl").write_text("no archive")
    (tmp_path / "manifest.json").write_text(json.dumps({"wheel": "stator-0.0.0-py3-none-any.whl", "commit": "c"}))
    code = run.main(["--until", "60", "--log", str(tmp_path / "log.jsonl"), "--prepared", str(tmp_path)])
    assert code == run.INSTALL_FAILED and "the installation failed" in capsys.readouterr().err
    assert not (tmp_path / "log.jsonl").exists()
