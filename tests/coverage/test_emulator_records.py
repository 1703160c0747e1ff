"""STATOR_EMULATE_RECORD: what a process on an emulated device writes, and the report that is made of it."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import requirements
from emulator_records import family, read

pytestmark = requirements.cuda_target
TOOL = Path(__file__).parents[2] / "tools/emulator_coverage.py"

EXP = """
import os
import numpy as np
import stator
be = stator.Backend("cuda")
with be.use():
    x = stator.asarray(np.ones(96, np.float32))
    for _ in range(3):
        stator.exp(x).to_numpy()
    (stator.reshape(x, (2, 48)) @ stator.reshape(x, (48, 2))).to_numpy()
"""


def environment(**added):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("STATOR_EMULATE")}
    return kept | {"STATOR_EMULATE": "h200:threads=1"} | added


def run(program, **added):
    subprocess.run([sys.executable, "-c", program], env=environment(**added), check=True, timeout=120)


def exp_kernels(records):
    return [k for k in records.launches if "3exp" in k]


def test_a_process_leaves_the_sums_of_its_launches(tmp_path):
    run(EXP, STATOR_EMULATE_RECORD=str(tmp_path))
    records = read(tmp_path)
    (kernel,) = exp_kernels(records)
    assert family(kernel) == "elementwise"
    assert records.launches[kernel] == 3
    assert records.counters[kernel]["global_load_bytes"] == records.counters[kernel]["global_store_bytes"] == 3 * 4 * 96
    assert records.counters[kernel]["threads"] >= records.counters[kernel]["warps"] > 0
    assert sum(n for form, n in records.forms.items() if form.startswith("ex2.approx")) > 0
    assert sum(n for symbol, n in records.calls.items() if symbol.startswith("cublas")) > 0


def test_a_process_that_ends_at_once_leaves_which_kernels_and_symbols_it_used(tmp_path):
    run(EXP + "os._exit(0)", STATOR_EMULATE_RECORD=str(tmp_path))
    records = read(tmp_path)
    assert len(exp_kernels(records)) == 1
    assert records.calls["cublasCreate_v2"] == 1


def test_two_processes_are_added_up(tmp_path):
    run(EXP, STATOR_EMULATE_RECORD=str(tmp_path))
    run(EXP, STATOR_EMULATE_RECORD=str(tmp_path))
    records = read(tmp_path)
    assert records.launches[exp_kernels(records)[0]] == 6


def test_a_folder_that_is_not_there_is_told_and_changes_nothing(tmp_path):
    command = [sys.executable, "-c", EXP]
    added = environment(STATOR_EMULATE_RECORD=str(tmp_path / "missing"))
    done = subprocess.run(command, env=added, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0
    assert done.stderr.count("could not be written: No such file or directory") == 1


def test_launches_of_a_block_have_their_counters():
    program = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import stator
from emulator_records import peaks, watched
with stator.Backend("cuda") as be, be.use():
    x = stator.asarray(np.ones(1 << 16, np.float32))
    with watched(be.synchronize) as launches:
        y = x + x
    (one,) = launches
    assert one.counters["global_load_bytes"] == 2 * one.counters["global_store_bytes"] == 2 * x.nbytes
    assert one.counters["blocks"] == one.grid[0] > 1 and one.multiprocessors == 132 and one.resident >= 1
    assert one.registers > 0 and one.block[1:] == (1, 1) and one.shared_bytes == 0
    assert one.architecture >= 80 and one.local_bytes == 0
    with watched(be.synchronize) as launches:
        stator.sin(x)  # which indexes the digits of 2/pi
    assert launches[0].local_bytes > 0
    stator.exp(x).to_numpy()
    assert len(launches) == 1 and peaks()[0] > 4e12
"""
    command = [sys.executable, "-c", program, str(TOOL.parents[1] / "tests/support")]
    subprocess.run(command, env=environment(), check=True, timeout=120)


def test_the_report_counts_what_ran_of_what_was_built(tmp_path):
    run(EXP, STATOR_EMULATE_RECORD=str(tmp_path))
    command = [sys.executable, str(TOOL), str(tmp_path), "--never", str(tmp_path / "never")]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "elementwise" in done.stdout
    assert "vendor symbols" in done.stdout
    never = (tmp_path / "never").read_text().splitlines()
    assert len(never) > 1000
    assert not set(never) & set(read(tmp_path).launches)
    assert {"cusparseSpGEMM_compute", "atom.global.add.u32"} & set(never)


def test_a_folder_without_records_is_refused(tmp_path):
    command = [sys.executable, str(TOOL), str(tmp_path)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "no records" in done.stderr


def loaded():
    """The tool as a module."""
    spec = importlib.util.spec_from_file_location("emulator_coverage", TOOL)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


def test_kernels_that_never_ran_are_exactly_the_listed_ones(tmp_path):
    table = tmp_path / "unreachable.tsv"
    table.write_text("kernel\treason\n^take\\w+long$\tit needs 2^31 elements\n")
    built = {"take_of_long", "take_of_int", "exp"}
    contradictions = loaded().contradictions
    assert contradictions(table, built, {"exp", "take_of_int"}) == []
    (missed,) = contradictions(table, built, {"exp"})
    assert missed.startswith("neither") and "take_of_int" in missed
    (reached,) = contradictions(table, built, built)
    assert reached.startswith("listed") and "take_of_long" in reached
    (stale,) = contradictions(table, {"exp"}, {"exp"})
    assert "take" in stale


def test_lines_are_those_that_gcov_counts(tmp_path):
    """A source of its own, since counting lines takes a build with an option."""
    tool = loaded()
    folder = tmp_path / "stator_plain.dir"
    source = tmp_path / "csrc" / "part.cpp"
    folder.mkdir()
    source.parent.mkdir()
    source.write_text("int main(int argc, char**) {\n  if (argc > 1)\n    return 1;\n  return 0;\n}\n")
    compiled = ["g++", "--coverage", "-O0", "-c", str(source), "-o", str(folder / "part.o")]
    subprocess.run(compiled, check=True, cwd=folder)
    tool.ROOT = tmp_path
    assert tool.executed_lines(tmp_path) == {"csrc/part.cpp": {1: 0, 2: 0, 3: 0, 4: 0}}
    subprocess.run(["g++", "--coverage", str(folder / "part.o"), "-o", str(folder / "part")], check=True)
    subprocess.run([str(folder / "part")], check=True)
    assert tool.executed_lines(tmp_path) == {"csrc/part.cpp": {1: 1, 2: 1, 3: 0, 4: 1}}
