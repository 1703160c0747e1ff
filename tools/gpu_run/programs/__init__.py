"""Small programs about what only hardware shows, each run by itself: python -m tools.gpu_run.programs.NAME.

The last line of output is a JSON object. Exit status: 0 passed, 1 wrong, NOT_AVAILABLE where it cannot be tried.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

NOT_AVAILABLE = 75


class NotAvailableHereError(Exception):
    """The device or its driver does not have what the program is about."""


def main(check: Callable[[Any, bool], dict[str, Any]]) -> int:
    """Calls `check` with a backend on cuda and whether sizes are small; it returns what it found, or raises."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", choices=["auto", "small", "full"], default="auto", help="auto: small if emulated")
    args = parser.parse_args()
    import stator

    with stator.Backend("cuda") as be, be.use():
        small = be.devices.info().emulated if args.sizes == "auto" else args.sizes == "small"
        try:
            found, code = check(be, small), 0
            be.synchronize()
        except NotAvailableHereError as error:
            found, code = {"not available here": str(error)}, NOT_AVAILABLE
        print(json.dumps(found))
    return code


def emulated(be: Any, why: str) -> None:
    """Ends the program on an emulated device."""
    if be.devices.info().emulated:
        raise NotAvailableHereError(f"emulated device: {why}")
