"""Runs the two child processes and reads what they report."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stator._doctor.facts import Device, Driver, Library, Package

_SECONDS = 60  # after which a child is ended


def _ended(status: int) -> str:
    if status >= 0:
        return f"it ended with status {status}"
    names = {s.value: s.name for s in signal.Signals}
    return f"it was ended by {names.get(-status, f'signal {-status}')}"


def report_of(
    file: str, options: Sequence[str], arguments: Sequence[str], variables: Mapping[str, str], seconds: float = _SECONDS
) -> dict[str, Any]:
    """The report of a script beside this file. Its key "failure" says how a child ended that has none.

    options: of Python. arguments: of the script. variables: of its environment.
    """
    command = [sys.executable, *options, str(Path(__file__).with_name(file)), *arguments]
    try:
        done = subprocess.run(command, env=dict(variables), capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return {"failure": f"it did not end in {seconds:.0f} seconds"}
    except OSError as error:
        return {"failure": f"it could not be started: {error}"}
    if done.returncode == 0:
        for line in reversed(done.stdout.decode(errors="replace").splitlines()):
            if line.startswith("{"):
                report: dict[str, Any] = json.loads(line)
                return report
    words = "; ".join(line.strip() for line in done.stderr.decode(errors="replace").splitlines()[-2:])
    return {"failure": _ended(done.returncode) + (f": {words}" if words else "")}


def ask_driver(variables: Mapping[str, str], seconds: float = _SECONDS) -> Driver:
    """What the driver says to a process with these variables."""
    report = report_of("driver_child.py", ("-I", "-S"), (), variables, seconds)
    devices = tuple(
        Device(d["name"], (d["capability"][0], d["capability"][1]), d["compute_mode"], d["uuid"])
        for d in report.pop("devices", ())
    )
    return Driver(**report, devices=devices)


def ask_package(path: Sequence[str], variables: Mapping[str, str], seconds: float = _SECONDS) -> Package:
    """What happens to a process with these variables and this sys.path that uses stator on the cpu."""
    options = ("-P", "-S") if sys.flags.no_site else ("-P",)
    report = report_of("package_child.py", options, [json.dumps(list(path))], variables, seconds)
    keys = ("name", "path", "remedy", "substitute", "wheel_file")
    libraries = tuple(Library(**{key: library[key] for key in keys}) for library in report.pop("libraries", ()))
    known = tuple(report.pop("variables", ()))
    return Package(**report, libraries=libraries, variables=known)
