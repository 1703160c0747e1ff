"""python runner.py <cell> <device> <runs>: forks children that run a cell and end as scripts do; prints what they did.

The parent imports NumPy but never stator, so that each child starts fast and imports and finalises stator by itself.
Prints one JSON object: exit statuses with counts, distinct stderr texts with counts.
"""

import collections
import json
import os
import signal
import sys
import tempfile

import numpy as np  # noqa: F401  (shared by the children)
from cells import CELLS

WATCHDOG_SECONDS = 100


def start(cell, device):
    """Returns the child's pid and stderr file in the parent, and None in the child, after the cell has run."""
    errors = tempfile.TemporaryFile()  # noqa: SIM115  (the parent closes it when the child is collected)
    pid = os.fork()
    if pid:
        return pid, errors
    signal.alarm(WATCHDOG_SECONDS)
    os.dup2(errors.fileno(), 2)
    CELLS[cell][0](device)
    return None


def main():
    cell, device, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
    statuses, texts = collections.Counter(), collections.Counter()
    running = {}
    for _ in range(runs):
        child = start(cell, device)
        if child is None:
            return
        running[child[0]] = child[1]
        while len(running) >= 2:
            collect(running, statuses, texts)
    while running:
        collect(running, statuses, texts)
    print(json.dumps({"statuses": statuses, "stderr": texts}))


def collect(running, statuses, texts):
    pid, status = os.wait()
    errors = running.pop(pid)
    errors.seek(0)
    statuses[str(os.waitstatus_to_exitcode(status))] += 1
    texts[errors.read().decode(errors="replace")] += 1
    errors.close()


main()
