"""A child process that runs one part of the verification: `python -m stator._verify.worker`.

What a device does to a process, from a lost context to a crash, stays in the child. It reads one JSON object from
stdin and writes JSON lines to stdout: {"at": cell} before a cell and {"outcome": cell} after it, or {"result": value}.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import stator
from stator._catalogue.given import Cell

LOST = 70  # the exit status of a child whose device takes no more work


def say(message: dict[str, Any]) -> None:
    """One line for the parent."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def answers(be: stator.Backend) -> bool:
    """Whether a backend still works."""
    try:
        return bool((be.ones((3,)).to_numpy() == 1).all())
    except stator.errors.StatorError:
        return False


def run_cells(request: dict[str, Any]) -> None:
    """Runs the cells of the request in their order, and stops when the device is lost."""
    from stator._verify.cells import Runner

    with stator.Backend(request["device"]) as device, stator.Backend("cpu") as cpu:
        runner = Runner(device, cpu, request["seed"])
        for given in request["cells"]:
            cell = Cell(*given)
            say({"at": given})
            outcome = runner.run(cell)
            lost = bool(outcome.failed) and not answers(device)
            say({"outcome": outcome.as_dict(), "lost": lost})
            if lost:
                os._exit(LOST)  # closing a backend whose context is lost says nothing more


def run_info(request: dict[str, Any]) -> None:
    from stator._verify.machine import describe

    say({"result": describe(request["device"])})


def run_failures(request: dict[str, Any]) -> None:
    from stator._verify.failures import fail_every_call

    say({"result": fail_every_call(request["device"])})


def run_timings(request: dict[str, Any]) -> None:
    from stator._verify.timings import measure

    with stator.Backend(request["device"]) as be, be.use():
        for row in measure(be, request["quick"]):
            say({"row": row})
        say({"result": None})


def main() -> None:
    request = json.load(sys.stdin)
    parts = {"cells": run_cells, "info": run_info, "failures": run_failures, "timings": run_timings}
    parts[request["part"]](request)


if __name__ == "__main__":
    main()
