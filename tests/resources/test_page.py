"""The examples of the pages on resources and of the methods' documentation run, and print what they say."""

import doctest
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest
from requirements import cuda_target

import stator
from stator.resources import BufferDescriptor, Scope, ScopedResource, UnifiedAllocation

ROOT = Path(__file__).resolve().parents[2]
METHODS = [
    *(getattr(stator.Backend, name) for name in ("reopen", "scoped", "create_resource_with_cleanup", "create_buffer")),
    *(getattr(stator.Backend, name) for name in ("create_scoped_buffer", "active_resource_count", "copy_buffer")),
    *(getattr(stator.Backend, name) for name in ("error_context", "convert_error", "recovery_suggestions")),
    *(getattr(stator.Backend, name) for name in ("managed", "supports_unified_memory", "allocate_unified")),
    *(getattr(stator.Backend, name) for name in ("prefetch_to_device", "set_memory_advice")),
    *(BufferDescriptor, Scope.keep, ScopedResource, UnifiedAllocation, stator.errors.set_hook, stator.memory.host_view),
    stator.errors.StatorError.recovery_suggestions,
]


@pytest.mark.emulates
@pytest.mark.parametrize("page", ["resources", "managed_memory"])
@pytest.mark.parametrize("target", ["cpu", pytest.param("cuda", marks=cuda_target)])
def test_the_page_prints_what_it_says(target, page, tmp_path):
    command = [sys.executable, ROOT / "tests/support/run_page.py", ROOT / f"docs/{page}.md", target]
    environment = {**os.environ, "STATOR_DEVICE": target, "STATOR_EMULATE": "h200:threads=1", "STATOR_CHECK": "order"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
def test_examples_in_docstrings_run(be, method):
    shown = []
    with stator.Backend(be.device_name) as fresh:
        names = {"be": fresh, "stator": stator}
        example = doctest.DocTestParser().get_doctest(inspect.getdoc(method), names, method.__name__, None, None)
        assert example.examples
        doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(example, out=shown.append)
    assert not shown, "".join(shown)
