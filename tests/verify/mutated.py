"""The worker of `python -m stator verify` with a fault: python mutated.py FAULT.

The device and the reference may be of one kind, so only operands in the layout "transposed" meet the fault.
"""

import atexit
import os
import pathlib
import signal
import sys
import time

import stator
from stator._verify import cells, worker

FAULT = sys.argv[1]
honest_exp, honest_call = stator.exp, cells.Runner._call


def wrong_value(x):
    y = honest_exp(x)
    y[..., :1] = 3.25
    return y


def raises(x):
    raise RuntimeError("planned")


def crashes(x):
    os.kill(os.getpid(), signal.SIGSEGV)


def hangs_up(x):
    os._exit(0)


def is_silent(x):
    pathlib.Path(os.environ["SILENT"]).touch()
    time.sleep(6000)


def call(self, be, cell, *, wide=False, laid=False):
    at = cell.op == "exp" and cell.layout == "transposed" and laid
    faults = {"value": wrong_value, "raises": raises, "crash": crashes, "end": hangs_up, "silent": is_silent}
    stator.exp = faults[FAULT] if at else honest_exp
    return honest_call(self, be, cell, wide=wide, laid=laid)


def wrong_reference(self, be, cell, *, wide=False, laid=False):
    """A cpu whose float32 results are wrong where those for wider operands are not."""
    parts = honest_call(self, be, cell, wide=wide, laid=laid)
    if cell.op == "exp" and cell.dtype == "float32" and not wide and not laid:
        parts[0].values[...] *= 1.001
    return parts


def dying_device(be):
    """A device that takes no more work after a wrong result."""
    return False


honest_cells = worker.run_cells


def crashes_late(request):
    atexit.register(crashes, None)
    honest_cells(request)


if FAULT == "late":
    worker.run_cells = crashes_late
else:
    cells.Runner._call = wrong_reference if FAULT == "reference" else call
if FAULT == "lost":
    FAULT, worker.answers = "value", dying_device
worker.main()
