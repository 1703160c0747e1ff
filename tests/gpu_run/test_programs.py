"""Each program runs by itself on an emulated device, and says what it found or why it cannot be tried there."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import requirements

from tools.gpu_run.digests import digest, of_files
from tools.gpu_run.programs import NOT_AVAILABLE
from tools.gpu_run.steps import PROGRAMS

ROOT = Path(__file__).resolve().parents[2]
ONLY_ON_HARDWARE = ("lazy_loading", "just_in_time")


def python(*command):
    environment = os.environ | {"STATOR_EMULATE": "h200"}
    return subprocess.run([sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True)


@pytest.mark.emulates
@requirements.cuda_target
@pytest.mark.parametrize("name", ["ceilings", *PROGRAMS])
def test_a_program_runs(name):
    done = python("-m", f"tools.gpu_run.programs.{name}")
    assert done.returncode == (NOT_AVAILABLE if name in ONLY_ON_HARDWARE else 0), done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert ("not available here" in found) == (name in ONLY_ON_HARDWARE)


def test_every_program_is_in_the_plan():
    files = {p.stem for p in (ROOT / "tools/gpu_run/programs").glob("*.py")}
    assert files == {"__init__", "card", "ceilings", "one_case", *PROGRAMS}


@pytest.mark.emulates
@requirements.cuda_target
def test_every_family_has_a_digest():
    done = python("-m", "tools.gpu_run.digests")
    assert done.returncode == 0, done.stderr
    families, instructions = json.loads(done.stdout)
    assert set(families) == {p.name for p in (ROOT / "csrc/kernels").iterdir() if p.is_dir()}
    assert len({f["digest"] for f in families.values()}) == len(families)
    assert min(instructions.values()) > 0


@pytest.mark.emulates
@requirements.cuda_target
def test_a_case_has_registers_blocks_and_an_issue_time(tmp_path):
    ratios, case = tmp_path / "ratios.json", "exp-float32-1000000-contiguous"
    found = []
    for text in ("{}", json.dumps(dict.fromkeys(exp_kernels(), 2.0))):
        ratios.write_text(text)
        done = python("-m", "tools.gpu_run.model", json.dumps([case]), str(ratios))
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
    assert found[0]["case"] == case and found[0]["registers"] > 0 and found[0]["resident_blocks"] > 0
    assert found[1]["issue_us"] == pytest.approx(2 * found[0]["issue_us"])


def exp_kernels():
    return [name for name in json.loads(python("-m", "tools.gpu_run.digests").stdout)[1] if "3exp" in name]


def test_digests_of_files_do_not_depend_on_their_names(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/x.py").write_text("1")
    (tmp_path / "a/y.py").write_text("2")
    before = of_files(tmp_path, "a")
    (tmp_path / "a/x.py").rename(tmp_path / "a/z.py")
    assert of_files(tmp_path, "a") == before
    (tmp_path / "a/z.py").write_text("3")
    assert of_files(tmp_path, "a") != before
    assert digest([b"1", b"1"]) != digest([b"1"])
