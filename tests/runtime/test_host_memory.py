"""Host memory that runs out: every allocation of C++ fails once, and each failure is a typed error or is survived."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "host_memory"


@pytest.fixture(scope="module")
def failing_new(tmp_path_factory):
    """An object to preload, whose operator new fails on request."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("needs g++, which the C++ tests need too")
    library = tmp_path_factory.mktemp("host_memory") / "failing_new.so"
    subprocess.run([compiler, "-O1", "-fPIC", "-shared", "-o", library, HERE / "failing_new.cpp"], check=True)
    return library


@pytest.mark.parametrize("mode", ["once", "onwards"])
def test_every_failing_allocation_is_an_out_of_memory_error(failing_new, mode):
    """Afterwards the call works, gives what it gave before, and nothing is leaked.

    STATOR_HOST_MEMORY=table adds every function of the op table, which takes minutes.
    """
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", HERE / "workload.py", failing_new, mode],
        env={**os.environ, "LD_PRELOAD": str(failing_new), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    wrong = [f"{name}: {what}" for name, seen in found.items() for what in seen["wrong"]]
    failures = sum(seen["failures"] for seen in found.values())
    typed = sum(seen["typed"] for seen in found.values())
    survived = sum(seen["survived"] for seen in found.values())
    print(f"{typed} of {failures} failures are typed, {survived} were survived")
    assert not wrong, wrong
    assert typed + survived == failures
    assert typed > 400
