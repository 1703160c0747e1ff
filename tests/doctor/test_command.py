"""The command itself, in processes of its own: its output, its status, and installations that cannot be imported."""

import argparse
import io
import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from broken_environments import libraries, system
from broken_environments.healthy import compiled, healthy, write
from rich.console import Console

import stator
from stator import __main__
from stator._doctor import command

OLD_DRIVER = """
int cuDriverGetVersion(int* version) { *version = 12040; return 0; }
int cuInit(unsigned flags) { return 0; }
int cuDeviceGetCount(int* count) { return *count = 0; }
"""
CRASH = "__attribute__((constructor)) static void at_load(void) { __builtin_trap(); }"


def doctor(*options, limit=None, **variables):
    """The findings by name, and the status."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("STATOR_")}
    done = subprocess.run(
        [sys.executable, *options, "-m", "stator", "doctor", "--json"],
        env=environment | variables,
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))) if limit else None,
    )
    assert done.stderr == ""
    report = json.loads(done.stdout)
    assert report["result"] == ("failed" if done.returncode else "passed")
    return {finding["name"]: finding for finding in report["findings"]}, done.returncode


def copy_of_the_sources(folder, module=None):
    """The options and the variable with which Python finds a copy of stator: its compiled modules are all this file."""
    ignored = shutil.ignore_patterns("*.so", "lib", "include", "__pycache__")
    shutil.copytree(Path(stator.__file__).parent, folder / "stator", ignore=ignored)
    compiled_modules = Path(stator._backend.__file__).parent
    for path in compiled_modules.rglob("*.so") if module else ():
        if path.parent.name != "lib":
            shutil.copy(module, folder / "stator" / path.relative_to(compiled_modules))
    paths = [str(folder), *(entry for entry in sys.path if entry.endswith("-packages"))]
    return "-S", {"PYTHONPATH": os.pathsep.join(paths)}  # without site, which would find an editable install first


def test_this_machine_has_no_error_on_the_cpu():
    found, status = doctor(CUDA_VISIBLE_DEVICES="0")
    ours = {"cpu-fails", "import-fails", "not-built", "files-missing", "versions-differ", "openblas-missing"}
    assert not ours & set(found) and "probe-failed" not in found
    assert status == int(any(finding["severity"] == "error" for finding in found.values()))


@pytest.mark.emulates
def test_an_emulated_device_is_called_emulated():
    found, status = doctor(STATOR_EMULATE="h200")
    assert "STATOR_EMULATE=h200" in found["emulated"]["seen"]
    assert status == 0


@pytest.mark.emulates
def test_an_emulated_device_of_no_profile_is_an_error_with_the_profiles():
    found, status = doctor(STATOR_EMULATE="h2000")
    assert "the profiles are" in found["emulation-fails"]["seen"]
    assert status == 1


def test_an_old_driver_is_told_from_the_library_itself(tmp_path):
    compiled(tmp_path / "libcuda.so.1", OLD_DRIVER)
    found, status = doctor(LD_LIBRARY_PATH=str(tmp_path))
    assert f"{tmp_path}/libcuda.so.1 supports CUDA 12.4" in found["driver-old"]["seen"]
    assert status == 1


def test_several_faults_of_one_process_are_all_found(tmp_path):
    text = write(tmp_path / "openblas.so", "INPUT(-lopenblas)\n")
    variables = {"STATOR_OPENBLAS": str(text), "STATOR_HOST_MOD": "checked", "OMP_NUM_THREADS": "100000"}
    found, status = doctor(limit=200, STATOR_SYNC="yes", **variables)
    expected = {"openblas-variable", "cpu-fails", "variable-unknown", "variable-wrong", "threads-oversubscribed"}
    assert expected | {"open-files-small"} <= set(found)
    assert "STATOR_SYNC=yes" in found["variable-wrong"]["seen"]
    assert status == 1


def test_sources_without_compiled_modules_are_the_finding(tmp_path):
    option, variables = copy_of_the_sources(tmp_path)
    found, status = doctor(option, **variables)
    assert str(tmp_path / "stator") in found["not-built"]["seen"]
    assert status == 1


def test_a_compiled_module_that_is_no_shared_object_is_the_finding(tmp_path):
    option, variables = copy_of_the_sources(tmp_path, write(tmp_path / "module.so", "not one"))
    found, status = doctor(option, **variables)
    assert "ImportError" in found["import-fails"]["seen"] and "file too short" in found["import-fails"]["seen"]
    assert "libstator.so" in found["files-missing"]["seen"]
    assert status == 1


def test_a_compiled_module_that_ends_its_process_is_the_finding(tmp_path):
    option, variables = copy_of_the_sources(tmp_path, compiled(tmp_path / "module.so", CRASH))
    found, _ = doctor(option, **variables)
    assert "ended by SIGILL" in found["import-fails"]["seen"]
    assert "Build stator on this machine" in found["import-fails"]["remedy"]


def page(env, strict=False, width=100):
    """What the command writes of an environment, and its status."""
    written = io.StringIO()
    status = command.run(argparse.Namespace(json=False, strict=strict), Console(file=written, width=width), env)
    return written.getvalue(), status


def test_the_page_has_every_finding_whole(tmp_path):
    env = healthy(tmp_path)
    libraries.no_openblas(env)
    system.processes_by_fork(env)
    text, status = page(env, width=10_000)
    assert "error  openblas-missing" in text and "Run pip install scipy-openblas32" in text
    assert "note  fork" in text and 'set_start_method("spawn") or ("forkserver")' in text
    assert text.splitlines()[-1].endswith("1 error, 0 warnings, 1 note.")
    assert status == 1
    narrow, _ = page(env, width=60)
    assert max(map(len, narrow.splitlines())) <= 60


def test_only_errors_fail_unless_it_is_strict(tmp_path):
    env = healthy(tmp_path)
    assert page(env, strict=True)[1] == 0
    system.processes_by_fork(env)
    assert page(env, strict=True)[1] == 0
    system.few_open_files(env)
    assert (page(env)[1], page(env, strict=True)[1]) == (0, 1)


def test_it_is_a_command_like_the_others(capsys, monkeypatch):
    monkeypatch.setattr(command, "examine", lambda env: [])
    assert __main__.main(["doctor", "--json", "--strict"]) == 0
    assert json.loads(capsys.readouterr().out)["findings"] == []
