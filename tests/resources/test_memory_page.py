"""The examples of docs/memory.md and of the methods about memory run, and print what they say."""

import doctest
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest
from requirements import cuda_target

import stator

ROOT = Path(__file__).resolve().parents[2]
METHODS = (
    "set_allocation_failure_callback",
    "set_spill_callback",
    "trim_memory",
    "trim_pinned_memory",
    "reset_peak_memory_stats",
)


@pytest.mark.emulates
@pytest.mark.parametrize("target", ["cpu", pytest.param("cuda", marks=cuda_target)])
def test_the_page_prints_what_it_says(target, tmp_path):
    command = [sys.executable, ROOT / "tests/support/run_page.py", ROOT / "docs/memory.md", target]
    environment = {**os.environ, "STATOR_DEVICE": target, "STATOR_EMULATE": "h200:threads=1", "STATOR_CHECK": "order"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", METHODS)
def test_examples_in_docstrings_run(cpu, name):
    shown = []
    example = doctest.DocTestParser().get_doctest(
        inspect.getdoc(getattr(stator.Backend, name)), {"be": cpu, "stator": stator}, name, None, None
    )
    assert example.examples
    doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(example, out=shown.append)
    assert not shown, "".join(shown)
