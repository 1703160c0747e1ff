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


@pytest.mark.filterwarnings("ignore")  # casts of complex numbers to real ones
def test_references_agree_with_results(planned):
    """Of a few cases of each family, and of those whose operands or references depend on the dtype.

    The few are those with the least checksums of their names, so that a new op changes its own family's only.
    """
    from zlib import crc32

    import stator
    from benchmarks.build import build
    from benchmarks.gate import verdict
    from benchmarks.inputs import Pool

    named = {"segment_min-int32", "segment_max-uint8", "stft-float16", "stft-bfloat16", "lu-bool"}
    named |= {"quantize_int4-float16", "quantize_int4-bfloat16", "arange-int16", "zeta-int8"}
    named |= {f"logsumexp-{d}" for d in ("bool", "int8", "int16", "uint8")}
    poles = ("gammaln", "digamma", "entr", "logit", "beta", "betaln", "gammaincc", "polygamma", "xlogy", "zeta")
    named |= {f"{op}-bool" for op in ("masked_fill", "add_scalar", *poles)}
    small = [p for p in planned(False) if p.size == 1_000]
    families = {f: [p for p in small if p.family == f] for f in {p.family: 0 for p in small}}
    some = [p for f in families.values() for p in sorted(f, key=lambda p: crc32(p.name.encode()))[:5]]
    some += [p for p in small if p.name.rsplit("-", 2)[0] in named]
    pool = Pool(1, 1)
    with stator.Backend("cpu") as be, be.use():
        assert not [p.name for p in some if not verdict(build(be, p, {}, pool)).right]


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
        assert row["scratch_bytes"] == 0 and row["ours_way"] == row["numpy_way"] == "clock"
    assert set(report["ceilings"]) == {"copy", "read", "write"} and report["float32_products"] == "exact"
    with (tmp_path / "cpu.csv").open() as f:
        written = list(csv.DictReader(f))
    assert [r["case"] for r in written] == [r["case"] for r in report["cases"]]
    assert {r["scratch_bytes"] for r in written} == {"0"}
    assert "None in any case: exp, sum, take." in (tmp_path / "cpu.md").read_text()
    kept = json.loads((tmp_path / "cpu.json").read_text())
    assert kept["summary"] == report["summary"] and "cases" not in kept


@pytest.fixture
def scratch(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import scratch

    return scratch


MIB = 1 << 20


RESULTS = {
    "small": (lambda be, x: be.empty((100,)), 0),
    "several": (lambda be, x: (be.empty((6 * MIB - 1,), dtype="uint8"), [be.empty((1000,))]), 0),
    "a view of an operand": (lambda be, x: x[::2], 0),
    "none": (lambda be, x: None, 0),
    "a part of a block": (lambda be, x: be.empty((4 * MIB,), dtype="uint8")[:512], 4 * MIB - 512),
}


@pytest.mark.parametrize(("result", "more"), RESULTS.values(), ids=RESULTS)
@pytest.mark.parametrize("temporary", [512, 4 * MIB, 64 * MIB])
def test_scratch_is_the_peak_beside_operands_and_results(scratch, temporary, result, more):
    import stator

    with stator.Backend("cpu") as be:
        x = be.zeros((1000,))
        be.zeros((32 * MIB,), dtype="uint8")  # so that the call does not reach the peak by itself

        def call():
            held = be.empty((temporary,), dtype="uint8")
            made = result(be, x)
            del held
            return made

        assert scratch.scratch_bytes(be, call) == temporary + more
        assert scratch.scratch_bytes(be, call) == temporary + more


def test_convolutions_and_attention_take_little_scratch(scratch, planned):
    import stator
    from benchmarks.build import build
    from benchmarks.inputs import Pool

    pool, taken = Pool(1, 1), {}
    for plan in planned(False):
        if {plan.family, plan.op} & set(scratch.LIMITS) and plan.name.endswith("float32-1000000-contiguous"):
            with stator.Backend("cpu") as be, be.use():
                case = build(be, plan, {}, pool)
                taken[plan.op] = scratch.scratch_bytes(be, lambda case=case: case.ours.call(*case.ours.sets[0]))
                assert not scratch.excess(plan, taken[plan.op])
                del case
    assert {"attention", "conv2d_backward", "unfold", "quantized_conv2d"} <= set(taken)
    assert taken["conv2d_backward"] > 0


@pytest.mark.parametrize(
    ("op", "family", "limited"),
    [("unfold", "convolution", True), ("quantized_conv2d", "quantization", True), ("sort", "sort", False)],
)
def test_too_much_scratch_is_told(scratch, op, family, limited):
    from benchmarks.cases import Plan

    plan = Plan(op, family, "", "float32", 1000, "contiguous")
    told = "67,108,865 bytes of scratch, of at most 67,108,864" if limited else ""
    assert scratch.excess(plan, 64 * MIB + 1) == told
    assert not scratch.excess(plan, 64 * MIB)


def test_accuracy_page(tmp_path):
    page = tmp_path / "accuracy.md"
    run("benchmarks.accuracy", "--quick", "--op", "exp", "--write", str(page))
    text = page.read_text()
    assert "| exp | float64 |" in text
    assert text.rstrip().endswith("Nothing.")
