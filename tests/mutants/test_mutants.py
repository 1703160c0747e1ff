"""The generator of faults: what it makes of a line of PTX, and that its faults reach the emulated device."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from requirements import cuda_target

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).parent))
import places  # noqa: E402


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("\tbar.sync \t0;", [("barrier", "pmevent 0;")]),
        ("\tmembar.gl;", [("fence", "pmevent 0;")]),
        ("\t@%p1 bra \t$L__BB0_2;", [("predicate", "pmevent 0; bra $L__BB0_2;")]),
        ("\tsetp.lt.s32 \t%p1, %r1, 4;", [("comparison", "pmevent 0; setp.le.s32 %p1, %r1, 4;")]),
        ("\tand.b32 \t%r1, %r2, 31;", [("mask", "pmevent 0; and.b32 %r1, %r2, 15;")]),
        (
            "\tld.global.v2.f32 \t{%f1, %f2}, [%rd1+8];",
            [
                ("vector", "pmevent 0; ld.global.v2.f32 {%f1, %f2}, [%rd1+16];"),
                ("vector", "pmevent 0; ld.global.f32 %f1, [%rd1+8]; mov.b32 %f2, 0;"),
            ],
        ),
        ("\tadd.s32 \t%r1, %r2, 31;", []),
    ],
)
def test_changes_of_a_line(line, expected):
    got = [(kind, " ".join(new.split())) for kind, _, new in places.changes(line)]
    assert got == [(kind, " ".join(new.split())) for kind, new in expected]


def test_places_belong_to_the_function_that_has_them():
    text = """.visible .func (.param .b32 r) called(.param .b32 a)
;
.visible .entry first(
\t.param .u64 p
)
{
\tcall.uni
\tsecond,
\t();
\tbar.sync \t0;
}
.func second()
{
\tmembar.gl;
}"""
    found, calls, kernels = places.find_places("module", text)
    assert [(p.function, p.line, p.kind) for p in found] == [("first", 9, "barrier"), ("second", 13, "fence")]
    assert calls["first"] == {"second"} and kernels == {"first"}


def test_a_comparison_that_chooses_one_of_its_operands_is_no_place():
    text = """.entry first(
)
{
\tsetp.lt.s64 \t%p1, %rd1, %rd2;
\tselp.b64 \t%rd3, %rd1, %rd2, %p1;
\tsetp.lt.s64 \t%p2, %rd1, %rd2;
\tselp.b64 \t%rd4, %rd1, %rd2, %p2;
\t@%p2 bra \t$L__BB0_2;
\tsetp.lt.s64 \t%p3, %rd1, %rd2;
\tselp.b64 \t%rd5, %rd1, 0, %p3;
}"""
    found = places.find_places("module", text)[0]
    assert [p.line for p in found if p.kind == "comparison"] == [5, 8]


def test_a_key_names_the_instructions_around_and_no_label():
    text = """.entry first(
)
{
\tadd.s32 \t%r1, %r2, 1;
$L__BB0_1:
\tbar.sync \t0;
\t@%p1 bra \t$L__BB0_2;
\tbar.sync \t0;
\tret;
}"""
    found = {place.key for place in places.find_places("module", text)[0]}
    other = {place.key for place in places.find_places("module", text.replace("BB0", "BB7").replace("r1", "r9"))[0]}
    assert found == other
    assert found == {
        "barrier 1 | first | bar.sync 0; | removed | add.s32 _ bra bar.sync",
        "predicate 1 | first | @% bra $L; | dropped | add.s32 bar.sync _ bar.sync ret",
        "barrier 1 | first | bar.sync 0; | removed | bar.sync bra _ ret",
    }


def test_a_line_of_redundant_places_that_fits_none_is_stale():
    sys.path.insert(0, str(ROOT))
    from tests.mutants.__main__ import stale_lines

    keys = {"barrier 1 | first | bar.sync 0; | removed | add.s32 _ bra"}
    assert stale_lines(["barrier * | first | *", "barrier * | second | *"], keys) == ["barrier * | second | *"]


def test_the_name_of_a_kernel_without_its_instance():
    assert places.base_name("_ZN6stator4cuda4scan13scan_segmentsINS1_7SumScanIlEELi256EEEvNS1_8ScanWorkET_") == (
        "scan::scan_segments"
    )


PROGRAM = """
import json, sys
sys.path.insert(0, "tests/mutants")
import numpy as np
import stator
from hooks import Hooks
hooks, calls = Hooks(), []
hooks.rewrite(lambda text: text.replace(b"sqrt.rn.f32", b"pmevent 0; neg.f32"))
def on_call(name, site, original, arguments):
    calls.append([name, site()])
    return original(*arguments)
hooks.watch_runtime(on_call)
hooks.watch_vendor(lambda name, arguments: calls.append([name, len(arguments)]), lambda name, result: result)
with stator.Backend("cuda") as be, be.use():
    got = stator.sqrt(stator.asarray(np.array([4, 9], np.float32))).to_numpy().tolist()
    a = stator.asarray(np.eye(64))
    (a @ a).to_numpy()
launched = [name for name, count in hooks.launches().items() if count]
print(json.dumps({"got": got, "events": hooks.events(), "calls": calls, "launched": launched}))
"""


@cuda_target
def test_a_fault_reaches_the_device_and_calls_are_seen():
    environment = {**os.environ, "STATOR_EMULATE": "h200:threads=1"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["got"] == [-4, -9]
    assert seen["events"] > 0
    assert any("sqrt" in name for name in seen["launched"])
    assert any(name == "copy" and site for name, site in seen["calls"])
    assert any(name.startswith("cublas") for name, _ in seen["calls"])
