"""The exit matrix: every way to end, many times, with the expected status and stderr.

Each cell runs STATOR_EXIT_RUNS times: 10 in the suite, 200 for a thorough run.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from cells import CELLS  # noqa: E402

RUNS = int(os.environ.get("STATOR_EXIT_RUNS", "10"))


@pytest.mark.parametrize("cell", CELLS)
def test_process_ends_as_it_should(device, cell):
    _, status, word = CELLS[cell]
    done = subprocess.run(
        [sys.executable, str(HERE / "runner.py"), cell, device, str(RUNS)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["statuses"] == {str(status): RUNS}, seen
    for text in seen["stderr"]:
        if word is None:
            assert text == "", text
        else:
            assert word in text
            assert "Traceback" not in text.replace("Traceback", "", 1)
            assert text.count("stator:") <= 1


@pytest.mark.parametrize("use", [lambda x: x + 1, lambda x: x.data], ids=["op", "export"])
def test_a_forked_child_is_told(cpu, use):
    """A backend of the parent raises a typed error in the child, and still works in the parent."""
    import stator

    x = cpu.zeros((3,))
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            use(x)
        except stator.errors.ForkedProcessError as e:
            os.write(write, b"remedy" if "spawn" in e.remedy else b"no remedy")
        except BaseException as e:  # the parent checks it
            os.write(write, repr(e).encode())
        os._exit(0)
    os.waitpid(pid, 0)
    assert os.read(read, 1000) == b"remedy"
    os.close(read)
    os.close(write)
    assert float(stator.sum(x)) == 0
