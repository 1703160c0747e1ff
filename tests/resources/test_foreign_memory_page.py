"""The examples of docs/foreign_memory.md and of the documentation of its functions run, and print what they say."""

import doctest
import inspect
import os
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
from requirements import cuda_target

import stator
from stator.resources import BufferArena

ROOT = Path(__file__).resolve().parents[2]
FUNCTIONS = [
    *(getattr(stator.Backend, name) for name in ("create_sub_buffer", "create_arena", "record_memory")),
    *(stator.memory.PoolAllocator, stator.memory.register_host, BufferArena),
]


@pytest.mark.emulates
@pytest.mark.parametrize("target", ["cpu", pytest.param("cuda", marks=cuda_target)])
def test_the_page_prints_what_it_says(target, tmp_path):
    command = [sys.executable, ROOT / "tests/support/run_page.py", ROOT / "docs/foreign_memory.md", target]
    environment = {**os.environ, "STATOR_DEVICE": target, "STATOR_EMULATE": "h200:threads=1", "STATOR_CHECK": "order"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "memory.html").stat().st_size > 1000


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_examples_in_docstrings_run(be, function):
    shown = []
    with stator.Backend(be.device_name) as fresh, fresh.use():
        names = {"be": fresh, "stator": stator, "numpy": numpy}
        example = doctest.DocTestParser().get_doctest(inspect.getdoc(function), names, function.__name__, None, None)
        assert example.examples
        doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(example, out=shown.append)
        names.clear()
    assert not shown, "".join(shown)
